//! The engine `views` on generated programs, on those of others, and on the errata that concern any number of threads:
//! it never says safe where a bounded number of threads finds an error, every execution that it gives is one without
//! bound, and every certificate is accepted.

#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

use selvedge_check::{
    Certificate, Engine, Initial, Question, Run, Seen, ShapeProof, Stop, Subject, Task, ThreadScope, Verdict,
};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::EngineKind;
use selvedge_engines::unbounded::views::{Options, Views};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_replay::certificate::verify;
use selvedge_replay::{Judged, judge};
use selvedge_testkit::corpus::{self, Entry, Expected};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Answer, Budget, ask, within};
use selvedge_testkit::rng::Rng;

const BUDGET: Budget = Budget::states(3_000);

/// Returns the verdict for any number of threads, with evidence that was judged on the program before inlining; `None`
/// if the engine does not support the program or gives up.
fn decided(task: &Task<'_>, max_k: u32) -> Result<Option<Verdict>, String> {
    let task = Task { threads: ThreadScope::Unbounded, ..*task };
    let inlined = simplify(&task, &[Pass::Inline]);
    let engine = Views { options: Options { max_k: Some(max_k) } };
    if engine.supports(&inlined.question()).is_err() {
        return Ok(None);
    }
    let verdict = match within(BUDGET, |run| engine.check(&inlined.question(), run)) {
        Ok(verdict) => inlined.lift(verdict),
        Err(Stop::BoundReached(_) | Stop::Cancelled) => return Ok(None),
        Err(stop) => return Err(stop.to_string()),
    };
    match judge(&task, &verdict, &Run::unlimited()) {
        Ok(Judged::Certified | Judged::Replayed(_)) => Ok(Some(verdict)),
        Ok(Judged::ByOneSolver(solver)) => Err(format!("{solver} was asked")),
        Ok(Judged::Unjudged(unjudged)) => Err(unjudged.to_string()),
        Ok(Judged::Uncertified) => Err("no certificate".to_string()),
        Err(reject) => Err(reject.to_string()),
    }
}

#[derive(Debug, Default)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    open: usize,
}

/// Compares the verdict with those of the oracle for one to four threads.
fn compare(task: &Task<'_>, tally: &mut Tally) -> Result<(), String> {
    match decided(task, 3)? {
        None => tally.open += 1,
        Some(Verdict::Unsafe(_)) => tally.unsafe_ += 1,
        Some(Verdict::Safe(_)) => {
            tally.safe += 1;
            for bound in 1..=4 {
                let bounded = Task { threads: ThreadScope::AtMost(bound), ..*task };
                if let Answer::Unsafe(trace) = ask(&bounded, BUDGET) {
                    return Err(format!("safe, but with {bound} threads there is an error: {trace:?}"));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn views_never_contradict_a_bounded_number_of_threads() {
    let mut tally = Tally::default();
    for seed in 0..250 {
        let presets = Weights::concurrent();
        let (_, weights) = &presets[seed as usize % presets.len()];
        let mut posed = pose(&generate(seed, weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let plain = posed.asked.prelude.is_none() && posed.asked.entries.len() == 1;
        if plain && seed % 3 == 0 {
            let counts = [selvedge_ir::Count::Any, selvedge_ir::Count::Exactly(2)];
            posed.asked.entries.iter_mut().for_each(|entry| entry.count = counts[(seed / 3) as usize % 2]);
        }
        compare(&posed.task(), &mut tally).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", posed.text));
    }
    println!("{tally:?}");
    assert!(tally.safe > 40 && tally.unsafe_ > 40 && tally.open * 2 < 250, "{tally:?}");
}

/// Checks whether two or three threads can meet at labels.
#[test]
fn meetings_are_those_that_some_number_of_threads_has() {
    let (mut tally, presets) = (Tally::default(), Weights::concurrent());
    for seed in 0..150 {
        let (_, weights) = &presets[seed as usize % presets.len()];
        let posed = pose(&generate(seed, weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let labels = &posed.asked.labels;
        let (Some(first), Some(last)) = (labels.first(), labels.last()) else { continue };
        let mut meeting = vec![first.loc, last.loc];
        meeting.extend((seed % 2 == 0).then_some(first.loc));
        let target = selvedge_ir::Target::default().with_together([meeting]);
        let task = Task { target: &target, ..posed.task() };
        compare(&task, &mut tally).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", posed.text));
    }
    println!("{tally:?}");
    assert!(tally.safe > 5 && tally.unsafe_ > 5, "{tally:?}");
}

fn proof_of(task: &Task<'_>) -> Option<ShapeProof> {
    match decided(task, 3) {
        Ok(Some(Verdict::Safe(Some(Certificate::Shapes(proof))))) => Some(proof),
        _ => None,
    }
}

/// Proofs that lack a view, or change one, are nearly always rejected: a table of exactly the reachable views has
/// little that is not needed. The few that are accepted are about safe programs all the same.
#[test]
fn proofs_that_lack_something_are_rejected() {
    let (mut n_proofs, mut n_rejected, mut n_accepted) = (0, 0, 0);
    for seed in 0..120 {
        let posed = pose(&generate(seed, &Weights::threads())).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let task = Task { threads: ThreadScope::Unbounded, ..posed.task() };
        let Some(proof) = proof_of(&task) else { continue };
        n_proofs += 1;
        let rng = &mut Rng::new(seed);
        for _ in 0..4 {
            let mut mutant = proof.clone();
            let view = rng.below(mutant.shapes.len());
            match rng.below(3) {
                0 => drop(mutant.shapes.remove(view)),
                1 => mutant.shapes[view].formula = proof.shapes[rng.below(proof.shapes.len())].formula,
                _ => mutant.shapes[view].held ^= true,
            }
            if mutant == proof {
                continue;
            }
            match verify(&task, &Certificate::Shapes(mutant.clone()), &Run::unlimited()) {
                Ok(_) => n_accepted += 1,
                Err(_) => n_rejected += 1,
            }
        }
        let empty = ShapeProof { shapes: Vec::new(), ..proof.clone() };
        assert!(verify(&task, &Certificate::Shapes(empty), &Run::unlimited()).is_err(), "seed {seed}");
        let unsorted = ShapeProof { shapes: proof.shapes.iter().rev().cloned().collect(), ..proof.clone() };
        assert!(proof.shapes.len() < 2 || verify(&task, &Certificate::Shapes(unsorted), &Run::unlimited()).is_err());
    }
    println!("{n_proofs} proofs, {n_rejected} mutants rejected, {n_accepted} accepted");
    assert!(n_proofs > 10 && n_rejected > 3 * n_accepted, "{n_proofs} {n_rejected} {n_accepted}");
}

/// A proof about a program without the error is not a proof about the same program with it.
#[test]
fn no_table_proves_an_unsafe_program_safe() {
    let text = |condition: &str| {
        format!(
            "decl x; void main() begin x := 0; while * do start_thread goto w; od; end_thread; \
             w: assume(!x); x := 1; assert({condition}); x := 0; end_thread; end"
        )
    };
    let question = Question::default();
    let (safe, broken) = (loaded(&text("1"), &question), loaded(&text("x"), &question));
    let task = Task { program: &safe.0, target: &safe.1, threads: ThreadScope::Unbounded };
    let proof = proof_of(&task).expect("it is safe");
    let task = Task { program: &broken.0, target: &broken.1, threads: ThreadScope::Unbounded };
    assert!(verify(&task, &Certificate::Shapes(proof.clone()), &Run::unlimited()).is_err());
    let Seen::Any(k) = proof.seen else { panic!("{:?}", proof.seen) };
    let weaker = ShapeProof { seen: Seen::Any(k + 1), ..proof };
    assert!(verify(&task, &Certificate::Shapes(weaker), &Run::unlimited()).is_err());
    assert!(matches!(decided(&task, 3), Ok(Some(Verdict::Unsafe(_)))));
}

fn loaded(text: &str, question: &Question) -> (selvedge_ir::Program, selvedge_ir::Target) {
    let loaded = load(text, &LoadOptions::default());
    let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let (program, target, _) = question.pose(subject).expect("the question fits");
    (program, target)
}

/// Returns the verdict for any number of threads.
fn verdict(text: &str, question: &Question, max_k: u32) -> Option<Expected> {
    let (program, target) = loaded(text, question);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    decided(&task, max_k).unwrap_or_else(|error| panic!("{error}\n{text}")).map(|verdict| match verdict {
        Verdict::Safe(_) => Expected::Safe,
        Verdict::Unsafe(_) => Expected::Unsafe,
    })
}

#[test]
fn programs_of_ijit_have_the_verdicts_of_their_twins() {
    let entries = corpus::ijit().expect("the corpus is readable");
    // All safe ones, and some of the others.
    let wanted = |(number, entry): &(usize, Entry)| entry.verdict == Some(Expected::Safe) || number % 7 == 0;
    for (_, entry) in entries.into_iter().enumerate().filter(wanted) {
        let question = Question { threads: None, ..entry.question.clone() };
        assert_eq!(verdict(&entry.text, &question, 3), entry.verdict, "{}", entry.name);
    }
}

#[test]
fn programs_of_boppo_about_any_number_of_threads_have_their_verdicts() {
    let entries = corpus::boppo().expect("the corpus is readable");
    let mut n_decided = 0;
    for entry in entries.iter().filter(|entry| entry.question.threads.is_none()) {
        let loaded = load(
            &entry.text,
            &LoadOptions { labels: entry.question.label.iter().cloned().collect(), ..LoadOptions::default() },
        );
        let program = loaded.program.unwrap_or_else(|| panic!("{}: {:?}", entry.name, loaded.diagnostics));
        let subject = Subject { program: &program, map: &loaded.source_map, text: &entry.text };
        let (program, target, _) = entry.question.pose(subject).expect("the question fits");
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let found = decided(&task, 3).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let Some(found) = found else { continue };
        n_decided += 1;
        let found = if matches!(found, Verdict::Safe(_)) { Expected::Safe } else { Expected::Unsafe };
        assert_eq!(Some(found), entry.verdict, "{}", entry.name);
    }
    println!("{n_decided} of {} decided", entries.len());
    assert!(entries.is_empty() || n_decided > 10);
}

/// Without an engine named, a program about any number of threads is decided, also with passive parts.
#[test]
fn the_driver_takes_views_where_nothing_bounds_the_threads() {
    let text = "decl x; void main() begin decl l; x, l := 0, 0; while * do start_thread goto w; od; end_thread; \
                w: l$ := 0; assert(!x & !l); end_thread; end";
    let loaded = load(text, &LoadOptions::default());
    let program = loaded.program.expect("it is well-formed");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let report = selvedge_driver::check(subject, &selvedge_driver::Options::default(), &Run::unlimited());
    let report = report.expect("the judge agrees");
    let views = [EngineKind::Views.name(), EngineKind::ViewsExplicit.name()];
    assert!(views.contains(&report.engine), "{}", report.engine);
    assert_eq!(report.model.threads, ThreadScope::Unbounded);
    assert!(matches!(report.outcome, selvedge_check::Outcome::Safe(Some(_))));
}

/// errata: `omega_not_atomic`. Only one thread is inside an atomic section, however many there are.
#[test]
fn omega_not_atomic() {
    let text = |end: &str| {
        format!(
            "decl x; void main() begin x := 0; l: start_thread goto w; goto l; \
             w: atomic_begin; {end} x := 1; start_thread goto idle; assert(x); x := 0; atomic_end; end_thread; \
             idle: assert(!x); end_thread; end"
        )
    };
    assert_eq!(verdict(&text(""), &Question::default(), 3), Some(Expected::Safe));
    assert_eq!(verdict(&text("atomic_end;"), &Question::default(), 3), Some(Expected::Unsafe));
}

/// errata: `cutoff_stutter`. Two and three threads reach the same; four reach more, and there the error is.
#[test]
fn cutoff_stutter() {
    let text = |asked: &str| {
        format!(
            "decl s1 := 0; decl s0 := 0; void main() begin \
             l0: goto a, b, c; \
             a: s1, s0 := 1, 0 constrain (!s1 & !s0); goto l1; \
             b: s1, s0 := 0, 0 constrain (s1 & !s0); goto l1; \
             c: s1, s0 := 1, 1 constrain (s1 & !s0); goto l0; \
             l1: goto d, e; \
             d: s1, s0 := 0, 1 constrain (s1 & s0); goto l0; \
             e: assert(!({asked} & !s1 & s0)); goto l1; end"
        )
    };
    let any = Question { initial: Some(Initial::Any), ..Question::default() };
    let three = Question { initial: Some(Initial::Exactly(3)), ..Question::default() };
    assert_eq!(verdict(&text("1"), &any, 5), Some(Expected::Unsafe));
    assert_eq!(verdict(&text("0"), &any, 5), Some(Expected::Safe));
    let (program, target) = loaded(&text("1"), &three);
    let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(3) };
    assert_eq!(ask(&task, BUDGET), Answer::Safe);
}

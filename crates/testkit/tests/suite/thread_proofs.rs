//! Proofs about several threads on generated programs: the judge accepts the reachable states of safe programs and of
//! no unsafe one, whichever places are listed; without one of the states it rejects the proof; with one more it accepts
//! exactly if the interpreter finds no step out of the set and no error. The proofs of the engines are accepted, but
//! none of their mutants that lacks a state.

use std::collections::BTreeSet;

use selvedge_check::formula::{FormulaId, Formulas, Node};
use selvedge_check::{Certificate, Engine, Role, Run, Seen, ShapeProof, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::threads::explicit::{self, ThreadsExplicit};
use selvedge_engines::threads::symbolic::Threads;
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_ir::callgraph::CallGraph;
use selvedge_replay::certificate::{Flaw, Refused, verify, verify_with_solvers};
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::rng::Rng;
use selvedge_testkit::seen::{self, Reached, Row, Spot, explore, explore_from, proof, spots, starts, state};

const N_PROGRAMS: usize = 250;
const N_MUTANTS: usize = 8;
const N_STATES: usize = 300;

/// Generates a program without recursion that has few states, and returns these.
fn explored(seed: u64) -> Option<(Posed, Reached)> {
    let weights = if seed.is_multiple_of(2) { Weights::threads() } else { Weights::everything() };
    let posed = pose(&generate(seed, &weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    if CallGraph::new(&posed.asked).has_recursion() || posed.target.is_empty() {
        return None;
    }
    let reached = explore(&posed.task(), N_STATES)?;
    (reached.rows.len() > 3).then_some((posed, reached))
}

/// Returns the judge's verdict, which must be the same state by state and with solvers.
fn judged(task: &Task<'_>, proof: ShapeProof) -> Result<(), Flaw> {
    let with_solvers = verify_with_solvers(task, &proof, &Run::unlimited());
    let verdict = verify(task, &Certificate::Shapes(proof), &Run::unlimited()).map(drop);
    assert_eq!(verdict.is_ok(), with_solvers.is_ok(), "{verdict:?}, with solvers {with_solvers:?}");
    verdict.map_err(|refused| refused.flaw().expect("the judge can tell"))
}

/// Removes places at random, as long as the judge still accepts the rest; returns the remaining ones.
fn fewer(rng: &mut Rng, task: &Task<'_>, rows: &BTreeSet<Row>) -> BTreeSet<Spot> {
    let mut listed = spots(rows);
    for spot in rng.subset(&listed.iter().cloned().collect::<Vec<_>>(), 12) {
        listed.remove(&spot);
        if judged(task, proof(task.program, rows, &listed)).is_err() {
            listed.insert(spot);
        }
    }
    listed
}

/// Returns the states with all threads at listed places.
fn at_listed(rows: &BTreeSet<Row>, listed: &BTreeSet<Spot>) -> Vec<Row> {
    let is_seen = |row: &&Row| row.threads.iter().all(|(spot, _)| listed.contains(spot));
    rows.iter().filter(is_seen).cloned().collect()
}

/// Returns a state with another value, or with a thread at another place.
fn another(rng: &mut Rng, row: &Row, others: &[Row]) -> Row {
    let mut row = row.clone();
    let n_threads = row.threads.len();
    if n_threads > 0 && rng.percent(70) {
        let thread = rng.below(n_threads);
        let n_values = row.threads[thread].1.len();
        if n_values > 0 && rng.percent(60) {
            let value = rng.below(n_values);
            row.threads[thread].1[value] ^= true;
        } else if let Some(donor) = rng.pick(others).and_then(|other| rng.pick(&other.threads)) {
            row.threads[thread] = donor.clone();
        }
    } else if !row.shared.is_empty() {
        let value = rng.below(row.shared.len());
        row.shared[value] ^= true;
    }
    row.threads.sort();
    row
}

/// Returns whether the set with one more state is still a proof; `None` if that is not easily determined.
fn allows(task: &Task<'_>, row: &Row, rows: &BTreeSet<Row>, listed: &BTreeSet<Spot>) -> Option<bool> {
    let n_holders = row.threads.iter().filter(|(spot, _)| matches!(spot.0, Role::Holder(_))).count();
    if n_holders > 1 {
        return None;
    }
    let beyond = explore_from(task, vec![state(task, row)?], 10 * N_STATES)?;
    let inside = at_listed(&beyond.rows, listed).iter().all(|next| next == row || rows.contains(next));
    // Whether a place must be listed depends on the steps to it, of which new states may have others.
    let is_unlisted = |next: &Row| next.threads.iter().any(|(spot, _)| !listed.contains(spot));
    let is_hidden = beyond.rows.iter().any(|next| !rows.contains(next) && is_unlisted(next));
    match inside && !beyond.error {
        true if is_hidden => None,
        allowed => Some(allowed),
    }
}

#[derive(Debug, Default)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    unlisted: usize,
    removed: usize,
    allowed: usize,
    forbidden: usize,
}

fn try_safe(rng: &mut Rng, seed: u64, posed: &Posed, rows: &BTreeSet<Row>, tally: &mut Tally) {
    let task = posed.task();
    let verdict = judged(&task, proof(task.program, rows, &spots(rows)));
    if matches!(verdict, Err(Flaw::OutOfScope(_))) {
        return;
    }
    assert_eq!(verdict, Ok(()), "seed {seed}:\n{}", posed.text);
    tally.safe += 1;
    let listed = fewer(rng, &task, rows);
    tally.unlisted += spots(rows).len() - listed.len();
    let all = at_listed(rows, &listed);
    for _ in 0..N_MUTANTS {
        let Some(row) = rng.pick(&all) else { continue };
        let mut less = rows.clone();
        less.remove(row);
        let verdict = judged(&task, proof(task.program, &less, &listed));
        assert!(verdict.is_err(), "seed {seed}: without {row:?}\n{}", posed.text);
        tally.removed += 1;
        let more = another(rng, row, &all);
        if rows.contains(&more) {
            continue;
        }
        let Some(expected) = allows(&task, &more, rows, &listed) else { continue };
        let mut with = rows.clone();
        with.insert(more.clone());
        let verdict = judged(&task, proof(task.program, &with, &listed));
        assert_eq!(verdict.is_ok(), expected, "seed {seed}: {verdict:?} with {more:?}\n{}", posed.text);
        if expected {
            tally.allowed += 1;
        } else {
            tally.forbidden += 1;
        }
    }
}

fn try_unsafe(rng: &mut Rng, seed: u64, posed: &Posed, rows: &BTreeSet<Row>) {
    let task = posed.task();
    let all = spots(rows);
    let verdict = judged(&task, proof(task.program, rows, &all));
    assert!(matches!(verdict, Err(Flaw::Assert(_) | Flaw::Location(_))), "seed {seed}: {verdict:?}\n{}", posed.text);
    for _ in 0..N_MUTANTS {
        let left_out = rng.subset(&all.iter().cloned().collect::<Vec<_>>(), 3);
        let listed = all.iter().filter(|spot| !left_out.contains(spot)).cloned().collect();
        let verdict = judged(&task, proof(task.program, rows, &listed));
        assert!(verdict.is_err(), "seed {seed}: without {left_out:?}\n{}", posed.text);
    }
}

#[test]
fn the_judge_accepts_closed_sets_without_error_and_no_others() {
    let mut tally = Tally::default();
    let mut seed = 0;
    while tally.safe + tally.unsafe_ < N_PROGRAMS {
        seed += 1;
        let Some((posed, reached)) = explored(seed) else { continue };
        let rng = &mut Rng::new(seed);
        if reached.error {
            try_unsafe(rng, seed, &posed, &reached.rows);
            tally.unsafe_ += 1;
        } else {
            try_safe(rng, seed, &posed, &reached.rows, &mut tally);
        }
    }
    let Tally { safe, unsafe_, unlisted, removed, allowed, forbidden } = tally;
    assert!(
        safe > 50 && unsafe_ > 50 && unlisted > 100 && removed > 300 && allowed > 50 && forbidden > 50,
        "{tally:?}"
    );
}

/// From the states in which a run can start the judge finds the others, and the errors.
#[test]
fn the_judge_finds_reachable_states_again() {
    let (mut seed, mut safe, mut unsafe_) = (0, 0, 0);
    while safe + unsafe_ < N_PROGRAMS {
        seed += 1;
        let Some((posed, reached)) = explored(seed).filter(|(posed, _)| posed.asked.prelude.is_none()) else {
            continue;
        };
        let task = posed.task();
        let starts = starts(&task).expect("there is no prelude");
        let first = ShapeProof { seen: Seen::Reached, ..proof(task.program, &starts, &spots(&reached.rows)) };
        match verify(&task, &Certificate::Shapes(first), &Run::unlimited()) {
            Err(Refused::Unjudged(_) | Refused::Flawed(Flaw::OutOfScope(_))) => continue,
            verdict => assert_eq!(verdict.is_err(), reached.error, "seed {seed}: {verdict:?}\n{}", posed.text),
        }
        *(if reached.error { &mut unsafe_ } else { &mut safe }) += 1;
    }
    assert!(safe > 50 && unsafe_ > 50, "{safe} {unsafe_}");
}

/// Returns the engines that give proofs, each with what it leaves out.
fn engines() -> Vec<(String, Box<dyn Engine>)> {
    let switches = [(false, false), (true, false), (true, true)];
    let explicit = switches.map(|(compress, dead)| {
        let reductions = Reductions { compress, dead, partial_order: PartialOrder::Off };
        let engine: Box<dyn Engine> =
            Box::new(ThreadsExplicit { options: explicit::Options { reductions, ..Default::default() } });
        (format!("threads-explicit, compress {compress}, dead {dead}"), engine)
    });
    let symbolic: Box<dyn Engine> = Box::new(Threads::default());
    explicit.into_iter().chain([("threads".to_string(), symbolic)]).collect()
}

/// Returns the proof of an engine, about the program as the user wrote it.
fn proved(task: &Task<'_>, engine: &dyn Engine) -> Option<ShapeProof> {
    let inlined = simplify(task, &[Pass::Inline]);
    let flat = inlined.task(task.threads);
    engine.supports(&flat).ok()?;
    match engine.check(&flat, &Run::unlimited()).expect("there is no limit") {
        Verdict::Unsafe(_) => None,
        verdict => match inlined.lift(verdict) {
            Verdict::Safe(Some(Certificate::Shapes(proof))) => Some(proof),
            _ => None,
        },
    }
}

/// Changes a formula, or the list of shapes.
fn mutant(rng: &mut Rng, proof: &ShapeProof) -> ShapeProof {
    let mut mutant = proof.clone();
    let at = rng.below(proof.shapes.len());
    let n_nodes = proof.formulas.nodes().len();
    match rng.below(4) {
        0 => drop(mutant.shapes.remove(at)),
        1 => mutant.shapes[at].formula = FormulaId(rng.below(n_nodes) as u32),
        _ => {
            let changed = rng.below(n_nodes);
            mutant.formulas = Formulas::default();
            for (number, node) in proof.formulas.nodes().iter().enumerate() {
                let node = if number == changed { other(*node) } else { *node };
                mutant.formulas.add(node).expect("parts still come first");
            }
        }
    }
    mutant
}

fn other(node: Node) -> Node {
    match node {
        Node::Const(value) => Node::Const(!value),
        Node::And(left, right) => Node::Or(left, right),
        Node::Or(left, right) => Node::And(left, right),
        Node::Ite(condition, then, otherwise) => Node::Ite(condition, otherwise, then),
        Node::Atom(_) | Node::Not(_) => Node::Const(true),
    }
}

#[test]
fn proofs_of_engines_are_accepted_and_their_mutants_only_with_all_states() {
    let (mut n_proofs, mut n_in_calls, mut n_accepted, mut n_rejected) = (0, 0, 0, 0);
    for seed in 0..400 {
        let Some((posed, reached)) = explored(seed) else { continue };
        if reached.error {
            continue;
        }
        let (task, rng) = (posed.task(), &mut Rng::new(seed));
        for (name, engine) in engines() {
            let Some(proof) = proved(&task, &*engine) else { continue };
            assert_eq!(judged(&task, proof.clone()), Ok(()), "seed {seed}, {name}:\n{}", posed.text);
            n_proofs += 1;
            n_in_calls += usize::from(proof.places.iter().any(|place| !place.calls.is_empty()));
            let lacks = |proof: &ShapeProof| {
                reached.rows.iter().find(|row| seen::allows(task.program, proof, row) == Some(false)).cloned()
            };
            for _ in 0..4 {
                let mutant = mutant(rng, &proof);
                let verdict = judged(&task, mutant.clone());
                match (&verdict, lacks(&mutant)) {
                    (Ok(()), Some(row)) => panic!("seed {seed}, {name}: accepted without {row:?}\n{}", posed.text),
                    (Ok(()), None) => n_accepted += 1,
                    (Err(_), _) => n_rejected += 1,
                }
            }
        }
    }
    let counts = (n_proofs, n_in_calls, n_accepted, n_rejected);
    assert!(n_proofs > 100 && n_in_calls > 5 && n_accepted > 5 && n_rejected > 100, "{counts:?}");
}

/// Under a bound on the threads of a whole run: without a shape, or with another number of ended threads, a proof lacks
/// a state that is reached.
#[test]
fn proofs_that_count_ended_threads_are_accepted_and_those_that_miscount_rejected() {
    let (mut n_proofs, mut n_ended, mut n_rejected) = (0, 0, 0);
    for seed in 0..60 {
        let posed = pose(&generate(seed, &Weights::threads())).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let ThreadScope::AtMost(bound) = posed.threads else { continue };
        let task = Task { threads: ThreadScope::Created(bound), ..posed.task() };
        if explore(&posed.task(), N_STATES).is_none() {
            continue;
        }
        let rng = &mut Rng::new(seed);
        for (name, engine) in engines() {
            let Some(proof) = proved(&task, &*engine) else { continue };
            assert_eq!(judged(&task, proof.clone()), Ok(()), "seed {seed}, {name}:\n{}", posed.text);
            n_proofs += 1;
            n_ended += usize::from(proof.shapes.iter().any(|shape| shape.ended > 0));
            for _ in 0..2 {
                let at = rng.below(proof.shapes.len());
                let (mut less, mut miscounted) = (proof.clone(), proof.clone());
                less.shapes.remove(at);
                miscounted.shapes[at].ended += 1;
                miscounted.shapes.sort_by(|one, other| (&one.threads, one.ended).cmp(&(&other.threads, other.ended)));
                for mutant in [less, miscounted] {
                    assert!(judged(&task, mutant).is_err(), "seed {seed}, {name}, shape {at}:\n{}", posed.text);
                    n_rejected += 1;
                }
            }
        }
    }
    assert!(n_proofs > 30 && n_ended > 10 && n_rejected > 100, "{:?}", (n_proofs, n_ended, n_rejected));
}

#[test]
fn values_that_nobody_reads_any_more_are_not_told_of() {
    // After the first step `g` is overwritten before it is read, but it is read elsewhere.
    let text =
        "decl f := T;\ndecl g := F;\nvoid main() begin\n  decl l;\n  g := l | f;\n  g := l;\n  assert(g | !g);\nend\n";
    let options = selvedge_frontend::bp::LoadOptions::default();
    let program = selvedge_frontend::bp::load(text, &options).program.expect("the program is well-formed");
    let target = selvedge_ir::Target::all_asserts(&program);
    let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(2) };
    for (name, engine) in engines() {
        let proof = proved(&task, &*engine).expect("the program is safe");
        assert_eq!(judged(&task, proof), Ok(()), "{name}");
    }
}

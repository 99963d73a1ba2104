//! The engine `sat` in its modes: on the repository's programs with one thread, on generated ones against `exhaustive`
//! and `summaries`, and on the corpus. Traces are replayed.

#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

use selvedge_check::{
    Argument, CancelToken, Engine, Event, Explanation, Limits, Observer, Run, Stop, Target, Task, ThreadScope, Verdict,
};
use selvedge_engines::sat::{Options, Recursion, Sat, SummaryMode};
use selvedge_engines::summaries::Summaries;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::Program;
use selvedge_ir::callgraph::{is_sequential, prelude_ends_early};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::corpus;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Answer, Budget, ask};

fn engine(mode: SummaryMode) -> Sat {
    Sat { options: Options { summaries: mode, ..Options::default() } }
}

/// Returns the engine with universal summaries and recursion unrolled.
fn unrolling() -> Sat {
    Sat { options: Options { summaries: SummaryMode::Universal, recursion: Recursion::Unroll } }
}

/// An observer that cancels a run beyond a number of nodes or rounds.
struct Watch {
    cancel: CancelToken,
    nodes: usize,
    rounds: usize,
}

impl Observer for Watch {
    fn event(&self, event: Event) {
        let (rounds, nodes) = match event {
            Event::Unwound { steps, nodes } => (steps, nodes),
            Event::Diagrams { rounds, nodes, .. } => (rounds, nodes),
            _ => return,
        };
        if rounds > self.rounds || nodes > self.nodes {
            self.cancel.cancel();
        }
    }
}

/// Returns the verdict within a budget, a trace replayed, and what closed the search; `None` if the budget is used up.
fn verdict_within(
    task: &Task<'_>,
    engine: &dyn Engine,
    (nodes, rounds): (usize, usize),
) -> Option<(&'static str, Vec<Argument>)> {
    let watch = Watch { cancel: CancelToken::default(), nodes, rounds };
    let run = Run::new(watch.cancel.clone(), Limits::default(), &watch);
    let mut explanation = Explanation::default();
    let verdict = match engine.decide(task, &run, &mut explanation) {
        Ok(verdict) => verdict,
        Err(Stop::Cancelled) => return None,
        Err(stop) => panic!("{stop}"),
    };
    let judged = judge(task, &verdict, &Run::unlimited()).unwrap_or_else(|reject| panic!("{reject}"));
    let is_replayed = matches!(judged, Judged::Replayed(_));
    assert_eq!(is_replayed, matches!(verdict, Verdict::Unsafe(_)), "traces are replayed");
    Some((if is_replayed { "unsafe" } else { "safe" }, explanation.arguments.into_iter().collect()))
}

/// Returns the verdict in a word, a trace replayed.
fn verdict(task: &Task<'_>, engine: &dyn Engine) -> Result<&'static str, String> {
    let verdict = engine.check(task, &Run::unlimited()).map_err(|stop| stop.to_string())?;
    match (judge(task, &verdict, &Run::unlimited()), &verdict) {
        (Ok(Judged::Replayed(_)), Verdict::Unsafe(_)) => Ok("unsafe"),
        (Ok(_), Verdict::Safe(_)) => Ok("safe"),
        (Err(reject), _) => Err(reject.to_string()),
        (Ok(_), Verdict::Unsafe(_)) => Err("the trace was not replayed".to_string()),
    }
}

fn target(program: &Program) -> Target {
    let labels = program.labels.iter().filter(|label| ["ERROR", "SLIC_ERROR"].contains(&label.name.as_str()));
    Target::new(Target::all_asserts(program).asserts, labels.map(|label| label.loc).collect())
}

fn check_text(text: &str, engine: &Sat) -> Result<&'static str, String> {
    let program = load(text, &LoadOptions::default()).program.expect("the program has no errors");
    let target = target(&program);
    verdict(&Task { program: &program, target: &target, threads: ThreadScope::Unbounded }, engine)
}

/// Reads a program of the repository, by its name.
fn own(name: &str) -> String {
    let path = corpus::root().join("tests/programs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check_own(names: &[&str]) {
    for name in names {
        let text = own(name);
        let expected = if text.contains("verdict: unsafe") { "unsafe" } else { "safe" };
        for mode in SummaryMode::ALL {
            assert_eq!(check_text(&text, &engine(*mode)), Ok(expected), "{name}, {}", mode.name());
        }
        assert_eq!(check_text(&text, &unrolling()), Ok(expected), "{name}, unrolled");
    }
}

#[test]
fn summary_always_postponed() {
    check_own(&["errata/summary_always_postponed.bp"]);
}

#[test]
fn assert_in_nonreturning_callee() {
    check_own(&[
        "errata/assert_in_nonreturning_callee.bp",
        "errata/assert_in_nonreturning_callee_blocked.bp",
        "errata/assert_in_nonreturning_callee_safe.bp",
    ]);
}

#[test]
fn schoose_third_case() {
    check_own(&["errata/schoose_third_case.bp"]);
}

#[test]
fn nondet_quantifier() {
    check_own(&["errata/nondet_quantifier.bp", "errata/nondet_quantifier_safe.bp"]);
}

#[test]
fn liveness_across_calls() {
    let text = "decl g; void foo() begin skip; end void main() begin g := T; foo(); assert(g); end";
    let wrong = text.replace("assert(g)", "assert(!g)");
    for engine in SummaryMode::ALL.iter().map(|mode| engine(*mode)).chain([unrolling()]) {
        assert_eq!(check_text(text, &engine), Ok("safe"), "{engine:?}");
        assert_eq!(check_text(&wrong, &engine), Ok("unsafe"), "{engine:?}");
    }
}

#[test]
fn all_programs_of_the_repository_with_one_thread() {
    let mut n_checked = 0;
    for entry in corpus::own().expect("the programs can be read") {
        let Some(program) = load(&entry.text, &LoadOptions::default()).program else { continue };
        if !is_sequential(&program) || prelude_ends_early(&program) {
            continue;
        }
        let target = target(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let expected = verdict(&task, &Summaries::default());
        for mode in SummaryMode::ALL {
            assert_eq!(verdict(&task, &engine(*mode)), expected, "{}, {}", entry.name, mode.name());
        }
        n_checked += 1;
    }
    assert!(n_checked > 50, "only {n_checked} programs");
}

/// The number of generated programs on which each mode is tested.
const SAMPLE: u64 = 300;

/// Calls `look` with the generated programs that have one thread, and the answer of `exhaustive` about them.
fn generated(seeds: std::ops::Range<u64>, weights: &[Weights], mut look: impl FnMut(u64, &str, &Task<'_>, Answer)) {
    for (seed, weights) in seeds.zip(weights.iter().cycle()) {
        let text = generate(seed, weights).to_string();
        let Some(program) = load(&text, &LoadOptions::default()).program.filter(is_sequential) else { continue };
        if prelude_ends_early(&program) {
            continue;
        }
        let target = target(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        look(seed, &text, &task, ask(&task, Budget::default()));
    }
}

/// Compares a mode with `exhaustive`, and with `summaries` where stacks are too deep for that one.
fn compare(seeds: std::ops::Range<u64>, mode: SummaryMode) {
    let (mut counts, mut deep) = ([0, 0], 0);
    generated(seeds, &[Weights::sequential(), Weights::recursive()], |seed, text, task, answer| {
        let expected = match answer {
            Answer::Safe => Ok("safe"),
            Answer::Unsafe(_) => Ok("unsafe"),
            Answer::Deep | Answer::Large => {
                deep += 1;
                verdict(task, &Summaries::default())
            }
        };
        assert!(expected.is_ok(), "seed {seed}: {expected:?}");
        assert_eq!(verdict(task, &engine(mode)), expected, "seed {seed}, {}\n{text}", mode.name());
        counts[usize::from(expected == Ok("unsafe"))] += 1;
    });
    println!("{}: {counts:?} safe and unsafe, {deep} of them beyond the oracle", mode.name());
    assert!(counts.iter().all(|count| *count > 40), "only {counts:?} programs that are safe and unsafe");
    assert!(deep < counts[0] + counts[1] - deep, "the oracle decides too little: all but {deep} of {counts:?}");
}

#[test]
fn reachable_summaries_agree_with_the_oracle() {
    compare(0..SAMPLE, SummaryMode::Reachable);
}

#[test]
fn universal_summaries_agree_with_the_oracle() {
    compare(SAMPLE..2 * SAMPLE, SummaryMode::Universal);
}

#[test]
fn lazy_summaries_agree_with_the_oracle() {
    compare(2 * SAMPLE..3 * SAMPLE, SummaryMode::Lazy);
}

#[test]
fn unrolled_recursion_agrees_with_the_oracle() {
    let (mut counts, mut nested, mut large) = ([0, 0], 0, 0);
    let mut weights = Weights::recursive();
    weights.chances.recursion = 100;
    generated(3 * SAMPLE..4 * SAMPLE, &[weights], |seed, text, task, answer| {
        let expected = match answer {
            Answer::Safe => "safe",
            Answer::Unsafe(_) => "unsafe",
            Answer::Deep | Answer::Large => verdict(task, &Summaries::default()).expect("the engine decides"),
        };
        let Some((found, arguments)) = verdict_within(task, &unrolling(), (20_000, 100)) else {
            large += 1;
            return;
        };
        assert_eq!(found, expected, "seed {seed}\n{text}");
        counts[usize::from(found == "unsafe")] += 1;
        nested += usize::from(arguments.contains(&Argument::NestedSummaries));
    });
    println!("{counts:?} safe and unsafe, {nested} with recursion that was unrolled, {large} too large");
    assert!(counts.iter().all(|count| *count > 30), "only {counts:?} programs that are safe and unsafe");
    assert!(nested > 15, "only {nested} with recursion that was unrolled");
}

fn arguments(text: &str, engine: &Sat) -> (&'static str, Vec<Argument>) {
    let program = load(text, &LoadOptions::default()).program.expect("the program has no errors");
    let target = target(&program);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    verdict_within(&task, engine, (usize::MAX, 5_000)).expect("rounds are few")
}

#[test]
fn recursion_is_unrolled_until_entries_and_exits_repeat() {
    // The counter g goes through four values, each deeper in the recursion than the one before.
    let text = |claim: &str| {
        format!(
            "decl a, b; void up() begin if * then a, b := !a, a ^ b; up(); fi; end
             void main() begin a, b := F, F; up(); assert({claim}); end"
        )
    };
    assert_eq!(arguments(&text("T"), &unrolling()), ("safe", vec![Argument::NestedSummaries]));
    assert_eq!(arguments(&text("!a | !b"), &unrolling()).0, "unsafe");
    // Two frames with the same entry and different exits are not a repetition.
    let exits = "decl g; void f() begin if * then f(); g := !g; fi; end
                 void main() begin g := F; f(); assert(!g); end";
    assert_eq!(arguments(exits, &unrolling()).0, "unsafe");
    // An error under open frames has no exits to differ in.
    let open = "decl g; void f() begin if * then g := T; f(); else assert(!g); fi; end
                void main() begin g := F; f(); end";
    assert_eq!(arguments(open, &unrolling()).0, "unsafe");
}

#[test]
fn a_loop_that_settles_at_once_is_closed_by_coverage() {
    // The longest path without repetition goes through 2^10 values; all of them are there after one round.
    let names: Vec<String> = (0..10).map(|bit| format!("x{bit}")).collect();
    let (names, any) = (names.join(", "), ["*"; 10].join(", "));
    let text = format!(
        "decl {names}, g; void main() begin g := T; while * do {names} := {any}; od; assert(g | {}); end",
        names.replace(", ", " | ")
    );
    let program = load(&text, &LoadOptions::default()).program.expect("the program has no errors");
    let target = target(&program);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let found = verdict_within(&task, &engine(SummaryMode::Universal), (usize::MAX, 20));
    assert_eq!(found, Some(("safe", vec![Argument::FixedPoint])));
}

#[test]
fn arguments_name_what_closed_the_search() {
    let counting = "decl a, b; void main() begin a, b := F, F; while !(a & b) do a, b := !a, a ^ b; od; assert(a); end";
    assert_eq!(arguments(counting, &engine(SummaryMode::Universal)).0, "safe");
    let recursive =
        "decl g; void f() begin if * then g := g; f(); fi; end void main() begin g := T; f(); assert(g); end";
    for mode in SummaryMode::ALL {
        assert_eq!(arguments(recursive, &engine(*mode)), ("safe", vec![Argument::FixedPoint]), "{}", mode.name());
    }
    let straight = "decl g; void main() begin g := T; assert(g); end";
    assert_eq!(arguments(straight, &engine(SummaryMode::Universal)), ("safe", vec![]));
}

#[test]
fn modes_agree_with_diagrams_on_the_corpus() {
    let paths = corpus::foreign("satabs-generated/safety").map_or(Vec::new(), |folder| corpus::files(&folder, "bp"));
    if paths.is_empty() {
        println!("the corpus is not there");
        return;
    }
    let mut counts = [0, 0];
    // Every fourth program, in one of the modes: a sample of each.
    for (number, path) in paths.iter().step_by(4).enumerate() {
        let text = std::fs::read_to_string(path).expect("the corpus can be read");
        let program = load(&text, &LoadOptions::default()).program.expect("programs of the corpus have no errors");
        let target = target(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let mode = SummaryMode::ALL[number % SummaryMode::ALL.len()];
        let Some((found, _)) = verdict_within(&task, &engine(mode), (30_000, 300)) else {
            counts[1] += 1;
            continue;
        };
        counts[0] += 1;
        assert_eq!(Ok(found), verdict(&task, &Summaries::default()), "{}, {}", path.display(), mode.name());
    }
    println!("{} programs decided, {} beyond the budget", counts[0], counts[1]);
    assert!(counts[0] > 8 * counts[1], "only {} programs decided, {} beyond the budget", counts[0], counts[1]);
}

//! The engine `sat` in its modes: on the repository's programs with one thread, and against `summaries` on generated
//! ones. Traces are replayed.

use selvedge_check::{Engine, Run, Target, Task, ThreadScope, Verdict};
use selvedge_engines::sat::{Options, Sat, SummaryMode};
use selvedge_engines::summaries::Summaries;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::Program;
use selvedge_ir::callgraph::is_sequential;
use selvedge_replay::{Judged, judge};
use selvedge_testkit::corpus;
use selvedge_testkit::generate::{Weights, generate};

fn engine(mode: SummaryMode) -> Sat {
    Sat { options: Options { summaries: mode } }
}

/// The verdict in a word, a trace replayed.
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

fn check_text(text: &str, mode: SummaryMode) -> Result<&'static str, String> {
    let program = load(text, &LoadOptions::default()).program.expect("the program has no errors");
    let target = target(&program);
    verdict(&Task { program: &program, target: &target, threads: ThreadScope::Unbounded }, &engine(mode))
}

/// A program of the repository, by its name.
fn own(name: &str) -> String {
    let path = corpus::root().join("tests/programs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check_own(names: &[&str]) {
    for name in names {
        let text = own(name);
        let expected = if text.contains("verdict: unsafe") { "unsafe" } else { "safe" };
        for mode in SummaryMode::ALL {
            assert_eq!(check_text(&text, *mode), Ok(expected), "{name}, {}", mode.name());
        }
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
fn all_programs_of_the_repository_with_one_thread() {
    let mut n_checked = 0;
    for entry in corpus::own().expect("the programs can be read") {
        let Some(program) = load(&entry.text, &LoadOptions::default()).program else { continue };
        if !is_sequential(&program) {
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

/// How many generated programs each mode is tried on.
const SAMPLE: u64 = 400;

fn compare(seeds: std::ops::Range<u64>, mode: SummaryMode) {
    let mut counts = [0, 0];
    for seed in seeds {
        let weights = if seed.is_multiple_of(2) { Weights::sequential() } else { Weights::recursive() };
        let text = generate(seed, &weights).to_string();
        let Some(program) = load(&text, &LoadOptions::default()).program.filter(is_sequential) else { continue };
        let target = target(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let expected = verdict(&task, &Summaries::default());
        assert!(expected.is_ok(), "seed {seed}: {expected:?}");
        assert_eq!(verdict(&task, &engine(mode)), expected, "seed {seed}, {}\n{text}", mode.name());
        counts[usize::from(expected == Ok("unsafe"))] += 1;
    }
    assert!(counts.iter().all(|count| *count > 50), "only {counts:?} programs that are safe and unsafe");
}

#[test]
fn reachable_summaries_agree_with_diagrams() {
    compare(0..SAMPLE, SummaryMode::Reachable);
}

#[test]
fn universal_summaries_agree_with_diagrams() {
    compare(SAMPLE..2 * SAMPLE, SummaryMode::Universal);
}

#[test]
fn lazy_summaries_agree_with_diagrams() {
    compare(2 * SAMPLE..3 * SAMPLE, SummaryMode::Lazy);
}

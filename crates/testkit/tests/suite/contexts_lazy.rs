//! The lazy engine for a bounded number of contexts, compared with the oracle for turns.

use selvedge_check::{ContextBound, Engine, Explanation, Run, Stop, Subject, Target, Task, ThreadScope, Verdict};
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::{Histories, Options};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::contexts::search::search;
use selvedge_testkit::generate::{Chances, Template, Weights, generate};
use selvedge_testkit::lower::lower;
use selvedge_testkit::oracle::Budget;

const BUDGET: Budget = Budget { frames: 5, ..Budget::states(20_000) };

fn engine(last: u32) -> Contexts {
    Contexts { options: Options { bound: Some(ContextBound { first: 1, last }), ..Options::default() } }
}

/// Returns the least number of contexts with an error, after the judge has accepted the execution.
fn error(task: &Task<'_>, last: u32, text: &str) -> Option<u32> {
    let mut explanation = Explanation::default();
    match engine(last).decide(task, &Run::unlimited(), &mut explanation) {
        Ok(verdict @ Verdict::Unsafe(_)) => {
            let judged = judge(task, &verdict, &Run::unlimited());
            assert!(matches!(judged, Ok(Judged::Replayed(_))), "{judged:?}\n{verdict:?}\n{text}");
            explanation.contexts.expect("the engine tells").error
        }
        Ok(Verdict::Safe(_)) => panic!("a bound proves nothing\n{text}"),
        Err(Stop::BoundReached(_)) => None,
        Err(stop) => panic!("{stop}\n{text}"),
    }
}

/// The result of a comparison.
#[derive(Default)]
struct Compared {
    unsafe_: usize,
    late: usize,
    bounded: usize,
    truncated: usize,
    skipped: usize,
}

fn compare(task: &Task<'_>, last: u32, text: &str, compared: &mut Compared) {
    if engine(last).supports(task).is_err() {
        compared.skipped += 1;
        return;
    }
    let Some(oracle) = search(task, last, BUDGET) else {
        compared.skipped += 1;
        return;
    };
    let found = error(task, last, text);
    let states = engine(last).shared_states(task, &Run::unlimited()).expect("nothing stops it");
    if !oracle.is_exact(last) {
        compared.truncated += 1;
        assert!(found.unwrap_or(u32::MAX) <= oracle.error.unwrap_or(u32::MAX), "{text}\n{found:?} {oracle:?}");
        for (k, (ours, theirs)) in states.reached.iter().zip(&oracle.shared).enumerate() {
            assert!(ours.is_superset(theirs), "{} contexts: {ours:?} lacks some of {theirs:?}\n{text}", k + 1);
        }
        return;
    }
    assert_eq!(found, oracle.error, "{text}");
    assert_eq!(states.reached, oracle.shared, "{text}");
    compared.unsafe_ += usize::from(found.is_some());
    compared.late += usize::from(found > Some(1));
    compared.bounded += usize::from(found.is_none());
}

/// Returns weights for two or three threads, often recursive.
fn weights() -> Weights {
    use Template::*;
    let base = Weights::threads().with(&[
        (StartGoto, 0),
        (StartLabel, 0),
        (StartCall, 0),
        (Async, 0),
        (Call, 12),
        (Atomic, 4),
    ]);
    let kinds = Chances { initial: 60, classic: 50, processes: 50, ..base.chances };
    let chances = Chances { first_start: 0, recursion: 60, choice: 4, ..kinds };
    Weights { globals: (1, 3), locals: (0, 2), procs: (1, 3), statements: (2, 8), chances, ..base }
}

#[test]
fn generated_programs_have_the_states_and_errors_of_explicit_turns() {
    let mut compared = Compared::default();
    let count = 400;
    for seed in 0..count {
        let model = generate(seed, &weights());
        let lowered = lower(&model);
        let task = Task { program: &lowered.program, target: &lowered.target, threads: lowered.threads };
        let text = format!("seed {seed}\n{model}");
        compare(&task, 1 + (seed % 4) as u32, &text, &mut compared);
    }
    let Compared { unsafe_, late, bounded, truncated, skipped } = compared;
    assert!(unsafe_ > 40 && late > 5 && bounded > 40 && truncated > 0, "{unsafe_} {late} {bounded} {truncated}");
    assert!(skipped < 40, "{skipped}");
}

/// Returns the least number of contexts with an error in a text.
fn least(text: &str, last: u32) -> Option<u32> {
    let loaded = load(text, &LoadOptions::default());
    let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let (program, target, threads) = selvedge_check::Question::default().pose(subject).expect("the question fits");
    let task = Task { program: &program, target: &target, threads };
    compare(&task, last, text, &mut Compared::default());
    error(&task, last, text)
}

/// A thread may do nothing in a context.
#[test]
fn fig1_idle_context() {
    let text = "decl x; void init() begin x := F; end void thread0() begin assume(x); assert(F); end \
                void thread1() begin x := T; end";
    assert_eq!(least(text, 3), Some(2));
}

/// A summary that was found under other effects of the other threads must not be applied: what `f` does in the third
/// context follows from what the second thread wrote before the second one, of which nothing is left when `f` is
/// entered.
#[test]
fn lazy_summary_context() {
    let program = |condition: &str| {
        format!(
            "decl g, e, c, d; void init() begin g, e, c, d := F, F, F, F; end \
             void f() begin assume(d); end \
             void thread0() begin decl h; assume(e); h := g; g, c := F, T; f(); assert(g {condition} h); end \
             void thread1() begin decl l; l := *; g, e := l, T; assume(c); g, d := l, T; end"
        )
    };
    assert_eq!(least(&program("="), 4), None);
    assert_eq!(least(&program("!="), 4), Some(3));
}

/// Nine variables with arbitrary values have more states than there are numbers; then values are used instead.
#[test]
fn more_states_than_numbers_are_no_obstacle() {
    for (n_vars, n_states) in [(3, 8), (9, 512)] {
        let names: Vec<String> = (0..n_vars).map(|number| format!("v{number}")).collect();
        let text = format!(
            "decl {}; void thread0() begin v0 := v1; end void thread1() begin v1 := !v0; v0 := v2; end",
            names.join(", ")
        );
        let loaded = load(&text, &LoadOptions::default());
        let program = loaded.program.expect("it is a program");
        let task = Task { program: &program, target: &Target::default(), threads: ThreadScope::Unbounded };
        let with = |histories: Histories| {
            let options = Options { bound: Some(ContextBound { first: 1, last: 2 }), histories: Some(histories) };
            Contexts { options }.shared_states(&task, &Run::unlimited()).expect("nothing stops it")
        };
        let numbered = with(Histories::Numbers);
        assert_eq!(numbered.reached[0].len(), n_states);
        assert_eq!(numbered, with(Histories::Values));
    }
}

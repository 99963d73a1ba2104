//! The engine `summaries`, compared with the oracle on generated programs: verdicts, traces, certificates and reachable
//! sets.

use std::collections::BTreeSet;

use selvedge_check::{Engine, Run, Target, Task, ThreadScope, Verdict};
use selvedge_engines::exhaustive::{Exhaustive, Options};
use selvedge_engines::summaries::{self, Summaries};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::callgraph::{is_sequential, prelude_ends_early};
use selvedge_ir::{LocId, Program, Value};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::patient;

/// Generates a program with one thread, and its text.
fn program(seed: u64) -> Option<(Program, String)> {
    let weights = if seed.is_multiple_of(2) { Weights::sequential() } else { Weights::recursive() };
    let text = generate(seed, &weights).to_string();
    let program = load(&text, &LoadOptions::default()).program?;
    (is_sequential(&program) && !prelude_ends_early(&program)).then_some((program, text))
}

fn oracle() -> Exhaustive {
    Exhaustive { options: Options { frames: 5 } }
}

/// Returns the verdict in a word, its evidence judged.
fn judged(task: &Task<'_>, verdict: Verdict) -> Result<&'static str, String> {
    match judge(task, &verdict, &Run::unlimited()) {
        Ok(Judged::Certified) => Ok("safe"),
        Ok(Judged::ByOneSolver(solver)) => Err(format!("{solver} was asked")),
        Ok(Judged::Unjudged(unjudged)) => Err(unjudged.to_string()),
        Ok(Judged::Uncertified) => Err("no certificate".to_string()),
        Ok(Judged::Replayed(_)) => Ok("unsafe"),
        Err(reject) => Err(reject.to_string()),
    }
}

fn compare_verdicts(task: &Task<'_>, engine: &Summaries) -> Result<(), String> {
    let found = engine.check(task, &Run::unlimited()).map_err(|stop| stop.to_string())?;
    let found = judged(task, found)?;
    match oracle().check(task, &patient(2)) {
        Ok(Verdict::Safe(_)) if found != "safe" => Err(format!("{found}, but the oracle says safe")),
        Ok(Verdict::Unsafe(_)) if found != "unsafe" => Err(format!("{found}, but the oracle says unsafe")),
        _ => Ok(()),
    }
}

/// Compares the engine's reachable set with the oracle's thread states, over the variables that the engine mentions.
fn compare_sets(task: &Task<'_>, engine: &Summaries) -> Result<(), String> {
    let Ok(seen) = oracle().explore(task, &patient(2)) else { return Ok(()) };
    let reached = engine.explore(task, &Run::unlimited()).map_err(|stop| stop.to_string())?;
    let program = task.program;
    let of_scope = |scope| program.vars.indices().filter(move |var| program.vars[*var].scope == scope);
    let mut expected: BTreeSet<(LocId, Vec<bool>)> = BTreeSet::new();
    for state in &seen.thread_states {
        let Some((_, vars)) = reached.vars.iter().find(|(loc, _)| *loc == state.loc) else {
            return Err(format!("location {} is not reached", state.loc.index()));
        };
        let locals = program.procs[program.locs[state.loc].proc].locals.iter().copied().zip(&state.locals);
        let shared = of_scope(selvedge_ir::Scope::Shared).zip(&state.shared);
        let thread = of_scope(selvedge_ir::Scope::Thread).zip(&state.vars);
        let all: Vec<_> = locals.chain(shared).chain(thread).collect();
        let value = |var| all.iter().find(|(id, _)| *id == var).is_some_and(|(_, value)| **value == Value::Bool(true));
        expected.insert((state.loc, vars.iter().map(|var| value(*var)).collect()));
    }
    if let Some(missing) = expected.difference(&reached.states).next() {
        return Err(format!("not reached: {missing:?}"));
    }
    match reached.states.difference(&expected).next() {
        Some(extra) if !seen.truncated => Err(format!("reached, but not by the oracle: {extra:?}")),
        _ => Ok(()),
    }
}

fn compare(seeds: std::ops::Range<u64>, options: &summaries::Options) {
    let engine = Summaries { options: options.clone() };
    let mut n_compared = 0;
    for seed in seeds {
        let Some((program, text)) = program(seed) else { continue };
        let labels = program.labels.iter().filter(|label| ["ERROR", "SLIC_ERROR"].contains(&label.name.as_str()));
        let target = Target::new(Target::all_asserts(&program).asserts, labels.map(|label| label.loc).collect());
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let outcome = compare_verdicts(&task, &engine).and_then(|()| compare_sets(&task, &engine));
        assert_eq!(outcome, Ok(()), "seed {seed}\n{text}");
        n_compared += 1;
    }
    assert!(n_compared > 200, "only {n_compared} programs");
}

#[test]
fn summaries_agree_with_the_oracle() {
    compare(0..600, &summaries::Options::default());
}

#[test]
fn exact_summaries_agree_with_the_oracle() {
    compare(1000..1400, &summaries::Options { exact: true, ..Default::default() });
}

#[test]
fn eager_summaries_agree_with_the_oracle() {
    compare(600..1000, &summaries::Options { eager: true, ..Default::default() });
}

#[test]
fn summaries_in_the_order_of_declaration_agree_with_the_oracle() {
    compare(1400..1800, &summaries::Options { declared: true, ..Default::default() });
}

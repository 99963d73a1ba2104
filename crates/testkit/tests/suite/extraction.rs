//! Programs as thread-transition systems: the reachable set with few threads is that of the oracle and the bounded
//! engines, and a run of the system is an execution of the program.

use std::collections::BTreeSet;

use selvedge_check::{Engine, Run, Target, Task, ThreadScope, Verdict};
use selvedge_engines::exhaustive::Exhaustive;
use selvedge_engines::threads::explicit::ThreadsExplicit;
use selvedge_engines::tts_extract::{Options, System, extract};
use selvedge_ir::{Count, LocId, Op, Program};
use selvedge_replay::replay;
use selvedge_testkit::oracle::patient;
use selvedge_testkit::tts::{AtBound, reach};
use selvedge_testkit::unbounded::generated;

/// The limit on configurations.
const LIMIT: usize = 3_000;

fn variants() -> [Options; 4] {
    let with = |compress, dead| Options { compress, dead, ..Options::default() };
    [with(false, false), with(true, false), with(false, true), with(true, true)]
}

/// Returns whether started threads begin at a location.
fn is_born_at(program: &Program, loc: LocId) -> bool {
    program.edges.iter().any(|edge| match &edge.op {
        Op::Fork(at) => *at == loc,
        Op::Spawn(spawn) => program.procs[spawn.callee].entry == loc,
        _ => false,
    })
}

/// Checks that with up to `n_threads` threads the system and the oracle agree whether there is an error. Returns
/// whether they could be compared.
fn compare_verdict(system: &System<'_>, task: &Task<'_>, n_threads: u32) -> Result<bool, String> {
    // A rule does not say that a thread beyond the bound does not reach its first location.
    if task.target.locs.iter().any(|loc| is_born_at(task.program, *loc)) {
        return Ok(false);
    }
    let bounded = Task { threads: ThreadScope::AtMost(n_threads), ..*task };
    let expected = match Exhaustive::default().check(&bounded, &patient(2)) {
        Ok(verdict) => matches!(verdict, Verdict::Unsafe(_)),
        Err(_) => return Ok(false),
    };
    let found = reach(&system.tts, n_threads as usize, AtBound::Skipped, LIMIT);
    if found.truncated || found.covered == expected {
        return Ok(!found.truncated);
    }
    Err(format!("{n_threads} threads: {} by the system, {expected} by the oracle", found.covered))
}

/// Checks that a run of the system to a target is an execution of the program. Returns whether there is a run.
fn check_trace(system: &System<'_>, task: &Task<'_>) -> Result<bool, String> {
    let Some(run) = reach(&system.tts, 3, AtBound::Blocked, LIMIT).run else { return Ok(false) };
    system.tts.replay(&run).map_err(|wrong| format!("{wrong:?}"))?;
    let trace = system.trace(&run, &Run::unlimited()).map_err(|stop| stop.to_string())?;
    replay(task, &trace).map_err(|wrong| format!("{wrong:?} in {trace:?}"))?;
    Ok(true)
}

/// Checks that without reductions the pairs of the system are the thread states of the bounded engine.
fn compare_pairs(system: &System<'_>, task: &Task<'_>, n_threads: u32) -> Result<bool, String> {
    let bounded = Task { threads: ThreadScope::AtMost(n_threads), ..*task };
    let Ok(reached) = ThreadsExplicit::default().explore(&bounded, &patient(2)) else { return Ok(false) };
    let found = reach(&system.tts, n_threads as usize, AtBound::Skipped, LIMIT);
    let of_prelude = |loc: LocId| Some(task.program.locs[loc].proc) == task.program.prelude;
    let expected: BTreeSet<_> = reached.thread_states.into_iter().filter(|state| !of_prelude(state.loc)).collect();
    let states = found.pairs.iter().map(|(shared, local)| system.thread_state(*shared, *local));
    let states: BTreeSet<_> = states.filter(|state| !of_prelude(state.loc)).collect();
    if found.truncated || states == expected {
        return Ok(!found.truncated);
    }
    let missing = expected.difference(&states).next();
    Err(format!("{n_threads} threads: missing {missing:?}, extra {:?}", states.difference(&expected).next()))
}

#[derive(Default, Debug)]
struct Counts {
    programs: usize,
    verdicts: usize,
    traces: usize,
    pairs: usize,
}

fn compare(task: &Task<'_>, counts: &mut Counts) -> Result<(), String> {
    let labels = &task.program.labels;
    let mut targets = vec![task.target.clone()];
    if let (Some(first), Some(last)) = (labels.first(), labels.last()) {
        targets.push(Target::default().with_together([vec![first.loc, last.loc]]));
        targets.push(Target::new(Vec::new(), vec![first.loc]));
    }
    for target in &targets {
        let task = Task { target, ..*task };
        for options in variants() {
            let named = |fault: String| format!("{options:?}, {target:?}: {fault}");
            let system = extract(&task, options, &patient(2)).map_err(|stop| named(stop.to_string()))?;
            for n_threads in 1..=3 {
                counts.verdicts += usize::from(compare_verdict(&system, &task, n_threads).map_err(named)?);
                if !options.compress && !options.dead {
                    counts.pairs += usize::from(compare_pairs(&system, &task, n_threads).map_err(named)?);
                }
            }
            counts.traces += usize::from(check_trace(&system, &task).map_err(named)?);
        }
    }
    counts.programs += 1;
    Ok(())
}

/// Returns whether the system starts with the threads that a bounded search starts with.
fn starts_alike(program: &Program) -> bool {
    program.entries.iter().all(|entry| !matches!(entry.count, Count::AtMost(_)))
}

#[test]
fn systems_of_generated_programs_reach_what_the_oracle_reaches() {
    let mut counts = Counts::default();
    let mut faults = Vec::new();
    for program in generated(0..40).filter(|program| starts_alike(program.task().program)) {
        let result = compare(&program.task(), &mut counts);
        faults.extend(result.err().map(|fault| format!("{}: {fault}\n{}", program.name, program.posed.text)));
    }
    assert!(faults.is_empty(), "{} faults, the first: {}", faults.len(), faults[0]);
    assert!(counts.programs > 20 && counts.verdicts > 200 && counts.traces > 50 && counts.pairs > 50, "{counts:?}");
}

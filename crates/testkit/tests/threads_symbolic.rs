//! The engines `threads` and `threads-plain` against the oracle on generated programs: verdicts, traces, certificates and
//! reachable sets.

use selvedge_check::{CancelToken, Engine, Limits, Run, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::exhaustive::{Exhaustive, Exploration};
use selvedge_engines::threads::Reductions;
use selvedge_engines::threads::plain::{self, ThreadsPlain};
use selvedge_engines::threads::symbolic::{Options, Threads};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};

fn short() -> Run<'static> {
    let limits = Limits { time: Some(std::time::Duration::from_secs(2)), ..Limits::default() };
    Run::new(CancelToken::default(), limits, &())
}

/// A run without a limit that is enforced, in which diagrams take little memory.
fn small() -> Run<'static> {
    Run::new(CancelToken::default(), Limits { memory: Some(1 << 24), ..Limits::default() }, &())
}

/// All combinations of what can be switched.
fn variants() -> Vec<Threads> {
    let mut variants = Vec::new();
    for (compress, dead, merge) in
        [(false, false, true), (true, false, true), (false, true, false), (true, true, false), (true, true, true)]
    {
        let reductions = Reductions { compress, dead, ..Reductions::NONE };
        variants.push(Threads { options: Options { reductions, merge } });
    }
    variants
}

/// The verdict in a word, its evidence judged.
fn judged(task: &Task<'_>, verdict: &Verdict) -> Result<&'static str, String> {
    match judge(task, verdict, &Run::unlimited()) {
        Ok(Judged::Certified | Judged::Uncertified) => Ok("safe"),
        Ok(Judged::Replayed(_)) => Ok("unsafe"),
        Err(reject) => Err(reject.to_string()),
    }
}

fn compare_verdicts(task: &Task<'_>) -> Result<(), String> {
    let expected = match Exhaustive::default().check(task, &short()) {
        Ok(Verdict::Safe(_)) => "safe",
        Ok(Verdict::Unsafe(_)) => "unsafe",
        Err(_) => return Ok(()),
    };
    let plain = [true, false].map(|dead| ThreadsPlain { options: plain::Options { dead } });
    let mut engines: Vec<(Box<dyn Engine>, String)> = Vec::new();
    engines.extend(plain.map(|engine| (Box::new(engine.clone()) as Box<dyn Engine>, format!("{engine:?}"))));
    engines.extend(variants().into_iter().map(|engine| (Box::new(engine.clone()) as _, format!("{engine:?}"))));
    for (engine, name) in engines {
        let found = engine.check(task, &small()).map_err(|stop| stop.to_string())?;
        let found = judged(task, &found).map_err(|reject| format!("{name}: {reject}"))?;
        if found != expected {
            return Err(format!("{name}: {found}, but the oracle says {expected}"));
        }
    }
    Ok(())
}

/// Whether two searches reached the same; the numbers of states are the same unless the oracle also tells apart what
/// waits for the end of a prelude.
fn same(task: &Task<'_>, seen: &Exploration, reached: &Exploration) -> Result<(), String> {
    if let Some(missing) = seen.thread_states.difference(&reached.thread_states).next() {
        return Err(format!("not reached: {missing:?}"));
    }
    if let Some(extra) = reached.thread_states.difference(&seen.thread_states).next() {
        return Err(format!("reached, but not by the oracle: {extra:?}"));
    }
    if seen.failing != reached.failing {
        return Err(format!("failing: {:?} instead of {:?}", reached.failing, seen.failing));
    }
    if task.program.prelude.is_none() && seen.n_states != reached.n_states {
        return Err(format!("{} states instead of {}", reached.n_states, seen.n_states));
    }
    Ok(())
}

fn compare_sets(task: &Task<'_>) -> Result<(), String> {
    let Ok(seen) = Exhaustive::default().explore(task, &short()) else { return Ok(()) };
    for merge in [false, true] {
        let engine = Threads { options: Options { merge, ..Options::default() } };
        let reached = engine.explore(task, &small()).map_err(|stop| stop.to_string())?;
        same(task, &seen, &reached).map_err(|fault| format!("merge {merge}: {fault}"))?;
    }
    let plain = ThreadsPlain::default().explore(task, &small()).map_err(|stop| stop.to_string())?;
    same(task, &seen, &plain).map_err(|fault| format!("plain: {fault}"))
}

fn compare(seeds: std::ops::Range<u64>, weights: &Weights) {
    let (mut n_compared, mut faults) = (0, Vec::new());
    for seed in seeds {
        let posed = pose(&generate(seed, weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault:?}"));
        let inlined = simplify(&posed.task(), &[Pass::Inline]);
        let task = inlined.task(posed.threads);
        if Threads::default().supports(&task).is_err() || task.threads == ThreadScope::Unbounded {
            continue;
        }
        let result = compare_verdicts(&task).and_then(|()| compare_sets(&task));
        faults.extend(result.err().map(|fault| format!("seed {seed}: {fault}\n{}", posed.text)));
        n_compared += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(n_compared > 10, "only {n_compared} programs were compared");
}

#[test]
fn on_programs_with_threads_they_agree_with_the_oracle() {
    compare(0..400, &Weights::threads());
}

#[test]
fn on_programs_with_everything_they_agree_with_the_oracle() {
    compare(1000..1400, &Weights::everything());
}

//! The engine `threads-explicit`, compared with the oracle on generated programs: verdicts and traces under each choice
//! of reductions, and the set of reachable thread states without any.

use selvedge_check::{CancelToken, Engine, Limits, Run, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::exhaustive::Exhaustive;
use selvedge_engines::threads::explicit::{Options, ThreadsExplicit};
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_ir::text::parse_with_target;
use selvedge_replay::{Judged, judge, replay};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::model::Model;

fn program(seed: u64) -> Model {
    let weights = if seed.is_multiple_of(2) { Weights::threads() } else { Weights::everything() };
    generate(seed, &weights)
}

fn short() -> Run<'static> {
    let limits = Limits { time: Some(std::time::Duration::from_millis(300)), ..Limits::default() };
    Run::new(CancelToken::default(), limits, &())
}

fn every_choice() -> impl Iterator<Item = Reductions> {
    let switches = [(false, false), (false, true), (true, false), (true, true)];
    let orders = [PartialOrder::Off, PartialOrder::Ample, PartialOrder::Persistent, PartialOrder::Cartesian];
    orders.into_iter().flat_map(move |partial_order| {
        switches.into_iter().map(move |(compress, dead)| Reductions { compress, dead, partial_order })
    })
}

/// Compares with the oracle; `None` if one of the two does not support the program or gives up.
fn compare(task: &Task<'_>) -> Option<Result<(), String>> {
    let inlined = simplify(task, &[Pass::Inline]);
    let flat = inlined.task(task.threads);
    let oracle = Exhaustive::default();
    oracle.supports(&flat).ok()?;
    ThreadsExplicit::default().supports(&flat).ok()?;
    let expected = oracle.explore(&flat, &short()).ok()?;
    let explored = match ThreadsExplicit::default().explore(&flat, &Run::unlimited()) {
        Ok(explored) => explored,
        Err(stop) => return Some(Err(stop.to_string())),
    };
    // The oracle chooses the initial threads before the prelude, and therefore has more states.
    let same_count = flat.program.prelude.is_some() || explored.n_states == expected.n_states;
    if (&explored.thread_states, &explored.failing) != (&expected.thread_states, &expected.failing) || !same_count {
        let missing = expected.thread_states.difference(&explored.thread_states).next();
        let extra = explored.thread_states.difference(&expected.thread_states).next();
        let sizes = (explored.n_states, expected.n_states);
        return Some(Err(format!("sets differ: {sizes:?}, missing {missing:?}, extra {extra:?}")));
    }
    let verdict = oracle.check(&flat, &short()).ok()?;
    Some(every_choice().try_for_each(|reductions| {
        let engine = ThreadsExplicit { options: Options { reductions, ..Options::default() } };
        let found = engine.check(&flat, &Run::unlimited()).map_err(|stop| stop.to_string())?;
        match (&found, &verdict) {
            (Verdict::Safe(_), Verdict::Safe(_)) => match judge(task, &inlined.lift(found), &Run::unlimited()) {
                Ok(Judged::Uncertified) if reductions.partial_order == PartialOrder::Off => {
                    Err(format!("{reductions:?}: no certificate"))
                }
                Ok(_) => Ok(()),
                Err(reject) => Err(format!("{reductions:?}: {reject}")),
            },
            (Verdict::Unsafe(_), Verdict::Unsafe(_)) => {
                let Verdict::Unsafe(trace) = inlined.lift(found) else { unreachable!("lifting keeps the verdict") };
                replay(task, &trace).map(|_| ()).map_err(|mismatch| format!("{reductions:?}: {mismatch}"))
            }
            (Verdict::Safe(_), _) => Err(format!("{reductions:?}: safe, but the oracle says unsafe")),
            (Verdict::Unsafe(_), _) => Err(format!("{reductions:?}: unsafe, but the oracle says safe")),
        }
    }))
}

#[test]
fn the_oracle_agrees_on_verdicts_traces_and_sets() {
    let mut compared = 0;
    for seed in 0..300 {
        let model = program(seed);
        let Ok(posed) = pose(&model) else { continue };
        match compare(&posed.task()) {
            Some(Ok(())) => compared += 1,
            Some(Err(why)) => panic!("seed {seed}: {why}\nthreads {:?}\n{}", posed.threads, posed.text),
            None => {}
        }
    }
    assert!(compared > 150, "only {compared} programs were compared");
}

#[test]
fn a_first_state_with_many_shared_variables_is_found_at_once() {
    let vars = || (0..60).map(|var| format!("x{var}"));
    let declared = vars().map(|var| format!("shared {var}: bool\ninit {var} := F\n")).collect::<String>();
    let steps = vars().enumerate().map(|(at, var)| format!("L{at} -> L{}: assert !{var}\n", at + 1));
    let text = format!("{declared}proc main() from L0 to L60\n{}start main\ntarget e59", steps.collect::<String>());
    let (program, target) = parse_with_target(&text).expect("it is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(1) };
    let engine = ThreadsExplicit { options: Options { most_listed: 0, ..Options::default() } };
    let found = engine.check(&task, &Run::unlimited()).expect("there is no limit");
    let limits = Limits { time: Some(std::time::Duration::from_secs(10)), ..Limits::default() };
    let judged = judge(&task, &found, &Run::new(CancelToken::default(), limits, &()));
    assert_eq!(judged, Ok(Judged::Certified));
}

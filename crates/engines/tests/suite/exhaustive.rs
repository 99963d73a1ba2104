//! The exhaustive engine on small programs in the textual form of the representation.

use selvedge_check::{Bound, Engine, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::exhaustive::{Exhaustive, Options};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::{Judged, judge};

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Safe,
    /// With a trace of this many steps.
    Unsafe(usize),
    Stop(Stop),
}

/// Checks a program, and replays the trace if there is one.
fn check(text: &str, threads: ThreadScope) -> Answer {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads };
    let engine = Exhaustive { options: Options { frames: 4 } };
    engine.supports(&task).expect("the engine takes the program");
    match engine.check(&task, &Run::unlimited()) {
        Ok(Verdict::Safe(_)) => Answer::Safe,
        Ok(verdict @ Verdict::Unsafe(_)) => {
            let Ok(Judged::Replayed(_)) = judge(&task, &verdict, &Run::unlimited()) else {
                panic!("the trace does not replay")
            };
            let Verdict::Unsafe(trace) = verdict else { unreachable!() };
            Answer::Unsafe(trace.steps.len())
        }
        Err(stop) => Answer::Stop(stop),
    }
}

#[test]
fn an_assertion_on_an_uninitialised_variable_fails_at_once() {
    let text =
        "shared x: bool\nproc main() from L0 to L2\ne0 L0 -> L1: assert x\ne1 L1 -> L2: return\nstart main\ntarget e0";
    assert_eq!(check(text, ThreadScope::Unbounded), Answer::Unsafe(1));
}

#[test]
fn an_assertion_behind_a_contrary_assumption_holds() {
    let text = "shared x: bool\nproc main() from L0 to L3\ne0 L0 -> L1: assume x\ne1 L1 -> L2: assert x\n\
                e2 L2 -> L3: return\nstart main\ntarget e1";
    assert_eq!(check(text, ThreadScope::Unbounded), Answer::Safe);
}

#[test]
fn recursion_without_end_reaches_the_bound_on_frames() {
    let text = "proc main() from L0 to L2\ne0 L0 -> L1: call main()\ne1 L1 -> L2: return\nstart main\ntarget L1";
    assert_eq!(check(text, ThreadScope::Unbounded), Answer::Stop(Stop::BoundReached(Bound::Frames(4))));
}

/// Two of three threads meet behind a lock that is tested and taken in two steps.
const BROKEN_LOCK: &str = "shared lock: bool, inside: bool\ninit lock := F, inside := F\n\
    proc main() from L0 to L6\n\
    e0 L0 -> L1: assume !lock\ne1 L1 -> L2: lock := T\ne2 L2 -> L3: assert !inside\ne3 L3 -> L4: inside := T\n\
    e4 L4 -> L5: inside := F\ne5 L5 -> L6: return\nstart main: main any\ntarget e2";

#[test]
fn one_thread_alone_is_safe_behind_a_broken_lock() {
    assert_eq!(check(BROKEN_LOCK, ThreadScope::AtMost(1)), Answer::Safe);
}

#[test]
fn two_threads_meet_behind_a_broken_lock() {
    assert_eq!(check(BROKEN_LOCK, ThreadScope::AtMost(2)), Answer::Unsafe(7));
}

#[test]
fn a_spawn_beyond_the_bound_does_nothing() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\ne0 L0 -> L1: spawn other()\n\
                e1 L1 -> L2: assert !x\ne2 L2 -> L3: return\n\
                proc other() from L4 to L6\ne3 L4 -> L5: x := T\ne4 L5 -> L6: return\nstart main\ntarget e1";
    assert_eq!(check(text, ThreadScope::AtMost(1)), Answer::Safe);
    assert_eq!(check(text, ThreadScope::AtMost(2)), Answer::Unsafe(3));
}

#[test]
fn unbounded_threads_are_not_taken() {
    let (program, target) = parse_with_target(BROKEN_LOCK).unwrap();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let unsupported = Exhaustive::default().supports(&task).unwrap_err();
    assert!(unsupported.reason.contains("--threads"), "{}", unsupported.reason);
}

#[test]
fn integers_with_one_first_value_are_not_taken_silently() {
    let (program, target) =
        parse_with_target("shared n: int\nproc main() from L0 to L1\ne0 L0 -> L1: return\nstart main").unwrap();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    assert!(Exhaustive::default().supports(&task).is_err());
}

#[test]
fn a_search_without_end_stops_when_it_is_cancelled() {
    let (program, target) =
        parse_with_target("proc main() from L0 to L1\ne0 L0 -> L0: skip\ne1 L0 -> L1: return\nstart main").unwrap();
    let cancel = selvedge_check::CancelToken::default();
    cancel.cancel();
    let run = Run::new(cancel, selvedge_check::Limits::default(), &());
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    assert_eq!(Exhaustive::default().check(&task, &run), Err(Stop::Cancelled));
}

#[test]
fn exploration_sees_every_first_value() {
    let (program, target) = parse_with_target(
        "shared x: bool, y: bool\ninit y := T\nproc main() from L0 to L1\ne0 L0 -> L1: return\nstart main",
    )
    .unwrap();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let seen = Exhaustive::default().explore(&task, &Run::unlimited()).unwrap();
    assert_eq!((seen.n_states, seen.thread_states.len()), (4, 2), "two starts, and each with its thread gone");
}

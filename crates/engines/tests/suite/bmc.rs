//! Bounded model checking on small programs in the textual form of the representation.

use selvedge_check::{Bound, CancelToken, Engine, Limits, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::bmc::{Bmc, Options};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::{Judged, judge};

/// Returns the steps of the trace, which is replayed. An error says why there is none.
fn check(text: &str, steps: u32) -> Result<usize, Stop> {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let engine = Bmc { options: Options { steps } };
    engine.supports(&task).expect("the engine takes the program");
    let verdict = engine.check(&task, &Run::unlimited())?;
    assert!(matches!(judge(&task, &verdict, &Run::unlimited()), Ok(Judged::Replayed(_))), "{verdict:?}");
    let Verdict::Unsafe(trace) = verdict else { panic!("bmc never says safe") };
    Ok(trace.steps.len())
}

fn within(steps: u32) -> Result<usize, Stop> {
    Err(Stop::BoundReached(Bound::Steps(steps)))
}

/// Counts to three in `x`, `y` before it fails.
const COUNTER: &str = "shared x: bool, y: bool\ninit x := F, y := F\nproc main() from L0 to L2\n\
    e0 L0 -> L0: x := !x, y := y ^ x\ne1 L0 -> L1: assert !x | !y\ne2 L1 -> L2: return\nstart main\ntarget e1";

#[test]
fn the_shallowest_error_is_found_and_no_sooner_than_the_bound_allows() {
    assert_eq!(check(COUNTER, 3), within(3));
    assert_eq!(check(COUNTER, 4), Ok(4));
    assert_eq!(check(COUNTER, 100), Ok(4));
}

#[test]
fn an_error_at_the_start_has_no_step() {
    assert_eq!(check("proc main() from L0 to L1\ne0 L0 -> L1: return\nstart main\ntarget L0", 0), Ok(0));
}

#[test]
fn bmc_never_says_safe_even_where_no_execution_is_longer() {
    let text = "proc main() from L0 to L2\ne0 L0 -> L1: assert T\ne1 L1 -> L2: return\nstart main\ntarget e0";
    assert_eq!(check(text, 7), within(7));
}

#[test]
fn both_of_two_edges_that_can_be_taken_are_followed() {
    // The values of one branch must not hide those of the other where they meet.
    let text = |wanted: &str| {
        format!(
            "shared x: bool, y: bool\ninit x := F, y := F\nproc main() from L0 to L3\ne0 L0 -> L1: x := T\n\
             e1 L0 -> L1: y := T\ne2 L1 -> L2: assume {wanted}\ne3 L2 -> L3: return\nstart main\ntarget L2"
        )
    };
    assert_eq!(check(&text("x"), 9), Ok(2));
    assert_eq!(check(&text("y"), 9), Ok(2));
    assert_eq!(check(&text("x & y"), 9), within(9));
}

#[test]
fn a_callers_locals_survive_recursion() {
    // `down` calls itself as long as it likes. The second of three frames has the argument that is wanted when its
    // callee has returned: three calls, one step, a return, a note, and the assertion.
    let text = "shared bad: bool\ninit bad := F\n\
        proc main() from L0 to L2\ne0 L0 -> L1: call down(F)\ne1 L1 -> L2: return\n\
        proc down(a: bool) from L3 to L6\ne2 L3 -> L4: call down(!a)\ne3 L4 -> L5: bad := bad | a\n\
        e4 L5 -> L6: return\ne5 L3 -> L5: skip\ne6 L5 -> L5: assert !bad\nstart main\ntarget e6";
    assert_eq!(check(text, 30), Ok(7));
}

#[test]
fn returns_go_to_their_own_call() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\ne0 L0 -> L1: call f()\ne1 L1 -> L2: assert !x\n\
                e2 L2 -> L3: return\nproc f() from L4 to L6\ne3 L4 -> L5: call g()\ne4 L4 -> L6: return\ne5 L5 -> L5: \
                x := T\ne6 L4 -> L5: call f()\nproc g() from L7 to L8\ne7 L7 -> L8: return\nstart main\ntarget e1";
    // Only `main`'s own call leads on to the assertion, and then nothing was assigned.
    assert_eq!(check(text, 20), within(20));
}

#[test]
fn the_prelude_runs_before_the_thread_lives() {
    let text = "shared x: bool\nthread t: bool\nproc main() from L0 to L2\ne0 L0 -> L1: assert !t\n\
        e1 L1 -> L2: return\nproc setup() from L3 to L5\ne2 L3 -> L4: x := T\ne3 L4 -> L5: return\n\
        prelude setup\nstart main: main with t init t := x\ntarget e0";
    assert_eq!(check(text, 9), Ok(3));
}

#[test]
fn a_cancelled_run_stops() {
    let (program, target) = parse_with_target(COUNTER).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let cancel = CancelToken::default();
    cancel.cancel();
    let stopped = Bmc::default().check(&task, &Run::new(cancel, Limits::default(), &()));
    assert_eq!(stopped, Err(Stop::Cancelled));
}

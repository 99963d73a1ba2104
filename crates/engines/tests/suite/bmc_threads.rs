//! Bounded model checking of threads on small programs in the textual form of the representation. The judge replays
//! each execution and verifies each certificate.

use selvedge_check::{Bound, Certificate, Engine, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::threads::bmc::{BmcThreads, Options};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::certificate::verify;
use selvedge_replay::{Judged, judge};

/// Returns whether a program is safe.
fn is_safe(text: &str, threads: ThreadScope, bound: u32) -> Result<bool, Stop> {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads };
    let engine = BmcThreads { options: Options { bound } };
    engine.supports(&task).expect("the engine takes the program");
    let verdict = engine.check(&task, &Run::unlimited())?;
    match judge(&task, &verdict, &Run::unlimited()) {
        Ok(Judged::Replayed(_)) => Ok(false),
        Ok(Judged::Certified) => Ok(true),
        judged => panic!("{judged:?}: {verdict:?}"),
    }
}

fn decide(text: &str) -> bool {
    is_safe(text, ThreadScope::Unbounded, 20).expect("all executions are short")
}

/// Two threads add one to `x` and `y`, a number of two bits, with a read and a write.
fn counter(begin: &str, end: &str) -> String {
    format!(
        "shared x: bool, y: bool, d: bool, e: bool\ninit x := F, y := F, d := F, e := F\n\
         proc adds(p: bool) from L0 to L5\nlocal a: bool, b: bool\n\
         L0 -> L1: {begin}\nL1 -> L2: a := x, b := y\nL2 -> L3: x := !a, y := b ^ a\nL3 -> L4: {end}\n\
         L4 -> L11: d := d | p, e := e | !p\nL11 -> L5: return\n\
         proc main() from L6 to L10\n\
         L6 -> L7: spawn adds(T)\nL7 -> L8: spawn adds(F)\nL8 -> L9: assume d & e\nL9 -> L12: assert y & !x\n\
         L12 -> L10: return\n\
         start main\ntarget e9"
    )
}

#[test]
fn an_update_is_lost_unless_reading_and_writing_are_one_section() {
    assert!(!decide(&counter("skip", "skip")));
    assert!(decide(&counter("atomic_begin", "atomic_end")));
}

/// Each of two threads sets its flag and looks at the other's; both may not go on.
fn flags(order: [&str; 2]) -> String {
    let [first, second] = order;
    format!(
        "shared f: bool, g: bool, m: bool, n: bool\ninit f := F, g := F, m := F, n := F\n\
         proc left() from L0 to L4\nlocal s: bool\n\
         L0 -> L1: {}\nL1 -> L2: {}\nL2 -> L3: assume !s constrain T\n\
         L3 -> L11: m := T\nL11 -> L4: return\n\
         proc right() from L5 to L10\nlocal t: bool\n\
         L5 -> L6: {}\nL6 -> L7: {}\nL7 -> L8: assume !t\nL8 -> L9: assert !m\nL9 -> L10: return\n\
         start left\nstart right\ntarget e8",
        first.replace('*', "f"),
        second.replace('*', "g").replace('?', "s"),
        first.replace('*', "g"),
        second.replace('*', "f").replace('?', "t"),
    )
    .replace(" constrain T", "")
}

#[test]
fn flags_that_are_set_first_keep_the_other_thread_out() {
    assert!(decide(&flags(["* := T", "? := *"])));
}

#[test]
fn flags_that_are_read_first_do_not() {
    let text = flags(["* := T", "? := *"]);
    let swapped = text
        .replace("L0 -> L1: f := T\nL1 -> L2: s := g", "L0 -> L1: s := g\nL1 -> L2: f := T")
        .replace("L5 -> L6: g := T\nL6 -> L7: t := f", "L5 -> L6: t := f\nL6 -> L7: g := T");
    assert_ne!(text, swapped);
    assert!(!decide(&swapped));
}

/// Counts to three in `x`, `y` before it fails; another thread must have set `go` in between.
const LOOP: &str = "shared x: bool, y: bool, go: bool\ninit x := F, y := F, go := F\n\
    proc main() from L0 to L3\nL0 -> L1: assume go\nL1 -> L1: x := !x, y := y ^ x\nL1 -> L2: assert !x | !y\n\
    L2 -> L3: return\nproc helps() from L4 to L5\nL4 -> L6: go := T\nL6 -> L5: return\n\
     start main\nstart helps\ntarget e2";

#[test]
fn a_bound_that_ran_out_is_not_safe() {
    assert_eq!(is_safe(LOOP, ThreadScope::Unbounded, 4), Err(Stop::BoundReached(Bound::VisibleSteps(4))));
    assert_eq!(is_safe(LOOP, ThreadScope::Unbounded, 20), Ok(false));
}

/// One thread starts two, which need each other.
const STARTS: &str = "shared x: bool, y: bool\ninit x := F, y := F\nproc main() from L0 to L2\n\
    L0 -> L1: spawn one(T)\nL1 -> L9: spawn other()\nL9 -> L2: return\n\
    proc one(p: bool) from L3 to L5\nL3 -> L4: x := p\nL4 -> L5: return\n\
    proc other() from L6 to L8\nL6 -> L7: y := x\nL7 -> L10: assert !y\nL10 -> L8: return\nstart main\ntarget e6";

#[test]
fn threads_that_find_no_room_do_not_start() {
    assert_eq!(is_safe(STARTS, ThreadScope::Unbounded, 20), Ok(false));
    assert_eq!(is_safe(STARTS, ThreadScope::AtMost(3), 20), Ok(false));
    // The first has ended when the third begins, which counts if all threads of a run do.
    assert_eq!(is_safe(STARTS, ThreadScope::AtMost(2), 20), Ok(false));
    let (program, target) = parse_with_target(STARTS).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Created(2) };
    let verdict = BmcThreads::default().check(&task, &Run::unlimited()).expect("all executions are short");
    assert!(matches!(verdict, Verdict::Safe(Some(_))), "{verdict:?}");
}

#[test]
fn threads_meet_where_a_target_names_their_locations_together() {
    let text = |lock: &str| {
        format!(
            "shared l: bool\ninit l := F\nproc main() from L0 to L3\nL0 -> L1: {lock}\nL1 -> L2: l := F\n\
             L2 -> L3: return\n\
             start main: main exactly 2\ntarget L1 + L1"
        )
    };
    let ask = |lock: &str| {
        let (program, target) = parse_with_target(&text(lock)).expect("the program is well-formed");
        assert!(!target.together.is_empty());
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let verdict = BmcThreads::default().check(&task, &Run::unlimited()).expect("all executions are short");
        if let Verdict::Unsafe(_) = &verdict {
            assert!(matches!(judge(&task, &verdict, &Run::unlimited()), Ok(Judged::Replayed(_))), "{verdict:?}");
        }
        matches!(verdict, Verdict::Safe(_))
    };
    assert!(!ask("l := T"));
    assert!(ask("l := T constrain !l"));
}

#[test]
fn certificates_that_claim_too_few_steps_or_hide_an_error_are_refused() {
    let ask = |text: &str, steps: u32| {
        let (program, target) = parse_with_target(text).expect("the program is well-formed");
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        verify(&task, &Certificate::Unwound(steps), &Run::unlimited()).is_ok()
    };
    let safe = flags(["* := T", "? := *"]);
    assert!(!ask(&safe, 0) && !ask(&safe, 1));
    assert!(ask(&safe, 8));
    assert!((0..8).all(|steps| !ask(LOOP, steps) && !ask(STARTS, steps)));
}

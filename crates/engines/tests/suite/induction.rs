//! k-induction on small programs in the textual form of the representation, and its certificates before the judge.

use selvedge_check::{Bound, Certificate, Engine, Paths, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::induction::{Induction, Options};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{Program, Target};
use selvedge_replay::certificate::{Flaw, verify};
use selvedge_replay::judge;

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Safe(u32, Paths),
    /// With a trace of this many steps.
    Unsafe(usize),
    Stop(Stop),
}

fn program(text: &str) -> (Program, Target) {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    (program, target)
}

/// Checks a program, and lets the judge examine the evidence.
fn check(text: &str, paths: Paths) -> Answer {
    let (program, target) = program(text);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let engine = Induction { options: Options { bound: 20, paths } };
    engine.supports(&task).expect("the engine takes the program");
    match engine.check(&task, &Run::unlimited()) {
        Ok(verdict) => {
            judge(&task, &verdict, &Run::unlimited()).expect("the judge accepts the evidence");
            match verdict {
                Verdict::Safe(Some(Certificate::Induction { k, paths })) => Answer::Safe(k, paths),
                Verdict::Unsafe(trace) => Answer::Unsafe(trace.steps.len()),
                verdict => panic!("other evidence: {verdict:?}"),
            }
        }
        Err(stop) => Answer::Stop(stop),
    }
}

fn verified(text: &str, k: u32, paths: Paths) -> Result<(), Flaw> {
    let (program, target) = program(text);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::Induction { k, paths }, &Run::unlimited())
        .map(drop)
        .map_err(|refused| refused.flaw().expect("the judge can tell"))
}

/// The states with `x` are never reached, but one of them is its own successor and leads to an error.
const UNREACHED_LOOP: &str = "shared x: bool\ninit x := F\nproc main() from L0 to L3\ne0 L0 -> L0: skip\n\
    e1 L0 -> L1: assume x\ne2 L1 -> L2: assert !x\ne3 L2 -> L3: return\nstart main\ntarget e2";

/// An error after three steps.
const UNSAFE: &str = "shared x: bool\ninit x := F\nproc main() from L0 to L4\ne0 L0 -> L1: skip\ne1 L1 -> L2: x := T\n\
    e2 L2 -> L3: assert !x\ne3 L3 -> L4: return\nstart main\ntarget e2";

/// Three steps without a choice: only a step that is connected to what comes before it proves the assertion.
const SAFE: &str = "shared x: bool\nproc main() from L0 to L4\ne0 L0 -> L1: x := F\ne1 L1 -> L2: skip\n\
    e2 L2 -> L3: assert !x\ne3 L3 -> L4: return\nstart main\ntarget e2";

/// Equation (2.6) of the thesis as printed asks for k + 1 errors that follow one another and a last state without error
/// that nothing connects to them. Nothing follows an error, so from k = 1 on it has no solution: it would prove
/// `UNSAFE`, whose shortest error takes more steps. With the property the right way round but the last state still
/// unconnected it would always have a solution, and prove nothing.
#[test]
fn k_induction_formula() {
    assert_eq!(check(UNSAFE, Paths::LoopFree), Answer::Unsafe(3));
    for k in 0..=2 {
        assert_eq!(verified(UNSAFE, k, Paths::LoopFree), Err(Flaw::Step), "k = {k}");
    }
    assert_eq!(verified(UNSAFE, 3, Paths::LoopFree), Err(Flaw::Base(3)));
    assert_eq!(check(SAFE, Paths::All), Answer::Safe(2, Paths::All));
}

#[test]
fn only_distinct_states_prove_what_an_unreached_loop_leads_to() {
    assert_eq!(check(UNREACHED_LOOP, Paths::All), Answer::Stop(Stop::BoundReached(Bound::Steps(20))));
    assert_eq!(check(UNREACHED_LOOP, Paths::LoopFree), Answer::Safe(2, Paths::LoopFree));
}

#[test]
fn a_certificate_with_another_k_or_other_paths_is_rejected() {
    assert_eq!(verified(UNREACHED_LOOP, 2, Paths::LoopFree), Ok(()));
    assert_eq!(verified(UNREACHED_LOOP, 1, Paths::LoopFree), Err(Flaw::Step));
    assert_eq!(verified(UNREACHED_LOOP, 0, Paths::LoopFree), Err(Flaw::Step));
    assert_eq!(verified(UNREACHED_LOOP, 2, Paths::All), Err(Flaw::Step));
    assert_eq!(verified(SAFE, 1, Paths::All), Err(Flaw::Step));
    assert_eq!(verified(SAFE, 2, Paths::All), Ok(()));
}

#[test]
fn distinctness_is_not_claimed_where_it_is_not_needed() {
    assert_eq!(check(SAFE, Paths::LoopFree), Answer::Safe(2, Paths::All));
}

/// `flip` is called twice: `x` is again what it was.
const CALLS: &str = "shared x: bool\ninit x := T\nproc main() from L0 to L4\ne0 L0 -> L1: call flip()\n\
    e1 L1 -> L2: call flip()\ne2 L2 -> L3: assert x\ne3 L3 -> L0: skip\n\
    proc flip() from L5 to L7\ne4 L5 -> L6: x := !x\ne5 L6 -> L7: return\nstart main\ntarget e2";

#[test]
fn calls_are_told_apart_by_their_callers() {
    // From a wrong `x` behind the assertion it takes one step to the loop's beginning and six to the assertion, all of
    // them without error; the step before them passes the assertion, which no wrong `x` does.
    assert_eq!(check(CALLS, Paths::LoopFree), Answer::Safe(8, Paths::All));
    assert_eq!(verified(CALLS, 7, Paths::All), Err(Flaw::Step));
    assert_eq!(check(&CALLS.replace("assert x", "assert !x"), Paths::LoopFree), Answer::Unsafe(7));
}

#[test]
fn locals_of_callees_that_have_returned_do_not_make_states_distinct() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\ne0 L0 -> L0: call f()\n\
        e1 L0 -> L1: assume x\ne2 L1 -> L2: assert !x\ne3 L2 -> L3: return\n\
        proc f() from L4 to L5\nlocal a: bool, b: bool\ne4 L4 -> L5: return\nstart main\ntarget e2";
    assert!(matches!(check(text, Paths::LoopFree), Answer::Safe(_, Paths::LoopFree)));
}

#[test]
fn a_prelude_is_part_of_the_path() {
    let text = "shared x: bool\nthread t: bool\nproc main() from L0 to L2\ne0 L0 -> L1: assert t\n\
        e1 L1 -> L2: return\nproc setup() from L3 to L5\ne2 L3 -> L4: x := T\ne3 L4 -> L5: return\n\
        prelude setup\nstart main: main with t init t := x\ntarget e0";
    assert_eq!(check(text, Paths::LoopFree), Answer::Safe(2, Paths::All));
    assert_eq!(check(&text.replace("x := T", "x := F"), Paths::LoopFree), Answer::Unsafe(3));
}

#[test]
fn a_program_without_errors_needs_no_step() {
    assert_eq!(
        check("proc main() from L0 to L1\ne0 L0 -> L0: skip\nstart main", Paths::All),
        Answer::Safe(0, Paths::All)
    );
}

#[test]
fn recursive_programs_are_refused_by_the_engine_and_by_the_judge() {
    let text = "proc main() from L0 to L2\ne0 L0 -> L1: call main()\ne1 L1 -> L2: return\nstart main\ntarget L1";
    let (program, target) = program(text);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let refused = Induction::default().supports(&task).expect_err("it is recursive");
    assert_eq!(refused.reason, "`induction` only supports programs without recursion");
    assert_eq!(verified(text, 3, Paths::LoopFree), Err(Flaw::OutOfScope("it is recursive")));
}

//! Spacer over bit vectors: what is proved, and that the judge accepts it.

use selvedge_check::{Bound, Certificate, Engine, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::horn::Horn;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::{Judged, judge};

use crate::integers::z3;

/// Returns the number of places with formulas, or why there is no answer. The judge must accept them, without a solver.
fn proved(text: &str) -> Result<usize, Stop> {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    Horn.supports(&task).expect("the engine takes the program");
    let verdict = Horn.check(&task, &Run::unlimited().with_solvers(z3()))?;
    assert_eq!(judge(&task, &verdict, &Run::unlimited()), Ok(Judged::Certified), "{verdict:?}");
    match verdict {
        Verdict::Safe(Some(Certificate::Invariants(proof))) => Ok(proof.stated().count()),
        verdict => panic!("other evidence: {verdict:?}"),
    }
}

/// A loop with a body, and an assertion behind it.
fn looping(vars: &str, init: &str, body: &str, condition: &str) -> String {
    format!(
        "shared {vars}\ninit {init}\nproc main() from L0 to L2\nL0 -> L0: {body}\ne1 L0 -> L1: assert {condition}\n\
         L1 -> L2: return\nstart main\ntarget e1"
    )
}

#[test]
fn a_number_that_goes_up_and_down_stays_small() {
    let body = "x := if s = 1:u8 then u32.add(x, 1:u32) else u32.sub(x, 1:u32), s := u8.sub(3:u8, s)";
    assert_eq!(proved(&looping("x: u32, s: u8", "x := 0:u32, s := 1:u8", body, "u32.le(x, 1:u32)")), Ok(1));
}

#[test]
fn signed_numbers_are_compared_with_their_signs() {
    let body = "x := i16.sub(x, 1:i16) constrain i16.lt(-5:i16, x)";
    assert_eq!(proved(&looping("x: i16", "x := 3:i16", body, "i16.le(-5:i16, x)")), Ok(1));
}

#[test]
fn a_possible_error_is_no_answer() {
    let undecided = Err(Stop::BoundReached(Bound::Invariants));
    assert_eq!(proved(&looping("x: u8", "x := 0:u8", "x := u8.add(x, 1:u8)", "x != 200:u8")), undecided);
}

#[test]
fn a_run_without_z3_says_so() {
    let (program, target) =
        parse_with_target(&looping("x: u8", "x := 0:u8", "x := x", "x = 0:u8")).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    assert_eq!(Horn.check(&task, &Run::unlimited()), Err(Stop::NoSolver));
}

#[test]
fn calls_choices_and_parts_are_read() {
    let text = "shared g: u32
proc main() from L0 to L4
local i: u32
L0 -> L1: i := 0:u32, g := 0:u32
L1 -> L1: call step(?0:u8)
L1 -> L2: i := let #0 = u32.and(g, 1:u32) in u32.add(#0, #0)
e3 L2 -> L3: assert i = 0:u32
L3 -> L4: return
proc step(n: u8) from L5 to L7
local m: u8
L5 -> L6: g := u32.add(g, u32.mul(2:u32, u8.u32(n)))
L6 -> L7: return
start main
target e3";
    assert_eq!(proved(text), Ok(1));
}

//! Invariants over machine integers: what is found, and that the judge accepts it.

use selvedge_check::{Bound, Certificate, Engine, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::invariants::Invariants;
use selvedge_ir::text::{self, parse_with_target};
use selvedge_ir::validate::validate;
use selvedge_replay::{Judged, judge};

/// Returns the facts that are found, place by place, or why there is no answer. The judge must accept them.
fn found(text: &str) -> Result<Vec<String>, Stop> {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    Invariants.supports(&task).expect("the engine takes the program");
    let verdict = Invariants.check(&task, &Run::unlimited())?;
    assert_eq!(judge(&task, &verdict, &Run::unlimited()), Ok(Judged::Certified), "{verdict:?}");
    match verdict {
        Verdict::Safe(Some(Certificate::Invariants(proof))) => {
            Ok(proof.stated().map(|(_, formula)| text::expr(&program, formula)).collect())
        }
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
fn equations_hold_though_numbers_wrap_around() {
    let vars = "x: u16, y: u16, n: u8";
    let body = "x := u16.add(x, 3:u16), y := u16.add(y, 7:u16)";
    let text = looping(vars, "x := 1:u16, y := 0:u16", body, "u16.mul(7:u16, x) = u16.add(u16.mul(3:u16, y), 7:u16)");
    let facts = found(&text).expect("it is safe");
    assert_eq!(facts.len(), 1);
}

#[test]
fn evenness_is_an_equation_in_the_lowest_bit() {
    let text = looping("x: i16", "x := 4:i16", "x := i16.add(x, 6:i16)", "x != -7:i16");
    assert_eq!(found(&text), Ok(vec!["i16.and(x, 1:i16) = 0:i16".to_string()]));
}

#[test]
fn comparisons_of_variables_are_found() {
    let body = "i := u32.add(i, 1:u32) constrain u32.lt(i, n)";
    let text = looping("i: u32, n: u32", "i := 0:u32", body, "u32.le(i, n)");
    assert_eq!(found(&text), Ok(vec!["u32.le(i, n)".to_string()]));
}

/// Neither half holds everywhere.
#[test]
fn disjunctions_are_found_where_nothing_else_is_enough() {
    let body = "b := !b, x := if b then y else 5:u32";
    let text = looping("b: bool, x: u32, y: u32", "b := T", body, "b | x = y");
    let facts = found(&text).expect("it is safe");
    assert!(facts.len() == 1 && facts[0].contains('|'), "{facts:?}");
}

#[test]
fn errors_are_not_found() {
    let undecided = Err(Stop::BoundReached(Bound::Invariants));
    assert_eq!(found(&looping("x: u8", "x := 0:u8", "x := u8.add(x, 1:u8)", "x != 200:u8")), undecided);
}

#[test]
fn a_place_that_is_never_reached_needs_no_facts() {
    let text = "shared x: u8\ninit x := 0:u8\nproc main() from L0 to L3\nL0 -> L1: assume x = 1:u8\n\
                L1 -> L1: x := u8.add(x, 1:u8)\ne2 L1 -> L2: assert F\nL2 -> L3: return\nstart main\ntarget e2";
    assert_eq!(found(text), Ok(vec!["F".to_string()]));
}

#[test]
fn callers_keep_their_variables_around_loops_of_callees() {
    let text = "shared g: u32
proc main() from L0 to L3
  local k: u32
  e0 L0 -> L1: k := ?0:u32, g := ?0:u32
  e1 L1 -> L2: call f()
  e2 L2 -> L3: assert u32.le(k, g) | u32.lt(g, k)
  e6 L2 -> L3: assert k = g
  e3 L3 -> L4: return
proc f() from L5 to L6
  local i: u32
  e4 L5 -> L5: i := u32.add(i, 1:u32)
  e5 L5 -> L6: return
start main
target e6";
    let text = text.replace("main() from L0 to L3", "main() from L0 to L4");
    assert_eq!(found(&text), Ok(vec!["k = g".to_string()]));
}

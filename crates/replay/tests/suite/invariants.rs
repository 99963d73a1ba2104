//! Invariants over machine integers: proofs are accepted, what only looks like one is not.

use selvedge_check::{Certificate, InvariantPlace, InvariantProof, Run, Task, ThreadScope};
use selvedge_ir::text::{parse_expr, parse_with_target};
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, Expr, LocId, MachineTy, Program, Target};
use selvedge_replay::certificate::{Accepted, Flaw, Refused, verify};

/// A loop that counts in twos beside one that counts in ones; either branch may be taken in the middle of it.
const DOUBLE: &str = "\
shared i: u32, s: u32, n: u32
init i := 0:u32, s := 0:u32
proc main() from L0 to L5
  e0 L0 -> L1: assume u32.lt(i, n)
  e1 L1 -> L2: i := u32.add(i, 1:u32)
  e2 L1 -> L2: i := u32.sub(i, -1:u32)
  e3 L2 -> L0: s := u32.add(s, 2:u32)
  e4 L0 -> L3: assume !u32.lt(i, n)
  e5 L3 -> L4: assert s = u32.mul(2:u32, i)
  e6 L4 -> L5: return
start main
target e5
";

/// A call in a loop, whose body writes a shared variable and returns its argument plus one.
const CALLS: &str = "\
shared g: u8
init g := 0:u8
proc main() from L0 to L3
  local k: u8
  e0 L0 -> L1: k := 0:u8
  e1 L1 -> L1: k := call next(k)
  e2 L1 -> L2: assert k = g
  e3 L2 -> L3: return
proc next(p: u8) returns u8 from L4 to L6
  e4 L4 -> L5: g := u8.add(g, 1:u8)
  e5 L5 -> L6: return u8.add(p, 1:u8)
start main
target e2
";

fn program(text: &str) -> (Program, Target) {
    let text = text.replace("-1:u32", "4294967295:u32");
    let (program, target) = parse_with_target(&text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    (program, target)
}

/// A place by its calls, location and formula.
type Stated<'a> = (&'a [usize], usize, Option<&'a str>);

/// A place without a formula.
fn passed(calls: &[usize], loc: usize) -> Stated<'_> {
    (calls, loc, None)
}

fn proof(program: &Program, places: &[Stated<'_>]) -> InvariantProof {
    let place = |(calls, loc, formula): &Stated<'_>| InvariantPlace {
        calls: calls.iter().map(|call| EdgeId::new(*call)).collect(),
        loc: LocId::new(*loc),
        formula: formula.map(|text| parse_expr(program, text).expect("the formula is well-formed")),
    };
    InvariantProof { places: places.iter().map(place).collect() }
}

fn judged(text: &str, places: &[Stated<'_>]) -> Result<Accepted, Refused> {
    let (program, target) = program(text);
    let proof = proof(&program, places);
    judge(&program, &target, proof)
}

fn judge(program: &Program, target: &Target, proof: InvariantProof) -> Result<Accepted, Refused> {
    let task = Task { program, target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::Invariants(proof), &Run::unlimited())
}

fn double(formula: &str) -> Result<Accepted, Refused> {
    let at = |loc| (&[][..], loc, None);
    judged(DOUBLE, &[(&[], 0, Some(formula)), at(1), at(2), at(3), at(4)])
}

const RELATION: &str = "s = u32.mul(2:u32, i)";

#[test]
fn an_invariant_is_accepted_though_numbers_wrap_around() {
    assert_eq!(double(RELATION), Ok(Accepted::Certified));
}

#[test]
fn what_is_not_closed_is_refused_at_its_edge() {
    assert_eq!(double("s = u32.mul(2:u32, i) & u32.le(i, 1:u32)"), Err(Flaw::NotClosed(EdgeId::new(3)).into()));
    let less = DOUBLE.replace("u32.sub(i, -1:u32)", "u32.sub(i, 1:u32)");
    let at = |loc| (&[][..], loc, None);
    let places = [(&[][..], 0, Some(RELATION)), at(1), at(2), at(3), at(4)];
    assert_eq!(judged(&less, &places), Err(Flaw::NotClosed(EdgeId::new(3)).into()));
}

#[test]
fn an_invariant_that_allows_an_error_is_refused() {
    assert_eq!(double("T"), Err(Flaw::Assert(EdgeId::new(5)).into()));
    let at = |loc| (&[][..], loc, None);
    let places = [(&[][..], 0, Some(RELATION)), at(1), at(2), at(3), at(4)];
    let with_loc = DOUBLE.replace("target e5", "target e5, L3");
    assert_eq!(judged(&with_loc, &places), Err(Flaw::Location(LocId::new(3)).into()));
}

#[test]
fn a_start_that_is_not_allowed_is_a_flaw() {
    assert_eq!(double("s = u32.mul(2:u32, i) & i = 1:u32"), Err(Flaw::Start(LocId::new(0)).into()));
    assert_eq!(judged(DOUBLE, &[]), Err(Flaw::Start(LocId::new(0)).into()));
}

#[test]
fn a_way_round_without_a_formula_is_refused() {
    let at = |loc| (&[][..], loc, None);
    let round = judged(DOUBLE, &[at(0), at(1), at(2), at(3), at(4)]);
    assert_eq!(round, Err(Flaw::NotClosed(EdgeId::new(3)).into()));
    let not_behind = judged(DOUBLE, &[(&[], 0, Some(RELATION)), at(2), at(1), at(3), at(4)]);
    assert_eq!(not_behind, Err(Flaw::NotClosed(EdgeId::new(1)).into()));
}

#[test]
fn a_place_that_is_left_out_must_not_be_reached() {
    let at = |loc| (&[][..], loc, None);
    let missing = judged(DOUBLE, &[(&[], 0, Some(RELATION)), at(1), at(2), at(3)]);
    assert_eq!(missing, Err(Flaw::NotClosed(EdgeId::new(5)).into()));
    let never = DOUBLE.replace("e5 L3", "e7 L3 -> L4: assume F\n  e5 L3");
    let never = never.replace("e5 L3 -> L4: assert s = u32.mul(2:u32, i)", "e5 L3 -> L3: assert s = u32.mul(2:u32, i)");
    let places = [(&[][..], 0, Some(RELATION)), at(1), at(2), (&[], 3, Some(RELATION))];
    assert_eq!(judged(&never, &places), Ok(Accepted::Certified));
}

#[test]
fn calls_are_followed_and_frames_keep_their_variables() {
    let inside = &[1][..];
    let places = [passed(&[], 0), (&[][..], 1, Some("k = g")), passed(inside, 4), passed(inside, 5), passed(&[], 2)];
    assert_eq!(judged(CALLS, &places), Ok(Accepted::Certified));
    let twice = CALLS.replace("u8.add(p, 1:u8)", "u8.add(p, 2:u8)");
    assert_eq!(judged(&twice, &places), Err(Flaw::NotClosed(EdgeId::new(5)).into()));
    let inside_stated = [
        passed(&[], 0),
        (&[][..], 1, Some("k = g")),
        passed(inside, 4),
        (inside, 5, Some("u8.add(p, 1:u8) = g")),
        passed(&[], 2),
    ];
    assert_eq!(judged(CALLS, &inside_stated), Ok(Accepted::Certified));
    let not_called = [passed(&[], 0), (&[][..], 1, Some("k = g")), passed(&[], 2)];
    assert_eq!(judged(CALLS, &not_called), Err(Flaw::NotClosed(EdgeId::new(1)).into()));
    let malformed: Result<Accepted, Refused> = Err(Flaw::Malformed(None).into());
    for wrong in [passed(&[], 4), passed(inside, 1), passed(&[0], 4), passed(&[1, 1], 4), passed(&[3], 1)] {
        assert_eq!(judged(CALLS, &[passed(&[], 0), wrong]), malformed);
    }
}

/// A local of a procedure has any value when it is called again, whatever it was when the first call returned.
#[test]
fn locals_of_a_new_frame_have_any_value() {
    let text = "\
proc main() from L0 to L3
  e0 L0 -> L1: call f(T)
  e1 L1 -> L2: call f(F)
  e2 L2 -> L3: return
proc f(first: bool) from L4 to L7
  local x: u8
  e3 L4 -> L5: assert first | x = 0:u8
  e4 L5 -> L6: x := 0:u8
  e5 L6 -> L7: return
start main
target e3
";
    let frame = |calls: &'static [usize]| [4, 5, 6].map(|loc| passed(calls, loc));
    let places = [&[passed(&[], 0)][..], &frame(&[0]), &[passed(&[], 1)], &frame(&[1]), &[passed(&[], 2)]].concat();
    assert_eq!(judged(text, &places), Err(Flaw::Assert(EdgeId::new(3)).into()));
    let kept = text.replace("assert first | x = 0:u8", "assert first | !first");
    assert_eq!(judged(&kept, &places), Ok(Accepted::Certified));
}

#[test]
fn what_a_call_ensures_counts_behind_it() {
    let text = "\
shared g: u8
proc main() from L0 to L2
  local k: u8
  e0 L0 -> L1: k := call f() ensures k = g
  e1 L1 -> L2: assert k = g
proc f() returns u8 from L3 to L4
  e2 L3 -> L4: return 7:u8
start main
target e1
";
    let text = text.replace("e1 L1 -> L2: assert k = g", "e1 L1 -> L1: assert k = g");
    let places = [(&[][..], 0, None), (&[0][..], 3, None), (&[][..], 1, Some("k = g"))];
    assert_eq!(judged(&text, &places), Ok(Accepted::Certified));
    let without = text.replace(" ensures k = g", "");
    assert_eq!(judged(&without, &places), Err(Flaw::NotClosed(EdgeId::new(2)).into()));
}

#[test]
fn malformed_proofs_are_refused() {
    let (program, target) = program(DOUBLE);
    let malformed: Result<Accepted, Refused> = Err(Flaw::Malformed(None).into());
    let state = |formula: Expr| {
        let place = InvariantPlace { calls: Vec::new(), loc: LocId::new(0), formula: Some(formula) };
        judge(&program, &target, InvariantProof { places: vec![place] })
    };
    assert_eq!(state(Expr::Machine(MachineTy::unsigned(8), 1)), malformed);
    assert_eq!(state(parse_expr(&program, "i").expect("it is an expression")), malformed);
    assert_eq!(state(parse_expr(&program, "i = 1:u8").expect("it is an expression")), malformed);
    assert_eq!(state(parse_expr(&program, "i = i'").expect("it is an expression")), malformed);
    assert_eq!(state(parse_expr(&program, "?0").expect("it is an expression")), malformed);
    assert_eq!(
        state(Expr::binary(
            selvedge_ir::BinaryOp::Eq,
            Expr::Machine(MachineTy::unsigned(0), 0),
            Expr::Machine(MachineTy::unsigned(0), 0)
        )),
        malformed
    );
    let place = |calls: Vec<usize>, loc| InvariantPlace {
        calls: calls.into_iter().map(EdgeId::new).collect(),
        loc: LocId::new(loc),
        formula: None,
    };
    let twice = vec![place(vec![], 0), place(vec![], 0)];
    for places in [vec![place(vec![], 99)], vec![place(vec![99], 0)], vec![place(vec![0], 0)], twice] {
        assert_eq!(judge(&program, &target, InvariantProof { places }), malformed);
    }
}

#[test]
fn other_programs_are_out_of_scope() {
    let is_out_of_scope = |text: &str, places: &[Stated<'_>]| {
        assert!(matches!(judged(text, places), Err(Refused::Flawed(Flaw::OutOfScope(_)))), "{text}");
    };
    is_out_of_scope(&DOUBLE.replace("start main", "start main exactly 2"), &[]);
    is_out_of_scope(
        &DOUBLE.replace("n: u32", "n: u32, m: int").replace("assume u32.lt(i, n)", "assume m = 0"),
        &[(&[], 0, Some("T")), (&[], 1, None)],
    );
    let recursive = CALLS.replace("e4 L4 -> L5: g := u8.add(g, 1:u8)", "e4 L4 -> L5: p := call next(p)");
    is_out_of_scope(
        &recursive,
        &[(&[], 0, None), (&[], 1, Some("k = g")), (&[1], 4, None), (&[1], 5, None), (&[], 2, None)],
    );
}

/// Of several edges that leave a place all are followed, and what they write is told apart where they meet again.
#[test]
fn the_ways_of_all_edges_meet() {
    let text = "\
shared x: u2, y: u2
init x := 0:u2, y := 0:u2
proc main() from L0 to L3
  e0 L0 -> L1: x := 1:u2
  e1 L0 -> L1: x := 2:u2
  e2 L0 -> L1: y := 1:u2
  e3 L1 -> L2: assert SAFE
  e4 L2 -> L3: return
start main
target e3
";
    let places = [passed(&[], 0), passed(&[], 1), passed(&[], 2)];
    let ask = |safe: &str| judged(&text.replace("SAFE", safe), &places);
    assert_eq!(ask("x != 3:u2 & (x = 0:u2 | y = 0:u2)"), Ok(Accepted::Certified));
    for wrong in ["x != 1:u2", "x != 2:u2", "x != 0:u2", "y = 0:u2", "x != 0:u2 | y != 1:u2", "y = 1:u2"] {
        assert_eq!(ask(wrong), Err(Flaw::Assert(EdgeId::new(3)).into()), "{wrong}");
    }
}

#[test]
fn choices_have_any_value() {
    let text = "\
shared x: u2, b: bool
init x := ?0 constrain, b := F
proc main() from L0 to L3
  e0 L0 -> L1: x := u2.add(?0, ?0), b := ?1
  e1 L1 -> L2: assert SAFE
  e2 L2 -> L3: return
start main
target e1
"
    .replace("?0 constrain", "0:u2")
    .replace("u2.add(?0, ?0)", "u2.add(?0:u2, ?0:u2)");
    let places = [passed(&[], 0), passed(&[], 1), passed(&[], 2)];
    let ask = |safe: &str| judged(&text.replace("SAFE", safe), &places);
    assert_eq!(ask("x = 0:u2 | x = 2:u2"), Ok(Accepted::Certified));
    for wrong in ["x = 0:u2", "x = 2:u2", "b", "!b", "b | x = 2:u2"] {
        assert_eq!(ask(wrong), Err(Flaw::Assert(EdgeId::new(1)).into()), "{wrong}");
    }
}

#[test]
fn a_step_to_its_own_place_needs_a_formula() {
    let text = "\
shared x: u2
init x := 0:u2
proc main() from L0 to L2
  e0 L0 -> L0: x := u2.add(x, 2:u2)
  e1 L0 -> L1: assert x != 1:u2
  e2 L1 -> L2: return
start main
target e1
";
    assert_eq!(judged(text, &[passed(&[], 0), passed(&[], 1)]), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
    let stated = (&[][..], 0, Some("x = 0:u2 | x = 2:u2"));
    assert_eq!(judged(text, &[stated, passed(&[], 1)]), Ok(Accepted::Certified));
    let inside = "\
shared x: u2
init x := 0:u2
proc main() from L0 to L2
  e0 L0 -> L1: x := 2:u2
  e1 L1 -> L1: x := u2.add(x, 2:u2)
  e2 L1 -> L2: return
start main
target L2
";
    assert_eq!(judged(inside, &[passed(&[], 0), passed(&[], 1)]), Err(Flaw::NotClosed(EdgeId::new(1)).into()));
}

#[test]
fn code_before_the_thread_and_meetings_are_out_of_scope() {
    let prelude =
        DOUBLE.replace("start main", "proc setup() from L6 to L7\n  e7 L6 -> L7: return\nprelude setup\nstart main");
    let meeting = DOUBLE.replace("target e5", "target L1 + L1");
    let at = |loc| passed(&[], loc);
    let places = [(&[][..], 0, Some(RELATION)), at(1), at(2), at(3), at(4)];
    for text in [prelude, meeting] {
        assert!(matches!(judged(&text, &places), Err(Refused::Flawed(Flaw::OutOfScope(_)))), "{text}");
    }
}

#[test]
fn formulas_have_types() {
    use selvedge_ir::{BinaryOp, MachineOp, UnaryOp};
    let (program, target) = program(DOUBLE);
    let refused = |formula: Expr| {
        let place = InvariantPlace { calls: Vec::new(), loc: LocId::new(0), formula: Some(formula.clone()) };
        let answer = judge(&program, &target, InvariantProof { places: vec![place] });
        assert!(matches!(answer, Err(Refused::Flawed(_))), "{formula:?}");
        answer == Err(Flaw::Malformed(None).into())
    };
    let byte = |bits| Expr::Machine(MachineTy::unsigned(8), bits);
    let eq = |left: Expr, right: Expr| Expr::binary(BinaryOp::Eq, left, right);
    let ite = |condition: Expr, then: Expr, otherwise: Expr| Expr::Ite(Box::new((condition, then, otherwise)));
    let not = |operand: Expr| Expr::Unary(UnaryOp::Not, Box::new(operand));
    let divides = |divisor: u32| {
        let zero = Expr::Unary(UnaryOp::Neg, Box::new(Expr::Int(0)));
        Expr::Unary(UnaryOp::DivisibleBy(divisor), Box::new(zero))
    };
    let add =
        |left: Expr, right: Expr| Expr::binary(BinaryOp::Machine(MachineOp::Add, MachineTy::unsigned(8)), left, right);
    let less =
        |left: Expr, right: Expr| Expr::binary(BinaryOp::Machine(MachineOp::Lt, MachineTy::unsigned(8)), left, right);
    // These are formulas, though the proof is wrong.
    for fits in [
        eq(byte(255), byte(0)),
        eq(add(byte(1), byte(2)), byte(3)),
        less(byte(1), byte(2)),
        ite(Expr::TRUE, Expr::TRUE, Expr::FALSE),
        eq(ite(Expr::TRUE, byte(1), byte(2)), byte(1)),
        not(Expr::FALSE),
    ] {
        assert!(!refused(fits));
    }
    for wrong in [
        eq(byte(256), byte(0)),
        eq(byte(511), byte(0)),
        eq(byte(1), Expr::TRUE),
        eq(add(byte(1), Expr::TRUE), byte(3)),
        eq(add(Expr::TRUE, byte(1)), byte(3)),
        less(Expr::TRUE, byte(1)),
        less(byte(1), Expr::TRUE),
        add(byte(1), byte(1)),
        ite(byte(1), Expr::TRUE, Expr::TRUE),
        ite(Expr::TRUE, byte(1), Expr::TRUE),
        ite(Expr::TRUE, byte(1), byte(1)),
        not(byte(1)),
        divides(0),
        Expr::binary(BinaryOp::And, Expr::TRUE, byte(1)),
        Expr::binary(BinaryOp::And, byte(1), Expr::TRUE),
    ] {
        assert!(refused(wrong));
    }
}

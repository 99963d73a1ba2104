//! Certificates about integers: proofs are accepted, what only looks like one is not.

use std::path::{Path, PathBuf};

use selvedge_check::{Certificate, ControlPoint, IntegerProof, Run, SolverFailure, Solvers, Stop, Task, ThreadScope};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{BinaryOp, EdgeId, Expr, LocId, MachineTy, Op, Program, Target, Ty, UnaryOp, Value, VarId};
use selvedge_replay::certificate::{Accepted, Flaw, Refused, Unjudged, verify};

/// Two counters that stay equal, and a program counter.
const COUNTERS: &str = "\
shared pc: int, x: int, y: int
proc main() from L0 to L2
  e0 L0 -> L1: assume pc = 0 & x = y
  e1 L1 -> L1: x := x + 1, pc := 1 constrain pc = 0
  e2 L1 -> L1: y := y + 1, pc := 0 constrain pc = 1
  e3 L1 -> L1: assert pc = 1 | x = y
start main
target e3
";

fn z3() -> Solvers {
    let path = std::env::var_os("PATH");
    let folders = path.iter().flat_map(std::env::split_paths).collect::<Vec<PathBuf>>();
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(".tools/z3/bin"));
    let path = folders.into_iter().chain(above).map(|folder| folder.join("z3")).find(|path| path.is_file());
    let path = path.expect("z3 is needed: run ./setup, which installs it into .tools/");
    Solvers { z3: Some(path.as_path().into()), cvc5: None }
}

fn program(text: &str) -> (Program, Target) {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    (program, target)
}

/// A formula over the variables of [`COUNTERS`].
fn formula(text: &str) -> Expr {
    let declarations = COUNTERS.lines().next().expect("it has lines");
    let (program, _) =
        program(&format!("{declarations}\nproc main() from L0 to L2\n  e0 L0 -> L1: assume {text}\nstart main\n"));
    match &program.edges[EdgeId::new(0)].op {
        Op::Assign(assign) => assign.constrain.clone(),
        other => unreachable!("it is an assumption: {other:?}"),
    }
}

fn point(loc: usize, pc: i64, text: &str) -> ControlPoint {
    ControlPoint { loc: LocId::new(loc), values: vec![Value::Int(pc)], formula: formula(text) }
}

fn judged(text: &str, proof: IntegerProof, solvers: Solvers) -> Result<Accepted, Refused> {
    let (program, target) = program(text);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::Integers(proof), &Run::unlimited().with_solvers(solvers))
}

/// One formula at each location, with the program counter in the formula.
fn plain(text: &str) -> IntegerProof {
    let at = |loc: usize, text: &str| ControlPoint { loc: LocId::new(loc), values: Vec::new(), formula: formula(text) };
    IntegerProof { control: Vec::new(), points: vec![at(0, "T"), at(1, text)] }
}

/// The same with control points. The start has any program counter.
fn by_control(at_zero: &str, at_one: &str) -> IntegerProof {
    let control = vec![VarId::new(0)];
    let points = vec![point(1, 0, at_zero), point(1, 1, at_one)];
    IntegerProof { control, points }
}

#[test]
fn an_invariant_is_accepted() {
    assert_eq!(
        judged(COUNTERS, plain("(pc = 0 & x = y) | (pc = 1 & x = y + 1)"), z3()),
        Ok(Accepted::ByOneSolver("z3"))
    );
}

#[test]
fn what_is_not_closed_is_rejected_at_its_edge() {
    let edge = |number: usize| Err(Flaw::NotClosed(EdgeId::new(number)).into());
    assert_eq!(judged(COUNTERS, plain("pc = 0 & x = y"), z3()), edge(1));
    assert_eq!(judged(COUNTERS, plain("(pc = 0 & x = y) | (pc = 1 & x <= y + 1)"), z3()), edge(2));
    assert_eq!(judged(COUNTERS, plain("F"), z3()), edge(0));
}

#[test]
fn an_invariant_that_allows_an_error_is_rejected() {
    assert_eq!(judged(COUNTERS, plain("T"), z3()), Err(Flaw::Assert(EdgeId::new(3)).into()));
    let with_loc = COUNTERS.replace("target e3", "target L1");
    assert_eq!(judged(&with_loc, plain("x = x"), z3()), Err(Flaw::Location(LocId::new(1)).into()));
}

#[test]
fn a_start_that_is_not_allowed_is_a_flaw() {
    let proof = IntegerProof { control: Vec::new(), points: Vec::new() };
    assert_eq!(judged(COUNTERS, proof, z3()), Err(Flaw::Start(LocId::new(0)).into()));
    assert_eq!(judged(COUNTERS, by_control("x = y", "x = y + 1"), z3()), Err(Flaw::Start(LocId::new(0)).into()));
}

#[test]
fn control_points_carry_the_values_of_their_variables() {
    let started = COUNTERS.replace("y: int\n", "y: int\ninit pc := 0\n");
    let mut proof = by_control("x = y", "x = y + 1");
    proof.points.push(point(0, 0, "T"));
    assert_eq!(judged(&started, proof.clone(), z3()), Ok(Accepted::ByOneSolver("z3")));
    proof.points[1].formula = formula("x = y + 2");
    assert_eq!(judged(&started, proof.clone(), z3()), Err(Flaw::NotClosed(EdgeId::new(1)).into()));
    proof.points.remove(1);
    assert_eq!(judged(&started, proof, z3()), Err(Flaw::NotClosed(EdgeId::new(1)).into()));
}

#[test]
fn a_guard_says_which_control_point_a_step_leads_to() {
    let with = |first: Option<&str>| {
        let mut points = vec![ControlPoint { loc: LocId::new(0), values: Vec::new(), formula: formula("T") }];
        points.extend(first.map(|text| point(1, 0, text)));
        points.push(point(1, 1, "x = y + 1"));
        judged(COUNTERS, IntegerProof { control: vec![VarId::new(0)], points }, z3())
    };
    assert_eq!(with(Some("x = y")), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(with(Some("x = y & x = 0")), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
    assert_eq!(with(None), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
}

#[test]
fn what_changes_nothing_may_still_lead_elsewhere() {
    let text = COUNTERS.replace("start main", "  e4 L1 -> L3: assume pc = 1\nstart main");
    let mut proof = plain("(pc = 0 & x = y) | (pc = 1 & x = y + 1)");
    assert_eq!(judged(&text, proof.clone(), z3()), Err(Flaw::NotClosed(EdgeId::new(4)).into()));
    proof.points.push(ControlPoint { loc: LocId::new(3), values: Vec::new(), formula: formula("x = y + 1") });
    assert_eq!(judged(&text, proof, z3()), Ok(Accepted::ByOneSolver("z3")));
}

#[test]
fn choices_are_all_tried() {
    let text = "\
shared pc: int, x: int, y: int
init x := 0
proc main() from L0 to L1
  e0 L0 -> L0: x := ?0:int constrain 0 <= ?0:int & ?0:int <= y
  e1 L0 -> L0: assert !(x = 3)
start main
target e1
";
    let with = |formula_text: &str| {
        let points = vec![ControlPoint { loc: LocId::new(0), values: Vec::new(), formula: formula(formula_text) }];
        judged(text, IntegerProof { control: Vec::new(), points }, z3())
    };
    assert_eq!(with("0 <= x"), Err(Flaw::Assert(EdgeId::new(1)).into()));
    assert_eq!(with("0 <= x & x <= 2"), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
    assert_eq!(with("x = 0 & y <= 2"), Err(Flaw::Start(LocId::new(0)).into()));
}

#[test]
fn malformed_certificates_are_recognised() {
    let malformed = Err(Flaw::Malformed(None).into());
    let mut twice = by_control("T", "T");
    twice.points.push(point(1, 0, "T"));
    assert_eq!(judged(COUNTERS, twice, z3()), malformed);
    let mut untyped = by_control("T", "T");
    untyped.points[0].formula = Expr::Int(1);
    assert_eq!(judged(COUNTERS, untyped, z3()), malformed);
    let mut next = by_control("T", "T");
    next.points[0].formula = Expr::Next(VarId::new(0));
    assert_eq!(judged(COUNTERS, next, z3()), malformed);
    let mut values = by_control("T", "T");
    values.points[0].values = vec![Value::Bool(true)];
    assert_eq!(judged(COUNTERS, values, z3()), malformed);
    let mut control = by_control("T", "T");
    control.control = vec![VarId::new(0), VarId::new(0)];
    assert_eq!(judged(COUNTERS, control, z3()), malformed);
    let calls = "proc helper() from L3 to L4\n  e4 L3 -> L3: call helper()\nstart main";
    let mut elsewhere = by_control("T", "T");
    elsewhere.points.push(point(3, 0, "T"));
    assert_eq!(judged(&COUNTERS.replace("start main", calls), elsewhere, z3()), malformed);
}

#[test]
fn without_a_solver_nothing_is_said() {
    let proof = || plain("(pc = 0 & x = y) | (pc = 1 & x = y + 1)");
    assert_eq!(judged(COUNTERS, proof(), Solvers::default()), Err(Stop::NoSolver.into()));
    let missing = Solvers { z3: Some(Path::new("/nowhere/z3").into()), cvc5: None };
    let not_started = Stop::Solver(SolverFailure::NotStarted);
    assert_eq!(judged(COUNTERS, proof(), missing), Err(not_started.into()));
}

#[cfg(unix)]
#[test]
fn a_program_that_is_no_solver_proves_nothing() {
    for silent in ["/bin/true", "/bin/cat"] {
        let liar = Solvers { z3: Some(Path::new(silent).into()), cvc5: None };
        let answer = judged(COUNTERS, plain("F"), liar);
        assert!(matches!(answer, Err(Refused::Unjudged(Unjudged::Stopped(Stop::Solver(_))))), "{answer:?}");
    }
}

/// A program that asserts a condition on variables with any values, and a proof that says nothing about these: the
/// judge must find whether the condition always holds.
fn always(condition: &str) -> bool {
    let text = format!(
        "shared n: int, m: int, b: bool, c: bool, x: u8, y: u8, v: i8, w: i8, wide: i16\n\
         proc main() from L0 to L1\ne0 L0 -> L0: assert {condition}\nstart main\ntarget e0\n"
    );
    let points = vec![ControlPoint { loc: LocId::new(0), values: Vec::new(), formula: Expr::TRUE }];
    match judged(&text, IntegerProof { control: Vec::new(), points }, z3()) {
        Ok(Accepted::ByOneSolver("z3")) => true,
        Err(Refused::Flawed(Flaw::Assert(edge))) if edge == EdgeId::new(0) => false,
        other => panic!("{condition}: {other:?}"),
    }
}

/// Each operator is applied to values for which no other operator has the same result.
#[test]
fn solvers_are_asked_about_each_operator() {
    let facts = [
        ("x", 200, 7, [("div", 28), ("rem", 4), ("shr", 1), ("shl", 0), ("add", 207), ("sub", 193), ("mul", 120)]),
        ("v", -100, 7, [("div", -14), ("rem", -2), ("shr", -1), ("shl", 0), ("add", -93), ("sub", -107), ("mul", 68)]),
    ];
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for (var, left, right_operand, results) in facts {
        let (ty, other) = if var == "x" { ("u8", "y") } else { ("i8", "w") };
        let number = |value: i32| format!("{value}:{ty}");
        let given = format!("{var} = {} & {other} = {}", number(left), number(right_operand));
        for (op, value) in results {
            let result = |value| format!("({given} => {ty}.{op}({var}, {other}) = {})", number(value));
            right.push(result(value));
            wrong.push(result(value + 1));
        }
        for (op, value) in [("and", 200 & 7), ("or", 200 | 7), ("xor", 200 ^ 7)] {
            right.push(format!("(x = 200:u8 & y = 7:u8 => u8.{op}(x, y) = {value}:u8)"));
            wrong.push(format!("(x = 200:u8 & y = 7:u8 => u8.{op}(x, y) = {}:u8)", value ^ 1));
        }
        let (less, same) = (var == "v", format!("{var} = {} & {other} = {} =>", number(left), number(left)));
        let is = |holds: bool, text: String| if holds { text } else { format!("!{text}") };
        right.push(format!("({given} => {})", is(less, format!("{ty}.lt({var}, {other})"))));
        right.push(format!("({given} => {})", is(less, format!("{ty}.le({var}, {other})"))));
        right.push(format!("({same} {ty}.le({var}, {other}) & !{ty}.lt({var}, {other}))"));
        wrong.push(format!("({given} => {})", is(!less, format!("{ty}.lt({var}, {other})"))));
        wrong.push(format!("({same} {ty}.lt({var}, {other}))"));
    }
    assert!(always(&right.join(" & ")));
    for condition in wrong {
        assert!(!always(&condition), "{condition}");
    }
}

#[test]
fn solvers_are_asked_about_casts_conditionals_and_shared_parts() {
    for (condition, holds) in [
        // To more bits, to fewer, and to as many.
        ("v = -1:i8 => i8.i16(v) = -1:i16", true),
        ("v = -1:i8 => i8.i16(v) = 255:i16", false),
        ("x = 255:u8 => u8.i16(x) = 255:i16", true),
        ("wide = 511:i16 => i16.u8(wide) = 255:u8", true),
        ("wide = 511:i16 => i16.u8(wide) = 1:u8", false),
        ("v = -1:i8 => i8.u8(v) = 255:u8", true),
        ("v = -1:i8 => i8.u8(v) = 254:u8", false),
        ("(if b then n else m) = n | !b", true),
        ("(if b then n else m) = n", false),
        ("(if b then n else m) = m", false),
        ("let #0 = n + 1; #1 = #0 + #0 in #1 = n + n + 2", true),
        ("let #0 = n + 1; #1 = #0 + #0 in #1 = n + n + 1", false),
        ("(b => c) = (!b | c)", true),
        ("(b => c) = (b | c)", false),
        ("!(b & c) = (!b | !c)", true),
        ("n * m = m * n & -(n) = 0 - n & !(n < n) & n <= n", true),
        ("n * m = n + m", false),
        ("n <= m & m < n", false),
        ("divisible(3, n) | divisible(3, n + 1) | divisible(3, n + 2)", true),
        ("divisible(3, n)", false),
    ] {
        assert_eq!(always(condition), holds, "{condition}");
    }
}

/// Values that are plain in the formula of a point save questions; they must not decide what they do not say.
#[test]
fn plain_values_decide_only_what_they_say() {
    let blocked = |guard: &str, b: bool, c: Option<bool>| {
        let text = |value: bool| if value { "T" } else { "F" };
        let text = format!(
            "shared x: int, b: bool, c: bool\ninit b := {}, c := {}\nproc main() from L0 to L2\n\
             e0 L0 -> L1: assume {guard}\ne1 L1 -> L2: return\nstart main\n",
            text(b),
            text(c.unwrap_or_default())
        );
        let is = |var: usize, value: bool| match Expr::Var(VarId::new(var)) {
            var if value => var,
            var => Expr::negate(var),
        };
        let known = c.map_or(is(1, b), |c| Expr::binary(BinaryOp::And, is(1, b), is(2, c)));
        let points = vec![ControlPoint { loc: LocId::new(0), values: Vec::new(), formula: known }];
        match judged(&text, IntegerProof { control: Vec::new(), points }, z3()) {
            Ok(Accepted::ByOneSolver("z3")) => true,
            Err(Refused::Flawed(Flaw::NotClosed(edge))) if edge == EdgeId::new(0) => false,
            other => panic!("{guard} where {b} and {c:?}: {other:?}"),
        }
    };
    for (guard, b, c, is_blocked) in [
        ("!b", true, None, true),
        ("b", true, None, false),
        ("b", false, None, true),
        ("!b", false, None, false),
        ("!(b => c)", false, None, true),
        ("!(b => c)", true, Some(true), true),
        ("b => c", true, None, false),
        ("b => c", true, Some(true), false),
        ("b => c", true, Some(false), true),
        ("c => b", false, None, false),
        ("!(b => c)", true, Some(false), false),
        ("(b | x = 1) & !b", true, None, true),
        ("if b then c else x = 1", true, Some(true), false),
        ("if b then !c else x = 1", true, Some(true), true),
        ("if b then x = 1 else c", false, None, false),
        ("if b then x = 1 else F", false, None, true),
        ("if x = 1 then F else b", true, None, false),
        ("if x = 1 then F else b", false, None, true),
        ("if x = 1 then T else b", false, None, false),
    ] {
        assert_eq!(blocked(guard, b, c), is_blocked, "{guard} where {b} and {c:?}");
    }
}

/// Where one of two control variables is known after a step, the points with its value allow the step, for all values
/// of the other one.
#[test]
fn points_with_one_known_control_variable_are_found() {
    let text = "shared pc: int, x: int, y: int\ninit pc := 0\nproc main() from L0 to L2\n\
        e0 L0 -> L1: pc := 1, x := ?0:int constrain 0 <= ?0:int & ?0:int <= 1\ne1 L1 -> L2: return\nstart main\n";
    let point = |loc: usize, values: &[i64], text: &str| ControlPoint {
        loc: LocId::new(loc),
        values: values.iter().map(|value| Value::Int(*value)).collect(),
        formula: formula(text),
    };
    let with = |points: &[(i64, i64)]| {
        let after = points.iter().map(|(pc, x)| point(1, &[*pc, *x], "T"));
        let points = [point(0, &[], "pc = 0")].into_iter().chain(after).collect();
        judged(text, IntegerProof { control: vec![VarId::new(0), VarId::new(1)], points }, z3())
    };
    let open = Err(Flaw::NotClosed(EdgeId::new(0)).into());
    assert_eq!(with(&[(1, 0), (1, 1)]), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(with(&[(0, 0), (0, 1), (1, 0), (1, 1)]), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(with(&[(1, 0), (0, 1)]), open);
    assert_eq!(with(&[(0, 0), (0, 1)]), open);
}

/// The thread's own variables may start with any value; those of procedures that no thread runs have the default.
#[test]
fn a_start_has_any_values_of_the_threads_own_variables() {
    let text = "shared pc: int, x: int, y: int\nproc main() from L0 to L1\nlocal l: int, b: bool\ne0 L0 -> L0: skip\n\
        proc helper() from L2 to L3\nlocal m: int\ne1 L2 -> L3: return\nstart main\n";
    let with = |var: usize, value: i64| {
        let is = Expr::binary(BinaryOp::Eq, Expr::Var(VarId::new(var)), Expr::Int(value));
        let points = vec![ControlPoint { loc: LocId::new(0), values: Vec::new(), formula: is }];
        judged(text, IntegerProof { control: Vec::new(), points }, z3())
    };
    assert_eq!(with(5, 0), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(with(5, 1), Err(Flaw::Start(LocId::new(0)).into()));
    assert_eq!(with(3, 0), Err(Flaw::Start(LocId::new(0)).into()));
    assert_eq!(with(1, 0), Err(Flaw::Start(LocId::new(0)).into()));
}

/// The start is refused behind formulas that fit.
#[test]
fn formulas_are_conditions_over_booleans_and_numbers() {
    let (n, b) = (|| Expr::Int(1), || Expr::TRUE);
    let unary = |op, operand| Expr::Unary(op, Box::new(operand));
    let is = |expr: Expr| Expr::binary(BinaryOp::Eq, expr, Expr::Int(0));
    let ite = |condition, then, otherwise| Expr::Ite(Box::new((condition, then, otherwise)));
    let ty = MachineTy::unsigned(8);
    let right = [
        unary(UnaryOp::Not, b()),
        is(unary(UnaryOp::Neg, n())),
        unary(UnaryOp::DivisibleBy(1), n()),
        unary(UnaryOp::DivisibleBy(7), n()),
        is(ite(b(), n(), n())),
        ite(b(), b(), b()),
        Expr::binary(BinaryOp::Eq, b(), b()),
        Expr::binary(BinaryOp::Ne, n(), n()),
        Expr::binary(BinaryOp::Lt, n(), n()),
        is(Expr::binary(BinaryOp::Mul, n(), n())),
        Expr::binary(BinaryOp::Eq, Expr::Machine(ty, 255), Expr::Machine(ty, 0)),
    ];
    let logical = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Implies];
    let right = right.into_iter().chain(logical.map(|op| Expr::binary(op, b(), b())));
    let wrong = [
        n(),
        unary(UnaryOp::Not, n()),
        unary(UnaryOp::Neg, n()),
        unary(UnaryOp::Neg, b()),
        is(unary(UnaryOp::Neg, b())),
        unary(UnaryOp::DivisibleBy(0), n()),
        unary(UnaryOp::DivisibleBy(3), b()),
        is(ite(n(), n(), n())),
        ite(n(), b(), b()),
        is(ite(b(), n(), b())),
        ite(b(), b(), n()),
        Expr::binary(BinaryOp::Eq, b(), n()),
        Expr::binary(BinaryOp::Lt, b(), b()),
        Expr::binary(BinaryOp::Lt, b(), n()),
        Expr::binary(BinaryOp::Le, n(), b()),
        is(Expr::binary(BinaryOp::Add, b(), n())),
        is(Expr::binary(BinaryOp::Add, n(), b())),
        Expr::binary(BinaryOp::And, n(), n()),
        Expr::binary(BinaryOp::Implies, n(), b()),
        Expr::binary(BinaryOp::Implies, b(), n()),
        Expr::Var(VarId::new(99)),
        Expr::Choice(0, Ty::Bool),
        Expr::Passive(VarId::new(0)),
        Expr::binary(BinaryOp::Eq, Expr::Machine(ty, 0), n()),
        Expr::binary(BinaryOp::Eq, Expr::Machine(ty, 0), Expr::Machine(MachineTy::unsigned(9), 0)),
        Expr::binary(BinaryOp::Eq, Expr::Machine(ty, 256), Expr::Machine(ty, 0)),
    ];
    let judged = |expr: Expr| {
        let points = vec![ControlPoint { loc: LocId::new(1), values: Vec::new(), formula: expr }];
        judged(COUNTERS, IntegerProof { control: Vec::new(), points }, z3())
    };
    for expr in right {
        assert_eq!(judged(expr.clone()), Err(Flaw::Start(LocId::new(0)).into()), "{expr:?}");
    }
    for expr in wrong {
        assert_eq!(judged(expr.clone()), Err(Flaw::Malformed(None).into()), "{expr:?}");
    }
}

#[test]
fn several_threads_calls_and_started_threads_are_out_of_scope() {
    let refused = |text: &str| judged(text, plain("T"), z3());
    let helper = "proc helper() from L3 to L4\ne4 L3 -> L4: return\nstart main";
    for (from, to) in [
        ("start main", "start main\nstart main"),
        ("start main", "start main: main exactly 2"),
        ("start main", "start main: main any"),
        ("start main", "e4 L1 -> L1: call helper()\nproc helper() from L3 to L4\ne5 L3 -> L4: return\nstart main"),
        ("start main", "e4 L1 -> L1: spawn helper()\nproc helper() from L3 to L4\ne5 L3 -> L4: return\nstart main"),
        ("start main", "e4 L1 -> L1: fork L1\nstart main"),
        ("start main", &format!("{helper}\nprelude helper")),
    ] {
        let found = refused(&COUNTERS.replacen(from, to, 1));
        assert!(matches!(found, Err(Refused::Flawed(Flaw::OutOfScope(_)))), "{to}: {found:?}");
    }
    let local = COUNTERS.replace("to L2\n", "to L2\n  local l: int\n");
    let found = refused(&local.replace("start main", "e4 L1 -> L1: assume l$ = 0\nstart main"));
    assert!(matches!(found, Err(Refused::Flawed(Flaw::OutOfScope(_)))), "{found:?}");
    // What the thread does not run does not count.
    let text = COUNTERS.replace("start main", "proc helper() from L3 to L4\ne4 L3 -> L3: call helper()\nstart main");
    assert_eq!(judged(&text, plain("(pc = 0 & x = y) | (pc = 1 & x = y + 1)"), z3()), Ok(Accepted::ByOneSolver("z3")));
}

/// A solver that only has these lines to say, one for each question.
#[cfg(unix)]
fn solver(name: &str, lines: &str) -> PathBuf {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let folder = std::env::temp_dir().join(format!("selvedge-solvers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}{}", NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
    std::fs::write(&path, format!("#!/bin/sh\nprintf '{lines}'\nexec cat > /dev/null\n")).expect("it can be written");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it can be made to run");
    path
}

#[cfg(unix)]
#[test]
fn answers_of_solvers_are_taken_as_they_are() {
    let failed = |failure| Err(Stop::Solver(failure).into());
    let unsat = "unsat\\n".repeat(40);
    let proof = plain("(pc = 0 & x = y) | (pc = 1 & x = y + 1)");
    let judged = |z3: Option<&str>, cvc5: Option<&str>| {
        let path = |name: &str, lines: &str| -> std::sync::Arc<Path> { solver(name, lines).as_path().into() };
        let solvers = Solvers { z3: z3.map(|lines| path("z3", lines)), cvc5: cvc5.map(|lines| path("cvc5", lines)) };
        judged(COUNTERS, proof.clone(), solvers)
    };
    assert_eq!(judged(Some(&unsat), None), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(judged(None, Some(&unsat)), Ok(Accepted::ByOneSolver("cvc5")));
    assert_eq!(judged(Some(&unsat), Some(&unsat)), Ok(Accepted::Certified));
    assert_eq!(judged(Some("sat\\n"), None), Err(Flaw::Start(LocId::new(0)).into()));
    assert!(judged(Some("  unsat \\nsat\\n"), None).is_err());
    assert_eq!(judged(Some("unknown\\n"), None), failed(SolverFailure::Undecided));
    assert_eq!(judged(Some("timeout\\n"), None), failed(SolverFailure::Undecided));
    assert_eq!(judged(Some("(error)\\n"), None), failed(SolverFailure::Strange));
    let disagree = |sat, unsat| Err(Flaw::SolversDisagree { sat, unsat }.into());
    assert_eq!(judged(Some("sat\\n"), Some(&unsat)), disagree("z3", "cvc5"));
    assert_eq!(judged(Some(&unsat), Some("sat\\n")), disagree("cvc5", "z3"));
    // One that needs longer is waited for.
    let slow = format!("unsat\\n'; sleep 0.3; printf '{unsat}");
    assert_eq!(judged(Some(&slow), Some(&unsat)), Ok(Accepted::Certified));
    assert_eq!(judged(Some(&unsat), Some(&slow)), Ok(Accepted::Certified));
    // One that fails judges no longer.
    assert_eq!(judged(Some(&unsat), Some("unknown\\n")), Ok(Accepted::ByOneSolver("z3")));
    assert_eq!(judged(Some("unsat\\nwhat\\n"), Some(&unsat)), Ok(Accepted::ByOneSolver("cvc5")));
}

/// A solver that does not end by itself is ended.
#[cfg(target_os = "linux")]
#[test]
fn no_solver_is_left_behind() {
    let note = std::env::temp_dir().join(format!("selvedge-solver-{}", std::process::id()));
    let path = solver("sleeper", &format!("unknown\\n'; echo $$ > {}; exec sleep 60; echo '", note.display()));
    let solvers = Solvers { z3: Some(path.as_path().into()), cvc5: None };
    assert_eq!(judged(COUNTERS, plain("T"), solvers), Err(Stop::Solver(SolverFailure::Undecided).into()));
    let id = std::fs::read_to_string(&note).unwrap_or_default();
    assert!(id.trim().is_empty() || !Path::new("/proc").join(id.trim()).exists(), "{id} still runs");
}

//! Certificates about integers: proofs are accepted, what only looks like one is not.

use std::path::{Path, PathBuf};

use selvedge_check::{Certificate, ControlPoint, IntegerProof, Run, SolverFailure, Solvers, Stop, Task, ThreadScope};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, Expr, LocId, Op, Program, Target, Value, VarId};
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

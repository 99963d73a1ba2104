use super::*;
use crate::syntax::{Assign, BinaryOp, Expr, Op, ProcId, Program, Scope, Ty, UnaryOp, Var, VarId};
use crate::validate::{validate, validate_target};

const EXAMPLE: &str = "\
shared x: bool
shared n: int
shared `{x==1}`: bool
thread t: bool
init x := F, n := ?0:int + 1

proc main() from L0 to L9
  local l@4: bool
  local `a$`: bool
  label START: L0
  label `1`: L0
  loc L12
  e0 L0 -> L1: l@4, _ := call f(x | ?0, n)
  e1 L1 -> L2: x := !l@4, t := ?0 constrain x' = (if t then l@4 else t')
  e2 L2 -> L3: assume t$ => (t$' & !x)
  e3 L3 -> L4: l@4 := T, t$ := ?0 ^ t$
  e4 L4 -> L5: fork L8
  e5 L4 -> L5: spawn f(F, -3)
  e6 L5 -> L6: atomic_begin
  e7 L6 -> L7: assert (n + 2 * n < -(7)) | divisible(3, n - 1 - (n + 1))
  e8 L7 -> L7: atomic_end
  e9 L7 -> L9: return
  e10 L8 -> L9: end

proc f(p: bool, q: int) returns bool, int from L10 to L11
  local l@8: bool
  e11 L10 -> L11: return !(p & l@8), q

prelude main
start main: main exactly 1 with t init t := x & ?0
start `two words`: f at most 2
start f: f any
";

/// Reads a text, which must be valid and be printed again as it was.
fn check_round_trip(text: &str) -> Program {
    let program = parse(text).unwrap();
    assert_eq!(validate(&program), Ok(()));
    assert_eq!(print(&program), text);
    program
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn every_form_round_trips() {
    let program = check_round_trip(EXAMPLE);
    assert_eq!(parse(&print(&program)), Ok(program));
}

#[test]
fn a_target_round_trips() {
    let text = format!("{EXAMPLE}target e7, L3, L8\n");
    let (program, target) = parse_with_target(&text).unwrap();
    assert_eq!(validate_target(&program, &target), Ok(()));
    assert_eq!(print_with_target(&program, &target), text);
    assert_eq!(error(&text), "line 33: a target is not part of a program");
    assert!(validate_target(&program, &crate::Target::new(vec![0.into()], vec![])).is_err());
    assert!(validate_target(&program, &crate::Target::new(vec![], vec![9.into()])).is_err());
}

#[test]
fn short_forms_mean_the_long_ones() {
    let short = "shared x, y: bool, n: int // a comment\nproc f(p, q: bool) from L0 to L1\nL0 -> L1: return\nstart f";
    let long = "shared x: bool\nshared y: bool\nshared n: int\n\nproc f(p: bool, q: bool) from L0 to L1\n  \
                e0 L0 -> L1: return\n\nstart f: f exactly 1\n";
    assert_eq!(print(&parse(short).unwrap()), long);
}

#[test]
fn numbers_survive_any_order_of_declaration() {
    check_round_trip("\nproc main(b, a) from L1 to L0\n  local a: bool\n  local b: int\n  e0 L1 -> L0: return\n");
    let late = "shared c@2: bool\n\nproc main() from L0 to L1\n  local a@0: bool\n  local b@1: int\n";
    let program = check_round_trip(late);
    assert_eq!(program.vars[VarId::new(2)].scope, Scope::Shared);
    let swapped = "\nproc f() from L2 to L0\n  e1 L2 -> L0: end\n\nproc g() from L1 to L3\n  e0 L1 -> L3: end\n";
    check_round_trip(swapped);
}

#[test]
fn labels_keep_their_order_across_procedures() {
    check_round_trip("\nproc f() from L0 to L1\n\nproc f2() from L2 to L3\n  label A: L2\n  label B: L0\n");
}

#[test]
fn odd_names_are_quoted() {
    for name in ["", "x$", "`", "\\", "a`b\\c", "new\nline", "T", "while x", "ä", "x@3", "//", "_", "3"] {
        let mut program = Program::default();
        program.vars.push(Var { name: name.to_owned(), scope: Scope::Shared, ty: Ty::Bool });
        program.vars.push(Var { name: name.to_owned(), scope: Scope::Thread, ty: Ty::Int });
        assert_eq!(parse(&print(&program)), Ok(program), "{name:?}");
    }
}

#[test]
fn a_local_variable_hides_a_global_one() {
    let text = "shared x: bool\nproc f() from L0 to L1\nlocal x: bool\nL0 -> L0: x := x@0\nproc g() from L2 to L3\n\
                L2 -> L2: x := T";
    let program = parse(text).unwrap();
    let assigned = |edge: usize| match &program.edges[edge].op {
        Op::Assign(Assign { active, .. }) => active[0].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(assigned(0), (VarId::new(1), Expr::Var(VarId::new(0))));
    assert_eq!(assigned(1), (VarId::new(0), Expr::TRUE));
}

/// Returns all expressions of two levels over a few leaves.
fn small_exprs() -> Vec<Expr> {
    let leaves = [Expr::Var(VarId::new(0)), Expr::Int(-3), Expr::Int(3), Expr::Choice(1, Ty::Int), Expr::TRUE];
    let leaves = leaves.into_iter().chain([Expr::Int(i64::MIN), Expr::PassiveNext(VarId::new(1))]).collect::<Vec<_>>();
    let once = build(&leaves[..4], 3);
    build(&once.into_iter().chain(leaves).collect::<Vec<_>>(), 29)
}

fn build(operands: &[Expr], step: usize) -> Vec<Expr> {
    use BinaryOp::*;
    let mut built = Vec::new();
    for left in operands {
        for op in [UnaryOp::Not, UnaryOp::Neg, UnaryOp::DivisibleBy(2)] {
            built.push(Expr::Unary(op, Box::new(left.clone())));
        }
        for right in operands.iter().step_by(step) {
            for op in [And, Or, Xor, Implies, Eq, Ne, Add, Sub, Mul, Lt, Le] {
                built.push(Expr::binary(op, left.clone(), right.clone()));
                built.push(Expr::binary(op, right.clone(), left.clone()));
            }
            built.push(Expr::Ite(Box::new((right.clone(), left.clone(), right.clone()))));
        }
    }
    built
}

#[test]
#[cfg_attr(miri, ignore = "the expressions are too many for an interpreter")]
fn expressions_round_trip_whatever_their_shape() {
    let mut program = parse("shared x: int\nthread y: int\nproc f() from L0 to L1").unwrap();
    let exprs = small_exprs();
    for expr in exprs {
        let edge = crate::Edge::new(0.into(), 0.into(), Op::Assert(expr));
        program.edges.push(edge);
    }
    assert_eq!(parse(&print(&program)).unwrap(), program);
}

#[test]
fn operators_bind_as_documented() {
    let text =
        "shared a: bool, b: bool, n: int\nproc f() from L0 to L1\nL0 -> L0: assume a & n + 1 * 2 < 3 | !b ^ a => b";
    let program = parse(text).unwrap();
    assert_eq!(op(&program, &program.edges[0].op), "assume (((a & (n + 1 * 2 < 3)) | !b) ^ a) => b");
}

#[test]
fn mistakes_are_located() {
    let head = "shared x: bool\nproc f() from L0 to L1\n";
    let cases = [
        ("L0 -> L1: y := T", "line 3: there is no variable `y`"),
        ("L0 -> L1: x := ", "line 3: expected a name, found the end of the line"),
        ("L0 -> L1: skip skip", "line 3: unexpected `skip`"),
        ("L0 -> L1: call g()", "line 3: there is no procedure `g`"),
        ("L0 -> L3: skip", "line 3: the location number 2 is missing"),
        ("e1 L0 -> L1: skip", "line 3: the edge number 0 is missing"),
        ("e0 L0 -> L1: skip\ne0 L0 -> L1: skip", "line 4: there are two edges of number 0"),
        ("L0 -> L1: fork L5", "line 3: there is no location L5"),
        ("label `A: L0", "line 3: a quoted name without its closing backquote"),
        ("L0 -> L1: assume x #", "line 3: unexpected `#`"),
        ("L0 -> L1: assume 99999999999999999999", "line 3: the number 99999999999999999999 is too large"),
        ("shared x@0: bool", "line 3: the variable number 0 is declared twice"),
        ("shared y", "line 3: a variable without a type"),
        ("proc g() from L0 to L2", "line 3: L0 belongs to the procedure `f`"),
        ("proc f(p) from L2 to L3", "line 3: there is no variable `p`"),
    ];
    for (line, message) in cases {
        assert_eq!(error(&format!("{head}{line}")), message);
    }
    assert_eq!(error("local x: bool"), "line 1: this line belongs below a procedure");
}

#[test]
#[cfg_attr(miri, ignore = "the text is too long for an interpreter")]
fn deep_nesting_is_refused() {
    let head = "shared x: bool\nproc f() from L0 to L1\nL0 -> L0: assume ";
    let nested = |deep: usize| format!("{head}{}x{}", "(".repeat(deep), ")".repeat(deep));
    assert!(parse(&nested(400)).is_ok());
    assert!(error(&nested(100_000)).contains("deeper"));
    assert!(error(&format!("{head}{}x", "!".repeat(100_000))).contains("deeper"));
    assert!(error(&format!("{head}{}x", "- ".repeat(100_000))).contains("deeper"));
    assert!(error(&format!("{head}{}x", "x & ".repeat(100_000))).contains("operators"));
    assert!(error(&format!("{head}{}x", "if x then ".repeat(100_000))).contains("deeper"));
}

#[test]
#[cfg_attr(miri, ignore = "the texts are too many for an interpreter")]
fn broken_texts_do_not_panic() {
    for cut in 0..EXAMPLE.len() {
        let _ = parse(&EXAMPLE[..cut]).map(|program| print(&program));
        let mut mutated = EXAMPLE.to_owned();
        mutated.remove(cut);
        let _ = parse(&mutated).map(|program| validate(&program));
        mutated.insert(cut, ['@', '(', '\'', '`', '9', ',', '\n'][cut % 7]);
        let _ = parse(&mutated).map(|program| validate(&program));
    }
}

#[test]
fn invalid_programs_are_printed_without_panic() {
    let mut program = parse(EXAMPLE).unwrap();
    program.procs[ProcId::new(0)].entry = 99.into();
    program.edges[0].from = 77.into();
    program.edges[1].op = Op::assume(Expr::Var(VarId::new(55)));
    program.labels[0].loc = 66.into();
    assert!(print(&program).contains("assume ?"));
    assert!(validate(&program).unwrap_err().len() >= 4);
}

#[test]
fn machine_integers_and_shared_parts_round_trip() {
    check_round_trip(
        "shared x: u8\nshared y: i32\nshared b: bool\ninit x := 255:u8, y := -2147483648:i32\n\n\
         proc f(p: i64) returns u1 from L0 to L2\n  local `u8`: u64\n\
         \x20 e0 L0 -> L1: x := u8.add(x, ?0:u8), `u8` := u64.shr(18446744073709551615:u64, `u8`)\n\
         \x20 e1 L1 -> L1: assume i32.lt(y, u8.i32(x)) & (x = u8.rem(x, 3:u8)) & !u64.le(`u8`, 1:u64)\n\
         \x20 e2 L1 -> L1: b := let #0 = b & ?0; #7 = #0 | u8.lt(x, 2:u8) in #7 = (let #0 = !#7 in #0 ^ b)\n\
         \x20 e3 L1 -> L1: b := (let #0 = b in #0) & (if b then let #1 = b in #1 else b)\n\
         \x20 e4 L1 -> L2: return if b then 1:u1 else 0:u1\n\nstart f: f exactly 1\n"
            .replace("`u8`", "u8")
            .as_str(),
    );
}

#[test]
fn wrong_machine_integers_are_refused() {
    let read = |expr: &str| error(&format!("shared x: u8\nproc f() from L0 to L1\nL0 -> L0: x := {expr}"));
    assert_eq!(read("256:u8"), "line 3: 256 is not a number of the type u8");
    assert_eq!(read("-1:u8"), "line 3: -1 is not a number of the type u8");
    assert_eq!(read("1:int"), "line 3: only constants of machine types have a type");
    assert_eq!(read("u8.plus(x, x)"), "line 3: there is no operator `u8.plus`");
    assert_eq!(read("u65.add(x, x)"), "line 3: there is no operator `u65.add`");
    assert_eq!(read("let #0 = x"), "line 3: expected `in`, found the end of the line");
    assert_eq!(error("shared x: bool, u8"), "line 1: a variable without a type");
    assert_eq!(error("shared x: u99"), "line 1: expected a type, found `u99`");
}

//! Which steps other threads cannot notice, operation by operation.

use selvedge_ir::text::parse;
use selvedge_ir::{EdgeId, Expr, Op, Program, Scope, VarId};
use selvedge_replay::commutation::Commutation;

/// Shared `s`, per-thread `t` and `u`; `u` of other threads is mentioned. Locals `l` of the caller and `p`, `q` of a
/// procedure; those of `seen` are mentioned by others.
const PROGRAM: &str = "shared s: bool\nthread t: bool, u: bool\n\
    proc main() from L0 to L5\nlocal l: bool\n\
    e0 L0 -> L1: STEP\ne1 L1 -> L2: l := call hidden(l)\ne2 L2 -> L3: l := call seen(l)\ne3 L3 -> L4: assume !u$\n\
    e4 L4 -> L5: return\n\
    proc hidden(p: bool) returns bool from L6 to L8\nlocal q: bool\ne5 L6 -> L7: q := p\ne6 L7 -> L8: return q\n\
    proc seen(a: bool) returns bool from L9 to L11\nlocal b: bool\ne7 L9 -> L10: b$ := a\ne8 L10 -> L11: return a\n\
    proc never() from L12 to L14\nlocal n: bool\ne9 L12 -> L13: n$ := T\ne10 L13 -> L14: return\n\
    start main: main any with t, u";

fn program(step: &str) -> Program {
    parse(&PROGRAM.replace("STEP", step)).expect("the program is well-formed")
}

fn is_invisible(step: &str) -> bool {
    let program = program(step);
    Commutation::new(&program).is_invisible(&program.edges[EdgeId::new(0)], None)
}

#[test]
fn variables_that_others_can_mention_are_shown() {
    let program = program("skip");
    let commutation = Commutation::new(&program);
    let shown = |name: &str| {
        let var = program.vars.iter().position(|var| var.name == name).expect("it is there");
        commutation.is_shown(VarId::new(var))
    };
    let names = ["s", "t", "u", "l", "p", "q", "a", "b", "n"];
    // What no thread runs does not count.
    assert_eq!(names.map(shown), [true, false, true, false, false, false, false, true, false]);
}

#[test]
fn steps_on_what_is_not_shown_are_invisible() {
    for step in ["skip", "l := T", "t := l", "l := t & !l, t := ?0", "assume l | t", "l := T constrain l'", "assert l"]
    {
        assert!(is_invisible(step), "{step}");
    }
    for step in [
        "s := l",
        "u := l",
        "l := s",
        "l := l & u",
        "t := T, s := T",
        "s := T, t := T",
        "l := T constrain s",
        "l := s constrain l",
        "s := T constrain l",
        "assume s",
        "assume u'",
        "assume t$",
        "t$ := T",
        "l := T, t$ := T",
        "t$ := T constrain l",
        "l := T constrain t$'",
        "assert s",
        "assert l & u",
        "assert l ensures s",
        "spawn never()",
        "fork L1",
        "end",
        "atomic_begin",
        "atomic_end",
        "return",
    ] {
        assert!(!is_invisible(step), "{step}");
    }
}

fn call_of(program: &mut Program) -> &mut selvedge_ir::Call {
    match &mut program.edges[EdgeId::new(1)].op {
        Op::Call(call) => call,
        other => panic!("no call: {other:?}"),
    }
}

#[test]
fn calls_and_returns_are_invisible_if_their_frames_are() {
    let seen = |caller: Option<usize>, edge: usize, change: &dyn Fn(&mut Program)| {
        let mut program = program("skip");
        change(&mut program);
        Commutation::new(&program).is_invisible(&program.edges[EdgeId::new(edge)], caller.map(EdgeId::new))
    };
    let same: &dyn Fn(&mut Program) = &|_| ();
    assert!(seen(None, 1, same) && seen(Some(1), 6, same));
    assert!(!seen(None, 2, same) && !seen(Some(2), 8, same), "others mention a variable of the frame");
    assert!(!seen(None, 6, same), "the thread ends");
    let shared = Expr::Var(VarId::new(0));
    assert!(!seen(None, 1, &|program| call_of(program).args[0] = shared.clone()));
    assert!(!seen(Some(1), 6, &|program| call_of(program).results[0] = Some(VarId::new(0))));
    let returns_shared: &dyn Fn(&mut Program) =
        &|program| program.edges[EdgeId::new(6)].op = Op::Return(vec![shared.clone()]);
    assert!(!seen(Some(1), 6, returns_shared));
    // A value that the caller discards is not read.
    assert!(seen(Some(1), 6, &|program| {
        returns_shared(program);
        call_of(program).results[0] = None;
    }));
    assert!(!seen(Some(1), 6, &|program| program.edges[EdgeId::new(1)].ensures = shared.clone()));
    // Mentions of other threads' variables, wherever they are.
    for leaf in [Expr::Passive(VarId::new(1)), Expr::PassiveNext(VarId::new(1))] {
        assert!(!seen(None, 0, &|program| program.edges[EdgeId::new(0)].op = Op::Assert(leaf.clone())));
    }
    assert_eq!(program("skip").vars[VarId::new(1)].scope, Scope::Thread);
}

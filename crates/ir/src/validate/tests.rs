use super::*;
use crate::text::parse;

/// Returns the messages about a program with two procedures, a few variables and these edges of the first procedure.
fn messages(edges: &str) -> Vec<String> {
    let text = format!(
        "shared s: bool, n: int\nthread t: bool\nproc g(p: bool, i: int) returns bool, int from L0 to L1\n\
             local l: bool\nL0 -> L1: return p, i\n\
             proc f(q: bool) from L2 to L3\nlocal a, b: bool, c: int\nL2 -> L3: return\n{edges}\n"
    );
    let program = parse(&text).unwrap();
    validate(&program).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn check(edges: &str, message: &str) {
    assert_eq!(messages(edges), [message], "{edges}");
}

#[test]
fn well_formed_edges_are_valid() {
    for edge in [
        "L2 -> L2: a, _ := call g(s & t, n + c)",
        "L2 -> L2: a, c := call g(?0, ?1:int)",
        "L2 -> L2: a := b, b := a constrain a' = b & l$' & t$",
        "L2 -> L2: l$ := t$ ^ a",
        "L2 -> L2: fork L2",
        "L2 -> L3: end",
    ] {
        assert_eq!(messages(edge), Vec::<String>::new(), "{edge}");
    }
}

#[test]
fn variables_are_used_where_they_are_visible() {
    check("L2 -> L2: l := T", "e2: `l` (variable 5) is not visible here");
    check("L2 -> L2: assume l'", "e2: `l` (variable 5) is not visible here");
    check("L2 -> L2: s$ := T", "e2: `s` (variable 0) is shared: no other thread has its own");
    check("L2 -> L2: assume s$", "e2: `s` (variable 0) is shared: no other thread has its own");
    check("L2 -> L2: a := b'", "e2: a new value outside of a constraint");
    check("L2 -> L2: assert b'", "e2: a new value outside of a constraint");
    check("L2 -> L2: a := t$", "e2: another thread's variable outside of a constraint");
    check("L2 -> L2: t$ := t$'", "e2: another thread's new value outside of a constraint");
    check("init t := T", "init: `t` (variable 2) is not shared");
    check("init s := s", "init: `s` (variable 0) is not visible here");
    check("start f exactly 1 with t init t := t", "start 0: `t` (variable 2) is not visible here");
    check("start f exactly 1 with s", "start 0: `s` (variable 0) is not a per-thread variable");
    check("start f init t := T", "start 0: `t` (variable 2) is not among the variables of this kind");
}

#[test]
fn types_and_numbers_of_values_agree() {
    check("L2 -> L2: a := 1", "e2: an expression of type Int, but Bool is expected");
    check("L2 -> L2: c := a & b", "e2: an expression of type Bool, but Int is expected");
    check("L2 -> L2: assume c < a", "e2: an expression of type Bool, but Int is expected");
    check("L2 -> L2: assume a = c", "e2: an expression of type Int, but Bool is expected");
    check("L2 -> L2: assume if a then b else c", "e2: an expression of type Int, but Bool is expected");
    check("L2 -> L2: assume divisible(0, c)", "e2: divisibility by zero");
    check("L2 -> L2: a := ?0 constrain ?0:int = 1", "e2: the choice ?0 has two types");
    check("L2 -> L2: _, _ := call g(a)", "e2: 1 values, but 2 are expected");
    check("L2 -> L2: call g(a, c)", "e2: 0 results, but the procedure returns 2");
    check("L2 -> L2: c, _ := call g(a, c)", "e2: a result of another type than variable 9");
    check("L2 -> L3: return a", "e2: 1 values, but 0 are expected");
}

#[test]
fn nothing_is_assigned_twice() {
    check("L2 -> L2: a := T, a := F", "e2: `a` (variable 7) is assigned twice");
    check("L2 -> L2: t$ := T, t$ := F", "e2: `t` (variable 2) is assigned in other threads twice");
    check("init s := T, s := F", "init: `s` (variable 0) is initialised twice");
}

#[test]
fn control_stays_in_the_procedure() {
    check("L2 -> L3: skip", "e2: leads to the exit without returning");
    check("L2 -> L2: return", "e2: returns, but does not lead to the exit");
    check("L3 -> L2: skip", "e2: leaves the exit");
    check("L2 -> L2: fork L0", "e2: the copy begins at L0 in another procedure");
    check("L2 -> L2: fork L3", "e2: the copy begins at the exit");
}

#[test]
fn numbers_refer_to_something() {
    type Change = fn(&mut Program);
    let valid = parse("shared s: bool\nproc f(p: bool) from L0 to L1\nL0 -> L1: return\nstart f").unwrap();
    assert_eq!(validate(&valid), Ok(()));
    let changes: [(Change, &str); 6] = [
        (|program| program.edges[0].to = 7.into(), "e0: there is no location L7"),
        (|program| program.init.push((9.into(), Expr::TRUE)), "init: there is no variable 9"),
        (|program| program.prelude = Some(5.into()), "prelude: there is no procedure 5"),
        (|program| program.procs[0].locals.clear(), "variable 1: `p` is missing in the list of its procedure's locals"),
        (|program| program.procs[0].locals.push(1.into()), "procedure 0: `p` (variable 1) is listed twice"),
        (|program| program.procs[0].exit = 0.into(), "procedure 0: the entry is the exit"),
    ];
    for (change, message) in changes {
        let mut program = valid.clone();
        change(&mut program);
        assert_eq!(validate(&program).unwrap_err()[0].to_string(), message);
    }
}

#[test]
fn every_operation_refers_to_something() {
    let text = "shared s: bool\nproc f() from L0 to L1\ne0 L0 -> L0: skip\ne1 L0 -> L1: return\nstart f";
    let (missing, nothing) = (VarId::new(7), Expr::Bool(true));
    let assign = |active: Vec<(VarId, Expr)>, passive: Vec<(VarId, Expr)>, constrain: Expr| {
        Op::Assign(Assign { active, passive, constrain })
    };
    let spawn = |callee| Op::Spawn(crate::Spawn { callee, args: Vec::new() });
    let call = |callee, args| Op::Call(Call { results: Vec::new(), callee, args });
    for (op, message) in [
        (assign(vec![(missing, nothing.clone())], Vec::new(), nothing.clone()), "e0: there is no variable 7"),
        (assign(Vec::new(), vec![(missing, nothing.clone())], nothing.clone()), "e0: there is no variable 7"),
        (assign(Vec::new(), Vec::new(), Expr::Var(missing)), "e0: there is no variable 7"),
        (Op::Assert(Expr::Var(missing)), "e0: there is no variable 7"),
        (call(ProcId::new(0), vec![Expr::Var(missing)]), "e0: there is no variable 7"),
        (call(ProcId::new(3), Vec::new()), "e0: there is no procedure 3"),
        (spawn(ProcId::new(3)), "e0: there is no procedure 3"),
        (Op::Fork(LocId::new(9)), "e0: there is no location L9"),
        (Op::Assert(Expr::Choice(MAX_CHOICE + 1, Ty::Bool)), "e0: the number of the choice ?1048577 is too large"),
    ] {
        let mut program = parse(text).expect("the program is well-formed");
        program.edges[EdgeId::new(0)].op = op;
        let found: Vec<String> = validate(&program).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(found, [message]);
    }
}

#[test]
fn targets_are_in_order_and_can_be_reached() {
    let text = "shared s: bool\nproc f() from L0 to L2\ne0 L0 -> L1: assert s\ne1 L1 -> L2: return\nstart f";
    let program = parse(text).expect("the program is well-formed");
    let edges = |numbers: &[usize]| numbers.iter().copied().map(EdgeId::new).collect::<Vec<_>>();
    let locs = |numbers: &[usize]| numbers.iter().copied().map(LocId::new).collect::<Vec<_>>();
    let found = |asserts: &[usize], at: &[usize], together: &[&[usize]]| {
        let together = together.iter().map(|meeting| locs(meeting)).collect();
        let target = Target { asserts: edges(asserts), locs: locs(at), together, deadlock: false };
        let broken = validate_target(&program, &target).err().unwrap_or_default();
        broken.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let order = "target: the lists are not sorted or have repetitions, or a meeting has too few locations";
    assert!(found(&[0], &[0, 1], &[&[0, 0], &[0, 1]]).is_empty());
    assert_eq!(found(&[0, 0], &[], &[]), [order]);
    assert_eq!(found(&[], &[1, 0], &[]), [order]);
    assert_eq!(found(&[], &[], &[&[1, 0]]), [order]);
    assert_eq!(found(&[], &[], &[&[0]]), [order]);
    assert_eq!(found(&[1], &[], &[]), ["target: e1 is not an assertion"]);
    assert_eq!(found(&[5], &[], &[]), ["target: e5 is not an assertion"]);
    assert_eq!(found(&[], &[2], &[]), ["target: no thread can be at L2"]);
    assert_eq!(found(&[], &[], &[&[0, 8]]), ["target: no thread can be at L8"]);
}

/// Returns the messages about an assignment to a variable of 8 bits.
fn machine_messages(rhs: &str) -> Vec<String> {
    let text = format!("shared x: u8, y: i8, b: bool\nproc f() from L0 to L1\nL0 -> L0: x := {rhs}");
    validate(&parse(&text).unwrap()).err().unwrap_or_default().into_iter().map(|invalid| invalid.message).collect()
}

#[test]
fn machine_integers_are_of_one_type() {
    let expected = |found: &str, due: &str| vec![format!("an expression of type {found}, but {due} is expected")];
    let (u8, i8) = ("Machine(MachineTy { bits: 8, signed: false })", "Machine(MachineTy { bits: 8, signed: true })");
    for rhs in ["u8.add(x, ?0:u8)", "i8.u8(y)", "if i8.lt(y, y) then x else 3:u8", "let #0 = x in u8.mul(#0, #0)"] {
        assert_eq!(machine_messages(rhs), Vec::<String>::new(), "{rhs}");
    }
    assert_eq!(machine_messages("y"), expected(i8, u8));
    assert_eq!(machine_messages("u8.add(x, y)"), expected(i8, u8));
    assert_eq!(machine_messages("u8.i8(x)"), expected(i8, u8));
    assert_eq!(machine_messages("i8.u8(x)"), expected(u8, i8));
    assert_eq!(machine_messages("u8.lt(x, x)"), expected("Bool", u8));
    assert_eq!(machine_messages("if x = y then x else x"), expected(i8, u8));
    assert_eq!(machine_messages("u8.and(x, b & b)"), expected("Bool", u8));
    assert_eq!(machine_messages("3"), expected("Int", u8));
}

#[test]
fn shared_parts_have_types_and_definitions() {
    let undefined = |number: u32| vec![format!("the part #{number} is not defined here")];
    assert_eq!(
        machine_messages("let #0 = x; #1 = u8.add(#0, x); #0 = b in if #0 then #1 else x"),
        Vec::<String>::new()
    );
    assert_eq!(machine_messages("if #3 then x else x"), undefined(3));
    assert_eq!(machine_messages("let #0 = #1 & b; #1 = b in if #0 & #1 then x else x"), undefined(1));
    assert_eq!(machine_messages("u8.add(let #0 = x in #0, if #0 then x else x)"), undefined(0));
    let outer = "let #0 = x in if (let #0 = b in #0) then #0 else u8.add(#0, let #0 = u8.i8(x) in i8.u8(#0))";
    assert_eq!(machine_messages(outer), Vec::<String>::new());
    assert_eq!(machine_messages("let #0 = b in #0").len(), 1);
    assert_eq!(machine_messages("if (let #0 = x in #0) = x then x else x"), Vec::<String>::new());
}

#[test]
fn widths_and_constants_are_in_range() {
    let mut program = parse("shared x: u8\nproc f() from L0 to L1\nL0 -> L0: x := 3:u8").unwrap();
    let Op::Assign(assign) = &mut program.edges[0].op else { panic!("an assignment was written") };
    assign.active[0].1 = Expr::Machine(crate::MachineTy::unsigned(8), 256);
    assert_eq!(validate(&program).unwrap_err()[0].message, "a constant beyond the type u8");
    program.vars[0].ty = Ty::Machine(crate::MachineTy::unsigned(65));
    let message = "a machine integer of 65 bits: there are those of 1 to 64";
    assert_eq!(validate(&program).unwrap_err()[0].message, message);
}

/// The number behind the last one is that of nothing, and so are all greater ones.
#[test]
fn numbers_are_those_of_what_there_is() {
    let program =
        parse("shared x: bool\nproc f() from L0 to L1\nlocal l: bool\nL0 -> L0: x := l\nL0 -> L1: return\nstart f");
    let program = program.unwrap();
    let first = |change: &dyn Fn(&mut Program, usize), more: usize| {
        let mut wrong = program.clone();
        change(&mut wrong, more);
        validate(&wrong).err().map(|invalid| invalid[0].message.clone())
    };
    let var: &dyn Fn(&mut Program, usize) = &|program, more| {
        let Op::Assign(assign) = &mut program.edges[0].op else { panic!("an assignment was written") };
        assign.active[0].1 = Expr::Var(VarId::new(1 + more));
    };
    let proc: &dyn Fn(&mut Program, usize) = &|program, more| program.entries[0].proc = ProcId::new(more);
    let loc: &dyn Fn(&mut Program, usize) = &|program, more| program.edges[0].op = Op::Fork(LocId::new(more));
    assert_eq!([first(var, 0), first(proc, 0), first(loc, 0)], [None, None, None]);
    for more in [1, 7] {
        assert_eq!(first(var, more), Some(format!("there is no variable {}", 1 + more)));
        assert_eq!(first(proc, more), Some(format!("there is no procedure {more}")));
        assert_eq!(first(loc, 1 + more), Some(format!("there is no location L{}", 1 + more)));
    }
}

#[test]
fn steps_ensure_conditions_on_what_the_thread_sees() {
    for edge in [
        "L2 -> L2: a, c := call g(a, c) ensures a & s",
        "L2 -> L2: assert a ensures !a",
        "L2 -> L2: t$ := F constrain !t$ ensures s",
    ] {
        assert_eq!(messages(edge), Vec::<String>::new(), "{edge}");
    }
    let nothing = "e2: an operation that cannot ensure anything";
    check("L2 -> L2: a := T ensures a", nothing);
    check("L2 -> L3: end ensures a", nothing);
    check("L2 -> L2: assert a ensures ?0", "e2: a choice in what a step ensures");
    check("L2 -> L2: assert a ensures l", "e2: `l` (variable 5) is not visible here");
    assert_eq!(messages("L2 -> L2: assert a ensures c").len(), 1);
    assert_eq!(messages("L2 -> L2: assert a ensures a'").len(), 1);
}

#[test]
fn choices_are_of_types_that_there_are() {
    let mut program = parse("shared x: u8\nproc f() from L0 to L1\nL0 -> L0: x := ?0:u8").unwrap();
    let ty = Ty::Machine(crate::MachineTy::unsigned(65));
    let Op::Assign(assign) = &mut program.edges[0].op else { panic!("an assignment was written") };
    assign.active[0].1 = Expr::Choice(0, ty);
    let message = "a machine integer of 65 bits: there are those of 1 to 64";
    let found = validate(&program).unwrap_err();
    assert!(found.iter().any(|invalid| invalid.message == message), "{found:?}");
}

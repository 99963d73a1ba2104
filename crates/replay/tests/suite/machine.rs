//! Machine integers: what the interpreter computes, and certificates about programs with them.

use selvedge_check::{BitProof, Certificate, Paths, Run, Task, ThreadScope};
use selvedge_ir::bits::{Range, Rest};
use selvedge_ir::passes::blast;
use selvedge_ir::text::parse;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId};
use selvedge_ir::validate::validate;
use selvedge_ir::{
    Assign, EdgeId, EntryId, Expr, LocId, MachineOp, MachineTy, Op, Program, Target, Value, VarId, machine,
};
use selvedge_replay::certificate::{Flaw, Refused, verify};
use selvedge_replay::interpreter::Illegal;
use selvedge_replay::{Interpreter, Outcome};

fn program(text: &str) -> Program {
    let program = parse(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

/// The program that computes an operator of two variables with any values.
fn operator(name: &str, ty: MachineTy, result: &str) -> Program {
    program(&format!(
        "shared x: {ty}, y: {ty}, z: {result}\nproc f() from L0 to L2\nL0 -> L1: z := {ty}.{name}(x, y)\n\
         L1 -> L2: return\nstart f"
    ))
}

fn result_type(op: MachineOp, ty: MachineTy) -> String {
    if op.compares() { "bool".to_string() } else { ty.to_string() }
}

fn first_step() -> Step {
    let (thread, edge) = (ThreadId(0), EdgeId::new(0));
    Step { thread, edge, choices: Vec::new(), passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn start(fresh: Vec<(VarId, Value)>) -> Start {
    let threads = vec![StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() }];
    Start { choices: Vec::new(), fresh, threads }
}

/// The value of `z` after the first step.
fn executed(program: &Program, ty: MachineTy, x: u64, y: u64) -> Value {
    let interpreter = Interpreter::new(program, ThreadScope::Unbounded);
    let fresh = vec![(VarId::new(0), Value::Machine(ty, x)), (VarId::new(1), Value::Machine(ty, y))];
    let state = interpreter.start(&start(fresh)).expect("the start is legal");
    match interpreter.step(&state, &first_step()) {
        Ok(Outcome::Next(next)) => next.shared[2],
        other => panic!("no state, but {other:?}"),
    }
}

/// The judge and the passes compute by code of their own.
#[test]
fn the_interpreter_computes_as_the_passes_do() {
    for bits in [1, 2, 3, 4, 32, 64] {
        for ty in [MachineTy::signed(bits), MachineTy::unsigned(bits)] {
            let special = [0, 1, 2, 31, 64, ty.mask() >> 1, (ty.mask() >> 1) + 1, ty.mask() - 1, ty.mask()];
            let few: Vec<u64> =
                if bits < 5 { (0..1 << bits).collect() } else { special.map(|value| value & ty.mask()).to_vec() };
            for (op, name) in MachineOp::ALL {
                let program = operator(name, ty, &result_type(op, ty));
                for (x, y) in few.iter().flat_map(|x| few.iter().map(move |y| (*x, *y))) {
                    let expected = machine::binary(op, ty, x, y);
                    assert_eq!(executed(&program, ty, x, y), expected, "{ty}.{name}({x}, {y})");
                }
            }
        }
    }
}

#[test]
fn values_with_bits_beyond_their_type_are_illegal() {
    let ty = MachineTy::unsigned(3);
    let program = operator("add", ty, "u3");
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let begun = |value| interpreter.start(&start(vec![(VarId::new(0), value)]));
    assert!(begun(Value::Machine(ty, 7)).is_ok());
    for value in [Value::Machine(ty, 8), Value::Machine(MachineTy::signed(3), 1), Value::Int(1), Value::Bool(true)] {
        assert_eq!(begun(value).err(), Some(Illegal::WrongFresh(VarId::new(0))), "{value:?}");
    }
}

#[test]
fn shared_parts_are_computed_in_their_scopes() {
    let program = program(
        "shared x: u8, y: u8, z: u8\nproc f() from L0 to L2\n\
         L0 -> L1: z := let #0 = u8.add(x, y); #1 = u8.mul(#0, #0) in u8.add(#1, let #0 = x in u8.sub(#0, #1))\n\
         L1 -> L2: return\nstart f",
    );
    let ty = MachineTy::unsigned(8);
    assert_eq!(executed(&program, ty, 20, 30), Value::Machine(ty, 20));
}

#[test]
fn all_values_of_narrow_types_are_listed() {
    let listed = |text: &str| {
        let program = program(text);
        let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
        interpreter.enumerable().map(|()| interpreter.starts(1).count())
    };
    let with =
        |ty: &str| listed(&format!("shared x: {ty}, b: bool\nproc f() from L0 to L1\nL0 -> L1: return\nstart f"));
    assert_eq!((with("u3"), with("i5")), (Ok(16), Ok(64)));
    assert!(with("u17").unwrap_err().contains("u17"));
    let chosen =
        "shared x: u32\ninit x := 0:u32\nproc f() from L0 to L1\nL0 -> L0: x := ?0:u32\nL0 -> L1: return\nstart f";
    assert!(listed(chosen).unwrap_err().contains("chooses any value of type u32"));
    assert_eq!(listed(&chosen.replace("x := ?0:u32", "x := u32.add(x, 1:u32)")), Ok(1));
}

/// The proof over bits of a program without target.
fn trivial(program: &Program) -> BitProof {
    let blasted = blast::run(program).expect("it can be written over bits");
    let certificate = Certificate::ControlFlow(blasted.program.locs.indices().collect());
    BitProof { program: blasted.program, map: blasted.lift.map, certificate }
}

fn judged(program: &Program, target: &Target, proof: BitProof) -> Result<(), Refused> {
    let task = Task { program, target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::OverBits(Box::new(proof)), &Run::unlimited()).map(drop)
}

/// The circuits of the judge are compared with those of the pass, for all values.
#[test]
fn circuits_of_the_judge_are_those_of_the_pass() {
    for bits in [1, 2, 3, 5] {
        for ty in [MachineTy::signed(bits), MachineTy::unsigned(bits)] {
            for (op, name) in MachineOp::ALL {
                let program = operator(name, ty, &result_type(op, ty));
                assert_eq!(judged(&program, &Target::default(), trivial(&program)), Ok(()), "{ty}.{name}");
            }
        }
    }
    for (from, to) in [("i5", "u9"), ("u5", "i9"), ("i9", "u4"), ("u9", "i3")] {
        let program = program(&format!(
            "shared x: {from}, z: {to}\nproc f() from L0 to L2\nL0 -> L1: z := {from}.{to}(x)\n\
             L1 -> L2: return\nstart f"
        ));
        assert_eq!(judged(&program, &Target::default(), trivial(&program)), Ok(()), "{from}.{to}");
    }
}

/// Both branches of a conditional, and a range of shared values that threads begin with.
#[test]
fn values_that_depend_on_others_have_their_bits() {
    for text in [
        "shared b: bool, x: u3, y: u3, z: u3\nproc f() from L0 to L2\n\
         L0 -> L1: z := if b then x else u3.add(y, 1:u3)\nL1 -> L2: return\nstart f",
        "shared s: u4, z: u4\nthread t: u4\ninit s := if ?0 then 1:u4 else 2:u4, z := 0:u4\nproc f() from L0 to L2\n\
         L0 -> L1: z := t\nL1 -> L2: return\nstart f: f exactly 2 with t init t := s",
    ] {
        let program = program(text);
        assert_eq!(judged(&program, &Target::default(), trivial(&program)), Ok(()), "{text}");
    }
}

/// Bits that are written where their variable is not are noticed.
#[test]
fn a_step_over_bits_writes_nothing_more() {
    let program = program(
        "shared n: u2\nproc f() from L0 to L2\nL0 -> L1: skip\nL1 -> L1: n := u2.add(n, 1:u2)\nL1 -> L2: return\n\
         start f",
    );
    let mut proof = trivial(&program);
    let bits = proof.map.vars[VarId::new(0)].bits.clone();
    let writes = bits.iter().map(|bit| (*bit, Expr::TRUE)).collect();
    proof.program.edges[EdgeId::new(0)].op = Op::Assign(Assign { active: writes, ..Assign::assume(Expr::TRUE) });
    assert_eq!(judged(&program, &Target::default(), proof), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
}

/// A wrong operator over bits is noticed, whatever it is.
#[test]
fn another_operator_over_bits_is_a_flaw() {
    let ty = MachineTy::signed(3);
    for (op, name) in MachineOp::ALL {
        for (other_op, other) in MachineOp::ALL.into_iter().filter(|(_, other)| *other != name) {
            if other_op.compares() == op.compares() {
                let program = operator(name, ty, &result_type(op, ty));
                let mut proof = trivial(&program);
                proof.program = trivial(&operator(other, ty, &result_type(op, ty))).program;
                let refused = judged(&program, &Target::default(), proof);
                assert!(matches!(refused, Err(Refused::Flawed(_))), "{name} as {other}: {refused:?}");
            }
        }
    }
}

const COUNTER: &str = "shared n: i32\ninit n := 0:i32\nproc f() from L0 to L5\nlocal i: i32\nL0 -> L1: i := 0:i32\n\
    L1 -> L2: assume i32.lt(i, 5:i32)\nL2 -> L1: i := call g(i)\nL1 -> L3: assume !i32.lt(i, 5:i32)\n\
    L3 -> L4: assert i32.le(i, 5:i32)\nL4 -> L5: return\nproc g(p: i32) returns i32 from L6 to L7\n\
    L6 -> L7: return i32.add(p, 1:i32)\nstart f";

/// A program with a loop, a call and narrow ranges, and its proof by induction over bits.
fn counter() -> (Program, Target, BitProof) {
    let program = program(COUNTER);
    let target = Target::all_asserts(&program);
    let proof = BitProof { certificate: Certificate::Induction { k: 30, paths: Paths::All }, ..trivial(&program) };
    (program, target, proof)
}

#[test]
fn a_proof_over_bits_is_accepted() {
    let (program, target, proof) = counter();
    let n_bits = |name: &str| proof.map.vars[program.vars.iter().position(|var| var.name == name).unwrap()].bits.len();
    assert_eq!((n_bits("n"), n_bits("i"), n_bits("p")), (0, 3, 3));
    assert_eq!(judged(&program, &target, proof), Ok(()));
}

/// Each change makes the relation between the program and the one over bits wrong.
#[test]
fn a_wrong_relation_is_a_flaw() {
    let i = VarId::new(1);
    type Change = fn(&mut BitProof);
    let changes: [(&str, Change); 12] = [
        ("a bit less", |proof| proof.map.vars[VarId::new(1)].bits.truncate(2)),
        ("bits in another order", |proof| proof.map.vars[VarId::new(1)].bits.swap(0, 1)),
        ("copies of the highest bit", |proof| proof.map.vars[VarId::new(1)].rest = Rest::Sign),
        ("another constant above", |proof| proof.map.vars[VarId::new(1)].rest = Rest::Constant(8)),
        ("another constant", |proof| proof.map.vars[VarId::new(0)].rest = Rest::Constant(1)),
        ("a range that is too small", |proof| proof.map.ranges.vars[VarId::new(0)] = Range::Values(vec![1])),
        ("a location that is reached", |proof| proof.map.ranges.locs[LocId::new(3)] = None),
        ("a result that is too small", |proof| {
            proof.map.ranges.results[selvedge_ir::ProcId::new(1)][0] = Range::Interval(1, 4);
        }),
        ("fewer bits of a result", |proof| proof.map.results[selvedge_ir::ProcId::new(1)][0].n_bits -= 1),
        ("an assignment of nothing", |proof| proof.program.edges[EdgeId::new(0)].op = Op::skip()),
        ("a condition", |proof| {
            proof.program.edges[EdgeId::new(0)].op = Op::Assign(Assign::assume(Expr::FALSE));
        }),
        ("an assertion that fails", |proof| proof.program.edges[EdgeId::new(4)].op = Op::Assert(Expr::FALSE)),
    ];
    for (name, change) in changes {
        let (program, target, mut proof) = counter();
        assert_eq!(program.vars[i].name, "i");
        change(&mut proof);
        let refused = judged(&program, &target, proof);
        assert!(matches!(refused, Err(Refused::Flawed(_))), "{name}: {refused:?}");
    }
}

/// An assertion over bits must fail where the assertion fails, and only there.
#[test]
fn another_assertion_over_bits_is_a_flaw() {
    let program =
        program("shared x: u4\nproc f() from L0 to L2\nL0 -> L1: assert u4.lt(x, 9:u4)\nL1 -> L2: return\nstart f");
    let with = |condition: Expr| {
        let mut proof = trivial(&program);
        proof.program.edges[EdgeId::new(0)].op = Op::Assert(condition);
        judged(&program, &Target::default(), proof)
    };
    assert_eq!(judged(&program, &Target::default(), trivial(&program)), Ok(()));
    for condition in [Expr::TRUE, Expr::FALSE, Expr::negate(Expr::Var(VarId::new(3)))] {
        assert!(matches!(with(condition.clone()), Err(Refused::Flawed(_))), "{condition:?}");
    }
}

#[test]
fn ranges_without_a_local_are_not_enough() {
    let (program, target, mut proof) = counter();
    for ranges in proof.map.ranges.locs.iter_mut().flatten() {
        ranges.clear();
    }
    let refused = judged(&program, &target, proof);
    assert!(matches!(refused, Err(Refused::Flawed(_))), "{refused:?}");
}

#[test]
fn choices_are_made_bit_by_bit() {
    let program = program(
        "shared x: u3, b: bool\ninit x := ?1:u3, b := ?0\nproc f() from L0 to L2\n\
         L0 -> L1: x := ?0:u3, b := ?1 constrain u3.lt(?0:u3, 6:u3)\nL1 -> L2: return\nstart f",
    );
    assert_eq!(judged(&program, &Target::default(), trivial(&program)), Ok(()));
    for place in [0, 1] {
        let mut proof = trivial(&program);
        proof.map.edges[EdgeId::new(0)][place].bits.fill(None);
        assert!(matches!(judged(&program, &Target::default(), proof), Err(Refused::Flawed(_))));
    }
    let mut proof = trivial(&program);
    proof.map.init[1].bits.reverse();
    assert!(matches!(judged(&program, &Target::default(), proof), Err(Refused::Flawed(_))));
}

#[test]
fn a_proof_about_machine_integers_without_bits_is_out_of_scope() {
    let (program, target, proof) = counter();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let refused = verify(&task, &proof.certificate, &Run::unlimited());
    assert!(matches!(refused, Err(Refused::Flawed(_))), "{refused:?}");
}

/// A program with machine integers that starts threads in both ways and ends them.
const STARTS: &str = "shared n: u4\ninit n := 0:u4\nproc main() from L0 to L4\nlocal i: u4\n\
    L0 -> L1: i := ?0:u4 constrain u4.lt(?0:u4, 3:u4)\n\
    L1 -> L2: spawn work(u4.add(i, 1:u4))\nL2 -> L3: fork L5\nL3 -> L4: return\n\
    L5 -> L6: n := u4.add(n, i)\nL6 -> L4: end\n\
    proc work(p: u4) from L7 to L9\nL7 -> L8: n := p\nL8 -> L9: end\nstart main";

#[test]
fn started_threads_have_their_bits() {
    let program = program(STARTS);
    let with = |change: &dyn Fn(&mut BitProof)| {
        let mut proof = trivial(&program);
        change(&mut proof);
        judged(&program, &Target::default(), proof)
    };
    assert_eq!(with(&|_| ()), Ok(()));
    let malformed = Err(Flaw::Malformed(None).into());
    let not_closed = |edge: usize| Err(Flaw::NotClosed(EdgeId::new(edge)).into());
    assert_eq!(
        with(&|proof| match &mut proof.program.edges[EdgeId::new(1)].op {
            Op::Spawn(spawn) => spawn.args[0] = Expr::negate(spawn.args[0].clone()),
            other => panic!("no spawn: {other:?}"),
        }),
        not_closed(1)
    );
    assert_eq!(
        with(&|proof| match &mut proof.program.edges[EdgeId::new(1)].op {
            Op::Spawn(spawn) => spawn.callee = selvedge_ir::ProcId::new(0),
            other => panic!("no spawn: {other:?}"),
        }),
        malformed
    );
    assert_eq!(with(&|proof| proof.program.edges[EdgeId::new(2)].op = Op::Fork(LocId::new(3))), malformed);
    assert_eq!(with(&|proof| proof.program.edges[EdgeId::new(2)].op = Op::End), malformed);
    let range_at = |loc: usize, range: Option<Range>| {
        with(&|proof| {
            let ranges = &mut proof.map.ranges.locs[LocId::new(loc)];
            *ranges = range.clone().map(|range| vec![(VarId::new(1), range)]);
        })
    };
    // The copy has the values of the one that starts it, at its own location; and it is there.
    assert_eq!(range_at(5, Some(Range::Interval(0, 2))), Ok(()));
    assert_eq!(range_at(5, Some(Range::Interval(0, 1))), not_closed(2));
    assert_eq!(range_at(5, None), not_closed(2));
    assert_eq!(range_at(7, None), not_closed(1));
    // Behind the end of a thread there is none.
    assert_eq!(range_at(9, None), Ok(()));
    assert_eq!(range_at(8, None), not_closed(6));
}

/// The widest numbers whose values are listed, and one bit more, wherever a variable or a choice of a type can be.
#[test]
fn numbers_with_too_many_values_are_found_everywhere() {
    let texts = [
        "shared x: TY\nproc f() from L0 to L1\nL0 -> L1: return\nstart f",
        "shared x: TY\ninit x := ?0:TY\nproc f() from L0 to L1\nL0 -> L1: return\nstart f",
        "shared x: TY\ninit x := 0:TY\nproc f() from L0 to L1\nL0 -> L0: x := ?0:TY\nL0 -> L1: return\nstart f",
        "thread x: TY\nproc f() from L0 to L1\nL0 -> L1: return\nstart f: f exactly 1 with x",
        "thread x: TY\nproc f() from L0 to L1\nL0 -> L1: return\nstart f: f exactly 1 with x init x := ?0:TY",
        "proc f() from L0 to L1\nlocal x: TY\nL0 -> L1: return\nstart f",
        "proc f() from L0 to L2\nL0 -> L1: call g()\nL1 -> L2: return\nproc g() from L3 to L4\nlocal x: TY\n\
         L3 -> L4: return\nstart f",
        "proc f() from L0 to L2\nL0 -> L1: spawn g()\nL1 -> L2: return\nproc g() from L3 to L4\nlocal x: TY\n\
         L3 -> L4: return\nstart f",
    ];
    for text in texts {
        let listed = |ty: &str| {
            let program = program(&text.replace("TY", ty));
            Interpreter::new(&program, ThreadScope::Unbounded).enumerable().is_ok()
        };
        assert!(listed("u16") && listed("i16") && !listed("u17") && !listed("i64"), "{text}");
    }
}

/// A local that is only read as a new value that its step does not assign matters before the step; one that the step
/// assigns does not, nor one that a call assigns.
#[test]
fn what_is_read_later_must_have_its_bits() {
    let with = |text: &str, change: &dyn Fn(&mut BitProof)| {
        let program = program(text);
        let mut proof = trivial(&program);
        change(&mut proof);
        judged(&program, &Target::default(), proof)
    };
    let next = "shared n: u4\ninit n := 0:u4\nproc f() from L0 to L3\nlocal i: u4\n\
        L0 -> L1: i := ?0:u4 constrain u4.lt(?0:u4, 3:u4)\nL1 -> L2: n := 1:u4 constrain u4.lt(i', 2:u4)\n\
        L2 -> L3: return\nstart f";
    assert_eq!(with(next, &|_| ()), Ok(()));
    let lost = with(next, &|proof| match &mut proof.program.edges[EdgeId::new(0)].op {
        Op::Assign(assign) => assign.active.iter_mut().for_each(|(_, rhs)| *rhs = Expr::TRUE),
        other => panic!("no assignment: {other:?}"),
    });
    assert_eq!(lost, Err(Flaw::NotClosed(EdgeId::new(0)).into()));
    let assigned = "proc f() from L0 to L2\nlocal i: u4\n\
    L0 -> L1: i := ?0:u4 constrain u4.lt(i', 3:u4)\n\
        L1 -> L2: assert u4.lt(i, 3:u4)\nL2 -> L2: skip\nstart f";
    let assigned = assigned.replace("from L0 to L2", "from L0 to L3");
    assert_eq!(with(&assigned, &|_| ()), Ok(()));
    let called = "proc f() from L0 to L3\nlocal i: u4\nL0 -> L1: i := call g()\nL1 -> L2: assert u4.lt(i, 3:u4)\n\
        L2 -> L2: skip\nproc g() returns u4 from L4 to L5\nL4 -> L5: return 2:u4\nstart f";
    assert_eq!(with(called, &|_| ()), Ok(()));
}

use super::*;
use crate::eval::eval;
use crate::machine;
use crate::simplify::size;
use crate::syntax::{EdgeId, MachineOp, MachineTy, Value};
use crate::text::{parse, print};
use crate::validate::validate;

/// Blasts a program, which must be valid before and after.
fn blasted(text: &str) -> Blasted {
    let program = parse(text).unwrap();
    assert_eq!(validate(&program), Ok(()), "{text}");
    let blasted = run(&program).unwrap();
    assert_eq!(validate(&blasted.program), Ok(()), "{}", print(&blasted.program));
    assert!(!blasted.program.has_machine_integers());
    assert_eq!(parse(&print(&blasted.program)), Ok(blasted.program.clone()));
    blasted
}

/// The program that computes an operator of two variables, which may start with any value, in a type that may be another.
fn operator(op: &str, of: MachineTy, ty: MachineTy, result: Ty) -> Blasted {
    let operand = |name: &str| if of == ty { name.to_string() } else { format!("{of}.{ty}({name})") };
    blasted(&format!(
        "shared x: {of}, y: {of}, z: {result}\nproc f() from L0 to L1\n\
         L0 -> L0: z := {ty}.{op}({}, {})\nL0 -> L1: return\nstart f",
        operand("x"),
        operand("y")
    ))
}

/// Computes the new value of `z` from those of `x` and `y`.
fn computed(blasted: &Blasted, x: u64, y: u64) -> u64 {
    let Op::Assign(assign) = &blasted.program.edges[EdgeId::new(0)].op else { panic!("an assignment was written") };
    let leaf = |leaf: &Expr| {
        let (old, place) = blasted.lift.origin[leaf.var().unwrap()];
        Value::Bool([x, y][old.index()] >> place & 1 == 1)
    };
    let bit = |(_, rhs): &(VarId, Expr)| u64::from(eval(rhs, &leaf) == Ok(Value::Bool(true)));
    assign.active.iter().rev().fold(0, |bits, assigned| bits << 1 | bit(assigned))
}

fn check(ty: MachineTy, values: &[(u64, u64)]) {
    check_converted(ty, ty, values);
}

fn check_converted(of: MachineTy, ty: MachineTy, values: &[(u64, u64)]) {
    for (op, name) in MachineOp::ALL {
        let result = if op.compares() { Ty::Bool } else { Ty::Machine(ty) };
        let blasted = operator(name, of, ty, result);
        for (x, y) in values {
            let converted = |value: u64| machine::cast(of, ty, value).number() as u64 & ty.mask();
            let expected = match machine::binary(op, ty, converted(*x), converted(*y)) {
                Value::Machine(_, bits) => bits,
                value => u64::from(value == Value::Bool(true)),
            };
            assert_eq!(computed(&blasted, *x, *y), expected, "{ty}.{name}({x}, {y})");
        }
    }
}

#[test]
fn circuits_compute_what_the_operators_do() {
    for bits in 1..=4 {
        let all: Vec<(u64, u64)> = (0..1 << bits).flat_map(|x| (0..1 << bits).map(move |y| (x, y))).collect();
        check(MachineTy::signed(bits), &all);
        check(MachineTy::unsigned(bits), &all);
    }
}

#[test]
fn circuits_of_converted_numbers_compute_what_the_operators_do() {
    let all: Vec<(u64, u64)> = (0..8).flat_map(|x| (0..8).map(move |y| (x, y))).collect();
    for of in [MachineTy::signed(3), MachineTy::unsigned(3)] {
        for ty in [MachineTy::signed(4), MachineTy::unsigned(5), MachineTy::signed(7), MachineTy::unsigned(9)] {
            check_converted(of, ty, &all);
        }
    }
}

#[test]
fn quotients_of_converted_numbers_are_small() {
    let program =
        operator("div", MachineTy::signed(3), MachineTy::signed(64), Ty::Machine(MachineTy::signed(64))).program;
    let gates = program.exprs().map(size).max().unwrap();
    assert!(gates < 500, "{gates}");
}

#[test]
fn wide_circuits_compute_what_the_operators_do() {
    let mut state = 7_u64;
    let mut next = |mask: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.rotate_left((state >> 58) as u32) & mask
    };
    for ty in [MachineTy::signed(16), MachineTy::unsigned(17), MachineTy::signed(32)] {
        let mut values =
            vec![(ty.mask(), ty.mask()), (ty.mask() ^ (ty.mask() >> 1), ty.mask()), (5, 0), (ty.mask(), 0)];
        values.extend((0..6).map(|_| (next(ty.mask()), next(ty.mask()))));
        values.extend((0..4).map(|_| (next(ty.mask()), next(31) & ty.mask())));
        check(ty, &values);
    }
}

#[test]
fn shared_parts_keep_circuits_small() {
    let n_gates = |op: &str, bits: u8| {
        let ty = MachineTy::signed(bits);
        let program = operator(op, ty, ty, Ty::Machine(ty)).program;
        program.exprs().map(size).max().unwrap()
    };
    // Each bit of a sum has the carries of all lower ones: its size is linear in the place.
    assert!(n_gates("add", 32) < 32 * 15, "{}", n_gates("add", 32));
    assert!(n_gates("add", 64) < 64 * 15, "{}", n_gates("add", 64));
    assert!(n_gates("mul", 32) < 32 * 32 * 15, "{}", n_gates("mul", 32));
    assert!(n_gates("div", 32) < 32 * 32 * 30, "{}", n_gates("div", 32));
}

#[test]
fn ranges_give_the_number_of_bits() {
    let Blasted { program, .. } = blasted(
        "shared x: i32, y: i32, z: u64, b: bool\ninit x := 0:i32, y := -3:i32, z := 77:u64, b := F\n\
         proc f() from L0 to L4\nlocal i: i32\nL0 -> L1: i := 0:i32\nL1 -> L2: assume i32.lt(i, 10:i32)\n\
         L2 -> L1: i := i32.add(i, 1:i32), y := i32.sub(i, 3:i32)\nL1 -> L3: x := i, b := z = 77:u64\n\
         L3 -> L4: return\nstart f",
    );
    let names: Vec<&str> = program.vars.iter().map(|var| var.name.as_str()).collect();
    let expected = "x.0 y.0 b i.0 x.1 y.1 i.1 x.2 y.2 i.2 x.3 y.3 i.3";
    assert_eq!(names, expected.split(' ').collect::<Vec<_>>(), "{}", print(&program));
}

#[test]
fn new_values_that_the_condition_rejects_are_not_cut_off() {
    let Blasted { program, .. } = blasted(
        "shared x: u8\ninit x := 0:u8\nproc f() from L0 to L1\n\
         L0 -> L0: x := u8.add(x, 1:u8) constrain u8.le(x', 3:u8)\nL0 -> L1: return\nstart f",
    );
    assert_eq!(program.vars.len(), 2, "{}", print(&program));
    let Op::Assign(assign) = &program.edges[EdgeId::new(0)].op else { panic!("an assignment was written") };
    let holds = |x: u64| eval(&assign.constrain, &|leaf| Value::Bool(x >> leaf.var().unwrap().index() & 1 == 1));
    assert_eq!((holds(2), holds(3)), (Ok(Value::Bool(true)), Ok(Value::Bool(false))));
}

#[test]
fn what_cannot_be_written_over_bits_is_refused() {
    let refused = |text: &str| run(&parse(text).unwrap()).err().unwrap_or_default();
    assert!(refused("shared x: int, y: u8\nproc f() from L0 to L1\nL0 -> L1: return").contains("mathematical"));
    let many: Vec<String> = (0..100).map(|number| format!("x{number}: u64")).collect();
    let text = format!("shared {}\nproc f() from L0 to L1\nL0 -> L1: return", many.join(", "));
    assert!(refused(&text).contains("6400 Boolean variables"));
    let wide = "shared x: i64, y: i64\nproc f() from L0 to L1\nL0 -> L0: x := i64.div(x, y)\nL0 -> L1: return\nstart f";
    assert!(refused(wide).contains("operators on bits"));
    let passive = "thread t: u8\nproc f() from L0 to L1\nL0 -> L0: t$ := ?0:u8\nL0 -> L1: return\nstart f any with t";
    assert!(refused(passive).contains("other threads"));
}

#[test]
fn executions_lift_to_machine_values() {
    use crate::trace::{StartThread, Step, ThreadId, Trace};
    let blasted =
        blasted("shared x: i8\nproc f() from L0 to L1\nL0 -> L0: x := ?1:i8 constrain ?0\nL0 -> L1: return\nstart f");
    let bits = |bits: u64| (0..8).map(move |place| Value::Bool(bits >> place & 1 == 1));
    let fresh = bits(0xfe).enumerate().map(|(place, value)| (VarId::new(place), value)).collect();
    let choices = [Value::Bool(true)].into_iter().chain(bits(0x81)).collect();
    let step =
        Step { thread: ThreadId(0), edge: EdgeId::new(0), choices, passive: Vec::new(), fresh: Vec::new(), body: None };
    let mut trace = Trace { steps: vec![step], ..Trace::default() };
    trace.start.fresh = fresh;
    trace.start.threads = vec![StartThread { entry: 0.into(), choices: Vec::new(), fresh: Vec::new() }];
    let lifted = blasted.lift.trace(&trace);
    let i8 = MachineTy::signed(8);
    assert_eq!(lifted.start.fresh, [(VarId::new(0), Value::Machine(i8, 0xfe))]);
    assert_eq!(lifted.steps[0].choices, [Value::Bool(true), Value::Machine(i8, 0x81)]);
}

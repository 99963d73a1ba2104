use super::*;
use crate::text::parse;
use crate::validate::validate;

/// Checks the bounds of variables of a program.
fn check(text: &str, expected: &[(&str, (i128, i128))]) {
    let program = parse(text).unwrap();
    assert_eq!(validate(&program), Ok(()));
    let ranges = Ranges::of(&program);
    for (name, bounds) in expected {
        let var = program.vars.iter().position(|var| var.name == *name).unwrap();
        assert_eq!(ranges.get(VarId::new(var)).bounds(), Some(*bounds), "{name}");
    }
}

#[test]
fn a_counted_loop_bounds_its_counter() {
    check(
        "shared n: i32\ninit n := 0:i32\nproc f() from L0 to L5\nlocal i: i32\nL0 -> L1: i := 0:i32\n\
         L1 -> L2: assume i32.lt(i, 10:i32)\nL2 -> L1: i := i32.add(i, 1:i32)\n\
         L1 -> L3: assume !i32.lt(i, 10:i32)\nL3 -> L4: n := i\nL4 -> L5: return\nstart f exactly 2",
        &[("i", (0, 10)), ("n", (0, 10))],
    );
}

#[test]
fn shared_variables_hold_what_any_thread_writes() {
    check(
        "shared x: u8, y: u8\ninit x := 0:u8, y := 1:u8\nproc f() from L0 to L2\n\
         L0 -> L1: x := u8.add(x, 2:u8) constrain u8.lt(x, 5:u8)\nL1 -> L2: return\n\
         proc g() from L3 to L5\nL3 -> L4: y := u8.mul(x, 3:u8)\nL4 -> L5: return\nstart f any\nstart g",
        &[("x", (0, 6)), ("y", (0, 18))],
    );
}

#[test]
fn without_a_bound_the_type_is_the_range() {
    check(
        "shared x: u8\ninit x := 0:u8\nproc f() from L0 to L2\nlocal l: i8\nL0 -> L1: assume i8.lt(l, 3:i8)\n\
         L1 -> L0: x := u8.add(x, 1:u8)\nstart f",
        &[("x", (0, 255)), ("l", (-128, 127))],
    );
}

#[test]
fn values_flow_through_calls() {
    check(
        "shared x: u16\ninit x := 0:u16\nproc f() from L0 to L4\nlocal r: u16\nL0 -> L1: r := call g(7:u16)\n\
         L1 -> L2: r := call g(9:u16)\nL2 -> L3: x := r\nL3 -> L4: return\n\
         proc g(p: u16) returns u16 from L5 to L6\nL5 -> L6: return u16.add(p, 1:u16)\nstart f",
        &[("p", (7, 9)), ("r", (8, 10)), ("x", (0, 10))],
    );
}

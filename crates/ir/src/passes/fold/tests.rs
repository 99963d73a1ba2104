use super::*;
use crate::passes::testing;
use crate::syntax::Value;
use crate::text::print_with_target;

fn check(before: &str, after: &str) -> Passed {
    testing::check(run, before, after)
}

/// Folds one step of a program with a few variables that vary.
fn check_step(before: &str, after: &str) -> Vec<Source> {
    let text = |op: &str| {
        format!("shared a, b: bool, n: int\nproc f() from L0 to L2\nL0 -> L1: {op}\nL1 -> L2: return\nstart f\n")
    };
    check(&text(before), &text(after)).lift.edges[0][0].choices.clone()
}

#[test]
fn steps_are_simplified() {
    check_step("a := b & T, n := 1 + 2", "a := b, n := 3");
    check_step("a := a | a", "skip");
    check_step("a := T constrain a' & (b' = b)", "a := T");
    check_step("a := b constrain a' & !(n' < n)", "a := T constrain b");
    check_step("a := b & (n < 3) constrain a' => b", "a := b & (n < 3) constrain a' => b");
    check_step("b := a & b constrain a", "assume a");
    check_step("b := a & b, n := n + 1 constrain a & n = 2", "n := 3 constrain a & (n = 2)");
}

#[test]
fn choices_that_vanish_are_lifted_to_values() {
    let kept = |number| Source::Choice(number);
    let value = |value| Source::Value(Value::Bool(value));
    assert_eq!(check_step("a := (?0 & F) | ?1", "a := ?0"), [value(false), kept(0)]);
    assert_eq!(check_step("assume ?0 & !?1", "skip"), [value(true), value(false)]);
    assert_eq!(
        check_step("a := ?0, b := ?2 constrain a' & ?2 = ?1", "a := T, b := ?1 constrain ?1 = ?0"),
        [value(true), kept(0), kept(1)]
    );
    assert_eq!(check_step("n := ?0:int constrain n' = 7", "n := 7"), [Source::Value(Value::Int(7))]);
    assert_eq!(check_step("n := ?1:int", "n := ?0:int"), [value(false), kept(0)]);
}

#[test]
fn steps_with_other_threads_stay() {
    let text = "thread t: bool\nproc f() from L0 to L1\nL0 -> L0: assume t$ & F\nL0 -> L0: t$ := ?0 & T\n\
                L0 -> L1: return\nstart f any with t";
    check(text, text);
}

#[test]
fn edges_that_no_state_takes_vanish_and_so_does_what_lies_behind() {
    check(
        "shared a: bool\nproc f() from L0 to L4\nL0 -> L1: assume a & !a\nL1 -> L2: assert a\nL0 -> L2: skip\n\
         L2 -> L3: call g()\nL3 -> L3: assert a\nL2 -> L4: return\nproc g() from L5 to L6\nL5 -> L5: assert a\n\
         L5 -> L6: end\nproc h() from L7 to L8\nL7 -> L8: return\nstart f\ntarget e1, e4, e6, L1, L2",
        "shared a: bool\nproc f() from L0 to L4\nloc L1\nloc L3\nL0 -> L2: skip\nL2 -> L3: call g()\nL2 -> L4: return\n\
         proc g() from L5 to L6\nL5 -> L5: assert a\nL5 -> L6: end\nproc h() from L7 to L8\nstart f\ntarget e3, L2",
    );
}

#[test]
fn assertions_that_hold_or_do_not_count_are_no_assertions() {
    check(
        "shared a: bool\nproc f() from L0 to L1\nL0 -> L0: assert a | !a\nL0 -> L0: assert a\nL0 -> L0: assert F\n\
         L0 -> L0: assert !a & ?0\nL0 -> L1: return\nstart f\ntarget e0, e2",
        "shared a: bool\nproc f() from L0 to L1\nL0 -> L0: skip\nL0 -> L0: assume a\nL0 -> L0: assert F\n\
         L0 -> L0: assume !a\nL0 -> L1: return\nstart f\ntarget e2",
    );
}

#[test]
fn variables_with_one_value_are_replaced() {
    check(
        "shared a, b, c: bool\nthread t, u: bool\ninit a := T, b := F\nproc f(p: bool) from L0 to L1\nlocal l: bool\n\
         L0 -> L0: a := !b, l := a & t & c\nL0 -> L0: b := !a | !t, c := u\nL0 -> L0: u := a constrain u'\n\
         L0 -> L1: return\nstart f exactly 2 with t, u init t := a",
        "shared a, b, c: bool\nthread t, u: bool\ninit a := T, b := F\nproc f(p: bool) from L0 to L1\nlocal l: bool\n\
         L0 -> L0: l := c\nL0 -> L0: c := u\nL0 -> L0: u := T\nL0 -> L1: return\n\
         start f exactly 2 with t, u init t := T",
    );
}

#[test]
fn one_other_value_is_enough_to_vary() {
    let text = "shared a, b, c: bool\nthread t: bool\ninit a := T, c := T\nproc f() from L0 to L1\n\
                L0 -> L0: t := a & b\nL0 -> L0: a := F\nL0 -> L0: b := T\nL0 -> L0: c := c & t\nL0 -> L1: return\n\
                start f exactly 1 with t init t := T";
    check(text, text);
}

#[test]
fn passive_assignments_count() {
    let text = "shared b: bool\nthread t: bool\nproc f() from L0 to L1\nL0 -> L0: t$ := F\nL0 -> L0: b := t\n\
                L0 -> L1: return\nstart f any with t init t := T";
    check(text, text);
}

#[test]
fn parameters_and_results_with_one_value_are_replaced() {
    check(
        "shared a, b: bool\nproc f(q: bool) from L0 to L1\nL0 -> L0: a := call g(T, q)\nL0 -> L0: spawn g(T, F)\n\
         L0 -> L1: return\nproc g(p, r: bool) returns bool from L2 to L3\nL2 -> L3: return !p\nL2 -> L2: b := p & r\n\
         L2 -> L2: _ := call g(p, r)\nstart f",
        "shared a, b: bool\nproc f(q: bool) from L0 to L1\nL0 -> L0: a := call g(T, q)\nL0 -> L0: spawn g(T, F)\n\
         L0 -> L1: return\nproc g(p, r: bool) returns bool from L2 to L3\nL2 -> L3: return F\nL2 -> L2: b := r\n\
         L2 -> L2: _ := call g(T, r)\nstart f",
    );
}

#[test]
fn results_of_one_value_flow_on() {
    check(
        "shared a, b: bool\ninit a := F\nproc f() from L0 to L1\nL0 -> L0: a := call g()\nL0 -> L0: b := a\n\
         L0 -> L1: return\nproc g() returns bool from L2 to L3\nL2 -> L3: return F\nstart f",
        "shared a, b: bool\ninit a := F\nproc f() from L0 to L1\nL0 -> L0: a := call g()\nL0 -> L0: b := F\n\
         L0 -> L1: return\nproc g() returns bool from L2 to L3\nL2 -> L3: return F\nstart f",
    );
}

#[test]
fn a_prelude_may_leave_anything_in_per_thread_variables() {
    let text = "thread t: bool\nshared a: bool\nproc f() from L0 to L1\nL0 -> L1: return\nproc p() from L2 to L3\n\
                L2 -> L2: a := t\nL2 -> L3: return\nprelude p\nstart f exactly 1 with t init t := T";
    check(text, text);
}

#[test]
fn initial_values_are_folded_and_their_choices_renumbered() {
    let passed = check(
        "shared a, b, c: bool\ninit a := ?0 & F, b := ?1, c := ?1 | ?3\nproc f() from L0 to L1\nL0 -> L1: return\n\
         start f",
        "shared a, b, c: bool\ninit a := F, b := ?0, c := ?0 | ?1\nproc f() from L0 to L1\nL0 -> L1: return\nstart f",
    );
    let none = Source::Value(Value::Bool(false));
    assert_eq!(passed.lift.init, [none, Source::Choice(0), none, Source::Choice(1)]);
}

#[test]
fn folding_twice_changes_nothing_more() {
    let text = "shared a, b: bool\ninit a := T\nproc f() from L0 to L2\nL0 -> L1: b := ?0 & ?1 constrain b' & a\n\
                L1 -> L1: assert b = (b & a)\nL1 -> L2: return\nstart f\ntarget e1";
    let once = testing::run_on(run, text);
    let twice = run(&once.program, &once.target);
    assert_eq!(print_with_target(&once.program, &once.target), print_with_target(&twice.program, &twice.target));
}

use super::super::testing::{check, run_on};
use super::run;

/// The thesis's listing 10.2: without an equation for exits the shared variable would die in the callee.
#[test]
fn liveness_across_calls() {
    let text = "shared g: bool
         proc main() from L0 to L4
           L0 -> L1: g := T
           L1 -> L2: call foo()
           L2 -> L3: assert g
           L3 -> L4: return
         proc foo() from L5 to L7
           L5 -> L6: skip
           L6 -> L7: return
         start main
         target e2";
    check(run, text, text);
}

#[test]
fn a_shared_variable_that_every_way_assigns_dies_before_the_call() {
    check(
        run,
        "shared g, h: bool
         proc main() from L0 to L4
           L0 -> L1: g := T, h := T
           L1 -> L2: call set()
           L2 -> L3: assert g & h
         proc set() from L5 to L7
           L5 -> L6: g := ?0
           L6 -> L7: return
         start main
         target e2",
        "shared g, h: bool
         proc main() from L0 to L4
           L0 -> L1: h := T, g := F
           L1 -> L2: call set()
           L2 -> L3: assert g & h
         proc set() from L5 to L7
           L5 -> L6: g := ?0
           L6 -> L7: return
         start main
         target e2",
    );
}

#[test]
fn a_local_is_forgotten_once_after_its_last_read() {
    check(
        run,
        "proc main() from L0 to L5
           local l, k: bool
           L0 -> L1: l := ?0
           L1 -> L2: assume l
           L2 -> L3: k := T
           L3 -> L4: assert k
           L4 -> L5: return
         start main
         target e3",
        "proc main() from L0 to L5
           local l, k: bool
           L0 -> L1: l := ?0, k := F
           L1 -> L2: l := F constrain l
           L2 -> L3: k := T
           L3 -> L4: assert k
           L4 -> L5: return
         start main
         target e3",
    );
}

#[test]
fn a_condition_on_the_new_value_keeps_the_assignment_or_its_absence() {
    check(
        run,
        "proc main() from L0 to L4
           local l, k: bool
           L0 -> L1: l := ?0, k := ?1 constrain l' = ?1
           L1 -> L2: k := F constrain l'
           L2 -> L3: skip
         start main",
        "proc main() from L0 to L4
           local l, k: bool
           L0 -> L1: l := ?0, k := F constrain l' = ?1
           L1 -> L2: assume l'
           L2 -> L3: l := F
         start main",
    );
}

#[test]
fn a_value_that_only_dead_values_need_is_dead() {
    check(
        run,
        "proc main() from L0 to L4
           local l: bool
           L0 -> L1: l := T
           L1 -> L1: l := !l
           L1 -> L2: assert F
         loc L3
         start main
         target e2",
        "proc main() from L0 to L4
           local l: bool
           L0 -> L1: l := F
           L1 -> L1: skip
           L1 -> L2: assert F
         loc L3
         start main
         target e2",
    );
}

#[test]
fn results_that_are_never_read_are_discarded() {
    check(
        run,
        "proc main() from L0 to L3
           local a, b: bool
           L0 -> L1: a, b := call f(?0)
           L1 -> L2: assert b
         proc f(p: bool) returns bool, bool from L4 to L5
           L4 -> L5: return p, !p
         start main
         target e1",
        "proc main() from L0 to L3
           local a, b: bool
           L0 -> L1: _, b := call f(?0)
           L1 -> L2: assert b
         proc f(p: bool) returns bool, bool from L4 to L5
           L4 -> L5: return p, !p
         start main
         target e1",
    );
}

#[test]
fn a_shared_variable_that_another_thread_may_read_is_never_dead() {
    let text = "shared x, y: bool
         proc main() from L0 to L3
           L0 -> L1: x := T, y := T
           L1 -> L2: x := F
         proc other() from L4 to L6
           L4 -> L5: assert !x
         start main
         start other
         target e2";
    check(run, text, &text.replace("x := T, y := T", "x := T"));
}

#[test]
fn what_a_started_thread_inherits_and_reads_is_live() {
    let fork = "thread t: bool
         proc main() from L0 to L4
           local l: bool
           L0 -> L1: t := ?0, l := ?1
           L1 -> L2: fork L3
           L2 -> L2: t := F, l := F
           L3 -> L3: assert t & l
         start main: main exactly 1 with t
         target e3";
    check(run, fork, fork);
    let spawn = "thread t: bool
         proc main() from L0 to L4
           L0 -> L1: t := ?0
           L1 -> L2: call starter()
           L2 -> L3: t := F
         proc starter() from L5 to L7
           L5 -> L6: spawn child()
           L6 -> L7: return
         proc child() from L8 to L10
           L8 -> L9: assert t
         start main: main exactly 1 with t
         target e5";
    check(run, spawn, spawn);
}

#[test]
fn what_others_read_passively_is_live() {
    let text = "thread t, u: bool
         proc main() from L0 to L3
           L0 -> L1: t := T, u := F
           L1 -> L2: u := ?0, u$ := ?0 constrain t$'
           L2 -> L2: assert F
         start main: main exactly 2 with t, u
         target e2";
    check(run, text, text);
}

#[test]
fn per_thread_variables_are_forgotten_only_by_threads_that_have_them() {
    let passed = run_on(
        run,
        "thread t: bool
         proc one() from L0 to L4
           L0 -> L1: assume t
           L1 -> L2: call f()
           L2 -> L3: skip
         proc two() from L5 to L7
           L5 -> L6: call f()
         proc f() from L8 to L10
           L8 -> L9: skip
           L9 -> L10: return
         start one: one exactly 1 with t
         start two",
    );
    let text = crate::text::print(&passed.program);
    assert!(text.contains("L0 -> L1: t := F constrain t\n"), "{text}");
    assert!(text.contains("L8 -> L9: skip\n"), "{text}");
}

#[test]
fn the_prelude_keeps_what_the_threads_read_first() {
    let text = "shared x, y: bool
         thread t: bool
         proc first() from L0 to L3
           L0 -> L1: x := ?0, y := ?1
           L1 -> L2: call deep()
           L2 -> L3: return
         proc deep() from L4 to L5
           L4 -> L5: end
           L4 -> L5: return
         proc main() from L6 to L8
           L6 -> L7: assert x & t
         prelude first
         start main: main exactly 1 with t init t := y
         target e5";
    check(run, text, text);
}

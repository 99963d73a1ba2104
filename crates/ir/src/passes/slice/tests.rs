use super::super::testing::{check, run_on};
use super::super::{LiftStep, Source, StepPart};
use super::run;
use crate::syntax::{LocId, Op, Value};

#[test]
fn only_what_feeds_the_condition_stays() {
    let passed = check(
        run,
        "shared x, y, z: bool
         init z := ?0, x := ?1
         proc main() from L0 to L3
           L0 -> L1: z := ?0, x := ?1, y := z
           L1 -> L2: assert x
           L2 -> L3: return
         start main
         target e1",
        "shared x: bool
         init x := ?0
         proc main() from L0 to L3
           L0 -> L1: x := ?0
           L1 -> L2: assert x
         start main
         target e1",
    );
    let choices = vec![Source::Value(Value::Bool(false)), Source::Choice(0)];
    assert_eq!(
        passed.lift.edges[0],
        [LiftStep { edge: 0.into(), choices: choices.clone(), fresh: vec![], part: StepPart::Main }]
    );
    assert_eq!(passed.lift.init, choices);
}

#[test]
fn a_condition_that_may_block_for_ever_stays() {
    let text = "shared x, y: bool
         proc main() from L0 to L3
           L0 -> L1: y := F constrain y'
           L1 -> L2: x := T constrain !y' | x'
           L2 -> L2: assert F
         start main
         target e2";
    check(run, text, text);
}

#[test]
fn assertions_outside_the_target_stop_a_thread() {
    let text = "shared x: bool
         proc main() from L0 to L3
           L0 -> L1: assert x
           L1 -> L2: assert F
         start main
         target e1";
    check(run, text, text);
}

#[test]
fn a_program_without_target_loses_everything() {
    let after = "proc main() from L0 to L1\nstart main";
    let before = "shared x: bool
         proc main() from L0 to L2
           local l: bool
           L0 -> L1: l := call f(x)
           L1 -> L2: return
         proc f(a: bool) returns bool from L3 to L4
           L3 -> L4: return a
         start main";
    check(run, before, after);
    check(
        run,
        &before.replace("start main", "start main: main any"),
        "proc main() from L0 to L1\nstart main: main any",
    );
}

#[test]
fn parameters_results_and_arguments_go_together() {
    check(
        run,
        "shared x: bool
         proc main() from L0 to L4
           local a, b: bool
           L0 -> L1: a, b := call f(x, ?0, ?1)
           L1 -> L2: a, _ := call f(T, F, T)
           L2 -> L3: assert b
         proc f(p, q, r: bool) returns bool, bool from L5 to L6
           L5 -> L6: return q, r
         start main
         target e2",
        "proc main() from L0 to L4
           local b: bool
           L0 -> L1: b := call f(?0)
           L1 -> L2: _ := call f(T)
           L2 -> L3: assert b
         proc f(r: bool) returns bool from L5 to L6
           L5 -> L6: return r
         start main
         target e2",
    );
}

#[test]
fn what_follows_a_call_that_never_returns_is_unreachable() {
    check(
        run,
        "proc main() from L0 to L3
           L0 -> L1: call f()
           L1 -> L2: assert F
         proc f() from L4 to L6
           L4 -> L5: skip
           L5 -> L4: skip
           L5 -> L6: end
         start main: main any
         target e1",
        "proc main() from L0 to L1
         start main: main any",
    );
}

#[test]
fn an_assertion_in_a_callee_that_never_returns_stays() {
    check(
        run,
        "shared x: bool
         proc main() from L0 to L3
           L0 -> L1: call f()
           L1 -> L2: x := T
         proc f() from L4 to L6
           L4 -> L5: assert x
           L5 -> L5: skip
         start main
         target e2",
        "shared x: bool
         proc main() from L0 to L2
           L0 -> L1: call f()
         proc f() from L3 to L5
           L3 -> L4: assert x
         start main
         target e1",
    );
}

#[test]
fn a_call_without_target_after_it_goes_although_its_callee_returns_elsewhere() {
    check(
        run,
        "proc main() from L0 to L4
           L0 -> L1: call f()
           L1 -> L2: assert F
           L2 -> L3: call f()
           L3 -> L4: return
         proc f() from L5 to L6
           L5 -> L6: return
         start main
         target e1",
        "proc main() from L0 to L3
           L0 -> L1: call f()
           L1 -> L2: assert F
         proc f() from L4 to L5
           L4 -> L5: return
         start main
         target e1",
    );
}

#[test]
fn code_that_cannot_reach_the_target_helps_other_threads() {
    let text = "shared x: bool
         proc main() from L0 to L3
           L0 -> L1: spawn f()
           L1 -> L2: x := T
         proc f() from L4 to L6
           L4 -> L5: assert !x
         start main
         target e2";
    check(run, text, text);
}

#[test]
fn the_prelude_stays_as_the_way_to_the_threads() {
    let text = "shared x: bool
         proc first() from L0 to L2
           L0 -> L1: x := ?0
           L1 -> L2: return
           L1 -> L2: end
         proc main() from L3 to L5
           L3 -> L4: assert x
         prelude first
         start main
         target e3";
    check(run, text, text);
}

#[test]
fn passive_parts_stay_whole() {
    let text = "thread t, u: bool
         proc main() from L0 to L4
           L0 -> L1: u := ?0, t$ := ?0
           L1 -> L2: skip
           L2 -> L3: assert t
         start main: main exactly 2 with t, u
         target e2";
    check(run, text, text);
    let passed = run_on(run, &text.replace("t$ := ?0", "t$ := ?1"));
    assert_eq!(passed.program.vars.len(), 1);
}

#[test]
fn locals_that_other_threads_mention_keep_their_procedure() {
    let text = "proc main() from L0 to L3
           L0 -> L1: assume l$
           L1 -> L2: assert F
         proc f() from L4 to L5
           local l: bool
         start main: main any
         target e1";
    check(run, text, text);
}

#[test]
fn a_target_location_is_enough() {
    let passed = run_on(
        run,
        "shared x: bool
         proc main() from L0 to L4
           label E: L2
           L0 -> L1: x := F
           L1 -> L2: assume x
           L2 -> L3: x := F
           L0 -> L3: skip
         start main
         target L2",
    );
    assert_eq!(passed.program.edges.len(), 2);
    assert_eq!(passed.target.locs, [LocId::new(2)]);
    assert_eq!(passed.program.labels.len(), 1);
}

#[test]
fn a_prelude_that_ends_inside_a_call_leads_to_the_threads() {
    let text = "shared x: bool
        init x := F
        proc finish() from L0 to L2
          e0 L0 -> L1: x := T
          e1 L1 -> L2: end
        proc first() from L3 to L5
          e2 L3 -> L4: call finish()
          e3 L4 -> L5: return
        proc main() from L6 to L8
          e4 L6 -> L7: assert !x
          e5 L7 -> L8: return
        prelude first
        start main
        target e4";
    let (program, target) = crate::text::parse_with_target(text).expect("it reads");
    let sliced = run(&program, &target).program;
    let has = |wanted: fn(&Op) -> bool| sliced.edges.iter().any(|edge| wanted(&edge.op));
    assert!(has(|op| matches!(op, Op::Call(_))) && has(|op| *op == Op::End), "{}", crate::text::print(&sliced));
}

use super::super::testing;
use super::*;
use crate::passes::Source;
use crate::syntax::EdgeId;
use crate::trace::{Step as TraceStep, ThreadId, Trace};
use crate::{Value, text};

fn check(before: &str, after: &str) -> Passed {
    testing::check(run, before, after)
}

/// Returns a body of `f` between L0 and its exit L9, run by as many threads as said.
fn body(count: &str, edges: &str) -> String {
    format!(
        "shared s, r: bool\nthread t, u: bool\nproc f() from L0 to L9\nlocal a, b, c: bool\n{edges}\n\
         start f {count} with t, u\n"
    )
}

/// Returns the text with L9, the exit, called L1, and those between pushed back: what is kept is renumbered in this
/// order.
fn exit_first(text: &str) -> String {
    let mut parts = text.split('L');
    let mut moved = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|char: char| !char.is_ascii_digit()).unwrap_or(part.len());
        let number = match part[..digits].parse::<u32>().unwrap() {
            9 => 1,
            between @ 1..9 => between + 1,
            other => other,
        };
        moved += &format!("L{number}{}", &part[digits..]);
    }
    moved
}

/// Compresses a body, in which L9 is the exit; in the result L1 is.
fn check_one(before: &str, after: &str) -> Passed {
    check(&exit_first(&body("exactly 1", before)), &body("exactly 1", after).replace("L9", "L1"))
}

fn check_many(before: &str, after: &str) -> Passed {
    check(&exit_first(&body("any", before)), &body("any", after).replace("L9", "L1"))
}

fn old_edges(passed: &Passed, edge: usize) -> Vec<usize> {
    passed.lift.edges[edge].iter().map(|step| step.edge.index()).collect()
}

#[test]
fn straight_line_statements_become_one() {
    let passed = check_one(
        "L0 -> L1: a := s\nL1 -> L2: s := a & r, r := a\nL2 -> L3: assume s | a\nL3 -> L9: return",
        "L0 -> L2: s := s & r, r := s, a := s constrain s' | s\nL2 -> L1: return",
    );
    assert_eq!(old_edges(&passed, 0), [0, 1, 2]);
}

#[test]
fn conditions_speak_of_the_state_they_were_asked_in() {
    check_one(
        "L0 -> L1: a := !a constrain a' = s'\nL1 -> L2: a := a ^ r constrain a' = !a\nL2 -> L9: return",
        "L0 -> L2: a := !a ^ r constrain (!a = s') & (a' = a)\nL2 -> L1: return",
    );
    check_one(
        "L0 -> L1: a := b | c constrain a' = s'\nL1 -> L2: b := a, s := T constrain a & b & a'\nL2 -> L9: return",
        "L0 -> L2: s := T, a := b | c, b := b | c constrain (a' = s) & (a' & b & a')\nL2 -> L1: return",
    );
}

#[test]
fn choices_are_numbered_through_and_lifted() {
    let passed = check_one(
        "L0 -> L1: a := ?0, b := ?1\nL1 -> L2: c := (?0 & F) | ?1 constrain ?1 = a\nL2 -> L9: return",
        "L0 -> L2: a := ?0, b := ?1, c := ?2 constrain ?2 = ?0\nL2 -> L1: return",
    );
    let value = |bit| Value::Bool(bit);
    let thread = ThreadId(0);
    let step = |edge: usize, choices: Vec<Value>| TraceStep {
        thread,
        edge: EdgeId::new(edge),
        choices,
        passive: vec![],
        fresh: vec![],
        body: None,
    };
    let trace = Trace { steps: vec![step(0, vec![value(true), value(false), value(true)])], ..Trace::default() };
    let lifted = passed.lift.trace(&trace).steps;
    assert_eq!(lifted, [step(0, vec![value(true), value(false)]), step(1, vec![value(false), value(true)])]);
    assert_eq!(passed.lift.edges[0][1].choices[0], Source::Value(value(false)));
}

#[test]
fn branches_are_fused_with_what_comes_before() {
    check_one(
        "L0 -> L1: a := s\nL1 -> L2: assume a\nL1 -> L3: assume !a\nL2 -> L4: r := T\nL3 -> L4: r := F\n\
         L4 -> L9: return",
        "L0 -> L2: r := T, a := s constrain s\nL0 -> L2: r := F, a := s constrain !s\nL2 -> L1: return",
    );
}

#[test]
fn what_no_state_can_do_vanishes() {
    check_one(
        "L0 -> L1: a := T\nL1 -> L2: assume !a\nL2 -> L9: end\nL1 -> L3: assume a\nL3 -> L9: return",
        "L0 -> L2: a := T\nL2 -> L1: return",
    );
    check_one("L0 -> L1: a := T\nL1 -> L2: r := T\nL0 -> L9: return", "L0 -> L1: return");
}

#[test]
fn chains_of_gotos_become_one_edge() {
    let passed = check_many(
        "label A: L2\nL0 -> L1: s := T\nL0 -> L2: skip\nL1 -> L2: skip\nL2 -> L3: skip\nL3 -> L4: skip\n\
         L5 -> L3: skip\n\
         L4 -> L5: r := s\nL5 -> L9: return",
        "label A: L2\nL0 -> L2: s := T\nL0 -> L2: skip\nL3 -> L2: skip\nL2 -> L3: r := s\nL3 -> L1: return",
    );
    assert_eq!(old_edges(&passed, 0), [0, 2, 3, 4]);
}

#[test]
fn cycles_of_skips_end() {
    check_many(
        "L0 -> L1: skip\nL1 -> L2: skip\nL2 -> L3: skip\nL3 -> L1: skip\nL0 -> L4: call f()\nL4 -> L5: skip\n\
         L5 -> L4: skip\nL0 -> L9: return",
        "L0 -> L2: call f()\nL0 -> L1: return",
    );
}

#[test]
fn skips_before_any_operation_vanish_and_after_most() {
    let passed = check_many(
        "L0 -> L1: skip\nL1 -> L2: atomic_begin\nL2 -> L3: skip\nL3 -> L4: spawn f()\nL4 -> L5: skip\n\
         L5 -> L6: call f()\n\
         L6 -> L7: skip\nL7 -> L8: t$ := T constrain u$\nL8 -> L10: skip\nL10 -> L9: return",
        "L0 -> L2: atomic_begin\nL2 -> L3: spawn f()\nL3 -> L4: call f()\nL4 -> L5: t$ := T constrain u$\n\
         L5 -> L1: return",
    );
    let parts = |edge: usize| passed.lift.edges[edge].iter().map(|step| step.part).collect::<Vec<_>>();
    assert_eq!(old_edges(&passed, 2), [5]);
    assert_eq!(old_edges(&passed, 3), [6, 7, 8]);
    assert_eq!(parts(3), [StepPart::Silent, StepPart::Main, StepPart::Silent]);
    assert_eq!(parts(1), [StepPart::Main, StepPart::Silent]);
}

#[test]
fn a_skip_after_a_call_or_assertion_stays_where_others_arrive_too() {
    check_many(
        "L0 -> L1: s := T\nL1 -> L2: call f()\nL2 -> L1: skip\nL1 -> L3: assert s\nL3 -> L1: skip\nL1 -> L9: return",
        "L0 -> L2: s := T\nL2 -> L3: call f()\nL3 -> L2: skip\nL2 -> L4: assert s\nL4 -> L2: skip\nL2 -> L1: return",
    );
}

#[test]
fn nothing_follows_the_start_of_a_thread_at_an_error() {
    let text = body("any", "L0 -> L2: fork L1\nL2 -> L3: skip\nL1 -> L3: a := T\nL3 -> L9: return").replace("L9", "L4");
    let steps = |target: &str| {
        let passed = testing::run_on(run, &format!("{text}{target}"));
        old_edges(&passed, 0)
    };
    assert_eq!(steps(""), [0, 1]);
    assert_eq!(steps("target L1"), [0]);
}

#[test]
fn error_locations_and_the_places_of_forks_stay() {
    let text = "L0 -> L1: skip\nL1 -> L2: a := T\nL2 -> L3: fork L4\nL4 -> L5: b := T\nL5 -> L6: return";
    let passed = testing::run_on(run, &format!("{}target L1, L2", body("any", text).replace("L9", "L6")));
    assert_eq!(passed.target.locs.len(), 2);
    let ops: Vec<String> = passed.program.edges.iter().map(|edge| text::op(&passed.program, &edge.op)).collect();
    assert_eq!(ops, ["skip", "a := T", "fork L4", "b := T", "return"]);
}

#[test]
fn with_several_threads_visible_steps_stay_apart() {
    check_many(
        "L0 -> L1: s := T\nL1 -> L2: r := T\nL2 -> L9: return",
        "L0 -> L2: s := T\nL2 -> L3: r := T\nL3 -> L1: return",
    );
    check_many(
        "L0 -> L1: assume s\nL1 -> L2: assume r\nL2 -> L9: return",
        "L0 -> L2: assume s\nL2 -> L3: assume r\nL3 -> L1: return",
    );
}

#[test]
fn an_invisible_step_is_put_off_until_the_next() {
    check_many(
        "L0 -> L1: a := b constrain t\nL1 -> L2: s := a constrain r\nL2 -> L9: return",
        "L0 -> L2: s := b, a := b constrain t & r\nL2 -> L1: return",
    );
}

#[test]
fn an_invisible_step_that_cannot_block_is_made_at_once() {
    check_many("L0 -> L1: a := s\nL1 -> L2: b := a\nL2 -> L9: return", "L0 -> L2: a := s, b := s\nL2 -> L1: return");
    check_many(
        "L0 -> L1: a := s\nL1 -> L2: assume a\nL1 -> L3: assume !a\nL2 -> L9: return\nL3 -> L9: end",
        "L0 -> L2: a := s constrain s\nL0 -> L3: a := s constrain !s\nL2 -> L1: return\nL3 -> L1: end",
    );
}

#[test]
fn a_step_that_may_block_is_not_made_at_once() {
    // With the two fused, a thread whose `a` is false would never set `s`.
    check_many(
        "L0 -> L1: s := T\nL1 -> L2: assume a\nL2 -> L9: return",
        "L0 -> L2: s := T\nL2 -> L3: assume a\nL3 -> L1: return",
    );
    check_many("L0 -> L1: s := T\nL0 -> L9: return", "L0 -> L2: s := T\nL0 -> L1: return");
}

#[test]
fn what_others_see_by_passive_copies_is_visible() {
    check_many(
        "L0 -> L1: t := T\nL1 -> L2: r := T\nL2 -> L3: u := T\nL3 -> L4: r := F\nL4 -> L0: assume t$\nL4 -> L9: return",
        "L0 -> L2: t := T\nL2 -> L3: r := T, u := T\nL3 -> L4: r := F\nL4 -> L0: assume t$\nL4 -> L1: return",
    );
}

#[test]
fn one_thread_that_starts_another_is_several() {
    check_one(
        "L0 -> L1: s := T\nL1 -> L2: r := T\nL2 -> L3: fork L0\nL3 -> L9: return",
        "L0 -> L2: s := T\nL2 -> L3: r := T\nL3 -> L4: fork L0\nL4 -> L1: return",
    );
}

#[test]
fn repeated_edges_vanish_but_assertions_stay() {
    check_many(
        "L0 -> L1: assume s\nL0 -> L1: assume s\nL0 -> L1: assert s\nL0 -> L1: assert s\nL0 -> L0: skip\n\
         L1 -> L9: return",
        "L0 -> L2: assume s\nL0 -> L2: assert s\nL0 -> L2: assert s\nL2 -> L1: return",
    );
}

#[test]
fn loops_keep_their_heads() {
    check_one(
        "L0 -> L1: a := T\nL1 -> L2: assume a\nL2 -> L1: a := s\nL1 -> L3: assume !a\nL3 -> L9: return",
        "L0 -> L2: a := T\nL2 -> L2: a := s constrain a\nL2 -> L3: assume !a\nL3 -> L1: return",
    );
}

#[test]
#[cfg_attr(miri, ignore = "the program is too large for an interpreter")]
fn composed_steps_stay_small() {
    let doubling: String = (0..40).map(|loc| format!("L{loc} -> L{}: n := n * n + n\n", loc + 1)).collect();
    let text = format!("shared n: int\nproc f() from L0 to L41\n{doubling}L40 -> L41: return\nstart f");
    let passed = testing::run_on(run, &text);
    assert!(passed.program.edges.len() < 41);
    let sizes = passed.program.edges.iter().flat_map(|edge| edge.op.exprs().map(crate::simplify::size));
    assert!(sizes.max().unwrap() <= MAX_SIZE);
}

#[test]
#[cfg_attr(miri, ignore = "the program is too large for an interpreter")]
fn long_programs_are_compressed() {
    let lines: String = (0..20_000).map(|loc| format!("L{loc} -> L{}: x := !x\n", loc + 1)).collect();
    let text = format!("shared x: bool\nproc f() from L0 to L20001\n{lines}L20000 -> L20001: return\nstart f");
    let passed = testing::run_on(run, &text);
    assert!(passed.program.edges.len() <= 20_000 / MAX_STEPS + 2);
    assert_eq!(passed.lift.edges.iter().map(Vec::len).sum::<usize>(), 20_001);
}

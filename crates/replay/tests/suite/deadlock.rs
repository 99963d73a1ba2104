//! The judge on deadlocks: executions that end in one, and proofs that there is none.

use std::collections::HashSet;

use selvedge_check::{
    Certificate, Replay, Run, Start, StartThread, Step, Task, ThreadId, ThreadScope, Trace, Violation,
};
use selvedge_ir::text::{parse_with_target, print_with_target};
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target};
use selvedge_replay::certificate::{Flaw, Refused, Unjudged, verify};
use selvedge_replay::replay::{Mismatch, Moment, Reason, reached, replay};
use selvedge_replay::{Interpreter, Outcome, State};

use crate::random::Random;
use crate::unwound;

/// Two threads that take two locks in different orders; `TARGET` is replaced.
const LOCKS: &str = "shared a: bool, b: bool\ninit a := F, b := F\n\
    proc p() from L0 to L3\ne0 L0 -> L1: a := T constrain !a\ne1 L1 -> L2: b := T constrain !b\n\
    e2 L2 -> L3: return\n\
    proc q() from L4 to L7\ne3 L4 -> L5: FIRST := T constrain !FIRST\ne4 L5 -> L6: LAST := T constrain !LAST\n\
    e5 L6 -> L7: return\nstart p\nstart q\ntarget TARGET";

fn locks(first: &str, last: &str, target: &str) -> (Program, Target) {
    let text = LOCKS.replace("FIRST", first).replace("LAST", last).replace("TARGET", target);
    parse_with_target(&text).expect("the program is well-formed")
}

fn trace(steps: &[(u32, usize)]) -> Trace {
    let thread = |entry| StartThread { entry: EntryId::new(entry), choices: Vec::new(), fresh: Vec::new() };
    let step = |(thread, edge): &(u32, usize)| Step {
        thread: ThreadId(*thread),
        edge: EdgeId::new(*edge),
        choices: Vec::new(),
        passive: Vec::new(),
        fresh: Vec::new(),
        body: None,
    };
    let start = Start { threads: vec![thread(0), thread(1)], ..Start::default() };
    Trace { start, steps: steps.iter().map(step).collect(), bodies: Vec::new() }
}

fn run((program, target): &(Program, Target), steps: &[(u32, usize)]) -> Result<Replay, Mismatch> {
    replay(&Task { program, target, threads: ThreadScope::Unbounded }, &trace(steps))
}

fn flaw((program, target): &(Program, Target), threads: ThreadScope, certificate: &Certificate) -> Option<Flaw> {
    let refused = verify(&Task { program, target, threads }, certificate, &Run::unlimited()).err()?;
    Some(refused.flaw().expect("the judge can tell"))
}

#[test]
fn an_execution_to_a_deadlock_names_all_threads_that_wait() {
    let replayed = run(&locks("b", "a", "deadlock"), &[(0, 0), (1, 3)]).expect("it is one");
    let waiting = vec![(ThreadId(0), LocId::new(1)), (ThreadId(1), LocId::new(5))];
    assert_eq!(replayed.violation, Violation::Deadlock(waiting));
}

#[test]
fn a_state_in_which_one_thread_can_move_is_no_deadlock() {
    let mistake = run(&locks("b", "a", "deadlock"), &[(0, 0)]).expect_err("the other thread can move");
    assert_eq!((mistake.moment, mistake.reason), (Moment::End, Reason::NoError));
    // All threads have ended, or were never there.
    let program =
        parse_with_target("proc p() from L0 to L1\ne0 L0 -> L1: return\nstart p: p at most 1\ntarget deadlock");
    let (program, target) = program.expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let nobody = Trace { start: Start::default(), steps: Vec::new(), bodies: Vec::new() };
    assert_eq!(replay(&task, &nobody).expect_err("nobody waits").reason, Reason::NoError);
}

#[test]
fn a_deadlock_that_was_not_asked_for_is_no_error() {
    let mistake = run(&locks("b", "a", "L2"), &[(0, 0), (1, 3)]).expect_err("only a location was asked for");
    assert_eq!(mistake.reason, Reason::NoError);
}

#[test]
fn all_states_are_visited() {
    let all = Certificate::AllStates;
    let accepted = |program: &(Program, Target)| flaw(program, ThreadScope::Unbounded, &all);
    let stuck = accepted(&locks("b", "a", "deadlock"));
    assert!(matches!(stuck, Some(Flaw::Deadlock(_))), "{stuck:?}");
    // The second thread waits for a lock that is never released.
    assert!(matches!(accepted(&locks("a", "b", "deadlock")), Some(Flaw::Deadlock(_))));
    assert_eq!(accepted(&locks("b", "a", "L2")), Some(Flaw::Location(LocId::new(2))));
    let text = "shared x: bool\ninit x := F\nproc p() from L0 to L2\ne0 L0 -> L0: x := !x\ne1 L0 -> L1: assume x\n\
        e2 L1 -> L2: return\nstart p\ntarget deadlock";
    let free = parse_with_target(text).expect("the program is well-formed");
    assert_eq!(accepted(&free), None);
    let fails = parse_with_target(&text.replace("assume x", "assert !x").replace("deadlock", "e1"));
    assert_eq!(accepted(&fails.expect("it is well-formed")), Some(Flaw::Assert(EdgeId::new(1))));
    let any = parse_with_target(&text.replace("start p", "start p: p any")).expect("the program is well-formed");
    assert!(matches!(accepted(&any), Some(Flaw::OutOfScope(_))));
    assert_eq!(flaw(&any, ThreadScope::AtMost(2), &all), None);
}

#[test]
fn the_limit_of_threads_of_the_question_counts() {
    let text = "shared x: bool\ninit x := F\nproc p() from L0 to L2\ne0 L0 -> L1: spawn q()\ne1 L1 -> L2: assume x\n\
        proc q() from L3 to L4\ne2 L3 -> L4: x := T\nstart p\ntarget deadlock";
    let program = parse_with_target(text).expect("the program is well-formed");
    let all = Certificate::AllStates;
    assert!(matches!(flaw(&program, ThreadScope::AtMost(1), &all), Some(Flaw::Deadlock(_))));
    assert!(matches!(flaw(&program, ThreadScope::Created(1), &all), Some(Flaw::Deadlock(_))));
}

#[test]
fn other_certificates_say_nothing_about_deadlocks() {
    let (program, target) = locks("b", "a", "deadlock");
    let everywhere = Certificate::ControlFlow(program.locs.indices().collect());
    let refused = flaw(&(program, target), ThreadScope::Unbounded, &everywhere);
    assert!(matches!(refused, Some(Flaw::OutOfScope(_))), "{refused:?}");
}

/// Of more starts than are looked at, the last one leads to an error: the others prove nothing.
#[test]
fn too_many_starts_are_not_judged() {
    let choices: Vec<String> = (0..18).map(|number| format!("?{number}")).collect();
    let text = format!(
        "shared x: bool\ninit x := {}\nproc p() from L0 to L1\ne0 L0 -> L0: assert !x\nstart p\ntarget e0",
        choices.join(" & ")
    );
    let (program, target) = parse_with_target(&text).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let found = verify(&task, &Certificate::AllStates, &Run::unlimited());
    assert!(matches!(found, Err(Refused::Unjudged(Unjudged::Beyond(_)))), "{found:?}");
}

#[test]
fn values_that_no_step_reads_are_not_listed() {
    // The local may begin with any of 2^32 values; it is written before it is read.
    let text = "shared x: bool\ninit x := F\nproc p() from L0 to L3\nlocal n: i32\ne0 L0 -> L1: n := 5:i32\n\
        e1 L1 -> L2: x := i32.lt(n, 7:i32)\ne2 L2 -> L3: return\nstart p\ntarget deadlock";
    let program = parse_with_target(text).expect("the program is well-formed");
    assert_eq!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), None);
    // A value that decides whether a thread waits is told apart.
    let text = "proc p() from L0 to L3\nlocal n: bool, m: bool\ne0 L0 -> L1: m := n\ne1 L1 -> L2: assume m\n\
        e2 L2 -> L3: return\nstart p\ntarget deadlock";
    let program = parse_with_target(text).expect("the program is well-formed");
    assert!(matches!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), Some(Flaw::Deadlock(_))));
    // The value is read by the caller when the call has returned.
    let text = "proc p() from L0 to L3\nlocal n: bool\ne0 L0 -> L1: n := ?0\n\
                e1 L1 -> L2: call q()\ne2 L2 -> L3: assume n\n\
        proc q() from L4 to L5\ne3 L4 -> L5: return\nstart p\ntarget deadlock";
    let program = parse_with_target(text).expect("the program is well-formed");
    assert!(matches!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), Some(Flaw::Deadlock(_))));
}

/// The value is read by the copy alone.
#[test]
fn values_that_a_copy_reads_are_kept() {
    let text = "proc main() from L0 to L4\nlocal a: bool\ne0 L0 -> L1: a := T\ne1 L1 -> L2: fork L3\n\
        e2 L2 -> L4: return\ne3 L3 -> L2: assert !a\nstart main\ntarget e3";
    let program = parse_with_target(text).expect("the program is well-formed");
    let found = flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates);
    assert_eq!(found, Some(Flaw::Assert(EdgeId::new(3))));
}

#[test]
fn a_thread_that_others_do_not_notice_does_not_hide_a_deadlock() {
    // The first thread goes round for ever by itself; the second one takes the flag and waits for what never comes.
    let text = "shared x: bool\ninit x := F\nproc p() from L0 to L2\nlocal a: bool\n\
                e0 L0 -> L1: a := T\ne1 L1 -> L0: a := F\n\
        proc q() from L3 to L6\ne2 L3 -> L4: atomic_begin\ne3 L4 -> L5: assume x\ne4 L5 -> L6: return\n\
        start p\nstart q\ntarget deadlock";
    let program = parse_with_target(text).expect("the program is well-formed");
    assert!(matches!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), Some(Flaw::Deadlock(_))));
    // It may begin with either value, so that all states that it goes to are known from the start.
    let begun = text.replace("e0 L0 -> L1: a := T\ne1 L1 -> L0: a := F", "e0 L0 -> L0: a := !a\ne1 L1 -> L2: return");
    assert_ne!(text, begun);
    let program = parse_with_target(&begun).expect("the program is well-formed");
    assert!(matches!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), Some(Flaw::Deadlock(_))));
    // Without the flag the first thread can always move.
    let program = parse_with_target(&text.replace("atomic_begin", "assume T")).expect("the program is well-formed");
    assert_eq!(flaw(&program, ThreadScope::Unbounded, &Certificate::AllStates), None);
}

/// Searches all states as they are for an error; `None` if there are too many.
fn has_error(task: &Task<'_>) -> Option<bool> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let mut waiting: Vec<State> =
        interpreter.starts(4).map(|start| interpreter.start(&start).expect("it is a start")).collect();
    let mut known: HashSet<State> = waiting.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        if reached(task, &state).is_some() {
            return Some(true);
        }
        let mut has_step = state.threads.is_empty();
        for (position, thread) in state.threads.iter().enumerate() {
            for edge in interpreter.edges(&state, thread).to_vec() {
                let steps: Vec<_> = interpreter.steps(&state, position, edge).collect();
                for step in steps {
                    match interpreter.step(&state, &step).expect("a step that is listed can be made") {
                        Outcome::Blocked => continue,
                        Outcome::Failed if task.target.has_assert(edge) => return Some(true),
                        Outcome::Failed => {}
                        Outcome::Next(next) => {
                            if known.insert(next.clone()) {
                                waiting.push(next);
                            }
                        }
                    }
                    has_step = true;
                }
            }
        }
        if task.target.deadlock && !has_step {
            return Some(true);
        }
        if known.len() > unwound::STATES {
            return None;
        }
    }
    Some(false)
}

#[test]
fn all_states_are_visited_on_random_programs() {
    let mut random = Random(20_261_120);
    let mut counts = [0; 2];
    for _ in 0..if cfg!(miri) { 3 } else { 600 } {
        let (program, mut target) = unwound::program(&unwound::random_program(&mut random));
        match random.below(3) {
            0 => target = Target::default().with_deadlock(true),
            1 => target = target.with_deadlock(true),
            _ => {}
        }
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let Some(expected) = has_error(&task) else { continue };
        let found = verify(&task, &Certificate::AllStates, &Run::unlimited());
        assert_eq!(found.is_err(), expected, "{found:?}\n{}", print_with_target(&program, &target));
        counts[usize::from(expected)] += 1;
    }
    assert!(cfg!(miri) || counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// A thread that nobody notices must not pass a place by itself where another one would meet it.
#[test]
fn meetings_are_found_beside_deadlocks() {
    let text = "shared x: bool\ninit x := F\nproc p() from L0 to L3\nlocal a: bool\ne0 L0 -> L1: a := T\n\
        e1 L1 -> L2: a := F\ne2 L2 -> L3: return\nproc q() from L4 to L6\ne3 L4 -> L5: x := T\ne4 L5 -> L6: return\n\
        start p\nstart q";
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    let target = target.with_deadlock(true);
    let all = |target: Target| flaw(&(program.clone(), target), ThreadScope::Unbounded, &Certificate::AllStates);
    assert_eq!(all(target.clone()), None);
    assert!(matches!(all(target.with_together([vec![LocId::new(1), LocId::new(5)]])), Some(Flaw::Location(_))));
}

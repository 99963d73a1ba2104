//! Traces: what the judge executes, and what it rejects.

use selvedge_check::{Certificate, Run, Task, ThreadScope, Verdict};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target, Value};
use selvedge_replay::certificate::Flaw;
use selvedge_replay::replay::{Mismatch, Moment, Reason, replay};
use selvedge_replay::{Judged, Reject, Replay, Violation, judge};

fn step(edge: usize) -> Step {
    let (thread, edge) = (ThreadId(0), EdgeId::new(edge));
    Step { thread, edge, choices: Vec::new(), passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn call(edge: usize, body: usize) -> Step {
    Step { body: Some(body as u32), ..step(edge) }
}

fn trace(steps: Vec<Step>, bodies: Vec<Vec<Step>>) -> Trace {
    let thread = StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() };
    Trace { start: Start { threads: vec![thread], ..Start::default() }, steps, bodies }
}

fn run((program, target): &(Program, Target), trace: &Trace) -> Result<Replay, Mismatch> {
    replay(&Task { program, target, threads: ThreadScope::Unbounded }, trace)
}

/// `p0` calls `p1` twice, and so on; the last one flips `x`. Edges: 3 per procedure.
fn doubling(n_procs: usize) -> (Program, Target) {
    let mut text = "shared x: bool\ninit x := F\n".to_string();
    for number in 0..n_procs {
        let (loc, edge, next) = (4 * number, 3 * number, number + 1);
        let operation = if next == n_procs { "x := !x".to_string() } else { format!("call p{next}()") };
        text += &format!(
            "proc p{number}() from L{loc} to L{}\ne{edge} L{loc} -> L{}: {operation}\n\
             e{} L{} -> L{}: {operation}\ne{} L{} -> L{}: return\n",
            loc + 3,
            loc + 1,
            edge + 1,
            loc + 1,
            loc + 2,
            edge + 2,
            loc + 2,
            loc + 3
        );
    }
    text += &format!("start p0\ntarget L{}", 2);
    parse_with_target(&text).expect("the program is well-formed")
}

/// The body of procedure `number`, in which calls use the body before it.
fn body(number: usize, n_procs: usize) -> Vec<Step> {
    let edge = 3 * number;
    if number + 1 == n_procs {
        return vec![step(edge), step(edge + 1), step(edge + 2)];
    }
    let of_next = n_procs - number - 2;
    vec![call(edge, of_next), call(edge + 1, of_next), step(edge + 2)]
}

#[test]
#[cfg_attr(miri, ignore = "the trace is too long for an interpreter")]
fn two_to_the_two_hundredth_steps_replay_through_shared_bodies() {
    let n_procs = 200;
    let bodies = (1..n_procs).rev().map(|number| body(number, n_procs)).collect();
    let trace = trace(vec![call(0, n_procs - 2), call(1, n_procs - 2)], bodies);
    let replay = run(&doubling(n_procs), &trace).expect("the trace is one of the program");
    assert_eq!(replay.states.len(), 2);
    assert_eq!(replay.states[1].shared, vec![Value::Bool(false)]);
    assert!(matches!(replay.violation, Violation::Location { loc, .. } if loc.index() == 2));
}

#[test]
fn a_body_must_end_with_the_return_of_its_call() {
    let wrong =
        |body: Vec<Step>| run(&doubling(2), &trace(vec![call(0, 0), call(1, 0)], vec![body])).unwrap_err().reason;
    assert_eq!(wrong(vec![]), Reason::WrongBody);
    assert_eq!(wrong(vec![step(3), step(4)]), Reason::WrongBody);
    assert_eq!(wrong(vec![step(3), step(4), step(5), step(1)]), Reason::WrongBody);
    assert!(matches!(wrong(vec![step(3), step(5)]), Reason::Illegal(_)));
}

#[test]
fn a_body_may_not_use_itself() {
    let bodies = vec![vec![call(3, 0), step(5)]];
    let mismatch = run(&doubling(3), &trace(vec![call(0, 0), call(1, 0)], bodies)).unwrap_err();
    assert_eq!(mismatch, Mismatch { moment: Moment::Step(0), reason: Reason::WrongBody });
}

#[test]
fn an_unknown_body_is_rejected() {
    let mismatch = run(&doubling(2), &trace(vec![call(0, 7)], vec![])).unwrap_err();
    assert_eq!(mismatch.reason, Reason::WrongBody);
}

#[test]
fn a_body_on_a_step_that_is_no_call_is_rejected() {
    let plain = vec![step(0), call(3, 0)];
    let mismatch = run(&doubling(2), &trace(plain, vec![vec![step(4), step(5)]])).unwrap_err();
    assert_eq!(mismatch, Mismatch { moment: Moment::Step(1), reason: Reason::WrongBody });
}

fn assertion() -> (Program, Target) {
    let text = "shared x: bool, y: bool\ninit x := T, y := ?0\nproc main() from L0 to L3\n\
                e0 L0 -> L1: x := ?0\ne1 L1 -> L2: assert x\ne2 L1 -> L2: assert y\ne3 L2 -> L3: return\n\
                start main\ntarget e1";
    parse_with_target(text).expect("the program is well-formed")
}

fn choosing(value: bool) -> Step {
    Step { choices: vec![Value::Bool(value)], ..step(0) }
}

fn asserted(steps: Vec<Step>) -> Result<Violation, Mismatch> {
    let mut trace = trace(steps, Vec::new());
    trace.start.choices = vec![Value::Bool(false)];
    run(&assertion(), &trace).map(|replay| replay.violation)
}

#[test]
fn a_failed_assertion_ends_the_trace() {
    let violation = Violation::Assert { thread: ThreadId(0), edge: EdgeId::new(1) };
    assert_eq!(asserted(vec![choosing(false), step(1)]), Ok(violation));
    let goes_on = Mismatch { moment: Moment::Step(2), reason: Reason::GoesOn };
    assert_eq!(asserted(vec![choosing(false), step(1), step(3)]), Err(goes_on));
}

#[test]
fn an_assertion_that_holds_is_no_error() {
    assert_eq!(asserted(vec![choosing(true), step(1)]), Err(Mismatch { moment: Moment::End, reason: Reason::NoError }));
}

#[test]
fn the_failure_of_another_assertion_is_no_error() {
    assert_eq!(
        asserted(vec![choosing(false), step(2)]),
        Err(Mismatch { moment: Moment::Step(1), reason: Reason::OtherFailure })
    );
}

#[test]
fn a_body_on_an_assertion_that_fails_is_rejected() {
    let mut trace = trace(vec![choosing(false), call(1, 0)], vec![vec![step(3)]]);
    trace.start.choices = vec![Value::Bool(false)];
    let mismatch = run(&assertion(), &trace).unwrap_err();
    assert_eq!(mismatch, Mismatch { moment: Moment::Step(1), reason: Reason::WrongBody });
}

/// With two threads in a run, the one that `f` starts is the second, and the location is not reached: the body must not
/// hide that there was a thread.
#[test]
fn a_body_may_not_start_a_thread_even_if_that_ends() {
    let text = "proc main() from L0 to L3\ne0 L0 -> L1: call f()\ne1 L1 -> L2: spawn g()\ne2 L2 -> L3: return\n\
                proc f() from L4 to L6\ne3 L4 -> L5: spawn h()\ne4 L5 -> L6: return\n\
                proc g() from L7 to L9\ne5 L7 -> L8: skip\ne6 L8 -> L9: return\n\
                proc h() from L10 to L11\ne7 L10 -> L11: return\nstart main\ntarget L8";
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    let of = |thread: u32, edge: usize| Step { thread: ThreadId(thread), ..step(edge) };
    let body = vec![of(0, 3), of(1, 7), of(0, 4)];
    let steps = vec![call(0, 0), of(0, 1), of(1, 5)];
    for threads in [ThreadScope::Created(2), ThreadScope::Unbounded] {
        let task = Task { program: &program, target: &target, threads };
        let mismatch = replay(&task, &trace(steps.clone(), vec![body.clone()])).unwrap_err();
        assert_eq!(mismatch, Mismatch { moment: Moment::Step(0), reason: Reason::WrongBody });
    }
}

fn prelude() -> (Program, Target) {
    let text = "shared x: bool\ninit x := F\nproc setup() from L0 to L2\ne0 L0 -> L1: call f()\ne1 L1 -> L2: return\n\
                proc f() from L3 to L5\ne2 L3 -> L4: x := T\ne3 L4 -> L5: return\ne4 L4 -> L5: end\n\
                proc main() from L6 to L8\ne5 L6 -> L7: assume x\ne6 L7 -> L8: return\n\
                prelude setup\nstart main\ntarget L7";
    parse_with_target(text).expect("the program is well-formed")
}

#[test]
fn a_body_may_run_in_the_prelude_but_not_end_it() {
    let of = |edge: usize| Step { thread: ThreadId(1), ..step(edge) };
    let with = |body: Vec<Step>| run(&prelude(), &trace(vec![call(0, 0), step(1), of(5)], vec![body]));
    let replayed = with(vec![step(2), step(3)]).expect("the trace is one of the program");
    assert!(matches!(replayed.violation, Violation::Location { thread: ThreadId(1), .. }));
    assert_eq!(with(vec![step(2), step(4)]).unwrap_err().reason, Reason::WrongBody);
    assert_eq!(with(vec![step(2), step(4), of(5)]).unwrap_err().reason, Reason::WrongBody);
}

/// Two threads of one kind, each of which goes through two locations.
#[test]
fn different_threads_meet() {
    let text = "proc main() from L0 to L2\ne0 L0 -> L1: skip\ne1 L1 -> L2: return\nstart main: main exactly 2";
    let (program, _) = parse_with_target(text).expect("the program is well-formed");
    let met = |locs: [usize; 2], steps: &[u32]| {
        let target = Target::default().with_together([locs.map(LocId::new).to_vec()]);
        let mut trace =
            trace(steps.iter().map(|thread| Step { thread: ThreadId(*thread), ..step(0) }).collect(), vec![]);
        trace.start.threads.push(trace.start.threads[0].clone());
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        replay(&task, &trace).map(|replay| replay.violation).map_err(|mismatch| mismatch.reason)
    };
    let together = |threads: [(u32, usize); 2]| {
        Ok(Violation::Together(threads.map(|(thread, loc)| (ThreadId(thread), LocId::new(loc))).to_vec()))
    };
    assert_eq!(met([0, 0], &[]), together([(0, 0), (1, 0)]));
    assert_eq!(met([0, 1], &[0]), together([(1, 0), (0, 1)]));
    assert_eq!(met([1, 1], &[0, 1]), together([(0, 1), (1, 1)]));
    assert_eq!(met([1, 1], &[0]), Err(Reason::NoError), "it takes two");
    assert_eq!(met([0, 1], &[0, 1]), Err(Reason::GoesOn));
}

/// A verdict passes with evidence that holds, or without any, which is said.
#[test]
fn verdicts_are_judged_by_their_evidence() {
    let (program, target) = assertion();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let judged = |verdict: &Verdict| judge(&task, verdict, &Run::unlimited());
    let mut fails = trace(vec![choosing(false), step(1)], Vec::new());
    fails.start.choices = vec![Value::Bool(false)];
    let replayed = judged(&Verdict::Unsafe(fails.clone()));
    assert!(matches!(replayed, Ok(Judged::Replayed(_))), "{replayed:?}");
    let ends = Trace { steps: Vec::new(), ..fails };
    assert!(matches!(judged(&Verdict::Unsafe(ends)), Err(Reject::Trace(_))));
    assert_eq!(judged(&Verdict::Safe(None)), Ok(Judged::Uncertified));
    let everywhere = Certificate::ControlFlow(program.locs.indices().collect());
    let safe = Verdict::Safe(Some(everywhere));
    assert!(matches!(judged(&safe), Err(Reject::Certificate(Flaw::Assert(_)))));
    let nothing = Target::default();
    let task = Task { target: &nothing, ..task };
    assert_eq!(judge(&task, &safe, &Run::unlimited()), Ok(Judged::Certified));
}

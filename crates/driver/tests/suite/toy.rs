//! A toy engine that is in no table runs through the driver like any other: simplified, lifted, judged, minimized.

use std::collections::BTreeSet;

use selvedge_check::{
    Answer, Asked, Bound, Certificate, Engine, EngineEnd, Explanation, Involved, Outcome, Reason, Run, Status, Stop,
    Subject, Task, Trace, Unsupported, Verdict,
};
use selvedge_driver::{Ask, Certify, Failure, Minimize, Options, Pass, check};
use selvedge_engines::table::{Row, Scope, Threads, Values};
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_replay::enumerate::least_threads;
use selvedge_replay::replay::{reached, replay};
use selvedge_replay::{Interpreter, Outcome as StepOutcome, State};

/// Depth-first search over the reference interpreter. Its certificate is the set of locations that it met, which proves
/// something only if nothing but control flow keeps threads from the errors.
struct Toy {
    /// Set if the last step is missing in its traces.
    forgets: bool,
}

/// The deepest stack that it searches.
const FRAMES: usize = 8;

impl Engine for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        Interpreter::new(task.program, task.threads).enumerable().map_err(Unsupported::new)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let interpreter = Interpreter::new(task.program, task.threads);
        let begin = |start| {
            let state = interpreter.start(&start).expect("it was listed");
            (state, Trace { start, ..Trace::default() })
        };
        let mut open: Vec<(State, Trace)> = interpreter.starts(least_threads(task.program)).map(begin).collect();
        let (mut seen, mut locs) = (BTreeSet::new(), BTreeSet::new());
        while let Some((state, trace)) = open.pop() {
            run.tick()?;
            if reached(task, &state).is_some() {
                return Ok(self.found(trace));
            }
            if state.threads.iter().any(|thread| thread.stack.len() > FRAMES) {
                return Err(Stop::BoundReached(Bound::Frames(FRAMES as u32)));
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            locs.extend(state.threads.iter().flat_map(|thread| thread.stack.iter().map(|frame| frame.loc)));
            let edges = |position| interpreter.edges(&state, &state.threads[position]).iter().copied();
            let steps = (0..state.threads.len()).flat_map(|at| edges(at).map(move |edge| (at, edge)));
            for step in steps.flat_map(|(position, edge)| interpreter.steps(&state, position, edge)) {
                let mut longer = trace.clone();
                longer.steps.push(step.clone());
                match interpreter.step(&state, &step) {
                    Ok(StepOutcome::Next(next)) => open.push((next, longer)),
                    Ok(StepOutcome::Failed) if task.target.has_assert(step.edge) => return Ok(self.found(longer)),
                    _ => {}
                }
            }
        }
        Ok(Verdict::Safe(Some(Certificate::ControlFlow(locs.into_iter().collect()))))
    }
}

impl Toy {
    fn found(&self, mut trace: Trace) -> Verdict {
        trace.steps.truncate(trace.steps.len() - usize::from(self.forgets));
        Verdict::Unsafe(trace)
    }
}

const SCOPE: Scope = Scope { threads: Threads::UpToN, recursion: true, values: Values::Booleans };
static TOY: Row = Row {
    name: "toy",
    scope: SCOPE,
    idea: "depth-first search",
    options: &[],
    passes: &[Pass::Fold, Pass::Slice, Pass::DropDead, Pass::Compress],
    build: |_| Box::new(Toy { forgets: false }),
};
static FORGETFUL: Row = Row { build: |_| Box::new(Toy { forgets: true }), ..TOY };

/// The assertion `e3` fails, also after a detour that the search takes first. `e2` has nothing to do with it.
const UNSAFE: &str = "
shared a: bool, b: bool
init a := F, b := F
proc main() from L0 to L5
  e0 L0 -> L1: a := T
  e1 L1 -> L2: skip
  e2 L1 -> L5: b := T
  e3 L2 -> L4: assert !a
  e4 L1 -> L3: assume !b
  e5 L3 -> L1: b := T
start main";

/// No edge leads to the assertion `e1`.
const SAFE: &str = "
shared a: bool
init a := F
proc main() from L0 to L2
  e0 L0 -> L2: a := T
  e1 L1 -> L2: assert a
start main";

/// Only the value of `a` keeps the thread from the assertion `e1`.
const SAFE_BY_VALUES: &str = "
shared a: bool
init a := F
proc main() from L0 to L2
  e0 L0 -> L1: assume a
  e1 L1 -> L2: assert !a
start main";

fn program(text: &str) -> Program {
    selvedge_ir::text::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn ask(text: &str, row: &'static Row, options: Options) -> Result<Answer, Failure> {
    let program = program(text);
    let subject = Subject { program: &program, map: &SourceMap::default(), text };
    check(subject, &Options { engine: Some(row), ..options }, &Run::unlimited())
}

fn answer(text: &str, options: Options) -> Answer {
    ask(text, &TOY, options).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn its_trace_is_lifted_replayed_and_minimized() {
    let [plain, small] = [Minimize::No, Minimize::Yes].map(|minimize| {
        let answer = answer(UNSAFE, Options { minimize, ..Options::default() });
        assert_eq!(answer.engine, "toy");
        assert!(matches!(answer.runs.as_slice(), [run] if run.engine == "toy" && run.end == EngineEnd::Answered));
        let searched = answer.searched.expect("it searched a program");
        assert!(searched.edges < program(UNSAFE).edges.len(), "the passes come before it: {searched:?}");
        let Outcome::Unsafe(found) = &answer.outcome else { panic!("{:?}", answer.outcome) };
        assert_eq!(replay(&answer.model.task(), &found.trace).expect("it is an execution"), found.replay);
        found.trace.steps.len()
    });
    assert!(small < plain && small == 3, "{plain} steps become {small}");
}

#[test]
fn its_certificate_is_judged() {
    let as_it_is = Options { passes: Some(Vec::new()), ..Options::default() };
    let by_toy = answer(SAFE, as_it_is);
    assert!(matches!(by_toy.outcome, Outcome::Safe(Some(Certificate::ControlFlow(_)))), "{:?}", by_toy.outcome);
    assert_eq!(by_toy.certifier, None);
}

#[test]
fn a_certificate_that_no_pass_maps_back_is_replaced_by_another_engine_on_request() {
    assert_eq!(answer(SAFE_BY_VALUES, Options::default()).certified(), Some(false));
    let certified = answer(SAFE_BY_VALUES, Options { certify: Certify::Anybody, ..Options::default() });
    assert_eq!((certified.certified(), certified.engine, certified.certifier), (Some(true), "toy", Some("summaries")));
}

/// The command line ends with exit code 6 on such a failure.
#[test]
fn wrong_evidence_of_it_is_a_failure_of_ours() {
    let as_it_is = || Options { passes: Some(Vec::new()), ..Options::default() };
    for wrong in [ask(UNSAFE, &FORGETFUL, as_it_is()), ask(SAFE_BY_VALUES, &TOY, as_it_is())] {
        match wrong {
            Err(Failure::Internal { engine: "toy", .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_program_that_it_does_not_take_stays_open() {
    let integers = "shared n: int\nproc main() from L0 to L1\nL0 -> L1: assert n = 0\nstart main";
    let answer = answer(integers, Options::default());
    assert!(matches!(answer.outcome, Outcome::Unknown(Reason::Unsupported(_))), "{:?}", answer.outcome);
}

#[test]
fn it_answers_for_each_error_and_for_the_steps_to_one() {
    let each = answer(UNSAFE, Options { ask: Ask::Each, ..Options::default() }).each.expect("each was asked for");
    assert!(matches!(each.as_slice(), [(Asked::Assert(_), Status::Violated(_))]), "{each:?}");
    let answer = answer(UNSAFE, Options { ask: Ask::Projection, ..Options::default() });
    let steps = answer.projection.expect("it was asked for").steps;
    let involved: Vec<usize> = (0..steps.len()).filter(|edge| steps[*edge] == Involved::Yes).collect();
    assert_eq!(involved, [0, 1, 3, 4, 5]);
}

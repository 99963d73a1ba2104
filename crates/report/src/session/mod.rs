//! An execution that can be walked through: all its states, what each step did, and what there is to see between steps.
//!
//! The report in HTML, the debugger in the terminal and the debug adapter show the same thing; this is the one model
//! that they share. A *position* is a number of steps that were made: 0 is the start. The states are the interpreter's.

mod explain;
mod sight;
mod walk;
mod watch;

use selvedge_check::{Counterexample, Task};
use selvedge_ir::trace::{Step, Trace};
use selvedge_replay::{Outcome, State, Violation, replay};

use crate::annotated_trace::{AnnotatedStep, AnnotatedTrace, Annotator, Context, Ending, Execution};
use crate::thread_names::ThreadNames;
use crate::views::{Holders, follow};

pub use sight::{FrameSight, ThreadSight};
pub use walk::Direction;
pub use watch::{NotReadable, Watch};

/// Maximum number of steps of a trace that is written out: longer ones keep the calls that run at once.
const MAX_STEPS: u128 = 50_000;

/// An execution with all its states.
pub struct Session<'a> {
    pub context: Context<'a>,
    annotator: Annotator<'a>,
    names: ThreadNames,
    /// The steps; of those that are one statement, the last.
    steps: Vec<Step>,
    /// The start, and the state after each step; the last step has none if it fails an assertion.
    states: Vec<State>,
    told: Vec<AnnotatedStep>,
    ending: Option<Ending>,
}

/// Returns the last step of a statement: behind it there may be steps of other threads that nobody sees.
fn step_of<'e>(execution: &Execution<'e>, told: &AnnotatedStep) -> &'e Step {
    let is_it = |step: &&Step| (step.thread, step.edge) == (told.thread, told.edge);
    execution.steps[..=told.last].iter().rev().find(is_it).unwrap_or(&execution.steps[told.last])
}

impl<'a> Session<'a> {
    /// The session of a counterexample. Calls that share a body are written out, unless that is too long.
    pub fn of(context: Context<'a>, task: &Task<'_>, found: &Counterexample) -> Session<'a> {
        if found.trace.bodies.is_empty() || found.trace.length() > MAX_STEPS {
            return Session::new(context, &Execution::of(found));
        }
        let trace: Trace = found.trace.written_out();
        match replay(task, &trace) {
            // What does not matter is counted by steps of the shorter trace, so it is left out here.
            Ok(replayed) => Session::new(context, &Execution::of(&Counterexample::new(trace, replayed))),
            Err(_) => Session::new(context, &Execution::of(found)),
        }
    }

    /// The session of any execution.
    pub fn new(context: Context<'a>, execution: &Execution<'_>) -> Session<'a> {
        let annotated = AnnotatedTrace::by_statements(context, *execution);
        let last = execution.states.last().unwrap_or(execution.start);
        let after = |told: &AnnotatedStep| execution.states.get(told.last).unwrap_or(last);
        Session {
            context,
            annotator: Annotator::new(context),
            names: annotated.names,
            steps: annotated.steps.iter().map(|told| step_of(execution, told).clone()).collect(),
            states: std::iter::once(execution.start).chain(annotated.steps.iter().map(after)).cloned().collect(),
            told: annotated.steps,
            ending: annotated.ending,
        }
    }

    /// The last position.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether no step was made.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The state at a position. A step that fails its assertion leaves the state as it is.
    pub fn state(&self, position: usize) -> &State {
        &self.states[position.min(self.states.len() - 1)]
    }

    /// The step that leads to a position.
    pub fn step(&self, position: usize) -> Option<&Step> {
        self.steps.get(position.checked_sub(1)?)
    }

    /// Returns what happened in the step that leads to a position.
    pub fn told(&self, position: usize) -> Option<&AnnotatedStep> {
        self.told.get(position.checked_sub(1)?)
    }

    /// Returns all steps with annotations.
    pub fn annotated(&self) -> &[AnnotatedStep] {
        &self.told
    }

    /// All steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The error at the end, if there is one.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Appends a step with its outcome. `violation` is the error that it leads to.
    pub fn push(&mut self, step: Step, outcome: Outcome, violation: Option<&Violation>) {
        let after = match outcome {
            Outcome::Next(state) => Some(state),
            Outcome::Blocked | Outcome::Failed => None,
        };
        after.iter().for_each(|state| self.names.see(self.context, state));
        let before = self.state(self.len());
        self.told.push(self.annotator.step(&self.names, &self.holders(self.len()), &step, before, after.as_ref()));
        self.steps.push(step);
        self.states.extend(after);
        self.set_ending(violation);
    }

    /// Returns what a step that can be made at the end would do.
    pub fn preview(&self, step: &Step, outcome: &Outcome) -> AnnotatedStep {
        let after = match outcome {
            Outcome::Next(state) => Some(state),
            Outcome::Blocked | Outcome::Failed => None,
        };
        let mut names = self.names.clone();
        after.iter().for_each(|state| names.see(self.context, state));
        self.annotator.step(&names, &self.holders(self.len()), step, self.state(self.len()), after)
    }

    /// Says in which error the execution ends, if in one.
    pub fn set_ending(&mut self, violation: Option<&Violation>) {
        let (start, states) = self.states.split_first().expect("there is a start");
        let execution = Execution { steps: &self.steps, start, states, violation, irrelevant: None };
        self.ending = violation.map(|violation| self.annotator.ending(&self.names, violation, execution));
    }

    /// Takes steps back, up to a position.
    pub fn truncate(&mut self, position: usize) {
        self.steps.truncate(position);
        self.told.truncate(position);
        self.states.truncate(position + 1);
        self.names = ThreadNames::new(self.context, &self.states);
        self.ending = None;
    }

    /// The choices of the execution.
    pub fn trace(&self, start: selvedge_ir::trace::Start) -> Trace {
        Trace { start, steps: self.steps.clone(), bodies: Vec::new() }
    }

    /// The names of the threads.
    pub fn names(&self) -> &ThreadNames {
        &self.names
    }

    /// Returns who holds which lock at a position.
    pub(crate) fn holders(&self, position: usize) -> Holders {
        let mut holders = Holders::new();
        for told in &self.told[..position.min(self.told.len())] {
            follow(self.context.map, &mut holders, &self.names, told.thread, &told.changes);
        }
        holders
    }

    pub(crate) fn annotator(&self) -> &Annotator<'a> {
        &self.annotator
    }
}

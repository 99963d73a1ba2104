//! Executing a trace.

use std::fmt;

use selvedge_check::Task;
use selvedge_ir::trace::{ThreadId, Trace};
use selvedge_ir::{EdgeId, LocId};

use crate::interpreter::{Illegal, Interpreter, Outcome};
use crate::state::State;

/// A trace that was executed: it is one of the program, and ends in an error that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The initial state.
    pub start: State,
    /// The state after each step. The last step of a trace to a failed assertion has none.
    pub states: Vec<State>,
    /// The error.
    pub violation: Violation,
}

/// The error in which a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The last step fails this assertion.
    Assert {
        /// Whose step it is.
        thread: ThreadId,
        /// The assertion.
        edge: EdgeId,
    },
    /// A thread stands at this location.
    Location {
        /// Who stands there.
        thread: ThreadId,
        /// The location.
        loc: LocId,
    },
}

/// Where a trace goes wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Before the first step, or in the step with this number, or after the last.
    pub moment: Moment,
    /// What is wrong.
    pub reason: Reason,
}

/// A moment of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The initial state.
    Start,
    /// The step with this number, from 0.
    Step(usize),
    /// The end.
    End,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This is no step, or no start, of the program.
    Illegal(Illegal),
    /// A condition does not hold.
    Blocked,
    /// An assertion fails that was not asked for.
    OtherFailure,
    /// The trace goes on after its error.
    GoesOn,
    /// The trace ends without an error.
    NoError,
}

/// Executes a trace. It must be one of the program from start to end, and its first error its end.
pub fn replay(task: &Task<'_>, trace: &Trace) -> Result<Replay, Mismatch> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let wrong = |moment, reason| Err(Mismatch { moment, reason });
    let start = match interpreter.start(&trace.start) {
        Ok(start) => start,
        Err(illegal) => return wrong(Moment::Start, Reason::Illegal(illegal)),
    };
    let mut states: Vec<State> = Vec::with_capacity(trace.steps.len());
    for (number, step) in trace.steps.iter().enumerate() {
        let state = states.last().unwrap_or(&start);
        let moment = Moment::Step(number);
        if reached(task, state).is_some() {
            return wrong(moment, Reason::GoesOn);
        }
        match interpreter.step(state, step) {
            Ok(Outcome::Next(next)) => states.push(next),
            Ok(Outcome::Blocked) => return wrong(moment, Reason::Blocked),
            Ok(Outcome::Failed) if !task.target.has_assert(step.edge) => return wrong(moment, Reason::OtherFailure),
            Ok(Outcome::Failed) if number + 1 < trace.steps.len() => {
                return wrong(Moment::Step(number + 1), Reason::GoesOn);
            }
            Ok(Outcome::Failed) => {
                let violation = Violation::Assert { thread: step.thread, edge: step.edge };
                return Ok(Replay { start, states, violation });
            }
            Err(illegal) => return wrong(moment, Reason::Illegal(illegal)),
        }
    }
    match reached(task, states.last().unwrap_or(&start)) {
        Some(violation) => Ok(Replay { start, states, violation }),
        None => wrong(Moment::End, Reason::NoError),
    }
}

/// The first thread that stands at a target location.
pub fn reached(task: &Task<'_>, state: &State) -> Option<Violation> {
    let mut threads = state.threads.iter();
    let thread = threads.find(|thread| task.target.has_loc(thread.loc()))?;
    Some(Violation::Location { thread: thread.id, loc: thread.loc() })
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.moment {
            Moment::Start => write!(f, "at the start: ")?,
            Moment::Step(number) => write!(f, "in step {}: ", number + 1)?,
            Moment::End => write!(f, "at the end: ")?,
        }
        match &self.reason {
            Reason::Illegal(illegal) => write!(f, "{illegal}"),
            Reason::Blocked => write!(f, "a condition does not hold"),
            Reason::OtherFailure => write!(f, "an assertion fails that was not asked for"),
            Reason::GoesOn => write!(f, "the trace goes on after its error"),
            Reason::NoError => write!(f, "the trace ends without an error"),
        }
    }
}

//! Deadlocks: states in which a thread is alive and no thread has a step.
//!
//! All steps of the state are tried, one by one: of each thread that may move, along each edge, with all choices and
//! fresh values. If a thread holds the atomic flag, it alone may move. The failure of an assertion is a step: the run
//! does not wait, it ends.

use selvedge_check::execution::State;
use selvedge_check::{Step, Task, Violation};

use crate::interpreter::{Interpreter, Outcome};
use crate::replay::{Reason, reached};

/// The most steps of one state that are tried.
const MOST_STEPS: usize = 1 << 22;

impl Interpreter<'_> {
    /// Lists all steps of a state, blocked ones included.
    pub fn all_steps<'i>(&'i self, state: &'i State) -> impl Iterator<Item = Step> + 'i {
        state.threads.iter().enumerate().flat_map(move |(position, thread)| {
            let edges = self.edges(state, thread);
            edges.iter().flat_map(move |edge| self.steps(state, position, *edge))
        })
    }

    /// Returns whether a state is a deadlock.
    pub fn is_deadlock(&self, state: &State) -> Result<bool, Reason> {
        for (number, step) in self.all_steps(state).enumerate() {
            if number >= MOST_STEPS {
                return Err(Reason::TooManySteps);
            }
            if self.step(state, &step).map_err(Reason::Illegal)? != Outcome::Blocked {
                return Ok(false);
            }
        }
        Ok(!state.threads.is_empty())
    }

    /// Returns the error of the last state of a trace, if it has one.
    pub fn last_error(&self, task: &Task<'_>, state: &State) -> Result<Option<Violation>, Reason> {
        match reached(task, state) {
            None if task.target.deadlock && self.is_deadlock(state)? => {
                let waiting = state.threads.iter().map(|thread| (thread.id, thread.loc()));
                Ok(Some(Violation::Deadlock(waiting.collect())))
            }
            error => Ok(error),
        }
    }
}

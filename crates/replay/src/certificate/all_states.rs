//! Visits all states of a program, one by one.
//!
//! The order of work: all starts, then the successors of each state that was found. States that differ only in the
//! numbers of their threads are one state ([`canonical`]). The invariant: each state that was found has been looked at,
//! or waits. It ends because there is a limit on the states. It is right because the interpreter lists all starts and
//! all steps, so that a state that can be reached is found, and each is looked at: no thread is at a target, no target
//! assertion fails in it, and, if deadlocks are asked for, some step is not blocked.

use std::collections::HashSet;

use selvedge_check::execution::State;
use selvedge_check::{Run, Task, ThreadScope, Violation};
use selvedge_ir::{Count, LocId};

use super::{Flaw, Refused, Unjudged};
use crate::canonical::canonical;
use crate::interpreter::{Interpreter, Outcome};
use crate::replay::reached;

/// The most states that are looked at.
const MOST_STATES: usize = 250_000;

/// Checks that no state is an error.
pub(super) fn verify(task: &Task<'_>, run: &Run<'_>) -> Result<(), Refused> {
    let interpreter = Interpreter::new(task.program, task.threads);
    interpreter.enumerable().map_err(|_| Unjudged::Beyond("it has integers with too many values"))?;
    let mut visit = Visit { task, run, interpreter, known: HashSet::new(), waiting: Vec::new() };
    visit.start(most_threads(task)?)?;
    while let Some(state) = visit.waiting.pop() {
        visit.look_at(&state)?;
    }
    Ok(())
}

/// Returns the greatest number of initial threads.
fn most_threads(task: &Task<'_>) -> Result<u32, Flaw> {
    if let ThreadScope::AtMost(bound) | ThreadScope::Created(bound) = task.threads {
        return Ok(bound);
    }
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => Some(count),
        Count::Any => None,
    };
    let all: Option<u32> = task.program.entries.iter().map(|entry| most(entry.count)).sum();
    all.ok_or(Flaw::OutOfScope("any number of threads may start"))
}

struct Visit<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    interpreter: Interpreter<'a>,
    known: HashSet<State>,
    waiting: Vec<State>,
}

impl Visit<'_> {
    fn start(&mut self, most_threads: u32) -> Result<(), Refused> {
        let starts: Vec<_> = self.interpreter.starts(most_threads).take(MOST_STATES + 1).collect();
        if starts.len() > MOST_STATES {
            return Err(Unjudged::Beyond("it has too many starts").into());
        }
        for start in starts {
            let state = self.interpreter.start(&start).map_err(|_| Flaw::Malformed(None))?;
            self.add(state)?;
        }
        Ok(())
    }

    fn add(&mut self, state: State) -> Result<(), Refused> {
        self.run.tick()?;
        let state = canonical(state, self.task.threads);
        if self.known.insert(state.clone()) {
            self.waiting.push(state);
        }
        if self.known.len() > MOST_STATES {
            return Err(Unjudged::Beyond("it has too many states").into());
        }
        Ok(())
    }

    /// Checks that a state is no error, and finds its successors.
    fn look_at(&mut self, state: &State) -> Result<(), Refused> {
        if let Some(error) = reached(self.task, state) {
            return Err(Flaw::Location(place(&error, state)).into());
        }
        let mut has_step = false;
        let mut after = Vec::new();
        for step in self.interpreter.all_steps(state) {
            self.run.tick()?;
            match self.interpreter.step(state, &step).map_err(|_| Flaw::Malformed(None))? {
                Outcome::Blocked => continue,
                Outcome::Failed if self.task.target.has_assert(step.edge) => return Err(Flaw::Assert(step.edge).into()),
                Outcome::Failed => {}
                Outcome::Next(next) => after.push(next),
            }
            has_step = true;
        }
        match state.threads.first() {
            Some(thread) if self.task.target.deadlock && !has_step => Err(Flaw::Deadlock(thread.loc()).into()),
            _ => after.into_iter().try_for_each(|next| self.add(next)),
        }
    }
}

/// Returns a location of an error of a state.
fn place(error: &Violation, state: &State) -> LocId {
    match error {
        Violation::Location { loc, .. } => *loc,
        Violation::Together(stands) | Violation::Deadlock(stands) => stands[0].1,
        Violation::Assert { thread, .. } => state.thread(*thread).map_or(LocId::new(0), |thread| thread.loc()),
    }
}

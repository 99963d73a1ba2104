//! Visits all states of a program, one by one.
//!
//! The order of work: all starts, then the successors of each state that was found. States that differ only in the
//! numbers of their threads ([`canonical`]), or in values that no thread reads later ([`super::dead`]), are one state.
//! The invariant: each state that was found has been looked at, or waits. It ends because there is a limit on the
//! states. It is right because the interpreter lists all starts and all steps, so that a state that can be reached is
//! found, and each is looked at: no thread is at a target, no target assertion fails in it, and, if deadlocks are asked
//! for, some step is not blocked.
//!
//! # Deadlocks
//!
//! If nothing else is asked for, a *quiet* thread may move alone: all steps of which the thread has a choice are
//! invisible ([`crate::commutation`]), one of them is not blocked, and all states that they lead to are new. Let a
//! deadlock be reached from such a state. If the thread moves on the way, its first step is one of those, and commutes
//! with the steps of others before it: the deadlock is as far as before, less one step. If it does not move, it is
//! another thread that holds the atomic flag then, and is blocked, since otherwise it could move at last: it may as
//! well move first, which no other thread notices. The second case repeats itself only until a state is met at which
//! all threads move, which is after finitely many steps, since all states on the way are new.

use std::collections::HashSet;

use selvedge_check::execution::{State, Thread};
use selvedge_check::{Run, Task, ThreadScope, Violation};
use selvedge_ir::{Count, LocId, Op, Target};

use super::dead::Dead;
use super::{Flaw, Refused, Unjudged};
use crate::canonical::canonical;
use crate::commutation::Commutation;
use crate::interpreter::{Interpreter, Outcome};
use crate::replay::reached;

/// The most states that are looked at.
const MOST_STATES: usize = 250_000;

/// Checks that no state is an error.
pub(super) fn verify(task: &Task<'_>, run: &Run<'_>) -> Result<(), Refused> {
    let dead = Dead::new(task.program);
    let interpreter = Interpreter::new(task.program, task.threads).settling(dead.at_beginnings());
    interpreter.enumerable().map_err(|_| Unjudged::Beyond("it has integers with too many values"))?;
    let (known, commutation) = (HashSet::new(), Commutation::new(task.program));
    let mut visit = Visit { task, run, interpreter, dead, commutation, known, waiting: Vec::new() };
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
    dead: Dead<'a>,
    commutation: Commutation<'a>,
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

    /// Returns the state that stands for all that are alike.
    fn plain(&self, state: State) -> State {
        canonical(self.dead.forget(state), self.task.threads)
    }

    fn add(&mut self, state: State) -> Result<(), Refused> {
        self.run.tick()?;
        let state = self.plain(state);
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
        for position in self.quiet(state) {
            let (after, _) = self.after(state, Some(position))?;
            let is_new = |next: &State| !self.known.contains(&self.plain(next.clone()));
            if !after.is_empty() && after.iter().all(is_new) {
                return after.into_iter().try_for_each(|next| self.add(next));
            }
        }
        let (after, has_step) = self.after(state, None)?;
        match state.threads.first() {
            Some(thread) if self.task.target.deadlock && !has_step => Err(Flaw::Deadlock(thread.loc()).into()),
            _ => after.into_iter().try_for_each(|next| self.add(next)),
        }
    }

    /// Returns the threads, by position, of which all steps are invisible, if deadlocks are all that is asked for.
    fn quiet(&self, state: &State) -> Vec<usize> {
        let Target { deadlock, locs, asserts, together } = self.task.target;
        if !deadlock || !locs.is_empty() || !asserts.is_empty() || !together.is_empty() {
            return Vec::new();
        }
        let is_quiet = |thread: &Thread| {
            let caller = thread.stack.iter().rev().nth(1).and_then(|frame| frame.call);
            let edges = self.interpreter.edges(state, thread).iter();
            edges.len() > 0
                && edges
                    .map(|edge| &self.task.program.edges[*edge])
                    .all(|edge| !matches!(edge.op, Op::Assert(_)) && self.commutation.is_invisible(edge, caller))
        };
        (0..state.threads.len()).filter(|position| is_quiet(&state.threads[*position])).collect()
    }

    /// Returns the states after the steps of a thread, or of all, and whether some step is not blocked.
    fn after(&self, state: &State, only: Option<usize>) -> Result<(Vec<State>, bool), Refused> {
        let (mut after, mut has_step) = (Vec::new(), false);
        let only = only.map(|position| state.threads[position].id);
        for step in self.interpreter.all_steps(state).filter(|step| only.is_none_or(|only| step.thread == only)) {
            self.run.tick()?;
            match self.interpreter.step(state, &step).map_err(|_| Flaw::Malformed(None))? {
                Outcome::Blocked => continue,
                Outcome::Failed if self.task.target.has_assert(step.edge) => return Err(Flaw::Assert(step.edge).into()),
                Outcome::Failed => {}
                Outcome::Next(next) => after.push(next),
            }
            has_step = true;
        }
        Ok((after, has_step))
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

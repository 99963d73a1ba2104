//! Executing a trace.

use std::collections::HashMap;

use selvedge_check::{Replay, Task, Violation};
use selvedge_ir::LocId;
use selvedge_ir::trace::{Step, ThreadId, Trace};

use crate::interpreter::{Illegal, Interpreter, Outcome};
use selvedge_check::execution::{State, Thread};

/// A mistake of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Before the first step, or in the step with this number, or after the last.
    pub moment: Moment,
    /// The mistake.
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

/// A kind of mistake of a trace.
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
    /// The body of a call does not run from the callee's entry through its return, or may not be used here.
    WrongBody,
    /// Its bodies have more steps, or are nested more deeply, than are executed.
    TooLong,
    /// More steps would have to be tried than are, to know that its last state is a deadlock.
    TooManySteps,
}

/// The most steps of bodies that are executed, and the most bodies inside of one another.
const MOST: [usize; 2] = [10_000_000, 50_000];

/// Executes a trace. It must be one of the program from start to end, and its first error its end.
pub fn replay(task: &Task<'_>, trace: &Trace) -> Result<Replay, Mismatch> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let mut runner = Runner { task, interpreter, bodies: &trace.bodies, known: HashMap::new(), left: MOST };
    let at = |moment| move |reason| Mismatch { moment, reason };
    let start = runner.interpreter.start(&trace.start).map_err(Reason::Illegal).map_err(at(Moment::Start))?;
    let mut states: Vec<State> = Vec::with_capacity(trace.steps.len());
    for (number, step) in trace.steps.iter().enumerate() {
        let state = states.last().unwrap_or(&start);
        match runner.step(state, step, trace.bodies.len()).map_err(at(Moment::Step(number)))? {
            Some(next) => states.push(next),
            None if number + 1 < trace.steps.len() => {
                return Err(Mismatch { moment: Moment::Step(number + 1), reason: Reason::GoesOn });
            }
            None => {
                let violation = Violation::Assert { thread: step.thread, edge: step.edge };
                return Ok(Replay { start, states, violation });
            }
        }
    }
    match runner.interpreter.last_error(task, states.last().unwrap_or(&start)).map_err(at(Moment::End))? {
        Some(violation) => Ok(Replay { start, states, violation }),
        None => Err(Mismatch { moment: Moment::End, reason: Reason::NoError }),
    }
}

/// Executes steps, each body once per state in which it begins.
struct Runner<'a> {
    task: &'a Task<'a>,
    interpreter: Interpreter<'a>,
    bodies: &'a [Vec<Step>],
    /// The states before the return of a body, by body and state at its beginning.
    known: HashMap<(u32, State), State>,
    /// The steps of bodies that may still be executed, and the bodies that may still be begun inside of this one.
    left: [usize; 2],
}

impl Runner<'_> {
    /// The state after a step; `None` if it fails an assertion that was asked for. Bodies from `n_bodies` on may not be
    /// used, so that bodies end.
    fn step(&mut self, state: &State, step: &Step, n_bodies: usize) -> Result<Option<State>, Reason> {
        if reached(self.task, state).is_some() {
            return Err(Reason::GoesOn);
        }
        match self.interpreter.step(state, step).map_err(Reason::Illegal)? {
            Outcome::Blocked => Err(Reason::Blocked),
            Outcome::Failed if step.body.is_some() => Err(Reason::WrongBody),
            Outcome::Failed if self.task.target.has_assert(step.edge) => Ok(None),
            Outcome::Failed => Err(Reason::OtherFailure),
            Outcome::Next(next) => match step.body {
                None => Ok(Some(next)),
                Some(body) if (body as usize) < n_bodies => self.call(state, next, body).map(Some),
                Some(_) => Err(Reason::WrongBody),
            },
        }
    }

    /// The state after a whole call that has just been made. What the body does up to its return depends only on what
    /// the callee sees, since no other thread lives: it runs in a state of its own, with the callee's frame alone, and
    /// its effect is then put under the caller, where the return is made. A thread that ends inside of a body leaves
    /// nothing to put there.
    fn call(&mut self, before: &State, mut state: State, body: u32) -> Result<State, Reason> {
        let [thread] = state.threads.as_mut_slice() else { return Err(Reason::WrongBody) };
        if before.threads[0].stack.len() + 1 != thread.stack.len() {
            return Err(Reason::WrongBody);
        }
        let frame = thread.stack.pop().expect("a call pushed a frame");
        let alone = State { threads: vec![Thread { stack: vec![frame], ..thread.clone() }], ..state.clone() };
        let end = self.body(alone, body)?;
        let [at_return] = end.threads.as_slice() else { return Err(Reason::WrongBody) };
        let thread = &mut state.threads[0];
        // A thread that the body started would have to be counted, and the end of the prelude starts threads.
        if at_return.id != thread.id || end.prelude != state.prelude || end.next_thread != state.next_thread {
            return Err(Reason::WrongBody);
        }
        thread.vars.clone_from(&at_return.vars);
        thread.stack.extend(at_return.stack.iter().cloned());
        state.shared = end.shared;
        state.holder = end.holder;
        let last = self.bodies[body as usize].last().ok_or(Reason::WrongBody)?;
        let after = self.step(&state, last, 0)?.ok_or(Reason::WrongBody)?;
        let [thread] = after.threads.as_slice() else { return Err(Reason::WrongBody) };
        let returned = thread.id == before.threads[0].id && thread.stack.len() == before.threads[0].stack.len();
        if returned { Ok(after) } else { Err(Reason::WrongBody) }
    }

    /// The state before the last step of a body.
    fn body(&mut self, start: State, body: u32) -> Result<State, Reason> {
        let key = (body, start);
        if let Some(end) = self.known.get(&key) {
            return Ok(end.clone());
        }
        let bodies = self.bodies;
        let (_, steps) = bodies[body as usize].split_last().ok_or(Reason::WrongBody)?;
        let mut state = key.1.clone();
        self.left[1] = self.left[1].checked_sub(1).ok_or(Reason::TooLong)?;
        for step in steps {
            self.left[0] = self.left[0].checked_sub(1).ok_or(Reason::TooLong)?;
            state = self.step(&state, step, body as usize)?.ok_or(Reason::WrongBody)?;
        }
        self.left[1] += 1;
        self.known.insert(key, state.clone());
        Ok(state)
    }
}

/// Returns the error of a state: the first thread at a target location, or else the first meeting of the target that
/// takes place.
pub fn reached(task: &Task<'_>, state: &State) -> Option<Violation> {
    if let Some(thread) = state.threads.iter().find(|thread| task.target.has_loc(thread.loc())) {
        return Some(Violation::Location { thread: thread.id, loc: thread.loc() });
    }
    task.target.together.iter().find_map(|meeting| meet(state, meeting)).map(Violation::Together)
}

/// Gives each location of a meeting a thread of its own that is there, if there are such.
fn meet(state: &State, meeting: &[LocId]) -> Option<Vec<(ThreadId, LocId)>> {
    let mut met: Vec<(ThreadId, LocId)> = Vec::new();
    for loc in meeting {
        let is_free = |thread: &&Thread| met.iter().all(|(other, _)| *other != thread.id);
        let thread = state.threads.iter().filter(|thread| thread.loc() == *loc).find(is_free)?;
        met.push((thread.id, *loc));
    }
    Some(met)
}

//! Executions, represented by the choices made; states are recomputed where they are needed.
//!
//! The types are here, and not with the verdicts, because each pass maps executions of its result to executions of its
//! input.

use crate::syntax::{EdgeId, EntryId, Value, VarId};

/// A thread, numbered in the order of creation: the prelude's thread (if any) first, then the initial threads, then
/// spawned ones. Numbers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// Values of variables that start with any value. Those that are not listed are `false` or zero.
pub type Fresh = Vec<(VarId, Value)>;

/// An execution: how it starts, and its steps.
///
/// A path through a chain of calls that each call the next one twice is exponentially long when written out. So a call
/// may refer to a *body*, a list of steps from the callee's entry through its return, which any number of calls share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The initial state.
    pub start: Start,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The bodies of calls. A body refers only to earlier ones.
    pub bodies: Vec<Vec<Step>>,
}

/// The choices that make an initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The choices in the initial values of shared variables.
    pub choices: Vec<Value>,
    /// The shared variables without initial value, and the locals of the prelude.
    pub fresh: Fresh,
    /// The initial threads, in order.
    pub threads: Vec<StartThread>,
}

/// The choices that make an initial thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StartThread {
    /// Its kind.
    pub entry: EntryId,
    /// The choices in the initial values of its per-thread variables.
    pub choices: Vec<Value>,
    /// Its per-thread variables without initial value, and the locals of its first procedure.
    pub fresh: Fresh,
}

/// One step of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread that moves.
    pub thread: ThreadId,
    /// The edge that it takes.
    pub edge: EdgeId,
    /// The values of the edge's choices, by number; the entries of choices that are made per other thread are ignored.
    pub choices: Vec<Value>,
    /// For each other thread that takes part in a passive read or assignment, in the order of their numbers: the values
    /// of all choices of the edge for that thread; the entries of choices that are made only once are ignored.
    pub passive: Vec<Vec<Value>>,
    /// The locals of a callee or of a started thread.
    pub fresh: Fresh,
    /// For a call: the number of the body that runs at once, through its return. Only if no other thread is alive, and
    /// for bodies that start none.
    pub body: Option<u32>,
}

impl Trace {
    /// Returns the number of steps of the trace without sharing, or the largest `u128` if there are more.
    pub fn length(&self) -> u128 {
        let mut lengths: Vec<u128> = Vec::new();
        for body in &self.bodies {
            lengths.push(total(body, &lengths));
        }
        total(&self.steps, &lengths)
    }

    /// Returns the same execution without bodies.
    #[must_use]
    pub fn written_out(&self) -> Trace {
        let mut steps = Vec::new();
        // The rest of each list that is being written, the innermost last.
        let mut open = vec![self.steps.iter()];
        while let Some(rest) = open.last_mut() {
            match rest.next() {
                Some(step) => {
                    steps.push(Step { body: None, ..step.clone() });
                    if let Some(body) = step.body {
                        open.push(self.bodies[body as usize].iter());
                    }
                }
                None => {
                    open.pop();
                }
            }
        }
        Trace { start: self.start.clone(), steps, bodies: Vec::new() }
    }
}

fn total(steps: &[Step], lengths: &[u128]) -> u128 {
    let of_body = |step: &Step| step.body.map_or(0, |body| lengths[body as usize]);
    steps.iter().fold(0, |sum: u128, step| sum.saturating_add(of_body(step)).saturating_add(1))
}

//! Lifts executions of one thread to executions of threads that take turns.

use std::collections::BTreeMap;

use index_vec::IndexVec;

use crate::passes::lift::old_fresh;
use crate::syntax::{EdgeId, EntryId, Program, Ty, VarId};
use crate::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use crate::visit::init_choices;

/// Maps executions of the sequential program that end in its error to executions of threads that take turns.
#[derive(Clone, Debug)]
pub struct SequentialLift {
    purposes: IndexVec<EdgeId, Purpose>,
    /// For each new variable the old one whose fresh value it holds.
    vars: IndexVec<VarId, Option<VarId>>,
    /// The number of choices in the initial values of shared variables.
    n_choices: usize,
    /// The types of the choices in the initial values of each thread.
    entries: IndexVec<EntryId, Vec<Ty>>,
    has_prelude: bool,
}

/// The purpose of an edge of the sequential program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The guesses become the values of the later contexts.
    Guess,
    /// The prelude runs.
    Prelude,
    /// The variables that initial values of threads read are stored.
    Keep,
    /// A thread begins; after the choices of its initial values come those for these variables.
    Begin(EntryId, Vec<VarId>),
    /// A thread's first procedure is called; the choices are for these parameters.
    Root(EntryId, Vec<VarId>),
    /// A thread idles in all its contexts.
    Idle(EntryId),
    /// The Checker.
    Check,
    /// The assertion, and what follows.
    Confirm,
    /// The thread goes to its next context.
    Advance,
    /// The thread stops for good.
    Stop,
    /// A procedure returns because its thread makes no more steps.
    Leave,
    /// A procedure goes on after a call.
    Back,
    /// An old step, with the same choices.
    Step(EdgeId),
    /// An old step that fails.
    Fails(EdgeId),
    /// The thread is at an error location.
    Reached,
}

impl Purpose {
    /// Returns the old edge that it executes.
    pub fn origin(&self) -> Option<EdgeId> {
        match self {
            Purpose::Step(edge) | Purpose::Fails(edge) => Some(*edge),
            _ => None,
        }
    }
}

/// The time of a step: in the prelude, or in a context of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    Prelude,
    Context(u32, EntryId),
}

impl SequentialLift {
    pub(super) fn new(
        old: &Program,
        purposes: IndexVec<EdgeId, Purpose>,
        vars: IndexVec<VarId, Option<VarId>>,
    ) -> SequentialLift {
        SequentialLift {
            purposes,
            vars,
            n_choices: init_choices(&old.init).len(),
            entries: old.entries.iter().map(|entry| init_choices(&entry.init)).collect(),
            has_prelude: old.prelude.is_some(),
        }
    }

    /// Returns the purpose of an edge.
    pub fn purpose(&self, edge: EdgeId) -> &Purpose {
        &self.purposes[edge]
    }

    /// Returns the execution of the threads, which ends with the first error of the sequential one.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let trace = trace.written_out();
        let mut lifter = TraceLifter::new(self, &trace.start);
        trace.steps.iter().for_each(|step| lifter.step(step));
        lifter.finish()
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        old_fresh(&self.vars, fresh)
    }
}

/// The execution lifted so far.
struct TraceLifter<'l> {
    lift: &'l SequentialLift,
    now: When,
    start: Start,
    pieces: BTreeMap<When, Vec<Step>>,
    /// The time of the first error, and the number of steps of that piece before it.
    error: Option<(When, usize)>,
}

impl<'l> TraceLifter<'l> {
    fn new(lift: &'l SequentialLift, start: &Start) -> TraceLifter<'l> {
        let thread = |(entry, choices): (EntryId, &Vec<Ty>)| StartThread {
            entry,
            choices: choices.iter().map(|ty| ty.default_value()).collect(),
            fresh: Vec::new(),
        };
        let start = Start {
            choices: start.choices[..lift.n_choices].to_vec(),
            fresh: lift.fresh(&start.fresh),
            threads: lift.entries.iter_enumerated().map(thread).collect(),
        };
        TraceLifter { lift, now: When::Prelude, start, pieces: BTreeMap::new(), error: None }
    }

    fn step(&mut self, step: &Step) {
        match &self.lift.purposes[step.edge] {
            Purpose::Guess | Purpose::Keep | Purpose::Idle(_) | Purpose::Check | Purpose::Confirm => {}
            Purpose::Stop | Purpose::Leave | Purpose::Back => {}
            Purpose::Prelude => self.start.fresh.extend(self.lift.fresh(&step.fresh)),
            Purpose::Begin(entry, open) => {
                self.now = When::Context(0, *entry);
                let n_choices = self.lift.entries[*entry].len();
                let thread = &mut self.start.threads[entry.index()];
                thread.choices = step.choices[..n_choices].to_vec();
                thread.fresh.extend(open.iter().copied().zip(step.choices[n_choices..].iter().copied()));
            }
            Purpose::Root(entry, params) => {
                let params = params.iter().copied().zip(step.choices.iter().copied());
                let fresh = self.lift.fresh(&step.fresh);
                self.start.threads[entry.index()].fresh.extend(params.chain(fresh));
            }
            Purpose::Advance => {
                if let When::Context(context, _) = &mut self.now {
                    *context += 1;
                }
            }
            Purpose::Step(edge) => self.push(step, *edge),
            Purpose::Fails(edge) => {
                self.push(step, *edge);
                self.meet_error();
            }
            Purpose::Reached => self.meet_error(),
        }
    }

    fn push(&mut self, step: &Step, edge: EdgeId) {
        let first = u32::from(self.lift.has_prelude);
        let thread = match self.now {
            When::Prelude => ThreadId(0),
            When::Context(_, entry) => ThreadId(first + entry.index() as u32),
        };
        let fresh = self.lift.fresh(&step.fresh);
        let old = Step { thread, edge, fresh, body: None, ..step.clone() };
        self.pieces.entry(self.now).or_default().push(old);
    }

    fn meet_error(&mut self) {
        let n_steps = self.pieces.get(&self.now).map_or(0, Vec::len);
        if self.error.is_none_or(|(when, _)| self.now < when) {
            self.error = Some((self.now, n_steps));
        }
    }

    /// Returns the pieces in their order, up to the error.
    fn finish(self) -> Trace {
        let TraceLifter { start, pieces, error, .. } = self;
        let cut = |(when, mut piece): (When, Vec<Step>)| -> Vec<Step> {
            if let Some((last, n_steps)) = error {
                piece.truncate(match when.cmp(&last) {
                    std::cmp::Ordering::Less => piece.len(),
                    std::cmp::Ordering::Equal => n_steps,
                    std::cmp::Ordering::Greater => 0,
                });
            }
            piece
        };
        Trace { start, steps: pieces.into_iter().flat_map(cut).collect(), bodies: Vec::new() }
    }
}

//! Lifts executions of a fixed list of threads to executions of the original program.

use index_vec::IndexVec;

use super::super::lift::{Lift, old_fresh};
use crate::syntax::{EdgeId, EntryId, Op, Program, Value, VarId};
use crate::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};

/// Maps executions of a program of a fixed list of threads to those of the program that it was made from.
#[derive(Clone, Debug)]
pub struct FixThreadsLift {
    /// The role of each new edge.
    pub(super) roles: IndexVec<EdgeId, Role>,
    /// For each new variable the old one whose fresh value it holds.
    pub(super) vars: IndexVec<VarId, Option<VarId>>,
    /// The kinds of the initial threads.
    pub(super) initial: Vec<EntryId>,
    /// The number of threads of the new program.
    pub(super) n_slots: usize,
    /// True if a prelude runs before the threads.
    pub(super) has_prelude: bool,
    /// The lift of the inlining that was done first.
    pub(super) inlined: Option<Lift>,
}

/// The role of a new edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The old edge, with the same choices, and the number of frames that it adds to the stack.
    Step(EdgeId, i32),
    /// The old edge, with these choices, if no slot is free and hence no thread is started.
    NoRoom(EdgeId, Vec<Value>),
    /// The old edge, which starts a thread in this slot.
    Starts(EdgeId, usize),
    /// The call of the procedure of an initial thread: its choices are the values of these parameters.
    First(Vec<VarId>),
    /// The call of the procedure of a thread that was started.
    Wakes,
    /// The old edge, which ends the thread as soon as its slot is free.
    Ends(EdgeId),
    /// The slot becomes free.
    Over,
    /// Nothing.
    Silent,
}

/// Returns how many frames a step adds to the stack.
pub(super) fn new_frames(op: &Op) -> i32 {
    match op {
        Op::Call(_) => 1,
        Op::Return(_) => -1,
        _ => 0,
    }
}

impl FixThreadsLift {
    /// Returns the lift of a program that is unchanged.
    pub(super) fn fixed(program: &Program, initial: Vec<EntryId>) -> FixThreadsLift {
        FixThreadsLift {
            // No slot becomes free, whatever the step does to the stack.
            roles: program.edges.indices().map(|id| Role::Step(id, 0)).collect(),
            vars: program.vars.indices().map(Some).collect(),
            n_slots: initial.len(),
            initial,
            has_prelude: program.prelude.is_some(),
            inlined: None,
        }
    }

    /// Returns the old execution that a new one represents.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let trace = trace.written_out();
        let mut lifter = TraceLifter::new(self, &trace.start);
        trace.steps.iter().for_each(|step| lifter.step(step));
        match &self.inlined {
            Some(lift) => lift.trace(&lifter.old),
            None => lifter.old,
        }
    }

    /// Returns the variable of the old program that a new one is or is a copy of.
    pub fn old_var(&self, var: VarId) -> Option<VarId> {
        let old = self.vars[var]?;
        self.inlined.as_ref().map_or(Some(old), |lift| lift.vars[old])
    }

    /// Returns the old edge whose step a new edge makes, if any.
    pub fn old_edge(&self, edge: EdgeId) -> Option<EdgeId> {
        let old = match &self.roles[edge] {
            Role::Step(old, _) | Role::NoRoom(old, _) | Role::Starts(old, _) | Role::Ends(old) => *old,
            Role::First(_) | Role::Wakes | Role::Over | Role::Silent => return None,
        };
        self.inlined.as_ref().map_or(Some(old), |lift| lift.old_edge(old))
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        old_fresh(&self.vars, fresh)
    }
}

/// The thread in a slot.
#[derive(Clone, Debug, Default)]
struct Occupant {
    /// Its number in the old execution.
    id: Option<ThreadId>,
    /// The number of old frames on its stack.
    depth: i32,
    /// The number of the old step that started it.
    started: Option<usize>,
    /// The old step that ends it, once its slot is free.
    end: Option<Step>,
}

/// The execution lifted so far.
struct TraceLifter<'l> {
    lift: &'l FixThreadsLift,
    slots: Vec<Occupant>,
    next_id: u32,
    old: Trace,
}

impl<'l> TraceLifter<'l> {
    fn new(lift: &'l FixThreadsLift, start: &Start) -> TraceLifter<'l> {
        let first = u32::from(lift.has_prelude);
        let n_initial = lift.initial.len() as u32;
        let occupant = |number: u32| Occupant {
            id: (number < n_initial).then_some(ThreadId(first + number)),
            ..Occupant::default()
        };
        let thread = |(entry, thread): (&EntryId, &StartThread)| StartThread {
            entry: *entry,
            choices: thread.choices.clone(),
            fresh: lift.fresh(&thread.fresh),
        };
        let start = Start {
            choices: start.choices.clone(),
            fresh: lift.fresh(&start.fresh),
            threads: lift.initial.iter().zip(&start.threads).map(thread).collect(),
        };
        TraceLifter {
            lift,
            slots: (0..lift.n_slots as u32).map(occupant).collect(),
            next_id: first + n_initial,
            old: Trace { start, ..Trace::default() },
        }
    }

    fn step(&mut self, step: &Step) {
        let first = u32::from(self.lift.has_prelude);
        match step.thread.0.checked_sub(first) {
            Some(slot) => self.step_at(slot as usize, step),
            None => self.step_of_prelude(step),
        }
    }

    fn step_of_prelude(&mut self, step: &Step) {
        if let Role::Step(edge, _) | Role::Ends(edge) = self.lift.roles[step.edge] {
            let old = self.renamed(step, edge, step.thread);
            self.old.steps.push(old);
        }
    }

    fn step_at(&mut self, slot: usize, step: &Step) {
        match &self.lift.roles[step.edge] {
            Role::Step(edge, new_frames) => self.plain_step(slot, self.old_step(slot, step, *edge), *new_frames),
            Role::NoRoom(edge, choices) => {
                let old = Step { choices: choices.clone(), ..self.old_step(slot, step, *edge) };
                self.old.steps.push(old);
            }
            Role::Starts(edge, new_place) => {
                let old = self.old_step(slot, step, *edge);
                let started = Some(self.old.steps.len());
                self.old.steps.push(old);
                let id = Some(ThreadId(self.next_id));
                self.slots[*new_place] = Occupant { id, started, ..Occupant::default() };
                self.next_id += 1;
            }
            Role::First(params) => {
                let params = params.iter().copied().zip(step.choices.iter().copied());
                let fresh = self.lift.fresh(&step.fresh);
                self.old.start.threads[slot].fresh.extend(params.chain(fresh));
                self.slots[slot].depth = 1;
            }
            Role::Wakes => {
                let started = self.slots[slot].started.expect("a thread that wakes was started");
                self.old.steps[started].fresh.extend(self.lift.fresh(&step.fresh));
                self.slots[slot].depth = 1;
            }
            Role::Ends(edge) => self.slots[slot].end = Some(self.old_step(slot, step, *edge)),
            Role::Over => {
                let end = std::mem::take(&mut self.slots[slot]).end;
                self.old.steps.extend(end);
            }
            Role::Silent => {}
        }
    }

    /// Adds a step that stays. The return of a thread's first procedure ends the thread; that step is delayed until its
    /// slot is free.
    fn plain_step(&mut self, slot: usize, old: Step, new_frames: i32) {
        let occupant = &mut self.slots[slot];
        if new_frames < 0 && occupant.depth == 1 {
            occupant.end = Some(old);
        } else {
            occupant.depth += new_frames;
            self.old.steps.push(old);
        }
    }

    fn old_step(&self, slot: usize, step: &Step, edge: EdgeId) -> Step {
        let id = self.slots[slot].id.expect("a thread that makes an old step is live");
        self.renamed(step, edge, id)
    }

    fn renamed(&self, step: &Step, edge: EdgeId, thread: ThreadId) -> Step {
        Step { thread, edge, fresh: self.lift.fresh(&step.fresh), ..step.clone() }
    }
}

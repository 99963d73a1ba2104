//! The way of an execution back from a fixed list of threads.

use index_vec::IndexVec;

use super::super::Lift;
use crate::syntax::{EdgeId, EntryId, Op, Program, Value, VarId};
use crate::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};

/// Maps executions of a program of a fixed list of threads to those of the program that it was made from.
#[derive(Clone, Debug)]
pub struct FixThreadsLift {
    /// What each new edge stands for.
    pub(super) roles: IndexVec<EdgeId, Role>,
    /// For each new variable the old one whose fresh value it holds.
    pub(super) vars: IndexVec<VarId, Option<VarId>>,
    /// The kinds of the initial threads.
    pub(super) crew: Vec<EntryId>,
    /// How many threads the new program has.
    pub(super) n_places: usize,
    /// True if a prelude runs before.
    pub(super) has_prelude: bool,
    /// The way back from the inlining before.
    pub(super) inlined: Option<Lift>,
}

/// What a new edge stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The old edge, with the same choices.
    Step(EdgeId, Kind),
    /// The old edge, where no thread can be started, with these choices.
    NoRoom(EdgeId, Vec<Value>),
    /// The old edge, which starts a thread at this place.
    Starts(EdgeId, usize),
    /// The call of the procedure of an initial thread: its choices are the values of these parameters.
    First(Vec<VarId>),
    /// The call of the procedure of a thread that was started.
    Wakes,
    /// The old edge, which ends the thread as soon as its place is free.
    Ends(EdgeId),
    /// The place becomes free.
    Over,
    /// Nothing.
    Silent,
}

/// What a step does to the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Call,
    Return,
    Other,
}

impl Kind {
    pub(super) fn of(op: &Op) -> Kind {
        match op {
            Op::Call(_) => Kind::Call,
            Op::Return(_) => Kind::Return,
            _ => Kind::Other,
        }
    }
}

impl FixThreadsLift {
    /// Returns the lift of a program that stays as it is.
    pub(super) fn fixed(program: &Program, crew: Vec<EntryId>) -> FixThreadsLift {
        FixThreadsLift {
            // Whatever the step does to the stack: no place becomes free.
            roles: program.edges.indices().map(|id| Role::Step(id, Kind::Other)).collect(),
            vars: program.vars.indices().map(Some).collect(),
            n_places: crew.len(),
            crew,
            has_prelude: program.prelude.is_some(),
            inlined: None,
        }
    }

    /// Returns the old execution that a new one stands for.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let trace = trace.written_out();
        let mut walk = TraceLifter::new(self, &trace.start);
        for step in &trace.steps {
            walk.step(step);
        }
        match &self.inlined {
            Some(lift) => lift.trace(&walk.old),
            None => walk.old,
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
        self.inlined.as_ref().map_or(Some(old), |lift| lift.edges[old].first().map(|step| step.edge))
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        fresh.iter().filter_map(|(var, value)| Some((self.vars[*var]?, *value))).collect()
    }
}

/// A place: who is there.
#[derive(Clone, Debug, Default)]
struct Occupant {
    /// Its number in the old execution.
    id: Option<ThreadId>,
    /// How many old frames its stack has.
    depth: u32,
    /// The number of the old step that started it.
    started: Option<usize>,
    /// The old step that ends it, once its place is free.
    end: Option<Step>,
}

/// The execution as far as it was seen.
struct TraceLifter<'l> {
    lift: &'l FixThreadsLift,
    places: Vec<Occupant>,
    next_id: u32,
    old: Trace,
}

impl<'l> TraceLifter<'l> {
    fn new(lift: &'l FixThreadsLift, start: &Start) -> TraceLifter<'l> {
        let first = u32::from(lift.has_prelude);
        let n_initial = lift.crew.len() as u32;
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
            threads: lift.crew.iter().zip(&start.threads).map(thread).collect(),
        };
        TraceLifter {
            lift,
            places: (0..lift.n_places as u32).map(occupant).collect(),
            next_id: first + n_initial,
            old: Trace { start, ..Trace::default() },
        }
    }

    fn step(&mut self, step: &Step) {
        let first = u32::from(self.lift.has_prelude);
        match step.thread.0.checked_sub(first) {
            Some(place) => self.step_at(place as usize, step),
            None => self.step_of_prelude(step),
        }
    }

    fn step_of_prelude(&mut self, step: &Step) {
        if let Role::Step(edge, _) | Role::Ends(edge) = self.lift.roles[step.edge] {
            let old = self.renamed(step, edge, step.thread);
            self.old.steps.push(old);
        }
    }

    fn step_at(&mut self, place: usize, step: &Step) {
        match &self.lift.roles[step.edge] {
            Role::Step(edge, kind) => self.plain_step(place, self.old_step(place, step, *edge), *kind),
            Role::NoRoom(edge, choices) => {
                let old = Step { choices: choices.clone(), ..self.old_step(place, step, *edge) };
                self.old.steps.push(old);
            }
            Role::Starts(edge, new_place) => {
                let old = self.old_step(place, step, *edge);
                let started = Some(self.old.steps.len());
                self.old.steps.push(old);
                let id = Some(ThreadId(self.next_id));
                self.places[*new_place] = Occupant { id, started, ..Occupant::default() };
                self.next_id += 1;
            }
            Role::First(params) => {
                let params = params.iter().copied().zip(step.choices.iter().copied());
                let fresh = self.lift.fresh(&step.fresh);
                self.old.start.threads[place].fresh.extend(params.chain(fresh));
                self.places[place].depth = 1;
            }
            Role::Wakes => {
                let started = self.places[place].started.expect("a thread that wakes was started");
                self.old.steps[started].fresh.extend(self.lift.fresh(&step.fresh));
                self.places[place].depth = 1;
            }
            Role::Ends(edge) => self.places[place].end = Some(self.old_step(place, step, *edge)),
            Role::Over => {
                let end = std::mem::take(&mut self.places[place]).end;
                self.old.steps.extend(end);
            }
            Role::Silent => {}
        }
    }

    /// A step that stays. The return of a thread's first procedure ends it, which waits until its place is free.
    fn plain_step(&mut self, place: usize, old: Step, kind: Kind) {
        let occupant = &mut self.places[place];
        match kind {
            Kind::Return if occupant.depth == 1 => {
                occupant.end = Some(old);
                return;
            }
            Kind::Return => occupant.depth -= 1,
            Kind::Call => occupant.depth += 1,
            Kind::Other => {}
        }
        self.old.steps.push(old);
    }

    fn old_step(&self, place: usize, step: &Step, edge: EdgeId) -> Step {
        let id = self.places[place].id.expect("a thread that makes an old step is live");
        self.renamed(step, edge, id)
    }

    fn renamed(&self, step: &Step, edge: EdgeId, thread: ThreadId) -> Step {
        Step { thread, edge, fresh: self.lift.fresh(&step.fresh), ..step.clone() }
    }
}

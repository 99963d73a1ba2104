//! The places of a proof, looked up by who stands there and where; and whether the proof is well-formed.

use selvedge_check::formula::FormulaId;
use selvedge_check::{Place, Role, Seen, Shape, ShapeProof, Task, ThreadScope};
use selvedge_ir::flow::Flow;
use selvedge_ir::target::met;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, EntryId, LocId, Op, ProcId, Program, Scope, Ty, VarId};

use super::super::{Flaw, Refused, control_flow};

/// A proof beside the question that it answers.
pub(in crate::certificate) struct Table<'a> {
    pub(in crate::certificate) task: &'a Task<'a>,
    pub(in crate::certificate) proof: &'a ShapeProof,
    pub(in crate::certificate) flow: Flow,
    pub(in crate::certificate) visibility: Visibility,
    /// For each place the procedures on its stack, the running one last.
    stacks: Vec<Vec<ProcId>>,
    /// The greatest number of threads that a list speaks of.
    pub(in crate::certificate) longest: usize,
    /// Where threads may be seen only if the place is listed, in ascending order.
    watched: Vec<LocId>,
}

/// What is to be said of a state beside the threads that are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::certificate) struct Beside {
    /// Whether the atomic flag is held by another thread.
    pub(in crate::certificate) held: bool,
    /// How many threads have ended, where that matters.
    pub(in crate::certificate) ended: u32,
}

impl<'a> Table<'a> {
    /// Looks through a proof: all lists are in order, and all numbers are those of something that fits.
    pub(in crate::certificate) fn new(task: &'a Task<'a>, proof: &'a ShapeProof) -> Result<Table<'a>, Refused> {
        let (program, places) = (task.program, &proof.places);
        let in_order = proof.shapes.is_sorted_by(|left, right| left.key() < right.key());
        if !in_order || proof.seen == Seen::Any(0) || !proof.shapes.iter().all(|shape| fits(task, proof, shape)) {
            return Err(Flaw::Malformed(None).into());
        }
        if program.vars.iter().any(|var| var.ty != Ty::Bool) {
            return Err(Flaw::OutOfScope("it has integers").into());
        }
        let stacks = places.iter().map(|place| well_formed(program, place));
        let stacks = stacks.collect::<Option<Vec<_>>>().ok_or(Flaw::Malformed(None))?;
        if !places.is_sorted_by(|left, right| key(left) < key(right)) {
            return Err(Flaw::Malformed(None).into());
        }
        let longest = match proof.seen {
            Seen::All => proof.shapes.iter().map(|shape| shape.threads.len()).max().unwrap_or(0),
            Seen::Any(k) => k as usize,
        };
        let (flow, visibility) = (Flow::new(program), Visibility::new(program));
        let watched = watched(task, places);
        Ok(Table { task, proof, flow, visibility, stacks, longest, watched })
    }

    /// Whether a thread must not come to a location unless it is seen there.
    pub(in crate::certificate) fn watches(&self, loc: LocId) -> bool {
        self.watched.binary_search(&loc).is_ok()
    }

    /// The number of the place of a thread, if it is listed.
    pub(in crate::certificate) fn place(&self, role: Role, calls: &[EdgeId], loc: LocId) -> Option<u32> {
        let found = self.proof.places.binary_search_by(|place| key(place).cmp(&(role, calls, loc)));
        found.ok().map(|number| number as u32)
    }

    pub(in crate::certificate) fn at(&self, place: u32) -> &'a Place {
        &self.proof.places[place as usize]
    }

    /// The procedures on the stack of a thread at a place.
    pub(in crate::certificate) fn stack(&self, place: u32) -> &[ProcId] {
        &self.stacks[place as usize]
    }

    /// What is said of threads at these places, which are in order.
    pub(in crate::certificate) fn listed(&self, places: &[u32], beside: Beside) -> Option<FormulaId> {
        let shapes = &self.proof.shapes;
        let found = shapes.binary_search_by(|shape| shape.key().cmp(&(places, beside.held, beside.ended)));
        found.ok().map(|number| shapes[number].formula)
    }

    /// Whether a state without threads belongs to the set without being listed.
    pub(in crate::certificate) fn allows_nobody(&self) -> bool {
        self.proof.seen != Seen::All
    }

    /// Whether the proof may allow a state with threads at these places, which are in order.
    pub(in crate::certificate) fn speaks_of(&self, places: &[u32]) -> bool {
        self.proof.seen != Seen::All || self.listed(places, Beside::default()).is_some()
    }

    /// How many of so many threads something is said of at a time.
    pub(in crate::certificate) fn together(&self, n_threads: usize) -> usize {
        match self.proof.seen {
            Seen::All => n_threads,
            Seen::Any(k) => n_threads.min(k as usize),
        }
    }

    /// A location at which a thread at one of these places, or threads at several of them together, are an error.
    pub(in crate::certificate) fn error(&self, places: &[u32]) -> Option<LocId> {
        let locs = || places.iter().map(|place| self.at(*place).loc);
        let alone = locs().find(|loc| self.task.target.has_loc(*loc));
        let count = |at: LocId| locs().filter(|loc| *loc == at).count();
        alone.or_else(|| met(&self.task.target.together, count).map(|meeting| meeting[0]))
    }

    /// Whether a thread at a place holds the atomic flag.
    pub(in crate::certificate) fn is_holder(&self, place: u32) -> bool {
        matches!(self.at(place).role, Role::Holder(_))
    }

    /// Whether a thread at a place has a variable that other threads can mention.
    pub(in crate::certificate) fn has(&self, place: u32, var: VarId) -> bool {
        match self.task.program.vars[var].scope {
            Scope::Shared => true,
            Scope::Thread => match entry(self.at(place).role) {
                Some(entry) => self.task.program.entries[entry].thread_vars.contains(&var),
                None => false,
            },
            Scope::Local(owner) => self.stack(place).contains(&owner),
        }
    }
}

/// The locations of meetings. If one of a meeting is not listed and no control path leads there, that one is enough:
/// nobody ever comes there, and so the meeting never takes place.
fn watched(task: &Task<'_>, places: &[Place]) -> Vec<LocId> {
    if task.target.together.is_empty() {
        return Vec::new();
    }
    let reached = control_flow::reached(task.program);
    let is_free = |loc: &&LocId| !reached.contains(loc) && !places.iter().any(|place| place.loc == **loc);
    let of_meeting = |meeting: &Vec<LocId>| match meeting.iter().find(is_free) {
        Some(loc) => vec![*loc],
        None => meeting.clone(),
    };
    let mut watched: Vec<LocId> = task.target.together.iter().flat_map(of_meeting).collect();
    watched.sort_unstable();
    watched.dedup();
    watched
}

/// The kind of a thread; the prelude's has none.
pub(in crate::certificate) fn entry(role: Role) -> Option<EntryId> {
    match role {
        Role::Prelude => None,
        Role::Holder(entry) | Role::Free(entry) => Some(entry),
    }
}

fn key(place: &Place) -> (Role, &[EdgeId], LocId) {
    (place.role, &place.calls, place.loc)
}

/// The procedures on the stack of a place, if its calls follow one another without recursion, the thread is of a kind
/// that there is, and the listed variables are in the frames that they are said to be in.
pub(in super::super) fn well_formed(program: &Program, place: &Place) -> Option<Vec<ProcId>> {
    if let Some(entry) = entry(place.role) {
        program.entries.get(entry)?;
    }
    let running = program.locs.get(place.loc)?.proc;
    let mut stack = Vec::new();
    for call in &place.calls {
        let edge = program.edges.get(*call)?;
        let Op::Call(call) = &edge.op else { return None };
        let caller = program.locs[edge.from].proc;
        if stack.is_empty() {
            stack.push(caller);
        }
        if stack.last() != Some(&caller) || stack.contains(&call.callee) {
            return None;
        }
        stack.push(call.callee);
    }
    if stack.is_empty() {
        stack.push(running);
    }
    let has = |(frame, var): &(u32, VarId)| match program.vars.get(*var).map(|var| var.scope) {
        Some(Scope::Thread) => *frame == 0,
        Some(Scope::Local(owner)) => stack.get(*frame as usize) == Some(&owner),
        Some(Scope::Shared) | None => false,
    };
    (stack.last() == Some(&running) && place.vars.iter().all(has)).then_some(stack)
}

/// Whether the threads of a shape are in order and at places, one of them at most with the atomic flag, and the prelude's
/// alone; and whether it says no more than fits the question.
fn fits(task: &Task<'_>, proof: &ShapeProof, shape: &Shape) -> bool {
    let places = shape.threads.iter().map(|place| proof.places.get(*place as usize));
    let Some(roles) = places.map(|place| place.map(|place| place.role)).collect::<Option<Vec<Role>>>() else {
        return false;
    };
    let n_holders = usize::from(shape.held) + roles.iter().filter(|role| matches!(role, Role::Holder(_))).count();
    let is_alone = |role: &Role| *role == Role::Prelude;
    let counts_ended = matches!(task.threads, ThreadScope::Created(_));
    let fits = match proof.seen {
        Seen::All => !shape.held && (counts_ended || shape.ended == 0),
        Seen::Any(k) => {
            let fits = (1..=k as usize).contains(&roles.len()) && shape.ended == 0;
            fits && !(shape.held && roles.iter().any(is_alone))
        }
    };
    fits && shape.threads.is_sorted() && n_holders <= 1 && (roles.len() <= 1 || !roles.iter().any(is_alone))
}

//! The places of a proof, looked up by the role and the control of a thread.

use std::collections::{BTreeSet, HashMap};

use selvedge_check::{Place, Role, Task};
use selvedge_ir::{EdgeId, EntryId, LocId, Op, ProcId, Program, Scope, VarId};

use super::control_flow::is_blocked;
use super::{Flaw, Refused};
use crate::commutation::{Commutation, reached};
use crate::position::Position;
use crate::program::{Leaving, has, is_boolean, leaving};

/// The places of a proof beside the question that it answers.
pub(super) struct PlaceTable<'a> {
    pub(super) task: &'a Task<'a>,
    places: &'a [Place],
    numbers: HashMap<(Role, &'a [EdgeId], LocId), u32>,
    /// For each place the procedures on its stack, the running one last.
    stacks: Vec<Vec<ProcId>>,
    pub(super) leaving: Leaving,
    pub(super) commutation: Commutation<'a>,
    /// The locations of meetings: threads may be there only if the place is listed.
    watched: BTreeSet<LocId>,
}

impl<'a> PlaceTable<'a> {
    /// Looks through places: each occurs once and fits the program. `sees_prelude` says whether the places of the
    /// prelude count.
    pub(super) fn new(task: &'a Task<'a>, places: &'a [Place], sees_prelude: bool) -> Result<Self, Refused> {
        let program = task.program;
        is_boolean(program)?;
        let stacks = places.iter().map(|place| well_formed(program, place)).collect::<Option<Vec<_>>>();
        let stacks = stacks.ok_or(Flaw::Malformed(None))?;
        let key = |place: &'a Place| (place.role, place.calls.as_slice(), place.loc);
        let mut numbers: HashMap<_, u32> = places.iter().map(key).zip(0..).collect();
        if numbers.len() != places.len() {
            return Err(Flaw::Malformed(None).into());
        }
        numbers.retain(|(role, _, _), _| sees_prelude || *role != Role::Prelude);
        let (leaving, commutation) = (leaving(program), Commutation::new(program));
        let watched = watched(task, places);
        Ok(PlaceTable { task, places, numbers, stacks, leaving, commutation, watched })
    }

    /// The number of the place of a thread, if it is listed.
    pub(super) fn place(&self, role: Role, position: &Position) -> Option<u32> {
        self.numbers.get(&(role, position.calls.as_slice(), position.loc)).copied()
    }

    pub(super) fn at(&self, place: u32) -> &'a Place {
        &self.places[place as usize]
    }

    /// The variables that a place lists.
    pub(super) fn vars(&self, place: u32) -> impl Iterator<Item = VarId> + 'a {
        self.at(place).vars.iter().map(|(_, var)| *var)
    }

    /// The procedures on the stack of a thread at a place.
    pub(super) fn stack(&self, place: u32) -> &[ProcId] {
        &self.stacks[place as usize]
    }

    /// Returns whether a thread must not come to a location unless it is seen there.
    pub(super) fn watches(&self, loc: LocId) -> bool {
        self.watched.contains(&loc)
    }

    /// Returns whether a thread at a place holds the atomic flag.
    pub(super) fn is_holder(&self, place: u32) -> bool {
        matches!(self.at(place).role, Role::Holder(_))
    }

    /// Returns whether a thread at a place has a variable that other threads can mention.
    pub(super) fn has(&self, place: u32, var: VarId) -> bool {
        has(self.task.program, kind(self.at(place).role), self.stack(place).iter().copied(), var)
    }

    /// A location at which a thread at one of these places, or threads at several of them together, are an error.
    pub(super) fn error(&self, places: &[u32]) -> Option<LocId> {
        let locs: Vec<LocId> = places.iter().map(|place| self.at(*place).loc).collect();
        let count = |list: &[LocId], at: LocId| list.iter().filter(|loc| **loc == at).count();
        let takes_place = |meeting: &&Vec<LocId>| meeting.iter().all(|at| count(&locs, *at) >= count(meeting, *at));
        let alone = locs.iter().find(|loc| self.task.target.has_loc(**loc)).copied();
        alone.or_else(|| self.task.target.together.iter().find(takes_place).map(|meeting| meeting[0]))
    }
}

/// The locations of meetings. If one of a meeting is not listed and no control path leads there, that one is enough:
/// no thread ever comes there, and so the meeting never takes place.
fn watched(task: &Task<'_>, places: &[Place]) -> BTreeSet<LocId> {
    if task.target.together.is_empty() {
        return BTreeSet::new();
    }
    let reached = reached(task.program, |edge| !is_blocked(edge));
    let is_free = |loc: &&LocId| !reached.contains(loc) && !places.iter().any(|place| place.loc == **loc);
    let of_meeting = |meeting: &Vec<LocId>| match meeting.iter().find(is_free) {
        Some(loc) => vec![*loc],
        None => meeting.clone(),
    };
    task.target.together.iter().flat_map(of_meeting).collect()
}

/// The kind of a thread; the prelude's has none.
pub(super) fn kind(role: Role) -> Option<EntryId> {
    match role {
        Role::Prelude => None,
        Role::Holder(kind) | Role::Free(kind) => Some(kind),
    }
}

/// The procedures on the stack of a place, if its calls follow one another without recursion, the thread is of a kind
/// that there is, and the listed variables are in the frames that they are said to be in.
fn well_formed(program: &Program, place: &Place) -> Option<Vec<ProcId>> {
    if let Some(kind) = kind(place.role) {
        program.entries.get(kind)?;
    }
    program.locs.get(place.loc)?;
    place.calls.iter().try_for_each(|call| program.edges.get(*call).map(drop))?;
    let position = Position { calls: place.calls.clone(), loc: place.loc };
    let stack: Vec<ProcId> = position.stack(program).collect();
    let calls = |call: EdgeId, proc: ProcId| matches!(&program.edges[call].op, Op::Call(call) if call.callee == proc);
    let follow = place.calls.iter().zip(&stack[1..]).all(|(call, callee)| calls(*call, *callee));
    let recurs = (1..stack.len()).any(|frame| stack[..frame].contains(&stack[frame]));
    let has = |(frame, var): &(u32, VarId)| match program.vars.get(*var).map(|var| var.scope) {
        Some(Scope::Thread) => *frame == 0,
        Some(Scope::Local(owner)) => stack.get(*frame as usize) == Some(&owner),
        Some(Scope::Shared) | None => false,
    };
    (follow && !recurs && place.vars.iter().all(has)).then_some(stack)
}

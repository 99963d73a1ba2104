//! The places of a proof, looked up by who stands there and where; and whether the proof is well-formed.

use selvedge_check::{Place, Role, Shape, Task, ThreadProof};
use selvedge_ir::flow::Flow;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, EntryId, LocId, Op, ProcId, Program, Scope, VarId};

use super::super::Flaw;

/// A proof beside the question that it answers.
pub(super) struct Table<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) proof: &'a ThreadProof,
    pub(super) flow: Flow,
    pub(super) visibility: Visibility,
    /// For each place the procedures on its stack, the running one last.
    stacks: Vec<Vec<ProcId>>,
    /// The greatest number of threads in a shape.
    pub(super) longest: usize,
}

impl<'a> Table<'a> {
    /// Looks through a proof: all lists are in order, and all numbers are those of something that fits.
    pub(super) fn new(task: &'a Task<'a>, proof: &'a ThreadProof) -> Result<Table<'a>, Flaw> {
        let program = task.program;
        let stacks = proof.places.iter().map(|place| well_formed(program, place));
        let stacks = stacks.collect::<Option<Vec<_>>>().ok_or(Flaw::Malformed(None))?;
        let in_order = proof.places.is_sorted_by(|left, right| key(left) < key(right))
            && proof.shapes.is_sorted_by(|left, right| left.threads < right.threads);
        if !in_order || !proof.shapes.iter().all(|shape| fits(proof, shape)) {
            return Err(Flaw::Malformed(None));
        }
        let (flow, visibility) = (Flow::new(program), Visibility::new(program));
        let longest = proof.shapes.iter().map(|shape| shape.threads.len()).max().unwrap_or(0);
        Ok(Table { task, proof, flow, visibility, stacks, longest })
    }

    /// The number of the place of a thread, if it is listed.
    pub(super) fn place(&self, role: Role, calls: &[EdgeId], loc: LocId) -> Option<u32> {
        let found = self.proof.places.binary_search_by(|place| key(place).cmp(&(role, calls, loc)));
        found.ok().map(|number| number as u32)
    }

    pub(super) fn at(&self, place: u32) -> &'a Place {
        &self.proof.places[place as usize]
    }

    /// The procedures on the stack of a thread at a place.
    pub(super) fn stack(&self, place: u32) -> &[ProcId] {
        &self.stacks[place as usize]
    }

    /// The shape of threads at these places, which are in order.
    pub(super) fn shape(&self, places: &[u32]) -> Option<&'a Shape> {
        let found = self.proof.shapes.binary_search_by(|shape| shape.threads.as_slice().cmp(places));
        found.ok().map(|number| &self.proof.shapes[number])
    }

    /// Whether a thread at a place has a variable that other threads can mention.
    pub(super) fn has(&self, place: u32, var: VarId) -> bool {
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

/// The kind of a thread; the prelude's has none.
pub(super) fn entry(role: Role) -> Option<EntryId> {
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

/// Whether the threads of a shape are in order and stand at places, one of them at most with the atomic flag, and the
/// prelude's alone.
fn fits(proof: &ThreadProof, shape: &Shape) -> bool {
    let roles: Option<Vec<Role>> =
        shape.threads.iter().map(|place| proof.places.get(*place as usize).map(|place| place.role)).collect();
    let Some(roles) = roles else { return false };
    let n_holders = roles.iter().filter(|role| matches!(role, Role::Holder(_))).count();
    shape.threads.is_sorted() && n_holders <= 1 && (roles.len() <= 1 || !roles.contains(&Role::Prelude))
}

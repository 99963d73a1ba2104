//! The listed states, looked up by what they say.

use std::collections::{BTreeSet, HashMap};

use selvedge_check::{CoverClaim, CoverProof, LocalState, Place, Role, SharedState, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, LocId, Scope, VarId};

use super::super::threads::stack_of;
use super::super::{Flaw, Refused};

/// A proof beside the question that it answers.
pub(super) struct Census<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) proof: &'a CoverProof,
    pub(super) flow: Flow,
    pub(super) visibility: Visibility,
    /// Whether steps must be real, whatever the variables hold that are not listed.
    pub(super) is_exact: bool,
    places: HashMap<(Role, &'a [EdgeId], LocId), u32>,
    shareds: HashMap<&'a SharedState, SharedId>,
    locals: HashMap<(u32, &'a [bool]), LocalId>,
}

impl<'a> Census<'a> {
    /// Looks through a proof: everything is listed once, and fits.
    pub(super) fn new(task: &'a Task<'a>, proof: &'a CoverProof) -> Result<Census<'a>, Refused> {
        let program = task.program;
        let is_shared = |var: VarId| program.vars.get(var).is_some_and(|var| var.scope == Scope::Shared);
        let fits = |state: &SharedState| state.values.len() == proof.shared_vars.len();
        let stands = |state: &LocalState| {
            proof.places.get(state.place as usize).is_some_and(|place| place.vars.len() == state.values.len())
        };
        let well_formed = proof.shared_vars.iter().collect::<BTreeSet<_>>().len() == proof.shared_vars.len()
            && proof.shared_vars.iter().all(|var| is_shared(*var))
            && proof.places.iter().all(|place| stack_of(program, place).is_some())
            && proof.shareds.iter().all(fits)
            && proof.locals.iter().all(stands);
        let key =
            |(number, place): (usize, &'a Place)| ((place.role, place.calls.as_slice(), place.loc), number as u32);
        let places: HashMap<_, _> = proof.places.iter().enumerate().map(key).collect();
        let shareds: HashMap<_, _> = proof.shareds.iter_enumerated().map(|(id, state)| (state, id)).collect();
        let locals: HashMap<_, _> =
            proof.locals.iter_enumerated().map(|(id, state)| ((state.place, state.values.as_slice()), id)).collect();
        let once = places.len() == proof.places.len()
            && shareds.len() == proof.shareds.len()
            && locals.len() == proof.locals.len();
        if !well_formed || !once {
            return Err(Flaw::Malformed(None).into());
        }
        let (flow, visibility) = (Flow::new(program), Visibility::new(program));
        let is_exact = matches!(proof.claim, CoverClaim::Adequacy(_));
        Ok(Census { task, proof, flow, visibility, is_exact, places, shareds, locals })
    }

    /// The number of a thread's place, if it is listed.
    pub(super) fn place(&self, role: Role, calls: &[EdgeId], loc: LocId) -> Option<u32> {
        self.places.get(&(role, calls, loc)).copied()
    }

    pub(super) fn shared(&self, state: &SharedState) -> Option<SharedId> {
        self.shareds.get(state).copied()
    }

    pub(super) fn local(&self, place: u32, values: &[bool]) -> Option<LocalId> {
        self.locals.get(&(place, values)).copied()
    }
}

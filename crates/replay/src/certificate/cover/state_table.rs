//! The listed states, looked up by what they say.

use std::collections::{BTreeSet, HashMap, HashSet};

use selvedge_check::{CoverClaim, CoverProof, LocalState, SharedState, Task};
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_ir::{Scope, VarId};

use super::super::concrete::{Explorer, Seen};
use super::super::place_table::PlaceTable;
use super::super::{Flaw, Refused};

/// A proof beside the question that it answers.
pub(super) struct StateTable<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) proof: &'a CoverProof,
    pub(super) places: PlaceTable<'a>,
    /// True if steps must be real, whatever the variables hold that are not listed.
    is_exact: bool,
    shareds: HashMap<&'a SharedState, SharedId>,
    locals: HashMap<(u32, &'a [bool]), LocalId>,
}

impl<'a> StateTable<'a> {
    /// Looks through a proof: everything is listed once, and fits.
    pub(super) fn new(task: &'a Task<'a>, proof: &'a CoverProof) -> Result<StateTable<'a>, Refused> {
        let program = task.program;
        let is_shared = |var: VarId| program.vars.get(var).is_some_and(|var| var.scope == Scope::Shared);
        let fits = |state: &SharedState| state.values.len() == proof.shared_vars.len();
        let is_local = |state: &LocalState| {
            proof.places.get(state.place as usize).is_some_and(|place| place.vars.len() == state.values.len())
        };
        let well_formed = proof.shared_vars.iter().collect::<BTreeSet<_>>().len() == proof.shared_vars.len()
            && proof.shared_vars.iter().all(|var| is_shared(*var))
            && proof.shareds.iter().all(fits)
            && proof.locals.iter().all(is_local);
        let places = PlaceTable::new(task, &proof.places, false)?;
        let shareds: HashMap<_, _> = proof.shareds.iter_enumerated().map(|(id, state)| (state, id)).collect();
        let locals: HashMap<_, _> =
            proof.locals.iter_enumerated().map(|(id, state)| ((state.place, state.values.as_slice()), id)).collect();
        let once = shareds.len() == proof.shareds.len() && locals.len() == proof.locals.len();
        if !well_formed || !once {
            return Err(Flaw::Malformed(None).into());
        }
        let is_exact = matches!(proof.claim, CoverClaim::Adequacy(_));
        Ok(StateTable { task, proof, places, is_exact, shareds, locals })
    }

    /// A traveller from a place, or through the prelude. Where steps must be real, it must not read the variables that
    /// a thread has at the place and that neither the place nor the shared states list.
    pub(super) fn explorer(&'a self, place: Option<u32>) -> Explorer<'a> {
        let program = self.task.program;
        let mut explorer = Explorer::new(&self.places, &self.proof.shared_vars);
        if let Some(place) = place.filter(|_| self.is_exact) {
            let listed: HashSet<VarId> =
                self.proof.shared_vars.iter().copied().chain(self.places.vars(place)).collect();
            let sees = |var: &VarId| match program.vars[*var].scope {
                Scope::Local(proc) => self.places.stack(place).contains(&proc),
                Scope::Shared | Scope::Thread => true,
            };
            explorer.hidden = program.vars.indices().filter(sees).filter(|var| !listed.contains(var)).collect();
        }
        explorer
    }

    pub(super) fn shared(&self, values: Vec<bool>, held: bool) -> Option<SharedId> {
        self.shareds.get(&SharedState { values, held }).copied()
    }

    pub(super) fn local(&self, (place, values): &Seen) -> Option<LocalId> {
        self.locals.get(&(*place, values.as_slice())).copied()
    }
}

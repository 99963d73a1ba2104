//! Steps in which other threads take part, on views.
//!
//! The effect on another thread depends on it and on the moving one only, so it can be computed for the threads of a
//! view one by one. A condition must hold for every other thread; on a view it is required of those that the view has,
//! which over-approximates.

use selvedge_ir::{Assign, EdgeId, Op, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::passive::part;

use super::model::{ViewModel, ViewSlot};
use super::search::InSlot;

impl ViewModel<'_> {
    /// Returns the states after a last step of the moving thread along an edge with passive parts, where the others
    /// have view slots.
    pub(super) fn passive(&mut self, set: &Bdd, id: EdgeId, to: Place, others: &[InSlot]) -> Result<Bdd, OutOfNodes> {
        let program = self.program;
        let Op::Assign(assign) = &program.edges[id].op else { unreachable!("only assignments have passive parts") };
        let mut set = set.and(&self.steps.active(&self.layout, id, assign)?)?;
        for (place, view_slot) in others {
            set = self.passive_of(set, (id, assign), self.place(*place), *view_slot)?;
        }
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        let (mut forget, pairs) = self.layout.after(&targets, to.loc);
        forget.extend(&self.layout.choices);
        let rename = self.layout.manager.renaming(&pairs);
        set.exists(&self.layout.manager.var_set(&forget)?)?.rename(&rename)
    }

    /// Applies such a step to one of the other threads.
    fn passive_of(
        &mut self,
        set: Bdd,
        (id, assign): (EdgeId, &Assign),
        place: Place,
        view_slot: ViewSlot,
    ) -> Result<Bdd, OutOfNodes> {
        let Some(part) = part(self.program, assign, place.entry(), place.loc) else { return Ok(set) };
        let key = (id, place.entry(), self.program.locs[place.loc].proc);
        let relation = self.steps.peer(&self.layout, key, assign, &part)?;
        let (forget, rename) = self.layout.peer_after(&part, place.loc)?;
        let before = self.in_slots(&set, vec![(view_slot, ViewSlot::Peer)])?;
        let after = before.and_exists(&relation, &forget)?.rename(&rename)?;
        self.in_slots(&after, vec![(ViewSlot::Peer, view_slot)])
    }
}

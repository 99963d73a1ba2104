//! Steps in which other threads take part, on views.
//!
//! The effect on another thread depends on it and on the moving one only, so it can be computed for the threads of a
//! view one by one. A condition must hold for every other thread; on a view it is required of those that the view has,
//! which over-approximates.

use selvedge_ir::{EdgeId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;

use super::model::{ViewModel, ViewSlot};
use super::search::InSlot;

impl ViewModel<'_> {
    /// Returns the states after a last step of the moving thread along an edge with passive parts, where the others
    /// have view slots.
    pub(super) fn passive(&mut self, set: &Bdd, id: EdgeId, to: Place, others: &[InSlot]) -> Result<Bdd, OutOfNodes> {
        let program = self.program;
        let Op::Assign(assign) = &program.edges[id].op else { unreachable!("only assignments have passive parts") };
        let mut set = set.and(&self.steps.active((self.program, &self.layout), id, assign)?)?;
        for (place, view_slot) in others {
            let model = (program, &self.layout);
            let Some(step) = self.steps.peer_step(model, (id, assign), self.places[*place as usize])? else { continue };
            let before = self.in_slots(&set, vec![(*view_slot, ViewSlot::Peer)])?;
            set = self.in_slots(&step.image(&before)?, vec![(ViewSlot::Peer, *view_slot)])?;
        }
        self.layout.end_passive(assign, to.loc)?.image(&set)
    }
}

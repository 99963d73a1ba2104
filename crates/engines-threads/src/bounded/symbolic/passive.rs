//! Steps in which other threads take part: their variables are read or assigned.
//!
//! The effect on another thread depends on the moving one: its old and new values and the choices that both have in
//! common. So the side of the moving thread is split, for each pair of the state, into rows with the same result for
//! that pair. For a fixed row the threads of a pair are independent of each other, each makes its own choices, and so
//! all of them are in the same new set: the pair stays a pair.

use selvedge_ir::{Assign, EdgeId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::block::{At, Block, Key};
use super::machine::Machine;
use super::state::{Pair, SetId};

impl Machine<'_> {
    /// Follows an edge with passive parts from an item. The thread is always at a visible point afterwards.
    pub(super) fn follow_passive(
        &mut self,
        block: &mut Block,
        (item, id): (usize, EdgeId),
        assign: &Assign,
        others: &[Pair],
    ) -> Result<(), OutOfNodes> {
        let At::Place(place) = block.items[item].key.at else { unreachable!("threads that are gone do not move") };
        let mover = block.items[item].set.and(&self.steps.active((self.program, &self.layout), id, assign)?)?;
        let mut rows: Vec<(Bdd, Vec<SetId>)> = vec![(mover, Vec::new())];
        for pair in others {
            rows = self.split(rows, (id, assign), pair)?;
        }
        let to = place.after(&self.program.edges[id]);
        let end = self.layout.end_passive(assign, to.loc)?;
        for (row, peers) in rows {
            let set = end.image(&row)?;
            let key = Key { at: At::Place(to), peers: Some(peers), ..block.items[item].key.clone() };
            self.add(block, key, set, (item, id))?;
        }
        Ok(())
    }

    /// Splits rows by the new set of one more pair.
    fn split(
        &mut self,
        rows: Vec<(Bdd, Vec<SetId>)>,
        (id, assign): (EdgeId, &Assign),
        pair: &Pair,
    ) -> Result<Vec<(Bdd, Vec<SetId>)>, OutOfNodes> {
        let Some(step) = self.steps.peer_step((self.program, &self.layout), (id, assign), pair.place)? else {
            let with = |(row, sets): (Bdd, Vec<SetId>)| (row, sets.into_iter().chain([pair.set]).collect());
            return Ok(rows.into_iter().map(with).collect());
        };
        let after = step.image(&self.sets.get(pair.set).rename(&self.layout.to_peer)?)?;
        let mut split = Vec::new();
        for (row, sets) in rows {
            for part in row.and(&after)?.split_at(self.layout.peer_cut)? {
                let set = self.sets.id(&part.below.rename(&self.layout.to_mover)?);
                split.push((part.above, sets.iter().copied().chain([set]).collect()));
            }
        }
        Ok(split)
    }
}

//! Steps in which other threads take part: their variables are read or assigned.
//!
//! What happens to another thread depends on the moving one: its old and new values and the choices that both have in
//! common. So the side of the moving thread is split, for each pair of the state, into rows with the same result for
//! that pair. For a fixed row the threads of a pair are independent of each other, each makes its own choices, and so
//! all of them are in the same new set: the pair stays a pair.

use selvedge_ir::{Assign, EdgeId, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::block::{At, Block, Key};
use super::layout::{Layout, When, Who};
use super::machine::Machine;
use super::state::{Pair, SetId};
use crate::threads::passive::{Part, choices, is_common, part};
use crate::threads::place::Place;

impl Machine<'_> {
    /// Follows an edge with passive parts from an item. The thread is then at a stop, always.
    pub(super) fn follow_passive(
        &mut self,
        block: &mut Block,
        (item, id): (usize, EdgeId),
        assign: &Assign,
        others: &[Pair],
    ) -> Result<(), OutOfNodes> {
        let At::Place(place) = block.items[item].key.at else { unreachable!("threads that are gone do not move") };
        let mover = block.items[item].set.and(&self.steps.active(&self.layout, id, assign)?)?;
        let mut rows: Vec<(Bdd, Vec<SetId>)> = vec![(mover, Vec::new())];
        for pair in others {
            rows = self.split(rows, (id, assign), pair)?;
        }
        let to = self.next(place, id);
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        let (mut forget, pairs) = self.layout.after(&targets, to.loc);
        forget.extend(&self.layout.choices);
        let (forget, rename) = (self.layout.manager.var_set(&forget)?, self.layout.manager.renaming(&pairs));
        for (row, peers) in rows {
            let set = row.exists(&forget)?.rename(&rename)?;
            let key = Key { at: At::Place(to), peers: Some(peers), ..block.items[item].key.clone() };
            self.add(block, key, set, (item, id))?;
        }
        Ok(())
    }

    /// Splits rows by what becomes of one more pair.
    fn split(
        &mut self,
        rows: Vec<(Bdd, Vec<SetId>)>,
        (id, assign): (EdgeId, &Assign),
        pair: &Pair,
    ) -> Result<Vec<(Bdd, Vec<SetId>)>, OutOfNodes> {
        let Some(part) = self.part(assign, pair.place) else {
            let with = |(row, sets): (Bdd, Vec<SetId>)| (row, sets.into_iter().chain([pair.set]).collect());
            return Ok(rows.into_iter().map(with).collect());
        };
        let layout = &self.layout;
        let peer = |var: &VarId, when| layout.var(*var, Who::Peer, when);
        let (assigned, dead): (Vec<VarId>, _) =
            (part.assigned.iter().map(|(var, _)| *var).collect(), layout.dead(pair.place.loc));
        let mut forget: Vec<_> = assigned.iter().chain(dead).map(|var| peer(var, When::Now)).collect();
        forget.extend(assigned.iter().filter(|var| dead.contains(var)).map(|var| peer(var, When::Next)));
        let kept = assigned.iter().filter(|var| !dead.contains(var));
        let pairs: Vec<_> = kept.map(|var| (peer(var, When::Next), peer(var, When::Now))).collect();
        let before = self.sets.get(pair.set).rename(&layout.to_peer)?;
        let key = (id, pair.place.entry(), self.program.locs[pair.place.loc].proc);
        let relation = self.steps.peer(layout, key, assign, &part)?;
        let after = before
            .and_exists(&relation, &layout.manager.var_set(&forget)?)?
            .rename(&layout.manager.renaming(&pairs))?;
        let mut split = Vec::new();
        for (row, sets) in rows {
            for part in row.and(&after)?.split_at(self.layout.peer_cut)? {
                let set = self.sets.id(&part.below.rename(&self.layout.to_mover)?);
                split.push((part.above, sets.iter().copied().chain([set]).collect()));
            }
        }
        Ok(split)
    }

    /// What a step says about a thread at a place; nothing if it does not take part.
    pub(super) fn part<'e>(&self, assign: &'e Assign, place: Place) -> Option<Part<'e>> {
        part(self.program, assign, place.entry(), place.loc)
    }
}

impl Layout {
    /// The relation between the moving thread and another one, the choices of the latter forgotten.
    pub(super) fn peer(&self, assign: &Assign, part: &Part<'_>) -> Result<Bdd, OutOfNodes> {
        let assigns = |var: VarId| part.assigns(var);
        let mut uses = vec![0; self.choices.len()];
        part.exprs().for_each(|expr| choices(expr).iter().for_each(|number| uses[*number as usize] += 1));
        let own = |number: &u32| !is_common(assign, *number);
        let mut relation = self.manager.verum();
        for (var, rhs) in &part.assigned {
            let equal = self.bdd(*var, Who::Peer, When::Next)?.iff(&self.expr_in(assign, rhs, &assigns)?)?;
            let once: Vec<u32> =
                choices(rhs).into_iter().filter(|number| own(number) && uses[*number as usize] == 1).collect();
            relation = relation.and(&equal.exists(&self.choice_set(&once)?)?)?;
        }
        if let Some(constrain) = part.constrain {
            relation = relation.and(&self.expr_in(assign, constrain, &assigns)?)?;
        }
        let rest: Vec<u32> = (0..self.choices.len() as u32).filter(own).collect();
        relation.exists(&self.choice_set(&rest)?)
    }
}

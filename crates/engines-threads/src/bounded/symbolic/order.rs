//! Partial-order reduction: the pairs of a state that are followed (thesis, chapter 6, corrected as in
//! [`selvedge_transition::macro_step::dependence`]).
//!
//! A set of threads may be followed alone if nothing that the others can ever do depends on a block of theirs, and if
//! in *every* state that the node represents one of them can move: a blocked thread is not a reason to stop the others
//! (errata: `ample_blocked_thread`). Here that is checked for each item inside a block: all its states must have a
//! step, so that all states at the beginning come to an end of the block. Blocks that lead back, start threads, keep
//! the atomic flag or concern others are never followed alone, so that no cycle leaves a thread out forever (errata:
//! `ample_cycle`).
//!
//! Running on (Cartesian) determines which states are stored; here it is the same as an ample set.

use selvedge_check::{Role, Stop};
use selvedge_ir::Op;
use selvedge_logic::bdd::OutOfNodes;
use selvedge_transition::macro_step::dependence::Dependence;
use selvedge_transition::out_of_nodes;

use super::block::{At, Block};
use super::machine::Machine;
use super::state::Pair;
use crate::bounded::PartialOrder;

impl Machine<'_> {
    /// Returns whether all steps of a block lead forward and concern no other thread, and all its states get through
    /// it.
    pub(super) fn goes_on(&mut self, dependence: &Dependence, block: &Block) -> Result<bool, Stop> {
        for (number, item) in block.items.iter().enumerate() {
            let ends = number != 0 && block.ends.contains(&number);
            let holds = ends && matches!(item.key.at, At::Place(place) if !matches!(place.role, Role::Free(_)));
            let retreats = item.arcs.iter().any(|(_, edge)| dependence.is_retreating(*edge));
            if holds || retreats || !item.key.children.is_empty() || item.key.peers.is_some() {
                return Ok(false);
            }
            if !ends && !self.all_move(block, number).map_err(out_of_nodes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether each state of an item has a step.
    fn all_move(&mut self, block: &Block, item: usize) -> Result<bool, OutOfNodes> {
        let At::Place(place) = block.items[item].key.at else { return Ok(true) };
        let mut left = block.items[item].set.clone();
        for id in self.flow.out(place.loc).to_vec() {
            left = match &self.program.edges[id].op {
                Op::Assign(_) | Op::Assert(_) => {
                    let step = self.steps.get(self.program, &self.layout, id)?;
                    left.minus(&self.layout.domain(&step)?)?
                }
                _ => return Ok(true),
            };
            if left.is_false() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the lists of pairs, by number, that may be followed alone as far as dependence is concerned, the shortest
/// first.
pub(super) fn groups(order: PartialOrder, dependence: &Dependence, pairs: &[Pair]) -> Vec<Vec<usize>> {
    match order {
        PartialOrder::Off => Vec::new(),
        PartialOrder::Ample | PartialOrder::Cartesian => {
            (0..pairs.len()).filter(|number| is_independent(dependence, pairs, *number)).map(|one| vec![one]).collect()
        }
        PartialOrder::Persistent => persistent(dependence, pairs),
    }
}

/// Returns whether no other thread can ever do anything that depends on a block of a thread of this pair.
fn is_independent(dependence: &Dependence, pairs: &[Pair], number: usize) -> bool {
    let accesses = dependence.block(pairs[number].place.loc);
    let others = pairs.iter().enumerate().filter(|(other, pair)| *other != number || pair.count > 1);
    others.into_iter().all(|(_, pair)| !accesses.depend(dependence.future(pair.place.loc)))
}

/// Groups threads whose futures depend on each other, directly or through others (errata: `persistent_blocked`).
fn persistent(dependence: &Dependence, pairs: &[Pair]) -> Vec<Vec<usize>> {
    let group = dependence.groups(&pairs.iter().map(|pair| pair.place.loc).collect::<Vec<_>>());
    let members = |name: usize| (0..pairs.len()).filter(|number| group[*number] == name).collect::<Vec<usize>>();
    let mut groups: Vec<Vec<usize>> = (0..pairs.len()).map(members).filter(|group| !group.is_empty()).collect();
    groups.sort_by_key(Vec::len);
    groups
}

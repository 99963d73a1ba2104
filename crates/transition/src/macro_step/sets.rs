//! One walker to the next visible points, on sets of states in decision diagrams.
//!
//! An *item* is a set of states with the same key: the place of the moving thread, and the rest that the engine
//! distinguishes. *Order of work.* The items inside the macro step, by the rank of their location, each after all that
//! lead to it, so that every item is followed once. *End.* There is no cycle without a visible point. *Right.* Each
//! item is the exact image of those before it.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use selvedge_check::Role;
use selvedge_ir::{Assign, EdgeId, LocId, Op, Program, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::place::Place;
use crate::step::diagram::layout::{PairLayout, Who};
use crate::step::diagram::step::{Step, Steps};
use crate::step::diagram::threads::ThreadLayout;
use crate::step::passive::part;

/// A set of states on the way through a macro step.
pub struct Item<K> {
    /// The part that the states have in common.
    pub key: K,
    /// The states.
    pub set: Bdd,
    /// The items from which the states come, and the edges that lead from there.
    pub arcs: Vec<(usize, EdgeId)>,
}

/// All ways of a thread from one visible point to the next ones.
pub struct MacroStep<K, E> {
    /// The items; the first is the beginning.
    pub items: Vec<Item<K>>,
    /// The numbers of the items, without the beginning: the macro step may end where it begins.
    known: FxHashMap<K, usize>,
    /// The items whose moving thread is at a visible point, or has ended.
    pub ends: Vec<usize>,
    /// The items inside that have not been followed, by rank.
    waiting: BTreeSet<(usize, usize)>,
    /// The errors on the way, as the engine records them.
    pub errors: E,
}

impl<K: Clone + Eq + Hash, E> MacroStep<K, E> {
    /// Creates a macro step with its beginning.
    pub fn new(key: K, set: Bdd, errors: E) -> MacroStep<K, E> {
        MacroStep {
            items: vec![Item { key, set, arcs: Vec::new() }],
            known: FxHashMap::default(),
            ends: Vec::new(),
            waiting: BTreeSet::from([(0, 0)]),
            errors,
        }
    }

    /// Returns the next item to follow. All items that lead to it have been followed.
    pub fn pop_waiting(&mut self) -> Option<usize> {
        self.waiting.pop_first().map(|(_, item)| item)
    }

    /// Adds states that an edge leads to; `rank` is that of their location, if it is inside the macro step. Returns the
    /// number of the item if it is new.
    pub fn add(
        &mut self,
        key: K,
        set: Bdd,
        arc: (usize, EdgeId),
        rank: Option<usize>,
    ) -> Result<Option<usize>, OutOfNodes> {
        if set.is_false() {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&key) {
            let item = &mut self.items[*known];
            item.set = item.set.or(&set)?;
            item.arcs.push(arc);
            return Ok(None);
        }
        let number = self.items.len();
        match rank {
            Some(rank) => {
                self.waiting.insert((rank + 1, number));
            }
            None => self.ends.push(number),
        }
        self.known.insert(key.clone(), number);
        self.items.push(Item { key, set, arcs: vec![arc] });
        Ok(Some(number))
    }
}

/// The states that an edge leads to.
pub enum Followed {
    /// The moving thread has ended.
    Ended(Bdd),
    /// The moving thread is at the end of the edge. The states of the started thread, if there is one, are its peer's.
    Moved(Bdd, Option<Place>),
}

impl Steps {
    /// Follows an edge in which no other thread takes part, from states of a thread at a place. The thread starts no
    /// other one unless `may_start` holds.
    pub fn follow(
        &mut self,
        (program, layout): (&Program, &PairLayout),
        id: EdgeId,
        (place, set): (Place, &Bdd),
        may_start: bool,
    ) -> Result<Followed, OutOfNodes> {
        let agents = [Who::Mover, Who::Peer];
        let (joint, started) = match &program.edges[id].op {
            Op::Return(_) | Op::End => return Ok(Followed::Ended(set.exists(&layout.all_locals)?)),
            Op::Fork(at) if may_start => (layout.forked(set, agents, *at)?, Some(*at)),
            Op::Spawn(spawn) if may_start => {
                (layout.spawned(program, set, agents, spawn)?, Some(program.procs[spawn.callee].entry))
            }
            Op::Call(_) => unreachable!("the engines support programs without calls only"),
            _ => (set.clone(), None),
        };
        let child = |loc: LocId| Place { role: Role::Free(place.entry().expect("the prelude starts no threads")), loc };
        let image = self.get(program, layout, id)?.image(&joint)?;
        Ok(Followed::Moved(image, started.map(child)))
    }

    /// Returns the effect of an assignment with passive parts on another thread at a place; `None` if it does not take
    /// part.
    pub fn peer_step(
        &mut self,
        (program, layout): (&Program, &PairLayout),
        (id, assign): (EdgeId, &Assign),
        place: Place,
    ) -> Result<Option<Step>, OutOfNodes> {
        let Some(part) = part(program, assign, place.entry(), place.loc) else { return Ok(None) };
        let (forget, rename) = layout.peer_after(&part, place.loc)?;
        let key = (id, place.entry(), program.locs[place.loc].proc);
        Ok(Some(Step { relation: self.peer(layout, key, assign, &part)?, forget, rename }))
    }
}

impl PairLayout {
    /// Returns the step that ends an assignment with passive parts of a thread that it leads to a location: the new
    /// values become the present ones, and the choices are forgotten.
    pub fn end_passive(&self, assign: &Assign, to: LocId) -> Result<Step, OutOfNodes> {
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        let (mut forget, pairs) = self.after(&targets, to);
        forget.extend(&self.choices);
        let (forget, rename) = (self.manager.var_set(&forget)?, self.manager.renaming(&pairs));
        Ok(Step { relation: self.manager.top(), forget, rename })
    }
}

//! Blocks: all ways of a thread from a visible point to the next ones, on sets of states.
//!
//! An *item* is a set of states of the moving thread and the shared variables at one location, together with the
//! threads that it started on the way and the new valuations of the others. *Order of work.* The items inside the
//! block, each after all that lead to it, so that each location is processed once per list of started threads. *End.*
//! There is no cycle without a visible point. *Right.* Each item is the exact image of those before it: a started
//! thread's valuation is independent of the rest of its item, since the item is split where it is not.

use selvedge_check::Stop;
use selvedge_ir::{EdgeId, Expr, LocId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::sets::{self, Followed, MacroStep};
use selvedge_transition::out_of_nodes;

use super::machine::{Full, Machine};
use super::state::{Pair, SetId};
use crate::bounded::Visit;

/// The place of the moving thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum At {
    Place(Place),
    /// The thread has ended.
    Gone,
}

/// The key that distinguishes items.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) at: At,
    /// The threads that were started, in order.
    pub(crate) children: Vec<(Place, SetId)>,
    /// The valuations of the other pairs, if a step with passive parts changed them.
    pub(super) peers: Option<Vec<SetId>>,
}

/// A set of states at one key.
pub(crate) type Item = sets::Item<Key>;

/// The items of a block, and the errors of the target, in the order in which they were found.
pub(crate) type Block = MacroStep<Key, Vec<BlockError>>;

/// An error inside a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockError {
    /// In some states of this item a step along this edge fails.
    Fails(usize, EdgeId),
    /// In all states of this item a thread is at a target location.
    Reached(usize),
}

/// A result of a block, or a beginning of runs.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) shared: Bdd,
    /// The thread that moved, unless it ended.
    pub(crate) mover: Option<(Place, SetId)>,
    pub(crate) children: Vec<(Place, SetId)>,
    pub(super) peers: Option<Vec<SetId>>,
}

impl Outcome {
    /// Creates an outcome without threads.
    pub(crate) fn nothing(shared: Bdd) -> Outcome {
        Outcome { shared, mover: None, children: Vec::new(), peers: None }
    }
}

impl Machine<'_> {
    /// Computes the block that begins at a place with a set of states. At most `room` more threads may start; `others`
    /// are the other threads.
    pub(crate) fn block(&mut self, begin: Place, set: Bdd, room: u32, others: &[Pair]) -> Result<Block, Stop> {
        let key = Key { at: At::Place(begin), children: Vec::new(), peers: None };
        let mut block = Block::new(key, set, Vec::new());
        while let Some(item) = block.pop_waiting() {
            let At::Place(place) = block.items[item].key.at else { unreachable!("threads that are gone do not wait") };
            for edge in self.flow.out(place.loc).to_vec() {
                self.run.tick()?;
                self.layout.manager.tidy();
                self.follow(&mut block, item, place, edge, room, others).map_err(out_of_nodes)?;
                if self.visit == Visit::UntilError && !block.errors.is_empty() {
                    return Ok(block);
                }
            }
        }
        Ok(block)
    }

    /// Follows an edge from an item.
    fn follow(
        &mut self,
        block: &mut Block,
        item: usize,
        place: Place,
        id: EdgeId,
        room: u32,
        others: &[Pair],
    ) -> Result<(), OutOfNodes> {
        let program = self.program;
        let edge = &program.edges[id];
        let has_room = room as usize > block.items[item].key.children.len();
        self.was_full |= !has_room && matches!(edge.op, Op::Spawn(_) | Op::Fork(_));
        match &edge.op {
            Op::Assign(assign) if assign.is_passive() => self.follow_passive(block, (item, id), assign, others),
            Op::Spawn(_) | Op::Fork(_) if !has_room && self.full == Full::Blocks => Ok(()),
            _ => {
                if let Some(failure) = edge.failure() {
                    self.fails(block, item, id, &failure)?;
                }
                self.go(block, item, place, id, has_room)
            }
        }
    }

    fn fails(&mut self, block: &mut Block, item: usize, id: EdgeId, failure: &Expr) -> Result<(), OutOfNodes> {
        let failing = self.steps.failing(&self.layout, id, failure)?;
        if !block.items[item].set.is_disjoint(&failing) {
            self.failing.insert(id);
            if self.visit != Visit::All && self.target.has_assert(id) {
                block.errors.push(BlockError::Fails(item, id));
            }
        }
        Ok(())
    }

    /// Follows an edge in which no other thread takes part. The item is split by the valuations of a started thread.
    fn go(
        &mut self,
        block: &mut Block,
        item: usize,
        place: Place,
        id: EdgeId,
        may_start: bool,
    ) -> Result<(), OutOfNodes> {
        let Item { key, set, .. } = &block.items[item];
        let key = key.clone();
        let to = At::Place(place.after(&self.program.edges[id]));
        match self.steps.follow((self.program, &self.layout), id, (place, set), may_start)? {
            Followed::Ended(set) => self.add(block, Key { at: At::Gone, ..key }, set, (item, id)),
            Followed::Moved(set, None) => self.add(block, Key { at: to, ..key }, set, (item, id)),
            Followed::Moved(joint, Some(child)) => {
                for part in joint.split_at(self.layout.peer_cut)? {
                    let set = self.sets.id(&part.below.rename(&self.layout.to_mover)?);
                    let mut key = Key { at: to, ..key.clone() };
                    key.children.push((child, set));
                    self.add(block, key, part.above, (item, id))?;
                }
                Ok(())
            }
        }
    }

    /// Adds a set of states. If their moving thread is inside the block, they wait.
    pub(super) fn add(
        &mut self,
        block: &mut Block,
        key: Key,
        set: Bdd,
        arc: (usize, EdgeId),
    ) -> Result<(), OutOfNodes> {
        let inside = match key.at {
            At::Place(place) => self.ranks.get(place),
            At::Gone => None,
        };
        let Some(number) = block.add(key, set, arc, inside)? else { return Ok(()) };
        let key = &block.items[number].key;
        if let At::Place(place) = key.at {
            self.locs.insert(place.loc.index());
        }
        if self.visit != Visit::All && self.targets(key).next().is_some() {
            block.errors.push(BlockError::Reached(number));
        }
        Ok(())
    }

    /// Returns the target locations of the moving thread and of the one that it started last.
    pub(super) fn targets(&self, key: &Key) -> impl Iterator<Item = LocId> {
        let moved = if let At::Place(place) = key.at { Some(place.loc) } else { None };
        let started = key.children.last().map(|(place, _)| place.loc);
        moved.into_iter().chain(started).filter(|loc| self.target.has_loc(*loc))
    }

    /// Returns the results of the block: its ends, split by the valuations of the moving thread.
    pub(crate) fn outcomes(&mut self, block: &Block) -> Result<Vec<Outcome>, OutOfNodes> {
        let mut outcomes = Vec::new();
        for item in block.ends.iter().map(|end| &block.items[*end]) {
            let Key { at, children, peers } = item.key.clone();
            match at {
                At::Gone => outcomes.push(Outcome { shared: item.set.clone(), mover: None, children, peers }),
                At::Place(place) => {
                    for part in item.set.split_at(self.layout.local_cut)? {
                        let mover = Some((place, self.sets.id(&part.below)));
                        let (children, peers) = (children.clone(), peers.clone());
                        outcomes.push(Outcome { shared: part.above, mover, children, peers });
                    }
                }
            }
        }
        Ok(outcomes)
    }
}

//! Blocks: all ways of a thread from a visible point to the next ones, on sets of states.
//!
//! An *item* is a set of states of the moving thread and the shared variables at one location, together with the
//! threads that it started on the way and the new valuations of the others. *Order of work.* The items inside the
//! block, each after all that lead to it, so that each location is processed once per list of started threads. *End.*
//! There is no cycle without a visible point. *Right.* Each item is the exact image of those before it: a started
//! thread's valuation is independent of the rest of its item, since the item is split where it is not.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use selvedge_check::{Role, Stop};
use selvedge_ir::{EdgeId, Expr, LocId, Op, Spawn};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::machine::{Full, Machine, Visit};
use super::state::{Pair, SetId};

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

/// A set of states inside a block, see above. The first item of a block is its beginning.
pub(crate) struct Item {
    pub(crate) key: Key,
    pub(crate) set: Bdd,
    /// The predecessors: other items, and the edges to this one.
    pub(super) arcs: Vec<(usize, EdgeId)>,
}

/// The items of a block.
pub(crate) struct Block {
    pub(crate) items: Vec<Item>,
    known: FxHashMap<Key, usize>,
    /// The items whose moving thread is at a visible point or gone.
    pub(crate) ends: Vec<usize>,
    /// The items inside, by rank.
    waiting: BTreeSet<(usize, usize)>,
    /// The errors of the target, in the order in which they were found.
    pub(crate) errors: Vec<Error>,
}

/// An error inside a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// In some states of this item a step along this edge fails.
    Fails(usize, EdgeId),
    /// In all states of this item a thread is at a target location.
    Reached(usize),
}

/// A result of a block.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) shared: Bdd,
    /// The thread that moved, unless it ended.
    pub(super) mover: Option<(Place, SetId)>,
    pub(super) children: Vec<(Place, SetId)>,
    pub(super) peers: Option<Vec<SetId>>,
}

impl Machine<'_> {
    /// Computes the block that begins at a place with a set of states. At most `room` more threads may start; `others`
    /// are the other threads.
    pub(crate) fn block(&mut self, begin: Place, set: Bdd, room: u32, others: &[Pair]) -> Result<Block, Stop> {
        let key = Key { at: At::Place(begin), children: Vec::new(), peers: None };
        let first = Item { key, set, arcs: Vec::new() };
        let mut block = Block {
            items: vec![first],
            known: FxHashMap::default(),
            ends: Vec::new(),
            waiting: BTreeSet::from([(0, 0)]),
            errors: Vec::new(),
        };
        while let Some((_, item)) = block.waiting.pop_first() {
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
            Op::Assert(condition) => {
                self.fails(block, item, id, condition)?;
                self.go(block, item, place, id)
            }
            Op::Assign(_) | Op::AtomicBegin | Op::AtomicEnd => self.go(block, item, place, id),
            Op::Spawn(spawn) if has_room => self.spawn(block, item, place, id, spawn),
            Op::Fork(at) if has_room => self.fork(block, item, place, id, *at),
            Op::Spawn(_) | Op::Fork(_) if self.full == Full::Blocks => Ok(()),
            Op::Spawn(_) | Op::Fork(_) => self.go(block, item, place, id),
            Op::Return(_) | Op::End => {
                let set = block.items[item].set.exists(&self.layout.all_locals)?;
                let key = Key { at: At::Gone, ..block.items[item].key.clone() };
                self.add(block, key, set, (item, id))
            }
            Op::Call(_) => unreachable!("the engine supports programs without calls only"),
        }
    }

    fn fails(&mut self, block: &mut Block, item: usize, id: EdgeId, condition: &Expr) -> Result<(), OutOfNodes> {
        let failing = self.steps.failing(&self.layout, id, condition)?;
        if !block.items[item].set.is_disjoint(&failing) {
            self.failing.insert(id);
            if self.visit != Visit::All && self.target.has_assert(id) {
                block.errors.push(Error::Fails(item, id));
            }
        }
        Ok(())
    }

    /// Makes a step in which no other thread takes part.
    fn go(&mut self, block: &mut Block, item: usize, place: Place, id: EdgeId) -> Result<(), OutOfNodes> {
        let step = self.steps.get(self.program, &self.layout, id)?;
        let set = step.image(&block.items[item].set)?;
        let key = Key { at: At::Place(self.next(place, id)), ..block.items[item].key.clone() };
        self.add(block, key, set, (item, id))
    }

    /// Returns the place after a step.
    pub(super) fn next(&self, place: Place, id: EdgeId) -> Place {
        place.after(&self.program.edges[id])
    }

    /// Starts a thread as a copy of this one: the item is split by the valuations of the copy, as far as they are kept.
    fn fork(&mut self, block: &mut Block, item: usize, place: Place, id: EdgeId, at: LocId) -> Result<(), OutOfNodes> {
        let joint = self.layout.forked(&block.items[item].set, [Who::Mover, Who::Peer], at)?;
        self.with_child(block, item, place, id, at, joint)
    }

    /// Starts a thread that runs a procedure: split like a copy. Locals that are not parameters have any value.
    fn spawn(
        &mut self,
        block: &mut Block,
        item: usize,
        place: Place,
        id: EdgeId,
        spawn: &Spawn,
    ) -> Result<(), OutOfNodes> {
        let joint = self.layout.spawned(self.program, &block.items[item].set, [Who::Mover, Who::Peer], spawn)?;
        self.with_child(block, item, place, id, self.program.procs[spawn.callee].entry, joint)
    }

    /// Splits a set of states of this and a new thread by the valuations of the new one.
    fn with_child(
        &mut self,
        block: &mut Block,
        item: usize,
        place: Place,
        id: EdgeId,
        at: LocId,
        joint: Bdd,
    ) -> Result<(), OutOfNodes> {
        let step = self.steps.get(self.program, &self.layout, id)?;
        let entry = place.entry().expect("the prelude starts no threads");
        for part in step.image(&joint)?.split_at(self.layout.peer_cut)? {
            let set = self.sets.id(&part.below.rename(&self.layout.to_mover)?);
            let mut key = Key { at: At::Place(self.next(place, id)), ..block.items[item].key.clone() };
            key.children.push((Place { role: Role::Free(entry), loc: at }, set));
            self.add(block, key, part.above, (item, id))?;
        }
        Ok(())
    }

    /// Adds a set of states. If their moving thread is inside the block, they wait.
    pub(super) fn add(
        &mut self,
        block: &mut Block,
        key: Key,
        set: Bdd,
        arc: (usize, EdgeId),
    ) -> Result<(), OutOfNodes> {
        if set.is_false() {
            return Ok(());
        }
        if let Some(known) = block.known.get(&key) {
            let item = &mut block.items[*known];
            item.set = item.set.or(&set)?;
            item.arcs.push(arc);
            return Ok(());
        }
        let number = block.items.len();
        if let At::Place(place) = key.at {
            self.locs.insert(place.loc.index());
        }
        match key.at {
            At::Place(place) if !self.is_stop(place) => {
                block.waiting.insert((self.rank(place) + 1, number));
            }
            _ => block.ends.push(number),
        }
        if self.visit != Visit::All && self.targets(&key).next().is_some() {
            block.errors.push(Error::Reached(number));
        }
        block.known.insert(key.clone(), number);
        block.items.push(Item { key, set, arcs: vec![arc] });
        Ok(())
    }

    /// Returns the target locations of the moving thread and of the one that it started last.
    pub(super) fn targets(&self, key: &Key) -> impl Iterator<Item = LocId> {
        let moved = if let At::Place(place) = key.at { Some(place.loc) } else { None };
        let started = key.children.last().map(|(place, _)| place.loc);
        moved.into_iter().chain(started).filter(|loc| self.target.has_loc(*loc))
    }

    /// Returns the results of the block: its ends, split by the valuations of the moving thread.
    pub(super) fn outcomes(&mut self, block: &Block) -> Result<Vec<Outcome>, Stop> {
        let mut outcomes = Vec::new();
        let begin = block.items[0].key.at;
        for item in block.ends.iter().map(|end| &block.items[*end]) {
            let (children, peers) = (item.key.children.clone(), item.key.peers.clone());
            match item.key.at {
                At::Gone if matches!(begin, At::Place(Place { role: Role::Prelude, .. })) => {
                    for start in self.begin(&item.set)? {
                        let children = start.threads;
                        outcomes.push(Outcome { shared: start.shared, mover: None, children, peers: None });
                    }
                }
                At::Gone => outcomes.push(Outcome { shared: item.set.clone(), mover: None, children, peers }),
                At::Place(place) => {
                    for part in item.set.split_at(self.layout.local_cut).map_err(out_of_nodes)? {
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

//! The number of threads of each template in a block: the "used" bits of templates that run a limited number of times.
//!
//! An entry of the program that allows any number of threads is not counted. For each other entry the relations on
//! blocks have a small binary counter: `left` counts the block at the left end of the schedule, `right` the one at its
//! right end. Threads that must exist but never move are not counted, since they can be added anywhere.

use selvedge_ir::{Count, EntryId, Program};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Renaming, Var, VarSet};

use crate::threads::thread_limit;

/// The block that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockSide {
    Left,
    Right,
}

/// The number of threads of one entry.
struct ThreadCounter {
    entry: EntryId,
    limit: usize,
    /// The bits, lowest first, for both blocks, and for a number after a step.
    blocks: [Vec<Var>; 2],
    next: Vec<Var>,
}

/// The numbers of all entries that are counted.
pub(super) struct BlockCounts {
    manager: Manager,
    counters: Vec<ThreadCounter>,
    /// The entries of which a run may have threads.
    pub(super) entries: Vec<EntryId>,
}

impl BlockCounts {
    /// Creates new variables of the manager, below all others.
    pub(super) fn new(manager: &Manager, program: &Program) -> BlockCounts {
        let mut counters = Vec::new();
        for (entry, limit) in
            program.entries.iter_enumerated().filter_map(|(id, entry)| Some((id, thread_limit(entry.count)?)))
        {
            let n_bits = (u32::BITS - limit.leading_zeros()) as usize;
            let mut vars = manager.add_vars(3 * n_bits).into_iter();
            let mut bits = || vars.by_ref().take(n_bits).collect::<Vec<_>>();
            counters.push(ThreadCounter { entry, limit: limit as usize, blocks: [bits(), bits()], next: bits() });
        }
        let some = |count: Count| thread_limit(count) != Some(0);
        let entries =
            program.entries.iter_enumerated().filter(|(_, entry)| some(entry.count)).map(|(id, _)| id).collect();
        BlockCounts { manager: manager.clone(), counters, entries }
    }

    /// Returns the variables of a block.
    pub(super) fn vars(&self, block: BlockSide) -> Vec<Var> {
        self.counters.iter().flat_map(|counter| counter.blocks[block as usize].iter().copied()).collect()
    }

    /// Returns the variables of a block as a set.
    pub(super) fn set(&self, block: BlockSide) -> Result<VarSet, OutOfNodes> {
        self.manager.var_set(&self.vars(block))
    }

    /// Returns the block without threads.
    pub(super) fn empty(&self, block: BlockSide) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = self.vars(block).into_iter().map(|var| (var, false)).collect();
        self.manager.cube(&literals)
    }

    /// Adds one thread to blocks.
    pub(super) fn add(&self, block: BlockSide, entry: EntryId, blocks: &Bdd) -> Result<Bdd, OutOfNodes> {
        let Some(counter) = self.counter(entry) else { return Ok(blocks.clone()) };
        let now = &counter.blocks[block as usize];
        let after = blocks.and_exists(&self.step(counter, now)?, &self.manager.var_set(now)?)?;
        after.rename(&self.renaming(&counter.next, now))
    }

    /// Removes one thread from blocks.
    pub(super) fn remove(&self, block: BlockSide, entry: EntryId, blocks: &Bdd) -> Result<Bdd, OutOfNodes> {
        let Some(counter) = self.counter(entry) else { return Ok(blocks.clone()) };
        let now = &counter.blocks[block as usize];
        let after = blocks.rename(&self.renaming(now, &counter.next))?;
        after.and_exists(&self.step(counter, now)?, &self.manager.var_set(&counter.next)?)
    }

    /// Returns the relation in which the next number is one more than the current one.
    fn step(&self, counter: &ThreadCounter, now: &[Var]) -> Result<Bdd, OutOfNodes> {
        let step = |number| self.manager.number(now, number)?.and(&self.manager.number(&counter.next, number + 1)?);
        self.manager.any((0..counter.limit).map(step))
    }

    fn renaming(&self, from: &[Var], to: &[Var]) -> Renaming {
        self.manager.renaming(&from.iter().copied().zip(to.iter().copied()).collect::<Vec<_>>())
    }

    /// Requires that both blocks fit into one run, together with a thread between them if one is given.
    pub(super) fn fits(&self, between: Option<EntryId>) -> Result<Bdd, OutOfNodes> {
        let mut all = self.manager.top();
        for ThreadCounter { entry, limit, blocks: [left, right], .. } in &self.counters {
            let room = limit + 1 - usize::from(between == Some(*entry));
            let pairs = (0..room).flat_map(|first| (0..room - first).map(move |second| (first, second)));
            let pair = |(first, second)| self.manager.number(left, first)?.and(&self.manager.number(right, second)?);
            all = all.and(&self.manager.any(pairs.map(pair))?)?;
        }
        Ok(all)
    }

    fn counter(&self, entry: EntryId) -> Option<&ThreadCounter> {
        self.counters.iter().find(|counter| counter.entry == entry)
    }
}

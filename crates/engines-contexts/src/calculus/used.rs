//! The number of threads in a block: the relations on the sort `UsedCounts`.
//!
//! Each template with a limited number of threads has a small binary counter; the others are not counted. Threads that
//! must exist but never move are not counted either, since they can be added anywhere.

use selvedge_ir::Program;
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_logic::relation::{Column, Space};

use crate::threads::thread_limit;

/// The number of threads of one template.
struct UsedCounter {
    entry: usize,
    limit: usize,
    first_bit: usize,
    n_bits: usize,
}

/// The numbers of threads of all templates that are counted.
pub(super) struct UsedCounts {
    counters: Vec<UsedCounter>,
    pub(super) width: usize,
}

impl UsedCounts {
    pub(super) fn new(program: &Program) -> UsedCounts {
        let mut used = UsedCounts { counters: Vec::new(), width: 0 };
        for (entry, limit) in
            program.entries.iter().enumerate().filter_map(|(id, one)| Some((id, thread_limit(one.count)?)))
        {
            let n_bits = (u32::BITS - limit.leading_zeros()) as usize;
            used.counters.push(UsedCounter { entry, limit: limit as usize, first_bit: used.width, n_bits });
            used.width += n_bits;
        }
        used
    }

    /// Returns the block without threads.
    pub(super) fn empty(&self, space: &Space, column: Column) -> Result<Bdd, OutOfNodes> {
        let none = |all: Bdd, counter: &UsedCounter| all.and(&counter.has(space, column, 0)?);
        self.counters.iter().try_fold(space.manager().top(), none)
    }

    /// Adds one thread of a template to a block.
    pub(super) fn add(&self, space: &Space, entry: usize, [now, next]: [Column; 2]) -> Result<Bdd, OutOfNodes> {
        let mut all = space.manager().top();
        for counter in &self.counters {
            let step = usize::from(counter.entry == entry);
            let pair = |number| counter.has(space, now, number)?.and(&counter.has(space, next, number + step)?);
            all = all.and(&space.manager().any((0..counter.limit + 1 - step).map(pair))?)?;
        }
        Ok(all)
    }

    /// Requires that both blocks fit into one run.
    pub(super) fn fits(&self, space: &Space, [left, right]: [Column; 2]) -> Result<Bdd, OutOfNodes> {
        let mut all = space.manager().top();
        for counter in &self.counters {
            let pairs = (0..=counter.limit).flat_map(|one| (0..=counter.limit - one).map(move |other| (one, other)));
            let pair = |(one, other)| counter.has(space, left, one)?.and(&counter.has(space, right, other)?);
            all = all.and(&space.manager().any(pairs.map(pair))?)?;
        }
        Ok(all)
    }
}

impl UsedCounter {
    /// Requires a number of threads.
    fn has(&self, space: &Space, column: Column, number: usize) -> Result<Bdd, OutOfNodes> {
        space.manager().number(&space.vars(column)[self.first_bit..][..self.n_bits], number)
    }
}

//! The number of threads in a block: the relations on the sort `UsedCounts`.
//!
//! Each template with a limited number of threads has a small binary counter; the others are not counted. Threads that
//! must exist but never move are not counted either, since they can be added anywhere.

use selvedge_ir::Program;
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_logic::relation::{Column, Space};

use crate::threads::thread_limit;

/// The number of threads of one template.
struct UsedCounter {
    entry: usize,
    limit: u32,
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
            used.counters.push(UsedCounter { entry, limit, first_bit: used.width, n_bits });
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
            let step = u32::from(counter.entry == entry);
            let mut found = space.manager().bottom();
            for number in 0..=counter.limit - step.min(counter.limit) {
                if number + step <= counter.limit {
                    let pair = counter.has(space, now, number)?.and(&counter.has(space, next, number + step)?)?;
                    found = found.or(&pair)?;
                }
            }
            all = all.and(&found)?;
        }
        Ok(all)
    }

    /// Requires that both blocks fit into one run.
    pub(super) fn fits(&self, space: &Space, [left, right]: [Column; 2]) -> Result<Bdd, OutOfNodes> {
        let mut all = space.manager().top();
        for counter in &self.counters {
            let mut found = space.manager().bottom();
            for number in 0..=counter.limit {
                for other in 0..=counter.limit - number {
                    let pair = counter.has(space, left, number)?.and(&counter.has(space, right, other)?)?;
                    found = found.or(&pair)?;
                }
            }
            all = all.and(&found)?;
        }
        Ok(all)
    }
}

impl UsedCounter {
    /// Requires a number of threads.
    fn has(&self, space: &Space, column: Column, number: u32) -> Result<Bdd, OutOfNodes> {
        let bit = |bit: usize| (space.var(column, self.first_bit + bit), number >> bit & 1 == 1);
        let literals: Vec<(Var, bool)> = (0..self.n_bits).map(bit).collect();
        space.manager().cube(&literals)
    }
}

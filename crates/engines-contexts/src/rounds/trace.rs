//! Reconstructs an execution in rounds, with concrete threads, from an error.
//!
//! The history of the thread that fails was confirmed by a left and a right block. Each block is decomposed thread by
//! thread along the rings in which it was found; then each thread goes back through its own path edges. Within a round
//! the threads run in the order of their numbers.

use selvedge_check::Stop;
use selvedge_ir::trace::Trace;
use selvedge_ir::{Count, EntryId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::back::{Tuple, holds};

use super::blocks::{BlockError, BlockRelations, GrowingRelation};
use super::counts::BlockSide;
use crate::thread_paths::columns::Side;
use crate::thread_paths::template_paths::{PathError, TemplatePaths};
use crate::thread_paths::walk::{Boundaries, StateVector, ThreadRun, Walker};

/// A thread of a schedule and the boundaries of its contexts; `None` for the thread that fails.
type ThreadTurns = (EntryId, Option<Boundaries>);

/// The threads around the one that fails.
struct Schedule {
    threads: Vec<ThreadTurns>,
    /// The shared state when the threads start.
    first: StateVector,
}

impl BlockRelations<'_, '_> {
    /// Returns an execution that ends in an error before the threads start.
    pub(super) fn trace_before(&self, error: &PathError) -> Result<Trace, Stop> {
        self.paths.trace_before(error, &self.with_idle(Vec::new()))
    }

    /// Returns an execution that ends in the error.
    pub(super) fn trace(&self, met: &BlockError) -> Result<Trace, Stop> {
        // The number of the failing thread in the schedule depends on its history.
        let failing = Walker::new(&self.paths.templates[met.template], 0).to_error(&met.error)?;
        let Schedule { threads, first } = self.schedule(met.template, &failing).map_err(out_of_nodes)?;
        let mut failing = Some(failing);
        let mut parts = Vec::new();
        for (place, (entry, boundaries)) in threads.iter().enumerate() {
            let walker = self.paths.walker(*entry, place);
            parts.push(match boundaries {
                Some(boundaries) => walker.to_effect(boundaries)?,
                None => walker.renumbered(failing.take().expect("one thread fails")),
            });
        }
        let entries = self.with_idle(threads.into_iter().map(|(entry, _)| entry).collect());
        self.paths.trace(first, &entries, parts)
    }

    /// Adds the idle threads that every run has.
    fn with_idle(&self, mut entries: Vec<EntryId>) -> Vec<EntryId> {
        for (id, entry) in self.model.program.entries.iter_enumerated() {
            if let Count::Exactly(count) = entry.count {
                let present = entries.iter().filter(|other| **other == id).count();
                entries.extend(std::iter::repeat_n(id, count as usize - present));
            }
        }
        entries
    }

    /// Returns the threads around one with the given template that fails.
    fn schedule(&self, template: usize, failing: &ThreadRun) -> Result<Schedule, OutOfNodes> {
        let number = self.count();
        let Boundaries { begun, ended } = failing.boundaries(self.model, number);
        let left = self.round(number).wanted.all.and(&self.model.fixed(&self.over(Side::In, 1, number), &begun)?)?;
        let right = self.behind(&ended)?;
        let (n_left, n_right) = (self.counts.vars(BlockSide::Left), self.counts.vars(BlockSide::Right));
        let wrap = self.over(Side::Mid, 1, number - 1);
        let vars = [wrap.clone(), n_left.clone(), n_right.clone()].concat();
        for entry in self.counts.entries.iter().filter(|entry| self.paths.of_entries[entry.index()] == template) {
            let found = left.and(&right)?.and(&self.counts.fits(Some(*entry))?)?;
            let Some(values) = found.pick(&vars) else { continue };
            let picked: Tuple = vars.iter().copied().zip(values).collect();
            let (mut threads, first) = self.threads(BlockSide::Left, &picked, begun)?;
            threads.reverse();
            threads.push((*entry, None));
            if number > 1 {
                threads.extend(self.threads(BlockSide::Right, &picked, ended)?.0);
            }
            return Ok(Schedule { threads, first: first[..self.model.shared.len()].to_vec() });
        }
        unreachable!("a history is followed only if it was confirmed for some entry")
    }

    /// Returns the right blocks of the previous round that continue from the given states.
    fn behind(&self, ended: &[bool]) -> Result<Bdd, OutOfNodes> {
        match self.count() - 1 {
            0 => self.counts.empty(BlockSide::Right),
            last => {
                let begun = self.over(Side::In, 1, last);
                let found = self.right(last).all.and(&self.model.fixed(&begun, ended)?)?;
                found.exists(&self.model.layout.manager.var_set(&begun)?)
            }
        }
    }

    /// Returns the threads of a block from the failing thread outwards, and the states at its other end: for a left
    /// block, which ends with the given states, those with which it begins; for a right block of the previous round,
    /// which begins with the given states, those with which it ends.
    fn threads(
        &self,
        side: BlockSide,
        block: &Tuple,
        mut near: StateVector,
    ) -> Result<(Vec<ThreadTurns>, StateVector), OutOfNodes> {
        let (model, number) = (self.model, self.count());
        let (last, relation, other) = match side {
            BlockSide::Left => (number, &self.round(number).wanted, BlockSide::Right),
            BlockSide::Right => (number - 1, self.right(number - 1), BlockSide::Left),
        };
        let (begun, ended) = (self.over(Side::In, 1, last), self.over(Side::Out, 1, last));
        let (inner, outer) = if side == BlockSide::Left { (&ended, &begun) } else { (&begun, &ended) };
        let mut rest = block.clone();
        rest.retain(|var, _| !self.counts.vars(other).contains(var));
        let mut threads = Vec::new();
        loop {
            rest.extend(begun.iter().copied().zip(near.iter().copied()));
            let Some(earlier) = earlier(relation, &rest) else { return Ok((threads, near)) };
            // The states between the thread and the shorter block.
            let shorter = earlier.iter().map(|ring| model.renamed(ring, &[(&begun, outer)]));
            let common = |vars: Vec<Var>| -> Tuple { vars.into_iter().map(|var| (var, rest[&var])).collect() };
            let (entry, picked) = self.last_thread(
                &shorter.collect::<Result<Vec<_>, _>>()?,
                |template| template.effects(last).and(&model.fixed(inner, &near)?),
                &common(self.over(Side::Mid, 1, number - 1)),
                (side, &common(self.counts.vars(side))),
                outer,
            )?;
            let far: StateVector = outer.iter().map(|var| picked[var]).collect();
            rest.extend(picked.into_iter().filter(|(var, _)| !outer.contains(var)));
            let near = std::mem::replace(&mut near, far.clone());
            let (begun, ended) = if side == BlockSide::Left { (far, near) } else { (near, far) };
            threads.push((entry, Some(Boundaries { begun, ended })));
        }
    }

    /// Returns the thread by which a block is longer than one of an earlier ring, and that block: the states between
    /// them, in `between`, and its counts. `counts` are those of the longer block, `wrap` is the part that both have in
    /// common.
    fn last_thread(
        &self,
        earlier: &[Bdd],
        effects: impl Fn(&TemplatePaths<'_, '_>) -> Result<Bdd, OutOfNodes>,
        wrap: &Tuple,
        (block, counts): (BlockSide, &Tuple),
        between: &[Var],
    ) -> Result<(EntryId, Tuple), OutOfNodes> {
        let common = self.model.cube(wrap)?;
        let mut vars = between.to_vec();
        vars.extend(self.counts.vars(block));
        for ring in earlier {
            for entry in &self.counts.entries {
                let shorter = self.counts.remove(block, *entry, &self.model.cube(counts)?)?;
                let found = ring.and(&common)?.and(&shorter)?.and(&effects(self.paths.template(*entry))?)?;
                if let Some(values) = found.pick(&vars) {
                    return Ok((*entry, vars.iter().copied().zip(values).collect()));
                }
            }
        }
        unreachable!("a block of a ring follows from one of an earlier ring")
    }
}

/// Returns the rings before the one that contains a tuple; `None` if it is the first, which is that of empty blocks.
fn earlier<'g>(relation: &'g GrowingRelation, tuple: &Tuple) -> Option<&'g [Bdd]> {
    let ring = relation.rings.iter().position(|ring| holds(ring, tuple)).expect("every block lies in a ring");
    (ring > 0).then(|| &relation.rings[..ring])
}

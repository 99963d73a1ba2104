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
use crate::thread_paths::start::ExecutionParts;
use crate::thread_paths::template_paths::{PathError, TemplatePaths};
use crate::thread_paths::walk::{Boundaries, StateVector, ThreadRun, Walker};

/// A thread of a schedule.
struct ThreadTurns {
    entry: EntryId,
    boundaries: Boundaries,
}

/// The schedule around the thread that fails.
struct Schedule {
    /// The threads before it, from the first on.
    left: Vec<ThreadTurns>,
    entry: EntryId,
    /// The threads after it.
    right: Vec<ThreadTurns>,
    /// The shared state when the threads start.
    first: StateVector,
}

/// Returns an execution that ends in an error before the threads start.
pub(super) fn alone(
    blocks: &BlockRelations<'_, '_>,
    prelude: &TemplatePaths<'_, '_>,
    error: &PathError,
) -> Result<Trace, Stop> {
    let before = Walker::new(prelude, 0).to_error(error)?;
    let threads = idle(blocks, &[]);
    let threads = threads.iter().map(|entry| (*entry, &blocks.template(*entry).root)).collect();
    let parts = ExecutionParts {
        model: blocks.model,
        prelude: Some(prelude),
        before,
        shared: None,
        threads,
        parts: Vec::new(),
    };
    parts.assembled().map_err(out_of_nodes)
}

/// Returns an execution that ends in the error.
pub(super) fn trace(
    blocks: &BlockRelations<'_, '_>,
    prelude: Option<&TemplatePaths<'_, '_>>,
    met: &BlockError,
) -> Result<Trace, Stop> {
    let template = &blocks.templates[met.template];
    // The number of the failing thread in the schedule depends on its history.
    let failing = Walker::new(template, 0).to_error(&met.error)?;
    let schedule = blocks.schedule(met.template, &failing).map_err(out_of_nodes)?;
    let first = usize::from(prelude.is_some());
    let mut parts = Vec::new();
    let mut entries = Vec::new();
    for (place, turns) in schedule.left.iter().enumerate() {
        entries.push(turns.entry);
        parts.push(Walker::new(blocks.template(turns.entry), first + place).to_effect(&turns.boundaries)?);
    }
    entries.push(schedule.entry);
    parts.push(renumbered(failing, first + schedule.left.len()));
    for turns in &schedule.right {
        parts.push(Walker::new(blocks.template(turns.entry), first + entries.len()).to_effect(&turns.boundaries)?);
        entries.push(turns.entry);
    }
    entries.extend(idle(blocks, &entries));
    let threads = entries.iter().map(|entry| (*entry, &blocks.template(*entry).root)).collect();
    let before = match prelude {
        Some(prelude) => Walker::new(prelude, 0).to_finished(&schedule.first)?,
        None => ThreadRun::default(),
    };
    let parts = ExecutionParts { model: blocks.model, prelude, before, shared: Some(schedule.first), threads, parts };
    parts.assembled().map_err(out_of_nodes)
}

/// Returns the idle threads that every run has besides those that are present.
fn idle(blocks: &BlockRelations<'_, '_>, present: &[EntryId]) -> Vec<EntryId> {
    let missing = |(id, count): (EntryId, Count)| {
        let Count::Exactly(count) = count else { return 0 };
        count as usize - present.iter().filter(|other| **other == id).count()
    };
    let entries = blocks.model.program.entries.iter_enumerated().map(|(id, entry)| (id, entry.count));
    entries.flat_map(|entry| std::iter::repeat_n(entry.0, missing(entry))).collect()
}

fn renumbered(mut part: ThreadRun, thread: usize) -> ThreadRun {
    part.steps.iter_mut().for_each(|(_, step)| step.thread.0 = thread as u32);
    part
}

impl BlockRelations<'_, '_> {
    /// Returns the threads around one with the given template that fails.
    fn schedule(&self, template: usize, failing: &ThreadRun) -> Result<Schedule, OutOfNodes> {
        let number = self.count();
        let values = |vars: Vec<Var>| -> StateVector { vars.iter().map(|var| failing.history[var]).collect() };
        let begun = values(self.over(Side::In, 1, number));
        let ended = values(self.over(Side::Out, 1, number - 1));
        let left = self.round(number).wanted.all.and(&self.fixed(&self.over(Side::In, 1, number), &begun)?)?;
        let right = self.behind(&ended)?;
        let (n_left, n_right) = (self.counts.vars(BlockSide::Left), self.counts.vars(BlockSide::Right));
        let wrap = self.over(Side::Mid, 1, number - 1);
        let vars = [wrap.clone(), n_left.clone(), n_right.clone()].concat();
        for entry in self.counts.entries.iter().filter(|entry| self.template_of[entry.index()] == template) {
            let found = left.and(&right)?.and(&self.counts.fits(Some(*entry))?)?;
            let Some(values) = found.pick(&vars) else { continue };
            let picked: Tuple = vars.iter().copied().zip(values).collect();
            let (left, first) = self.left_threads(&picked, begun)?;
            let right = self.right_threads(&picked, ended)?;
            return Ok(Schedule { left, entry: *entry, right, first });
        }
        unreachable!("a history is followed only if it was confirmed for some entry")
    }

    /// Returns the right blocks of the previous round that continue from the given states.
    fn behind(&self, ended: &[bool]) -> Result<Bdd, OutOfNodes> {
        match self.count() - 1 {
            0 => self.counts.empty(BlockSide::Right),
            last => {
                let begun = self.over(Side::In, 1, last);
                let found = self.right(last).all.and(&self.fixed(&begun, ended)?)?;
                found.exists(&self.model.layout.manager.var_set(&begun)?)
            }
        }
    }

    /// Returns the threads of a left block that ends with the given states, and the state with which the first of them
    /// begins.
    fn left_threads(
        &self,
        block: &Tuple,
        mut ended: StateVector,
    ) -> Result<(Vec<ThreadTurns>, StateVector), OutOfNodes> {
        let number = self.count();
        let wanted = &self.round(number).wanted;
        let (begun, out) = (self.over(Side::In, 1, number), self.over(Side::Out, 1, number));
        let mut rest = block.clone();
        rest.retain(|var, _| !self.counts.vars(BlockSide::Right).contains(var));
        let mut threads = Vec::new();
        loop {
            rest.extend(begun.iter().copied().zip(ended.iter().copied()));
            let Some(earlier) = earlier(wanted, &rest) else { break };
            let wrap: Tuple = self.over(Side::Mid, 1, number - 1).iter().map(|var| (*var, rest[var])).collect();
            let counts: Tuple = self.counts.vars(BlockSide::Left).iter().map(|var| (*var, rest[var])).collect();
            let (entry, picked) = self.last_thread(
                earlier,
                |template| template.effects(number).and(&self.fixed(&out, &ended)?),
                &wrap,
                (BlockSide::Left, &counts),
                &begun,
            )?;
            let before: StateVector = begun.iter().map(|var| picked[var]).collect();
            let boundaries = Boundaries { begun: before.clone(), ended: std::mem::replace(&mut ended, before) };
            threads.push(ThreadTurns { entry, boundaries });
            rest.extend(picked);
        }
        threads.reverse();
        let n_shared = self.model.columns.shared.len();
        Ok((threads, ended[..n_shared].to_vec()))
    }

    /// Returns the threads of a right block of the previous round that begins with the given states.
    fn right_threads(&self, block: &Tuple, mut begun: StateVector) -> Result<Vec<ThreadTurns>, OutOfNodes> {
        let last = self.count() - 1;
        let mut threads = Vec::new();
        if last == 0 {
            return Ok(threads);
        }
        let (layout, columns) = (&self.model.layout, &self.model.columns);
        let (input, out) = (self.over(Side::In, 1, last), self.over(Side::Out, 1, last));
        let mut rest = block.clone();
        rest.retain(|var, _| !self.counts.vars(BlockSide::Left).contains(var));
        loop {
            rest.extend(input.iter().copied().zip(begun.iter().copied()));
            let Some(earlier) = earlier(self.right(last), &rest) else { break };
            let earlier: Vec<Bdd> = earlier
                .iter()
                .map(|ring| columns.renamed(layout, ring, &[(&input, &out)]))
                .collect::<Result<_, _>>()?;
            let wrap: Tuple = self.over(Side::Mid, 1, last).iter().map(|var| (*var, rest[var])).collect();
            let counts: Tuple = self.counts.vars(BlockSide::Right).iter().map(|var| (*var, rest[var])).collect();
            let (entry, picked) = self.last_thread(
                &earlier,
                |template| template.effects(last).and(&self.fixed(&input, &begun)?),
                &wrap,
                (BlockSide::Right, &counts),
                &out,
            )?;
            let ended: StateVector = out.iter().map(|var| picked[var]).collect();
            let boundaries = Boundaries { begun: std::mem::replace(&mut begun, ended.clone()), ended };
            threads.push(ThreadTurns { entry, boundaries });
            rest.extend(picked.into_iter().filter(|(var, _)| !out.contains(var)));
        }
        Ok(threads)
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
        let common = self.cube(wrap)?;
        let mut vars = between.to_vec();
        vars.extend(self.counts.vars(block));
        for ring in earlier {
            for entry in &self.counts.entries {
                let shorter = self.counts.remove(block, *entry, &self.cube(counts)?)?;
                let found = ring.and(&common)?.and(&shorter)?.and(&effects(self.template(*entry))?)?;
                if let Some(values) = found.pick(&vars) {
                    return Ok((*entry, vars.iter().copied().zip(values).collect()));
                }
            }
        }
        unreachable!("a block of a ring follows from one of an earlier ring")
    }

    fn fixed(&self, vars: &[Var], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = vars.iter().copied().zip(values.iter().copied()).collect();
        self.model.layout.manager.cube(&literals)
    }

    fn cube(&self, tuple: &Tuple) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = tuple.iter().map(|(var, value)| (*var, *value)).collect();
        self.model.layout.manager.cube(&literals)
    }
}

/// Returns the rings before the one that contains a tuple; `None` if it is the first, which is that of empty blocks.
fn earlier<'g>(relation: &'g GrowingRelation, tuple: &Tuple) -> Option<&'g [Bdd]> {
    let ring = relation.rings.iter().position(|ring| holds(ring, tuple)).expect("every block lies in a ring");
    (ring > 0).then(|| &relation.rings[..ring])
}

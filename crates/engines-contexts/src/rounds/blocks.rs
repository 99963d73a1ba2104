//! Blocks of threads: the relations WRLI and RLI of §4, and the histories from which threads continue.
//!
//! A schedule is a sequence of threads, each with the shared states `u` with which its turns begin and `v` with which
//! they end, one of each per round. The relations here are:
//!
//! - `wanted(i; l, u_1 .. u_i, w_1 .. w_i-1)` (WRLI): a *left block* of threads, `l` of each counted template, has run
//!   for `i` rounds and ends its turns with `u`; a *right block*, which fits next to it, has run for `i-1` rounds and
//!   leads from `u` to `w`; the left block began with an initial state and then with `w`, so that the rounds are
//!   wrapped;
//! - `right(i; r, u_1 .. u_i, w_1 .. w_i)` (RLI): a right block with `r` threads leads in `i` rounds from `u` to `w`,
//!   and some wanted block agrees with it;
//! - the *histories* of a template in round `i`: with a wanted block to the left and a right block to the right, a
//!   thread has had `i-1` turns and begins the next (1.1 and 1.2 of the equations). Its path edges give the
//!   continuation.
//!
//! In the paper blocks have at least one thread, and schedules are padded with idle threads; here a left or right block
//! may be empty, so that a template which must not be added, or which runs once, needs no padding
//! (`rounds_idle_thread`).
//!
//! `u` is kept in the columns `In`, `w` in `Mid`. Each relation keeps the *rings* in which it grew: a tuple of a ring
//! follows from tuples of earlier rings and the effect of one thread, which leads back from an error.

use selvedge_check::Stop;
use selvedge_ir::EntryId;
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;

use super::counts::{BlockCounts, BlockSide};
use crate::thread_paths::columns::Side;
use crate::thread_paths::shared_model::SharedModel;
use crate::thread_paths::start::ThreadPaths;
use crate::thread_paths::template_paths::PathError;

/// A relation that grows.
pub(super) struct GrowingRelation {
    pub(super) all: Bdd,
    pub(super) rings: Vec<Bdd>,
}

impl GrowingRelation {
    fn new(base: Bdd) -> GrowingRelation {
        GrowingRelation { all: base.clone(), rings: vec![base] }
    }

    /// Adds new tuples, and returns them unless there are none.
    fn add(&mut self, found: &Bdd) -> Result<Option<Bdd>, OutOfNodes> {
        if found.is_subset(&self.all) {
            return Ok(None);
        }
        let new = found.minus(&self.all)?;
        self.all = self.all.or(&new)?;
        self.rings.push(new.clone());
        Ok(Some(new))
    }
}

/// One round.
pub(super) struct BlockRound {
    pub(super) wanted: GrowingRelation,
    /// Computed when the next round begins.
    pub(super) right: Option<GrowingRelation>,
}

/// An error of a thread in the last round.
pub(super) struct BlockError {
    pub(super) template: usize,
    pub(super) error: PathError,
}

/// All rounds so far.
pub(super) struct BlockRelations<'w, 'a> {
    pub(super) model: &'w SharedModel<'a>,
    pub(super) paths: ThreadPaths<'w, 'a>,
    pub(super) counts: BlockCounts,
    pub(super) rounds: Vec<BlockRound>,
}

impl<'w, 'a> BlockRelations<'w, 'a> {
    /// Computes everything before the first round, or an error.
    pub(super) fn begin(model: &'w SharedModel<'a>) -> Result<(BlockRelations<'w, 'a>, Option<PathError>), Stop> {
        let (paths, error) = ThreadPaths::begin(model)?;
        let counts = BlockCounts::new(&model.layout.manager, model.program);
        Ok((BlockRelations { model, paths, counts, rounds: Vec::new() }, error))
    }

    /// Returns the number of rounds that were begun.
    pub(super) fn count(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// Returns a round, from 1 on.
    pub(super) fn round(&self, number: u32) -> &BlockRound {
        &self.rounds[number as usize - 1]
    }

    /// Returns the relation RLI of a round before the last.
    pub(super) fn right(&self, number: u32) -> &GrowingRelation {
        self.round(number).right.as_ref().expect("the rounds before the last are complete")
    }

    /// Returns the variables of a column in rounds from `first` to `last`.
    pub(super) fn over(&self, side: Side, first: u32, last: u32) -> Vec<Var> {
        self.model.columns(side, first, last)
    }

    /// Computes one more round.
    ///
    /// *Order of work.* The empty left block first; then, as long as there are new left blocks, the histories that they
    /// confirm, the effects of threads with these histories, and the left blocks that are longer by one thread.
    /// *Invariant.* All histories that the wanted blocks so far confirm have been followed. *It ends* because relations
    /// only grow.
    pub(super) fn advance(&mut self) -> Result<Option<BlockError>, Stop> {
        if self.count() > 0 {
            self.complete()?;
        }
        let number = self.count() + 1;
        let continuable = self.continuable().map_err(out_of_nodes)?;
        let base = self.empty_left(&continuable).map_err(out_of_nodes)?;
        let follow = self.follow().map_err(out_of_nodes)?;
        let bottom = self.model.layout.manager.bottom();
        for template in &mut self.paths.templates {
            template.advance(number, &bottom)?;
        }
        let mut used = vec![bottom; self.paths.templates.len()];
        let mut new = Some(base.clone());
        self.rounds.push(BlockRound { wanted: GrowingRelation::new(base), right: None });
        while let Some(left) = new {
            self.model.run.check_limits()?;
            self.model.layout.manager.tidy();
            for (entry, follow) in self.counts.entries.clone().into_iter().zip(&follow) {
                let histories = self.histories(&left, follow).map_err(out_of_nodes)?;
                let template = self.paths.of_entries[entry.index()];
                if let Some(error) = self.paths.templates[template].advance(number, &histories)? {
                    return Ok(Some(BlockError { template, error }));
                }
            }
            let longer =
                self.longer(&left, &mut used).and_then(|longer| longer.and(&continuable)).map_err(out_of_nodes)?;
            let round = self.rounds.last_mut().expect("the round has begun");
            new = round.wanted.add(&longer).map_err(out_of_nodes)?;
        }
        Ok(None)
    }

    /// Returns the left blocks next to which some right block of the previous rounds fits.
    fn continuable(&self) -> Result<Bdd, OutOfNodes> {
        match self.count() {
            0 => Ok(self.model.layout.manager.top()),
            last => self.right(last).all.and_exists(&self.counts.fits(None)?, &self.counts.set(BlockSide::Right)?),
        }
    }

    /// Returns the left block without threads: its turns end as they begin.
    fn empty_left(&self, continuable: &Bdd) -> Result<Bdd, OutOfNodes> {
        let number = self.count() + 1;
        let (ended, begun) = (self.over(Side::Mid, 1, number - 1), self.over(Side::In, 2, number));
        let wrapped = self.model.equal(&ended, &begun)?;
        self.paths.initial.and(&wrapped)?.and(&self.counts.empty(BlockSide::Left)?)?.and(continuable)
    }

    /// Returns, for each entry, the effects of its threads in the previous rounds, with a right block that fits after
    /// them, and the left blocks that can continue.
    fn follow(&self) -> Result<Vec<Bdd>, OutOfNodes> {
        let one = |entry: &EntryId| {
            let fit = self.counts.fits(Some(*entry))?;
            let last = self.count();
            if last == 0 {
                return fit.and(&self.counts.empty(BlockSide::Right)?)?.exists(&self.counts.set(BlockSide::Right)?);
            }
            let (begun, ended) = (self.over(Side::In, 1, last), self.over(Side::Out, 1, last));
            let right = self.right(last).all.and_exists(&fit, &self.counts.set(BlockSide::Right)?)?;
            let right = self.model.renamed(&right, &[(&begun, &ended)])?;
            self.paths.template(*entry).effects(last).and(&right)
        };
        self.counts.entries.iter().map(one).collect()
    }

    /// Returns the histories that left blocks confirm for threads that can continue.
    fn histories(&self, left: &Bdd, follow: &Bdd) -> Result<Bdd, OutOfNodes> {
        let before = self.count() - 1;
        let mut lost = self.over(Side::Mid, 1, before);
        lost.extend(self.counts.vars(BlockSide::Left));
        left.and_exists(follow, &self.model.layout.manager.var_set(&lost)?)
    }

    /// Returns the left blocks that are longer by one thread than new ones, or longer than any by a newly found effect
    /// of a thread. `used` are the known effects of each template.
    fn longer(&self, new: &Bdd, used: &mut [Bdd]) -> Result<Bdd, OutOfNodes> {
        let number = self.count();
        let all = &self.round(number).wanted.all;
        let mut longer = self.model.layout.manager.bottom();
        for entry in &self.counts.entries {
            let effects = self.paths.template(*entry).effects(number);
            let fresh = effects.minus(&used[self.paths.of_entries[entry.index()]])?;
            for (left, effects) in [(new, effects), (all, &fresh)] {
                longer = longer.or(&self.one_longer(left, *entry, effects)?)?;
            }
        }
        for (used, template) in used.iter_mut().zip(&self.paths.templates) {
            *used = template.effects(number).clone();
        }
        Ok(longer)
    }

    fn one_longer(&self, left: &Bdd, entry: EntryId, effects: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (model, number) = (self.model, self.count());
        let (begun, ended) = (self.over(Side::In, 1, number), self.over(Side::Out, 1, number));
        let after = left.and_exists(effects, &model.set(&[&begun])?)?;
        let after = model.renamed(&after, &[(&ended, &begun)])?;
        self.counts.add(BlockSide::Left, entry, &after)
    }

    /// Computes the right blocks of the last round, from the empty one on.
    fn complete(&mut self) -> Result<(), Stop> {
        let (model, number) = (self.model, self.count());
        let wanted = &self.round(number).wanted.all;
        let fit = self.counts.fits(None).map_err(out_of_nodes)?;
        let fits =
            self.counts.set(BlockSide::Left).and_then(|left| wanted.and_exists(&fit, &left)).map_err(out_of_nodes)?;
        let (begun, ended) = (self.over(Side::In, 1, number), self.over(Side::Mid, 1, number));
        let base = model
            .equal(&begun, &ended)
            .and_then(|idle| idle.and(&self.counts.empty(BlockSide::Right)?)?.and(&fits))
            .map_err(out_of_nodes)?;
        let mut right = GrowingRelation::new(base.clone());
        let mut new = Some(base);
        while let Some(shorter) = new {
            self.model.run.check_limits()?;
            model.layout.manager.tidy();
            let mut longer = model.layout.manager.bottom();
            for entry in &self.counts.entries {
                let found = self.one_before(&shorter, *entry).and_then(|found| longer.or(&found.and(&fits)?));
                longer = found.map_err(out_of_nodes)?;
            }
            new = right.add(&longer).map_err(out_of_nodes)?;
        }
        self.rounds[number as usize - 1].right = Some(right);
        Ok(())
    }

    /// Extends right blocks by one thread at their left end.
    fn one_before(&self, right: &Bdd, entry: EntryId) -> Result<Bdd, OutOfNodes> {
        let (model, number) = (self.model, self.count());
        let (begun, between) = (self.over(Side::In, 1, number), self.over(Side::Out, 1, number));
        let right = model.renamed(right, &[(&begun, &between)])?;
        let longer = self.paths.template(entry).effects(number).and_exists(&right, &model.set(&[&between])?)?;
        self.counts.add(BlockSide::Right, entry, &longer)
    }

    /// Returns the current shared states at points where a turn of the last round may end.
    pub(super) fn reached(&self) -> Result<Bdd, OutOfNodes> {
        let (model, number) = (self.model, self.count());
        let mut lost = self.over(Side::In, 1, number - 1);
        lost.extend(self.over(Side::Mid, 1, number - 1));
        lost.extend(self.counts.vars(BlockSide::Left));
        let states = self.round(number).wanted.all.exists(&model.layout.manager.var_set(&lost)?)?;
        model.renamed(&states, &[(&self.over(Side::In, number, number), &model.now())])
    }
}

//! Partial-order reduction: the threads of a state that are followed (thesis, chapter 6, corrected).
//!
//! A set of threads may be followed alone if nothing that the others can ever do depends on a block of theirs (so the
//! blocks of the followed threads stay the same after any steps of the others), and if one of them can move at all in
//! this very state: a blocked thread is not a reason to stop the others. Along a cycle of states, some thread goes
//! around a cycle of control flow or starts a thread; such blocks, and those that keep the atomic flag or in which
//! others take part, are never followed alone. Hence no cycle leaves a thread out forever.
//!
//! Errors are kept: those of the followed threads are found at once, those of the others later, since their steps stay
//! the same. A target with several threads at the same time is about the interleaving itself: nothing is left out.

use std::rc::Rc;

use selvedge_check::Stop;
use selvedge_ir::LocId;
use selvedge_transition::macro_step::dependence::Dependence;
use selvedge_transition::macro_step::explicit::parts::LocalId;
use selvedge_transition::macro_step::explicit::{Block, Out};

use super::search::ExplicitSearch;
use super::store::State;
use crate::bounded::PartialOrder;

/// The threads that could be followed, each once, with their blocks.
pub(super) type Candidates = Vec<(LocalId, Rc<Block>)>;

impl ExplicitSearch<'_> {
    /// Returns the candidates that are to be followed.
    pub(super) fn followed(&self, state: &State, candidates: Candidates) -> Candidates {
        let Some(dependence) = &self.dependence else { return candidates };
        if candidates.len() < 2 && state.threads.len() < 2 {
            return candidates;
        }
        match self.partial_order {
            PartialOrder::Off => candidates,
            PartialOrder::Ample | PartialOrder::Cartesian => {
                let one = candidates.iter().find(|(local, block)| self.may_go_alone(dependence, state, *local, block));
                one.cloned().map_or(candidates, |one| vec![one])
            }
            PartialOrder::Persistent => self.smallest_group(dependence, state, candidates),
        }
    }

    /// Returns whether a thread's block may be followed alone.
    fn may_go_alone(&self, dependence: &Dependence, state: &State, local: LocalId, block: &Block) -> bool {
        if block.outs.is_empty() || !block.outs.iter().all(|out| self.goes_on(dependence, block, out)) {
            return false;
        }
        let accesses = dependence.block(self.loc(local));
        let at = state.threads.partition_point(|other| *other < local);
        let others = state.threads.iter().enumerate().filter(|(other, _)| *other != at);
        others.into_iter().all(|(_, other)| !accesses.depend(dependence.future(self.loc(*other))))
    }

    /// Returns whether a way through a block leads forward and does not concern other threads.
    fn goes_on(&self, dependence: &Dependence, block: &Block, out: &Out) -> bool {
        let retreats = || block.path(out.last).iter().any(|step| dependence.is_retreating(step.edge));
        !out.holds && out.born.is_empty() && out.partner.is_none() && !retreats()
    }

    fn loc(&self, local: LocalId) -> LocId {
        self.parts.locals[local as usize].loc
    }

    /// Returns the first group with the fewest threads that may be followed alone. Threads whose futures depend on each
    /// other, directly or through others, form a group.
    fn smallest_group(&self, dependence: &Dependence, state: &State, candidates: Candidates) -> Candidates {
        let threads = &state.threads;
        let group = dependence.groups(&threads.iter().map(|local| self.loc(*local)).collect::<Vec<_>>());
        let of_group = |name: usize| -> Candidates {
            let is_member =
                |local: &LocalId| threads.iter().zip(&group).any(|(other, of)| other == local && *of == name);
            candidates.iter().filter(|(local, _)| is_member(local)).cloned().collect()
        };
        let mut names = group.clone();
        names.sort_unstable();
        names.dedup();
        let fits = |members: &Candidates| {
            let mut outs = members.iter().flat_map(|(_, block)| block.outs.iter().map(move |out| (block, out)));
            members.iter().any(|(_, block)| !block.outs.is_empty())
                && outs.all(|(block, out)| self.goes_on(dependence, block, out))
        };
        let groups = names.into_iter().map(of_group).filter(fits);
        groups.min_by_key(Vec::len).unwrap_or(candidates)
    }

    /// Lets the thread that has just moved run on as long as it may be followed alone; returns the states in which it
    /// may not (Cartesian, thesis §6.4). Ends because such blocks lead forward.
    pub(super) fn run_on(&mut self, state: State, out: &Out) -> Result<Vec<State>, Stop> {
        let (PartialOrder::Cartesian, Some(mover), false) = (self.partial_order, out.me, out.holds) else {
            return Ok(vec![state]);
        };
        let mut ends = Vec::new();
        let mut waiting = vec![(state, mover)];
        while let Some((state, mover)) = waiting.pop() {
            self.run.tick()?;
            match self.runs_on(&state, mover)? {
                None => ends.push(state),
                Some(block) => {
                    self.note_asserts(&block);
                    waiting.extend(block.outs.iter().map(|out| {
                        let me = out.me.expect("a thread that runs on does not end");
                        (self.without_partner(&state, mover, out), me)
                    }));
                }
            }
        }
        Ok(ends)
    }

    /// Returns the block along which a thread that has just moved runs on, if it does. An error on the way is found
    /// when the state before it is expanded.
    pub(super) fn runs_on(&mut self, state: &State, mover: LocalId) -> Result<Option<Rc<Block>>, Stop> {
        let Some(dependence) = self.dependence.take() else { return Ok(None) };
        let block = self.block(state, mover, false);
        let goes = |block: &Rc<Block>| {
            let stays = block.errors.is_empty() && block.outs.iter().all(|out| out.me.is_some());
            stays && self.may_go_alone(&dependence, state, mover, block)
        };
        let block = block.map(|block| Some(block).filter(goes));
        self.dependence = Some(dependence);
        block
    }
}

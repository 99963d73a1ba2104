//! The local states that can occur with each shared state, computed by looking at one thread at a time, and all rules
//! from there.
//!
//! *Order of work.* A shared state waits while some of its local states are new. It is taken, the blocks of the new
//! ones are computed, and the other local states seen with it are sent along to the shared states after them.
//!
//! *Invariant.* For a shared state that does not wait: all rules of its local states are known, and along each rule all
//! its local states were sent, except those of which there is one thread at most and it is the one that moves.
//!
//! *End.* Pairs of states are finitely many, and the set of known pairs only grows. *Right.* By induction every thread
//! of a configuration is seen with its shared state: the start is, and a step moves one thread, may start some, and
//! carries the others over.
//!
//! A step that assigns variables of other threads sends what they become. Which threads it transfers is known when all
//! pairs are.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::EntryId;
use selvedge_ir::tts::{LocalId, Rule, SharedId, Start};

use super::Options;
use super::single::single_locs;
use crate::macro_step::explicit::parts::{Kind, Local, Parts};
use crate::macro_step::explicit::passive::{Partner, Ways};
use crate::macro_step::explicit::{Block, From, Model, Out, compute};

type Hasher = BuildHasherDefault<FxHasher>;

/// The numbers of the states of a system.
#[derive(Default)]
pub(super) struct Ids {
    /// Shared valuations with the atomic flag.
    pub(super) shareds: IndexSet<(u32, bool), Hasher>,
    /// Thread states, each with whether the thread holds the flag.
    pub(super) locals: IndexSet<(u32, bool), Hasher>,
}

impl Ids {
    pub(super) fn shared(&self, id: SharedId) -> (u32, bool) {
        self.shareds[id.index()]
    }

    pub(super) fn local(&self, id: LocalId) -> (u32, bool) {
        self.locals[id.index()]
    }

    /// Returns the start of the block of a thread.
    pub(super) fn from(&self, shared: SharedId, local: LocalId) -> From {
        let ((shared, _), (local, holds)) = (self.shared(shared), self.local(local));
        From { shared, local, holds }
    }

    /// Returns the rule for the end of a block, without what it transfers, if its states have numbers.
    pub(super) fn rule(&self, shared: SharedId, local: LocalId, out: &Out) -> Option<Rule> {
        let number = |state: (u32, bool)| self.locals.get_index_of(&state).map(LocalId::from);
        let shared_after = self.shareds.get_index_of(&(out.shared, out.holds)).map(SharedId::from)?;
        let me = out.me.map(|me| (me, out.holds));
        let after: Option<Vec<LocalId>> = me.into_iter().chain(born(out)).map(number).collect();
        Some(Rule { shared, local, shared_after, after: after?, goes_on: me.is_some(), transfers: Vec::new() })
    }
}

/// Returns the threads that a block starts.
fn born(out: &Out) -> impl Iterator<Item = (u32, bool)> + '_ {
    out.born.iter().map(|child| (*child, false))
}

/// A shared state after a rule, with the kind of which the moving thread is the only one, and with the step in which
/// other threads take part, if the rule ends in one.
type Link = (SharedId, Option<EntryId>, Option<Rc<Partner>>);

/// A rule, with the step in which other threads take part, if it ends in one.
pub(super) type Ended = (Rule, Option<Rc<Partner>>);

/// The links from one shared state.
#[derive(Default)]
struct Links {
    /// The local states whose blocks are computed.
    done: FixedBitSet,
    /// The links of the rules.
    after: IndexSet<Link, Hasher>,
    waits: bool,
}

pub(super) struct Views<'a, 'p> {
    pub(super) model: &'a Model<'p>,
    pub(super) run: &'a Run<'a>,
    pub(super) options: Options,
    pub(super) parts: Parts,
    pub(super) ids: Ids,
    /// The rules without what they transfer, each with the step in which other threads take part.
    pub(super) rules: IndexSet<Ended, Hasher>,
    /// The pairs from which a thread runs into an error of the target.
    pub(super) errors: Vec<(SharedId, LocalId)>,
    /// The local states seen with each shared state.
    pub(super) seen: IndexVec<SharedId, FixedBitSet>,
    links: IndexVec<SharedId, Links>,
    waiting: Vec<SharedId>,
    /// See [`single_locs`].
    single_locs: IndexVec<EntryId, FixedBitSet>,
    /// The local states of threads that exclude all other steps: those with the atomic flag, and the prelude's.
    alone: FixedBitSet,
    /// For each kind the local states with at most one thread of this kind.
    single: IndexVec<EntryId, FixedBitSet>,
    ways: Ways,
}

impl<'a, 'p> Views<'a, 'p> {
    pub(super) fn new(model: &'a Model<'p>, options: Options, run: &'a Run<'a>) -> Views<'a, 'p> {
        Views {
            model,
            run,
            options,
            parts: Parts::default(),
            ids: Ids::default(),
            rules: IndexSet::default(),
            errors: Vec::new(),
            seen: IndexVec::new(),
            links: IndexVec::new(),
            waiting: Vec::new(),
            single_locs: single_locs(model.program()),
            alone: FixedBitSet::new(),
            single: model.program().entries.iter().map(|_| FixedBitSet::new()).collect(),
            ways: Ways::default(),
        }
    }

    /// Adds all pairs that are seen from these starts on.
    pub(super) fn close(&mut self, starts: &[Start]) -> Result<(), Stop> {
        for start in starts {
            self.run.tick()?;
            start.threads.iter().chain(&start.any).for_each(|local| self.see(start.shared, *local));
        }
        let mut n_done = 0;
        while let Some(shared) = self.waiting.pop() {
            self.links[shared].waits = false;
            self.expand(shared)?;
            self.send(shared)?;
            n_done += 1;
            if n_done % 256 == 0 {
                let (visited, waiting) = (self.rules.len(), self.waiting.len());
                self.run.event(Event::Searched { visited, waiting, depth: n_done });
            }
        }
        Ok(())
    }

    /// Fails if a size exceeds the limit.
    pub(super) fn within(&self, size: usize) -> Result<(), Stop> {
        if size > self.options.size { Err(Stop::StateLimit(self.options.size)) } else { self.run.tick() }
    }

    /// Returns the number of a shared state.
    pub(super) fn shared(&mut self, shared: u32, held: bool) -> SharedId {
        let (number, is_new) = self.ids.shareds.insert_full((shared, held));
        if is_new {
            self.seen.push(FixedBitSet::new());
            self.links.push(Links::default());
        }
        number.into()
    }

    /// Returns the number of a local state.
    pub(super) fn local(&mut self, id: u32, holds: bool) -> LocalId {
        let (number, is_new) = self.ids.locals.insert_full((id, holds));
        if is_new {
            let local = &self.parts.locals[id as usize];
            if holds || local.kind == Kind::Prelude {
                self.alone.grow_and_insert(number);
            }
            if let Kind::Entry(kind) = local.kind
                && self.single_locs[kind].contains(local.loc.index())
            {
                self.single[kind].grow_and_insert(number);
            }
        }
        number.into()
    }

    fn see(&mut self, shared: SharedId, local: LocalId) {
        let seen = &mut self.seen[shared];
        if !seen.contains(local.index()) {
            seen.grow_and_insert(local.index());
            self.wait(shared);
        }
    }

    fn wait(&mut self, shared: SharedId) {
        if !std::mem::replace(&mut self.links[shared].waits, true) {
            self.waiting.push(shared);
        }
    }

    /// Computes the blocks of the new local states.
    fn expand(&mut self, shared: SharedId) -> Result<(), Stop> {
        let new: Vec<usize> = self.seen[shared].difference(&self.links[shared].done).collect();
        self.links[shared].done = self.seen[shared].clone();
        let (_, held) = self.ids.shared(shared);
        for local in new.into_iter().map(LocalId::from) {
            self.run.tick()?;
            let from = self.ids.from(shared, local);
            let Local { kind, loc, .. } = self.parts.locals[from.local as usize];
            if self.model.task.target.has_loc(loc) {
                self.errors.push((shared, local));
            }
            if from.holds == held && kind != Kind::Prelude {
                let block = compute(self.model, &mut self.parts, from, u32::MAX, self.run)?;
                self.add_rules(shared, local, &block)?;
            }
        }
        Ok(())
    }

    fn add_rules(&mut self, shared: SharedId, local: LocalId, block: &Block) -> Result<(), Stop> {
        if block.errors.iter().any(|(error, _)| error.is_in(self.model.task.target)) {
            self.errors.push((shared, local));
        }
        let kind = self.only_one_of(local);
        for out in &block.outs {
            let shared_after = self.shared(out.shared, out.holds);
            let me = out.me.map(|me| self.local(me, out.holds));
            let born: Vec<LocalId> = born(out).map(|(child, holds)| self.local(child, holds)).collect();
            let after: Vec<LocalId> = me.into_iter().chain(born).collect();
            if shared == shared_after && after == [local] && out.partner.is_none() {
                continue;
            }
            after.iter().for_each(|local| self.see(shared_after, *local));
            self.links[shared].after.insert((shared_after, kind, out.partner.clone()));
            let rule = Rule { shared, local, shared_after, after, goes_on: me.is_some(), transfers: Vec::new() };
            self.rules.insert((rule, out.partner.clone()));
        }
        self.within(self.rules.len())
    }

    /// Returns the kind of a thread, if this is the only thread of the kind.
    fn only_one_of(&self, local: LocalId) -> Option<EntryId> {
        self.single.indices().find(|kind| self.single[*kind].contains(local.index()))
    }

    /// Sends the local states seen with a shared state along its rules.
    fn send(&mut self, shared: SharedId) -> Result<(), Stop> {
        let mut others = self.seen[shared].clone();
        others.difference_with(&self.alone);
        for at in 0..self.links[shared].after.len() {
            self.run.tick()?;
            let (after, kind, partner) = self.links[shared].after[at].clone();
            if after == shared && partner.is_none() {
                continue;
            }
            let mut others = others.clone();
            if let Some(kind) = kind {
                others.difference_with(&self.single[kind]);
            }
            if let Some(partner) = partner {
                others = self.transferred(&others, &partner)?;
            }
            if !others.is_subset(&self.seen[after]) {
                self.seen[after].union_with(&others);
                self.wait(after);
            }
        }
        Ok(())
    }

    /// Returns the local states that threads in these can have after a step in which they take part.
    fn transferred(&mut self, others: &FixedBitSet, partner: &Rc<Partner>) -> Result<FixedBitSet, Stop> {
        let mut after = FixedBitSet::new();
        for other in others.ones().map(LocalId::from) {
            self.run.tick()?;
            self.ways(other, partner).into_iter().for_each(|local| after.grow_and_insert(local.index()));
        }
        Ok(after)
    }

    /// Returns what another thread becomes by a step in which it takes part.
    fn ways(&mut self, other: LocalId, partner: &Rc<Partner>) -> Vec<LocalId> {
        let (id, holds) = self.ids.local(other);
        let ways = self.ways.get(self.model, &mut self.parts, partner, id);
        ways.iter().map(|way| self.local(*way, holds)).collect()
    }

    /// Returns the rules with what they transfer, once all pairs are known.
    pub(super) fn rules_with_transfers(&mut self) -> Result<Vec<Ended>, Stop> {
        let mut rules: Vec<Ended> = self.rules.iter().cloned().collect();
        for (rule, partner) in &mut rules {
            let Some(partner) = partner else { continue };
            // Also of threads that cannot be there together with the one that moves: a proof need not know that.
            let others = self.seen[rule.shared].clone();
            for other in others.ones().map(LocalId::from) {
                self.run.tick()?;
                let mut to = self.ways(other, partner);
                to.sort_unstable();
                if to != [other] {
                    rule.transfers.push((other, to));
                }
            }
        }
        Ok(rules)
    }
}

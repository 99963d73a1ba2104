//! The search: breadth first over whole states, each expanded once.
//!
//! *Invariant.* Every state before `expanded` has all its successors among the found ones. *End.* There are finitely
//! many states. *Right.* A state's successors are those of the blocks of each of its threads, or of the one that holds
//! the atomic flag; threads in the same state have the same blocks, so it is enough to follow one of them.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::LocId;
use selvedge_ir::target::met;
use selvedge_transition::macro_step::dependence::Dependence;
use selvedge_transition::macro_step::explicit::parts::{Kind, LocalId, Parts};
use selvedge_transition::macro_step::explicit::passive::{Partner, Ways};
use selvedge_transition::macro_step::explicit::start::{prelude, shared};
use selvedge_transition::macro_step::explicit::{Block, Blocks, Error, From, Model, Out};

use super::order::Candidates;
use super::start;
use super::store::{State, Store};
use crate::bounded::{Closing, PartialOrder, Visit, at_most, bound};

/// The place where an error was found first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met {
    /// The state.
    pub(super) state: usize,
    /// The thread whose block has the error; `None` if a thread of the state itself is at a target location.
    pub(super) by: Option<LocalId>,
}

pub(super) struct ExplicitSearch<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) run: &'a Run<'a>,
    pub(super) parts: Parts,
    pub(super) blocks: Blocks,
    pub(super) ways: Ways,
    pub(super) store: Store,
    /// For each state the one from which it was found, or its own number if it is initial.
    pub(super) parents: Vec<u32>,
    bound: u32,
    expanded: usize,
    layer: (usize, usize),
    /// The errors found, in the target or not.
    pub(super) met: FxHashMap<Error, Met>,
    /// The assertions that were reached.
    pub(super) asserts: Vec<bool>,
    pub(super) partial_order: PartialOrder,
    /// The dependence between steps; `None` if no interleaving may be left out.
    pub(super) dependence: Option<Dependence>,
}

impl<'a> ExplicitSearch<'a> {
    pub(super) fn new(model: &'a Model<'a>, partial_order: PartialOrder, run: &'a Run<'a>) -> ExplicitSearch<'a> {
        let reduces = partial_order != PartialOrder::Off && model.task.target.together.is_empty();
        ExplicitSearch {
            model,
            run,
            parts: Parts::default(),
            blocks: Blocks::default(),
            ways: Ways::default(),
            store: Store::default(),
            parents: Vec::new(),
            bound: bound(&model.task),
            expanded: 0,
            layer: (0, 0),
            met: FxHashMap::default(),
            asserts: vec![false; model.program().edges.len()],
            partial_order,
            dependence: reduces.then(|| Dependence::new(model.program(), &model.visible_points)),
        }
    }

    /// Finds all states, or those up to an error of the target.
    pub(super) fn run(&mut self, visit: Visit) -> Result<Option<Error>, Stop> {
        self.starts()?;
        let mut state = State::default();
        while self.first_error(visit).is_none() && self.expanded < self.store.len() {
            self.expand_next(&mut state)?;
        }
        Ok(self.first_error(visit))
    }

    /// Closes the states reached under a partial order under all steps, and returns whether that succeeded. It gives up
    /// where the partial order left out so much that a proof would cost more than the search. Traces are not available
    /// afterwards.
    pub(super) fn close(&mut self) -> Result<Closing, Stop> {
        if self.dependence.take().is_none() {
            return Ok(Closing::Closed);
        }
        self.partial_order = PartialOrder::Off;
        let n_errors =
            |search: &ExplicitSearch<'_>| search.met.keys().filter(|error| search.is_target_error(**error)).count();
        let (most, n_before) = (at_most(self.store.len()), n_errors(self));
        let mut state = State::default();
        self.expanded = 0;
        while self.expanded < self.store.len() {
            if self.store.len() > most {
                return Ok(Closing::Large);
            }
            self.expand_next(&mut state)?;
        }
        Ok(if n_errors(self) == n_before { Closing::Closed } else { Closing::Error })
    }

    fn first_error(&self, visit: Visit) -> Option<Error> {
        if visit != Visit::UntilError || self.met.is_empty() {
            return None;
        }
        self.met.keys().copied().filter(|error| self.is_target_error(*error)).min()
    }

    /// Returns whether an error belongs to the target.
    pub(super) fn is_target_error(&self, error: Error) -> bool {
        error.is_in(self.model.task.target)
    }

    fn starts(&mut self) -> Result<(), Stop> {
        let (model, run) = (self.model, self.run);
        let prelude = prelude(model, run)?;
        for chosen in shared(model, run)? {
            let shared = self.parts.shared(chosen.part);
            match &prelude {
                None => self.begin(shared, None)?,
                Some(locals) => {
                    for local in locals {
                        let local = self.parts.local(local.part.clone());
                        let state = State { shared, threads: vec![local], ..State::default() };
                        if let Some(number) = self.add(&state, None) {
                            self.look_at(&state, number);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the states with the initial threads.
    fn begin(&mut self, shared: u32, parent: Option<usize>) -> Result<(), Stop> {
        for state in start::states(self.model, &mut self.parts, shared, self.run)? {
            self.run.tick()?;
            if let Some(number) = self.add(&state, parent) {
                self.look_at(&state, number);
            }
        }
        Ok(())
    }

    /// Records the errors of a state itself. Blocks record those that their threads run into without others.
    fn look_at(&mut self, state: &State, number: usize) {
        for local in state.threads.iter().chain(&state.holder) {
            let loc = self.parts.locals[*local as usize].loc;
            if self.model.task.target.has_loc(loc) {
                self.met.entry(Error::Reaches(loc)).or_insert(Met { state: number, by: None });
            }
        }
    }

    /// Records the meetings of the target that take place in a state.
    fn look_for_meetings(&mut self, state: &State, number: usize) {
        let threads = || state.threads.iter().chain(&state.holder);
        let count = |loc: LocId| threads().filter(|local| self.parts.locals[**local as usize].loc == loc).count();
        for (meeting, locs) in self.model.task.target.together.iter().enumerate() {
            if met(std::slice::from_ref(locs), count).is_some() {
                self.met.entry(Error::Meets(meeting)).or_insert(Met { state: number, by: None });
            }
        }
    }

    fn add(&mut self, state: &State, parent: Option<usize>) -> Option<usize> {
        let number = self.store.add(state)?;
        self.parents.push(parent.unwrap_or(number) as u32);
        if !self.model.task.target.together.is_empty() {
            self.look_for_meetings(state, number);
        }
        Some(number)
    }

    /// Adds the successors of the next state, which is read into `state`.
    fn expand_next(&mut self, state: &mut State) -> Result<(), Stop> {
        self.store.read(self.expanded, state);
        self.expand(state)?;
        self.report();
        self.expanded += 1;
        Ok(())
    }

    fn expand(&mut self, state: &State) -> Result<(), Stop> {
        let (threads, holds): (&[LocalId], bool) = match &state.holder {
            Some(holder) => (std::slice::from_ref(holder), true),
            None => (&state.threads, false),
        };
        let mut candidates = Candidates::new();
        for local in threads.chunk_by(|one, other| one == other).map(|same| same[0]) {
            self.run.tick()?;
            candidates.push((local, self.block(state, local, holds)?));
        }
        if !holds {
            candidates = self.followed(state, candidates);
        }
        for (local, block) in candidates {
            self.note(&block, local);
            for out in &block.outs {
                self.follow(state, local, out)?;
            }
        }
        Ok(())
    }

    /// Returns the block of a thread of a state.
    pub(super) fn block(&mut self, state: &State, local: LocalId, holds: bool) -> Result<Rc<Block>, Stop> {
        let used = if start::counts_created(self.model) { state.created } else { state.n_threads() as u32 };
        let room = self.bound.saturating_sub(used);
        let from = From { shared: state.shared, local, holds };
        self.blocks.get(self.model, &mut self.parts, from, room, self.run)
    }

    fn note(&mut self, block: &Block, by: LocalId) {
        for (error, _) in &block.errors {
            self.met.entry(*error).or_insert(Met { state: self.expanded, by: Some(by) });
        }
        self.note_asserts(block);
    }

    /// Records the assertions that a block reaches.
    pub(super) fn note_asserts(&mut self, block: &Block) {
        for edge in &block.asserts {
            self.asserts[edge.index()] = true;
        }
    }

    /// Records the assertions at which threads are: a thread that another one keeps from ever moving has reached its
    /// own.
    pub(super) fn note_stops(&mut self) -> Result<(), Stop> {
        let mut seen = FixedBitSet::with_capacity(self.parts.locals.len());
        let mut state = State::default();
        for number in 0..self.store.len() {
            self.run.tick()?;
            self.store.read(number, &mut state);
            for local in state.threads.iter().chain(&state.holder).filter(|local| !seen.put(**local as usize)) {
                let loc = self.parts.locals[*local as usize].loc;
                self.model.flow.out(loc).iter().for_each(|edge| self.asserts[edge.index()] = true);
            }
        }
        Ok(())
    }

    /// Adds the successors of a state along the end of a block.
    fn follow(&mut self, state: &State, local: LocalId, out: &Out) -> Result<(), Stop> {
        let parent = Some(self.expanded);
        if out.me.is_none() && self.parts.locals[local as usize].kind == Kind::Prelude {
            return self.begin(out.shared, parent);
        }
        match &out.partner {
            None => {
                let next = self.without_partner(state, local, out);
                for state in self.run_on(next, out)? {
                    self.add(&state, parent);
                }
            }
            Some(partner) => {
                let rest = self.rest(state, local, out);
                for threads in self.together(partner, &rest.threads)? {
                    let next = joined(State { threads, ..rest.clone() }, out);
                    if let Some(number) = self.add(&next, parent) {
                        self.look_at(&next, number);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a state without the thread that moves.
    fn rest(&self, state: &State, local: LocalId, out: &Out) -> State {
        let mut rest = State { shared: out.shared, holder: None, ..state.clone() };
        if start::counts_created(self.model) {
            rest.created += out.born.len() as u32;
        }
        if state.holder.is_none() {
            let at = rest.threads.partition_point(|other| *other < local);
            rest.threads.remove(at);
        }
        rest
    }

    /// Returns the successor along the end of a block in which no other thread takes part.
    pub(super) fn without_partner(&self, state: &State, local: LocalId, out: &Out) -> State {
        joined(self.rest(state, local, out), out)
    }

    /// Returns all combinations of states of the other threads after a step in which they take part.
    fn together(&mut self, partner: &Rc<Partner>, others: &[LocalId]) -> Result<Vec<Vec<LocalId>>, Stop> {
        let mut all: Vec<Vec<LocalId>> = vec![Vec::new()];
        for other in others {
            self.run.tick()?;
            let ways = self.ways.get(self.model, &mut self.parts, partner, *other);
            let extended = all.iter().flat_map(|threads| {
                ways.iter().map(|way| {
                    let mut threads = threads.clone();
                    let at = threads.partition_point(|thread| thread < way);
                    threads.insert(at, *way);
                    threads
                })
            });
            let mut extended: Vec<Vec<LocalId>> = extended.collect();
            extended.sort_unstable();
            extended.dedup();
            all = extended;
        }
        Ok(all)
    }

    fn report(&mut self) {
        let number = self.expanded;
        if number == self.layer.0 {
            self.layer = (self.store.len(), self.layer.1 + 1);
        }
        if number.is_multiple_of(4096) {
            let (visited, waiting) = (self.store.len(), self.store.len() - number);
            self.run.event(Event::Searched { visited, waiting, depth: self.layer.1 });
        }
    }

    /// Returns the states from the start to a state.
    pub(super) fn path(&self, state: usize) -> Vec<usize> {
        let mut path = vec![state];
        let mut number = state;
        while self.parents[number] as usize != number {
            number = self.parents[number] as usize;
            path.push(number);
        }
        path.reverse();
        path
    }
}

/// Adds the thread that moved and those that it started to the other threads.
pub(super) fn joined(mut state: State, out: &Out) -> State {
    match out.me {
        Some(me) if out.holds => state.holder = Some(me),
        Some(me) => state.insert(me),
        None => {}
    }
    out.born.iter().for_each(|child| state.insert(*child));
    state
}

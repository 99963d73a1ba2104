//! The search: breadth first over packed states, each expanded once.
//!
//! *Invariant.* Every state before `expanded` has all its successors among the found ones. *End.* There are finitely
//! many states. *Right.* A state's successors are those of the blocks of each of its threads, or of the one that holds
//! the atomic flag; of threads of one group in the same state it is enough to follow one. What a block does depends on
//! the variables of its footprint only, so that the ends that were computed for one state are those of all states that
//! agree on them. An error that a block meets is met when its ends are computed, at the first state that has it.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::LocId;
use selvedge_ir::target::met;
use selvedge_transition::macro_step::explicit::parts::{Kind, Local, Parts};
use selvedge_transition::macro_step::explicit::start::{prelude, shared, thread};
use selvedge_transition::macro_step::explicit::values::Bits;
use selvedge_transition::macro_step::explicit::{Error, From, Model, Out, compute};
use selvedge_transition::step::vars::initial_counts;
use selvedge_transition::tts_extract::multisets;
use smallvec::SmallVec;

use super::layout::{HELD, Layout, PRELUDE, Packed, Post};
use super::rules::{Key, Rules};
use super::set::StateSet;
use crate::bounded::{Visit, bound};

/// With more entries than this, tables are emptied.
const MOST_ENTRIES: usize = 1 << 22;

/// The place where an error was found first.
#[derive(Clone, Debug)]
pub(super) struct Met {
    /// The state.
    pub(super) state: usize,
    /// The thread whose block has the error; `None` if a thread of the state itself is at a target location.
    pub(super) by: Option<Local>,
}

/// The bits of a state that determine the blocks of threads at a post.
struct Mask<const W: usize> {
    own: u64,
    shared: Packed<W>,
    /// True if the number of threads that may start matters, too.
    starts: bool,
    is_prelude: bool,
}

impl<const W: usize> Mask<W> {
    fn new(post: &Post) -> Mask<W> {
        let mut shared = [0; W];
        shared.iter_mut().zip(&post.shared).for_each(|(mask, of_post)| *mask = *of_post);
        Mask { own: post.own, shared, starts: post.starts, is_prelude: post.kind == Kind::Prelude }
    }
}

pub(super) struct PackedSearch<'a, const W: usize> {
    pub(super) model: &'a Model<'a>,
    pub(super) run: &'a Run<'a>,
    pub(super) layout: &'a Layout,
    pub(super) set: StateSet<W>,
    /// The states with the initial threads.
    pub(super) starts: Vec<usize>,
    /// For each group and post, the variables that determine the blocks.
    masks: Vec<Vec<Mask<W>>>,
    rules: Rules<W>,
    parts: Parts,
    bound: usize,
    expanded: usize,
    layer: (usize, usize),
    /// The errors found, in the target or not.
    pub(super) met: FxHashMap<Error, Met>,
    /// True if one of them belongs to the target.
    has_error: bool,
    /// The assertions that were reached.
    pub(super) asserts: Vec<bool>,
}

impl<'a, const W: usize> PackedSearch<'a, W> {
    pub(super) fn new(model: &'a Model<'a>, layout: &'a Layout, run: &'a Run<'a>) -> PackedSearch<'a, W> {
        PackedSearch {
            model,
            run,
            layout,
            set: StateSet::new(),
            starts: Vec::new(),
            masks: layout.groups.iter().map(|group| group.posts.iter().map(Mask::new).collect()).collect(),
            rules: Rules::new(layout),
            parts: Parts::default(),
            bound: bound(&model.task) as usize,
            expanded: 0,
            layer: (0, 0),
            met: FxHashMap::default(),
            has_error: false,
            asserts: vec![false; model.program().edges.len()],
        }
    }

    /// Finds all states, or those up to an error of the target.
    pub(super) fn run(&mut self, visit: Visit) -> Result<Option<Error>, Stop> {
        self.starts()?;
        while self.first_error(visit).is_none() && self.expanded < self.set.len() {
            self.run.tick()?;
            self.expand(self.set.get(self.expanded))?;
            self.report();
            self.expanded += 1;
        }
        Ok(self.first_error(visit))
    }

    fn first_error(&self, visit: Visit) -> Option<Error> {
        if visit != Visit::UntilError || !self.has_error {
            return None;
        }
        self.met.keys().copied().filter(|error| error.is_in(self.model.task.target)).min()
    }

    /// Records an error that is met in a state.
    fn meet(&mut self, error: Error, state: usize, by: Option<Local>) {
        self.has_error |= error.is_in(self.model.task.target);
        self.met.entry(error).or_insert(Met { state, by });
    }

    fn starts(&mut self) -> Result<(), Stop> {
        let (model, run) = (self.model, self.run);
        let prelude = prelude(model, run)?;
        for chosen in shared(model, run)? {
            match &prelude {
                None => self.begin(&chosen.part, None)?,
                Some(locals) => {
                    for local in locals {
                        let mut state = self.blank(&chosen.part);
                        state[0] |= PRELUDE;
                        let group = self.layout.groups.last().expect("the prelude has a group");
                        group.replace(&mut state, 0, group.packed(model, &local.part, false));
                        self.add_start(&state, None)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a state without threads.
    fn blank(&self, shared: &Bits) -> Packed<W> {
        let mut state = [0; W];
        self.layout.write_shared(self.model, shared, &mut state);
        state
    }

    /// Adds the states with the initial threads.
    fn begin(&mut self, shared: &Bits, parent: Option<usize>) -> Result<(), Stop> {
        let (model, run, layout) = (self.model, self.run, self.layout);
        // The values of the slots in which threads of each kind can begin, with their group.
        let mut options: Vec<Vec<(u32, u64)>> = Vec::new();
        let mut markings = initial_counts(model.program(), bound(&model.task));
        markings.sort_unstable();
        for id in model.program().entries.indices() {
            let kind = Kind::Entry(id);
            let begins = markings.iter().flatten().any(|(other, count)| *other == id && *count > 0);
            let mut owns = Vec::new();
            for chosen in if begins { thread(model, id, shared, run)? } else { Vec::new() } {
                let group = layout.group_of(kind);
                owns.push((group as u32, layout.groups[group].packed(model, &chosen.part, false)));
            }
            owns.sort_unstable();
            owns.dedup();
            options.push(owns);
        }
        let blank = self.blank(shared);
        for marking in markings {
            let kinds = marking.iter().filter(|(_, count)| *count > 0);
            let kinds: Vec<(&[(u32, u64)], u32)> =
                kinds.map(|(id, count)| (options[id.index()].as_slice(), *count)).collect();
            multisets(&kinds, &mut Vec::new(), &mut |threads: &[(u32, u64)]| {
                run.tick()?;
                let mut state = blank;
                for (group, own) in threads {
                    layout.groups[*group as usize].replace(&mut state, 0, *own);
                }
                layout.add_created(&mut state, threads.len());
                self.add_start(&state, parent)
            })?;
        }
        Ok(())
    }

    /// Adds a state whose threads were not looked at as ends of blocks.
    fn add_start(&mut self, state: &Packed<W>, parent: Option<usize>) -> Result<(), Stop> {
        let added = self.add(state, parent)?;
        if state[0] & PRELUDE == 0 {
            self.starts.push(self.set.number(state).expect("it is known now"));
        }
        let Some(number) = added else { return Ok(()) };
        for loc in self.locs(state) {
            if self.model.task.target.has_loc(loc) {
                self.meet(Error::Reaches(loc), number, None);
            }
        }
        Ok(())
    }

    fn locs(&self, state: &Packed<W>) -> Vec<LocId> {
        let groups = self.layout.groups_of(state).iter();
        groups.flat_map(|group| group.values(state).map(|own| group.post(own).loc)).collect()
    }

    /// Records the meetings of the target that take place in a state.
    fn look_for_meetings(&mut self, state: &Packed<W>, number: usize) {
        let locs = self.locs(state);
        let count = |loc: LocId| locs.iter().filter(|other| **other == loc).count();
        for (meeting, locs) in self.model.task.target.together.iter().enumerate() {
            if met(std::slice::from_ref(locs), count).is_some() {
                self.meet(Error::Meets(meeting), number, None);
            }
        }
    }

    fn add(&mut self, state: &Packed<W>, parent: Option<usize>) -> Result<Option<usize>, Stop> {
        if !self.set.has_room() {
            return Err(Stop::StateLimit(u32::MAX as usize));
        }
        let added = self.set.add(state, parent);
        if let Some(number) = added.filter(|_| !self.model.task.target.together.is_empty()) {
            self.look_for_meetings(state, number);
        }
        Ok(added)
    }

    fn expand(&mut self, state: Packed<W>) -> Result<(), Stop> {
        let layout = self.layout;
        let (holds, is_prelude) = (state[0] & HELD != 0, state[0] & PRELUDE != 0);
        let groups = layout.groups_of(&state);
        let first = if is_prelude { layout.groups.len() - 1 } else { 0 };
        for (number, group) in groups.iter().enumerate() {
            let mut last = 0;
            for slot in 0..group.slots.len() {
                let own = group.get(&state, slot);
                if own == last || holds && !group.post(own).holds {
                    continue;
                }
                last = own;
                self.follow(&state, first + number, slot, own)?;
            }
        }
        Ok(())
    }

    /// Adds the successors of a state by the blocks of one of its threads.
    fn follow(&mut self, state: &Packed<W>, number: usize, slot: usize, own: u64) -> Result<(), Stop> {
        let at = self.layout.groups[number].number(own);
        let mask = &self.masks[number][at];
        let mut shared = *state;
        shared.iter_mut().zip(&mask.shared).for_each(|(word, mask)| *word &= mask);
        let room = if mask.starts { self.room(state) } else { 0 };
        let key = Key { own: own & mask.own, shared, room: room as u64 };
        // What the prelude leads to depends on all variables.
        let known = if mask.is_prelude { None } else { self.rules.find(number, at, &key) };
        let (first, end) = match known {
            Some(ends) => ends,
            None => {
                if self.rules.len() >= MOST_ENTRIES {
                    (self.rules, self.parts) = (Rules::new(self.layout), Parts::default());
                }
                let first = self.rules.n_ends();
                self.compute(state, number, own, room)?;
                self.rules.add(number, at, key, first)
            }
        };
        let group = &self.layout.groups[number];
        for end in first..end {
            let end = self.rules.end(end);
            let mut next = *state;
            end.change(&mut next);
            group.replace(&mut next, slot, own & end.keep | end.set);
            let born = self.rules.born(end);
            for child in born {
                group.replace(&mut next, 0, *child);
            }
            self.layout.add_created(&mut next, born.len());
            self.add(&next, Some(self.expanded))?;
        }
        Ok(())
    }

    /// Returns the number of threads that may still start.
    fn room(&self, state: &Packed<W>) -> usize {
        let used = if self.layout.counts_created() {
            self.layout.created(state) as usize
        } else {
            self.layout.n_threads(state)
        };
        self.bound.saturating_sub(used)
    }

    /// Computes the ends of the blocks of a thread, and records the errors and assertions on the way. After the prelude
    /// the initial threads begin.
    fn compute(&mut self, state: &Packed<W>, number: usize, own: u64, room: usize) -> Result<(), Stop> {
        let (model, layout) = (self.model, self.layout);
        let group = &layout.groups[number];
        let (local, holds) = (group.local(model, own), group.post(own).holds);
        let shared = self.parts.shared(layout.shared(model, state));
        let from = From { shared, local: self.parts.local(local.clone()), holds };
        let block = compute(model, &mut self.parts, from, room as u32, self.run)?;
        for (error, _) in &block.errors {
            self.meet(*error, self.expanded, Some(local.clone()));
        }
        block.asserts.iter().for_each(|edge| self.asserts[edge.index()] = true);
        for out in &block.outs {
            if local.kind == Kind::Prelude && out.me.is_none() {
                self.begin(&self.parts.shared[out.shared as usize].clone(), Some(self.expanded))?;
            } else {
                self.add_end(number, own, out);
            }
        }
        Ok(())
    }

    /// Adds what an end changes in the words of a state to the rules.
    fn add_end(&mut self, number: usize, own: u64, out: &Out) {
        let (model, group) = (self.model, &self.layout.groups[number]);
        let pack = |local: u32, holds: bool| group.packed(model, &self.parts.locals[local as usize], holds);
        let after = out.me.map_or(0, |me| pack(me, out.holds));
        let keep = if after == 0 { 0 } else { group.untouched(own, after) };
        let (mut clear, mut put) = ([0; W], self.blank(&self.parts.shared[out.shared as usize]));
        clear.iter_mut().zip(&group.post(own).shared_concerned).for_each(|(clear, concerned)| *clear = *concerned);
        put.iter_mut().zip(&clear).for_each(|(put, clear)| *put &= clear);
        clear[0] |= HELD;
        put[0] |= if out.holds { HELD } else { 0 };
        let born: SmallVec<[u64; 4]> = out.born.iter().map(|child| pack(*child, false)).collect();
        self.rules.add_end(keep, after & !keep, (clear, put), &born);
    }

    /// Records the assertions at which threads are: a thread that another one keeps from ever moving has reached its
    /// own.
    pub(super) fn note_stops(&mut self) -> Result<(), Stop> {
        let mut seen = FixedBitSet::with_capacity(self.model.program().locs.len());
        for number in 0..self.set.len() {
            self.run.tick()?;
            self.locs(&self.set.get(number)).iter().for_each(|loc| seen.insert(loc.index()));
        }
        for loc in seen.ones() {
            self.model.flow.out(LocId::from(loc)).iter().for_each(|edge| self.asserts[edge.index()] = true);
        }
        Ok(())
    }

    fn report(&mut self) {
        let number = self.expanded;
        if number == self.layer.0 {
            self.layer = (self.set.len(), self.layer.1 + 1);
        }
        if number.is_multiple_of(4096) {
            let (visited, waiting) = (self.set.len(), self.set.len() - number);
            self.run.event(Event::Searched { visited, waiting, depth: self.layer.1 });
        }
    }
}

//! The search: breadth-first, one ring of states after the other.
//!
//! *Order of work.* All states of the last ring, each thread that may move, each of its edges; the new states are the
//! next ring. *Invariant.* Before each ring, every reached state before it has all its successors among the reached
//! ones. *End.* There are finitely many states. *Right.* The image of each step is exact.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use selvedge_check::{Event, Role, Run, Stop, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::target::met;
use selvedge_ir::{EdgeId, LocId, Program, Target};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::relation::Layout;
use selvedge_transition::step::diagram::threads::ThreadLayout;
use selvedge_transition::step::vars::{Keep, initial_counts};

use super::layout::ProductLayout;
use crate::bounded::Visit;

/// The place of each thread that lives.
pub(super) type ThreadPlaces = Vec<Option<Place>>;

/// New states of a round with the same places of threads.
pub(super) struct RingEntry {
    pub(super) set: Bdd,
    /// The predecessors: an entry of the ring before, the thread that moves, and its edge.
    pub(super) arcs: Vec<(usize, usize, EdgeId)>,
}

pub(super) type Ring = IndexMap<ThreadPlaces, RingEntry, FxBuildHasher>;

/// An error that the search found.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlainError {
    /// In some states of this entry of the last ring, a step of a thread fails.
    Fails(usize, usize, EdgeId),
    /// All states of this entry of the last ring are errors.
    Reached(usize),
}

pub(super) struct PlainSearch<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) run: &'a Run<'a>,
    visit: Visit,
    pub(super) bound: u32,
    pub(super) layout: ProductLayout,
    flow: Flow,
    pub(super) rings: Vec<Ring>,
    pub(super) reached: IndexMap<ThreadPlaces, Bdd, FxBuildHasher>,
    /// The relations of assignments without other threads, by edge and thread.
    pub(super) relations: FxHashMap<(EdgeId, usize), Bdd>,
    pub(super) failing: BTreeSet<EdgeId>,
}

impl<'a> PlainSearch<'a> {
    pub(super) fn new(task: &Task<'a>, run: &'a Run<'a>, keep: Keep, visit: Visit) -> Result<PlainSearch<'a>, Stop> {
        let bound = selvedge_transition::support::bound(task);
        // The prelude's thread needs a number of its own, also if the bound allows no threads at all.
        let n_threads = bound.max(u32::from(task.program.prelude.is_some())) as usize;
        let limits = run.memory_limit().map_or(Limits::default(), Limits::memory);
        Ok(PlainSearch {
            layout: ProductLayout::new(task.program, n_threads, keep, limits).map_err(out_of_nodes)?,
            program: task.program,
            target: task.target,
            flow: Flow::new(task.program),
            rings: Vec::new(),
            reached: IndexMap::default(),
            relations: FxHashMap::default(),
            failing: BTreeSet::new(),
            bound,
            run,
            visit,
        })
    }

    /// Finds all states, or those up to an error.
    pub(super) fn run(&mut self) -> Result<Option<PlainError>, Stop> {
        let mut ring = Ring::default();
        for (key, set) in self.start().map_err(out_of_nodes)? {
            self.add(&mut ring, key, set, None).map_err(out_of_nodes)?;
        }
        while !ring.is_empty() {
            let error = ring.keys().position(|key| self.is_error(key));
            self.rings.push(ring);
            if let Some(error) = error {
                return Ok(Some(PlainError::Reached(error)));
            }
            ring = Ring::default();
            for number in 0..self.last().len() {
                if let Some(found) = self.expand(number, &mut ring)? {
                    return Ok(Some(found));
                }
            }
            let nodes = self.layout.manager.node_count();
            self.run.event(Event::Diagrams { rounds: self.rings.len(), waiting: ring.len(), nodes });
        }
        Ok(None)
    }

    fn last(&self) -> &Ring {
        self.rings.last().expect("a ring is expanded after it was added")
    }

    fn is_error(&self, key: &ThreadPlaces) -> bool {
        let count = |loc: LocId| key.iter().flatten().filter(|place| place.loc == loc).count();
        let at_target = key.iter().flatten().any(|place| self.target.has_loc(place.loc));
        self.visit == Visit::UntilError && (at_target || met(&self.target.together, count).is_some())
    }

    /// Adds the successors of an entry of the last ring to the next one.
    fn expand(&mut self, number: usize, next: &mut Ring) -> Result<Option<PlainError>, Stop> {
        let (key, entry) = self.last().get_index(number).expect("the ring has this entry");
        let (key, set) = (key.clone(), entry.set.clone());
        let alone = key.iter().flatten().any(|place| place.is_alone());
        for (thread, place) in key.iter().enumerate().filter_map(|(thread, place)| place.map(|place| (thread, place))) {
            if alone && !place.is_alone() {
                continue;
            }
            for edge in self.flow.out(place.loc).to_vec() {
                self.run.tick()?;
                self.layout.manager.tidy();
                if self.fails(&set, thread, edge).map_err(out_of_nodes)? {
                    return Ok(Some(PlainError::Fails(number, thread, edge)));
                }
                for (key, set) in self.follow(&key, &set, thread, edge).map_err(out_of_nodes)? {
                    self.add(next, key, set, Some((number, thread, edge))).map_err(out_of_nodes)?;
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a step can be a failure of the target.
    fn fails(&mut self, set: &Bdd, thread: usize, id: EdgeId) -> Result<bool, OutOfNodes> {
        let Some(failure) = self.program.edges[id].failure() else { return Ok(false) };
        let failing = self.layout.value(thread, &failure)?.exists(&self.layout.all_choices)?;
        if set.is_disjoint(&failing) {
            return Ok(false);
        }
        self.failing.insert(id);
        Ok(self.visit == Visit::UntilError && self.target.has_assert(id))
    }

    /// Adds the new states of a set to a ring.
    fn add(
        &mut self,
        ring: &mut Ring,
        key: ThreadPlaces,
        set: Bdd,
        arc: Option<(usize, usize, EdgeId)>,
    ) -> Result<(), OutOfNodes> {
        let known = self.reached.entry(key.clone()).or_insert_with(|| self.layout.manager.bottom());
        let new = set.minus(known)?;
        if new.is_false() {
            return Ok(());
        }
        *known = known.or(&new)?;
        let entry =
            ring.entry(key).or_insert_with(|| RingEntry { set: self.layout.manager.bottom(), arcs: Vec::new() });
        entry.set = entry.set.or(&new)?;
        entry.arcs.extend(arc);
        Ok(())
    }

    /// Returns the initial states.
    fn start(&mut self) -> Result<Vec<(ThreadPlaces, Bdd)>, OutOfNodes> {
        let layout = &self.layout;
        let set = layout.start(self.program, 0)?;
        let Some(prelude) = self.program.prelude else { return self.begin(&set) };
        let loc = self.program.procs[prelude].entry;
        let mut key = vec![None; layout.copies.len()];
        key[0] = Some(Place { role: Role::Prelude, loc });
        Ok(vec![(key, set.and(&layout.prelude(0, loc)?)?)])
    }

    /// Returns the states in which the initial threads begin, for every number that is allowed.
    pub(super) fn begin(&mut self, shared: &Bdd) -> Result<Vec<(ThreadPlaces, Bdd)>, OutOfNodes> {
        let mut all = Vec::new();
        for marking in initial_counts(self.program, self.bound) {
            let threads = marking.iter().flat_map(|(entry, count)| std::iter::repeat_n(*entry, *count as usize));
            let (mut key, mut set) = (vec![None; self.layout.copies.len()], shared.clone());
            for (thread, entry) in threads.enumerate() {
                let loc = self.program.procs[self.program.entries[entry].proc].entry;
                key[thread] = Some(Place { role: Role::Free(entry), loc });
                set = set.and(&self.layout.entry(self.program, thread, entry)?)?;
            }
            all.push((key, set));
        }
        Ok(all)
    }
}

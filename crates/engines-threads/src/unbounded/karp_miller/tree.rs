//! The tree of Karp and Miller over sets of valuations.
//!
//! **Order of work.** The newest node is expanded first: each group of threads moves by one block. The result is
//! accelerated against all ancestors whose shared set it contains, until nothing changes; the accelerated node is
//! compared and stored (errata: `km_stores_accelerated`). The shared valuations that maximal nodes with a covering
//! marking have are left out of its shared set. If some remain, the node is stored, and maximal nodes that it covers
//! are maximal no longer; those that wait are never expanded. Nodes that were expanded keep their subtrees.
//!
//! **Invariant.** All states of a node can be covered. Every step from a maximal node that was expanded leads,
//! valuation by valuation, below a maximal node. The atomic flag is part of the places: a node has at most one thread
//! that holds it (errata: `omega_not_atomic`).
//!
//! **End.** There are finitely many sets, so a branch without end would have two nodes with the same shared set of
//! which the later has the same groups with at least as many threads (Dickson): it has then more ω, or was left out.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Event, Role, Run, Stop, Task};
use selvedge_ir::Count as Allowed;
use selvedge_ir::target::met;
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::omega_marking::{Count, Group, OmegaMarking};
use crate::bounded::symbolic::block::{Block, Outcome};
use crate::bounded::symbolic::machine::Machine;
use crate::bounded::symbolic::state::SetId;
use crate::bounded::{Reductions, Visit, remember};

pub(super) struct OmegaNode {
    pub(super) shared: Bdd,
    pub(super) marking: OmegaMarking,
    parent: Option<usize>,
    /// True if a later node covers this one and it was not expanded before.
    dropped: bool,
}

/// A result of a block: shared valuations, and the threads that replace the one that moved.
struct Arrival {
    shared: Bdd,
    threads: Vec<Group>,
}

pub(super) struct Tree<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) nodes: Vec<OmegaNode>,
    /// The nodes that no later one covers, oldest first.
    pub(super) maximal: Vec<usize>,
    waiting: Vec<usize>,
    known: FxHashMap<(Bdd, Place, SetId), Rc<Vec<Arrival>>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(task: &Task<'a>, run: &'a Run<'a>) -> Result<Tree<'a>, Stop> {
        let machine = Machine::new(task, run, Reductions::default(), Visit::UntilError)?;
        let (nodes, maximal, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Tree { machine, nodes, maximal, waiting, known: FxHashMap::default() })
    }

    /// Grows the tree until it is complete or covers an error; returns whether it covers one.
    pub(super) fn build(&mut self) -> Result<bool, Stop> {
        for arrival in self.start().map_err(out_of_nodes)? {
            if self.arrive(&OmegaMarking::default(), &arrival, None)? {
                return Ok(true);
            }
        }
        let mut rounds = 0;
        while let Some(number) = self.waiting.pop() {
            self.machine.run.check_limits()?;
            if self.nodes[number].dropped {
                continue;
            }
            if self.expand(number)? {
                return Ok(true);
            }
            rounds += 1;
            if rounds % 64 == 0 {
                let nodes = self.machine.layout.manager.node_count();
                self.machine.run.event(Event::Diagrams { rounds, waiting: self.waiting.len(), nodes });
            }
        }
        Ok(false)
    }

    /// Returns the beginnings of a run: the prelude's thread, or the initial ones.
    fn start(&mut self) -> Result<Vec<Arrival>, OutOfNodes> {
        let shared = self.machine.layout.start(self.machine.program, Who::Mover)?;
        match self.machine.prelude()? {
            Some((place, set)) => {
                Ok(vec![Arrival { shared, threads: vec![Group { place, set, count: Count::Finite(1) }] }])
            }
            None => self.begin(shared),
        }
    }

    /// Returns the beginnings with the initial threads, as many of each kind as there may be. Fewer are covered by
    /// them.
    fn begin(&mut self, shared: Bdd) -> Result<Vec<Arrival>, OutOfNodes> {
        let relations = self.machine.initial_relations()?;
        let (mut parts, mut counts) = (vec![Outcome::nothing(shared)], Vec::new());
        for (id, entry) in self.machine.program.entries.iter_enumerated() {
            counts.push(match entry.count {
                Allowed::Exactly(0) | Allowed::AtMost(0) => continue,
                Allowed::Exactly(count) | Allowed::AtMost(count) => Count::Finite(count),
                Allowed::Any => Count::Omega,
            });
            parts = self.machine.with_threads(parts, id, &relations[id], 1)?;
        }
        let arrival = |part: Outcome| {
            let threads = part.children.into_iter().zip(&counts);
            let threads = threads.map(|((place, set), count)| Group { place, set, count: *count }).collect();
            Arrival { shared: part.shared, threads }
        };
        Ok(parts.into_iter().map(arrival).collect())
    }

    /// Adds the successors of a node; returns whether they cover an error.
    fn expand(&mut self, number: usize) -> Result<bool, Stop> {
        let OmegaNode { marking, shared, .. } = &self.nodes[number];
        let (marking, shared) = (marking.clone(), shared.clone());
        let alone = marking.is_held();
        for (mover, group) in marking.groups().iter().enumerate() {
            if alone && !group.place.is_alone() {
                continue;
            }
            self.machine.run.tick()?;
            let Some(arrivals) = self.arrivals(&shared, group)? else { return Ok(true) };
            let rest = marking.without(mover);
            for arrival in arrivals.iter() {
                if self.arrive(&rest, arrival, Some(number))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the results of the block of a thread of a group; `None` if there is an error.
    fn arrivals(&mut self, shared: &Bdd, group: &Group) -> Result<Option<Rc<Vec<Arrival>>>, Stop> {
        let key = (shared.clone(), group.place, group.set);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(Rc::clone(known)));
        }
        let set = shared.and(self.machine.sets.get(group.set)).map_err(out_of_nodes)?;
        let block = self.machine.block(group.place, set, u32::MAX, &[])?;
        if !block.errors.is_empty() {
            return Ok(None);
        }
        let arrivals = Rc::new(self.ends(&block, group.place).map_err(out_of_nodes)?);
        remember(&mut self.known, key, Rc::clone(&arrivals));
        Ok(Some(arrivals))
    }

    /// Returns the results of a block that begins at a place.
    fn ends(&mut self, block: &Block, begin: Place) -> Result<Vec<Arrival>, OutOfNodes> {
        let mut arrivals = Vec::new();
        for Outcome { shared, mover, children, .. } in self.machine.outcomes(block)? {
            if mover.is_none() && begin.role == Role::Prelude {
                arrivals.append(&mut self.begin(shared)?);
                continue;
            }
            let threads = children.into_iter().chain(mover);
            let threads = threads.map(|(place, set)| Group { place, set, count: Count::Finite(1) }).collect();
            arrivals.push(Arrival { shared, threads });
        }
        Ok(arrivals)
    }

    /// Stores the node after a step, as far as it is new; returns whether it covers an error.
    fn arrive(&mut self, rest: &OmegaMarking, arrival: &Arrival, parent: Option<usize>) -> Result<bool, Stop> {
        let mut marking = rest.clone();
        arrival.threads.iter().for_each(|group| marking.add(*group));
        self.accelerate(&arrival.shared, &mut marking, parent);
        if self.at_target(&marking) {
            return Ok(true);
        }
        let shared = self.new_part(&marking, arrival.shared.clone()).map_err(out_of_nodes)?;
        if shared.is_false() {
            return Ok(false);
        }
        let (nodes, sets) = (&mut self.nodes, &mut self.machine.sets);
        self.maximal.retain(|other| {
            let other = &mut nodes[*other];
            let covered = other.shared.is_subset(&shared) && marking.covers(&other.marking, sets);
            other.dropped |= covered;
            !covered
        });
        let number = nodes.len();
        nodes.push(OmegaNode { shared, marking, parent, dropped: false });
        self.maximal.push(number);
        self.waiting.push(number);
        Ok(false)
    }

    /// Puts ω where threads have become more since an ancestor, until nothing changes.
    fn accelerate(&mut self, shared: &Bdd, marking: &mut OmegaMarking, parent: Option<usize>) {
        loop {
            let (mut changed, mut at) = (false, parent);
            while let Some(number) = at {
                let node = &self.nodes[number];
                if node.shared.is_subset(shared) {
                    changed |= marking.accelerate(&node.marking, &mut self.machine.sets);
                }
                at = node.parent;
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the part of some shared valuations that no maximal node has together with at least these threads.
    fn new_part(&mut self, marking: &OmegaMarking, mut shared: Bdd) -> Result<Bdd, OutOfNodes> {
        for number in self.maximal.iter().rev() {
            let node = &self.nodes[*number];
            if !shared.is_disjoint(&node.shared) && node.marking.covers(marking, &mut self.machine.sets) {
                shared = shared.minus(&node.shared)?;
                if shared.is_false() {
                    break;
                }
            }
        }
        Ok(shared)
    }

    /// Returns whether a thread is at a target location, or several meet. False in a prelude, where there is no marking
    /// yet.
    fn at_target(&self, marking: &OmegaMarking) -> bool {
        let target = self.machine.target;
        let most = target.together.iter().map(Vec::len).max().unwrap_or(0);
        marking.groups().iter().any(|group| target.has_loc(group.place.loc))
            || met(&target.together, |loc| marking.at(loc, most)).is_some()
    }
}

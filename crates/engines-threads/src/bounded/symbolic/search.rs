//! The search: breadth-first, with two frontiers.
//!
//! *Order of work.* All states of the present frontier, each pair that may move; their successors are collected, states
//! with the same pairs as one; then the collected states are merged and become the next frontier. *Invariant.* Between
//! two frontiers, every state that is reached has all its successors among the reached ones or those of the frontier.
//! *End.* There are finitely many lists of pairs, and for each the shared part only grows. *Right.* Each step is exact:
//! nothing is added that cannot be reached, and the states that are dropped are contained in those that are kept.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use selvedge_check::{Event, Role, Run, Stop, Task};
use selvedge_ir::target::met;
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::dependence::Dependence;
use selvedge_transition::macro_step::explicit::Error;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::Options;
use super::block::{Block, BlockError, Outcome};
use super::machine::Machine;
use super::order::groups;
use super::state::{Pair, Pairs, SetId, add, n_threads, places, without};
use crate::bounded::{Closing, PartialOrder, Visit, at_most, remember};

/// The threads of a state: those that live, and the number of those that have ended, if that matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marking {
    pub(super) ended: u32,
    pub(super) pairs: Pairs,
}

impl Marking {
    /// Returns the number of threads that count for the bound.
    pub(super) fn n_threads(&self) -> u32 {
        self.ended + n_threads(&self.pairs)
    }
}

/// A state of the counter abstraction that was expanded or waits for it.
pub(super) struct Node {
    pub(super) marking: Marking,
    pub(super) shared: Bdd,
    /// The predecessors; the union of their outcomes contains the state.
    pub(super) origins: Vec<Origin>,
}

/// The origin of states: the start, or a block.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The node before the block, and the pair of the thread that moved.
    pub(super) from: Option<(u32, u32)>,
    pub(super) outcome: Rc<Outcome>,
}

/// An error that the search found.
#[derive(Clone, Debug)]
pub(super) enum FoundError {
    /// In all states of this origin a thread is at a target location.
    Reached(Origin),
    /// The error is in the block of a thread of a pair of a node.
    Block { node: usize, mover: usize, error: BlockError },
}

/// States with the same pairs that wait for the end of the frontier.
struct Draft {
    shared: Bdd,
    origins: Vec<Origin>,
}

type Drafts = IndexMap<Marking, Draft, FxBuildHasher>;

/// The results of a block.
type Outcomes = Rc<Vec<Rc<Outcome>>>;

/// The beginning of the block of a pair: shared part, place, set and room. Without passive parts the block depends on
/// nothing else.
type BlockKey = (Bdd, Place, SetId, u32);

pub(super) struct SymbolicSearch<'a> {
    pub(super) machine: Machine<'a>,
    merges: bool,
    pub(super) nodes: Vec<Node>,
    /// The shared part of each marking that was reached.
    pub(super) reached: IndexMap<Marking, Bdd, FxBuildHasher>,
    /// The markings, as indices into `reached`, by the number of threads that have ended and the places of the others.
    buckets: FxHashMap<(u32, Vec<Place>), Vec<usize>>,
    drafts: Drafts,
    /// The results of blocks.
    known: FxHashMap<BlockKey, Outcomes>,
    partial_order: PartialOrder,
    /// The dependence between steps, under a partial order.
    dependence: Option<Dependence>,
    /// The place where each error was found first, in searches for each error.
    pub(super) met: BTreeMap<Error, FoundError>,
    /// For blocks, whether they may be followed alone.
    forward: FxHashMap<BlockKey, bool>,
}

impl<'a> SymbolicSearch<'a> {
    /// Creates a search. A target with several threads at the same time is about the interleaving itself: nothing is
    /// left out then.
    pub(super) fn new(
        task: &Task<'a>,
        run: &'a Run<'a>,
        options: &Options,
        visit: Visit,
    ) -> Result<SymbolicSearch<'a>, Stop> {
        let machine = Machine::new(task, run, options.reductions, visit)?;
        Ok(SymbolicSearch::on(machine, options.reductions.partial_order, options.merge))
    }

    /// Creates a search on a machine.
    pub(super) fn on(machine: Machine<'a>, partial_order: PartialOrder, merges: bool) -> SymbolicSearch<'a> {
        let reduces = partial_order != PartialOrder::Off && machine.target.together.is_empty();
        SymbolicSearch {
            partial_order,
            dependence: reduces.then(|| Dependence::new(machine.program, &machine.visible_points)),
            met: BTreeMap::new(),
            forward: FxHashMap::default(),
            machine,
            merges,
            nodes: Vec::new(),
            reached: IndexMap::default(),
            buckets: FxHashMap::default(),
            drafts: IndexMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// Finds all states, or those up to an error.
    pub(super) fn run(&mut self) -> Result<Option<FoundError>, Stop> {
        if let Some(found) = self.start()? {
            return Ok(Some(found));
        }
        Ok(self.rounds(usize::MAX)?.err())
    }

    /// Closes the states reached under a partial order under all steps, and returns whether that succeeded. It gives up
    /// where the partial order left out so much that a proof would cost more than the search.
    pub(super) fn close(&mut self) -> Result<Closing, Stop> {
        if self.dependence.take().is_none() {
            return Ok(Closing::Closed);
        }
        let most = at_most(self.nodes.len());
        Ok(self.rounds(most)?.unwrap_or(Closing::Error))
    }

    /// Expands all states, first those that are there, then the new ones; at most a number of them, up to an error.
    fn rounds(&mut self, most: usize) -> Result<Result<Closing, FoundError>, Stop> {
        let (mut begin, mut rounds) = (0, 0);
        loop {
            self.commit().map_err(out_of_nodes)?;
            let end = self.nodes.len();
            if begin == end {
                return Ok(Ok(Closing::Closed));
            }
            if end > most {
                return Ok(Ok(Closing::Large));
            }
            for node in begin..end {
                if let Some(found) = self.expand(node)? {
                    return Ok(Err(found));
                }
            }
            (begin, rounds) = (end, rounds + 1);
            let nodes = self.machine.layout.manager.node_count();
            self.machine.run.event(Event::Diagrams { rounds, waiting: self.drafts.len(), nodes });
        }
    }

    /// Adds the initial states: the prelude's thread, or the initial threads.
    fn start(&mut self) -> Result<Option<FoundError>, Stop> {
        let shared = self.machine.layout.start(self.machine.program, Who::Mover).map_err(out_of_nodes)?;
        let starts = match self.machine.prelude().map_err(out_of_nodes)? {
            Some(prelude) => vec![Outcome { mover: Some(prelude), ..Outcome::nothing(shared) }],
            None => self.machine.begin(&shared)?,
        };
        for outcome in starts {
            let marking = Marking { ended: 0, pairs: moved(&[], &outcome) };
            let origin = Origin { from: None, outcome: Rc::new(outcome) };
            self.note_threads(&marking.pairs, &origin);
            if self.at_target(&marking.pairs) {
                return Ok(Some(FoundError::Reached(origin)));
            }
            self.draft(marking, origin).map_err(out_of_nodes)?;
        }
        Ok(None)
    }

    /// Returns whether a thread is at a target location, or several meet, in searches up to the first error.
    fn at_target(&self, pairs: &[Pair]) -> bool {
        let target = self.machine.target;
        let count = |loc| pairs.iter().filter(|pair| pair.place.loc == loc).map(|pair| pair.count as usize).sum();
        self.machine.visit == Visit::UntilError
            && (pairs.iter().any(|pair| target.has_loc(pair.place.loc)) || met(&target.together, count).is_some())
    }

    /// Records the locations of threads, and the errors there, in searches for each error.
    fn note_threads(&mut self, pairs: &[Pair], origin: &Origin) {
        for loc in pairs.iter().map(|pair| pair.place.loc) {
            self.machine.locs.insert(loc.index());
            if self.machine.visit == Visit::Each && self.machine.target.has_loc(loc) {
                self.met.entry(Error::Reaches(loc)).or_insert_with(|| FoundError::Reached(origin.clone()));
            }
        }
    }

    /// Records the errors in a block.
    fn note_errors(&mut self, block: &Block, node: usize, mover: usize) {
        for error in &block.errors {
            let found = FoundError::Block { node, mover, error: *error };
            match error {
                BlockError::Fails(_, edge) => {
                    self.met.entry(Error::Fails(*edge)).or_insert(found);
                }
                BlockError::Reached(item) => {
                    for loc in self.machine.targets(&block.items[*item].key) {
                        self.met.entry(Error::Reaches(loc)).or_insert_with(|| found.clone());
                    }
                }
            }
        }
    }

    /// Adds the successors of a node to the drafts.
    fn expand(&mut self, node: usize) -> Result<Option<FoundError>, Stop> {
        for mover in self.followed(node)? {
            self.machine.run.tick()?;
            if let Some(found) = self.expand_pair(node, mover)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the pairs of a node that are followed: those that may move, or fewer of them under a partial order.
    fn followed(&mut self, node: usize) -> Result<Vec<usize>, Stop> {
        let pairs = self.nodes[node].marking.pairs.clone();
        let alone = pairs.iter().any(|pair| pair.place.is_alone());
        let all: Vec<usize> = (0..pairs.len()).filter(|number| !alone || pairs[*number].place.is_alone()).collect();
        if alone || n_threads(&pairs) < 2 {
            return Ok(all);
        }
        let Some(dependence) = self.dependence.take() else { return Ok(all) };
        let mut chosen = None;
        for group in groups(self.partial_order, &dependence, &pairs).into_iter().filter(|group| group.len() < all.len())
        {
            let mut goes = true;
            for mover in &group {
                goes = goes && self.goes_on(&dependence, node, *mover)?;
            }
            if goes {
                chosen = Some(group);
                break;
            }
        }
        self.dependence = Some(dependence);
        Ok(chosen.unwrap_or(all))
    }

    /// Returns whether the block of a pair itself allows that it is followed alone. An error in it is found when it is
    /// followed.
    fn goes_on(&mut self, dependence: &Dependence, node: usize, mover: usize) -> Result<bool, Stop> {
        let key = self.block_key(node, mover);
        if let Some(known) = self.forward.get(&key) {
            return Ok(*known);
        }
        let goes = !self.machine.concerns_others(key.1) && {
            let block = self.block(&key, &[])?;
            let errs = self.machine.visit == Visit::UntilError && !block.errors.is_empty();
            errs || self.machine.goes_on(dependence, &block)?
        };
        remember(&mut self.forward, key, goes);
        Ok(goes)
    }

    /// Returns the beginning of the block of a pair of a node.
    pub(super) fn block_key(&self, node: usize, mover: usize) -> BlockKey {
        let Node { marking, shared, .. } = &self.nodes[node];
        let room = self.machine.bound.saturating_sub(marking.n_threads());
        (shared.clone(), marking.pairs[mover].place, marking.pairs[mover].set, room)
    }

    /// Computes a block; `others` are the other threads.
    pub(super) fn block(&mut self, key: &BlockKey, others: &[Pair]) -> Result<Block, Stop> {
        let (shared, place, set, room) = key;
        let set = shared.and(self.machine.sets.get(*set)).map_err(out_of_nodes)?;
        self.machine.block(*place, set, *room, others)
    }

    /// Adds the successors along the block of a thread of a pair.
    fn expand_pair(&mut self, node: usize, mover: usize) -> Result<Option<FoundError>, Stop> {
        let marking = &self.nodes[node].marking;
        let (ended, pair, rest) = (marking.ended, marking.pairs[mover], without(&marking.pairs, mover));
        let outcomes = match self.outcomes(node, mover, &rest)? {
            Ok(outcomes) => outcomes,
            Err(error) => return Ok(Some(FoundError::Block { node, mover, error })),
        };
        for outcome in outcomes.iter() {
            let ends = self.machine.counts_ended && outcome.mover.is_none() && pair.place.entry().is_some();
            let next = Marking { ended: ended + u32::from(ends), pairs: moved(&rest, outcome) };
            let origin = Origin { from: Some((node as u32, mover as u32)), outcome: Rc::clone(outcome) };
            self.note_threads(&next.pairs, &origin);
            // Blocks check neither meetings nor threads that begin after a prelude.
            if self.at_target(&next.pairs) {
                return Ok(Some(FoundError::Reached(origin)));
            }
            self.draft(next, origin).map_err(out_of_nodes)?;
        }
        Ok(None)
    }

    /// Returns the results of the block of a pair of a node.
    fn outcomes(&mut self, node: usize, mover: usize, rest: &[Pair]) -> Result<Result<Outcomes, BlockError>, Stop> {
        let key = self.block_key(node, mover);
        if let Some(known) = self.known.get(&key) {
            return Ok(Ok(Rc::clone(known)));
        }
        let begin = key.1;
        let block = self.block(&key, rest)?;
        match block.errors.first() {
            Some(error) if self.machine.visit == Visit::UntilError => return Ok(Err(*error)),
            _ => self.note_errors(&block, node, mover),
        }
        let mut outcomes = Vec::new();
        for outcome in self.machine.outcomes(&block).map_err(out_of_nodes)? {
            if outcome.mover.is_none() && begin.role == Role::Prelude {
                outcomes.extend(self.machine.begin(&outcome.shared)?.into_iter().map(Rc::new));
            } else {
                outcomes.push(Rc::new(outcome));
            }
        }
        let outcomes = Rc::new(outcomes);
        if !self.machine.concerns_others(begin) {
            remember(&mut self.known, key, Rc::clone(&outcomes));
        }
        Ok(Ok(outcomes))
    }

    /// Adds a state to the next frontier, as far as it is new.
    fn draft(&mut self, marking: Marking, origin: Origin) -> Result<(), OutOfNodes> {
        let mut shared = self.new_part(&marking, origin.outcome.shared.clone())?;
        if let Some(draft) = self.drafts.get_mut(&marking) {
            shared = shared.minus(&draft.shared)?;
            if !shared.is_false() {
                draft.shared = draft.shared.or(&shared)?;
                draft.origins.push(origin);
            }
        } else if !shared.is_false() {
            self.drafts.insert(marking, Draft { shared, origins: vec![origin] });
        }
        Ok(())
    }

    /// Returns the part of some shared valuations that is not known to be reached together with some threads.
    fn new_part(&mut self, marking: &Marking, mut shared: Bdd) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.reached.get(marking) {
            shared = shared.minus(known)?;
        }
        if shared.is_false() {
            return Ok(shared);
        }
        let bucket = self.buckets.get(&(marking.ended, places(&marking.pairs))).map_or(&[][..], Vec::as_slice);
        for number in bucket {
            let (larger, known) = self.reached.get_index(*number).expect("buckets hold reached lists");
            if !shared.is_disjoint(known) && self.machine.sets.dominates(&larger.pairs, &marking.pairs) {
                shared = shared.minus(known)?;
                if shared.is_false() {
                    break;
                }
            }
        }
        Ok(shared)
    }

    /// Makes the drafts the next frontier.
    fn commit(&mut self) -> Result<(), OutOfNodes> {
        let mut drafts = std::mem::take(&mut self.drafts);
        let mut candidates = if self.merges { candidates(&mut drafts) } else { Drafts::default() };
        while self.merge(&mut candidates)? {}
        for (marking, draft) in drafts.into_iter().chain(candidates) {
            let shared = self.new_part(&marking, draft.shared)?;
            if shared.is_false() {
                continue;
            }
            match self.reached.get_mut(&marking) {
                Some(known) => *known = known.or(&shared)?,
                None => {
                    let (number, _) = self.reached.insert_full(marking.clone(), shared.clone());
                    self.buckets.entry((marking.ended, places(&marking.pairs))).or_default().push(number);
                }
            }
            self.nodes.push(Node { marking, shared, origins: draft.origins });
        }
        Ok(())
    }

    /// Merges states that have the same shared part and differ in one pair of one thread: the union of the two sets
    /// represents exactly the states of both. With more than one thread in the pair it would not: two threads, both in
    /// A or both in C, are not two threads in A or C (errata: `merge_counts`). States that differ in the shared part
    /// only are one draft already. Returns whether it merged any. Each merge makes the list shorter.
    #[expect(clippy::mutable_key_type, reason = "a diagram is compared and hashed by the function that it denotes")]
    fn merge(&mut self, drafts: &mut Drafts) -> Result<bool, OutOfNodes> {
        let mut merged: Drafts = IndexMap::default();
        let mut partners: FxHashMap<Partner, (Pairs, SetId)> = FxHashMap::default();
        let mut any = false;
        for (Marking { ended, pairs }, draft) in drafts.drain(..) {
            self.machine.layout.manager.tidy();
            // Two markings that differ in the set of one pair, and have the same shared values, are one with the union.
            let mut keys = partner_keys(ended, &pairs, &draft.shared);
            let partner = keys.find_map(|(single, key)| {
                let (partner, set) = partners.get(&key)?;
                let partner = Marking { ended, pairs: partner.clone() };
                let fits = merged.get(&partner).is_some_and(|other| other.shared == draft.shared);
                fits.then_some((single, key.rest, partner, *set))
            });
            drop(keys);
            let (mut pairs, mut draft) = (pairs, draft);
            if let Some((single, rest, partner, set)) = partner {
                any = true;
                let other = merged.swap_remove(&partner).expect("the partner was found there");
                let sets = &mut self.machine.sets;
                let union = sets.get(single.set).or(sets.get(set))?;
                pairs = rest;
                add(&mut pairs, Pair { set: sets.id(&union), ..single });
                draft.origins.splice(0..0, other.origins);
            }
            // Keys of markings that were merged away stay in the table: `fits` asks whether the marking is still there.
            for (single, key) in partner_keys(ended, &pairs, &draft.shared) {
                partners.insert(key, (pairs.clone(), single.set));
            }
            let marking = Marking { ended, pairs };
            match merged.get_mut(&marking) {
                Some(known) => {
                    known.shared = known.shared.or(&draft.shared)?;
                    known.origins.extend(draft.origins);
                }
                None => {
                    merged.insert(marking, draft);
                }
            }
        }
        *drafts = merged;
        Ok(any)
    }
}

/// Takes out the drafts that may have a partner for merging: those with the same shared part and the same places as
/// another one.
#[expect(clippy::mutable_key_type, reason = "a diagram is compared and hashed by the function that it denotes")]
fn candidates(drafts: &mut Drafts) -> Drafts {
    let key = |marking: &Marking, draft: &Draft| (draft.shared.clone(), marking.ended, places(&marking.pairs));
    let mut numbers: FxHashMap<(Bdd, u32, Vec<Place>), u32> = FxHashMap::default();
    for (marking, draft) in drafts.iter() {
        *numbers.entry(key(marking, draft)).or_default() += 1;
    }
    let (single, several) = drafts.drain(..).partition(|(marking, draft)| numbers[&key(marking, draft)] == 1);
    *drafts = single;
    several
}

/// The common part of two drafts that can be merged: all but one thread at a place.
#[derive(PartialEq, Eq, Hash)]
struct Partner {
    shared: Bdd,
    ended: u32,
    rest: Pairs,
    place: Place,
}

/// Returns, for each pair of one thread, the part that a partner has in common.
fn partner_keys(ended: u32, pairs: &Pairs, shared: &Bdd) -> impl Iterator<Item = (Pair, Partner)> {
    let singles = (0..pairs.len()).filter(|number| pairs[*number].count == 1);
    singles.map(move |number| {
        let (rest, place) = (without(pairs, number), pairs[number].place);
        (pairs[number], Partner { shared: shared.clone(), ended, rest, place })
    })
}

/// Returns the pairs after a block: the others, the thread that moved, and those that it started.
pub(super) fn moved(rest: &[Pair], outcome: &Outcome) -> Pairs {
    let mut pairs = Vec::with_capacity(rest.len() + 2);
    match &outcome.peers {
        None => pairs.extend_from_slice(rest),
        Some(peers) => {
            rest.iter().zip(peers).for_each(|(pair, set)| add(&mut pairs, Pair { set: *set, ..*pair }));
        }
    }
    for (place, set) in outcome.mover.iter().chain(&outcome.children) {
        add(&mut pairs, Pair { place: *place, set: *set, count: 1 });
    }
    pairs
}

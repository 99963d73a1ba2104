//! From an error back to the start: concrete states on the way of the search (thesis, Algorithm 7.2).
//!
//! Going backwards, each thread has a valuation of the variables that are kept at its location. The state before a
//! block is found by computing the block again, and choosing, edge by edge, values for the moving thread, the shared
//! variables and the choices that lead to the values already known. All other threads keep their values, unless they
//! take part in a step. A node has one origin that contains the state at hand, and its threads are matched to the pairs
//! of that origin. Variables that are not kept have no influence on those that are, so their values are left to the
//! execution.

use selvedge_check::Stop;
use selvedge_ir::trace::{StartThread, Trace};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::relation::Layout;
use selvedge_transition::step::diagram::threads::{Live, ThreadLayout};
use selvedge_transition::trace_builder::{BackStep, TraceBuilder};

use super::back::Back;
use super::block::{At, Block, BlockError, Outcome};
use super::search::{FoundError, Origin, SymbolicSearch};
use super::state::{Pair, Pairs, SetId, matching, without};

/// A state, as far as a block concerns it.
pub(super) struct Scene {
    pub(super) shared: Vec<bool>,
    /// The moving thread, unless it has ended.
    pub(super) mover: Option<Live>,
    /// The threads that the block has started, in order.
    pub(super) children: Vec<Live>,
    /// All others, each with the number of its pair before the block.
    pub(super) others: Vec<(usize, Live)>,
}

/// The part of a thread in an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OriginPart {
    /// No part, except in passive steps: it belongs to this pair of the others.
    Other(usize),
    Mover,
    Child,
}

impl SymbolicSearch<'_> {
    /// Returns the execution that leads to an error.
    pub(super) fn trace(&mut self, found: &FoundError) -> Result<Trace, Stop> {
        let mut builder = TraceBuilder::default();
        let (mut shared, mut threads, mut origin) = match found {
            FoundError::Reached(origin) => {
                let slots = self.slots(origin);
                let sets = slots.iter().map(|(place, set, _)| (*place, *set));
                let threads = sets.map(|(place, set)| self.live(&mut builder, place, set)).collect();
                let shared = origin.outcome.shared.pick(&self.machine.layout.now(Who::Mover).0);
                (shared.expect("no state has an empty shared part"), threads, origin.clone())
            }
            FoundError::Block { node, mover, error } => {
                let (shared, threads) = self.before_error(&mut builder, *node, *mover, *error)?;
                let origin = self.origin(*node, &shared, &threads);
                (shared, threads, origin)
            }
        };
        while let Some((node, mover)) = origin.from {
            self.machine.run.tick()?;
            let scene = self.scene(&mut builder, &origin, shared, threads).map_err(out_of_nodes)?;
            (shared, threads) = self.before(&mut builder, node as usize, mover as usize, &origin.outcome, scene)?;
            origin = self.origin(node as usize, &shared, &threads);
        }
        self.finish(builder, &shared, threads).map_err(out_of_nodes)
    }

    /// Returns a thread with some valuation of a set.
    fn live(&self, builder: &mut TraceBuilder, place: Place, set: SetId) -> Live {
        let (_, vars) = self.machine.layout.now(Who::Mover);
        let locals = self.machine.sets.get(set).pick(&vars).expect("no pair has an empty set");
        Live { name: builder.name(), place, locals }
    }

    /// Returns the threads that an origin leads to, one by one: their places, sets and parts.
    fn slots(&self, origin: &Origin) -> Vec<(Place, SetId, OriginPart)> {
        let outcome = &origin.outcome;
        let mut slots = Vec::new();
        if let Some((node, mover)) = origin.from {
            let rest = without(&self.nodes[node as usize].marking.pairs, mover as usize);
            for (number, pair) in rest.iter().enumerate() {
                let set = outcome.peers.as_ref().map_or(pair.set, |peers| peers[number]);
                slots.extend(std::iter::repeat_n((pair.place, set, OriginPart::Other(number)), pair.count as usize));
            }
        }
        slots.extend(outcome.mover.map(|(place, set)| (place, set, OriginPart::Mover)));
        slots.extend(outcome.children.iter().map(|(place, set)| (*place, *set, OriginPart::Child)));
        slots
    }

    /// Returns the places of threads among those that an origin leads to, if the state is one of the origin's.
    fn fit(&self, origin: &Origin, shared: &[bool], threads: &[Live]) -> Option<Vec<usize>> {
        let layout = &self.machine.layout;
        if !layout.holds(&origin.outcome.shared, shared, &[]) {
            return None;
        }
        let slots = self.slots(origin);
        let sets = &self.machine.sets;
        matching(threads.len(), slots.len(), &mut |thread, slot| {
            let (live, (place, set, _)) = (&threads[thread], slots[slot]);
            live.place == place && layout.holds(sets.get(set), shared, &live.locals)
        })
    }

    /// Returns the origin of a node that contains a state.
    fn origin(&self, node: usize, shared: &[bool], threads: &[Live]) -> Origin {
        let mut origins = self.nodes[node].origins.iter();
        let origin = origins.find(|origin| self.fit(origin, shared, threads).is_some());
        origin.expect("each state of a node is one of an origin's").clone()
    }

    /// Assigns the threads to their parts in the block of an origin. Initial threads that begin here are recorded.
    fn scene(
        &mut self,
        builder: &mut TraceBuilder,
        origin: &Origin,
        shared: Vec<bool>,
        threads: Vec<Live>,
    ) -> Result<Scene, OutOfNodes> {
        let fit = self.fit(origin, &shared, &threads).expect("the origin contains the state");
        let slots = self.slots(origin);
        let mut scene = Scene { shared, mover: None, children: Vec::new(), others: Vec::new() };
        let mut by_slot: Vec<(usize, Live)> = fit.into_iter().zip(threads).collect();
        by_slot.sort_by_key(|(slot, _)| *slot);
        for (slot, live) in by_slot {
            match slots[slot].2 {
                OriginPart::Other(pair) => scene.others.push((pair, live)),
                OriginPart::Mover => scene.mover = Some(live),
                OriginPart::Child => scene.children.push(live),
            }
        }
        let Some((node, _)) = origin.from else { return Ok(scene) };
        let in_prelude = self.nodes[node as usize].marking.pairs.iter().all(|pair| pair.place.entry().is_none());
        if in_prelude && origin.outcome.mover.is_none() {
            let starts = std::mem::take(&mut scene.children);
            builder.starts = self.start_threads(&scene.shared, &starts)?;
        }
        Ok(scene)
    }

    fn block_of(&mut self, node: usize, mover: usize) -> Result<(Block, Pairs), Stop> {
        let rest = without(&self.nodes[node].marking.pairs, mover);
        Ok((self.block(&self.block_key(node, mover), &rest)?, rest))
    }

    /// Returns the state of a node from which a block of one of its threads leads to an error.
    fn before_error(
        &mut self,
        builder: &mut TraceBuilder,
        node: usize,
        mover: usize,
        error: BlockError,
    ) -> Result<(Vec<bool>, Vec<Live>), Stop> {
        let (block, rest) = self.block_of(node, mover)?;
        let (BlockError::Fails(item, _) | BlockError::Reached(item)) = error;
        let key = block.items[item].key.clone();
        let mut others = Vec::new();
        for (number, pair) in rest.iter().enumerate() {
            let set = key.peers.as_ref().map_or(pair.set, |peers| peers[number]);
            others.extend((0..pair.count).map(|_| (number, self.live(builder, pair.place, set))));
        }
        let children = key.children.iter().map(|(place, set)| self.live(builder, *place, *set)).collect();
        let (set, condition) = (&block.items[item].set, self.failure(error).map_err(out_of_nodes)?);
        let picked = self.machine.layout.pick(&set.and(&condition).map_err(out_of_nodes)?);
        let picked = picked.expect("the search found this error once");
        let name = builder.name();
        let mover = match key.at {
            At::Place(place) => Some(Live { name, place, locals: picked.locals }),
            At::Gone => None,
        };
        if let BlockError::Fails(_, edge) = error {
            builder.steps.push(BackStep::new(self.machine.program, name, edge, &picked.choices));
        }
        self.through(builder, &block, &rest, item, Scene { shared: picked.shared, mover, children, others })
    }

    /// Returns the states in which an error occurs: the condition of an assertion does not hold.
    fn failure(&self, error: BlockError) -> Result<Bdd, OutOfNodes> {
        match error {
            BlockError::Reached(_) => Ok(self.machine.layout.manager.top()),
            BlockError::Fails(_, edge) => {
                let failure = self.machine.program.edges[edge].failure().expect("only assertions fail");
                self.machine.layout.value(Who::Mover, &failure)
            }
        }
    }

    /// Returns the state of a node from which a block of one of its threads leads to a state.
    fn before(
        &mut self,
        builder: &mut TraceBuilder,
        node: usize,
        mover: usize,
        outcome: &Outcome,
        scene: Scene,
    ) -> Result<(Vec<bool>, Vec<Live>), Stop> {
        let (block, rest) = self.block_of(node, mover)?;
        let at = outcome.mover.map_or(At::Gone, |(place, _)| At::Place(place));
        let locals = scene.mover.as_ref().map_or(&[][..], |mover| &mover.locals);
        let begins = block.items[0].key.at;
        let is_prelude = matches!(begins, At::Place(place) if place.entry().is_none());
        let mut ends = block.ends.iter().copied();
        let end = ends.find(|end| {
            let (key, set) = (&block.items[*end].key, &block.items[*end].set);
            let same = is_prelude || (key.children == outcome.children && key.peers == outcome.peers);
            key.at == at && same && self.machine.layout.holds(set, &scene.shared, locals)
        });
        let end = end.expect("the search found this outcome once");
        self.through(builder, &block, &rest, end, scene)
    }

    /// Goes back through a block from an item to its beginning.
    fn through(
        &mut self,
        builder: &mut TraceBuilder,
        block: &Block,
        rest: &[Pair],
        mut item: usize,
        mut scene: Scene,
    ) -> Result<(Vec<bool>, Vec<Live>), Stop> {
        while item != 0 {
            self.machine.run.tick()?;
            if scene.mover.is_none() {
                let at = block.items[block.items[item].arcs[0].0].key.at;
                let At::Place(place) = at else { unreachable!("threads that are gone do not move") };
                scene.mover = Some(Live { name: builder.name(), place, locals: Vec::new() });
            }
            let mut back = Back { machine: &mut self.machine, block, rest, item };
            let (from, made, before) = back.step(scene).map_err(out_of_nodes)?;
            builder.steps.push(made);
            (item, scene) = (from, before);
        }
        let threads = scene.others.into_iter().map(|(_, live)| live).chain(scene.mover).collect();
        Ok((scene.shared, threads))
    }

    /// Returns the starts of initial threads with these valuations.
    fn start_threads(&self, shared: &[bool], threads: &[Live]) -> Result<Vec<(usize, StartThread)>, OutOfNodes> {
        let (layout, program) = (&self.machine.layout, self.machine.program);
        let start = |live: &Live| Ok((live.name, layout.start_thread(program, Who::Mover, shared, live)?));
        threads.iter().map(start).collect()
    }

    /// Completes the execution with its start.
    fn finish(&self, builder: TraceBuilder, shared: &[bool], threads: Vec<Live>) -> Result<Trace, OutOfNodes> {
        let threads: Vec<(Who, Live)> = threads.into_iter().map(|live| (Who::Mover, live)).collect();
        self.machine.layout.finish(builder, self.machine.program, shared, &threads, Who::Mover)
    }
}

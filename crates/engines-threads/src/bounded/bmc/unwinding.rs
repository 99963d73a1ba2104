//! The unwinding of all threads: each a sequence of events, one for each block.
//!
//! An event of a thread stands for its next block, from whichever places the thread may be at. The values of shared
//! variables before it are inputs; [`super::memory`] and [`super::order`] relate them to what other events write. An
//! assignment of the inputs that satisfies the clauses is an execution: the blocks of all events that happen, in their
//! order.

use std::collections::BTreeMap;

use selvedge_check::{Event as Progress, Run, Stop, Task, ThreadScope};
use selvedge_ir::{LocId, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_logic::sat::{Answer, SatLit};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::circuit::{self, Begin, Valuation};
use selvedge_transition::step::vars::initial_counts;
use selvedge_transition::support::bound;

use super::alone::{Alone, Initial, Shared, initial_threads};
use super::block::{Block, Move, Node, follow};
use super::clauses::Clauses;
use super::layout::{Group, Layout, holds};
use super::memory::{Access, Memory};
use super::order::{EventId, Order};

/// A thread.
pub(super) struct Thread {
    /// The event that starts it; `None` for an initial thread.
    pub(super) parent: Option<EventId>,
    /// The condition that it begins.
    pub(super) begins: Lit,
    /// The states behind its last event: guards, and variables of its own.
    nodes: BTreeMap<Place, (Lit, Valuation)>,
    /// For each number of events, the conditions that it has made these and is now at a location that a target names
    /// together with others.
    pub(super) meets: Vec<BTreeMap<LocId, Lit>>,
}

/// An event.
pub(super) struct Event {
    pub(super) thread: usize,
    /// The condition that it happens.
    pub(super) happens: Lit,
    /// The condition that it is an error.
    pub(super) error: Lit,
    pub(super) moves: Vec<Move>,
    /// The threads that it starts, by their number in the block.
    pub(super) children: Vec<usize>,
}

/// The unwinding.
pub(super) struct Unwinding<'t> {
    pub(super) layout: Layout<'t>,
    pub(super) aig: Aig,
    pub(super) clauses: Clauses,
    pub(super) order: Order,
    memory: Memory,
    pub(super) threads: Vec<Thread>,
    pub(super) events: Vec<Event>,
    pub(super) begin: Begin,
    pub(super) alone: Alone,
    pub(super) initial: Vec<Initial>,
}

impl<'t> Unwinding<'t> {
    /// Creates the unwinding with no event; the prelude and what a single thread does before it starts others have
    /// happened.
    pub(super) fn new(task: Task<'t>, depth: u32, run: &Run<'_>) -> Result<Unwinding<'t>, Stop> {
        let layout = Layout::new(task);
        let (mut aig, mut clauses, mut alone) = (Aig::new(), Clauses::new(), Alone::default());
        let begin = circuit::begin(&mut aig, task.program);
        let shared = alone.prelude(&layout, &begin, depth, (&mut aig, &mut clauses, run))?;
        let n_groups = layout.members.len();
        let mut unwinding = Unwinding {
            layout,
            aig,
            clauses,
            order: Order::default(),
            memory: Memory::new(Valuation::default(), n_groups),
            threads: Vec::new(),
            events: Vec::new(),
            begin,
            alone,
            initial: Vec::new(),
        };
        if let Some(shared) = shared {
            unwinding.begin_threads(shared, run)?;
        }
        Ok(unwinding)
    }

    /// Begins the initial threads.
    fn begin_threads(&mut self, mut shared: Shared, run: &Run<'_>) -> Result<(), Stop> {
        let task = self.layout.task;
        let counts = initial_counts(task.program, bound(&task));
        let (initial, n_threads) = initial_threads(&self.layout, &shared, &counts, &mut self.aig);
        self.layout.add_others(&mut shared.values, &n_threads);
        let is_error = |thread: &Initial| task.target.has_loc(thread.place.loc);
        for thread in &initial {
            if is_error(thread) {
                self.alone.errors.push(thread.exists);
            }
        }
        let node = |thread: &Initial| (thread.place, (thread.exists, self.layout.own(&thread.begin.valuation)));
        let mut firsts: Vec<_> = initial.iter().map(|thread| BTreeMap::from([node(thread)])).collect();
        if let ([thread], true) = (initial.as_slice(), task.target.together.is_empty())
            && !is_error(thread)
        {
            let mut values = thread.begin.valuation.clone();
            values.update(&shared.values);
            let nodes = BTreeMap::from([(thread.place, Node::new(thread.exists, values))]);
            let nodes = self.alone.thread(&self.layout, nodes, (&mut self.aig, run))?;
            let merged =
                |values: Valuation, node: &Node| Valuation::select(&mut self.aig, node.guard, &node.values, &values);
            shared.values = nodes.values().fold(shared.values, merged).restrict(|var| !self.layout.is_own(var));
            let own = |(place, node): (&Place, &Node)| (*place, (node.guard, self.layout.own(&node.values)));
            firsts = vec![nodes.iter().map(own).collect()];
        }
        self.memory = Memory::new(shared.values, self.layout.members.len());
        for (thread, nodes) in initial.iter().zip(firsts) {
            self.add_thread(None, thread.exists, nodes);
        }
        self.initial = initial;
        Ok(())
    }

    /// Adds a thread that begins where a condition holds. An error is no place to go on from.
    fn add_thread(&mut self, parent: Option<EventId>, begins: Lit, mut nodes: BTreeMap<Place, (Lit, Valuation)>) {
        self.order.add_thread(parent);
        nodes.retain(|place, _| !self.layout.task.target.has_loc(place.loc));
        let meets = vec![self.meets(&nodes)];
        self.threads.push(Thread { parent, begins, nodes, meets });
    }

    /// Returns the conditions that a thread is at locations that a target names together with others.
    fn meets(&mut self, nodes: &BTreeMap<Place, (Lit, Valuation)>) -> BTreeMap<LocId, Lit> {
        let together = &self.layout.task.target.together;
        let mut meets: BTreeMap<LocId, Lit> = BTreeMap::new();
        for (place, (guard, _)) in nodes {
            if together.iter().flatten().any(|loc| *loc == place.loc) {
                let known = meets.entry(place.loc).or_insert(Lit::FALSE);
                *known = self.aig.or(*known, *guard);
            }
        }
        meets
    }

    /// Returns the number of events of a thread.
    pub(super) fn depth(&self, thread: usize) -> usize {
        self.order.of_thread(thread).len()
    }

    /// Returns a number of visible steps that no thread exceeds where none can go on.
    pub(super) fn visible_steps(&self) -> u32 {
        let events = (0..self.threads.len()).map(|thread| self.depth(thread) as u32).max().unwrap_or(0);
        events + self.alone.n_blocks + 1
    }

    /// Returns whether a thread may be somewhere behind its last event, as far as control and constants say.
    pub(super) fn is_unfinished(&self, thread: usize) -> bool {
        !self.threads[thread].nodes.is_empty()
    }

    /// Returns all such threads.
    pub(super) fn unfinished(&self) -> Vec<usize> {
        (0..self.threads.len()).filter(|thread| self.is_unfinished(*thread)).collect()
    }

    /// Returns the literal of the condition that a thread is somewhere behind its last event.
    pub(super) fn goes_on(&mut self, thread: usize) -> SatLit {
        let nodes = self.threads[thread].nodes.values();
        let any = nodes.fold(Lit::FALSE, |any, (guard, _)| self.aig.or(any, *guard));
        self.clauses.lit(&self.aig, any)
    }

    /// Adds the next event of a thread.
    pub(super) fn extend(&mut self, thread: usize, run: &Run<'_>) -> Result<(), Stop> {
        run.event(Progress::Unwound { steps: self.events.len(), nodes: self.aig.node_count() });
        run.check_limits()?;
        let before = self.inputs();
        let nodes = std::mem::take(&mut self.threads[thread].nodes);
        let starts = nodes.into_iter().map(|(place, (guard, own))| (place, self.starting(place, guard, own, &before)));
        let starts = starts.collect::<Vec<_>>().into_iter().collect();
        let mut block = follow(&self.layout, &mut self.aig, starts);
        let event = self.order.add(thread, &mut self.clauses, run)?;
        let happens = block.after().map(|node| node.guard).chain(block.error).collect::<Vec<_>>();
        let happens = happens.into_iter().fold(Lit::FALSE, |any, guard| self.aig.or(any, guard));
        let access = self.access(happens, before, &block);
        self.memory.add(event, access, &self.order, (&self.aig, &mut self.clauses, run))?;
        let nodes = std::mem::take(&mut block.ends).into_iter();
        let nodes: BTreeMap<_, _> =
            nodes.map(|(place, node)| (place, (node.guard, self.layout.own(&node.values)))).collect();
        let meets = self.meets(&nodes);
        self.threads[thread].nodes = nodes;
        self.threads[thread].meets.push(meets);
        let mut children = Vec::new();
        for child in std::mem::take(&mut block.children) {
            children.push(self.threads.len());
            let begins = self.aig.and(child.guard, happens);
            let nodes = BTreeMap::from([(child.place, (begins, child.values))]);
            self.add_thread(Some(event), begins, nodes);
        }
        let (error, moves) = (block.error(), block.moves);
        self.events.push(Event { thread, happens, error, moves, children });
        self.sort_twins(thread);
        Ok(())
    }

    /// Requires that of two initial threads of one kind that follow one another, the first makes its first event
    /// earlier; the second makes none if the first does not. Runs in which it is not so have the same threads with
    /// other numbers.
    fn sort_twins(&mut self, thread: usize) {
        let firsts = |threads: [usize; 2]| threads.map(|thread| self.order.of_thread(thread).first().copied());
        for pair in [[thread.wrapping_sub(1), thread], [thread, thread + 1]] {
            let is_twin = pair[0] < pair[1] && pair[1] < self.initial.len() && self.initial.len() > 1;
            if !is_twin || self.initial[pair[0]].place != self.initial[pair[1]].place || self.depth(thread) != 1 {
                continue;
            }
            if let [Some(first), Some(second)] = firsts(pair) {
                let happens = |event: EventId| self.events[event].happens;
                let (one, other) = (happens(first), happens(second));
                let (one, other) = (self.clauses.lit(&self.aig, one), self.clauses.lit(&self.aig, other));
                let before = self.order.before(first, second, &self.clauses);
                self.clauses.add(&[!other, one]);
                self.clauses.add(&[!other, before]);
            }
        }
    }

    /// Returns the values of shared variables before an event: inputs, and for variables that nothing writes those of
    /// the start.
    fn inputs(&mut self) -> Valuation {
        let start = self.memory.start().clone();
        start.map(|var, lit| match self.layout.group(var) {
            Some(_) => circuit::any_value(&mut self.aig),
            None => lit,
        })
    }

    /// Returns the state of a thread before an event. Where another one holds the atomic flag, it does not go on.
    fn starting(&mut self, place: Place, guard: Lit, own: Valuation, shared: &Valuation) -> Node {
        let mut values = own;
        values.update(shared);
        let mut node = Node::new(guard, values);
        if let Some(held) = self.layout.held {
            if holds(place) {
                node.values.set(held, Lit::TRUE);
                node.written.extend(self.layout.group(held).map(|group| (group, Lit::TRUE)));
            } else {
                node.guard = self.aig.and(guard, !shared.get(held));
            }
        }
        node
    }

    /// Returns what other events see of an event.
    fn access(&mut self, happens: Lit, before: Valuation, block: &Block) -> Access {
        let mut reads: BTreeMap<Group, Vec<VarId>> = BTreeMap::new();
        let vars = block.reads.iter().copied().chain(self.layout.held);
        for (group, var) in vars.filter_map(|var| Some((self.layout.group(var)?, var))) {
            reads.entry(group).or_default().push(var);
        }
        let mut written: BTreeMap<Group, Lit> = BTreeMap::new();
        for (node, group) in block.after().flat_map(|node| node.written.keys().map(move |group| (node, *group))) {
            let wrote = self.aig.and(node.guard, node.wrote(group));
            let known = written.entry(group).or_insert(Lit::FALSE);
            *known = self.aig.or(*known, wrote);
        }
        written.retain(|_, condition| *condition != Lit::FALSE);
        let vars: Vec<VarId> = written.keys().flat_map(|group| self.layout.members[*group].clone()).collect();
        let mut after = before.restrict(|var| vars.contains(&var));
        for node in block.after() {
            after = after.map(|var, lit| {
                let new = node.values.get(var);
                if new == lit { lit } else { self.aig.ite(node.guard, new, lit) }
            });
        }
        let (reads, writes) = (reads.into_iter().collect(), written.into_iter().collect());
        Access { happens, before, reads, writes, after }
    }

    /// Requires that each event reads what known events write. Returns the assumption under which it does.
    pub(super) fn close(&mut self) -> SatLit {
        self.memory.close(&mut self.clauses)
    }

    /// Returns the literal of the condition that some step is an error.
    pub(super) fn any_error(&mut self) -> SatLit {
        let errors: Vec<Lit> = self.events.iter().map(|event| event.error).chain(self.alone.errors.clone()).collect();
        let any = errors.into_iter().fold(Lit::FALSE, |any, error| self.aig.or(any, error));
        self.clauses.lit(&self.aig, any)
    }

    /// Decides a question.
    pub(super) fn solve(&mut self, assumptions: &[SatLit], run: &Run<'_>) -> Result<Answer, Stop> {
        run.event(Progress::Unwound { steps: self.events.len(), nodes: self.aig.node_count() });
        self.clauses.solve(assumptions, run)
    }
}

/// Returns whether a task bounds the initial threads.
pub(super) fn is_bounded(task: &Task<'_>) -> bool {
    task.threads != ThreadScope::Unbounded || selvedge_transition::support::most_initial(task.program) < u32::MAX
}

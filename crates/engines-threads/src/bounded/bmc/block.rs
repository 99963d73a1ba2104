//! One block of a thread: its steps from visible points to the next ones, as formulas.
//!
//! *Order of work.* The places inside the block by their rank, each after all that lead to it. *Invariant.* Under an
//! assignment of the inputs the guard of at most one way holds. *End.* There is no cycle without a visible point.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::Role;
use selvedge_ir::{EdgeId, LocId, Op, VarId};
use selvedge_logic::aig::{Aig, Input, Lit};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::circuit::{self, Begun, Effect, Valuation};

use super::layout::{Group, Layout, holds};

/// The states at a place: the assignments of the inputs that satisfy the guard.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) guard: Lit,
    /// The variables of the thread, and those that threads share.
    pub(super) values: Valuation,
    /// The conditions under which groups of shared variables were written in this block.
    pub(super) written: BTreeMap<Group, Lit>,
}

/// A step of a block. It is taken where the guard holds.
pub(super) struct Move {
    pub(super) guard: Lit,
    pub(super) edge: EdgeId,
    pub(super) choices: Vec<Input>,
    /// The locals of a thread that the step starts.
    pub(super) fresh: Vec<(VarId, Input)>,
    /// The thread that the step starts, by its number among those of the block.
    pub(super) child: Option<usize>,
}

/// The start of a thread where the guard holds, at a place and with variables of its own.
pub(super) struct Child {
    pub(super) guard: Lit,
    pub(super) place: Place,
    pub(super) values: Valuation,
}

/// The results of a block.
#[derive(Default)]
pub(super) struct Block {
    /// The states at the next visible points.
    pub(super) ends: BTreeMap<Place, Node>,
    /// The states in which the thread has ended.
    pub(super) gone: Option<Node>,
    /// The condition of an error; the block ends with it.
    pub(super) error: Option<Lit>,
    pub(super) moves: Vec<Move>,
    pub(super) children: Vec<Child>,
    /// The shared variables that some step reads.
    pub(super) reads: BTreeSet<VarId>,
}

impl Block {
    /// Returns the states behind the block.
    pub(super) fn after(&self) -> impl Iterator<Item = &Node> {
        self.ends.values().chain(&self.gone)
    }

    /// Returns the condition of an error.
    pub(super) fn error(&self) -> Lit {
        self.error.unwrap_or(Lit::FALSE)
    }
}

impl Node {
    /// A node before a block.
    pub(super) fn new(guard: Lit, values: Valuation) -> Node {
        Node { guard, values, written: BTreeMap::new() }
    }

    /// Returns the condition under which the block wrote a group on the way to this node.
    pub(super) fn wrote(&self, group: Group) -> Lit {
        self.written.get(&group).copied().unwrap_or(Lit::FALSE)
    }

    /// Merges two nodes. Their guards exclude each other, so that the guard of the second selects.
    pub(super) fn merge(self, aig: &mut Aig, other: Node) -> Node {
        let select = other.guard;
        let groups: BTreeSet<Group> = self.written.keys().chain(other.written.keys()).copied().collect();
        let written = groups.into_iter().map(|group| (group, aig.ite(select, other.wrote(group), self.wrote(group))));
        let written = written.collect();
        let values = Valuation::select(aig, select, &other.values, &self.values);
        Node { guard: aig.or(self.guard, other.guard), values, written }
    }
}

/// Follows a thread from places at which it can be to the next visible points.
pub(super) fn follow(layout: &Layout<'_>, aig: &mut Aig, starts: BTreeMap<Place, Node>) -> Block {
    let mut walk = Walk { layout, aig, block: Block::default(), inner: BTreeMap::new() };
    starts.iter().for_each(|(place, node)| walk.leave(*place, node));
    while let Some(((_, place), node)) = walk.inner.pop_first() {
        walk.leave(place, &node);
    }
    walk.block
}

struct Walk<'a, 't> {
    layout: &'a Layout<'t>,
    aig: &'a mut Aig,
    block: Block,
    /// The states inside the block, by rank and place.
    inner: BTreeMap<(usize, Place), Node>,
}

/// A result of a step, where the guard of the node holds; an error has no node.
struct Outcome {
    to: To,
    node: Node,
    child: Option<Child>,
}

enum To {
    At(Place),
    Gone,
    Error,
}

/// A step along an edge: its results, choices, and the locals of a thread that it starts.
type Way = (EdgeId, Vec<Outcome>, Vec<Input>, Vec<(VarId, Input)>);

impl Walk<'_, '_> {
    fn leave(&mut self, place: Place, node: &Node) {
        let edges = self.layout.flow.out(place.loc).to_vec();
        let ways: Vec<Way> = edges.into_iter().map(|edge| self.way(place, node, edge)).collect();
        let guards = |way: &Way| way.1.iter().map(|outcome| outcome.node.guard).collect();
        let conditions: Vec<Vec<Lit>> = ways.iter().map(guards).collect();
        let selectors = circuit::selectors(self.aig, &conditions);
        for ((edge, outcomes, choices, fresh), selector) in ways.into_iter().zip(selectors) {
            let guard = self.aig.and(node.guard, selector);
            for outcome in outcomes {
                let guard = self.aig.and(guard, outcome.node.guard);
                if guard != Lit::FALSE {
                    let child = outcome.child.map(|child| self.begin(guard, child));
                    let (choices, fresh) = (choices.clone(), fresh.clone());
                    self.block.moves.push(Move { guard, edge, choices, fresh, child });
                    self.arrive(outcome.to, Node { guard, ..outcome.node });
                }
            }
        }
    }

    /// Records the start of a thread, where both conditions hold.
    fn begin(&mut self, guard: Lit, child: Child) -> usize {
        let guard = self.aig.and(guard, child.guard);
        if self.layout.task.target.has_loc(child.place.loc) {
            self.add_error(guard);
        }
        self.block.children.push(Child { guard, ..child });
        self.block.children.len() - 1
    }

    fn add_error(&mut self, guard: Lit) {
        self.block.error = Some(self.aig.or(self.block.error(), guard));
    }

    fn arrive(&mut self, to: To, mut node: Node) {
        let place = match to {
            To::Error => return self.add_error(node.guard),
            To::Gone => {
                let known = self.block.gone.take();
                let merged = merged(self.aig, known, node);
                self.block.gone = Some(merged);
                return;
            }
            To::At(place) if self.layout.task.target.has_loc(place.loc) => return self.add_error(node.guard),
            To::At(place) => place,
        };
        let rank = self.layout.ranks.get(place);
        if let (Some(held), Role::Free(_) | Role::Holder(_)) = (self.layout.held, place.role) {
            node.values.set(held, Lit::from(holds(place)));
            if let (true, None, Some(group)) = (holds(place), rank, self.layout.group(held)) {
                node.written.insert(group, Lit::TRUE);
            }
        }
        match rank {
            Some(rank) => {
                let known = self.inner.remove(&(rank, place));
                let merged = merged(self.aig, known, node);
                self.inner.insert((rank, place), merged);
            }
            None => {
                let known = self.block.ends.remove(&place);
                let merged = merged(self.aig, known, node);
                self.block.ends.insert(place, merged);
            }
        }
    }

    /// Returns the possible results of a step along an edge.
    fn way(&mut self, place: Place, node: &Node, id: EdgeId) -> Way {
        let program = self.layout.task.program;
        let edge = &program.edges[id];
        self.block.reads.extend(&self.layout.reads[id]);
        let next = To::At(place.after(edge));
        if edge.op.starts_thread() {
            return self.start(place, node, id);
        }
        let plain = |to: To, node: Node| Outcome { to, node, child: None };
        let (effect, choices) = circuit::step(self.aig, program, id, &node.values);
        let outcomes = match effect {
            Effect::Next(guard, values) => {
                let mut written = node.written.clone();
                let groups = edge.op.assigned().filter_map(|var| self.layout.group(var));
                written.extend(groups.map(|group| (group, Lit::TRUE)));
                vec![plain(next, Node { guard, values, written })]
            }
            Effect::Assert(needs, holds) => {
                let passes = Node { guard: self.aig.and(needs, holds), ..node.clone() };
                let fails = Node { guard: self.aig.and(needs, !holds), ..node.clone() };
                let fails = self.layout.task.target.has_assert(id).then(|| plain(To::Error, fails));
                [plain(next, passes)].into_iter().chain(fails).collect()
            }
            Effect::Return(_) | Effect::End => vec![plain(To::Gone, self.end(place, node))],
            Effect::Call(..) => unreachable!("the engine supports programs without calls only"),
        };
        (id, outcomes, choices, Vec::new())
    }

    /// Returns the state after the end of a thread.
    fn end(&mut self, place: Place, node: &Node) -> Node {
        let mut node = Node { guard: Lit::TRUE, ..node.clone() };
        if let (Some(held), true) = (self.layout.held, holds(place)) {
            node.values.set(held, Lit::FALSE);
        }
        if place.role != Role::Prelude && self.layout.count.as_ref().is_some_and(|count| count.is_live) {
            self.change_count(&mut node, Lit::TRUE, false);
        }
        node
    }

    /// Adds one to the number of threads where a condition holds, or takes one off.
    fn change_count(&mut self, node: &mut Node, condition: Lit, up: bool) {
        let Some(count) = &self.layout.count else { return };
        let mut carry = condition;
        for var in &count.bits {
            let bit = node.values.get(*var);
            node.values.set(*var, self.aig.xor(bit, carry));
            carry = self.aig.and(carry, if up { bit } else { !bit });
        }
        self.block.reads.extend(&count.bits);
        if let Some(group) = count.bits.first().and_then(|bit| self.layout.group(*bit)) {
            let written = self.aig.or(node.wrote(group), condition);
            node.written.insert(group, written);
        }
    }

    /// Returns the result of a step that starts a thread, if there is room for one.
    fn start(&mut self, place: Place, node: &Node, id: EdgeId) -> Way {
        let program = self.layout.task.program;
        let now = self.layout.of_program(&node.values);
        let begun = circuit::starts(self.aig, program, id, &now).expect("the edge starts a thread");
        let Begun { condition, valuation, choices, fresh } = begun;
        let loc = start_of(&program.edges[id].op, |callee| program.procs[callee].entry);
        let kind = place.entry().expect("no thread starts before the initial ones");
        let mut after = Node { guard: condition, ..node.clone() };
        let room = self.room(node);
        self.change_count(&mut after, room, true);
        let place_of_child = Place { role: Role::Free(kind), loc };
        let child = Child { guard: room, place: place_of_child, values: self.layout.own(&valuation) };
        let to = To::At(place.after(&program.edges[id]));
        (id, vec![Outcome { to, node: after, child: Some(child) }], choices, fresh)
    }

    /// Returns the condition that one more thread may start: the number of threads is not the greatest.
    fn room(&mut self, node: &Node) -> Lit {
        let Some(count) = &self.layout.count else { return Lit::TRUE };
        let mut full = Lit::TRUE;
        for (place, var) in count.bits.iter().enumerate() {
            let bit = node.values.get(*var);
            full = self.aig.and(full, if count.bound >> place & 1 == 1 { bit } else { !bit });
        }
        !full
    }
}

fn merged(aig: &mut Aig, known: Option<Node>, node: Node) -> Node {
    match known {
        Some(known) => known.merge(aig, node),
        None => node,
    }
}

/// Returns where the thread begins that an operation starts.
pub(super) fn start_of(op: &Op, entry: impl Fn(selvedge_ir::ProcId) -> LocId) -> LocId {
    match op {
        Op::Fork(at) => *at,
        Op::Spawn(spawn) => entry(spawn.callee),
        _ => unreachable!("only these start threads"),
    }
}

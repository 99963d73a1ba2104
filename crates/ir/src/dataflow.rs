//! Dataflow analyses: least solutions of monotone equations over the locations of a program.
//!
//! The equations belong to *arrows*. Most edges are one arrow; a call is three (into the callee, out of it, and across
//! it), and an edge that starts a thread has one more, which leads to the first location of the new thread. An analysis
//! defines what flows along each arrow, forwards or backwards, and [`solve`] finds the least values that contain all of
//! it.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use smallvec::SmallVec;

use crate::callgraph::{CallGraph, Through};
use crate::flow::postorder;
use crate::syntax::{EdgeId, EntryId, LocId, Op, Program};

/// An arrow along which information flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The location before.
    pub from: LocId,
    /// The location after.
    pub to: LocId,
    /// The part of control flow that the arrow represents.
    pub kind: ArrowKind,
}

/// The part of control flow that an arrow represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowKind {
    /// A step inside a procedure; a return leads to the exit. For a spawn or fork, the step of the thread itself.
    Step(EdgeId),
    /// A call, from its beginning to the callee's entry.
    Enter(EdgeId),
    /// A call, from the callee's exit to its end.
    Leave(EdgeId),
    /// A call, from its beginning to its end.
    Across(EdgeId),
    /// A fork, from its beginning to the location of the new thread.
    Fork(EdgeId),
    /// A spawn, from its beginning to the new thread's entry.
    Spawn(EdgeId),
    /// The end of the thread that runs the prelude, deep in its stack, to the prelude's exit.
    Finish(EdgeId),
    /// From the prelude's exit to the entry of an initial thread.
    Start(EntryId),
}

impl ArrowKind {
    /// Returns the edge that the arrow belongs to.
    pub fn edge(self) -> Option<EdgeId> {
        match self {
            ArrowKind::Step(edge)
            | ArrowKind::Enter(edge)
            | ArrowKind::Leave(edge)
            | ArrowKind::Across(edge)
            | ArrowKind::Fork(edge)
            | ArrowKind::Spawn(edge)
            | ArrowKind::Finish(edge) => Some(edge),
            ArrowKind::Start(_) => None,
        }
    }
}

/// The arrows of a program, indexed by both ends.
#[derive(Clone, Debug)]
pub struct Arrows {
    arrows: Vec<Arrow>,
    out: ArrowIndex,
    into: ArrowIndex,
}

/// The numbers of the arrows at each location.
type ArrowIndex = IndexVec<LocId, SmallVec<[u32; 2]>>;

impl Arrows {
    /// Collects the arrows, in linear time.
    pub fn new(program: &Program, calls: &CallGraph) -> Arrows {
        let mut arrows = Vec::with_capacity(program.edges.len());
        let prelude = program.prelude.map(|proc| (program.procs[proc].exit, calls.reachable([proc], Through::Calls)));
        for (id, edge) in program.edges.iter_enumerated() {
            let mut add = |from, to, kind| arrows.push(Arrow { from, to, kind });
            if !matches!(edge.op, Op::Call(_) | Op::End) {
                add(edge.from, edge.to, ArrowKind::Step(id));
            }
            match (&edge.op, &prelude) {
                (Op::Call(call), _) => {
                    let callee = &program.procs[call.callee];
                    add(edge.from, edge.to, ArrowKind::Across(id));
                    add(edge.from, callee.entry, ArrowKind::Enter(id));
                    add(callee.exit, edge.to, ArrowKind::Leave(id));
                }
                (Op::End, Some((exit, runs))) if runs[program.locs[edge.from].proc] => {
                    add(edge.from, *exit, ArrowKind::Finish(id));
                }
                (Op::Fork(loc), _) => add(edge.from, *loc, ArrowKind::Fork(id)),
                (Op::Spawn(spawn), _) => add(edge.from, program.procs[spawn.callee].entry, ArrowKind::Spawn(id)),
                _ => {}
            }
        }
        if let Some((exit, _)) = prelude {
            arrows.extend(program.entries.iter_enumerated().map(|(id, entry)| Arrow {
                from: exit,
                to: program.procs[entry.proc].entry,
                kind: ArrowKind::Start(id),
            }));
        }
        Arrows::index(program, arrows)
    }

    fn index(program: &Program, arrows: Vec<Arrow>) -> Arrows {
        let none = IndexVec::from_vec(vec![SmallVec::new(); program.locs.len()]);
        let (mut out, mut into): (ArrowIndex, ArrowIndex) = (none.clone(), none);
        for (number, arrow) in arrows.iter().enumerate() {
            out[arrow.from].push(number as u32);
            into[arrow.to].push(number as u32);
        }
        Arrows { arrows, out, into }
    }

    /// Returns all arrows.
    pub fn iter(&self) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter()
    }

    fn leaving(&self, direction: Direction, loc: LocId) -> impl Iterator<Item = &Arrow> {
        let index = match direction {
            Direction::Forward => &self.out,
            Direction::Backward => &self.into,
        };
        index[loc].iter().map(|number| &self.arrows[*number as usize])
    }
}

/// The direction in which information flows along the arrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the past.
    Forward,
    /// From the future.
    Backward,
}

impl Direction {
    /// Returns the location that receives the information of an arrow.
    pub fn target(self, arrow: &Arrow) -> LocId {
        match self {
            Direction::Forward => arrow.to,
            Direction::Backward => arrow.from,
        }
    }
}

/// The values of an analysis, by location.
pub type Values<V> = IndexVec<LocId, V>;

/// A system of equations.
///
/// # Convergence
///
/// The values form a join-semilattice without infinite ascending chains, and [`Analysis::transfer`] is monotone in all
/// values that it reads. It may read the value at the arrow's source, and those at the sources of other arrows with the
/// same target and the same edge: the arrows of one call may use each other's values.
pub trait Analysis {
    /// The information at a location.
    type Value: Join;

    /// The direction of the flow.
    const DIRECTION: Direction;

    /// Returns the information that holds at a location independently of what flows to it.
    fn start(&self, loc: LocId) -> Self::Value;

    /// Returns what flows along an arrow.
    fn transfer(&self, arrow: &Arrow, values: &Values<Self::Value>) -> Self::Value;
}

/// A value of a join-semilattice.
pub trait Join {
    /// Adds new information to the value, and returns whether it has grown.
    fn join(&mut self, come: &Self) -> bool;
}

impl Join for FixedBitSet {
    fn join(&mut self, come: &FixedBitSet) -> bool {
        let grows = !come.is_subset(self);
        if grows {
            self.union_with(come);
        }
        grows
    }
}

/// A set of up to eight elements, one for each bit.
impl Join for u8 {
    fn join(&mut self, come: &u8) -> bool {
        let known = std::mem::replace(self, *self | come);
        *self != known
    }
}

/// Computes the least solution.
///
/// Order: the locations that wait are taken in reverse postorder, again from the first after the last, so that a
/// location is mostly taken after those that flow to it. Each location waits at first. Taking one sends its value along
/// all its arrows; a target whose value grows waits again.
/// Invariant: every value lies below the least solution, and for each location that does not wait, the values of its
/// arrows' targets contain what flows along them.
/// It ends because each value can grow only finitely often. At the end nothing waits, so the values are a solution,
/// and below the least one.
pub fn solve<A: Analysis>(arrows: &Arrows, analysis: &A) -> Values<A::Value> {
    let mut values: Values<A::Value> = arrows.out.indices().map(|loc| analysis.start(loc)).collect();
    let targets = |loc| arrows.leaving(A::DIRECTION, loc).map(|arrow| A::DIRECTION.target(arrow));
    let mut order = postorder(arrows.out.indices(), targets);
    order.reverse();
    let mut rank: IndexVec<LocId, u32> = order.iter().map(|_| 0).collect();
    for (place, loc) in order.iter().enumerate() {
        rank[*loc] = place as u32;
    }
    let mut waiting: BTreeSet<u32> = (0..order.len() as u32).collect();
    let mut from = 0;
    while let Some(place) = next_waiting(&waiting, from) {
        waiting.remove(&place);
        from = place + 1;
        for arrow in arrows.leaving(A::DIRECTION, order[place as usize]) {
            let come = analysis.transfer(arrow, &values);
            let target = A::DIRECTION.target(arrow);
            if values[target].join(&come) {
                waiting.insert(rank[target]);
            }
        }
    }
    values
}

/// Returns the first location that waits at or after a position, or else the first of all.
fn next_waiting(waiting: &BTreeSet<u32>, from: u32) -> Option<u32> {
    waiting.range(from..).next().or_else(|| waiting.first()).copied()
}

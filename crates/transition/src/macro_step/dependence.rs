//! The reads and writes of steps that concern other threads, for partial-order reduction (thesis, chapter 6).
//!
//! Two steps of different threads are independent if neither writes what the other reads or writes: then they commute,
//! and neither enables or disables the other. Corrections of the thesis's Table 6.2:
//! - A condition is a read: a step whose condition another thread can change depends on it, blocked or not.
//! - The start and the end of a thread read and write the *slots*: at the bound two starts race for the last one, and
//!   an end frees one. The future steps of a started thread count as those of its starter.
//! - A step with passive parts reads and writes the variables of all threads that have them; the copies of different
//!   threads are not distinguished.
//! - An atomic section counts with all its steps (see [`super::visible_points`]: it is part of one block).

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use selvedge_ir::flow::Flow;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, Expr, LocId, Op, Program, VarId};

use super::visible_points::{VisiblePoints, retreating_edges};

/// A set of reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    reads: FixedBitSet,
    writes: FixedBitSet,
}

impl Accesses {
    fn none(n_things: usize) -> Accesses {
        Accesses { reads: FixedBitSet::with_capacity(n_things), writes: FixedBitSet::with_capacity(n_things) }
    }

    /// Adds other accesses; returns whether some of them were new.
    fn add(&mut self, other: &Accesses) -> bool {
        let before = (self.reads.count_ones(..), self.writes.count_ones(..));
        self.reads.union_with(&other.reads);
        self.writes.union_with(&other.writes);
        before != (self.reads.count_ones(..), self.writes.count_ones(..))
    }

    /// Returns whether an access here depends on one of `other`.
    pub fn depend(&self, other: &Accesses) -> bool {
        !self.writes.is_disjoint(&other.writes)
            || !self.writes.is_disjoint(&other.reads)
            || !self.reads.is_disjoint(&other.writes)
    }
}

/// The reads and writes of a program.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The accesses of the block that begins at a location, all its ways together.
    blocks: IndexVec<LocId, Accesses>,
    /// The accesses of all steps that a thread at a location can still make, and of the threads that it starts.
    futures: IndexVec<LocId, Accesses>,
    /// The retreating edges of a depth-first search: each cycle of control flow has one.
    retreating: FixedBitSet,
}

impl Dependence {
    /// Computes the accesses of a program without calls.
    pub fn new(program: &Program, visible_points: &VisiblePoints) -> Dependence {
        let visibility = Visibility::new(program);
        let flow = Flow::new(program);
        let n_things = program.vars.len() + 1;
        let steps: IndexVec<EdgeId, Accesses> =
            program.edges.iter().map(|edge| step(&edge.op, &visibility, n_things)).collect();
        let blocks = program.locs.indices().map(|loc| block(program, &flow, visible_points, &steps, loc)).collect();
        let futures = futures(program, &flow, &steps, n_things);
        Dependence { blocks, futures, retreating: retreating_edges(program, &flow, |_| true) }
    }

    /// Returns the accesses of the block that begins at a location.
    pub fn block(&self, loc: LocId) -> &Accesses {
        &self.blocks[loc]
    }

    /// Returns the accesses of all steps that a thread at a location can still make.
    pub fn future(&self, loc: LocId) -> &Accesses {
        &self.futures[loc]
    }

    /// Returns whether an edge is a retreating one.
    pub fn is_retreating(&self, edge: EdgeId) -> bool {
        self.retreating.contains(edge.index())
    }
}

fn step(op: &Op, visibility: &Visibility, n_things: usize) -> Accesses {
    let mut accesses = Accesses::none(n_things);
    let slots = n_things - 1;
    for expr in op.exprs() {
        expr.for_each_leaf(|leaf| {
            if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf
                && visibility.is_shown(*var)
            {
                accesses.reads.insert(var.index());
            }
        });
    }
    let mut write = |var: VarId| {
        if visibility.is_shown(var) {
            accesses.writes.insert(var.index());
        }
    };
    match op {
        Op::Assign(assign) => assign.active.iter().chain(&assign.passive).for_each(|(var, _)| write(*var)),
        Op::Spawn(_) | Op::Fork(_) | Op::End | Op::Return(_) => accesses.writes.insert(slots),
        Op::Call(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd => {}
    }
    accesses
}

/// Returns the accesses of all steps from a location to the next visible points. The visible points of a thread without
/// the atomic flag are all visible points that a block can end at unless it holds the flag, so going on to those of a
/// thread that holds it covers both.
fn block(
    program: &Program,
    flow: &Flow,
    visible_points: &VisiblePoints,
    steps: &IndexVec<EdgeId, Accesses>,
    loc: LocId,
) -> Accesses {
    let mut all = Accesses::none(steps.first().map_or(0, |first| first.reads.len()));
    let mut seen = FixedBitSet::with_capacity(2 * program.locs.len());
    // Locations, each with whether the flag is held there.
    let mut waiting = vec![(loc, false)];
    while let Some((loc, holds)) = waiting.pop() {
        for edge in flow.out(loc) {
            all.add(&steps[*edge]);
            let holds = match program.edges[*edge].op {
                Op::AtomicBegin => true,
                Op::AtomicEnd => false,
                _ => holds,
            };
            let to = program.edges[*edge].to;
            let is_stop = if holds { visible_points.is_stop_alone(to) } else { visible_points.is_stop(to) };
            if !is_stop && !seen.put(2 * to.index() + usize::from(holds)) {
                waiting.push((to, holds));
            }
        }
    }
    all
}

/// Computes the least sets that contain the accesses of each edge and of the locations that it leads to, and those of
/// the threads that it starts.
fn futures(
    program: &Program,
    flow: &Flow,
    steps: &IndexVec<EdgeId, Accesses>,
    n_things: usize,
) -> IndexVec<LocId, Accesses> {
    let mut futures: IndexVec<LocId, Accesses> = program.locs.iter().map(|_| Accesses::none(n_things)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for loc in program.locs.indices().rev() {
            let mut future = futures[loc].clone();
            for id in flow.out(loc) {
                let edge = &program.edges[*id];
                future.add(&steps[*id]);
                future.add(&futures[edge.to]);
                match &edge.op {
                    Op::Fork(at) => future.add(&futures[*at]),
                    Op::Spawn(spawn) => future.add(&futures[program.procs[spawn.callee].entry]),
                    _ => false,
                };
            }
            changed |= futures[loc].add(&future);
        }
    }
    futures
}

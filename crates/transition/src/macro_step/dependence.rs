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
use selvedge_check::Role;
use selvedge_ir::flow::Flow;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{Edge, EdgeId, EntryId, Expr, LocId, Op, Program, VarId};

use super::place::Place;
use super::ranks::Ranks;
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
            program.edges.iter().map(|edge| step(edge, &visibility, n_things)).collect();
        let ranks = Ranks::new(program, &flow, visible_points);
        // Blocks are compared only while no thread holds the atomic flag; they are the same for all kinds of threads.
        let block = |loc: LocId| {
            let begin = Place { role: Role::Free(EntryId::new(0)), loc };
            let mut all = Accesses::none(n_things);
            for edge in ranks.block_edges(program, &flow, begin) {
                all.add(&steps[edge]);
            }
            all
        };
        let blocks = program.locs.indices().map(block).collect();
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

    /// Groups threads at some locations whose futures depend on each other, directly or through others. Returns for
    /// each thread the number of a thread that names its group.
    pub fn groups(&self, locs: &[LocId]) -> Vec<usize> {
        let mut group: Vec<usize> = (0..locs.len()).collect();
        for one in 0..locs.len() {
            for other in 0..one {
                if group[one] != group[other] && self.future(locs[one]).depend(self.future(locs[other])) {
                    let (keep, drop) = (group[other], group[one]);
                    group.iter_mut().filter(|name| **name == drop).for_each(|name| *name = keep);
                }
            }
        }
        group
    }

    /// Returns whether an edge is a retreating one.
    pub fn is_retreating(&self, edge: EdgeId) -> bool {
        self.retreating.contains(edge.index())
    }
}

fn step(edge: &Edge, visibility: &Visibility, n_things: usize) -> Accesses {
    let mut accesses = Accesses::none(n_things);
    let slots = n_things - 1;
    for expr in edge.exprs() {
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
    match &edge.op {
        Op::Assign(assign) => assign.active.iter().chain(&assign.passive).for_each(|(var, _)| write(*var)),
        Op::Spawn(_) | Op::Fork(_) | Op::End | Op::Return(_) => accesses.writes.insert(slots),
        Op::Call(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd => {}
    }
    accesses
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

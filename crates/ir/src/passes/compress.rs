//! Fuses steps: skips, chains of gotos, and straight-line statements.
//!
//! *Order of work.* Locations wait in a queue, at first in the order of their numbers, and come back when an edge near
//! them has changed. A location `m` is *free* if the target does not watch it and it is neither the entry or exit of a
//! procedure nor the start of a fork: then nothing is lost if no thread is ever there. At each location, in this order:
//! 1. Skips from the location to itself, and repetitions of an edge, vanish; so do all edges of a location that
//!    nothing leads to.
//! 2. If `m` is free and its only edge is a skip to `k`, the edges into `m` lead to `k` instead.
//! 3. If `m` is free and one edge leads to it, from elsewhere, that edge is composed with each edge that leaves `m`.
//!
//! *End.* Rules 1 and 3 decrease the number of edges or of locations with edges. Rule 2 moves an edge
//! forward along skips; it cannot go around a cycle of them, since the cycle's own edges are moved too, until a skip
//! from a location to itself is left, which vanishes.
//!
//! *Correctness.* Several threads may interleave at `m`, so rule 3 fuses two steps there only if no behaviour of other
//! threads in between is lost. A step is *invisible* if it reads and writes only what no other thread can read or
//! write: it commutes with the steps of all others.
//! - The first step is invisible: it can be delayed until the second step, or forever.
//! - All second steps are invisible and one of them is enabled in each state: the one that is taken later, or any if
//!   none is, can be taken at once. Without the second condition, a thread that blocks at `m` would lose the effect of
//!   its first step on others.
//! - The program has a single thread.
//!
//! A skip may be fused before any operation, and after any operation except these: a call, since the skip comes after
//! its return; an assertion, since nothing follows its failure; and the start of a thread at a location of the target,
//! since that may end the execution. An operation that other threads take part in is composed with skips only.
//! Divergence and deadlock are not kept.

mod compose;
mod graph;

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

use crate::passes::{Passed, StepPart};
use crate::simplify::not;
use crate::syntax::{Assign, Count, Expr, LocId, Op, Program};
use crate::target::Target;
use crate::visibility::Visibility;
use compose::{compose, offset_sources, size_of};
use graph::{Graph, Step};

/// Limit on the number of leaves and operators of a composed step.
const MAX_SIZE: usize = 200;

/// Limit on the number of old steps that a composed step represents.
const MAX_STEPS: usize = 64;

/// Limit on the number of edges of one location that are compared with each other.
const MAX_COMPARED: usize = 16;

/// Fuses steps.
pub fn run(program: &Program, target: &Target) -> Passed {
    let mut fusion = Fusion {
        program,
        graph: Graph::new(program),
        waiting: program.locs.indices().collect(),
        waits: vec![true; program.locs.len()],
        ends: ends(program),
        watched: target.watched().into_iter().map(LocId::index).collect(),
        has_one_thread: has_one_thread(program),
        visibility: Visibility::new(program),
    };
    while let Some(loc) = fusion.waiting.pop_front() {
        fusion.waits[loc.index()] = false;
        fusion.look_at(loc);
    }
    fusion.graph.passed(program, target, &fusion.ends).renumber_choices(program)
}

/// Returns whether no run has more than one thread.
fn has_one_thread(program: &Program) -> bool {
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => u64::from(count),
        Count::Any => u64::MAX,
    };
    let initial = program.entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(most(entry.count)));
    initial <= 1 && !program.starts_threads()
}

/// Returns the entries and exits of procedures, and the locations where forks begin.
fn ends(program: &Program) -> FixedBitSet {
    let mut ends = FixedBitSet::with_capacity(program.locs.len());
    program.procs.iter().for_each(|proc| ends.extend([proc.entry.index(), proc.exit.index()]));
    for edge in &program.edges {
        if let Op::Fork(loc) = edge.op {
            ends.insert(loc.index());
        }
    }
    ends
}

/// A program while its steps are being fused.
struct Fusion<'p> {
    program: &'p Program,
    graph: Graph,
    waiting: VecDeque<LocId>,
    /// The locations that wait.
    waits: Vec<bool>,
    ends: FixedBitSet,
    /// The locations in the target, alone or in a meeting.
    watched: FixedBitSet,
    has_one_thread: bool,
    visibility: Visibility,
}

impl Fusion<'_> {
    fn look_at(&mut self, loc: LocId) {
        self.drop_idle(loc);
        let free = !self.watched.contains(loc.index()) && !self.ends.contains(loc.index());
        if free {
            self.redirect(loc);
            self.fuse(loc);
        }
    }

    fn wait(&mut self, loc: LocId) {
        if !std::mem::replace(&mut self.waits[loc.index()], true) {
            self.waiting.push_back(loc);
        }
    }

    fn remove(&mut self, step: usize) -> Step {
        let step = self.graph.remove(step);
        self.wait(step.from);
        self.wait(step.to);
        step
    }

    fn add(&mut self, step: Step) {
        self.wait(step.from);
        self.wait(step.to);
        self.graph.add(step);
    }

    /// Applies rule 1.
    fn drop_idle(&mut self, loc: LocId) {
        let unreached = self.graph.n_into(loc) == 0 && !self.ends.contains(loc.index());
        let out = self.graph.out(loc).to_vec();
        for (idx, id) in out.iter().enumerate() {
            let step = self.graph.step(*id);
            let stays = step.to == loc && step.op == Op::skip();
            let earlier = &out[..idx.min(MAX_COMPARED)];
            if unreached || stays || earlier.iter().any(|earlier| self.graph.repeats(*earlier, *id)) {
                self.remove(*id);
            }
        }
    }

    /// Applies rule 2.
    fn redirect(&mut self, loc: LocId) {
        let [skip] = *self.graph.out(loc) else { return };
        let skip = self.graph.step(skip).clone();
        if skip.op != Op::skip() || skip.to == loc {
            return;
        }
        for id in self.graph.incoming(loc).to_vec() {
            let step = self.graph.step(id);
            if self.can_be_followed(&step.op) && step.steps.len() + skip.steps.len() <= MAX_STEPS {
                let mut step = self.remove(id);
                step.to = skip.to;
                step.steps.extend(skip.silent_steps());
                self.add(step);
            }
        }
        if self.graph.n_into(loc) == 0 {
            self.graph.rename(loc, skip.to);
        }
    }

    fn can_be_followed(&self, op: &Op) -> bool {
        match op {
            Op::Call(_) | Op::Assert(_) => false,
            Op::Spawn(spawn) => !self.watched.contains(self.program.procs[spawn.callee].entry.index()),
            Op::Fork(loc) => !self.watched.contains(loc.index()),
            _ => true,
        }
    }

    /// Applies rule 3.
    fn fuse(&mut self, loc: LocId) {
        if self.graph.n_into(loc) != 1 {
            return;
        }
        let first = self.graph.incoming(loc)[0];
        let out = self.graph.out(loc).to_vec();
        let Some(fused) = self.fused(first, &out) else { return };
        self.remove(first);
        for id in out {
            self.remove(id);
        }
        for step in fused {
            self.add(step);
        }
    }

    /// Returns the fused steps of an edge and the edges after it; `None` if they stay separate.
    fn fused(&self, first: usize, out: &[usize]) -> Option<Vec<Step>> {
        let first = self.graph.step(first);
        let seconds: Vec<&Step> = out.iter().map(|id| self.graph.step(*id)).collect();
        if first.from == first.to || seconds.iter().any(|second| first.steps.len() + second.steps.len() > MAX_STEPS) {
            return None;
        }
        if first.op == Op::skip() {
            return Some(seconds.into_iter().map(|second| after_skip(first, second)).collect());
        }
        let first_assign = alone(&first.op)?;
        let assigns = seconds.iter().map(|second| alone(&second.op)).collect::<Option<Vec<_>>>()?;
        if !self.may_fuse(first_assign, &assigns) {
            return None;
        }
        let mut fused = Vec::new();
        let first_size = size_of(first_assign);
        for (second, assign) in seconds.iter().zip(assigns) {
            if first_size + size_of(assign) > MAX_SIZE {
                return None;
            }
            let composed = compose(first_assign, assign);
            if size_of(&composed) > MAX_SIZE {
                return None;
            }
            // A step with a false condition is dropped.
            if composed.constrain != Expr::FALSE {
                fused.push(after(first, second, composed));
            }
        }
        Some(fused)
    }

    fn may_fuse(&self, first: &Assign, seconds: &[&Assign]) -> bool {
        self.has_one_thread
            || self.visibility.is_invisible(first)
            || (seconds.iter().all(|second| self.visibility.is_invisible(second)) && some_enabled(seconds))
    }
}

/// Returns the assignment of an operation in which no other thread takes part.
fn alone(op: &Op) -> Option<&Assign> {
    match op {
        Op::Assign(assign) if !assign.is_passive() => Some(assign),
        _ => None,
    }
}

/// Returns whether in each state one of the assignments is enabled, by a sufficient test: one is unconditional, or two
/// have opposite conditions on the old state.
fn some_enabled(assigns: &[&Assign]) -> bool {
    let conditions = || assigns.iter().take(MAX_COMPARED).map(|assign| &assign.constrain);
    let on_old = |condition: &Expr| !condition.any_leaf(|leaf| matches!(leaf, Expr::Next(_)));
    let opposed = |condition: &Expr| {
        let opposite = not(condition.clone());
        on_old(condition) && conditions().any(|other| *other == opposite)
    };
    conditions().any(|condition| *condition == Expr::TRUE || opposed(condition))
}

/// Returns a step after a skip.
fn after_skip(skip: &Step, second: &Step) -> Step {
    let steps = skip.silent_steps().chain(second.steps.iter().cloned()).collect();
    Step { from: skip.from, steps, ..second.clone() }
}

/// Returns the composition of two steps, given that of their assignments.
fn after(first: &Step, second: &Step, composed: Assign) -> Step {
    let offset = first.op.choices().len() as u32;
    let mut steps = first.steps.clone();
    steps.extend(second.steps.iter().map(|step| offset_sources(step, offset)));
    steps.iter_mut().for_each(|step| step.part = StepPart::Silent);
    Step { from: first.from, to: second.to, op: Op::Assign(composed), ensures: Expr::TRUE, steps }
}

#[cfg(test)]
mod tests;

//! Removes values that are never read again, so that states that differ in nothing else become equal.
//!
//! An assignment to a variable that is dead after it is removed, as is the result of a call. A dead variable gets the
//! default value on the next `Op::Assign` edge, unless it already has that value. Shared variables are included if
//! there is one thread; with several threads, only those that are never read.
//!
//! It is right because at each location the two programs agree on the live variables ([`crate::liveness`]), and a step
//! reads no others: the variables in its condition are live before it. So each step of the result is the step of the
//! input along the same edge, with any values for the choices that were removed. A variable whose new value a condition
//! reads keeps its assignment, or its lack of one.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use super::Passed;
use crate::callgraph::{CallGraph, Through, is_sequential};
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Values, solve};
use crate::liveness::Liveness;
use crate::slots::Slots;
use crate::syntax::{Assign, Edge, Expr, LocId, Op, ProcId, Program, Scope, VarId};
use crate::target::Target;

/// Runs the pass.
pub fn run(program: &Program, target: &Target) -> Passed {
    let (calls, liveness) = (CallGraph::new(program), Liveness::new(program));
    let slots = liveness.slots();
    let forget = Forget { program, slots, liveness: &liveness, forgettable: forgettable(program, slots, &calls) };
    let dirty = solve(&Arrows::new(program, &calls), &forget);
    let mut passed = Passed::unchanged(program, target);
    for (id, edge) in program.edges.iter_enumerated() {
        match &mut passed.program.edges[id].op {
            Op::Assign(assign) => assign.active = forget.assignments(edge, assign, &dirty[edge.from]),
            Op::Call(call) => {
                let is_ensured = |var: &VarId| edge.ensures.any_leaf(|leaf| *leaf == Expr::Var(*var));
                for result in &mut call.results {
                    *result = result.filter(|var| liveness.is_live(edge.to, *var) || is_ensured(var));
                }
            }
            _ => {}
        }
    }
    passed.renumber_choices(program)
}

/// Returns the variables that an edge of each procedure may assign: its locals, the per-thread variables that all
/// threads that run it have, and the shared variables if there is one thread.
fn forgettable(program: &Program, slots: &Slots, calls: &CallGraph) -> IndexVec<ProcId, FixedBitSet> {
    let sequential = is_sequential(program);
    let visible = |proc| (0..slots.visible(proc)).collect();
    let mut sets: IndexVec<ProcId, FixedBitSet> = program.procs.indices().map(visible).collect();
    let prelude = program.prelude.map(|proc| (proc, [].as_slice()));
    let entries = program.entries.iter().map(|entry| (entry.proc, entry.thread_vars.as_slice()));
    for (root, thread_vars) in entries.chain(prelude) {
        let runs = calls.reachable([root], Through::CallsAndSpawns);
        let lacks = |var: VarId| match program.vars[var].scope {
            Scope::Shared => !sequential,
            Scope::Thread => !thread_vars.contains(&var),
            Scope::Local(_) => false,
        };
        let lacking: Vec<usize> =
            (0..).zip(slots.globals()).filter(|(_, var)| lacks(**var)).map(|(slot, _)| slot).collect();
        for (proc, _) in runs.iter_enumerated().filter(|(_, runs)| **runs) {
            lacking.iter().for_each(|slot| sets[proc].set(*slot, false));
        }
    }
    sets
}

/// The operations of the result, and an analysis of the variables that may have a value other than the default. Dead
/// variables are reset on every `Op::Assign`.
struct Forget<'p> {
    program: &'p Program,
    slots: &'p Slots,
    liveness: &'p Liveness,
    forgettable: IndexVec<ProcId, FixedBitSet>,
}

impl Forget<'_> {
    /// Returns the active assignments of an edge in the result. `dirty` are the variables that may need to be reset.
    fn assignments(&self, edge: &Edge, assign: &Assign, dirty: &FixedBitSet) -> Vec<(VarId, Expr)> {
        let mut active = assign.active.clone();
        active.retain(|(var, rhs)| self.is_needed(edge, assign, *var, rhs));
        for var in self.forgotten(edge, assign) {
            if dirty.contains(self.slots.get(var)) {
                active.push((var, Expr::value(self.program.vars[var].ty.default_value())));
            }
        }
        active
    }

    fn is_needed(&self, edge: &Edge, assign: &Assign, var: VarId, rhs: &Expr) -> bool {
        self.liveness.is_live(edge.to, var) || assign.constrains_next(var) || assign.binds_choices(rhs)
    }

    /// Returns the variables that may get the default value on an edge: those that are dead after it and do not occur
    /// in its condition.
    fn forgotten(&self, edge: &Edge, assign: &Assign) -> Vec<VarId> {
        let proc = self.program.locs[edge.from].proc;
        let locals = &self.program.procs[proc].locals;
        let globals = self.slots.globals();
        let var = |slot: usize| globals.get(slot).copied().unwrap_or_else(|| locals[slot - globals.len()]);
        let bound = |var: VarId| assign.active.iter().any(|(bound, rhs)| *bound == var && assign.binds_choices(rhs));
        let dead = self.forgettable[proc].difference(self.liveness.live(edge.to)).map(var);
        dead.filter(|var| !assign.constrains_next(*var) && !bound(*var)).collect()
    }

    fn after_assign(&self, edge: &Edge, assign: &Assign, mut dirty: FixedBitSet) -> FixedBitSet {
        for (var, rhs) in &assign.active {
            if self.is_needed(edge, assign, *var, rhs) {
                let is_default = *rhs == Expr::value(self.program.vars[*var].ty.default_value());
                dirty.set(self.slots.get(*var), !is_default);
            }
        }
        self.forgotten(edge, assign).iter().for_each(|var| dirty.set(self.slots.get(*var), false));
        dirty
    }
}

impl Analysis for Forget<'_> {
    type Value = FixedBitSet;
    const DIRECTION: Direction = Direction::Forward;

    fn start(&self, loc: LocId) -> FixedBitSet {
        let id = self.program.locs[loc].proc;
        let mut dirty = FixedBitSet::with_capacity(self.slots.visible(id));
        if self.program.procs[id].entry == loc {
            let starts_thread = self.program.roots().any(|proc| proc == id);
            let first = if starts_thread { 0 } else { self.slots.globals().len() };
            dirty.insert_range(first..);
        }
        dirty
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<FixedBitSet>) -> FixedBitSet {
        let before = &values[arrow.from];
        match arrow.kind {
            ArrowKind::Step(id) => match &self.program.edges[id].op {
                Op::Assign(assign) => self.after_assign(&self.program.edges[id], assign, before.clone()),
                _ => before.clone(),
            },
            ArrowKind::Fork(_) => before.clone(),
            ArrowKind::Enter(_)
            | ArrowKind::Leave(_)
            | ArrowKind::Spawn(_)
            | ArrowKind::Finish(_)
            | ArrowKind::Start(_) => self.slots.globals_of(before),
            ArrowKind::Across(id) => {
                let mut dirty = before.clone();
                dirty.remove_range(..self.slots.globals().len());
                dirty.extend(self.program.edges[id].op.assigned().map(|var| self.slots.get(var)));
                dirty
            }
        }
    }
}

#[cfg(test)]
mod tests;

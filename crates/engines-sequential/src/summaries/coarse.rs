//! A coarser program with fewer variables, whose safety implies that of the program (localization, after Kurshan).
//!
//! Only the variables on which the values in the target assertions depend are *tracked*; for an assertion without
//! variables and for target locations, those in the conditions right before them. Everywhere else, a read of an
//! untracked variable becomes a choice, and assignments to such variables are left out. So every execution of the
//! program is one of the coarse program as far as tracked variables go: if no error is reachable in the latter, none is
//! in the former, and path edges and summaries of the latter prove it, edge by edge, for the former. An error of the
//! coarse program means nothing.
//!
//! Locations, edges and variables keep their numbers. There is one thread, so parts of steps that concern other threads
//! are left out.

use fixedbitset::FixedBitSet;
use selvedge_ir::passes::slice;
use selvedge_ir::{Assign, Edge, EdgeId, Expr, LocId, Op, Program, Target, Ty, VarId};

/// Builds the coarse program; returns `None` if it would not be much smaller: more than half of the relevant variables
/// are tracked.
pub(super) fn coarse(program: &Program, target: &Target, n_relevant: usize) -> Option<Program> {
    let tracked = slice::feeding(program, &roots(program, target));
    if 2 * tracked.count_ones(..) > n_relevant {
        return None;
    }
    let mut coarse = program.clone();
    coarse.edges.iter_mut().for_each(|edge| weaken(edge, &tracked));
    Some(coarse)
}

/// Returns the variables in the target, or those right before it.
fn roots(program: &Program, target: &Target) -> FixedBitSet {
    let mut roots = FixedBitSet::with_capacity(program.vars.len());
    let mut before: Vec<LocId> = target.locs.to_vec();
    for id in &target.asserts {
        let edge = &program.edges[*id];
        if !note(edge, &mut roots) {
            before.push(edge.from);
        }
    }
    go_back(program, before, &mut roots);
    roots
}

/// Marks the variables of the first conditions on the paths backward from some locations. The search goes from a
/// procedure's entry to its calls, and skips calls that have returned.
fn go_back(program: &Program, mut waiting: Vec<LocId>, roots: &mut FixedBitSet) {
    let mut into: Vec<Vec<EdgeId>> = vec![Vec::new(); program.locs.len()];
    for (id, edge) in program.edges.iter_enumerated() {
        into[edge.to.index()].push(id);
        if let Op::Call(call) = &edge.op {
            into[program.procs[call.callee].entry.index()].push(id);
        }
    }
    let mut seen = FixedBitSet::with_capacity(program.locs.len());
    while let Some(loc) = waiting.pop() {
        if seen.put(loc.index()) {
            continue;
        }
        for edge in into[loc.index()].iter().map(|id| &program.edges[*id]) {
            if !note(edge, roots) {
                waiting.push(edge.from);
            }
        }
    }
}

/// Marks the variables of an edge's conditions and returns whether there are any.
fn note(edge: &Edge, roots: &mut FixedBitSet) -> bool {
    let condition = match &edge.op {
        Op::Assert(condition) | Op::Assign(Assign { constrain: condition, .. }) => condition,
        _ => &Expr::TRUE,
    };
    let mut any = false;
    for leaf in [condition, &edge.ensures].into_iter().flat_map(leaves) {
        if let Expr::Var(var) | Expr::Next(var) = leaf {
            roots.insert(var.index());
            any = true;
        }
    }
    any
}

fn leaves(expr: &Expr) -> Vec<&Expr> {
    let mut leaves = Vec::new();
    expr.for_each_leaf(|leaf| leaves.push(leaf));
    leaves
}

/// Removes from an edge everything that concerns untracked variables or other threads. Returned values and arguments
/// stay, since slicing removes those that are never read.
fn weaken(edge: &mut Edge, tracked: &FixedBitSet) {
    let is_tracked = |var: VarId| tracked.contains(var.index());
    match &mut edge.op {
        Op::Assign(assign) => {
            assign.leave_out_others();
            assign.constrain = Expr::and(
                std::mem::replace(&mut assign.constrain, Expr::TRUE),
                std::mem::replace(&mut edge.ensures, Expr::TRUE),
            );
            assign.active.retain(|(var, _)| is_tracked(*var));
        }
        Op::Call(call) => call.results.iter_mut().for_each(|result| *result = result.filter(|var| is_tracked(*var))),
        _ => {}
    }
    if edge.ensures.any_leaf(|leaf| matches!(leaf, Expr::Var(var) if !is_tracked(*var))) {
        edge.ensures = Expr::TRUE;
    }
    let mut n_choices = edge.op.choices().len() as u32;
    for expr in edge.op.exprs_mut() {
        let is_forgotten = |leaf: &Expr| matches!(leaf, Expr::Var(var) | Expr::Next(var) if !is_tracked(*var));
        if !expr.any_leaf(is_forgotten) {
            continue;
        }
        *expr = expr.map_leaves(&mut |leaf| {
            if !is_forgotten(leaf) {
                return leaf.clone();
            }
            n_choices += 1;
            Expr::Choice(n_choices - 1, Ty::Bool)
        });
    }
}

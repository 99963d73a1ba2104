//! Folds constants: in expressions, within a step, and variables that have one value in the whole program.
//!
//! In this order:
//! 1. `constants` finds the variables that only ever hold one value.
//! 2. `step` simplifies each operation under these values, and removes edges that no state can take and assertions that
//!    always hold.
//! 3. `reach` finds the locations that are still connected to a start, and removes the edges that leave others.
//!
//! Locations, variables and procedures stay, so that only edges and choices have new numbers. Steps in which other
//! threads take part stay as they are: their condition is evaluated once per other thread, so that `F` can hold if
//! there is none, and a choice may mean one value or one per thread, depending on where it occurs.

mod constants;
mod reach;
mod step;

use fixedbitset::FixedBitSet;

use crate::passes::{Passed, Source};
use crate::syntax::{Edge, EdgeId, Expr, Op, Program, VarId};
use crate::target::Target;
use constants::Constants;
use step::fold_step;

/// Folds constants.
pub fn run(program: &Program, target: &Target) -> Passed {
    let constants = Constants::find(program);
    let mut passed = Passed::unchanged(program, target);
    fold_edges(&mut passed, &constants);
    fold_init(&mut passed.program.init, &constants);
    passed.program.entries.iter_mut().for_each(|entry| fold_init(&mut entry.init, &constants));
    let reached = reach::locations(&passed.program);
    drop_edges(&mut passed, |_, edge| reached.contains(edge.from.index()));
    passed.target.locs.retain(|loc| reached.contains(loc.index()));
    passed.target.together.retain(|meeting| meeting.iter().all(|loc| reached.contains(loc.index())));
    passed.renumber_choices(program)
}

/// Folds the edges, and removes those that no state can take.
fn fold_edges(passed: &mut Passed, constants: &Constants) {
    let mut taken = FixedBitSet::with_capacity(passed.program.edges.len());
    for (id, edge) in passed.program.edges.iter_mut_enumerated() {
        // An assertion that is not an error stops the thread if it does not hold, as an assumption does.
        if let Op::Assert(condition) = &edge.op
            && !passed.target.has_assert(id)
        {
            edge.op = Op::assume(condition.clone());
        }
        let Some((op, fixed)) = fold_step(&edge.op, constants) else { continue };
        edge.op = op;
        taken.insert(id.index());
        for (number, value) in fixed {
            passed.lift.edges[id][0].choices[number as usize] = Source::Value(value);
        }
    }
    drop_edges(passed, |id, _| taken.contains(id.index()));
}

fn fold_init(init: &mut [(VarId, Expr)], constants: &Constants) {
    for (_, rhs) in init {
        *rhs = constants.fold(rhs);
    }
}

/// Removes edges, and assertions that have become something else from the target.
fn drop_edges(passed: &mut Passed, keep: impl Fn(EdgeId, &Edge) -> bool) {
    let edges = std::mem::take(&mut passed.program.edges).into_iter_enumerated();
    let steps = std::mem::take(&mut passed.lift.edges).into_iter();
    let asserts = std::mem::take(&mut passed.target.asserts);
    for ((id, edge), steps) in edges.zip(steps).filter(|((id, edge), _)| keep(*id, edge)) {
        let is_assert = matches!(edge.op, Op::Assert(_)) && asserts.binary_search(&id).is_ok();
        let new = passed.program.edges.push(edge);
        passed.lift.edges.push(steps);
        if is_assert {
            passed.target.asserts.push(new);
        }
    }
}

#[cfg(test)]
mod tests;

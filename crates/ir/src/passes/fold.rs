//! Folds constants: in expressions, within a step, and variables that have one value in the whole program.
//!
//! In this order:
//! 1. `constants` finds the variables that only ever hold one value.
//! 2. `step` simplifies each operation under these values, and removes edges that no state can take and assertions that
//!    always hold.
//! 3. `reached` finds the locations that are still connected to a start, and removes the edges that leave others.
//!
//! Locations, variables and procedures stay, so that only edges and choices have new numbers. Steps in which other
//! threads take part stay as they are: their condition is evaluated once per other thread, so that `F` can hold if
//! there is none, and a choice may mean one value or one per thread, depending on where it occurs.

mod constants;
mod step;

use fixedbitset::FixedBitSet;

use crate::flow::reached;
use crate::passes::edit::{Keep, collect};
use crate::passes::{Passed, Source};
use crate::syntax::{Edge, EdgeId, Expr, LocId, Op, Program};
use crate::target::Target;
use constants::Constants;
use step::fold_step;

/// Folds constants.
pub fn run(program: &Program, target: &Target) -> Passed {
    let constants = Constants::find(program);
    let mut passed = Passed::unchanged(program, target);
    let taken = fold_edges(&mut passed, &constants);
    let entry_inits = passed.program.entries.iter_mut().flat_map(|entry| &mut entry.init);
    passed.program.init.iter_mut().chain(entry_inits).for_each(|(_, rhs)| *rhs = constants.fold(rhs));
    let reached = reached(&passed.program, |id| taken.contains(id.index()));
    let is_reached = |loc: &LocId| reached.contains(loc.index());
    let Passed { program: Program { edges, .. }, target: Target { asserts, locs, together, .. }, .. } = &mut passed;
    asserts.retain(|id| matches!(edges[*id].op, Op::Assert(_)));
    locs.retain(is_reached);
    together.retain(|meeting| meeting.iter().all(is_reached));
    let stays = |(id, edge): (EdgeId, &Edge)| taken.contains(id.index()) && is_reached(&edge.from);
    let edges = collect(passed.program.edges.iter_enumerated().map(stays));
    let keep = Keep { edges, ..Keep::all(&passed.program) };
    passed.retain(&keep).renumber_choices(program)
}

/// Folds the edges, and returns those that some state can take.
fn fold_edges(passed: &mut Passed, constants: &Constants) -> FixedBitSet {
    let mut taken = FixedBitSet::with_capacity(passed.program.edges.len());
    for (id, edge) in passed.program.edges.iter_mut_enumerated() {
        // An assertion that is not an error stops the thread if it does not hold, as an assumption does.
        if let Op::Assert(condition) = &edge.op
            && !passed.target.has_assert(id)
        {
            *edge = Edge::new(edge.from, edge.to, Op::assume(Expr::and(condition.clone(), edge.ensures.clone())));
        }
        edge.ensures = constants.fold(&edge.ensures);
        let Some((op, fixed)) = fold_step(edge, constants) else { continue };
        if matches!((&edge.op, &op), (Op::Assert(_), Op::Assign(_))) {
            edge.ensures = Expr::TRUE;
        }
        edge.op = op;
        taken.insert(id.index());
        for (number, value) in fixed {
            passed.lift.edges[id][0].choices[number as usize] = Source::Value(value);
        }
    }
    taken
}

#[cfg(test)]
mod tests;

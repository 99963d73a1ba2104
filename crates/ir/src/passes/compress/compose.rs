//! Two assignments as one.

use rustc_hash::FxHashMap;

use crate::passes::{LiftStep, Source};
use crate::simplify::{and, size, substitute};
use crate::syntax::{Assign, Expr, VarId};

/// Returns the number of leaves and operators of an assignment, counting each assigned variable as one.
pub(super) fn size_of(assign: &Assign) -> usize {
    assign.active.iter().map(|(_, rhs)| 1 + size(rhs)).sum::<usize>() + size(&assign.constrain)
}

/// Composes two assignments, one after the other. No other thread takes part in either. The choices of the second are
/// numbered after those of the first.
///
/// With s0, s1, s2 for the states before, between and after: the second's right-hand sides and its constraint read s1,
/// which is s0 with the first's right-hand sides; where the second does not assign a variable, s2 agrees with s1. So in
/// the first's constraint, a new value that the second overwrites is replaced by what it was in s1, all other new
/// values are those of s2 already; and the second's constraint may read s1 as the new value, where that is shorter.
pub(super) fn compose(first: &Assign, second: &Assign) -> Assign {
    let offset = first.choices().len() as u32;
    let between: FxHashMap<VarId, &Expr> = first.active.iter().map(|(var, rhs)| (*var, rhs)).collect();
    let overwritten: FxHashMap<VarId, &Expr> = second.active.iter().map(|(var, rhs)| (*var, rhs)).collect();
    let in_between = |var: VarId| between.get(&var).map_or(Expr::Var(var), |rhs| (*rhs).clone());
    let mut read = |leaf: &Expr| match leaf {
        Expr::Var(var) => in_between(*var),
        Expr::Choice(number, ty) => Expr::Choice(number + offset, *ty),
        leaf => leaf.clone(),
    };
    let mut active: Vec<(VarId, Expr)> =
        first.active.iter().filter(|(var, _)| !overwritten.contains_key(var)).cloned().collect();
    active.extend(second.active.iter().map(|(var, rhs)| (*var, substitute(rhs, &mut read))));
    let of_first = substitute(&first.constrain, &mut |leaf| match leaf {
        Expr::Next(var) if overwritten.contains_key(var) => in_between(*var),
        leaf => leaf.clone(),
    });
    let of_second = substitute(&second.constrain, &mut |leaf| match leaf {
        Expr::Var(var) if !overwritten.contains_key(var) && between.get(var).is_some_and(|rhs| !rhs.is_leaf()) => {
            Expr::Next(*var)
        }
        leaf => read(leaf),
    });
    active.sort_by_key(|(var, _)| *var);
    Assign { active, passive: Vec::new(), constrain: and(of_first, of_second) }
}

/// Returns an old step of the second of two composed steps.
pub(super) fn offset_sources(step: &LiftStep, offset: u32) -> LiftStep {
    let moved = |source: Source| match source {
        Source::Choice(number) => Source::Choice(number + offset),
        fixed => fixed,
    };
    LiftStep {
        edge: step.edge,
        choices: step.choices.iter().map(|source| moved(*source)).collect(),
        fresh: step.fresh.iter().map(|(var, source)| (*var, moved(*source))).collect(),
        ..*step
    }
}

//! New predicates from a way that the program cannot go: the conditions under which the rest of it leads to the error,
//! with those conditions alone that contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::{Assign, Expr, VarId};
use selvedge_logic::smt::{Smt, Symbol};

use super::Way;
use super::simulate::{Place, commands, failing};
use crate::abstraction::Predicates;
use crate::horn::system::System;
use crate::horn::{halted, z3};
use crate::terms::{choice, expr, marked, symbol};

/// Adds the predicates, from the end of the way to its beginning.
pub(super) fn refine(
    system: &System<'_>,
    way: &Way,
    core: &BTreeSet<Place>,
    predicates: &mut Predicates,
    run: &Run<'_>,
) -> Result<(), Stop> {
    let mut condition = match core.contains(&Place::End) {
        true => Expr::negate(failing(system, way).clone()),
        false => Expr::TRUE,
    };
    for (at, command) in commands(system, way).into_iter().enumerate().rev() {
        run.tick()?;
        let guard = command.constrain.conjuncts().into_iter().enumerate();
        let kept = guard.filter(|(number, _)| core.contains(&Place::Guard(at, *number))).map(|(_, part)| part.clone());
        condition = kept.fold(before(system, command, &condition, run)?, Expr::and);
        predicates.add(&condition)?;
    }
    Ok(())
}

/// What holds before a command of the states from which it can lead to the condition, its guard aside.
fn before(system: &System<'_>, command: &Assign, condition: &Expr, run: &Run<'_>) -> Result<Expr, Stop> {
    let program = system.program;
    let replaced = condition.map_leaves(&mut |leaf| match leaf {
        Expr::Var(var) => match command.active.iter().find(|(assigned, _)| assigned == var) {
            Some((_, rhs)) => rhs.clone(),
            None => leaf.clone(),
        },
        leaf => leaf.clone(),
    });
    if !replaced.any_leaf(|leaf| matches!(leaf, Expr::Choice(..))) {
        return Ok(replaced);
    }
    let choices: Vec<Symbol> = command.choices().iter().zip(0..).map(|(ty, number)| choice(number, *ty, "")).collect();
    let mut smt = Smt::new(z3(run)?);
    let body = marked(program, &replaced, "");
    let without = smt.eliminate(&choices, &body, || run.check_limits()).map_err(halted)?;
    let vars: BTreeMap<Symbol, VarId> = program.vars.indices().map(|var| (symbol(program, var, ""), var)).collect();
    expr(&without, &vars).ok_or(Stop::Solver(SolverFailure::TooLarge))
}

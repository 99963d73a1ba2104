//! New predicates from an infeasible path: the conditions under which its suffixes lead to the error, restricted to the
//! conditions of an unsatisfiable core.

use std::collections::BTreeSet;

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::{Assign, Expr};
use selvedge_logic::smt::{Smt, Symbol};

use super::CommandPath;
use super::simulate::{PathCondition, commands, failing};
use crate::abstraction::Predicates;
use crate::horn::guarded_commands::{GuardedCommands, after};
use crate::horn::z3;
use crate::prover::solver_stop;
use crate::terms::{choice, expr, marked, symbol};

/// Adds the predicates, from the end of the path to its beginning.
pub(super) fn refine(
    system: &GuardedCommands<'_>,
    path: &CommandPath,
    core: &BTreeSet<PathCondition>,
    predicates: &mut Predicates,
    run: &Run<'_>,
) -> Result<(), Stop> {
    let mut condition = match core.contains(&PathCondition::End) {
        true => Expr::negate(failing(system, path).clone()),
        false => Expr::TRUE,
    };
    for (at, command) in commands(system, path).into_iter().enumerate().rev() {
        run.tick()?;
        let guard = command.constrain.conjuncts().into_iter().enumerate();
        let kept =
            guard.filter(|(number, _)| core.contains(&PathCondition::Guard(at, *number))).map(|(_, part)| part.clone());
        condition = kept.fold(before(system, command, &condition, run)?, Expr::and);
        predicates.add(&condition)?;
    }
    Ok(())
}

/// Returns the condition on the states from which a command can lead to a condition, without the command's guard.
fn before(system: &GuardedCommands<'_>, command: &Assign, condition: &Expr, run: &Run<'_>) -> Result<Expr, Stop> {
    let program = system.program;
    let replaced = after(command, condition);
    if !replaced.any_leaf(|leaf| matches!(leaf, Expr::Choice(..))) {
        return Ok(replaced);
    }
    let choices: Vec<Symbol> = command.choices().iter().zip(0..).map(|(ty, number)| choice(number, *ty, "")).collect();
    let mut smt = Smt::new(z3(run)?);
    let body = marked(program, &replaced, "");
    let without = smt.eliminate(&choices, &body, || run.check_limits()).map_err(solver_stop)?;
    let var = |wanted: &Symbol| program.vars.indices().find(|var| symbol(program, *var, "") == *wanted);
    expr(&without, &var).ok_or(Stop::Solver(SolverFailure::TooLarge))
}

//! Reconstructs the steps of an execution from its states.

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::eval::{eval, holds};
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{Assign, EdgeId, EntryId, Expr, Value, VarId};
use selvedge_logic::smt::{Smt, Term};

use super::guarded_commands::GuardedCommands;
use super::z3;
use crate::prover::solver_stop;
use crate::terms::{choice, constant, program_values, term};

/// Returns the execution through the given states, from an initial state to one in which an assertion fails. The
/// solver's answer is checked on the way.
pub(crate) fn trace(system: &GuardedCommands<'_>, states: &[Vec<Value>], run: &Run<'_>) -> Result<Trace, Stop> {
    let strange = Stop::Solver(SolverFailure::Strange);
    let (Some(first), Some(last)) = (states.first(), states.last()) else { return Err(strange) };
    // Spacer does not always print the beginning of its derivation.
    if holds(system.init, &|leaf| value_of(leaf, first)) != Ok(true) {
        return Err(strange);
    }
    let mut steps = vec![step(system.first, Vec::new())];
    for pair in states.windows(2) {
        run.tick()?;
        steps.push(between(system, &pair[0], &pair[1], run)?.ok_or(strange)?);
    }
    let fails = |condition: &Expr| holds(condition, &|leaf| value_of(leaf, last)) == Ok(false);
    let failing = system.asserts.iter().find(|(_, condition)| fails(condition)).ok_or(strange)?;
    steps.push(step(failing.0, Vec::new()));
    Ok(Trace { start: start(first), steps, bodies: Vec::new() })
}

/// Returns the start with the given values.
pub(crate) fn start(values: &[Value]) -> Start {
    let fresh = values.iter().enumerate().map(|(var, value)| (VarId::new(var), *value)).collect();
    let threads = vec![StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() }];
    Start { choices: Vec::new(), fresh, threads }
}

/// Returns a step of the only thread.
pub(crate) fn step(edge: EdgeId, choices: Vec<Value>) -> Step {
    Step { thread: ThreadId(0), edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn value_of(leaf: &Expr, state: &[Value]) -> Value {
    match leaf {
        Expr::Var(var) => state[var.index()],
        _ => unreachable!("conditions only mention variables"),
    }
}

/// Returns a step from one state to another.
fn between(system: &GuardedCommands<'_>, from: &[Value], to: &[Value], run: &Run<'_>) -> Result<Option<Step>, Stop> {
    for (edge, command) in &system.commands {
        if holds(&command.constrain, &|leaf| value_of(leaf, from)) != Ok(true) || !keeps_rest(command, from, to) {
            continue;
        }
        let choices = if command.choices().is_empty() {
            computes(command, from, to).then(Vec::new)
        } else {
            choices(command, from, to, run)?
        };
        if let Some(choices) = choices {
            return Ok(Some(step(*edge, choices)));
        }
    }
    Ok(None)
}

/// Returns whether the variables that the command does not assign have the same values in both states.
fn keeps_rest(command: &Assign, from: &[Value], to: &[Value]) -> bool {
    let is_assigned = |number: usize| command.active.iter().any(|(var, _)| var.index() == number);
    from.iter().zip(to).enumerate().all(|(number, (from, to))| from == to || is_assigned(number))
}

/// Returns whether a command without choices leads from one state to the other.
fn computes(command: &Assign, from: &[Value], to: &[Value]) -> bool {
    command.active.iter().all(|(var, rhs)| eval(rhs, &|leaf| value_of(leaf, from)) == Ok(to[var.index()]))
}

/// Returns choices with which the command leads from one state to the other.
fn choices(command: &Assign, from: &[Value], to: &[Value], run: &Run<'_>) -> Result<Option<Vec<Value>>, Stop> {
    let types = command.choices();
    let symbols: Vec<_> = types.iter().zip(0..).map(|(ty, number)| choice(number, *ty, "")).collect();
    let leaf = |leaf: &Expr| match leaf {
        Expr::Choice(number, ty) => choice(*number, *ty, "").into(),
        leaf => constant(value_of(leaf, from)),
    };
    let mut smt = Smt::new(z3(run)?);
    symbols.iter().for_each(|symbol| smt.declare(symbol));
    for (var, rhs) in &command.active {
        smt.assert(&term(rhs, &leaf).equals(&constant(to[var.index()])));
    }
    if !smt.is_sat(&[], || run.check_limits()).map_err(solver_stop)? {
        return Ok(None);
    }
    let terms: Vec<Term> = symbols.iter().cloned().map(Term::from).collect();
    let values = smt.values(&terms, || run.check_limits()).map_err(solver_stop)?;
    program_values(values).map(Some)
}

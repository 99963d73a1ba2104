//! From the states of an execution to its steps.

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::eval::{eval, holds};
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{Assign, EdgeId, EntryId, Expr, Value, VarId};
use selvedge_logic::smt::{Smt, SmtValue, Term};

use super::system::System;
use super::{halted, z3};
use crate::terms::{choice, constant, term, value};

/// The execution through these states, from a first one to one in which an assertion fails. What the solver says is checked
/// on the way.
pub(crate) fn trace(system: &System<'_>, states: &[Vec<Value>], run: &Run<'_>) -> Result<Trace, Stop> {
    let strange = Stop::Solver(SolverFailure::Strange);
    let (Some(first), Some(last)) = (states.first(), states.last()) else { return Err(strange) };
    // Spacer does not always print how its derivation begins.
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

/// The start with these values.
pub(crate) fn start(values: &[Value]) -> Start {
    let fresh = values.iter().enumerate().map(|(var, value)| (VarId::new(var), *value)).collect();
    let threads = vec![StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() }];
    Start { choices: Vec::new(), fresh, threads }
}

/// A step of the only thread.
pub(crate) fn step(edge: EdgeId, choices: Vec<Value>) -> Step {
    Step { thread: ThreadId(0), edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn value_of(leaf: &Expr, state: &[Value]) -> Value {
    match leaf {
        Expr::Var(var) => state[var.index()],
        _ => unreachable!("conditions speak of variables alone"),
    }
}

/// A step from one state to another.
fn between(system: &System<'_>, from: &[Value], to: &[Value], run: &Run<'_>) -> Result<Option<Step>, Stop> {
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

/// Whether what the command does not assign has the same value in both states.
fn keeps_rest(command: &Assign, from: &[Value], to: &[Value]) -> bool {
    let is_assigned = |number: usize| command.active.iter().any(|(var, _)| var.index() == number);
    from.iter().zip(to).enumerate().all(|(number, (from, to))| from == to || is_assigned(number))
}

fn computes(command: &Assign, from: &[Value], to: &[Value]) -> bool {
    command.active.iter().all(|(var, rhs)| eval(rhs, &|leaf| value_of(leaf, from)) == Ok(to[var.index()]))
}

/// Choices with which the command leads from one state to the other.
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
    if !smt.is_sat(&[], || run.check_limits()).map_err(halted)? {
        return Ok(None);
    }
    let terms: Vec<Term> = symbols.iter().cloned().map(Term::from).collect();
    let values: Vec<SmtValue> = smt.values(&terms, || run.check_limits()).map_err(halted)?;
    let values: Option<Vec<Value>> = values.into_iter().map(value).collect();
    values.map(Some).ok_or(Stop::Solver(SolverFailure::TooLarge))
}

//! Whether the program can take commands in an order, and if not, which conditions stand against it.

use std::collections::BTreeSet;

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::{Assign, Expr, Trace, Ty, Value, VarId};
use selvedge_logic::smt::{Smt, SmtValue, Symbol, Term};

use super::Way;
use crate::horn::system::System;
use crate::horn::trace::{start, step};
use crate::horn::{halted, z3};
use crate::terms::{choice, sort, term, value};

/// What became of a way.
pub(super) enum Simulated {
    /// An execution along it.
    Real(Trace),
    /// There is none, and these conditions say why.
    Spurious(BTreeSet<Place>),
}

/// A condition on a way: the part with this number of the condition on first states, of the guard of the command with
/// this place on the way, or the condition that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Init(usize),
    Guard(usize, usize),
    End,
}

/// Asks the solver for an execution along a way. Every assignment makes a new symbol; every condition has a label.
pub(super) fn simulate(system: &System<'_>, way: &Way, run: &Run<'_>) -> Result<Simulated, Stop> {
    let program = system.program;
    let mut smt = Smt::new(z3(run)?);
    let fresh = |smt: &mut Smt, name: &str, ty: Ty| {
        let symbol = Symbol::new(name, sort(ty));
        smt.declare(&symbol);
        Term::from(symbol)
    };
    let first: Vec<Term> = program
        .vars
        .iter_enumerated()
        .map(|(var, data)| fresh(&mut smt, &format!("v{}@0", var.index()), data.ty))
        .collect();
    let mut now = first.clone();
    let mut labels: Vec<(Term, Place)> = Vec::new();
    for (number, condition) in system.init.conjuncts().into_iter().enumerate() {
        let condition = over(condition, &now, "");
        labels.push((smt.label(&condition).into(), Place::Init(number)));
    }
    let mut chosen: Vec<Vec<Term>> = Vec::new();
    for (at, command) in commands(system, way).into_iter().enumerate() {
        for (number, condition) in command.constrain.conjuncts().into_iter().enumerate() {
            let condition = over(condition, &now, "");
            labels.push((smt.label(&condition).into(), Place::Guard(at, number)));
        }
        let mark = format!("@{at}");
        let choices = command.choices().into_iter().zip(0..).map(|(ty, number)| choice(number, ty, &mark));
        let choices: Vec<Symbol> = choices.collect();
        choices.iter().for_each(|symbol| smt.declare(symbol));
        chosen.push(choices.into_iter().map(Term::from).collect());
        let mut next = now.clone();
        for (var, rhs) in &command.active {
            let name = format!("v{}@{}", var.index(), at + 1);
            next[var.index()] = fresh(&mut smt, &name, program.vars[*var].ty);
            let rhs = over(rhs, &now, &mark);
            smt.assert(&next[var.index()].equals(&rhs));
        }
        now = next;
    }
    let condition = failing(system, way);
    let end = over(condition, &now, "").not();
    labels.push((smt.label(&end).into(), Place::End));
    let assumptions: Vec<Term> = labels.iter().map(|(label, _)| label.clone()).collect();
    if smt.is_sat(&assumptions, || run.check_limits()).map_err(halted)? {
        let trace = execution(system, way, &mut smt, &first, &chosen, run)?;
        return Ok(Simulated::Real(trace));
    }
    let core = smt.core(&assumptions, || run.check_limits()).map_err(halted)?;
    Ok(Simulated::Spurious(labels.into_iter().filter(|(label, _)| core.contains(label)).map(|(_, at)| at).collect()))
}

/// The commands of a way.
pub(super) fn commands<'p>(system: &System<'p>, way: &Way) -> Vec<&'p Assign> {
    let of = |edge| system.commands.iter().find(|(id, _)| *id == edge).map(|(_, command)| *command);
    way.commands.iter().filter_map(|edge| of(*edge)).collect()
}

/// The condition that fails at the end of a way.
pub(super) fn failing<'p>(system: &System<'p>, way: &Way) -> &'p Expr {
    let found = system.asserts.iter().find(|(id, _)| *id == way.failing);
    found.expect("a way ends in an assertion of the target").1
}

fn over(expr: &Expr, now: &[Term], mark: &str) -> Term {
    term(expr, &|leaf| match leaf {
        Expr::Var(var) => now[VarId::index(*var)].clone(),
        Expr::Choice(number, ty) => choice(*number, *ty, mark).into(),
        _ => unreachable!("guarded commands have no other leaves"),
    })
}

fn execution(
    system: &System<'_>,
    way: &Way,
    smt: &mut Smt,
    first: &[Term],
    chosen: &[Vec<Term>],
    run: &Run<'_>,
) -> Result<Trace, Stop> {
    let wanted: Vec<Term> = first.iter().chain(chosen.iter().flatten()).cloned().collect();
    let values: Vec<SmtValue> = smt.values(&wanted, || run.check_limits()).map_err(halted)?;
    let values: Option<Vec<Value>> = values.into_iter().map(value).collect();
    let values = values.ok_or(Stop::Solver(SolverFailure::TooLarge))?;
    let (firsts, mut rest) = values.split_at(first.len());
    let mut steps = vec![step(system.first, Vec::new())];
    for (edge, choices) in way.commands.iter().zip(chosen) {
        let (own, others) = rest.split_at(choices.len());
        steps.push(step(*edge, own.to_vec()));
        rest = others;
    }
    steps.push(step(way.failing, Vec::new()));
    Ok(Trace { start: start(firsts), steps, bodies: Vec::new() })
}

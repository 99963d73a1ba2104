//! Decides whether the program can execute given commands in order, and if not, which conditions exclude it.

use std::collections::BTreeSet;

use selvedge_check::{Run, Stop};
use selvedge_ir::{Assign, Expr, Program, Trace, VarId};
use selvedge_logic::smt::{Smt, Symbol, Term};

use super::CommandPath;
use crate::horn::guarded_commands::GuardedCommands;
use crate::horn::trace::{start, step};
use crate::horn::z3;
use crate::prover::solver_stop;
use crate::terms::{choice, program_values, sort, term};

/// The result of a simulation.
pub(super) enum Simulated {
    /// An execution along the path.
    Real(Trace),
    /// The path is infeasible because of these conditions.
    Spurious(BTreeSet<PathCondition>),
}

/// A condition on a path: a numbered conjunct of the initial condition, a numbered conjunct of the guard of the command
/// at a position of the path, or the failing condition at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathCondition {
    Init(usize),
    Guard(usize, usize),
    End,
}

/// Asks the solver for an execution along a path.
pub(super) fn simulate(system: &GuardedCommands<'_>, path: &CommandPath, run: &Run<'_>) -> Result<Simulated, Stop> {
    let mut formula = PathFormula::new(system, run)?;
    formula.require(system.init, PathCondition::Init);
    for (at, command) in commands(system, path).into_iter().enumerate() {
        formula.require(&command.constrain, |number| PathCondition::Guard(at, number));
        formula.execute(command, at);
    }
    let end = over(failing(system, path), &formula.now, "").not();
    formula.label(&end, PathCondition::End);
    let PathFormula { mut smt, labels, first, chosen, .. } = formula;
    let assumptions: Vec<Term> = labels.iter().map(|(label, _)| label.clone()).collect();
    if smt.is_sat(&assumptions, || run.check_limits()).map_err(solver_stop)? {
        let trace = execution(system, path, &mut smt, &first, &chosen, run)?;
        return Ok(Simulated::Real(trace));
    }
    let core = smt.core(&assumptions, || run.check_limits()).map_err(solver_stop)?;
    Ok(Simulated::Spurious(labels.into_iter().filter(|(label, _)| core.contains(label)).map(|(_, at)| at).collect()))
}

/// The formula of a path. Every assignment makes a new symbol; every condition has a label, so that a core can name it.
struct PathFormula<'s> {
    program: &'s Program,
    smt: Smt,
    /// The initial values of the variables, and their current values.
    first: Vec<Term>,
    now: Vec<Term>,
    labels: Vec<(Term, PathCondition)>,
    /// The choices of each command.
    chosen: Vec<Vec<Term>>,
}

impl<'s> PathFormula<'s> {
    fn new(system: &GuardedCommands<'s>, run: &Run<'_>) -> Result<PathFormula<'s>, Stop> {
        let program = system.program;
        let (smt, first) = (Smt::new(z3(run)?), Vec::new());
        let mut formula = PathFormula { program, smt, first, now: Vec::new(), labels: Vec::new(), chosen: Vec::new() };
        formula.first = program.vars.indices().map(|var| formula.fresh(var, 0)).collect();
        formula.now = formula.first.clone();
        Ok(formula)
    }

    /// Declares the symbol of a variable at a moment.
    fn fresh(&mut self, var: VarId, moment: usize) -> Term {
        let symbol = Symbol::new(&format!("v{}@{moment}", var.index()), sort(self.program.vars[var].ty));
        self.smt.declare(&symbol);
        Term::from(symbol)
    }

    /// Requires each conjunct of a condition on the current values, under a label of its own.
    fn require(&mut self, condition: &Expr, at: impl Fn(usize) -> PathCondition) {
        for (number, conjunct) in condition.conjuncts().into_iter().enumerate() {
            let conjunct = over(conjunct, &self.now, "");
            self.label(&conjunct, at(number));
        }
    }

    fn label(&mut self, condition: &Term, at: PathCondition) {
        self.labels.push((self.smt.label(condition).into(), at));
    }

    /// Executes the assignments of the command at a position of the path.
    fn execute(&mut self, command: &Assign, at: usize) {
        let mark = format!("@{at}");
        let choices = command.choices().into_iter().zip(0..).map(|(ty, number)| choice(number, ty, &mark));
        let choices: Vec<Symbol> = choices.collect();
        choices.iter().for_each(|symbol| self.smt.declare(symbol));
        self.chosen.push(choices.into_iter().map(Term::from).collect());
        let mut next = self.now.clone();
        for (var, rhs) in &command.active {
            next[var.index()] = self.fresh(*var, at + 1);
            let rhs = over(rhs, &self.now, &mark);
            self.smt.assert(&next[var.index()].equals(&rhs));
        }
        self.now = next;
    }
}

/// Returns the commands of a path.
pub(super) fn commands<'p>(system: &GuardedCommands<'p>, path: &CommandPath) -> Vec<&'p Assign> {
    let of = |edge| system.commands.iter().find(|(id, _)| *id == edge).map(|(_, command)| *command);
    path.commands.iter().filter_map(|edge| of(*edge)).collect()
}

/// Returns the condition that fails at the end of a path.
pub(super) fn failing<'p>(system: &GuardedCommands<'p>, path: &CommandPath) -> &'p Expr {
    let found = system.asserts.iter().find(|(id, _)| *id == path.failing);
    found.expect("a path ends in an assertion of the target").1
}

/// Returns an expression over the current values of the variables.
fn over(expr: &Expr, now: &[Term], mark: &str) -> Term {
    term(expr, &|leaf| match leaf {
        Expr::Var(var) => now[VarId::index(*var)].clone(),
        Expr::Choice(number, ty) => choice(*number, *ty, mark).into(),
        _ => unreachable!("guarded commands have no other leaves"),
    })
}

/// Reads the execution from the solver's solution.
fn execution(
    system: &GuardedCommands<'_>,
    path: &CommandPath,
    smt: &mut Smt,
    first: &[Term],
    chosen: &[Vec<Term>],
    run: &Run<'_>,
) -> Result<Trace, Stop> {
    let wanted: Vec<Term> = first.iter().chain(chosen.iter().flatten()).cloned().collect();
    let values = program_values(smt.values(&wanted, || run.check_limits()).map_err(solver_stop)?)?;
    let (firsts, mut rest) = values.split_at(first.len());
    let mut steps = vec![step(system.first, Vec::new())];
    for (edge, choices) in path.commands.iter().zip(chosen) {
        let (own, others) = rest.split_at(choices.len());
        steps.push(step(*edge, own.to_vec()));
        rest = others;
    }
    steps.push(step(path.failing, Vec::new()));
    Ok(Trace { start: start(firsts), steps, bodies: Vec::new() })
}

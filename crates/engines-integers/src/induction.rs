//! k-induction over linear integer arithmetic, and the search for a shortest error that is its base.
//!
//! Like the engine for Boolean programs, which uses SAT, for k = 0, 1, 2, ..:
//!
//! - *base*: is there an error within k steps of a start? Then a solution of the formulas is an execution.
//! - *step*: are there k + 1 consecutive states without error, starting anywhere, that are followed by an error? If
//!   not, the program is safe: the last k + 2 states of a shortest path to an error would be such a sequence.
//!
//! The certificate consists of the states from which no error is within k steps (`lookahead`), which are an invariant.
//! The search need not end: if only states further back than k exclude an error, it goes on to its bound.

mod lookahead;

use std::collections::BTreeMap;

use selvedge_check::{Bound, Event, Run, Stop, Task, Verdict};
use selvedge_ir::{LocId, Value};
use selvedge_logic::smt::{Sort, Symbol, Term};

use super::model::{SymbolicStep, TransitionModel};
use super::prover::Prover;
use super::trace::{Path, execution};

/// Decides a task that [`super::supports`] accepts.
pub fn check(task: &Task<'_>, bound: u32, run: &Run<'_>) -> Result<Verdict, Stop> {
    let mut prover = Prover::new(run)?;
    let model = TransitionModel::new(task);
    let mut base = Unrolling::from_start(&model, run)?;
    let mut step = Unrolling::from_anywhere(&model, run)?;
    for k in 0..=bound {
        if let Some(path) = base.error()? {
            let trace = execution(&model, &path, &mut prover)?;
            return Ok(Verdict::Unsafe(trace.expect("the path was found to be possible")));
        }
        step.exclude_error();
        step.extend();
        if !step.has_error()? {
            return Ok(Verdict::Safe(lookahead::certificate(&model, k, &mut prover, run)?));
        }
        base.exclude_error();
        base.extend();
        run.event(Event::Unwound { steps: k as usize + 1, nodes: (k as usize + 1) * model.vars.len() });
    }
    Err(Stop::BoundReached(Bound::Steps(bound)))
}

/// All locations of the system, in ascending order.
fn locations(model: &TransitionModel<'_>) -> Vec<LocId> {
    let starts = model.starts.iter().map(|start| start.loc);
    let steps = model.steps.iter().flat_map(|(from, steps)| steps.iter().map(|step| step.to).chain([*from]));
    let mut all: Vec<LocId> = starts.chain(steps).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A sequence of consecutive states, as formulas.
struct Unrolling<'a, 'r> {
    model: &'a TransitionModel<'a>,
    solver: Prover<'r>,
    /// All steps, with the locations where they begin.
    steps: Vec<(LocId, &'a SymbolicStep)>,
    /// The number of the last state.
    last: usize,
}

impl<'a, 'r> Unrolling<'a, 'r> {
    /// Creates an unrolling that begins in any state.
    fn from_anywhere(model: &'a TransitionModel<'a>, run: &'r Run<'r>) -> Result<Unrolling<'a, 'r>, Stop> {
        let steps = model.steps.iter().flat_map(|(from, steps)| steps.iter().map(|step| (*from, step))).collect();
        let mut unrolling = Unrolling { model, solver: Prover::new(run)?, steps, last: 0 };
        let somewhere = locations(model).into_iter().map(|loc| unrolling.is_at(loc, 0));
        let somewhere = Term::or(somewhere.collect::<Vec<_>>());
        unrolling.solver.require(&somewhere);
        Ok(unrolling)
    }

    /// Creates an unrolling that begins at a start. The number of the start is a symbol too.
    fn from_start(model: &'a TransitionModel<'a>, run: &'r Run<'r>) -> Result<Unrolling<'a, 'r>, Stop> {
        let mut unrolling = Unrolling::from_anywhere(model, run)?;
        let chosen = Term::from(start_symbol());
        let mut starts = Vec::new();
        for (number, start) in model.starts.iter().enumerate() {
            let is_chosen = chosen.equals(&(number as i64).into());
            let values = start.values.iter().map(|(var, value)| unrolling.var(*var, 0).equals(value));
            let here = unrolling.is_at(start.loc, 0);
            starts.push(Term::and(values.chain([is_chosen, here, start.condition.clone()])));
        }
        unrolling.solver.require(&Term::or(starts));
        Ok(unrolling)
    }

    fn var(&self, var: selvedge_ir::VarId, moment: usize) -> Term {
        let symbol = self.model.symbol(var);
        Symbol::new(&format!("{}@{moment}", symbol.name), symbol.sort).into()
    }

    fn is_at(&self, loc: LocId, moment: usize) -> Term {
        let at = Term::from(Symbol::new(&format!("at@{moment}"), Sort::Int));
        at.equals(&(loc.index() as i64).into())
    }

    /// Maps the symbols of variables and choices to those of a moment.
    fn names(&self, choices: &[Symbol], moment: usize) -> BTreeMap<Symbol, Term> {
        let vars = self.model.vars.iter().map(|var| (self.model.symbol(*var).clone(), self.var(*var, moment)));
        vars.chain(choices.iter().map(|choice| (choice.clone(), renamed(choice, moment).into()))).collect()
    }

    /// Adds a state.
    fn extend(&mut self) {
        let moment = self.last;
        let mut taken = Vec::new();
        for (number, (from, step)) in self.steps.iter().enumerate() {
            let names = self.names(&step.choices, moment);
            let is_taken = Term::from(step_symbol(moment)).equals(&(number as i64).into());
            let after = self.model.vars.iter().map(|var| match step.updates.get(var) {
                Some(update) => self.var(*var, moment + 1).equals(&update.substitute(&names)),
                None => self.var(*var, moment + 1).equals(&self.var(*var, moment)),
            });
            let places = [self.is_at(*from, moment), self.is_at(step.to, moment + 1)];
            taken.push(Term::and(after.chain(places).chain([is_taken, step.guard.substitute(&names)])));
        }
        self.solver.require(&Term::or(taken));
        self.last += 1;
    }

    /// Returns the formula for an error in the last state, whose number is the value of a symbol.
    fn error_here(&self) -> Term {
        let errors = self.model.errors.iter().enumerate().map(|(number, error)| {
            let names = self.names(&error.choices, self.last);
            let is_this = Term::from(error_symbol()).equals(&(number as i64).into());
            Term::and([self.is_at(error.loc, self.last), error.condition.substitute(&names), is_this])
        });
        Term::or(errors)
    }

    /// Requires that no error is possible in the last state. Assertions with choices are skipped: excluding one choice
    /// would not exclude the error.
    fn exclude_error(&mut self) {
        for error in &self.model.errors {
            let names = self.names(&[], self.last);
            let here = self.is_at(error.loc, self.last);
            if error.choices.is_empty() {
                let fails = Term::and([here, error.condition.substitute(&names)]);
                self.solver.require(&fails.not());
            }
        }
    }

    fn has_error(&mut self) -> Result<bool, Stop> {
        let error = self.error_here();
        Ok(self.solver.model(&error, &[])?.is_some())
    }

    /// Returns a path to an error in the last state.
    fn error(&mut self) -> Result<Option<Path>, Stop> {
        let mut wanted = vec![start_symbol(), error_symbol()];
        wanted.extend((0..self.last).map(step_symbol));
        let error = self.error_here();
        let Some(values) = self.solver.model(&error, &wanted)? else { return Ok(None) };
        let numbers: Vec<usize> = values.iter().map(|value| number(*value)).collect();
        Ok(Some(self.path(numbers[0], numbers[1], &numbers[2..])))
    }

    /// Returns the path with the given numbers of start, error and steps, as one condition over initial values and
    /// choices.
    fn path(&self, start: usize, error: usize, taken: &[usize]) -> Path {
        let model = self.model;
        let start = &model.starts[start];
        let mut steps: Vec<_> = start.edge.clone().into_iter().collect();
        let mut conditions = vec![start.condition.clone()];
        let mut values: BTreeMap<Symbol, Term> =
            start.values.iter().map(|(var, value)| (model.symbol(*var).clone(), value.clone())).collect();
        for (moment, number) in taken.iter().enumerate() {
            let step = self.steps[*number].1;
            let choices: Vec<Symbol> = step.choices.iter().map(|choice| renamed(choice, moment)).collect();
            let mut here = values.clone();
            here.extend(step.choices.iter().cloned().zip(choices.iter().cloned().map(Term::from)));
            conditions.push(step.guard.substitute(&here));
            for (var, update) in &step.updates {
                values.insert(model.symbol(*var).clone(), super::atoms::normal(&update.substitute(&here)));
            }
            steps.push((step.edge, choices));
        }
        let error = &model.errors[error];
        conditions.push(error.condition.substitute(&values));
        steps.extend(error.edge.map(|edge| (edge, error.choices.clone())));
        Path { steps, condition: Term::and(conditions) }
    }
}

fn start_symbol() -> Symbol {
    Symbol::new("start", Sort::Int)
}

fn error_symbol() -> Symbol {
    Symbol::new("error", Sort::Int)
}

fn step_symbol(moment: usize) -> Symbol {
    Symbol::new(&format!("step@{moment}"), Sort::Int)
}

fn renamed(choice: &Symbol, moment: usize) -> Symbol {
    Symbol::new(&format!("{}@{moment}", choice.name), choice.sort)
}

fn number(value: Value) -> usize {
    match value {
        Value::Int(value) => usize::try_from(value).unwrap_or(0),
        Value::Bool(_) | Value::Machine(..) => 0,
    }
}

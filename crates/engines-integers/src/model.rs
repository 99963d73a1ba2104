//! A program as a transition system over terms.
//!
//! A state is a location and a value for each variable. A step is a guard over old values and choices, and new values
//! for some variables. If nothing leads back to the first location and nothing can fail there, its steps only determine
//! the initial states: then their results are the starts, and the first location is not part of the system.

use std::collections::BTreeMap;

use selvedge_check::Task;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, EdgeId, Expr, LocId, Op, Program, Ty, VarId};
use selvedge_logic::smt::{Symbol, Term};

use super::visible;
use crate::terms::{expr, sort, symbol, term};

/// The transition system.
pub(super) struct TransitionModel<'p> {
    pub(super) program: &'p Program,
    /// The variables of the thread, in ascending order.
    pub(super) vars: Vec<VarId>,
    /// The symbol of each variable of the program, by number: its value before a step.
    pub(super) now: Vec<Symbol>,
    pub(super) starts: Vec<SymbolicStart>,
    /// The steps from each location.
    pub(super) steps: BTreeMap<LocId, Vec<SymbolicStep>>,
    pub(super) errors: Vec<ErrorCondition>,
}

/// A start: the variables' values as terms over unknowns, and the condition on these unknowns.
pub(super) struct SymbolicStart {
    pub(super) loc: LocId,
    pub(super) values: BTreeMap<VarId, Term>,
    pub(super) condition: Term,
    /// The step from the first location, if the start is the result of one, with its choices.
    pub(super) edge: Option<(EdgeId, Vec<Symbol>)>,
}

/// A step.
#[derive(Clone)]
pub(super) struct SymbolicStep {
    pub(super) edge: EdgeId,
    pub(super) to: LocId,
    /// The guard, over the symbols of the variables and the choices.
    pub(super) guard: Term,
    pub(super) updates: BTreeMap<VarId, Term>,
    pub(super) choices: Vec<Symbol>,
}

/// A condition under which the program fails.
pub(super) struct ErrorCondition {
    pub(super) loc: LocId,
    /// The assertion; `None` if the location itself is the error.
    pub(super) edge: Option<EdgeId>,
    /// The condition, over the symbols of the variables and the choices.
    pub(super) condition: Term,
    pub(super) choices: Vec<Symbol>,
}

/// Returns symbols for choices.
pub(super) fn symbols(prefix: &str, types: &[Ty]) -> Vec<Symbol> {
    types.iter().enumerate().map(|(number, ty)| Symbol::new(&format!("{prefix}{number}"), sort(*ty))).collect()
}

impl<'p> TransitionModel<'p> {
    /// Builds the system of a task that [`super::supports`] accepts.
    pub(super) fn new(task: &Task<'p>) -> TransitionModel<'p> {
        let program = task.program;
        let mut model = TransitionModel {
            program,
            vars: visible(program).collect(),
            now: program.vars.indices().map(|var| symbol(program, var, "")).collect(),
            starts: Vec::new(),
            steps: BTreeMap::new(),
            errors: Vec::new(),
        };
        let first = program.entries[0].proc;
        for (id, edge) in program.edges.iter_enumerated().filter(|(_, edge)| program.locs[edge.from].proc == first) {
            if let Op::Assert(condition) = &edge.op
                && task.target.has_assert(id)
            {
                let choices = symbols(&format!("e{}c", id.index()), &edge.op.choices());
                let condition = model.term(condition, &choices, &BTreeMap::new()).not();
                model.errors.push(ErrorCondition { loc: edge.from, edge: Some(id), condition, choices });
            }
            if let Some(step) = model.step(id, &edge.op, edge.to) {
                // A step that changes nothing leads to nothing new.
                if edge.from != edge.to || !step.updates.is_empty() {
                    model.steps.entry(edge.from).or_default().push(step);
                }
            }
        }
        let targets = task.target.locs.iter().filter(|loc| program.locs[**loc].proc == first);
        model.errors.extend(targets.map(|loc| ErrorCondition {
            loc: *loc,
            edge: None,
            condition: true.into(),
            choices: Vec::new(),
        }));
        model.starts = model.starts();
        model
    }

    /// Translates a term over the symbols of the variables to an expression, like [`expr`].
    pub(super) fn expr(&self, term: &Term) -> Option<Expr> {
        expr(term, &|symbol| self.now.iter().position(|known| known == symbol).map(VarId::new))
    }

    /// Returns the symbol of a variable.
    pub(super) fn symbol(&self, var: VarId) -> &Symbol {
        &self.now[var.index()]
    }

    /// Returns the steps from a location.
    pub(super) fn from(&self, loc: LocId) -> &[SymbolicStep] {
        self.steps.get(&loc).map_or(&[], Vec::as_slice)
    }

    /// Translates an edge; returns `None` if the thread ends with it.
    fn step(&self, edge: EdgeId, op: &Op, to: LocId) -> Option<SymbolicStep> {
        let choices = symbols(&format!("e{}c", edge.index()), &op.choices());
        let (guard, updates) = match op {
            Op::Assign(assign) => self.assign(assign, &choices),
            Op::Assert(condition) => (self.term(condition, &choices, &BTreeMap::new()), BTreeMap::new()),
            Op::AtomicBegin | Op::AtomicEnd => (true.into(), BTreeMap::new()),
            Op::Return(_) | Op::End => return None,
            Op::Call(_) | Op::Spawn(_) | Op::Fork(_) => unreachable!("programs with calls are not supported"),
        };
        Some(SymbolicStep { edge, to, guard, updates, choices })
    }

    /// Returns the guard and the updates of an assignment.
    fn assign(&self, assign: &Assign, choices: &[Symbol]) -> (Term, BTreeMap<VarId, Term>) {
        let values = assign.active.iter().map(|(var, rhs)| (*var, self.term(rhs, choices, &BTreeMap::new())));
        let values: BTreeMap<VarId, Term> = values.collect();
        let guard = self.term(&assign.constrain, choices, &values);
        let changes = values.into_iter().filter(|(var, value)| *value != self.symbol(*var).clone().into());
        (guard, changes.collect())
    }

    /// Translates a condition on the values before a step.
    pub(super) fn condition(&self, expr: &Expr) -> Term {
        self.term(expr, &[], &BTreeMap::new())
    }

    /// Translates an expression; `next` has the new values of variables that change.
    fn term(&self, expr: &Expr, choices: &[Symbol], next: &BTreeMap<VarId, Term>) -> Term {
        term(expr, &|leaf| match leaf {
            Expr::Var(var) => self.symbol(*var).clone().into(),
            Expr::Next(var) => next.get(var).cloned().unwrap_or_else(|| self.symbol(*var).clone().into()),
            Expr::Choice(number, _) => choices[*number as usize].clone().into(),
            _ => unreachable!("programs with passive variables are not supported"),
        })
    }

    /// Returns the starts at the first location, or those after it.
    fn starts(&mut self) -> Vec<SymbolicStart> {
        let program = self.program;
        let entry = &program.entries[0];
        let loc = program.procs[entry.proc].entry;
        let mut values: BTreeMap<VarId, Term> =
            program.vars.indices().map(|var| (var, self.symbol(var).clone().into())).collect();
        let shared = symbols("init", &choice_types(program.init.iter().map(|(_, rhs)| rhs)));
        for (var, rhs) in &program.init {
            values.insert(*var, self.term(rhs, &shared, &BTreeMap::new()));
        }
        let own = symbols("thread", &choice_types(entry.init.iter().map(|(_, rhs)| rhs)));
        let begun = values.clone();
        for (var, rhs) in &entry.init {
            let value = term(rhs, &|leaf| match leaf {
                Expr::Var(var) => begun[var].clone(),
                Expr::Choice(number, _) => own[*number as usize].clone().into(),
                _ => unreachable!("initial values have no other leaves"),
            });
            values.insert(*var, value);
        }
        values.retain(|var, _| self.vars.contains(var));
        let is_left_for_good = program.edges.iter().all(|edge| edge.to != loc)
            && self.errors.iter().all(|error| error.loc != loc)
            && self.steps.contains_key(&loc);
        if !is_left_for_good {
            return vec![SymbolicStart { loc, values, condition: true.into(), edge: None }];
        }
        let steps = self.steps.remove(&loc).unwrap_or_default();
        let by_symbol = values.iter().map(|(var, value)| (self.symbol(*var).clone(), value.clone())).collect();
        let start = |step: &SymbolicStep| {
            let mut after = values.clone();
            after.extend(step.updates.iter().map(|(var, value)| (*var, value.substitute(&by_symbol))));
            let condition = step.guard.substitute(&by_symbol);
            SymbolicStart { loc: step.to, values: after, condition, edge: Some((step.edge, step.choices.clone())) }
        };
        steps.iter().map(start).collect()
    }
}

//! New predicates from a path that cannot be executed: the conditions from which its rest leads to the error.
//!
//! From the end of the path to its beginning, the comparisons in the conditions of the core are carried over the
//! assignments before them. A comparison may speak of variables of several threads, and of values that were chosen: it
//! is no predicate then, but it is carried on, since the assignments before may give it a simpler form. A value that is
//! chosen is replaced where the comparisons say what it is equal to, or lies between.

use selvedge_ir::simplify::substitute;
use selvedge_ir::visit::reads;
use selvedge_ir::{BinaryOp, EdgeId, Expr, MachineOp, Op, Scope, VarId};

use super::atoms::{atom, atoms};
use super::model::Model;
use super::path::{Path, PathStep};
use super::predicate::Predicates;

/// The most comparisons that are carried at a time.
const MOST_CARRIED: usize = 60;

/// Adds the predicates of a path of whose steps some exclude each other. Returns whether there are new ones.
pub(super) fn refine(model: &Model<'_>, path: &Path, core: &[usize], predicates: &mut Predicates<'_>) -> bool {
    let mut carrier = Carrier { model, carried: Vec::new(), n_choices: 0 };
    let mut is_new = false;
    let last = core.last().map_or(0, |last| last + 1);
    for (number, step) in path.steps[..last].iter().enumerate().rev() {
        carrier.over(*step);
        if core.contains(&number) {
            for condition in model.conditions(step.edge) {
                let condition = carrier.named(&condition, step.thread);
                carrier.take(&condition);
            }
        }
        carrier.n_choices += model.program.edges[step.edge].op.choices().len() as u32;
        carrier.tidy();
        for atom in carrier.predicates() {
            is_new |= predicates.add_atoms(&atom);
        }
    }
    is_new
}

/// Returns a step whose condition has the form of a constant if it is carried to the start: the condition alone
/// excludes the path. This finds quickly what is hard for a solver, such as sums in another order.
pub(super) fn refuted_by_form(model: &Model<'_>, path: &Path) -> Option<usize> {
    (0..path.steps.len()).rev().find(|number| {
        let wanted = !(path.fails && number + 1 == path.steps.len());
        let conditions = model.conditions(path.steps[*number].edge);
        // The negation of one condition is looked at, not that of several.
        (wanted || conditions.len() == 1)
            && conditions.iter().any(|condition| {
                let mut carrier = Carrier { model, carried: Vec::new(), n_choices: 0 };
                carrier.constant(path, *number, condition) == Some(!wanted)
            })
    })
}

struct Carrier<'m> {
    model: &'m Model<'m>,
    /// The comparisons. Locals have numbers behind those of all variables, other ones for each thread.
    carried: Vec<Expr>,
    /// The number of the first choice of the step that is looked at.
    n_choices: u32,
}

impl Carrier<'_> {
    fn n_vars(&self) -> usize {
        self.model.program.vars.len()
    }

    /// Names a variable of a thread.
    fn name(&self, var: VarId, thread: usize) -> VarId {
        match self.model.program.vars[var].scope {
            Scope::Shared => var,
            Scope::Thread | Scope::Local(_) => VarId::new(self.n_vars() * (thread + 1) + var.index()),
        }
    }

    /// Returns the variable with a name, and its thread if it is not shared.
    fn unnamed(&self, name: VarId) -> (VarId, Option<usize>) {
        (VarId::new(name.index() % self.n_vars()), (name.index() / self.n_vars()).checked_sub(1))
    }

    /// Returns an expression of a step with the names of its thread's variables, and numbers of its own for choices.
    fn named(&self, expr: &Expr, thread: usize) -> Expr {
        expr.map_leaves(&mut |leaf| match leaf {
            Expr::Var(var) => Expr::Var(self.name(*var, thread)),
            Expr::Choice(number, ty) => Expr::Choice(self.n_choices + number, *ty),
            leaf => leaf.clone(),
        })
    }

    /// Carries the condition of a step to the start, where it may be a constant.
    fn constant(&mut self, path: &Path, number: usize, condition: &Expr) -> Option<bool> {
        let program = self.model.program;
        let types = |name: VarId| program.vars[VarId::new(name.index() % program.vars.len())].ty;
        let mut carried = atom(&self.named(condition, path.steps[number].thread), &types)?;
        for step in path.steps[..number].iter().rev() {
            self.n_choices += program.edges[step.edge].op.choices().len() as u32 + 1;
            let assigned = self.assigned(step.edge, step.thread, step.child);
            if assigned.is_empty() {
                continue;
            }
            carried = atom(&replaced(&carried, &assigned), &types)?;
        }
        match atom(&replaced(&carried, &program.init), &types)? {
            Expr::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Adds the comparisons of a condition.
    fn take(&mut self, condition: &Expr) {
        let vars = &self.model.program.vars;
        atoms(condition, &|name| vars[VarId::new(name.index() % vars.len())].ty, &mut self.carried);
    }

    /// Carries the comparisons over what a step assigns.
    fn over(&mut self, step: PathStep) {
        let assigned = self.assigned(step.edge, step.thread, step.child);
        if assigned.is_empty() {
            return;
        }
        let before: Vec<Expr> = self.carried.iter().map(|atom| replaced(atom, &assigned)).collect();
        self.carried.clear();
        before.iter().for_each(|atom| self.take(atom));
    }

    /// Returns the names that a step gives values to, with the values.
    fn assigned(&self, edge: EdgeId, thread: usize, child: Option<usize>) -> Vec<(VarId, Expr)> {
        let program = self.model.program;
        match (&program.edges[edge].op, child) {
            (Op::Assign(assign), _) => {
                let value = |(var, rhs): &(VarId, Expr)| (self.name(*var, thread), self.named(rhs, thread));
                assign.active.iter().map(value).collect()
            }
            (Op::Spawn(spawn), Some(child)) => {
                let pairs = program.procs[spawn.callee].params.iter().zip(&spawn.args);
                pairs.map(|(param, arg)| (self.name(*param, child), self.named(arg, thread))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Removes repetitions and chosen values.
    fn tidy(&mut self) {
        let mut seen: Vec<Expr> = Vec::new();
        for atom in std::mem::take(&mut self.carried) {
            if !seen.contains(&atom) {
                seen.push(atom);
            }
        }
        seen.truncate(MOST_CARRIED);
        self.carried = seen;
        let mut choices: Vec<Expr> = Vec::new();
        for atom in &self.carried {
            atom.for_each_leaf(|leaf| {
                if matches!(leaf, Expr::Choice(..)) && !choices.contains(leaf) {
                    choices.push(leaf.clone());
                }
            });
        }
        choices.iter().for_each(|choice| self.eliminate(choice));
    }

    /// Replaces a chosen value by what it is equal to, or by the comparisons of what it lies between.
    fn eliminate(&mut self, choice: &Expr) {
        let (with, without): (Vec<Expr>, Vec<Expr>) =
            std::mem::take(&mut self.carried).into_iter().partition(|atom| atom.any_leaf(|leaf| leaf == choice));
        self.carried = without;
        let value = with.iter().find_map(|atom| match atom {
            Expr::Binary(BinaryOp::Eq, pair) if pair.0 == *choice => Some(pair.1.clone()),
            Expr::Binary(BinaryOp::Eq, pair) if pair.1 == *choice => Some(pair.0.clone()),
            _ => None,
        });
        if let Some(value) = value.filter(|value| !value.any_leaf(|leaf| leaf == choice)) {
            for atom in &with {
                let replaced = substitute(atom, &mut |leaf| if leaf == choice { value.clone() } else { leaf.clone() });
                self.take(&replaced);
            }
            return;
        }
        let compared = |atom: &Expr| match atom {
            Expr::Binary(BinaryOp::Machine(MachineOp::Lt, ty), pair) if pair.0 == *choice => {
                Some((*ty, pair.1.clone()))
            }
            Expr::Binary(BinaryOp::Machine(MachineOp::Lt, ty), pair) if pair.1 == *choice => {
                Some((*ty, pair.0.clone()))
            }
            _ => None,
        };
        let bounds: Vec<_> = with.iter().filter_map(compared).collect();
        for (number, (ty, one)) in bounds.iter().enumerate() {
            for (_, other) in bounds[number + 1..].iter().filter(|(known, _)| known == ty) {
                for (left, right) in [(one, other), (other, one)] {
                    let less = Expr::binary(BinaryOp::Machine(MachineOp::Lt, *ty), left.clone(), right.clone());
                    self.take(&less);
                }
            }
        }
    }

    /// Returns the comparisons that speak of shared variables and those of at most one thread, as conditions of the
    /// procedure that it runs.
    fn predicates(&self) -> Vec<Expr> {
        let local = |atom: &Expr| -> Option<Expr> {
            let mut threads: Vec<usize> = reads(atom).into_iter().filter_map(|name| self.unnamed(name).1).collect();
            threads.dedup();
            (threads.len() <= 1).then(|| {
                atom.map_leaves(&mut |leaf| match leaf {
                    Expr::Var(name) => Expr::Var(self.unnamed(*name).0),
                    leaf => leaf.clone(),
                })
            })
        };
        self.carried.iter().filter_map(local).collect()
    }
}

/// Returns an expression with values in the place of variables.
fn replaced(expr: &Expr, values: &[(VarId, Expr)]) -> Expr {
    substitute(expr, &mut |leaf| {
        let known = values.iter().find(|(name, _)| *leaf == Expr::Var(*name));
        known.map_or_else(|| leaf.clone(), |(_, value)| value.clone())
    })
}

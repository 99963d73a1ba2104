//! Edges as relations.

use selvedge_ir::{Assign, Call, Expr, ProcId, Program, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, VarSet};

use crate::step::diagram::expr;
use crate::step::diagram::relation::Layout;

pub use crate::step::diagram::relation::Step;

use super::layout::{PathLayout, When};

impl PathLayout {
    /// Encodes an expression in a state, over its choices.
    pub fn expr_in(&self, expr: &Expr, state: &dyn Fn(&Expr) -> bool) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            leaf => Ok(self.manager.constant(state(leaf))),
        })
    }

    /// Returns the condition of an assignment. There are no other threads, so passive conditions hold. A variable that
    /// the step does not assign keeps its value.
    pub fn constrain<'c>(&self, assign: &'c Assign) -> std::borrow::Cow<'c, Expr> {
        use std::borrow::Cow;
        if assign.constrain.is_passive() {
            return Cow::Owned(Expr::TRUE);
        }
        let assigned = |var: &VarId| assign.active.iter().any(|(target, _)| target == var);
        if assign.constrain.any_leaf(|leaf| matches!(leaf, Expr::Next(var) if !assigned(var))) {
            return Cow::Owned(assign.constrain.map_leaves(&mut |leaf| match leaf {
                Expr::Next(var) if !assigned(var) => Expr::Var(*var),
                leaf => leaf.clone(),
            }));
        }
        Cow::Borrowed(&assign.constrain)
    }

    /// Returns the step of an assignment, its choices forgotten.
    pub fn assignment(&self, assign: &Assign) -> Result<Step, OutOfNodes> {
        self.step(self.moved((), assign, &|_| false)?, assign.active.iter().map(|(var, _)| *var))
    }

    /// Returns the step with a relation between the values now and the next ones of the assigned variables.
    fn step(&self, relation: Bdd, targets: impl Iterator<Item = VarId> + Clone) -> Result<Step, OutOfNodes> {
        let now = self.vars(targets.clone(), When::Now);
        let next = self.vars(targets, When::Next);
        let pairs: Vec<_> = next.into_iter().zip(now.iter().copied()).collect();
        let forget = self.manager.var_set(&now)?;
        Ok(Step { relation, forget, rename: self.manager.renaming(&pairs) })
    }

    /// Returns the values of arguments, as next values of the callee's parameters.
    pub fn arguments(&self, program: &Program, call: &Call) -> Result<Bdd, OutOfNodes> {
        let params = program.procs[call.callee].params.iter();
        let parts = params.zip(&call.args).map(|(param, arg)| self.equation(self.var(*param, When::Next), (), arg));
        self.conjoined(parts.collect::<Result<_, _>>()?, &|_| false)
    }

    /// Returns the way from path edges of the caller, with the arguments conjoined, to states at the callee's entry.
    pub fn entering(
        &self,
        program: &Program,
        caller: ProcId,
        callee: ProcId,
    ) -> Result<(VarSet, Renaming), OutOfNodes> {
        let (scope, params) = (&self.scopes[callee], &program.procs[callee].params);
        let kept = |var: &VarId| scope.globals.contains(var);
        let gone = self.visible(program, caller).into_iter().filter(|var| !kept(var));
        let entry = self.scopes[caller].with_entry_copy();
        let forget: Vec<_> = self.vars(gone, When::Now).into_iter().chain(self.vars(entry, When::Entry)).collect();
        let pairs: Vec<_> =
            params.iter().map(|param| (self.var(*param, When::Next), self.var(*param, When::Now))).collect();
        Ok((self.manager.var_set(&forget)?, self.manager.renaming(&pairs)))
    }

    /// Requires that the values at the entry and now are the same, for all variables with an entry copy.
    pub fn identity(&self, proc: ProcId) -> Result<Bdd, OutOfNodes> {
        let pair = |var: VarId| (self.var(var, When::Entry), self.var(var, When::Now));
        let pairs: Vec<_> = self.scopes[proc].with_entry_copy().map(pair).collect();
        self.manager.equal(&pairs)
    }

    /// Returns the step from path edges before a return to a summary: globals at the entry now, parameters next;
    /// globals at the return next; the returned values.
    pub fn returning(&self, program: &Program, proc: ProcId, values: &[Expr]) -> Result<Step, OutOfNodes> {
        let (scope, this) = (&self.scopes[proc], &program.procs[proc]);
        let parts = self.results.iter().zip(values).map(|(result, value)| self.equation(*result, (), value));
        let relation = self.conjoined(parts.collect::<Result<_, _>>()?, &|_| false)?;
        let fixed_param = |var: &VarId| this.params.contains(var) && !scope.modified_params.contains(var);
        let forget = self.vars(this.locals.iter().copied().filter(|var| !fixed_param(var)), When::Now);
        let mut pairs = Vec::new();
        for var in &scope.modified {
            pairs.push((self.var(*var, When::Entry), self.var(*var, When::Now)));
            pairs.push((self.var(*var, When::Now), self.var(*var, When::Next)));
        }
        for var in &this.params {
            let from = if scope.modified_params.contains(var) { When::Entry } else { When::Now };
            pairs.push((self.var(*var, from), self.var(*var, When::Next)));
        }
        Ok(Step { relation, forget: self.manager.var_set(&forget)?, rename: self.manager.renaming(&pairs) })
    }

    /// Returns the way from path edges at a call, with the arguments and a summary conjoined, to path edges after it.
    pub fn after_call(&self, program: &Program, call: &Call) -> Result<(VarSet, Renaming), OutOfNodes> {
        let modified = &self.scopes[call.callee].modified;
        let written: Vec<VarId> = call.results.iter().flatten().copied().collect();
        let lost = modified.iter().chain(&written).copied();
        let mut forget = self.vars(lost, When::Now);
        forget.extend(self.vars(modified.iter().copied().filter(|var| written.contains(var)), When::Next));
        forget.extend(self.vars(program.procs[call.callee].params.iter().copied(), When::Next));
        let kept = modified.iter().filter(|var| !written.contains(var));
        let mut pairs: Vec<_> = kept.map(|var| (self.var(*var, When::Next), self.var(*var, When::Now))).collect();
        for (result, var) in self.results.iter().zip(&call.results) {
            match var {
                Some(var) => pairs.push((*result, self.var(*var, When::Now))),
                None => forget.push(*result),
            }
        }
        Ok((self.manager.var_set(&forget)?, self.manager.renaming(&pairs)))
    }
}

/// Converts a truth value to a value of the program.
pub fn value(truth: bool) -> Value {
    Value::Bool(truth)
}

//! Edges as relations.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::{Assign, Call, Expr, ProcId, Program, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, Var, VarSet};

use crate::step::diagram::expr;

use super::layout::{Layout, When};

/// What becomes of a path edge along an edge of the program: conjoin `relation`, forget `forget`, rename.
pub struct Step {
    pub relation: Bdd,
    pub forget: VarSet,
    pub rename: Renaming,
}

impl Step {
    pub fn image(&self, from: &Bdd) -> Result<Bdd, OutOfNodes> {
        from.and_exists(&self.relation, &self.forget)?.rename(&self.rename)
    }
}

impl Layout {
    /// The diagram of an expression with variables and choices as they are.
    pub fn expr(&self, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.manager.var(self.var(*var, When::Now)),
            Expr::Next(var) => self.manager.var(self.var(*var, When::Next)),
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("all other leaves are constants"),
        })
    }

    /// The diagram of an expression in a state, over its choices.
    pub fn expr_in(&self, expr: &Expr, state: &dyn Fn(&Expr) -> bool) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            leaf => Ok(self.manager.constant(state(leaf))),
        })
    }

    /// The condition of an assignment. Without other threads passive conditions hold. A variable that the step does not
    /// assign keeps its value.
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

    /// The relation of an assignment, its choices forgotten.
    pub fn assignment(&self, assign: &Assign) -> Result<Step, OutOfNodes> {
        let condition = self.constrain(assign);
        let part = |condition: &Expr| Ok(Part { diagram: self.expr(condition)?, choices: choices(condition) });
        let mut parts = condition
            .conjuncts()
            .into_iter()
            .filter(|part| **part != Expr::TRUE)
            .map(part)
            .collect::<Result<Vec<_>, _>>()?;
        for (var, rhs) in &assign.active {
            if !is_free(assign, rhs) {
                parts.push(self.equation(self.var(*var, When::Next), rhs)?);
            }
        }
        self.step(self.conjoined(parts)?, assign.active.iter().map(|(var, _)| *var))
    }

    /// A variable has the value of an expression.
    fn equation(&self, var: Var, value: &Expr) -> Result<Part, OutOfNodes> {
        let diagram = self.manager.var(var)?.iff(&self.expr(value)?)?;
        Ok(Part { diagram, choices: choices(value) })
    }

    /// The conjunction of all parts, their choices forgotten.
    ///
    /// A choice is forgotten as soon as the parts in which it occurs are conjoined, and most choices occur in one part
    /// only. Conjoined at once, the parts of an assignment of many nondeterministic values would have one diagram below
    /// the variables for each valuation of the choices. What is left is conjoined from the bottom of the order up.
    fn conjoined(&self, mut parts: Vec<Part>) -> Result<Bdd, OutOfNodes> {
        while let Some(choice) = rarest_choice(&parts) {
            let (with, without) = parts.into_iter().partition(|part: &Part| part.choices.contains(&choice));
            parts = without;
            let forget = self.manager.var_set(&[self.choices[choice as usize]])?;
            parts.push(self.without_choice(with, choice, &forget)?);
        }
        let top = |part: &Part| part.diagram.decision().map(|(var, ..)| var);
        parts.sort_by_cached_key(|part| std::cmp::Reverse(top(part)));
        parts.iter().try_fold(self.manager.top(), |all, part| part.diagram.and(&all))
    }

    /// Conjoins the parts in which a choice occurs and forgets it.
    fn without_choice(&self, parts: Vec<Part>, choice: u32, forget: &VarSet) -> Result<Part, OutOfNodes> {
        let mut choices = BTreeSet::new();
        let mut all = self.manager.top();
        let last = parts.len().saturating_sub(1);
        for (place, part) in parts.iter().enumerate() {
            all = if place == last { all.and_exists(&part.diagram, forget)? } else { all.and(&part.diagram)? };
            choices.extend(part.choices.iter().copied().filter(|other| *other != choice));
        }
        Ok(Part { diagram: all, choices })
    }

    /// A relation between the values now and the next ones of the assigned variables.
    fn step(&self, relation: Bdd, targets: impl Iterator<Item = VarId> + Clone) -> Result<Step, OutOfNodes> {
        let now = self.vars(targets.clone(), When::Now);
        let next = self.vars(targets, When::Next);
        let pairs: Vec<_> = next.into_iter().zip(now.iter().copied()).collect();
        let forget = self.manager.var_set(&now)?;
        Ok(Step { relation, forget, rename: self.manager.renaming(&pairs) })
    }

    /// The values of arguments: those of the callee's parameters next.
    pub fn arguments(&self, program: &Program, call: &Call) -> Result<Bdd, OutOfNodes> {
        let params = program.procs[call.callee].params.iter();
        let parts = params.zip(&call.args).map(|(param, arg)| self.equation(self.var(*param, When::Next), arg));
        self.conjoined(parts.collect::<Result<_, _>>()?)
    }

    /// From path edges of the caller, with the arguments conjoined, to states at the callee's entry.
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

    /// The values at the entry and now are the same, for all variables with an entry copy.
    pub fn identity(&self, proc: ProcId) -> Result<Bdd, OutOfNodes> {
        let pair = |var: VarId| (self.var(var, When::Entry), self.var(var, When::Now));
        let pairs: Vec<_> = self.scopes[proc].with_entry_copy().map(pair).collect();
        self.manager.equal(&pairs)
    }

    /// From path edges before a return to a summary: globals at the entry now, parameters next; globals at the return
    /// next; the returned values.
    pub fn returning(&self, program: &Program, proc: ProcId, values: &[Expr]) -> Result<Step, OutOfNodes> {
        let (scope, this) = (&self.scopes[proc], &program.procs[proc]);
        let parts = self.results.iter().zip(values).map(|(result, value)| self.equation(*result, value));
        let relation = self.conjoined(parts.collect::<Result<_, _>>()?)?;
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

    /// From path edges at a call, with the arguments and a summary conjoined, to path edges behind it.
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

/// A conjunct of a relation, with the choices that may occur in it.
struct Part {
    diagram: Bdd,
    choices: BTreeSet<u32>,
}

/// The numbers of the choices in an expression.
fn choices(expr: &Expr) -> BTreeSet<u32> {
    let mut choices = BTreeSet::new();
    expr.for_each_leaf(|leaf| {
        if let Expr::Choice(number, _) = leaf {
            choices.insert(*number);
        }
    });
    choices
}

/// The choice that occurs in the fewest parts.
fn rarest_choice(parts: &[Part]) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for choice in parts.iter().flat_map(|part| &part.choices) {
        *counts.entry(*choice).or_default() += 1;
    }
    counts.into_iter().min_by_key(|(_, count)| *count).map(|(choice, _)| choice)
}

/// Whether a right-hand side is a choice that occurs nowhere else, so that the assigned variable gets any value.
fn is_free(assign: &Assign, rhs: &Expr) -> bool {
    let Expr::Choice(number, _) = rhs else { return false };
    let mut uses = 0;
    let mut count = |expr: &Expr| {
        expr.for_each_leaf(|leaf| uses += u32::from(matches!(leaf, Expr::Choice(other, _) if other == number)))
    };
    assign.active.iter().for_each(|(_, rhs)| count(rhs));
    count(&assign.constrain);
    uses == 1
}

/// A truth value of the program as one.
pub fn value(truth: bool) -> Value {
    Value::Bool(truth)
}

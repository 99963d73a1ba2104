//! Lowering of `constrain(e);`: an assumption, or the relational update of Getafix.
//!
//! A relational update says with `e` which values the variables in scope have after the step. It becomes one parallel
//! assignment with `e` as its constraint, in which every variable in scope gets a choice of its own. Those parts of the
//! conjunction `e` that define a new value (`'x = e1`, `'x`, `!'x`) become the assignment of that value instead, and a
//! variable with `'x = x` is not assigned at all. This is the same relation: the choice of `x` had no other value that
//! satisfies the part. It spares the engines most of the choices.

use rustc_hash::FxHashMap;
use selvedge_ir::span::{Origin, Span};
use selvedge_ir::{Assign, BinaryOp, Expr, LocId, Scope, UnaryOp, VarId};

use super::body::Body;
use super::expr::{Context, ExprCx};
use super::{Lowering, Shape, View};
use crate::bp::Dialect;
use crate::bp::ast::{self, ExprKind};
use crate::diagnostic::{Code, Diagnostic};

/// Limit on the number of variables in all relational updates of a program.
const MAX_UPDATED: usize = 4_000_000;

impl Body<'_, '_> {
    /// Lowers `constrain(e);`.
    pub(super) fn constrain(&mut self, condition: &ast::Expr, from: LocId, to: LocId, origin: Origin) {
        let Some(prime) = first_prime(condition) else {
            return self.assume(Context::Passive, condition, from, to, origin);
        };
        if self.low.dialect == Dialect::Getafix {
            return self.relation(condition, from, to, origin);
        }
        let message = "new values in a `constrain` statement, which would be an assumption about old ones";
        let help =
            "use `--dialect getafix` if this is a program for Getafix, or write an assignment: `x := * constrain ..`";
        self.low.report(Diagnostic::new(Code::RelationalUpdate, message, prime).help(help));
    }

    fn relation(&mut self, condition: &ast::Expr, from: LocId, to: LocId, origin: Origin) {
        let mut cx = ExprCx::new(&self.view);
        let relation = self.low.expr(&mut cx, Context::Relation, condition);
        let in_scope = self.low.variables_in_scope(&self.view);
        if in_scope.iter().any(|var| self.low.shape(*var) != Shape::default()) {
            let message = "a relational update beside numbers or arrays";
            return self.low.report(Diagnostic::new(Code::Unsupported, message, origin.span));
        }
        self.low.n_updated += in_scope.len();
        if self.low.n_updated > MAX_UPDATED {
            let message = "too many variables in all `constrain` statements with new values";
            return self.low.report(Diagnostic::new(Code::BeyondLimit, message, origin.span));
        }
        let (mut defined, constrain) = split(relation);
        let mut active = Vec::with_capacity(in_scope.len());
        for var in in_scope {
            let value = defined.remove(&var).unwrap_or_else(|| cx.choice());
            if value != Expr::Var(var) {
                active.push((var, value));
            }
        }
        let n_choices = cx.n_choices;
        self.update(from, to, Assign { active, constrain, ..Assign::skip() }, n_choices, origin);
    }
}

impl Lowering<'_> {
    /// Returns the variables that a name can refer to, in the order of their declaration.
    fn variables_in_scope(&self, view: &View) -> Vec<VarId> {
        let of_process = view.process.map(|process| &self.tables.processes[process].vars);
        let tables = [Some(&view.locals), of_process, Some(&self.tables.vars)];
        let symbols = tables.into_iter().flatten().flat_map(|table| table.keys());
        let mut vars: Vec<VarId> = symbols.filter_map(|symbol| self.lookup(view, *symbol)).collect();
        vars.retain(|var| !view.is_prelude || self.scope(*var) != Scope::Thread);
        vars.sort_unstable();
        vars.dedup();
        vars
    }
}

/// Returns the position of the first primed name.
pub(super) fn first_prime(expr: &ast::Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Primed(_) => Some(expr.span),
        ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Choice | ExprKind::Var(_) | ExprKind::Error => None,
        ExprKind::Element(element) if element.is_primed => Some(expr.span),
        ExprKind::Element(element) => first_prime(&element.index),
        ExprKind::Sum(first, others) => {
            first_prime(first).or_else(|| others.iter().find_map(|(_, operand)| first_prime(operand)))
        }
        ExprKind::Not(operand) | ExprKind::Remainder(operand, _) => first_prime(operand),
        ExprKind::Chain(_, operands) => operands.iter().find_map(first_prime),
        ExprKind::Compare(_, pair) | ExprKind::Order(_, pair) | ExprKind::Schoose(pair) => {
            first_prime(&pair.0).or_else(|| first_prime(&pair.1))
        }
        ExprKind::Conditional(triple) => {
            first_prime(&triple.0).or_else(|| first_prime(&triple.1)).or_else(|| first_prime(&triple.2))
        }
    }
}

/// Splits a conjunction into the new values that it defines and the rest. The first definition of a variable counts; a
/// further one remains a condition.
fn split(relation: Expr) -> (FxHashMap<VarId, Expr>, Expr) {
    let (mut defined, mut rest) = (FxHashMap::default(), Vec::new());
    let mut parts = vec![relation];
    while let Some(part) = parts.pop() {
        match part {
            Expr::Binary(BinaryOp::And, pair) => {
                let (left, right) = *pair;
                parts.extend([right, left]);
            }
            part => match definition(&part) {
                Some((var, value)) if !defined.contains_key(&var) => {
                    defined.insert(var, value);
                }
                _ => rest.push(part),
            },
        }
    }
    (defined, Expr::balanced(BinaryOp::And, rest).unwrap_or(Expr::TRUE))
}

/// Returns the variable and its new value, if a condition is that they are equal and the value reads no new ones.
fn definition(part: &Expr) -> Option<(VarId, Expr)> {
    match part {
        Expr::Next(var) => Some((*var, Expr::TRUE)),
        Expr::Unary(UnaryOp::Not, operand) => match &**operand {
            Expr::Next(var) => Some((*var, Expr::FALSE)),
            _ => None,
        },
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), pair) => {
            let (var, value) = match &**pair {
                (Expr::Next(var), value) if !reads_new(value) => (*var, value),
                (value, Expr::Next(var)) if !reads_new(value) => (*var, value),
                _ => return None,
            };
            let value = value.clone();
            Some((var, if *op == BinaryOp::Eq { value } else { Expr::negate(value) }))
        }
        _ => None,
    }
}

fn reads_new(expr: &Expr) -> bool {
    matches!(expr, Expr::Next(_)) || expr.operands().any(reads_new)
}

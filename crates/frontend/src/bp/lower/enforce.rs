//! The `enforce` clause of a procedure: every step of a thread inside it leads to a state in which the clause can hold.
//!
//! An assignment has the clause, over new values, in its condition, unless that is a condition on other threads, which
//! holds if the thread is alone. Every other step *ensures* it ([`selvedge_ir::Edge::ensures`]), over the values after
//! it; that of a call is its return. What a step ensures makes no choices, so the choices of the clause are resolved
//! before ([`possible`]): it must be possible that it holds.

use selvedge_ir::simplify::{and, not, size};
use selvedge_ir::span::{Origin, Span};
use selvedge_ir::{Assign, BinaryOp, Edge, Expr, LocId, Op, UnaryOp};

use super::body::Body;
use super::expr::{Context, ExprCx};
use crate::bp::ast::StmtKind;
use crate::diagnostic::{Code, Diagnostic};

/// Limit on the total number of nodes of the copies of `enforce` clauses.
const MAX_ENFORCED: usize = 4_000_000;

/// The condition that must be possible after every step.
pub(super) struct Enforce {
    /// The condition over old values, with choices numbered from zero.
    pub(super) expr: Expr,
    /// The same without choices: where they can be made so that it holds.
    possible: Expr,
    size: usize,
    pub(super) span: Span,
}

impl Body<'_, '_> {
    /// Returns the conjunction of all `enforce` clauses, unless it is trivial.
    pub(super) fn read_enforce(&mut self) -> Option<Enforce> {
        let mut found: Option<(Expr, Span)> = None;
        let mut cx = ExprCx::new(&self.view);
        for stmt in &self.unit.body.stmts {
            let StmtKind::Enforce(condition) = &stmt.kind else { continue };
            let expr = self.low.expr(&mut cx, Context::Plain, condition);
            if !cx.checks.is_empty() {
                let message = "an index that may leave its array in an `enforce` clause";
                self.low.report(Diagnostic::new(Code::Unsupported, message, condition.span));
            }
            self.low.check_choices(cx.n_choices, condition.span);
            let (before, span) = found.map_or((Expr::TRUE, stmt.span), |(before, span)| (before, span.to(stmt.span)));
            found = Some((Expr::and(before, expr), span));
        }
        let (expr, span) = found.filter(|(expr, _)| *expr != Expr::TRUE)?;
        let Some((possible, _)) = possible(&expr).map(Possible::sides) else {
            self.too_much_enforced(span);
            return None;
        };
        let size = size(&expr).max(size(&possible));
        Some(Enforce { expr, possible, size, span })
    }

    /// Adds an edge that respects the `enforce` clause.
    pub(super) fn step(&mut self, from: LocId, to: LocId, op: Op, n_choices: u32, origin: Origin) {
        self.low.check_choices(n_choices, origin.span);
        let Some(enforce) = &self.enforce else { return self.edge(from, to, op, origin) };
        self.low.enforced_nodes += enforce.size;
        if self.low.enforced_nodes > MAX_ENFORCED {
            let span = enforce.span;
            self.low.enforced_nodes = 0;
            self.enforce = None;
            return self.too_much_enforced(span);
        }
        let edge = match op {
            Op::Assign(assign) if assign.constrain.is_passive() => {
                let Some(ensures) = before_step(&enforce.possible, &assign) else {
                    return self.cannot_enforce(origin.span);
                };
                Edge { from, to, op: Op::Assign(assign), ensures }
            }
            Op::Assign(mut assign) => {
                assign.constrain = Expr::and(assign.constrain, after_step(&enforce.expr, n_choices));
                Edge::new(from, to, Op::Assign(assign))
            }
            op => Edge { from, to, op, ensures: enforce.possible.clone() },
        };
        self.add_edge(edge, origin);
    }

    fn cannot_enforce(&mut self, span: Span) {
        let message = "an arbitrary value and a condition on other threads, in a procedure with `enforce`";
        let help = "assign the value in a statement of its own";
        self.low.report(Diagnostic::new(Code::Unsupported, message, span).help(help));
    }

    fn too_much_enforced(&mut self, span: Span) {
        let message = "this clause is too large for the number of statements to which it applies";
        self.low.report(Diagnostic::new(Code::BeyondLimit, message, span));
    }
}

/// Returns a clause about the values after an assignment over those before it; `None` if it depends on choices of the
/// assignment.
fn before_step(clause: &Expr, assign: &Assign) -> Option<Expr> {
    let before = clause.map_leaves(&mut |leaf| match leaf {
        Expr::Var(var) => assign.active.iter().find(|(target, _)| target == var).map_or(leaf, |(_, rhs)| rhs).clone(),
        other => other.clone(),
    });
    let chooses = before.any_leaf(|leaf| matches!(leaf, Expr::Choice(..)));
    (!chooses).then_some(before)
}

/// Returns the clause over new values, with choices that begin at `n_choices`.
fn after_step(clause: &Expr, n_choices: u32) -> Expr {
    clause.map_leaves(&mut |leaf| match leaf {
        Expr::Var(var) => Expr::Next(*var),
        Expr::Choice(number, ty) => Expr::Choice(number + n_choices, *ty),
        other => other.clone(),
    })
}

/// The values that an expression can have, over all ways to make its choices.
#[derive(Clone)]
enum Possible {
    /// That of this expression: it makes no choices.
    Known(Expr),
    /// True and false, each where an expression without choices says so.
    Open { truth: Expr, falsehood: Expr },
}

impl Possible {
    /// Returns where the expression can be true, and where it can be false.
    fn sides(self) -> (Expr, Expr) {
        match self {
            Possible::Known(expr) => (expr.clone(), not(expr)),
            Possible::Open { truth, falsehood } => (truth, falsehood),
        }
    }

    fn negated(self) -> Possible {
        match self {
            Possible::Known(expr) => Possible::Known(not(expr)),
            Possible::Open { truth, falsehood } => Possible::Open { truth: falsehood, falsehood: truth },
        }
    }

    fn both(self, other: Possible) -> Possible {
        let ((left, not_left), (right, not_right)) = (self.sides(), other.sides());
        Possible::Open { truth: and(left, right), falsehood: or(not_left, not_right) }
    }

    /// Returns the values of `self ^ other`, unless they have more nodes than the limit.
    fn differ(self, other: Possible) -> Option<Possible> {
        let ((left, not_left), (right, not_right)) = (self.sides(), other.sides());
        let falsehood = or(and(left.clone(), right.clone()), and(not_left.clone(), not_right.clone()));
        let truth = or(and(left, not_right), and(not_left, right));
        (size(&truth) <= MAX_ENFORCED).then_some(Possible::Open { truth, falsehood })
    }

    /// Returns the values of an operator.
    fn binary(op: BinaryOp, left: Possible, right: Possible) -> Option<Possible> {
        Some(match (op, left, right) {
            (op, Possible::Known(left), Possible::Known(right)) => Possible::Known(Expr::binary(op, left, right)),
            (BinaryOp::And, left, right) => left.both(right),
            (BinaryOp::Or, left, right) => left.negated().both(right.negated()).negated(),
            (BinaryOp::Implies, left, right) => left.both(right.negated()).negated(),
            (BinaryOp::Eq, left, right) => left.differ(right)?.negated(),
            (_, left, right) => left.differ(right)?,
        })
    }
}

/// Computes the values that an expression can have; `None` if they need too many nodes.
///
/// Each choice of the language is made in one place, so the choices of two operands are made independently of each
/// other, and the values of an operator follow from those of its operands.
fn possible(expr: &Expr) -> Option<Possible> {
    match expr {
        Expr::Choice(..) => Some(Possible::Open { truth: Expr::TRUE, falsehood: Expr::TRUE }),
        Expr::Unary(UnaryOp::Not, operand) => possible(operand).map(Possible::negated),
        Expr::Binary(op, pair) => Possible::binary(*op, possible(&pair.0)?, possible(&pair.1)?),
        Expr::Ite(triple) => {
            let (condition, then, otherwise) = (possible(&triple.0)?, possible(&triple.1)?, possible(&triple.2)?);
            let (holds, fails) = condition.sides();
            let ((then, not_then), (otherwise, not_otherwise)) = (then.sides(), otherwise.sides());
            let truth = or(and(holds.clone(), then), and(fails.clone(), otherwise));
            let falsehood = or(and(holds, not_then), and(fails, not_otherwise));
            (size(&truth) <= MAX_ENFORCED).then_some(Possible::Open { truth, falsehood })
        }
        leaf => Some(Possible::Known(leaf.clone())),
    }
}

fn or(left: Expr, right: Expr) -> Expr {
    not(and(not(left), not(right)))
}

#[cfg(test)]
mod tests {
    use selvedge_ir::{Value, VarId};

    use super::*;

    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::binary(op, left, right)
    }

    /// Returns the value of an expression, with bits for the variable and the choices.
    fn value(expr: &Expr, bits: u32) -> bool {
        let leaf = |leaf: &Expr| match leaf {
            Expr::Var(_) => Value::Bool(bits & 1 == 1),
            Expr::Choice(number, _) => Value::Bool(bits >> (number + 1) & 1 == 1),
            _ => unreachable!("the tests have no other leaves"),
        };
        selvedge_ir::eval::holds(expr, &leaf).expect("there are no integers")
    }

    #[test]
    fn choices_are_made_so_that_a_clause_holds() {
        let x = || Expr::Var(VarId::from_usize(0));
        let ops = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Implies, BinaryOp::Eq, BinaryOp::Ne];
        for outer in ops {
            for inner in ops {
                let left = binary(inner, x(), Expr::choice(0));
                let nested = binary(outer, left.clone(), Expr::negate(binary(inner, Expr::choice(1), x())));
                let chosen = Expr::Ite(Box::new((left, binary(outer, Expr::choice(1), x()), x())));
                for expr in [nested, chosen] {
                    let (truth, falsehood) = possible(&expr).unwrap().sides();
                    for var in 0..2 {
                        let can = |wanted: bool| (0..4).any(|made| value(&expr, var | made << 1) == wanted);
                        assert_eq!(value(&truth, var), can(true), "{expr:?}");
                        assert_eq!(value(&falsehood, var), can(false), "{expr:?}");
                    }
                }
            }
        }
    }
}

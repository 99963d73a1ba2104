//! Conditions: their truth values, branches on them, and expressions that choose between two values.

use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, LocId, MachineTy, Op};

use super::super::tree::{CastKind, Expr, ExprKind, UnaryOp};
use super::Lowered;
use super::arithmetic::{compares, comparison};
use super::body::Body;
use super::expr::INT;
use super::place::cast;

impl Body<'_, '_> {
    pub(super) fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, expr: &Expr) -> Lowered<Ir> {
        let ty = self.scalar(expr.ty, expr.loc)?;
        if self.is_plain(expr) {
            let parts = (self.truth(condition)?, self.value(then)?, self.value(otherwise)?);
            return Ok(Ir::Ite(Box::new(parts)));
        }
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let var = self.temporary(ty);
        self.branch(condition, holds, fails)?;
        for (at, value) in [(holds, then), (fails, otherwise)] {
            self.at = at;
            let value = self.read_once(value)?;
            self.step(Op::set(vec![(var, value)]));
            self.jump(end);
        }
        self.at = end;
        Ok(Ir::Var(var))
    }

    /// Evaluates `a ?: b`.
    pub(super) fn or_else(&mut self, condition: &Expr, otherwise: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (from, ty) = (self.scalar(condition.ty, condition.loc)?, self.scalar(expr.ty, expr.loc)?);
        let first = self.value(condition)?;
        if self.low.checks.in_annotation {
            let is_set = Ir::binary(IrOp::Ne, first.clone(), from.constant(0));
            return Ok(Ir::Ite(Box::new((is_set, cast(first, from, ty), self.value(otherwise)?))));
        }
        let first = self.save(first, from);
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let var = self.temporary(ty);
        self.fork(Ir::binary(IrOp::Ne, first.clone(), from.constant(0)), holds, fails);
        self.at = holds;
        self.step(Op::set(vec![(var, cast(first, from, ty))]));
        self.jump(end);
        self.at = fails;
        let value = self.read_once(otherwise)?;
        self.step(Op::set(vec![(var, value)]));
        self.jump(end);
        self.at = end;
        Ok(Ir::Var(var))
    }

    /// Returns 1 if an expression is not zero, and else 0, as an `int`.
    pub(super) fn truth_value(&mut self, expr: &Expr) -> Lowered<Ir> {
        Ok(INT.truth(self.truth(expr)?))
    }

    /// Returns whether an expression is not zero.
    pub(super) fn truth(&mut self, expr: &Expr) -> Lowered<Ir> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(selvedge_ir::simplify::not(self.truth(operand)?)),
            ExprKind::Binary(op, left, right) if compares(*op) => {
                let ty = self.scalar(left.ty, left.loc)?;
                let (left, right) = self.pair(left, right)?;
                Ok(comparison(*op, ty, left, right))
            }
            ExprKind::Logical { is_and, left, right } if self.is_plain(expr) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Ok(if *is_and { Ir::and(left, right) } else { Ir::or(left, right) })
            }
            ExprKind::Logical { .. } => {
                let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
                let bit = MachineTy::unsigned(1);
                let var = self.temporary(bit);
                self.branch(expr, holds, fails)?;
                for (at, value) in [(holds, 1), (fails, 0)] {
                    self.at = at;
                    self.step(Op::set(vec![(var, bit.constant(value))]));
                    self.jump(end);
                }
                self.at = end;
                Ok(Ir::binary(IrOp::Ne, Ir::Var(var), bit.constant(0)))
            }
            ExprKind::Cast { kind: CastKind::Bool, value, .. } => self.truth(value),
            ExprKind::Integer(number) => Ok(Ir::Bool(*number != 0)),
            _ => {
                let ty = self.scalar(expr.ty, expr.loc)?;
                let value = self.value(expr)?;
                Ok(match value {
                    Ir::Machine(_, bits) => Ir::Bool(bits != 0),
                    value => Ir::binary(IrOp::Ne, value, ty.constant(0)),
                })
            }
        }
    }

    /// Goes to one location where an expression is not zero, and to another where it is.
    pub(super) fn branch(&mut self, expr: &Expr, holds: LocId, fails: LocId) -> Lowered<()> {
        let is_plain = self.shared_reads(expr).is_some_and(|reads| reads <= 1);
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) if !is_plain => {
                self.is_negated = !self.is_negated;
                let branched = self.branch(operand, fails, holds);
                self.is_negated = !self.is_negated;
                branched
            }
            ExprKind::Cast { kind: CastKind::Bool, value, .. } if !is_plain => self.branch(value, holds, fails),
            ExprKind::Logical { is_and, left, right } if !is_plain => {
                let middle = self.new_loc();
                let (then, otherwise) = if *is_and { (middle, fails) } else { (holds, middle) };
                self.branch(left, then, otherwise)?;
                self.at = middle;
                self.branch(right, holds, fails)
            }
            _ => {
                let condition = self.once(expr, |body| body.truth(expr))?;
                self.fork(condition, holds, fails);
                self.at = self.new_loc();
                Ok(())
            }
        }
    }
}

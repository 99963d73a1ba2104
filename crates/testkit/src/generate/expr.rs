//! Random expressions.

use super::weights::Chances;
use crate::model::{BinOp, Expr};
use crate::rng::Rng;

/// Makes expressions over the given leaves. The number of choices is bounded, since each one doubles the successors
/// of a step.
pub(super) struct ExprMaker<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) chances: &'a Chances,
    /// The leaves that read variables.
    pub(super) leaves: Vec<Expr>,
    /// The number of further choices that are allowed.
    pub(super) choices_left: u32,
}

impl ExprMaker<'_> {
    /// Makes an expression of at most this depth.
    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.rng.percent(40) {
            return self.leaf();
        }
        if self.choices_left > 0 && self.rng.percent(self.chances.choose) {
            self.choices_left -= 1;
            return Expr::Choose(Box::new((self.expr(depth - 1), self.expr(depth - 1))));
        }
        match self.rng.below(12) {
            0..=3 => Expr::not(self.expr(depth - 1)),
            4 => Expr::Ite(Box::new((self.expr(depth - 1), self.expr(depth - 1), self.expr(depth - 1)))),
            _ => {
                let ops =
                    [BinOp::And, BinOp::Or, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Eq, BinOp::Ne, BinOp::Implies];
                let op = ops[self.rng.below(ops.len())];
                let left = self.expr(depth - 1);
                Expr::binary(op, left, self.expr(depth - 1))
            }
        }
    }

    fn leaf(&mut self) -> Expr {
        if self.choices_left > 0 && self.rng.percent(self.chances.choice) {
            self.choices_left -= 1;
            return Expr::Choice;
        }
        if self.rng.percent(self.chances.constant) {
            return Expr::Const(self.rng.coin());
        }
        match self.rng.pick(&self.leaves) {
            Some(leaf) => leaf.clone(),
            None => Expr::Const(self.rng.coin()),
        }
    }

    /// Makes a variable or its negation.
    pub(super) fn literal(&mut self) -> Expr {
        let leaf = self.leaf();
        if self.rng.coin() { leaf } else { Expr::not(leaf) }
    }
}

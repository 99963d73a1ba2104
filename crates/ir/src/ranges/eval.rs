//! Expressions over sets of values, and what a condition says about its operands.

use std::convert::Infallible;

use rustc_hash::FxHashMap;

use super::range::machine;
use crate::bits::Range;
use crate::syntax::{BinaryOp, Expr, MachineOp, Ty, UnaryOp};
use crate::visit::Parts;

/// The sets of leaves that a condition restricts, and those of the others.
pub(super) struct Facts<'f> {
    leaf: &'f dyn Fn(&Expr) -> Range,
    known: FxHashMap<Expr, Range>,
}

impl<'f> Facts<'f> {
    pub(super) fn new(leaf: &'f dyn Fn(&Expr) -> Range) -> Facts<'f> {
        Facts { leaf, known: FxHashMap::default() }
    }

    /// Returns the values that a leaf may have.
    pub(super) fn leaf(&self, leaf: &Expr) -> Range {
        match leaf.constant() {
            Some(value) => Range::one(value.number()),
            None => self.known.get(leaf).cloned().unwrap_or_else(|| (self.leaf)(leaf)),
        }
    }

    /// Returns the values that an expression may have.
    pub(super) fn eval(&self, expr: &Expr) -> Range {
        self.eval_in(&mut Parts::new(), expr)
    }

    fn eval_in(&self, parts: &mut Parts<Range>, expr: &Expr) -> Range {
        match expr {
            Expr::Unary(op, operand) => unary(*op, &self.eval_in(parts, operand)),
            Expr::Binary(op, pair) => {
                let left = self.eval_in(parts, &pair.0);
                binary(*op, &left, &self.eval_in(parts, &pair.1))
            }
            Expr::Ite(triple) => match self.eval_in(parts, &triple.0) {
                Range::Never => Range::Never,
                condition => {
                    let then = if condition.contains(1) { self.eval_in(parts, &triple.1) } else { Range::Never };
                    if condition.contains(0) { then.join(&self.eval_in(parts, &triple.2)) } else { then }
                }
            },
            Expr::Let(shared) => {
                let Ok(range) = parts.scope(shared, |parts, expr| Ok::<_, Infallible>(self.eval_in(parts, expr)));
                range
            }
            Expr::Part(number) => parts.get(*number).clone(),
            leaf => self.leaf(leaf),
        }
    }

    /// Adds that a condition without free parts is true, or false. Returns whether that can be.
    pub(super) fn learn(&mut self, condition: &Expr, truth: bool) -> bool {
        match (condition, truth) {
            (Expr::Unary(UnaryOp::Not, operand), _) => return self.learn(operand, !truth),
            (Expr::Binary(BinaryOp::And, pair), true) | (Expr::Binary(BinaryOp::Or, pair), false) => {
                return self.learn(&pair.0, truth) && self.learn(&pair.1, truth);
            }
            (Expr::Binary(BinaryOp::Implies, pair), false) => {
                return self.learn(&pair.0, true) && self.learn(&pair.1, false);
            }
            (Expr::Binary(BinaryOp::Eq, pair), _) => self.learn_equal(&pair.0, &pair.1, truth),
            (Expr::Binary(BinaryOp::Ne | BinaryOp::Xor, pair), _) => self.learn_equal(&pair.0, &pair.1, !truth),
            (Expr::Binary(BinaryOp::Machine(op @ (MachineOp::Lt | MachineOp::Le), _), pair), _) => {
                // a < b is not b <= a, and so on.
                let strict = (*op == MachineOp::Lt) == truth;
                let (less, more) = if truth { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) };
                self.learn_less(less, more, i128::from(strict));
            }
            (leaf, _) if leaf.is_leaf() => self.restrict(leaf, |range| range.meet(&Range::one(truth.into()))),
            _ => {}
        }
        self.eval(condition).contains(truth.into())
    }

    /// The first is less than the second, at least by a distance.
    fn learn_less(&mut self, less: &Expr, more: &Expr, distance: i128) {
        let (Some((least, _)), Some((_, greatest))) = (self.eval(less).bounds(), self.eval(more).bounds()) else {
            return;
        };
        self.restrict(less, |range| range.within((i128::MIN, greatest - distance)));
        self.restrict(more, |range| range.within((least + distance, i128::MAX)));
    }

    fn learn_equal(&mut self, left: &Expr, right: &Expr, equal: bool) {
        let (of_left, of_right) = (self.eval(left), self.eval(right));
        for (expr, other) in [(left, of_right), (right, of_left)] {
            match (equal, other.single()) {
                (true, _) => self.restrict(expr, |range| range.meet(&other)),
                (false, Some(number)) => self.restrict(expr, |range| range.without(number)),
                (false, None) => {}
            }
            self.learn_branch(expr, &other, equal);
        }
    }

    /// A conditional of two constants that equals, or does not equal, some value tells its condition.
    fn learn_branch(&mut self, expr: &Expr, other: &Range, equal: bool) {
        let Expr::Ite(triple) = expr else { return };
        let (Some(then), Some(otherwise), Some(value)) = (triple.1.constant(), triple.2.constant(), other.single())
        else {
            return;
        };
        match ((then.number() == value) == equal, (otherwise.number() == value) == equal) {
            (true, false) => drop(self.learn(&triple.0, true)),
            (false, true) => drop(self.learn(&triple.0, false)),
            _ => {}
        }
    }

    /// Restricts the set of a variable or choice, also below a cast that changes none of its values.
    fn restrict(&mut self, expr: &Expr, restricted: impl Fn(&Range) -> Range) {
        match expr {
            Expr::Var(_) | Expr::Next(_) | Expr::Choice(..) => {
                let range = restricted(&self.leaf(expr));
                self.known.insert(expr.clone(), range);
            }
            Expr::Unary(UnaryOp::Cast(_, to), operand) => {
                let range = self.eval(operand);
                if range.cast(*to) == range {
                    self.restrict(operand, restricted);
                }
            }
            _ => {}
        }
    }
}

fn unary(op: UnaryOp, operand: &Range) -> Range {
    match op {
        UnaryOp::Cast(_, to) => operand.cast(to),
        _ if *operand == Range::Never => Range::Never,
        UnaryOp::Not => operand.combine(&Range::one(1), |value, one| one - value).unwrap_or_else(Range::any_truth),
        UnaryOp::Neg => Range::all(Ty::Int),
        UnaryOp::DivisibleBy(_) => Range::any_truth(),
    }
}

fn binary(op: BinaryOp, left: &Range, right: &Range) -> Range {
    let (Some((a, b)), Some((c, d))) = (left.bounds(), right.bounds()) else { return Range::Never };
    let exact = |function: fn(i128, i128) -> i128| left.combine(right, function).unwrap_or_else(Range::any_truth);
    let disjoint = b < c || d < a;
    match op {
        BinaryOp::And => exact(|x, y| x & y),
        BinaryOp::Or => exact(|x, y| x | y),
        BinaryOp::Xor => exact(|x, y| x ^ y),
        BinaryOp::Implies => exact(|x, y| (1 - x) | y),
        BinaryOp::Eq if disjoint => Range::one(0),
        BinaryOp::Ne if disjoint => Range::one(1),
        BinaryOp::Eq => exact(|x, y| i128::from(x == y)),
        BinaryOp::Ne => exact(|x, y| i128::from(x != y)),
        BinaryOp::Machine(op, ty) => machine(op, ty, left, right),
        BinaryOp::Lt | BinaryOp::Le => Range::any_truth(),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => Range::all(Ty::Int),
    }
}

//! Linear sums, and the normal forms of their comparisons with zero.
//!
//! Comparisons that are equivalent, or of which one is equivalent to the negation of the other, have one normal form if
//! they differ only by a factor: factors are divided by their greatest common divisor, and the first one is positive.

use std::collections::BTreeMap;

/// A constant plus a sum of leaves with nonzero factors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linear<L> {
    pub(crate) factors: BTreeMap<L, i128>,
    pub(crate) constant: i128,
}

/// The normal form of a comparison: a constant, or one of a sum or its negation.
pub(crate) enum Comparison<L> {
    Const(bool),
    Holds(Linear<L>),
    Fails(Linear<L>),
}

impl<L> From<i128> for Linear<L> {
    fn from(constant: i128) -> Linear<L> {
        Linear { factors: BTreeMap::new(), constant }
    }
}

impl<L: Clone + Ord> Linear<L> {
    /// Returns a single leaf.
    pub(crate) fn leaf(leaf: L) -> Linear<L> {
        Linear { factors: BTreeMap::from([(leaf, 1)]), constant: 0 }
    }

    /// Adds a multiple of another sum; returns `None` if numbers get too large.
    pub(crate) fn plus(mut self, other: &Linear<L>, times: i128) -> Option<Linear<L>> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (leaf, factor) in &other.factors {
            let sum = self.factors.entry(leaf.clone()).or_insert(0);
            *sum = sum.checked_add(factor.checked_mul(times)?)?;
        }
        self.factors.retain(|_, factor| *factor != 0);
        Some(self)
    }

    /// Returns a multiple of the sum; `None` if numbers get too large.
    pub(crate) fn times(&self, number: i128) -> Option<Linear<L>> {
        Linear::from(0).plus(self, number)
    }

    /// Returns whether the sum has no leaves.
    pub(crate) fn is_constant(&self) -> bool {
        self.factors.is_empty()
    }

    /// Reduces all numbers modulo a divisor.
    pub(crate) fn modulo(mut self, divisor: i128) -> Linear<L> {
        self.factors.values_mut().for_each(|factor| *factor = factor.rem_euclid(divisor));
        self.factors.retain(|_, factor| *factor != 0);
        self.constant = self.constant.rem_euclid(divisor);
        self
    }

    /// Normalises `e = 0`: `Holds` with the sum that is zero.
    pub(crate) fn zero(self) -> Option<Comparison<L>> {
        let gcd = self.gcd();
        if gcd == 0 {
            return Some(Comparison::Const(self.constant == 0));
        }
        if self.constant % gcd != 0 {
            return Some(Comparison::Const(false));
        }
        let sign = if self.leads_negative() { -1 } else { 1 };
        let reduced = Linear { constant: self.constant / gcd, ..self.divided(gcd) };
        reduced.times(sign).map(Comparison::Holds)
    }

    /// Normalises `e <= 0`: `Holds` with the sum that is at most zero, `Fails` with the one that is not.
    ///
    /// `g*F + c <= 0` is `F <= k`, where `k` is the quotient of `-c` and `g` rounded down; if `F` begins with a
    /// negative factor, it is the negation of `-F <= -k - 1`.
    pub(crate) fn at_most_zero(self) -> Option<Comparison<L>> {
        let gcd = self.gcd();
        if gcd == 0 {
            return Some(Comparison::Const(self.constant <= 0));
        }
        let bound = self.constant.checked_neg()?.div_euclid(gcd);
        let reduced = Linear { constant: bound.checked_neg()?, ..self.divided(gcd) };
        if !reduced.leads_negative() {
            return Some(Comparison::Holds(reduced));
        }
        Some(Comparison::Fails(Linear { constant: bound.checked_add(1)?, ..reduced.times(-1)? }))
    }

    /// Divides the factors, which must be multiples of the divisor.
    fn divided(mut self, divisor: i128) -> Linear<L> {
        self.factors.values_mut().for_each(|factor| *factor /= divisor);
        self
    }

    /// Returns the greatest common divisor of the factors, or zero if there are none.
    fn gcd(&self) -> i128 {
        self.factors.values().fold(0, |divisor, factor| gcd(divisor, factor.unsigned_abs() as i128))
    }

    fn leads_negative(&self) -> bool {
        self.factors.values().next().is_some_and(|factor| *factor < 0)
    }
}

impl<L> Comparison<L> {
    /// Returns the negation.
    pub(crate) fn negate(self) -> Comparison<L> {
        match self {
            Comparison::Const(value) => Comparison::Const(!value),
            Comparison::Holds(sum) => Comparison::Fails(sum),
            Comparison::Fails(sum) => Comparison::Holds(sum),
        }
    }
}

fn gcd(left: i128, right: i128) -> i128 {
    if right == 0 { left } else { gcd(right, left % right) }
}

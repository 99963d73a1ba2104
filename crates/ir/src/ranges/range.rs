//! Sets of numbers: a few values, or an interval.

use crate::bits::Range;
use crate::syntax::{MachineOp, MachineTy, Ty};

/// The most values that are listed one by one.
const MAX_VALUES: usize = 8;

/// The most pairs of values that an operator is computed for one by one.
const MAX_PAIRS: usize = MAX_VALUES * MAX_VALUES;

/// A bound beyond all machine integers, for mathematical ones.
const FAR: i128 = 1 << 100;

impl Range {
    /// Returns the set of one number.
    pub fn one(number: i128) -> Range {
        Range::Values(vec![number])
    }

    /// Returns the set of both truth values.
    pub fn any_truth() -> Range {
        Range::Values(vec![0, 1])
    }

    /// Returns the set of all numbers of a type.
    pub fn all(ty: Ty) -> Range {
        match ty {
            Ty::Bool => Range::any_truth(),
            Ty::Int => Range::Interval(-FAR, FAR),
            Ty::Machine(ty) => Range::between(ty.bounds()),
        }
    }

    /// Returns the set of the numbers between two bounds; empty if the first is the greater one.
    pub fn between((least, greatest): (i128, i128)) -> Range {
        match greatest - least {
            ..0 => Range::Never,
            span if span < MAX_VALUES as i128 => Range::Values((least..=greatest).collect()),
            _ => Range::Interval(least, greatest),
        }
    }

    /// Returns the set of some numbers, or an interval around them if they are many.
    fn of(mut numbers: Vec<i128>) -> Range {
        numbers.sort_unstable();
        numbers.dedup();
        match numbers[..] {
            [] => Range::Never,
            [least, .., greatest] if numbers.len() > MAX_VALUES => Range::Interval(least, greatest),
            _ => Range::Values(numbers),
        }
    }

    /// Returns the least and the greatest number.
    pub fn bounds(&self) -> Option<(i128, i128)> {
        match self {
            Range::Never => None,
            Range::Values(values) => Some((values[0], values[values.len() - 1])),
            Range::Interval(least, greatest) => Some((*least, *greatest)),
        }
    }

    /// Returns whether a number belongs to the set.
    pub fn contains(&self, number: i128) -> bool {
        match self {
            Range::Never => false,
            Range::Values(values) => values.contains(&number),
            Range::Interval(least, greatest) => *least <= number && number <= *greatest,
        }
    }

    /// Returns the only number of the set.
    pub fn single(&self) -> Option<i128> {
        match self {
            Range::Values(values) if values.len() == 1 => Some(values[0]),
            _ => None,
        }
    }

    /// Returns a set that contains both.
    #[must_use]
    pub fn join(&self, other: &Range) -> Range {
        match (self, other) {
            (Range::Never, range) | (range, Range::Never) => range.clone(),
            (Range::Values(left), Range::Values(right)) => Range::of(left.iter().chain(right).copied().collect()),
            (left, right) => {
                let ((a, b), (c, d)) = (left.bounds().unwrap_or((0, 0)), right.bounds().unwrap_or((0, 0)));
                Range::Interval(a.min(c), b.max(d))
            }
        }
    }

    /// Returns the numbers of the set that satisfy a condition; intervals keep theirs between the two bounds.
    #[must_use]
    pub fn within(&self, bounds: (i128, i128)) -> Range {
        match self {
            Range::Never => Range::Never,
            Range::Values(values) => {
                Range::of(values.iter().copied().filter(|value| bounds.0 <= *value && *value <= bounds.1).collect())
            }
            Range::Interval(least, greatest) => Range::between((bounds.0.max(*least), bounds.1.min(*greatest))),
        }
    }

    /// Returns a set that contains what both contain.
    #[must_use]
    pub fn meet(&self, other: &Range) -> Range {
        match (self, other) {
            (Range::Values(values), range) | (range, Range::Values(values)) => {
                Range::of(values.iter().copied().filter(|value| range.contains(*value)).collect())
            }
            (range, other) => other.bounds().map_or(Range::Never, |bounds| range.within(bounds)),
        }
    }

    /// Returns the set without a number, as far as that can be said.
    #[must_use]
    pub fn without(&self, number: i128) -> Range {
        match self {
            Range::Values(values) => Range::of(values.iter().copied().filter(|value| *value != number).collect()),
            Range::Interval(least, greatest) if *least == number => Range::between((least + 1, *greatest)),
            Range::Interval(least, greatest) if *greatest == number => Range::between((*least, greatest - 1)),
            range => range.clone(),
        }
    }

    /// Returns a set that contains this one and a larger one, with bounds among the thresholds, which are sorted: a
    /// chain of such sets ends.
    #[must_use]
    pub fn widen(&self, larger: &Range, thresholds: &[i128]) -> Range {
        let (Some((a, b)), Some((c, d))) = (self.bounds(), larger.bounds()) else { return larger.clone() };
        let below = |bound: i128| thresholds.iter().rev().find(|known| **known <= bound).copied().unwrap_or(-FAR);
        let above = |bound: i128| thresholds.iter().find(|known| **known >= bound).copied().unwrap_or(FAR);
        Range::Interval(if c < a { below(c) } else { a }, if d > b { above(d) } else { b })
    }

    /// Returns the values of an operator on the numbers of two sets, computed one by one if these are few.
    pub(super) fn combine(&self, other: &Range, op: impl Fn(i128, i128) -> i128) -> Option<Range> {
        match (self, other) {
            (Range::Never, _) | (_, Range::Never) => Some(Range::Never),
            (Range::Values(left), Range::Values(right)) if left.len() * right.len() <= MAX_PAIRS => {
                Some(Range::of(left.iter().flat_map(|left| right.iter().map(|right| op(*left, *right))).collect()))
            }
            _ => None,
        }
    }

    /// Returns the numbers of the set as those of another type, as a cast makes them.
    pub(super) fn cast(&self, to: MachineTy) -> Range {
        let (least, greatest) = to.bounds();
        match (self, self.bounds()) {
            (_, Some(bounds)) if least <= bounds.0 && bounds.1 <= greatest => self.clone(),
            (Range::Values(values), _) => Range::of(values.iter().map(|value| to.read(to.wrap(*value))).collect()),
            (_, None) => Range::Never,
            _ => Range::between((least, greatest)),
        }
    }
}

/// Returns the truth values of a comparison, which is certain in two cases.
fn truth(certain: bool, impossible: bool) -> Range {
    match (certain, impossible) {
        (true, _) => Range::one(1),
        (_, true) => Range::one(0),
        _ => Range::any_truth(),
    }
}

/// Returns a set that contains the values of an operator on the numbers of two sets.
pub(super) fn machine(op: MachineOp, ty: MachineTy, left: &Range, right: &Range) -> Range {
    let exact = |x: i128, y: i128| crate::machine::binary(op, ty, ty.wrap(x), ty.wrap(y)).number();
    if let Some(few) = left.combine(right, exact) {
        return few;
    }
    let (Some((a, b)), Some((c, d))) = (left.bounds(), right.bounds()) else { return Range::Never };
    match op {
        MachineOp::Lt => truth(b < c, d <= a),
        MachineOp::Le => truth(b <= c, d < a),
        _ => {
            let bounds = arithmetic(op, ty, (a, b), (c, d)).unwrap_or(ty.bounds());
            let fits = ty.bounds().0 <= bounds.0 && bounds.1 <= ty.bounds().1;
            Range::between(if fits { bounds } else { ty.bounds() })
        }
    }
}

/// Returns bounds of the values of an operator before they are cut off; `None` if there are no better ones than those
/// of the type.
fn arithmetic(op: MachineOp, ty: MachineTy, (a, b): (i128, i128), (c, d): (i128, i128)) -> Option<(i128, i128)> {
    let both_positive = a >= 0 && c >= 0;
    let hull = |ends: [i128; 4]| Some((ends.into_iter().min()?, ends.into_iter().max()?));
    // The least number of the form 2^k - 1 that is not below this one.
    let ones = |number: i128| i128::MAX.checked_shr((number as u128).leading_zeros() - 1).unwrap_or(0);
    match op {
        MachineOp::Add => Some((a + c, b + d)),
        MachineOp::Sub => Some((a - d, b - c)),
        // The bounds of 64 bits have a product of less than 128 bits, but for those without sign.
        MachineOp::Mul => {
            let product = |x: i128, y: i128| x.checked_mul(y);
            hull([product(a, c)?, product(a, d)?, product(b, c)?, product(b, d)?])
        }
        MachineOp::Div if c > 0 => hull([a / c, a / d, b / c, b / d]),
        MachineOp::Rem if c > 0 && a >= 0 => Some((0, b.min(d - 1))),
        MachineOp::Rem if c > 0 => Some((a.max(1 - d), b.min(d - 1).max(0))),
        MachineOp::And if both_positive => Some((0, b.min(d))),
        MachineOp::And if a >= 0 => Some((0, b)),
        MachineOp::And if c >= 0 => Some((0, d)),
        MachineOp::Or if both_positive => Some((a.max(c), ones(b.max(d)))),
        MachineOp::Xor if both_positive => Some((0, ones(b.max(d)))),
        MachineOp::Shl if c == d && (0..i128::from(ty.bits)).contains(&c) => Some((a << c, b << c)),
        MachineOp::Shr if c >= 0 => {
            let shift = |number: i128, by: i128| number >> by.min(127);
            hull([shift(a, c), shift(a, d), shift(b, c), shift(b, d)])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operators are sound on all intervals of a few bits.
    #[test]
    fn ranges_of_operators_contain_all_values() {
        for ty in [MachineTy::signed(5), MachineTy::unsigned(5)] {
            let (least, greatest) = ty.bounds();
            let steps = |from: i128| (from..=greatest).step_by(3);
            let intervals: Vec<(i128, i128)> = steps(least).flat_map(|a| steps(a).map(move |b| (a, b))).collect();
            for (left, right) in intervals.iter().flat_map(|left| intervals.iter().map(move |right| (*left, *right))) {
                for (op, name) in MachineOp::ALL {
                    let range = machine(op, ty, &Range::between(left), &Range::between(right));
                    for x in [left.0, left.0.midpoint(left.1), left.1] {
                        for y in right.0..=right.1 {
                            let value = crate::machine::binary(op, ty, ty.wrap(x), ty.wrap(y)).number();
                            assert!(range.contains(value), "{ty}.{name}: {left:?}, {right:?}: {x}, {y}: {range:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sets_join_meet_and_widen() {
        let (small, interval) = (Range::between((0, 3)), Range::between((2, 90)));
        assert_eq!(small.join(&interval), Range::Interval(0, 90));
        assert_eq!(small.meet(&interval), Range::Values(vec![2, 3]));
        assert_eq!(interval.without(2), Range::Interval(3, 90));
        assert_eq!(small.without(2), Range::Values(vec![0, 1, 3]));
        assert_eq!(small.widen(&Range::between((0, 4)), &[-1, 0, 10, 100]), Range::Interval(0, 10));
        assert_eq!(Range::one(300).cast(MachineTy::unsigned(8)), Range::one(44));
        assert_eq!(Range::between((0, 300)).cast(MachineTy::unsigned(8)), Range::Interval(0, 255));
        assert_eq!(Range::between((5, 2)), Range::Never);
    }
}

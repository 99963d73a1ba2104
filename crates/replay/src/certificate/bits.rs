//! Machine integers as lists of literals, the lowest bit first; a truth value is a list of one.

use std::collections::BTreeMap;

use selvedge_ir::bits::Range;
use selvedge_ir::{BinaryOp, MachineOp, MachineTy, Ty, UnaryOp, Value};

use super::sat::{Lit, Sat};
use super::{Flaw, Refused};
use crate::domain::Domain;

/// The bits of a value.
pub(super) type Bits = Vec<Lit>;

/// A sum of numbers of one width, modulo a power of two: the coefficients of numbers that are no sums, and a constant.
/// Sums that are equal by the laws of rings are the same one, and so get the same literals. Solvers take long to find
/// that they are equal.
#[derive(Clone, Default)]
pub(super) struct Sum {
    terms: BTreeMap<Bits, u64>,
    constant: u64,
}

impl Sum {
    /// Adds another sum as often as a factor says.
    fn add(&mut self, other: &Sum, factor: u64, width: usize) {
        let mask = u64::MAX >> (64 - width);
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor)) & mask;
        for (term, coefficient) in &other.terms {
            let known = self.terms.entry(term.clone()).or_default();
            *known = known.wrapping_add(coefficient.wrapping_mul(factor)) & mask;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
    }
}

/// A solver in whose literals machine integers are computed.
pub(super) struct Circuits<'a, 'r>(pub(super) &'a mut Sat<'r>);

const INTEGERS: Flaw = Flaw::OutOfScope("it has mathematical integers");

impl Domain for Circuits<'_, '_> {
    type Value = Bits;
    type Error = Refused;

    fn lift(&mut self, value: Value) -> Result<Bits, Refused> {
        match value {
            Value::Bool(value) => Ok(vec![self.0.constant(value)]),
            Value::Machine(ty, bits) => Ok(self.constant(ty.bits, bits)),
            Value::Int(_) => Err(INTEGERS.into()),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: Bits) -> Result<Bits, Refused> {
        match op {
            UnaryOp::Not => Ok(vec![!operand[0]]),
            UnaryOp::Cast(from, to) => {
                let fill = if from.signed { operand[operand.len() - 1] } else { self.0.constant(false) };
                Ok((0..usize::from(to.bits)).map(|place| operand.get(place).copied().unwrap_or(fill)).collect())
            }
            UnaryOp::Neg | UnaryOp::DivisibleBy(_) => Err(INTEGERS.into()),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Bits, right: Bits) -> Result<Bits, Refused> {
        match op {
            BinaryOp::Eq => Ok(vec![self.same_number(&left, &right)]),
            BinaryOp::Ne => Ok(vec![!self.same_number(&left, &right)]),
            BinaryOp::Machine(op, ty) => Ok(self.machine(op, ty, &left, &right)),
            op => Ok(vec![self.0.binary(op, left[0], right[0])?]),
        }
    }

    fn ite(&mut self, condition: Bits, then: Bits, otherwise: Bits) -> Result<Bits, Refused> {
        Ok(self.select(condition[0], &then, &otherwise))
    }

    fn known(&self, condition: &Bits) -> Option<bool> {
        self.0.known(condition[0])
    }
}

impl Circuits<'_, '_> {
    /// The bits of a number.
    pub(super) fn constant(&self, width: u8, bits: u64) -> Bits {
        (0..width).map(|place| self.0.constant(bits >> place & 1 == 1)).collect()
    }

    /// Whether all bits are equal.
    pub(super) fn equal(&mut self, left: &[Lit], right: &[Lit]) -> Lit {
        let mut equal = self.0.constant(true);
        for (left, right) in left.iter().zip(right) {
            let same = self.0.equal(*left, *right);
            equal = self.0.and(equal, same);
        }
        equal
    }

    /// Whether a value belongs to a range, if there is one.
    pub(super) fn belongs(&mut self, range: Option<&Range>, ty: Ty, value: &[Lit]) -> Lit {
        let signed = matches!(ty, Ty::Machine(ty) if ty.signed);
        let bits = |number: i128| number.rem_euclid(1 << value.len()) as u64;
        match range {
            None => self.0.constant(true),
            Some(Range::Never) => self.0.constant(false),
            Some(Range::Values(numbers)) => {
                let mut belongs = self.0.constant(false);
                for number in numbers {
                    let constant = self.constant(value.len() as u8, bits(*number));
                    let equal = self.equal(value, &constant);
                    belongs = self.0.or(belongs, equal);
                }
                belongs
            }
            Some(Range::Interval(least, greatest)) => {
                let [least, greatest] = [least, greatest].map(|bound| self.constant(value.len() as u8, bits(*bound)));
                let (below, above) = (self.less(signed, value, &least), self.less(signed, &greatest, value));
                self.0.and(!below, !above)
            }
        }
    }

    /// The bits of any value of a type.
    pub(super) fn any(&mut self, ty: Ty) -> Result<Bits, Refused> {
        match ty {
            Ty::Bool => Ok(vec![self.0.fresh()]),
            Ty::Machine(ty) => Ok((0..ty.bits).map(|_| self.0.fresh()).collect()),
            Ty::Int => Err(INTEGERS.into()),
        }
    }

    pub(super) fn select(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Bits {
        then.iter().zip(otherwise).map(|(then, otherwise)| self.0.ite(condition, *then, *otherwise)).collect()
    }

    fn machine(&mut self, op: MachineOp, ty: MachineTy, left: &[Lit], right: &[Lit]) -> Bits {
        let falsehood = self.0.constant(false);
        let both = left.iter().copied().zip(right.iter().copied());
        match op {
            MachineOp::Add => self.added(left, right, 1),
            MachineOp::Sub => self.added(left, right, u64::MAX),
            MachineOp::Mul => self.product(left, right),
            MachineOp::Div => self.divided(ty.signed, left, right).0,
            MachineOp::Rem => self.divided(ty.signed, left, right).1,
            MachineOp::And => both.map(|(left, right)| self.0.and(left, right)).collect(),
            MachineOp::Or => both.map(|(left, right)| self.0.or(left, right)).collect(),
            MachineOp::Xor => both.map(|(left, right)| !self.0.equal(left, right)).collect(),
            MachineOp::Shl => self.shifted(left, right, falsehood, |place, by| place.checked_sub(by)),
            MachineOp::Shr => {
                let fill = if ty.signed { left[left.len() - 1] } else { falsehood };
                self.shifted(left, right, fill, |place, by| place.checked_add(by))
            }
            MachineOp::Lt => vec![self.less(ty.signed, left, right)],
            MachineOp::Le => vec![!self.less(ty.signed, right, left)],
        }
    }

    /// A number as a sum.
    fn as_sum(&self, bits: &[Lit]) -> Sum {
        if let Some(known) = self.0.sums.get(bits) {
            return known.clone();
        }
        let known = bits.iter().rev().try_fold(0, |number, bit| Some(number << 1 | u64::from(self.0.known(*bit)?)));
        let terms = if known.is_none() { BTreeMap::from([(bits.to_vec(), 1)]) } else { BTreeMap::new() };
        Sum { terms, constant: known.unwrap_or(0) }
    }

    /// The left number and the right one as often as a factor says.
    fn added(&mut self, left: &[Lit], right: &[Lit], factor: u64) -> Bits {
        let mut sum = self.as_sum(left);
        sum.add(&self.as_sum(right), factor, left.len());
        self.written(sum, left.len())
    }

    /// The bits of a sum. Terms with greater coefficients are subtracted.
    fn written(&mut self, sum: Sum, width: usize) -> Bits {
        let (constant, highest) = (self.constant(width as u8, sum.constant), 1 << (width - 1));
        let mut bits: Option<Bits> = None;
        for (term, coefficient) in &sum.terms {
            let minus = *coefficient > highest;
            let factor = if minus { coefficient.wrapping_neg() } else { *coefficient };
            let part = if factor & (u64::MAX >> (64 - width)) == 1 {
                term.clone()
            } else {
                let factor = self.constant(width as u8, factor);
                self.product(term, &factor)
            };
            bits = Some(match bits {
                None if !minus => part,
                None => self.difference(&vec![self.0.constant(false); width], &part),
                Some(bits) if minus => self.difference(&bits, &part),
                Some(bits) => self.sum(&bits, &part, self.0.constant(false)),
            });
        }
        let bits = match bits {
            None => return constant,
            Some(bits) if sum.constant == 0 => bits,
            Some(bits) => self.sum(&bits, &constant, self.0.constant(false)),
        };
        if sum.terms.len() > 1 || !sum.terms.contains_key(&bits) {
            self.0.sums.insert(bits.clone(), sum);
        }
        bits
    }

    /// Whether two numbers are equal: what they have in common is left out.
    fn same_number(&mut self, left: &[Lit], right: &[Lit]) -> Lit {
        if left.len() == 1 {
            return self.equal(left, right);
        }
        let (width, highest) = (left.len(), 1 << (left.len() - 1));
        let mut rest = self.as_sum(left);
        rest.add(&self.as_sum(right), u64::MAX, width);
        if rest.terms.values().next().is_some_and(|first| *first > highest) {
            let mut negated = Sum::default();
            negated.add(&rest, u64::MAX, width);
            rest = negated;
        }
        let (mut plus, mut minus) = (rest.clone(), Sum::default());
        plus.constant = 0;
        plus.terms.retain(|_, coefficient| *coefficient <= highest);
        minus.add(&plus, 1, width);
        minus.add(&rest, u64::MAX, width);
        let (plus, minus) = (self.written(plus, width), self.written(minus, width));
        self.equal(&plus, &minus)
    }

    /// Addition bit by bit, with a carry into the lowest.
    fn sum(&mut self, left: &[Lit], right: &[Lit], mut carry: Lit) -> Bits {
        let mut sum = Vec::new();
        for (left, right) in left.iter().zip(right) {
            let differ = !self.0.equal(*left, *right);
            sum.push(!self.0.equal(differ, carry));
            carry = self.0.ite(differ, carry, *left);
        }
        sum
    }

    /// `left - right` is `left + !right + 1`.
    fn difference(&mut self, left: &[Lit], right: &[Lit]) -> Bits {
        let complement: Bits = right.iter().map(|bit| !*bit).collect();
        self.sum(left, &complement, self.0.constant(true))
    }

    /// The sum of the left operand at the place of each bit of the right one.
    fn product(&mut self, left: &[Lit], right: &[Lit]) -> Bits {
        let falsehood = self.0.constant(false);
        let mut product = vec![falsehood; left.len()];
        for (place, bit) in right.iter().enumerate() {
            let moved =
                (0..left.len()).map(|to| if to < place { falsehood } else { self.0.and(left[to - place], *bit) });
            let moved: Bits = moved.collect();
            product = self.sum(&product, &moved, falsehood);
        }
        product
    }

    /// The absolute value where `negative` holds, and the number with that sign again.
    fn with_sign(&mut self, negative: Lit, bits: &[Lit]) -> Bits {
        let zero = vec![self.0.constant(false); bits.len()];
        let negated = self.difference(&zero, bits);
        self.select(negative, &negated, bits)
    }

    /// Quotient and remainder by long division of absolute values. A divisor of zero goes into every rest: all bits of
    /// the quotient are set, and the remainder is the dividend.
    fn divided(&mut self, signed: bool, left: &[Lit], right: &[Lit]) -> (Bits, Bits) {
        let falsehood = self.0.constant(false);
        let sign = |bits: &[Lit]| if signed { bits[bits.len() - 1] } else { falsehood };
        let (of_left, of_right) = (sign(left), sign(right));
        let (dividend, mut divisor) = (self.with_sign(of_left, left), self.with_sign(of_right, right));
        divisor.push(falsehood);
        let (mut quotient, mut rest) = (vec![falsehood; left.len()], vec![falsehood; left.len()]);
        for place in (0..left.len()).rev() {
            rest.insert(0, dividend[place]);
            quotient[place] = !self.less(false, &rest, &divisor);
            let less = self.difference(&rest, &divisor);
            rest = self.select(quotient[place], &less, &rest);
            rest.pop();
        }
        let differ = !self.0.equal(of_left, of_right);
        (self.with_sign(differ, &quotient), self.with_sign(of_left, &rest))
    }

    /// Each bit comes from another place, or is the fill; by 1, 2, 4 and so on, where the distance has that bit.
    fn shifted(
        &mut self,
        bits: &[Lit],
        distance: &[Lit],
        fill: Lit,
        source: fn(usize, usize) -> Option<usize>,
    ) -> Bits {
        let mut shifted = bits.to_vec();
        for (stage, taken) in distance.iter().enumerate() {
            let from = |place: usize| source(place, 1 << stage.min(28)).and_then(|place| shifted.get(place));
            let moved: Bits = (0..bits.len()).map(|place| from(place).copied().unwrap_or(fill)).collect();
            shifted = self.select(*taken, &moved, &shifted);
        }
        shifted
    }

    /// The highest bits that differ decide; a sign the other way round.
    fn less(&mut self, signed: bool, left: &[Lit], right: &[Lit]) -> Lit {
        let mut less = self.0.constant(false);
        for (place, (left_bit, right_bit)) in left.iter().zip(right).enumerate() {
            let same = self.0.equal(*left_bit, *right_bit);
            let greater = if signed && place + 1 == left.len() { *left_bit } else { *right_bit };
            less = self.0.ite(same, less, greater);
        }
        less
    }
}

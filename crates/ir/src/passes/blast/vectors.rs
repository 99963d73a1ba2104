//! Arithmetic of machine integers as circuits. A number is the list of its bits, the lowest first.

use super::gates::{Gates, Lit};
use crate::syntax::{MachineOp, MachineTy};

/// The bits of a number, or the one bit of a truth value.
pub(super) type Bits = Vec<Lit>;

impl Gates {
    /// Returns the bits of a constant.
    pub(super) fn constant(ty: MachineTy, bits: u64) -> Bits {
        (0..ty.bits).map(|place| Lit::from(bits >> place & 1 == 1)).collect()
    }

    /// Returns the value of an operator: the bits of a number of the same type, or one bit.
    pub(super) fn machine(&mut self, op: MachineOp, ty: MachineTy, left: &[Lit], right: &[Lit]) -> Bits {
        match op {
            MachineOp::Add => self.sum(left, right, Lit::FALSE),
            MachineOp::Sub => self.difference(left, right),
            MachineOp::Mul => self.product(ty, left, right),
            MachineOp::Div => self.divided(ty, left, right).0,
            MachineOp::Rem => self.divided(ty, left, right).1,
            MachineOp::And => self.each(left, right, Gates::and),
            MachineOp::Or => self.each(left, right, Gates::or),
            MachineOp::Xor => self.each(left, right, Gates::xor),
            MachineOp::Shl => {
                let reversed = |bits: &[Lit]| bits.iter().rev().copied().collect::<Bits>();
                let shifted = self.shifted_down(&reversed(left), right, Lit::FALSE);
                reversed(&shifted)
            }
            MachineOp::Shr => self.shifted_down(left, right, fill(ty, left)),
            MachineOp::Lt => vec![self.less(ty, left, right)],
            MachineOp::Le => vec![!self.less(ty, right, left)],
        }
    }

    /// Returns the bits of a number of one type as one of another.
    pub(super) fn cast(from: MachineTy, to: MachineTy, bits: &[Lit]) -> Bits {
        extended(bits, fill(from, bits), to)
    }

    /// Returns whether two lists of bits are equal.
    pub(super) fn equal(&mut self, left: &[Lit], right: &[Lit]) -> Lit {
        left.iter().zip(right).fold(Lit::TRUE, |equal, (left, right)| {
            let differ = self.xor(*left, *right);
            self.and(equal, !differ)
        })
    }

    /// Chooses between two lists of bits.
    pub(super) fn select(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Bits {
        then.iter().zip(otherwise).map(|(then, otherwise)| self.ite(condition, *then, *otherwise)).collect()
    }

    fn each(&mut self, left: &[Lit], right: &[Lit], gate: fn(&mut Gates, Lit, Lit) -> Lit) -> Bits {
        left.iter().zip(right).map(|(left, right)| gate(self, *left, *right)).collect()
    }

    /// The sum with a carry, bit by bit from the lowest on.
    fn sum(&mut self, left: &[Lit], right: &[Lit], mut carry: Lit) -> Bits {
        let mut sum = Vec::with_capacity(left.len());
        for (left, right) in left.iter().zip(right) {
            let differ = self.xor(*left, *right);
            sum.push(self.xor(differ, carry));
            carry = self.ite(differ, carry, *left);
        }
        sum
    }

    /// The difference is the sum with the complement, and one more.
    fn difference(&mut self, left: &[Lit], right: &[Lit]) -> Bits {
        let complement: Bits = right.iter().map(|bit| !*bit).collect();
        self.sum(left, &complement, Lit::TRUE)
    }

    fn negated_if(&mut self, condition: Lit, bits: &[Lit]) -> Bits {
        let negated = self.difference(&vec![Lit::FALSE; bits.len()], bits);
        self.select(condition, &negated, bits)
    }

    /// The product: for each bit of the right operand the left one, moved to its place, is added. It needs at most as
    /// many bits as both operands together.
    fn product(&mut self, ty: MachineTy, left: &[Lit], right: &[Lit]) -> Bits {
        let width = (needed(ty, left) + needed(ty, right)).min(left.len());
        let mut product = vec![Lit::FALSE; width];
        for (place, bit) in right[..width].iter().enumerate() {
            let row: Bits = left[..width - place].iter().map(|other| self.and(*other, *bit)).collect();
            let upper = self.sum(&product[place..], &row, Lit::FALSE);
            product.truncate(place);
            product.extend(upper);
        }
        extended(&product, fill(ty, &product), ty)
    }

    /// The quotient and the remainder. Of numbers with signs, those of the absolute values get their signs; one bit more
    /// than both operands need has room for the quotient of the least number and -1.
    fn divided(&mut self, ty: MachineTy, left: &[Lit], right: &[Lit]) -> (Bits, Bits) {
        let width = needed(ty, left).max(needed(ty, right)) + usize::from(ty.signed);
        let width = width.min(left.len());
        let (left, right) = (&left[..width], &right[..width]);
        if !ty.signed {
            let (quotient, rest) = self.divided_unsigned(left, right);
            let is_zero = self.equal(right, &vec![Lit::FALSE; width]);
            return (extended(&quotient, is_zero, ty), extended(&rest, Lit::FALSE, ty));
        }
        let (left_sign, right_sign) = (left[width - 1], right[width - 1]);
        let (left, right) = (self.negated_if(left_sign, left), self.negated_if(right_sign, right));
        let (quotient, rest) = self.divided_unsigned(&left, &right);
        let differ = self.xor(left_sign, right_sign);
        let (quotient, rest) = (self.negated_if(differ, &quotient), self.negated_if(left_sign, &rest));
        (extended(&quotient, fill(ty, &quotient), ty), extended(&rest, fill(ty, &rest), ty))
    }

    /// Division by hand: the bits of the dividend come down one after the other, the highest first; where the divisor
    /// fits into the rest, it is subtracted. If it is zero, it always fits, so that all bits of the quotient are ones
    /// and the rest is the dividend.
    fn divided_unsigned(&mut self, left: &[Lit], right: &[Lit]) -> (Bits, Bits) {
        let divisor: Bits = right.iter().copied().chain([Lit::FALSE]).collect();
        let mut rest = vec![Lit::FALSE; left.len()];
        let mut quotient = vec![Lit::FALSE; left.len()];
        for place in (0..left.len()).rev() {
            rest.insert(0, left[place]);
            let fits = !self.less(MachineTy::unsigned(1), &rest, &divisor);
            let less = self.difference(&rest, &divisor);
            rest = self.select(fits, &less, &rest);
            rest.pop();
            quotient[place] = fits;
        }
        (quotient, rest)
    }

    /// A shift towards the lowest bit: by 1, 2, 4 and so on, as the bits of the distance say. A distance with higher
    /// bits moves everything out.
    fn shifted_down(&mut self, bits: &[Lit], distance: &[Lit], fill: Lit) -> Bits {
        let mut shifted = bits.to_vec();
        for (stage, by) in distance.iter().enumerate() {
            let step = if stage < 7 { 1 << stage } else { bits.len() };
            let moved: Bits = (0..bits.len()).map(|place| shifted.get(place + step).copied().unwrap_or(fill)).collect();
            shifted = self.select(*by, &moved, &shifted);
        }
        shifted
    }

    /// Whether a number is less than another: the highest bits that differ decide; of signs the other way round.
    fn less(&mut self, ty: MachineTy, left: &[Lit], right: &[Lit]) -> Lit {
        let mut less = Lit::FALSE;
        for (place, (left_bit, right_bit)) in left.iter().zip(right).enumerate() {
            let is_sign = ty.signed && place + 1 == left.len();
            let differ = self.xor(*left_bit, *right_bit);
            less = self.ite(differ, if is_sign { *left_bit } else { *right_bit }, less);
        }
        less
    }
}

/// Returns the value of all bits above the highest one: the sign, or zero.
fn fill(ty: MachineTy, bits: &[Lit]) -> Lit {
    if ty.signed { bits[bits.len() - 1] } else { Lit::FALSE }
}

/// Returns the number of bits, at least one, that a number needs: the bits above only repeat its sign, or are zeros.
fn needed(ty: MachineTy, bits: &[Lit]) -> usize {
    let fill = fill(ty, bits);
    let used = bits.iter().rposition(|bit| *bit != fill).map_or(0, |place| place + 1);
    (used + usize::from(ty.signed)).max(1)
}

/// Returns as many bits as a type has: the lowest ones, with the others filled in.
fn extended(bits: &[Lit], fill: Lit, ty: MachineTy) -> Bits {
    (0..usize::from(ty.bits)).map(|place| bits.get(place).copied().unwrap_or(fill)).collect()
}

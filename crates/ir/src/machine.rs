//! Machine integers: their values, and the operators on them.

use std::fmt;

use crate::syntax::{BinaryOp, Expr, MachineOp, MachineTy, Ty, Value};

impl MachineTy {
    /// Returns the signed type of a width.
    pub const fn signed(bits: u8) -> MachineTy {
        MachineTy { bits, signed: true }
    }

    /// Returns the unsigned type of a width.
    pub const fn unsigned(bits: u8) -> MachineTy {
        MachineTy { bits, signed: false }
    }

    /// Returns the bits that numbers of the type have.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Returns the bits of a number: those of its two's complement, cut off at the width.
    pub const fn wrap(self, number: i128) -> u64 {
        number as u64 & self.mask()
    }

    /// Returns the number that bits stand for.
    pub const fn read(self, bits: u64) -> i128 {
        let negative = self.signed && bits >> (self.bits - 1) & 1 == 1;
        bits as i128 - if negative { 1 << self.bits } else { 0 }
    }

    /// Returns the least and the greatest number of the type.
    pub const fn bounds(self) -> (i128, i128) {
        let half = 1_i128 << (self.bits - 1);
        if self.signed { (-half, half - 1) } else { (0, 2 * half - 1) }
    }

    /// Returns whether the type exists: it has 1 to 64 bits.
    pub const fn exists(self) -> bool {
        1 <= self.bits && self.bits <= 64
    }

    /// Returns the type with this name: `i8` or `u32`.
    pub fn from_name(name: &str) -> Option<MachineTy> {
        let (signed, digits) = match name.strip_prefix('i') {
            Some(digits) => (true, digits),
            None => (false, name.strip_prefix('u')?),
        };
        let ty = MachineTy { bits: digits.parse().ok()?, signed };
        (ty.exists() && ty.to_string() == name).then_some(ty)
    }

    /// Returns the constant of a number, cut off at the width.
    pub fn constant(self, number: i128) -> Expr {
        Expr::Machine(self, self.wrap(number))
    }

    /// Returns the negation of a number: zero minus the number.
    pub fn negated(self, operand: Expr) -> Expr {
        self.apply(MachineOp::Sub, self.constant(0), operand)
    }

    /// Returns the complement of a number, bit by bit.
    pub fn complement(self, operand: Expr) -> Expr {
        self.apply(MachineOp::Xor, operand, self.constant(-1))
    }

    /// Returns 1 for true and 0 for false.
    pub fn truth(self, condition: Expr) -> Expr {
        Expr::Ite(Box::new((condition, self.constant(1), self.constant(0))))
    }

    /// Returns an operator on two numbers of the type.
    pub fn apply(self, op: MachineOp, left: Expr, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Machine(op, self), left, right)
    }
}

impl fmt::Display for MachineTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Bool => write!(f, "bool"),
            Ty::Int => write!(f, "int"),
            Ty::Machine(ty) => write!(f, "{ty}"),
        }
    }
}

impl MachineOp {
    /// All operators, with the names that they have in the text form.
    pub const ALL: [(MachineOp, &'static str); 12] = [
        (MachineOp::Add, "add"),
        (MachineOp::Sub, "sub"),
        (MachineOp::Mul, "mul"),
        (MachineOp::Div, "div"),
        (MachineOp::Rem, "rem"),
        (MachineOp::And, "and"),
        (MachineOp::Or, "or"),
        (MachineOp::Xor, "xor"),
        (MachineOp::Shl, "shl"),
        (MachineOp::Shr, "shr"),
        (MachineOp::Lt, "lt"),
        (MachineOp::Le, "le"),
    ];

    /// Returns whether the result is a truth value.
    pub fn compares(self) -> bool {
        matches!(self, MachineOp::Lt | MachineOp::Le)
    }
}

/// Computes the value of an operator on two numbers of a type.
pub fn binary(op: MachineOp, ty: MachineTy, left: u64, right: u64) -> Value {
    let (x, y) = (ty.read(left), ty.read(right));
    let number = match op {
        MachineOp::Lt => return Value::Bool(x < y),
        MachineOp::Le => return Value::Bool(x <= y),
        MachineOp::Add => x + y,
        MachineOp::Sub => x - y,
        MachineOp::Mul => x.wrapping_mul(y),
        MachineOp::Div if y == 0 => {
            if x < 0 {
                1
            } else {
                -1
            }
        }
        MachineOp::Div => x / y,
        MachineOp::Rem if y == 0 => x,
        MachineOp::Rem => x % y,
        MachineOp::And => x & y,
        MachineOp::Or => x | y,
        MachineOp::Xor => x ^ y,
        MachineOp::Shl => {
            if right < 64 {
                x << right
            } else {
                0
            }
        }
        MachineOp::Shr => x >> right.min(127),
    };
    Value::Machine(ty, ty.wrap(number))
}

/// Computes the value of a number of one type as one of another.
pub fn cast(from: MachineTy, to: MachineTy, bits: u64) -> Value {
    Value::Machine(to, to.wrap(from.read(bits)))
}

impl Value {
    /// Returns the number that the value is; a truth value is 0 or 1.
    pub fn number(self) -> i128 {
        match self {
            Value::Bool(value) => i128::from(value),
            Value::Int(value) => i128::from(value),
            Value::Machine(ty, bits) => ty.read(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operators by other words: in the arithmetic of Rust's 64 bits, shifted to the top where the width matters.
    fn expected(op: MachineOp, ty: MachineTy, left: u64, right: u64) -> Value {
        let signed = |bits: u64| ((bits << (64 - ty.bits)) as i64) >> (64 - ty.bits);
        let (a, b) = (signed(left), signed(right));
        let far = right >= u64::from(ty.bits);
        let number = |bits: u64| Value::Machine(ty, bits & (u64::MAX >> (64 - ty.bits)));
        match (op, ty.signed) {
            (MachineOp::Add, _) => number(left.wrapping_add(right)),
            (MachineOp::Sub, _) => number(left.wrapping_sub(right)),
            (MachineOp::Mul, _) => number(left.wrapping_mul(right)),
            (MachineOp::And, _) => number(left & right),
            (MachineOp::Or, _) => number(left | right),
            (MachineOp::Xor, _) => number(left ^ right),
            (MachineOp::Shl, _) => number(if far { 0 } else { left << right }),
            (MachineOp::Shr, false) => number(if far { 0 } else { left >> right }),
            (MachineOp::Shr, true) => number((a >> if far { 63 } else { right }) as u64),
            (MachineOp::Div, false) => number(left.checked_div(right).unwrap_or(u64::MAX)),
            (MachineOp::Rem, false) => number(left.checked_rem(right).unwrap_or(left)),
            (MachineOp::Div, true) if b == 0 => number(if a < 0 { 1 } else { u64::MAX }),
            (MachineOp::Rem, true) if b == 0 => number(left),
            (MachineOp::Div, true) => number(a.wrapping_div(b) as u64),
            (MachineOp::Rem, true) => number(a.wrapping_rem(b) as u64),
            (MachineOp::Lt, false) => Value::Bool(left < right),
            (MachineOp::Le, false) => Value::Bool(left <= right),
            (MachineOp::Lt, true) => Value::Bool(a < b),
            (MachineOp::Le, true) => Value::Bool(a <= b),
        }
    }

    fn check(ty: MachineTy, left: u64, right: u64) {
        for (op, name) in MachineOp::ALL {
            assert_eq!(binary(op, ty, left, right), expected(op, ty, left, right), "{ty}.{name}({left}, {right})");
        }
    }

    #[test]
    fn operators_wrap_at_every_small_width() {
        for bits in 1..=5 {
            for ty in [MachineTy::signed(bits), MachineTy::unsigned(bits)] {
                for (left, right) in (0..1 << bits).flat_map(|left| (0..1 << bits).map(move |right| (left, right))) {
                    check(ty, left, right);
                }
            }
        }
    }

    #[test]
    fn operators_wrap_at_large_widths() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state.rotate_left((state >> 58) as u32)
        };
        for bits in [8, 16, 31, 32, 33, 63, 64] {
            for ty in [MachineTy::signed(bits), MachineTy::unsigned(bits)] {
                let special = [0, 1, ty.mask(), ty.mask() >> 1, ty.mask() ^ (ty.mask() >> 1), u64::from(bits)];
                for left in special {
                    special.iter().for_each(|right| check(ty, left & ty.mask(), right & ty.mask()));
                }
                for _ in 0..300 {
                    let (left, right) = (next() & ty.mask(), next() & ty.mask());
                    check(ty, left, right);
                    check(ty, left, (right % 70) & ty.mask());
                }
            }
        }
    }

    #[test]
    fn casts_truncate_and_extend_as_those_of_rust() {
        for bits in 0..=255_u8 {
            let cast = |from, to| cast(from, to, u64::from(bits));
            let (u8, i8) = (MachineTy::unsigned(8), MachineTy::signed(8));
            let (u32, i32) = (MachineTy::unsigned(32), MachineTy::signed(32));
            assert_eq!(cast(u8, u32), Value::Machine(u32, u64::from(bits)));
            assert_eq!(cast(i8, u32), Value::Machine(u32, u64::from(bits as i8 as u32)));
            assert_eq!(cast(i8, i32).number(), i128::from(bits as i8));
            assert_eq!(cast(u8, i8).number(), i128::from(bits as i8));
            assert_eq!(cast(i8, MachineTy::unsigned(3)), Value::Machine(MachineTy::unsigned(3), u64::from(bits & 7)));
            assert_eq!(cast(i8, MachineTy::signed(64)).number(), i128::from(bits as i8));
        }
    }

    #[test]
    fn values_stay_small_and_types_have_names() {
        assert_eq!(size_of::<Value>(), 16);
        assert_eq!(size_of::<Expr>(), 24);
        for bits in 1..=64 {
            for ty in [MachineTy::signed(bits), MachineTy::unsigned(bits)] {
                assert_eq!(MachineTy::from_name(&ty.to_string()), Some(ty));
                let (least, greatest) = ty.bounds();
                assert_eq!((ty.read(ty.wrap(least)), ty.read(ty.wrap(greatest))), (least, greatest));
                assert_eq!(ty.wrap(greatest + 1), ty.wrap(least));
            }
        }
        for name in ["i", "u0", "u65", "i08", "u+8", "int", "x8", ""] {
            assert_eq!(MachineTy::from_name(name), None, "{name}");
        }
    }
}

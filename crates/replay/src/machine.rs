//! Arithmetic of machine integers, by the judge's own code: [`selvedge_ir::MachineOp`] says what the operators mean.

use selvedge_ir::{MachineOp, MachineTy, Ty, Value};

/// Returns whether a value is of a type: a machine integer has no bits beyond its width.
pub(crate) fn is_of(value: Value, ty: Ty) -> bool {
    let fits = |ty: MachineTy, value: u64| value == bits(ty, value.into());
    value.ty() == ty && !matches!(value, Value::Machine(ty, bits) if !fits(ty, bits))
}

/// The number that the bits of a machine integer stand for.
pub(crate) fn number(ty: MachineTy, bits: u64) -> i128 {
    let is_negative = ty.signed && bits & (1 << (ty.bits - 1)) != 0;
    i128::from(bits) - if is_negative { 1 << ty.bits } else { 0 }
}

/// The bits of a number, cut off at the width.
pub(crate) fn bits(ty: MachineTy, number: i128) -> u64 {
    number.rem_euclid(1 << ty.bits) as u64
}

/// The value of an operator on the bits of two numbers.
pub(crate) fn binary(op: MachineOp, ty: MachineTy, left: u64, right: u64) -> Value {
    let (x, y) = (number(ty, left), number(ty, right));
    let shift = right.min(127);
    let result = match op {
        MachineOp::Lt => return Value::Bool(x < y),
        MachineOp::Le => return Value::Bool(x <= y),
        MachineOp::Add => x + y,
        MachineOp::Sub => x - y,
        // The product of the bits is that of the numbers, up to what is cut off.
        MachineOp::Mul => i128::from(left.wrapping_mul(right)),
        MachineOp::Div => x.checked_div(y).unwrap_or(if x < 0 { 1 } else { -1 }),
        MachineOp::Rem => x.checked_rem(y).unwrap_or(x),
        MachineOp::And => i128::from(left & right),
        MachineOp::Or => i128::from(left | right),
        MachineOp::Xor => i128::from(left ^ right),
        MachineOp::Shl => i128::from(left.checked_shl(shift as u32).unwrap_or(0)),
        MachineOp::Shr => x >> shift,
    };
    Value::Machine(ty, bits(ty, result))
}

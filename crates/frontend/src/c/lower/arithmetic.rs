//! Arithmetic, with numbers and with pointers.

use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy};

use super::super::tree::{BinaryOp, Expr};
use super::super::types::QualType;
use super::body::Body;
use super::place::cast;
use super::{Lowered, refuse};

impl Body<'_, '_> {
    pub(super) fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (ty, by) = (self.scalar(expr.ty, expr.loc)?, self.scalar(right.ty, right.loc)?);
        self.check_shift(op, by, ty, expr)?;
        let (left, right) = self.pair(left, right)?;
        self.check_operation(op, ty, &left, (&right, by));
        Ok(binary(op, ty, left, cast(right, by, ty)))
    }

    /// Refuses shifts by numbers that are wider than what is shifted.
    pub(super) fn check_shift(&self, op: BinaryOp, by: MachineTy, ty: MachineTy, expr: &Expr) -> Lowered<()> {
        match op {
            BinaryOp::Shl | BinaryOp::Shr if by.bits > ty.bits => refuse("a shift by a wider number is", expr.loc),
            _ => Ok(()),
        }
    }

    /// Returns the size of what a pointer points to.
    pub(super) fn pointee_size(&self, pointer: QualType, expr: &Expr) -> Lowered<u64> {
        let types = &self.unit.types;
        match types.pointee(pointer).and_then(|of| types.layout(of)) {
            Some(layout) => Ok(layout.size),
            None => refuse("arithmetic with this pointer is", expr.loc),
        }
    }

    /// Returns an address moved by a number of elements.
    pub(super) fn offset(&self, base: Ir, number: Ir, ty: MachineTy, size: u64, is_negative: bool) -> Ir {
        moved(self.low.pointer_ty(), base, number, ty, size, is_negative)
    }

    /// Evaluates `p - q`, in elements.
    pub(super) fn difference(&mut self, left: &Expr, right: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (pointer, ty) = (self.low.pointer_ty(), self.scalar(expr.ty, expr.loc)?);
        let signed = MachineTy { signed: true, ..pointer };
        let size = self.pointee_size(left.ty, expr)?.max(1);
        let (left, right) = self.pair(left, right)?;
        let bytes = cast(pointer.apply(MachineOp::Sub, left, right), pointer, signed);
        Ok(cast(signed.apply(MachineOp::Div, bytes, signed.constant(i128::from(size))), signed, ty))
    }
}

pub(super) fn compares(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Returns the comparison of two numbers of one type.
pub(super) fn comparison(op: BinaryOp, ty: MachineTy, left: Ir, right: Ir) -> Ir {
    match op {
        BinaryOp::Eq => Ir::binary(IrOp::Eq, left, right),
        BinaryOp::Ne => Ir::binary(IrOp::Ne, left, right),
        BinaryOp::Lt => ty.apply(MachineOp::Lt, left, right),
        BinaryOp::Le => ty.apply(MachineOp::Le, left, right),
        BinaryOp::Gt => ty.apply(MachineOp::Lt, right, left),
        _ => ty.apply(MachineOp::Le, right, left),
    }
}

/// Returns the result of arithmetic, or of a comparison as a number.
pub(super) fn binary(op: BinaryOp, ty: MachineTy, left: Ir, right: Ir) -> Ir {
    let op = match op {
        BinaryOp::Add => MachineOp::Add,
        BinaryOp::Sub => MachineOp::Sub,
        BinaryOp::Mul => MachineOp::Mul,
        BinaryOp::Div => MachineOp::Div,
        BinaryOp::Rem => MachineOp::Rem,
        BinaryOp::And => MachineOp::And,
        BinaryOp::Or => MachineOp::Or,
        BinaryOp::Xor => MachineOp::Xor,
        BinaryOp::Shl => MachineOp::Shl,
        BinaryOp::Shr => MachineOp::Shr,
        _ => return ty.truth(comparison(op, ty, left, right)),
    };
    ty.apply(op, left, right)
}

/// Returns an address moved by a number of elements.
pub(super) fn moved(pointer: MachineTy, base: Ir, number: Ir, ty: MachineTy, size: u64, is_negative: bool) -> Ir {
    let bytes = match cast(number, ty, pointer) {
        Ir::Machine(_, bits) => pointer.constant(i128::from(bits) * i128::from(size)),
        number => pointer.apply(MachineOp::Mul, number, pointer.constant(i128::from(size))),
    };
    match (base, bytes) {
        (Ir::Machine(_, base), Ir::Machine(_, bytes)) => {
            let bytes = i128::from(bytes);
            pointer.constant(i128::from(base) + if is_negative { -bytes } else { bytes })
        }
        (base, bytes) => pointer.apply(if is_negative { MachineOp::Sub } else { MachineOp::Add }, base, bytes),
    }
}

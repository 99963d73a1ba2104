//! Arithmetic whose result C leaves open: signed overflow, shifts that are too far, division by zero.

use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy};

use super::super::super::property::Property;
use super::super::super::tree::{BinaryOp, Expr, ExprKind, UnaryOp};
use super::super::body::Body;
use super::super::expr::INT;
use super::super::place::cast;

impl Body<'_, '_> {
    /// Returns whether an operation may have a result that C leaves open.
    pub(super) fn may_overflow(&self, expr: &Expr) -> bool {
        let is_signed = self.low.scalar(expr.ty, expr.loc).is_ok_and(|ty| ty.signed);
        let may = match &expr.kind {
            ExprKind::Unary(UnaryOp::Minus, _) => is_signed,
            ExprKind::Binary(op, ..) => is_open(*op, is_signed),
            _ => false,
        };
        may && self.unit.fold(expr).is_none()
    }

    /// Checks an operation on values of a type. A shift has a right operand of its own type.
    pub(in super::super) fn check_operation(
        &mut self,
        op: BinaryOp,
        ty: MachineTy,
        left: &Ir,
        (right, right_ty): (&Ir, MachineTy),
    ) {
        if !self.asks(Property::NoOverflow) || self.low.checks.in_annotation || !is_open(op, ty.signed) {
            return;
        }
        let name = name_of(ty);
        let sign = sign(op);
        match op {
            BinaryOp::Shl | BinaryOp::Shr => {
                let width = i128::from(ty.bits);
                self.check(in_range(right, right_ty, 0, width - 1), format!("a shift of {name} goes too far"));
                if op == BinaryOp::Shl && ty.signed {
                    let shifted = ty.apply(MachineOp::Shl, left.clone(), cast(right.clone(), right_ty, ty));
                    let back = ty.apply(MachineOp::Shr, shifted, cast(right.clone(), right_ty, ty));
                    let fits = Ir::and(in_range(left, ty, 0, ty.bounds().1), Ir::binary(IrOp::Eq, back, left.clone()));
                    self.check(fits, format!("`<<` of {name} overflows"));
                }
            }
            BinaryOp::Div | BinaryOp::Rem => {
                let is_zero = Ir::binary(IrOp::Eq, right.clone(), ty.constant(0));
                self.check(negation(is_zero, right, ty), format!("`{sign}` of {name} by zero"));
                if ty.signed {
                    let least = Ir::binary(IrOp::Eq, left.clone(), ty.constant(ty.bounds().0));
                    let minus = Ir::binary(IrOp::Eq, right.clone(), ty.constant(-1));
                    let overflows = if is_constant(right, ty) == Some(-1) { least } else { Ir::and(least, minus) };
                    if is_constant(right, ty).is_none_or(|by| by == -1) {
                        self.check(selvedge_ir::simplify::not(overflows), format!("`{sign}` of {name} overflows"));
                    }
                }
            }
            _ => self.check(fits(op, ty, left, right), format!("`{sign}` of {name} overflows")),
        }
    }

    /// Checks the negation of a number.
    pub(in super::super) fn check_negation(&mut self, ty: MachineTy, operand: &Ir) {
        if self.asks(Property::NoOverflow) && ty.signed && !self.low.checks.in_annotation {
            let fits = fits(BinaryOp::Sub, ty, &ty.constant(0), operand);
            self.check(fits, format!("`-` of {} overflows", name_of(ty)));
        }
    }

    /// Checks `++` and `--`, which compute in `int` or a wider type.
    pub(in super::super) fn check_increment(&mut self, ty: MachineTy, old: &Ir, is_decrement: bool) {
        let op = if is_decrement { BinaryOp::Sub } else { BinaryOp::Add };
        if ty.bits >= INT.bits {
            self.check_operation(op, ty, old, (&ty.constant(1), ty));
        }
    }
}

/// Returns whether C leaves some results of an operator open.
fn is_open(op: BinaryOp, is_signed: bool) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => is_signed,
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => true,
        _ => false,
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        _ => "<<",
    }
}

fn name_of(ty: MachineTy) -> String {
    format!("{} integers of {} bits", if ty.signed { "signed" } else { "unsigned" }, ty.bits)
}

fn is_constant(value: &Ir, ty: MachineTy) -> Option<i128> {
    match value {
        Ir::Machine(_, bits) => Some(ty.read(*bits)),
        _ => None,
    }
}

/// Returns that a condition "is zero" does not hold, for constants as a constant.
fn negation(is_zero: Ir, value: &Ir, ty: MachineTy) -> Ir {
    is_constant(value, ty).map_or_else(|| selvedge_ir::simplify::not(is_zero), |number| Ir::Bool(number != 0))
}

/// Returns whether a number is in a range.
fn in_range(value: &Ir, ty: MachineTy, least: i128, greatest: i128) -> Ir {
    if let Some(number) = is_constant(value, ty) {
        return Ir::Bool((least..=greatest).contains(&number));
    }
    let (first, last) = ty.bounds();
    let above = (least > first).then(|| ty.apply(MachineOp::Le, ty.constant(least), value.clone()));
    let below = (greatest < last).then(|| ty.apply(MachineOp::Le, value.clone(), ty.constant(greatest)));
    match (above, below) {
        (Some(above), Some(below)) => Ir::and(above, below),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => Ir::TRUE,
    }
}

/// Returns whether the exact result of signed `+`, `-` or `*` is a number of the type. With a constant this is a range
/// of the other operand. Otherwise signs tell for sums, a wider type for products, and a division for the widest ones.
fn fits(op: BinaryOp, ty: MachineTy, left: &Ir, right: &Ir) -> Ir {
    let (first, last) = ty.bounds();
    match (op, is_constant(left, ty), is_constant(right, ty)) {
        (_, Some(l), Some(r)) => {
            let exact = match op {
                BinaryOp::Add => l + r,
                BinaryOp::Sub => l - r,
                _ => l * r,
            };
            Ir::Bool((first..=last).contains(&exact))
        }
        (BinaryOp::Add, Some(by), None) => in_range(right, ty, first.max(first - by), last.min(last - by)),
        (BinaryOp::Add, None, Some(by)) => in_range(left, ty, first.max(first - by), last.min(last - by)),
        (BinaryOp::Sub, None, Some(by)) => in_range(left, ty, first.max(first + by), last.min(last + by)),
        (BinaryOp::Sub, Some(from), None) => in_range(right, ty, first.max(from - last), last.min(from - first)),
        (BinaryOp::Add | BinaryOp::Sub, None, None) => sum_fits(op, ty, left, right),
        (_, Some(by), None) => multiple_fits(ty, right, by),
        (_, None, Some(by)) => multiple_fits(ty, left, by),
        _ => product_fits(ty, left, right),
    }
}

/// Returns whether a sum or difference fits: it does not if the result has another sign than both parts of the sum.
fn sum_fits(op: BinaryOp, ty: MachineTy, left: &Ir, right: &Ir) -> Ir {
    let is_sum = op == BinaryOp::Add;
    let operation = if is_sum { MachineOp::Add } else { MachineOp::Sub };
    let result = ty.apply(operation, left.clone(), right.clone());
    let one = ty.apply(MachineOp::Xor, left.clone(), result.clone());
    let other = ty.apply(MachineOp::Xor, right.clone(), if is_sum { result } else { left.clone() });
    ty.apply(MachineOp::Le, ty.constant(0), ty.apply(MachineOp::And, one, other))
}

/// Returns whether the product with a constant fits.
fn multiple_fits(ty: MachineTy, value: &Ir, by: i128) -> Ir {
    let (first, last) = ty.bounds();
    match by {
        0 => Ir::TRUE,
        1.. => in_range(value, ty, first / by, last / by),
        _ => in_range(value, ty, last / by, (first / by).min(last)),
    }
}

fn product_fits(ty: MachineTy, left: &Ir, right: &Ir) -> Ir {
    let (first, last) = ty.bounds();
    if ty.bits <= 32 {
        let wide = MachineTy::signed(2 * ty.bits);
        let (left, right) = (cast(left.clone(), ty, wide), cast(right.clone(), ty, wide));
        return in_range(&wide.apply(MachineOp::Mul, left, right), wide, first, last);
    }
    let is = |value: &Ir, number: i128| Ir::binary(IrOp::Eq, value.clone(), ty.constant(number));
    let not = selvedge_ir::simplify::not;
    let product = ty.apply(MachineOp::Mul, left.clone(), right.clone());
    let back = Ir::binary(IrOp::Eq, ty.apply(MachineOp::Div, product, left.clone()), right.clone());
    let extreme = Ir::or(Ir::and(is(left, -1), is(right, first)), Ir::and(is(left, first), is(right, -1)));
    Ir::and(not(extreme), Ir::or(is(left, 0), back))
}

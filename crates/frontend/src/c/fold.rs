//! The values of constant expressions, exactly as the program would compute them.
//!
//! Integers are kept within the range of their type: after each operation the value is reduced modulo the width. What
//! has no defined value (a division by zero, a shift that is too far) is not constant.

use super::DataModel;
use super::tree::{BinaryOp, CastKind, Expr, ExprKind, FunctionId, ObjectId, Storage, StringId, UnaryOp, Unit};
use super::types::{FloatKind, QualType, Type, Types};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Integer(i128),
    Float(f64),
    Address(Address),
}

/// An address that is known up to the place of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Base,
    /// In bytes.
    pub offset: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The null pointer, or a number as an address.
    Null,
    Object(ObjectId),
    Function(FunctionId),
    String(StringId),
}

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folded {
    pub constant: Constant,
    /// True if some signed operation in it does not fit its type; the value has wrapped around.
    pub overflows: bool,
}

impl Folded {
    fn exact(constant: Constant) -> Folded {
        Folded { constant, overflows: false }
    }

    fn truth(holds: bool) -> Folded {
        Folded::exact(Constant::Integer(i128::from(holds)))
    }

    fn integer(self) -> Option<i128> {
        match self.constant {
            Constant::Integer(value) => Some(value),
            Constant::Address(Address { base: Base::Null, offset }) => Some(offset),
            Constant::Float(_) | Constant::Address(_) => None,
        }
    }

    /// Returns whether it is not zero.
    fn holds(self) -> bool {
        match self.constant {
            Constant::Integer(value) => value != 0,
            Constant::Float(value) => value != 0.0,
            Constant::Address(address) => address.base != Base::Null || address.offset != 0,
        }
    }
}

/// Returns a number modulo 2 to the power of a width, within the range of a signed or unsigned type. The range of 128
/// unsigned bits is that of the patterns of bits.
pub fn wrap(value: i128, width: u32, is_signed: bool) -> i128 {
    let unused = 128 - width;
    let shifted = value << unused;
    if is_signed { shifted >> unused } else { (shifted.cast_unsigned() >> unused).cast_signed() }
}

impl Types {
    /// Returns a number converted to an integer type.
    pub fn wrap(&self, value: i128, ty: QualType) -> i128 {
        match (self.get(ty), self.integer(ty)) {
            (Type::Bool, _) => i128::from(value != 0),
            (_, Some(kind)) => wrap(value, kind.width(self.model), kind.is_signed()),
            (_, None) => value,
        }
    }
}

impl Unit {
    /// Returns the value of a constant expression of integer type.
    pub fn integer(&self, expr: &Expr) -> Option<i128> {
        self.types.is_integer(expr.ty).then(|| self.fold(expr))?.and_then(Folded::integer)
    }

    /// Returns the value of a constant expression; `None` if it is not constant.
    pub fn fold(&self, expr: &Expr) -> Option<Folded> {
        match &expr.kind {
            ExprKind::Integer(value) => Some(Folded::exact(Constant::Integer(*value))),
            ExprKind::Float(value) => self.float(*value, expr.ty),
            ExprKind::Decay(place) | ExprKind::AddressOf(place) => {
                self.address(place).map(|address| Folded::exact(Constant::Address(address)))
            }
            ExprKind::Unary(op, operand) => self.fold_unary(*op, operand, expr.ty),
            ExprKind::Binary(op, left, right) => self.fold_binary(*op, left, right, expr.ty),
            ExprKind::Offset { pointer, index, is_negative } => {
                let index = self.fold(index)?.integer()?;
                self.fold_offset(pointer, if *is_negative { -index } else { index })
            }
            ExprKind::Difference(left, right) => self.fold_difference(left, right),
            ExprKind::Logical { is_and, left, right } => {
                let left = self.fold(left)?;
                if left.holds() != *is_and {
                    return Some(Folded::truth(!*is_and));
                }
                Some(Folded::truth(self.fold(right)?.holds()))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition_value = self.fold(condition)?;
                match (condition_value.holds(), then) {
                    (true, Some(then)) => self.fold(then),
                    (true, None) => self.convert(condition_value, condition.ty, expr.ty),
                    (false, _) => self.fold(otherwise),
                }
            }
            ExprKind::Cast { kind, value, .. } if *kind != CastKind::Void && *kind != CastKind::Same => {
                self.convert(self.fold(value)?, value.ty, expr.ty)
            }
            _ => None,
        }
    }

    /// Returns the address of a place that lives as long as the program.
    fn address(&self, place: &Expr) -> Option<Address> {
        match &place.kind {
            ExprKind::Object(id) | ExprKind::CompoundLiteral(id) => {
                let is_static = self.objects[*id].storage == Storage::Static;
                is_static.then_some(Address { base: Base::Object(*id), offset: 0 })
            }
            ExprKind::Function(id) => Some(Address { base: Base::Function(*id), offset: 0 }),
            ExprKind::String(id) => Some(Address { base: Base::String(*id), offset: 0 }),
            ExprKind::Deref(pointer) => as_address(self.fold(pointer)?.constant),
            ExprKind::Member(base, number) => {
                let field = self.types.record(base.ty)?.fields.get(*number)?;
                let address = self.address(base)?;
                Some(Address { offset: address.offset + i128::from(field.offset), ..address })
            }
            _ => None,
        }
    }

    fn fold_offset(&self, pointer: &Expr, index: i128) -> Option<Folded> {
        let size = self.types.layout(self.types.pointee(pointer.ty)?)?.size;
        let address = as_address(self.fold(pointer)?.constant)?;
        let offset = index.checked_mul(i128::from(size))?.checked_add(address.offset)?;
        Some(Folded::exact(Constant::Address(Address { offset, ..address })))
    }

    fn fold_difference(&self, left: &Expr, right: &Expr) -> Option<Folded> {
        let size = i128::from(self.types.layout(self.types.pointee(left.ty)?)?.size);
        let (one, other) = (as_address(self.fold(left)?.constant)?, as_address(self.fold(right)?.constant)?);
        let is_same = one.base == other.base && size > 0;
        is_same.then(|| Folded::exact(Constant::Integer((one.offset - other.offset) / size)))
    }

    fn fold_unary(&self, op: UnaryOp, operand: &Expr, ty: QualType) -> Option<Folded> {
        let operand = self.fold(operand)?;
        match (op, operand.constant) {
            (UnaryOp::Not, _) => Some(Folded { overflows: operand.overflows, ..Folded::truth(!operand.holds()) }),
            (UnaryOp::Minus, Constant::Integer(value)) => self.finish(value.wrapping_neg(), ty, operand.overflows),
            (UnaryOp::Complement, Constant::Integer(value)) => self.finish(!value, ty, operand.overflows),
            (UnaryOp::Minus, Constant::Float(value)) => self.float(-value, ty),
            _ => None,
        }
    }

    /// Returns an integer in its type, and whether it did not fit.
    fn finish(&self, exact: i128, ty: QualType, overflows: bool) -> Option<Folded> {
        let kind = self.types.integer(ty)?;
        let value = self.types.wrap(exact, ty);
        let overflows = overflows || kind.is_signed() && value != exact;
        Some(Folded { constant: Constant::Integer(value), overflows })
    }

    fn float(&self, value: f64, ty: QualType) -> Option<Folded> {
        match self.types.get(ty) {
            Type::Float(FloatKind::Float) => Some(Folded::exact(Constant::Float(f64::from(value as f32)))),
            Type::Float(FloatKind::Double) => Some(Folded::exact(Constant::Float(value))),
            // Only what is exact in the smaller format: integers and their halves.
            Type::Float(_) if (value * 2.0).fract() == 0.0 => Some(Folded::exact(Constant::Float(value))),
            _ => None,
        }
    }

    fn fold_binary(&self, op: BinaryOp, left: &Expr, right: &Expr, ty: QualType) -> Option<Folded> {
        let operand_type = left.ty;
        let (left, right) = (self.fold(left)?, self.fold(right)?);
        let overflows = left.overflows || right.overflows;
        let folded = match (left.constant, right.constant) {
            (Constant::Integer(left), Constant::Integer(right)) => {
                self.fold_integers(op, left, right, operand_type, ty)
            }
            (Constant::Float(left), Constant::Float(right)) => self.fold_floats(op, left, right, ty),
            (one, other) => fold_addresses(op, as_address(one)?, as_address(other)?),
        }?;
        Some(Folded { overflows: overflows || folded.overflows, ..folded })
    }

    fn fold_integers(&self, op: BinaryOp, a: i128, b: i128, operands: QualType, ty: QualType) -> Option<Folded> {
        let kind = self.types.integer(operands)?;
        let is_signed = kind.is_signed();
        let order = if is_signed { a.cmp(&b) } else { a.cast_unsigned().cmp(&b.cast_unsigned()) };
        let exact = match op {
            BinaryOp::Eq => return Some(Folded::truth(order.is_eq())),
            BinaryOp::Ne => return Some(Folded::truth(order.is_ne())),
            BinaryOp::Lt => return Some(Folded::truth(order.is_lt())),
            BinaryOp::Le => return Some(Folded::truth(order.is_le())),
            BinaryOp::Gt => return Some(Folded::truth(order.is_gt())),
            BinaryOp::Ge => return Some(Folded::truth(order.is_ge())),
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if is_signed => a.checked_div(b)?,
            BinaryOp::Rem if is_signed => a.checked_rem(b)?,
            BinaryOp::Div => a.cast_unsigned().checked_div(b.cast_unsigned())?.cast_signed(),
            BinaryOp::Rem => a.cast_unsigned().checked_rem(b.cast_unsigned())?.cast_signed(),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl | BinaryOp::Shr => {
                return self.fold_shift(op, a, u32::try_from(b).ok()?, ty);
            }
        };
        self.finish(exact, ty, false)
    }

    fn fold_shift(&self, op: BinaryOp, value: i128, by: u32, ty: QualType) -> Option<Folded> {
        let kind = self.types.integer(ty)?;
        if by >= kind.width(self.types.model) {
            return None;
        }
        let shifted = match op {
            BinaryOp::Shl => value << by,
            _ if kind.is_signed() => value >> by,
            _ => (value.cast_unsigned() >> by).cast_signed(),
        };
        // Compilers agree that a left shift into the sign is a shift of bits.
        Some(Folded::exact(Constant::Integer(self.types.wrap(shifted, ty))))
    }

    fn fold_floats(&self, op: BinaryOp, a: f64, b: f64, ty: QualType) -> Option<Folded> {
        match op {
            BinaryOp::Add => self.float(a + b, ty),
            BinaryOp::Sub => self.float(a - b, ty),
            BinaryOp::Mul => self.float(a * b, ty),
            BinaryOp::Div => self.float(a / b, ty),
            BinaryOp::Eq => Some(Folded::truth(a == b)),
            BinaryOp::Ne => Some(Folded::truth(a != b)),
            BinaryOp::Lt => Some(Folded::truth(a < b)),
            BinaryOp::Le => Some(Folded::truth(a <= b)),
            BinaryOp::Gt => Some(Folded::truth(a > b)),
            BinaryOp::Ge => Some(Folded::truth(a >= b)),
            _ => None,
        }
    }

    /// Returns a constant converted to a type.
    fn convert(&self, folded: Folded, from: QualType, to: QualType) -> Option<Folded> {
        let types = &self.types;
        let constant = match (types.get(to), folded.constant) {
            (Type::Bool, _) => Constant::Integer(i128::from(folded.holds())),
            (Type::Pointer(_), Constant::Integer(value)) => {
                Constant::Address(Address { base: Base::Null, offset: self.to_address(value) })
            }
            (Type::Pointer(_), Constant::Address(_)) => folded.constant,
            (Type::Float(_), Constant::Integer(value)) => {
                let is_huge = types.integer(from).is_some_and(|kind| !kind.is_signed()) && value < 0;
                return if is_huge { None } else { self.float(value as f64, to) };
            }
            (Type::Float(_), Constant::Float(value)) => return self.float(value, to),
            (_, Constant::Integer(value)) if types.is_integer(to) => Constant::Integer(types.wrap(value, to)),
            (_, Constant::Float(value)) if types.is_integer(to) => Constant::Integer(self.truncate(value, to)?),
            (_, Constant::Address(address)) if types.is_integer(to) => self.address_as_integer(address, to)?,
            _ => return None,
        };
        Some(Folded { constant, ..folded })
    }

    fn to_address(&self, value: i128) -> i128 {
        wrap(value, if self.types.model == DataModel::Lp64 { 64 } else { 32 }, false)
    }

    /// Returns a number without its fraction; `None` if the type does not hold it.
    fn truncate(&self, value: f64, ty: QualType) -> Option<i128> {
        let whole = value.trunc();
        let exact = (whole.abs() < 1e30).then_some(whole as i128)?;
        (self.types.wrap(exact, ty) == exact).then_some(exact)
    }

    /// Returns an address as an integer: a number if it is one, and else the address itself where the type holds it.
    fn address_as_integer(&self, address: Address, ty: QualType) -> Option<Constant> {
        if address.base == Base::Null {
            return Some(Constant::Integer(self.types.wrap(address.offset, ty)));
        }
        let pointer = if self.types.model == DataModel::Lp64 { 64 } else { 32 };
        let kind = self.types.integer(ty)?;
        (kind.width(self.types.model) >= pointer).then_some(Constant::Address(address))
    }
}

fn as_address(constant: Constant) -> Option<Address> {
    match constant {
        Constant::Address(address) => Some(address),
        Constant::Integer(offset) => Some(Address { base: Base::Null, offset }),
        Constant::Float(_) => None,
    }
}

/// Compares addresses: those of parts of one object by their offsets, and objects are not null.
fn fold_addresses(op: BinaryOp, one: Address, other: Address) -> Option<Folded> {
    if one.base == other.base {
        let order = one.offset.cmp(&other.offset);
        return Some(Folded::truth(match op {
            BinaryOp::Eq => order.is_eq(),
            BinaryOp::Ne => order.is_ne(),
            BinaryOp::Lt => order.is_lt(),
            BinaryOp::Le => order.is_le(),
            BinaryOp::Gt => order.is_gt(),
            BinaryOp::Ge => order.is_ge(),
            _ => return None,
        }));
    }
    let null = Address { base: Base::Null, offset: 0 };
    let is_null_beside_object = one == null && other.offset == 0 || other == null && one.offset == 0;
    match op {
        BinaryOp::Eq if is_null_beside_object => Some(Folded::truth(false)),
        BinaryOp::Ne if is_null_beside_object => Some(Folded::truth(true)),
        _ => None,
    }
}

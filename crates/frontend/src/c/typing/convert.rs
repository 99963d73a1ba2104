//! Conversions, each of which becomes a node of the tree.

use super::Typer;
use crate::c::files::Loc;
use crate::c::tree::{CastKind, Expr, ExprKind};
use crate::c::types::{FloatKind, IntKind, QualType, Type, basic};
use crate::diagnostic::Code;

impl Typer {
    /// Returns the value of an expression: an object is read, an array or function becomes a pointer.
    pub(crate) fn value(&mut self, expr: Expr) -> Expr {
        let (ty, loc) = (expr.ty, expr.loc);
        match *self.unit.types.get(ty) {
            Type::Error | Type::Void => expr,
            Type::Array(of, _) => {
                let pointer = self.types().pointer(of);
                self.make(ExprKind::Decay(Box::new(expr)), pointer, loc)
            }
            Type::Function(_) => {
                let pointer = self.types().pointer(ty);
                self.make(ExprKind::Decay(Box::new(expr)), pointer, loc)
            }
            _ if expr.is_place() => self.make(ExprKind::Load(Box::new(expr)), ty.plain(), loc),
            _ => Expr { ty: ty.plain(), ..expr },
        }
    }

    /// Returns the type of an integer after promotion.
    pub(crate) fn promoted(&self, ty: QualType) -> QualType {
        let types = &self.unit.types;
        match types.integer(ty) {
            Some(kind) if kind.rank() < IntKind::Int.rank() => basic::INT,
            Some(kind) => basic::int(kind),
            None => ty.plain(),
        }
    }

    /// Promotes a value: integers smaller than `int`, and bit-fields that fit into `int`, become `int`.
    pub(crate) fn promote(&mut self, value: Expr) -> Expr {
        let ty = match self.width_of_bits(&value) {
            Some((width, kind)) if width < 32 || width == 32 && kind.is_signed() => basic::INT,
            Some((32, _)) => basic::UINT,
            _ => self.promoted(value.ty),
        };
        self.cast(value, ty, true)
    }

    /// Returns the width and the type of the bit-field that a value is read from.
    fn width_of_bits(&self, value: &Expr) -> Option<(u32, IntKind)> {
        let bits = match &value.kind {
            ExprKind::Load(place) => self.bit_field(place)?,
            ExprKind::Assign { target, .. }
            | ExprKind::AssignOp { target, .. }
            | ExprKind::Increment { target, .. } => self.bit_field(target)?,
            _ => return None,
        };
        Some((bits.width, self.unit.types.integer(value.ty)?))
    }

    /// Returns the bits of a place that is a bit-field.
    pub(crate) fn bit_field(&self, place: &Expr) -> Option<crate::c::types::Bits> {
        let ExprKind::Member(base, number) = &place.kind else { return None };
        self.unit.types.record(base.ty)?.fields.get(*number)?.bits
    }

    /// Converts two arithmetic values to their common type.
    pub(crate) fn balance(&mut self, left: Expr, right: Expr) -> (Expr, Expr, QualType) {
        let ty = match self.common_float(left.ty, right.ty) {
            Some(kind) => float_type(kind),
            None => {
                let (left, right) = (self.promote(left), self.promote(right));
                let ty = self.common_integer(left.ty, right.ty);
                return (self.cast(left, ty, true), self.cast(right, ty, true), ty);
            }
        };
        (self.cast(left, ty, true), self.cast(right, ty, true), ty)
    }

    fn common_float(&self, left: QualType, right: QualType) -> Option<FloatKind> {
        let kind = |ty| match self.unit.types.get(ty) {
            Type::Float(kind) => Some(*kind),
            _ => None,
        };
        kind(left).max(kind(right))
    }

    /// Returns the common type of two promoted integer types.
    pub(crate) fn common_integer(&self, left: QualType, right: QualType) -> QualType {
        let types = &self.unit.types;
        let (Some(left), Some(right)) = (types.integer(left), types.integer(right)) else { return basic::INT };
        if left.is_signed() == right.is_signed() {
            return basic::int(if left.rank() >= right.rank() { left } else { right });
        }
        let (signed, unsigned) = if left.is_signed() { (left, right) } else { (right, left) };
        basic::int(match () {
            () if unsigned.rank() >= signed.rank() => unsigned,
            () if signed.width(types.model) > unsigned.width(types.model) => signed,
            () => signed.unsigned(),
        })
    }

    /// Returns a value converted to a type that it can be converted to; nothing if it has the type.
    pub(crate) fn cast(&mut self, value: Expr, ty: QualType, is_implicit: bool) -> Expr {
        let ty = ty.plain();
        if value.ty.id == ty.id || self.unit.types.is_error(value.ty) || self.unit.types.is_error(ty) {
            return value;
        }
        let kind = self.cast_kind(value.ty, ty);
        let loc = value.loc;
        self.make(ExprKind::Cast { kind, value: Box::new(value), is_implicit }, ty, loc)
    }

    fn cast_kind(&self, from: QualType, to: QualType) -> CastKind {
        let types = &self.unit.types;
        match (types.get(from), types.get(to)) {
            (_, Type::Void) => CastKind::Void,
            (_, Type::Bool) => CastKind::Bool,
            (Type::Float(_), Type::Float(_)) => CastKind::Float,
            (Type::Float(_), _) => CastKind::FloatToInteger,
            (_, Type::Float(_)) => CastKind::IntegerToFloat,
            (Type::Pointer(_), Type::Pointer(_)) => CastKind::Pointer,
            (Type::Pointer(_), _) => CastKind::PointerToInteger,
            (_, Type::Pointer(_)) => CastKind::IntegerToPointer,
            (Type::Record(_), _) => CastKind::Same,
            _ => CastKind::Integer,
        }
    }

    /// Returns the value of a written cast.
    pub(crate) fn written_cast(&mut self, expr: Expr, ty: QualType, loc: Loc) -> Expr {
        let value = self.value(expr);
        let types = &self.unit.types;
        let is_fine = types.is_error(value.ty)
            || types.is_error(ty)
            || types.is_void(ty)
            || types.is_scalar(ty) && types.is_scalar(value.ty) && !self.mixes_pointer_and_float(value.ty, ty)
            || types.is_record(ty) && value.ty.id == ty.id;
        if !is_fine {
            let message =
                format!("a value of type `{}` cannot be converted to `{}`", self.show(value.ty), self.show(ty));
            return self.reject(Code::CWrongType, message, loc);
        }
        if value.ty.id == ty.id {
            return Expr { loc, ..value };
        }
        let cast = self.cast(value, ty, false);
        Expr { loc, ..cast }
    }

    fn mixes_pointer_and_float(&self, one: QualType, other: QualType) -> bool {
        let types = &self.unit.types;
        types.is_pointer(one) && types.is_float(other) || types.is_float(one) && types.is_pointer(other)
    }

    /// Returns a value as the condition of a statement or operator.
    pub(crate) fn condition(&mut self, expr: Expr) -> Expr {
        let value = self.value(expr);
        if !self.unit.types.is_scalar(value.ty) && !self.unit.types.is_error(value.ty) {
            let message = format!("a value of type `{}` cannot be a condition", self.show(value.ty));
            return self.reject(Code::CWrongType, message, value.loc);
        }
        value
    }

    /// Returns whether a value is a null pointer wherever a pointer is needed.
    pub(crate) fn is_null(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Cast { value: inner, .. } if self.is_plain_void_pointer(value.ty) => self.is_null(inner),
            _ => self.unit.types.is_integer(value.ty) && self.unit.integer(value) == Some(0),
        }
    }

    fn is_plain_void_pointer(&self, ty: QualType) -> bool {
        self.unit.types.pointee(ty).is_some_and(|to| to == basic::VOID)
    }

    /// Converts a value as an assignment does. `what` says for what, in diagnostics.
    pub(crate) fn assigned(&mut self, expr: Expr, ty: QualType, what: &str) -> Expr {
        let value = self.value(expr);
        let types = &self.unit.types;
        if types.is_error(value.ty) || types.is_error(ty) {
            return value;
        }
        let loc = value.loc;
        let fit = self.fit(&value, ty);
        if fit == Fit::Wrong {
            let message = format!("{what} has type `{}`, not `{}`", self.show(ty.plain()), self.show(value.ty));
            return self.reject(Code::CWrongType, message, loc);
        }
        if let Fit::Warn(why) = fit {
            let message = format!("{what} has type `{}`, not `{}`", self.show(ty.plain()), self.show(value.ty));
            let diagnostic = self.diagnostic(Code::CConversion, message, loc).label(why).help("write a cast");
            self.push(diagnostic);
        }
        self.cast(value, ty, true)
    }

    /// Returns how well a value fits a type that it is assigned to.
    fn fit(&self, value: &Expr, ty: QualType) -> Fit {
        let types = &self.unit.types;
        match (types.get(value.ty), types.get(ty)) {
            (_, Type::Bool) if types.is_scalar(value.ty) => Fit::Well,
            (Type::Pointer(from), Type::Pointer(to)) => self.fit_pointers(value, *from, *to),
            (_, Type::Pointer(_)) if self.is_null(value) => Fit::Well,
            (Type::Int(_), Type::Pointer(_)) => Fit::Warn("an integer is converted to a pointer"),
            (Type::Pointer(_), Type::Int(_)) => Fit::Warn("a pointer is converted to an integer"),
            (Type::Record(one), Type::Record(other)) if one == other => Fit::Well,
            (Type::VaList, Type::VaList) => Fit::Well,
            _ if types.is_arithmetic(value.ty) && types.is_arithmetic(ty) => Fit::Well,
            _ => Fit::Wrong,
        }
    }

    fn fit_pointers(&self, value: &Expr, from: QualType, to: QualType) -> Fit {
        let types = &self.unit.types;
        let is_void = types.is_void(from) || types.is_void(to);
        // Signed and unsigned are told apart by no compiler here without being asked.
        let is_same_int = types.integer(from).is_some() && {
            let unsigned = |ty| types.integer(ty).map(IntKind::unsigned);
            unsigned(from) == unsigned(to)
        };
        if is_void || is_same_int || self.is_null(value) || self.is_compatible_below(from, to) {
            Fit::Well
        } else {
            Fit::Warn("a pointer is converted to a pointer to another type")
        }
    }

    /// Returns whether two types are compatible, whatever qualifiers they and the types below them have.
    pub(crate) fn is_compatible_below(&self, one: QualType, other: QualType) -> bool {
        match (self.unit.types.get(one), self.unit.types.get(other)) {
            (Type::Array(one, _), Type::Array(other, _)) => self.is_compatible_below(*one, *other),
            (Type::Pointer(one), Type::Pointer(other)) => self.is_compatible_below(*one, *other),
            _ => self.is_compatible_plain(one, other),
        }
    }
}

/// How well a value fits a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Well,
    /// Compilers accept it with a warning.
    Warn(&'static str),
    Wrong,
}

/// Returns the type of a kind of numbers.
pub(crate) fn float_type(kind: FloatKind) -> QualType {
    match kind {
        FloatKind::Float => basic::FLOAT,
        FloatKind::Double => basic::DOUBLE,
        FloatKind::LongDouble => basic::LONG_DOUBLE,
        FloatKind::Quad => basic::QUAD,
    }
}

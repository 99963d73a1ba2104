//! Which types are compatible, and the type that two compatible declarations make together.

use super::Typer;
use crate::c::types::{FunctionType, Length, QualType, Type, basic};

impl Typer {
    /// Returns whether two types are compatible, with the same qualifiers.
    pub(crate) fn is_compatible(&self, one: QualType, other: QualType) -> bool {
        one.quals == other.quals && self.is_compatible_plain(one, other)
    }

    /// Returns whether two types are compatible, whatever their outermost qualifiers.
    pub(crate) fn is_compatible_plain(&self, one: QualType, other: QualType) -> bool {
        let types = &self.unit.types;
        if one.id == other.id || types.is_error(one) || types.is_error(other) {
            return true;
        }
        match (types.get(one), types.get(other)) {
            (Type::Pointer(one), Type::Pointer(other)) => self.is_compatible(*one, *other),
            (Type::Array(one, length), Type::Array(other, other_length)) => {
                let is_length = match (length, other_length) {
                    (Length::Known(one), Length::Known(other)) => one == other,
                    _ => true,
                };
                is_length && self.is_compatible(*one, *other)
            }
            (Type::Function(one), Type::Function(other)) => self.is_compatible_function(one, other),
            (Type::Enum(_), Type::Int(_)) | (Type::Int(_), Type::Enum(_)) => types.integer(one) == types.integer(other),
            _ => false,
        }
    }

    fn is_compatible_function(&self, one: &FunctionType, other: &FunctionType) -> bool {
        if !self.is_compatible_plain(one.result, other.result) {
            return false;
        }
        if one.prototyped && other.prototyped {
            let is_param = |(one, other): (&QualType, &QualType)| self.is_compatible_plain(*one, *other);
            return one.params.len() == other.params.len()
                && one.variadic == other.variadic
                && one.params.iter().zip(&other.params).all(is_param);
        }
        // A declaration without parameters promises nothing about them.
        true
    }

    /// Returns the type that two compatible declarations make together.
    pub(crate) fn composite(&mut self, one: QualType, other: QualType) -> QualType {
        if one.id == other.id {
            return one;
        }
        let merged = match (self.unit.types.get(one).clone(), self.unit.types.get(other).clone()) {
            (Type::Array(one, length), Type::Array(other, other_length)) => {
                let of = self.composite(one, other);
                let length = if length == Length::Unknown { other_length } else { length };
                self.types().array(of, length)
            }
            (Type::Pointer(one), Type::Pointer(other)) => {
                let to = self.composite(one, other);
                self.types().pointer(to)
            }
            (Type::Function(one), Type::Function(other)) => self.composite_function(*one, *other),
            _ => one,
        };
        merged.with(one.quals)
    }

    fn composite_function(&mut self, one: FunctionType, other: FunctionType) -> QualType {
        let result = self.composite(one.result, other.result);
        let merged = match (one.prototyped, other.prototyped) {
            (true, true) => {
                let params = one.params.iter().zip(&other.params).map(|(one, other)| self.composite(*one, *other));
                FunctionType { params: params.collect(), result, ..one }
            }
            (true, false) => FunctionType { result, ..one },
            (false, _) => FunctionType { result, ..other },
        };
        self.types().intern(Type::Function(Box::new(merged)))
    }

    /// Returns the type that an argument gets where no parameter says it.
    pub(crate) fn default_promoted(&self, ty: QualType) -> QualType {
        match self.unit.types.get(ty) {
            Type::Float(crate::c::types::FloatKind::Float) => basic::DOUBLE,
            _ => self.promoted(ty),
        }
    }
}

//! Arrays of variable length.
//!
//! An array has as many elements as the ranges of the lowered program allow for its length. They are not known before
//! the program is lowered: it is lowered with arrays of one element at first, and again with larger ones while the
//! ranges of the lengths are larger than the arrays. *End*: arrays grow each time, up to a limit. *Correctness*: in the
//! program that is returned no length exceeds the number of elements, so that no element is missing. An array that
//! grows beyond the limit is refused.

use selvedge_ir::ranges::Ranges;
use selvedge_ir::{Expr as Ir, MachineOp, Op, Scope, Ty, VarId};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{ObjectId, Storage, Unit};
use super::super::types::{Length, LengthId, QualType, Type};
use super::body::Body;
use super::{Lowered, Lowering, Refused, refuse};

/// The limit on the elements of arrays whose length is computed.
const MAX_LENGTH: i128 = 64;

/// A length that is computed, the variable that holds it, and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    length: LengthId,
    var: VarId,
    loc: Loc,
}

/// The arrays whose lengths are computed where they are declared, and how many elements they have so far.
pub(super) struct Lengths {
    arrays: Vec<(QualType, LengthId, u64)>,
}

impl Lengths {
    /// Finds the local arrays whose lengths are computed by their declarations.
    pub(super) fn of(unit: &Unit) -> Lengths {
        let mut arrays = Vec::new();
        for object in unit.objects.iter().filter(|object| object.storage == Storage::Auto) {
            let Type::Array(of, Length::Variable(length)) = unit.types.get(object.ty) else { continue };
            // The length of a type with a name is computed where the type is declared.
            let is_own = unit.lengths[*length].loc.span.start > object.loc.span.start;
            if is_own && !unit.types.is_variable(*of) {
                arrays.push((object.ty, *length, 1));
            }
        }
        Lengths { arrays }
    }

    /// Gives the arrays their elements.
    pub(super) fn fix(&self, unit: &mut Unit) {
        for (ty, _, elements) in &self.arrays {
            unit.types.fix_length(*ty, *elements);
        }
    }

    /// Returns the length of an array of a type, if it is computed.
    pub(super) fn computed(&self, ty: QualType) -> Option<LengthId> {
        self.arrays.iter().find(|(array, ..)| array.id == ty.id).map(|(_, length, _)| *length)
    }

    /// Enlarges the arrays whose lengths may be greater than their numbers of elements. Returns whether there are any.
    pub(super) fn grow(&mut self, found: &[(LengthId, i128)]) -> bool {
        let mut grows = false;
        for (_, length, elements) in &mut self.arrays {
            let most = found.iter().filter(|(of, _)| of == length).map(|(_, most)| *most).max().unwrap_or(1);
            let most = u64::try_from(most.clamp(1, MAX_LENGTH)).unwrap_or(1);
            grows |= most > *elements;
            *elements = most.max(*elements);
        }
        grows
    }
}

impl Lowering<'_> {
    /// Returns the greatest values of the lengths; those that are too large are reported.
    pub(super) fn greatest_lengths(&mut self) -> Vec<(LengthId, i128)> {
        if self.computed.is_empty() {
            return Vec::new();
        }
        let ranges = Ranges::of(&self.program);
        let mut found = Vec::new();
        for Computed { length, var, loc } in self.computed.clone() {
            let most = ranges.get(var).bounds().map_or(1, |(_, most)| most);
            if most > MAX_LENGTH {
                let what = format!("an array of a length that is not known to be {MAX_LENGTH} at most is");
                self.report(Refused { what, loc });
            }
            found.push((length, most));
        }
        found
    }
}

impl Body<'_, '_> {
    /// Computes the length of an array where the array is declared.
    pub(super) fn compute_length(&mut self, object: ObjectId) -> Lowered<()> {
        let unit = self.unit;
        let declared = &unit.objects[object];
        let Some(length) = self.low.lengths.computed(declared.ty) else { return Ok(()) };
        let expr = &unit.lengths[length];
        if super::expr::has_effects(expr) || self.has_access(expr) {
            return refuse("a length of an array that other threads can see, or with effects, is", expr.loc);
        }
        if self.asks(Property::Memory) {
            return refuse("a question about memory with arrays of variable length is", declared.loc);
        }
        let ty = self.scalar(expr.ty, expr.loc)?;
        let value = self.value(expr)?;
        let var = self.low.new_var("length".to_owned(), Scope::Local(self.proc), Ty::Machine(ty), self.span);
        self.low.hide([var]);
        self.step(Op::set(vec![(var, value)]));
        self.low.computed.push(Computed { length, var, loc: declared.loc });
        self.require(ty.apply(MachineOp::Lt, ty.constant(0), Ir::Var(var)));
        Ok(())
    }
}

//! Objects that the text does not declare.

use index_vec::IndexVec;

use super::super::names::Symbol;
use super::super::tree::{
    Definition, Expr, ExprKind, Init, InitItem, Linkage, Object, ObjectId, PathStep, Storage, StringId, StringLiteral,
    Unit,
};
use super::super::types::{QualType, Type};
use super::heap::{Pool, pools};

/// The objects that are added.
pub(super) struct Made {
    /// Those that hold the elements of string literals.
    pub(super) strings: IndexVec<StringId, ObjectId>,
    /// Those that are allocated.
    pub(super) pools: Vec<Pool>,
}

/// Adds the objects that the text does not declare.
pub(super) fn make(unit: &mut Unit, malloc_bound: u32) -> Made {
    Made { strings: strings(unit), pools: pools(unit, malloc_bound) }
}

/// Adds an object for each string literal, with its elements as initial values.
fn strings(unit: &mut Unit) -> IndexVec<StringId, ObjectId> {
    let none = unit.names.intern("");
    let made: Vec<(String, Object)> = unit.strings.iter().map(|string| object_of(unit, string, none)).collect();
    let add = |(name, object): (String, Object)| {
        let name = unit.names.intern(&name);
        unit.objects.push(Object { name, ..object })
    };
    made.into_iter().map(add).collect()
}

fn object_of(unit: &Unit, string: &StringLiteral, name: Symbol) -> (String, Object) {
    let text: String = string.units.iter().filter_map(|unit| char::from_u32(*unit)).filter(|c| *c != '\0').collect();
    let element = match unit.types.get(string.ty) {
        Type::Array(of, _) => *of,
        _ => string.ty,
    };
    let size = unit.types.layout(element).map_or(1, |layout| layout.size);
    let items =
        string.units.iter().enumerate().map(|(number, value)| item(number as u64, *value, size, element, string));
    let object = Object {
        name,
        ty: string.ty,
        storage: Storage::Static,
        linkage: Linkage::None,
        definition: Definition::Defined,
        init: Some(Init { items: items.collect() }),
        align: None,
        function: None,
        loc: string.loc,
    };
    (format!("{text:?}"), object)
}

fn item(number: u64, value: u32, size: u64, ty: QualType, string: &StringLiteral) -> InitItem {
    let bits = 8 * size.min(4);
    // Elements of `char` have a sign, those of the other types hold what is in the literal.
    let value = match size {
        1 => i128::from(value as u8 as i8),
        _ => i128::from(value) & ((1 << bits) - 1),
    };
    let value = Expr::new(ExprKind::Integer(value), ty, string.loc);
    InitItem { path: vec![PathStep::Index(number)], offset: number * size, bits: None, ty, value }
}

//! Offsets in objects, up to the indices of arrays.
//!
//! Elements of one array are one class: the offset that stands for `a[2].f` is that of `a[0].f`. Inside of unions,
//! whose members see the same bytes in different ways, each offset is a class of its own.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::super::types::{Length, QualType, Type, TypeId, Types};

/// The limit on the size of objects whose offsets are told apart.
const MAX_SIZE: u64 = 1 << 16;

/// The limit on the classes to which a pointer may lead in one object.
const MAX_CLASSES: usize = 64;

/// The limit on pairs of elements and places of an array that are looked at.
const MAX_PRODUCT: u64 = 1 << 20;

/// How a pointer moves, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Move {
    /// By a known number of bytes.
    By(i64),
    /// By any multiple of a size.
    Multiple(u64),
    /// To one of the first elements of a size.
    Element { size: u64, length: u64 },
}

/// The classes of offsets in a type to which a pointer to a class moves; `None` if they are many.
type Moved = Option<Rc<[u64]>>;

/// The classes of the offsets of types, computed once for each type.
#[derive(Default)]
pub(super) struct Offsets {
    classes: FxHashMap<TypeId, Option<Rc<[u32]>>>,
    moved: FxHashMap<(TypeId, u64, Move), Moved>,
}

impl Offsets {
    /// Returns the class of an offset in an object; `None` if they are not told apart.
    pub(super) fn class(&mut self, types: &Types, ty: QualType, offset: u64) -> Option<u64> {
        let classes = self.classes(types, ty)?;
        usize::try_from(offset).ok().and_then(|offset| classes.get(offset)).map(|class| u64::from(*class))
    }

    /// Returns the classes to which a pointer to a class of offsets moves, as long as it stays in the object or just
    /// behind it; `None` if they are many.
    pub(super) fn moved(&mut self, types: &Types, ty: QualType, class: u64, by: Move) -> Moved {
        if let Some(known) = self.moved.get(&(ty.id, class, by)) {
            return known.clone();
        }
        let found = self.classes(types, ty).and_then(|classes| moved(&classes, class, by));
        self.moved.insert((ty.id, class, by), found.clone());
        found
    }

    /// Returns the class of each offset of a type, the one behind it included.
    fn classes(&mut self, types: &Types, ty: QualType) -> Option<Rc<[u32]>> {
        if let Some(known) = self.classes.get(&ty.id) {
            return known.clone();
        }
        let size = types.layout(ty).map_or(0, |layout| layout.size);
        let found = (size <= MAX_SIZE).then(|| (0..=size).map(|offset| class(types, ty, offset) as u32).collect());
        self.classes.insert(ty.id, found.clone());
        found
    }
}

/// Returns the first offset that differs from another one in indices of arrays only.
fn class(types: &Types, ty: QualType, offset: u64) -> u64 {
    let size = |ty: QualType| types.layout(ty).map_or(0, |layout| layout.size);
    match types.get(ty) {
        Type::Array(of, Length::Known(length)) if offset < size(*of).saturating_mul(*length) => {
            class(types, *of, offset % size(*of))
        }
        Type::Record(id) if !types.records[*id].is_union => {
            let mut fields = types.record(ty).into_iter().flat_map(|body| &body.fields);
            let inside = fields.find(|field| (field.offset..field.offset + size(field.ty)).contains(&offset));
            inside.map_or(offset, |field| field.offset + class(types, field.ty, offset - field.offset))
        }
        _ => offset,
    }
}

fn moved(classes: &[u32], class: u64, by: Move) -> Moved {
    let mut found: Vec<u64> = Vec::new();
    let mut add = |offset: usize| {
        let class = u64::from(classes[offset]);
        if !found.contains(&class) {
            found.push(class);
        }
        found.len() <= MAX_CLASSES
    };
    let members = (0..classes.len()).filter(|offset| u64::from(classes[*offset]) == class);
    let is_listed = match by {
        Move::By(by) => members.filter_map(|from| from.checked_add_signed(isize::try_from(by).ok()?)).all(|to| {
            // What lies outside of the object is no place that a pointer may lead to.
            to >= classes.len() || add(to)
        }),
        Move::Multiple(size) => {
            let size = usize::try_from(size.max(1)).ok()?;
            let mut rests: Vec<usize> = members.map(|from| from % size).collect();
            rests.sort_unstable();
            rests.dedup();
            rests.into_iter().all(|rest| (rest..classes.len()).step_by(size).all(&mut add))
        }
        Move::Element { size, length } => {
            let members: Vec<u64> = members.map(|from| from as u64).collect();
            let reach = |from: &u64| {
                let from = *from;
                (0..length)
                    .map(move |number| from.saturating_add(number.saturating_mul(size)))
                    .filter(|to| *to < classes.len() as u64)
            };
            let is_class = |to: u64| u64::from(classes[to as usize]) == class;
            // The elements of an array are one class: they need not be listed.
            if members.first().is_some_and(|first| reach(first).all(is_class)) {
                add(members[0] as usize)
            } else if length.saturating_mul(members.len() as u64) > MAX_PRODUCT {
                false
            } else {
                members.iter().flat_map(reach).all(|to| add(to as usize))
            }
        }
    };
    is_listed.then(|| found.into())
}

/// Returns the offsets of the scalar parts of a type, up to a limit beyond which objects are refused.
pub(super) fn scalars(types: &Types, ty: QualType) -> Vec<u64> {
    let mut found = Vec::new();
    add_scalars(types, ty, 0, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn add_scalars(types: &Types, ty: QualType, offset: u64, found: &mut Vec<u64>) {
    const MAX_PARTS: usize = 4097;
    match types.get(ty) {
        _ if found.len() > MAX_PARTS || types.layout(ty).is_none_or(|layout| layout.size == 0) => {}
        Type::Array(of, Length::Known(length)) => {
            let size = types.layout(*of).map_or(0, |layout| layout.size);
            for number in 0..(*length).min(MAX_PARTS as u64) {
                add_scalars(types, *of, offset + number * size, found);
            }
        }
        Type::Record(_) => {
            let fields = types.record(ty).map_or(&[][..], |body| &body.fields);
            fields.iter().for_each(|field| add_scalars(types, field.ty, offset + field.offset, found));
        }
        _ => found.push(offset),
    }
}

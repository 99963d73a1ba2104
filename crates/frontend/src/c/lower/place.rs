//! Places: from expressions that denote objects to cells, and their reading and writing.
//!
//! A place whose cell is known is that cell. An element of an array with a computed index, or a pointer, has
//! candidates: cells, each with the condition under which it is the one. The conditions exclude each other. A step
//! that follows a pointer reads or writes the cell whose condition holds; if there is none, memory outside of objects
//! is used, and the execution ends there.

use std::rc::Rc;

use selvedge_ir::{BinaryOp, Expr as Ir, MachineTy, Op, VarId};

use super::super::files::Loc;
use super::super::tree::{Expr, ExprKind, ObjectId};
use super::super::types::{Bits, Length, QualType, Type};
use super::body::Body;
use super::objects::Cell;
use super::syntax::unqualified;
use super::targets::Address;
use super::{Lowered, refuse};

/// A place before its cells are known.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A part of an object: the offset in bytes, and indices of arrays.
    Object { object: ObjectId, offset: u64, indices: Vec<Index> },
    /// An address.
    Address(Address),
}

/// An index of an array.
#[derive(Clone, Debug)]
pub(super) struct Index {
    value: Ir,
    ty: MachineTy,
    /// The size of an element, in bytes, and the number of elements.
    size: u64,
    length: u64,
}

impl Index {
    /// Returns whether it is the index of an element, or just behind the last one.
    pub(super) fn is_inside(&self) -> Ir {
        let ty = self.ty;
        let last = i128::from(self.length).min(ty.bounds().1);
        let above = ty.apply(selvedge_ir::MachineOp::Le, ty.constant(0), self.value.clone());
        Ir::and(above, ty.apply(selvedge_ir::MachineOp::Le, self.value.clone(), ty.constant(last)))
    }

    /// Returns an address moved by the index.
    pub(super) fn moved(self, pointer: MachineTy, base: Ir) -> Ir {
        super::arithmetic::moved(pointer, base, self.value, self.ty, self.size, false)
    }
}

/// The cell of a place, or the cells that may be it.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Known(Cell),
    Candidates(Vec<(Ir, Cell)>),
}

/// The shape of the cells that an access may use.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    pub(super) size: u64,
    pub(super) bits: Option<Bits>,
    pub(super) is_bool: bool,
}

impl Fit {
    fn takes(self, cell: &Cell) -> bool {
        let is_alike = cell.size == self.size && (cell.ty.bits == 1) == self.is_bool;
        cell.bits == self.bits && (self.bits.is_some() || is_alike)
    }
}

/// Returns the place that a pointer expression points to without going through a value, and the index behind it.
pub(super) fn direct(pointer: &Expr) -> Option<(&Expr, Option<&Expr>)> {
    match &pointer.kind {
        ExprKind::Decay(place) | ExprKind::AddressOf(place) => Some((place, None)),
        ExprKind::Offset { pointer, index, is_negative: false } => match &pointer.kind {
            ExprKind::Decay(place) => Some((place, Some(index))),
            _ => None,
        },
        _ => None,
    }
}

impl Body<'_, '_> {
    /// Evaluates a place.
    pub(super) fn place(&mut self, expr: &Expr) -> Lowered<Place> {
        match &expr.kind {
            ExprKind::Object(object) => Ok(Place::Object { object: *object, offset: 0, indices: Vec::new() }),
            ExprKind::CompoundLiteral(object) => {
                self.initialise(*object, expr.loc)?;
                Ok(Place::Object { object: *object, offset: 0, indices: Vec::new() })
            }
            ExprKind::Deref(pointer) => self.target(pointer),
            ExprKind::Member(base, number) => self.member(base, *number),
            ExprKind::String(string) => {
                let object = self.low.facts.strings[*string];
                Ok(Place::Object { object, offset: 0, indices: Vec::new() })
            }
            _ => refuse("this kind of place is", expr.loc),
        }
    }

    fn member(&mut self, base: &Expr, number: usize) -> Lowered<Place> {
        let Some(field) = self.unit.types.record(base.ty).and_then(|body| body.fields.get(number)) else {
            return refuse("this member is", base.loc);
        };
        let by = field.offset;
        if !base.is_place() {
            return refuse("the place of a member of a value is", base.loc);
        }
        let place = self.place(base)?;
        Ok(self.part_of(place, by))
    }

    /// Returns the place some bytes behind another one.
    pub(super) fn part_of(&mut self, place: Place, by: u64) -> Place {
        match place {
            Place::Object { object, offset, indices } => Place::Object { object, offset: offset + by, indices },
            Place::Address(Address { at, to }) => {
                let to = if by == 0 { to } else { Rc::new(self.low.points.parts_behind(&to, by)) };
                Place::Address(Address { at: self.plus(at, by), to })
            }
        }
    }

    /// Returns the bits of a place that is a bit-field.
    fn bits(&self, place: &Expr) -> Option<Bits> {
        let ExprKind::Member(base, number) = &place.kind else { return None };
        self.unit.types.record(base.ty)?.fields.get(*number)?.bits
    }

    /// Returns a value as a place holds it: a bit-field cuts off what does not fit.
    pub(super) fn held(&self, place: &Expr, value: Ir, ty: MachineTy) -> Ir {
        match self.bits(place).and_then(|bits| u8::try_from(bits.width).ok()) {
            Some(bits) if bits < ty.bits => {
                let narrow = MachineTy { bits, ..ty };
                cast(cast(value, ty, narrow), narrow, ty)
            }
            _ => value,
        }
    }

    /// Returns an address moved by some bytes.
    fn plus(&self, address: Ir, by: u64) -> Ir {
        let ty = self.low.pointer_ty();
        if by == 0 { address } else { ty.apply(selvedge_ir::MachineOp::Add, address, ty.constant(i128::from(by))) }
    }

    /// Evaluates the place that a pointer points to.
    pub(super) fn target(&mut self, pointer: &Expr) -> Lowered<Place> {
        let pointer = unqualified(self.unit, pointer);
        match direct(pointer) {
            Some((place, None)) => self.place(place),
            Some((array, Some(index))) => self.element(array, index, pointer.ty),
            None => {
                let to = Rc::new(self.low.points.of(pointer));
                Ok(Place::Address(Address { at: self.value(pointer)?, to }))
            }
        }
    }

    fn element(&mut self, array: &Expr, index: &Expr, pointer: QualType) -> Lowered<Place> {
        let types = &self.unit.types;
        let size = types.pointee(pointer).and_then(|of| types.layout(of)).map(|layout| layout.size);
        let (Some(size), Type::Array(_, Length::Known(length))) = (size, types.get(array.ty)) else {
            return refuse("an array of this kind is", array.loc);
        };
        let length = *length;
        let mut place = self.place(array)?;
        let number = self.value(index)?;
        let ty = self.low.scalar(index.ty, index.loc)?;
        match &mut place {
            Place::Object { offset, indices, .. } => match number {
                Ir::Machine(_, bits) if (0..i128::from(length)).contains(&ty.read(bits)) => *offset += bits * size,
                value => indices.push(Index { value, ty, size, length }),
            },
            Place::Address(address) => {
                let base = address.at.clone();
                address.at = self.offset(base.clone(), number.clone(), ty, size, false);
                address.to = Rc::new(self.low.points.elements(&address.to, size, length));
                let moved = address.at.clone();
                self.check_moved(&base, (&number, ty), size, &moved);
            }
        }
        Ok(place)
    }

    /// Returns the cells of a place that is read or written as a scalar type.
    pub(super) fn access(&mut self, place: Place, expr: &Expr) -> Lowered<Access> {
        let ty = self.low.scalar(expr.ty, expr.loc)?;
        let size = self.unit.types.layout(expr.ty).map_or(1, |layout| layout.size);
        self.cells_of(place, Fit { size, bits: self.bits(expr), is_bool: ty.bits == 1 }, expr.loc)
    }

    /// Returns the cells of a place that is read or written as a scalar of some shape.
    pub(super) fn cells_of(&mut self, place: Place, fit: Fit, loc: Loc) -> Lowered<Access> {
        let fits = |cell: &Cell| fit.takes(cell);
        match place {
            Place::Object { object, offset, indices } => {
                let cells = self.low.cells(object, loc)?;
                let find = |offset: u64| cells.iter().find(|cell| cell.offset == offset && fits(cell)).copied();
                if indices.is_empty() {
                    return find(offset).map_or_else(
                        || refuse("an access to a part of another type is", loc),
                        |cell| Ok(Access::Known(cell)),
                    );
                }
                let mut candidates = Vec::new();
                for (condition, offset) in self.elements(offset, &indices) {
                    let Some(cell) = find(offset) else {
                        return refuse("an access to a part of another type is", loc);
                    };
                    candidates.push((condition, cell));
                }
                self.check_index(object, &candidates);
                Ok(Access::Candidates(candidates))
            }
            Place::Address(address) => {
                let mut parts = Vec::new();
                for object in self.low.facts.taken.clone() {
                    let cells = self.low.cells(object, self.unit.objects[object].loc)?;
                    parts.extend(cells.into_iter().filter(fits).map(|cell| (object, cell)));
                }
                let access = self.leads_to(&address, parts, loc)?;
                if let Access::Candidates(candidates) = &access {
                    self.check_pointer(&address.at, candidates);
                }
                Ok(access)
            }
        }
    }

    /// Does something with a place unless it is where a null pointer points to.
    pub(super) fn unless_null(
        &mut self,
        place: Place,
        work: impl FnOnce(&mut Self, Place) -> Lowered<()>,
    ) -> Lowered<()> {
        let Place::Address(Address { at, to }) = place else { return work(self, place) };
        let ty = self.low.pointer_ty();
        let at = self.save(at, ty);
        let (there, end) = (self.new_loc(), self.new_loc());
        self.fork(at_address(&at, ty.constant(0)), end, there);
        self.at = there;
        work(self, Place::Address(Address { at, to }))?;
        self.jump(end);
        self.at = end;
        Ok(())
    }

    /// Returns the offsets of all elements, each with the condition on the indices.
    pub(super) fn elements(&self, offset: u64, indices: &[Index]) -> Vec<(Ir, u64)> {
        let mut found = vec![(Ir::TRUE, offset)];
        for Index { value, ty, size, length } in indices {
            let longer = |(condition, offset): &(Ir, u64)| -> Vec<(Ir, u64)> {
                let one = |number: u64| {
                    let is = Ir::binary(BinaryOp::Eq, value.clone(), ty.constant(i128::from(number)));
                    (Ir::and(condition.clone(), is), offset + number * size)
                };
                (0..*length).filter(|number| i128::from(*number) <= ty.bounds().1).map(one).collect()
            };
            found = found.iter().flat_map(longer).collect();
        }
        found
    }

    /// Reads a place, in one step if it is shared or not known.
    pub(super) fn load(&mut self, access: &Access, ty: MachineTy) -> Lowered<Ir> {
        self.check_alive(access);
        self.check_race(access, false);
        match access {
            Access::Known(cell) => {
                let value = cast(Ir::Var(cell.var), cell.ty, ty);
                if self.inline || !self.low.is_shared(cell.var) { Ok(value) } else { self.read(value, Ir::TRUE, ty) }
            }
            Access::Candidates(candidates) => {
                let (value, valid) = chosen(candidates, ty);
                if self.low.checks.in_annotation { Ok(value) } else { self.read(value, valid, ty) }
            }
        }
    }

    /// Assigns a value to a new variable in a step that exists only where a condition holds.
    fn read(&mut self, value: Ir, valid: Ir, ty: MachineTy) -> Lowered<Ir> {
        let var = self.temporary(ty);
        self.step(Op::guarded(vec![(var, value)], valid));
        Ok(Ir::Var(var))
    }

    /// Writes a value of the given type.
    pub(super) fn store(&mut self, access: &Access, value: Ir, ty: MachineTy) {
        self.check_alive(access);
        self.check_race(access, true);
        let (active, valid) = written(access, &value, ty);
        self.step(Op::guarded(active, valid));
    }

    /// Reads a place and writes a new value, in one step. Returns the old value, which is kept.
    pub(super) fn modify(&mut self, access: &Access, ty: MachineTy, new: impl FnOnce(Ir) -> Ir) -> Ir {
        self.check_alive(access);
        self.atomically(true, |body| body.check_race(access, true));
        let (old, valid) = current(access, ty);
        let var = self.temporary(ty);
        let (mut active, _) = written(access, &new(old.clone()), ty);
        active.push((var, old));
        self.step(Op::guarded(active, valid));
        Ir::Var(var)
    }
}

impl Body<'_, '_> {
    /// Waits until the value of a place passes a test, and writes a new value in the same step.
    pub(super) fn when(&mut self, access: &Access, ty: MachineTy, test: impl Fn(Ir) -> Ir, new: impl Fn(Ir) -> Ir) {
        let (old, valid) = current(access, ty);
        let (active, _) = written(access, &new(old.clone()), ty);
        self.step(Op::guarded(active, Ir::and(valid, test(old))));
    }
}

/// Returns the value of a place, and whether there is one.
pub(super) fn current(access: &Access, ty: MachineTy) -> (Ir, Ir) {
    match access {
        Access::Known(cell) => (cast(Ir::Var(cell.var), cell.ty, ty), Ir::TRUE),
        Access::Candidates(candidates) => chosen(candidates, ty),
    }
}

/// Returns whether an address is a constant.
pub(super) fn at_address(address: &Ir, at: Ir) -> Ir {
    match address {
        Ir::Machine(..) => Ir::Bool(*address == at),
        _ => Ir::binary(BinaryOp::Eq, address.clone(), at),
    }
}

/// Returns candidates without those that are excluded; one that is certain is the cell.
pub(super) fn decided(mut candidates: Vec<(Ir, Cell)>) -> Access {
    if let Some((_, cell)) = candidates.iter().find(|(condition, _)| *condition == Ir::TRUE) {
        return Access::Known(*cell);
    }
    candidates.retain(|(condition, _)| *condition != Ir::FALSE);
    Access::Candidates(candidates)
}

/// Returns the value of the candidate whose condition holds, and whether there is one.
fn chosen(candidates: &[(Ir, Cell)], ty: MachineTy) -> (Ir, Ir) {
    let mut value = ty.constant(0);
    for (condition, cell) in candidates.iter().rev() {
        value = Ir::Ite(Box::new((condition.clone(), cast(Ir::Var(cell.var), cell.ty, ty), value)));
    }
    (value, any(candidates.iter().map(|(condition, _)| condition.clone()).collect()))
}

/// Returns whether one of some conditions holds.
pub(super) fn any(conditions: Vec<Ir>) -> Ir {
    Ir::balanced(BinaryOp::Or, conditions).unwrap_or(Ir::FALSE)
}

/// Returns the assignments that write a value, and whether some cell is written.
pub(super) fn written(access: &Access, value: &Ir, ty: MachineTy) -> (Vec<(VarId, Ir)>, Ir) {
    match access {
        Access::Known(cell) => (vec![(cell.var, cast(value.clone(), ty, cell.ty))], Ir::TRUE),
        Access::Candidates(candidates) => {
            let mut assigned = Vec::with_capacity(candidates.len());
            // A cell with two addresses is two candidates, one behind the other.
            for same in candidates.chunk_by(|(_, one), (_, other)| one.var == other.var) {
                let cell = &same[0].1;
                let condition = any(same.iter().map(|(condition, _)| condition.clone()).collect());
                let new = cast(value.clone(), ty, cell.ty);
                assigned.push((cell.var, Ir::Ite(Box::new((condition, new, Ir::Var(cell.var))))));
            }
            let valid = any(candidates.iter().map(|(condition, _)| condition.clone()).collect());
            (assigned, valid)
        }
    }
}

/// Returns a number of one machine type as one of another.
pub(super) fn cast(value: Ir, from: MachineTy, to: MachineTy) -> Ir {
    match value {
        value if from == to => value,
        Ir::Machine(_, bits) => to.constant(from.read(bits)),
        value => Ir::Unary(selvedge_ir::UnaryOp::Cast(from, to), Box::new(value)),
    }
}

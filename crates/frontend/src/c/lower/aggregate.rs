//! Structs and unions as values, and the functions of the library that copy memory.
//!
//! A value of a struct or union is a list of values, one for each scalar part of the type. An assignment reads the
//! parts one after the other, each in a step of its own where it is shared, and then writes them in the same way: other
//! threads may see an object of which some parts are written. Parts of the frame are read and written in one step.

use selvedge_ir::{Expr as Ir, MachineOp, MachineTy, Op};

use super::super::files::Loc;
use super::super::tree::{CastKind, Expr, ExprKind, Stmt, StmtKind};
use super::super::types::{Length, QualType, Type};
use super::body::Body;
use super::objects::Part;
use super::place::{Access, Fit, Place, cast, direct};
use super::syntax::uncast;
use super::targets::Address;
use super::{Lowered, refuse};

impl Body<'_, '_> {
    /// Returns the types of the scalar parts of a type; none for `void`.
    pub(super) fn part_types(&self, ty: QualType, loc: Loc) -> Lowered<Vec<MachineTy>> {
        if self.unit.types.is_void(ty) {
            return Ok(Vec::new());
        }
        if !self.unit.types.is_record(ty) {
            return Ok(vec![self.scalar(ty, loc)?]);
        }
        Ok(self.copied_parts(ty, loc)?.iter().map(|part| part.ty).collect())
    }

    /// Returns the scalar parts of a type whose values are copied. Locks are not copied.
    fn copied_parts(&self, ty: QualType, loc: Loc) -> Lowered<Vec<Part>> {
        if self.has_lock(ty) {
            return refuse("a copy of an object with a lock is", loc);
        }
        self.low.parts(ty, loc)
    }

    fn has_lock(&self, ty: QualType) -> bool {
        let types = &self.unit.types;
        match types.get(ty) {
            Type::Array(of, _) => self.has_lock(*of),
            Type::Record(_) if self.low.facts.opaque.contains(&ty.id) => true,
            Type::Record(_) => {
                types.record(ty).is_some_and(|body| body.fields.iter().any(|field| self.has_lock(field.ty)))
            }
            _ => false,
        }
    }

    /// Evaluates an expression of struct or union type.
    pub(super) fn aggregate(&mut self, expr: &Expr) -> Lowered<Vec<Ir>> {
        let inline = std::mem::replace(&mut self.inline, false);
        let values = self.parts_of_value(expr);
        self.inline = inline;
        values
    }

    fn parts_of_value(&mut self, expr: &Expr) -> Lowered<Vec<Ir>> {
        match &expr.kind {
            ExprKind::Load(place) => {
                let place = self.place(place)?;
                let parts = self.copied_parts(expr.ty, expr.loc)?;
                self.read_parts(&place, &parts, expr.loc)
            }
            ExprKind::Assign { target, value } => {
                let place = self.place(target)?;
                let values = self.aggregate(value)?;
                let parts = self.copied_parts(target.ty, expr.loc)?;
                self.write_parts(&place, &parts, values.clone(), expr.loc)?;
                Ok(values)
            }
            ExprKind::Cast { kind: CastKind::Same, value, .. } => self.aggregate(value),
            ExprKind::Comma(left, right) => {
                self.effects(left)?;
                self.aggregate(right)
            }
            ExprKind::Call { callee, args } => {
                Ok(self.call_results(expr, callee, args)?.into_iter().map(Ir::Var).collect())
            }
            ExprKind::Conditional { condition, then: Some(then), otherwise } => {
                self.either_aggregate(condition, then, otherwise, expr)
            }
            ExprKind::Statements(block) => self.statements_aggregate(block, expr),
            ExprKind::Member(base, number) if !base.is_place() => self.member_parts(base, *number, expr),
            _ => refuse("this value of a struct or union is", expr.loc),
        }
    }

    fn either_aggregate(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, expr: &Expr) -> Lowered<Vec<Ir>> {
        let types = self.part_types(expr.ty, expr.loc)?;
        let vars: Vec<_> = types.into_iter().map(|ty| self.temporary(ty)).collect();
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        self.branch(condition, holds, fails)?;
        for (at, value) in [(holds, then), (fails, otherwise)] {
            self.at = at;
            let values = self.aggregate(value)?;
            self.step(Op::set(vars.iter().copied().zip(values).collect()));
            self.jump(end);
        }
        self.at = end;
        Ok(vars.into_iter().map(Ir::Var).collect())
    }

    fn statements_aggregate(&mut self, block: &Stmt, expr: &Expr) -> Lowered<Vec<Ir>> {
        let StmtKind::Block(stmts) = &block.kind else { return refuse("this expression is", expr.loc) };
        let Some((Stmt { kind: StmtKind::Expr(last), .. }, before)) = stmts.split_last() else {
            return refuse("this expression is", expr.loc);
        };
        let (span, depth) = (self.span, self.blocks.len());
        self.open(block, false);
        before.iter().for_each(|stmt| self.stmt(stmt));
        self.span = span;
        let types = self.part_types(expr.ty, expr.loc)?;
        let values = self.aggregate(last);
        let saved =
            values.map(|values| values.into_iter().zip(types).map(|(value, ty)| self.save(value, ty)).collect());
        self.close_to(depth);
        saved
    }

    /// Evaluates a member of a value.
    pub(super) fn member_value(&mut self, base: &Expr, number: usize, expr: &Expr) -> Lowered<Ir> {
        let ty = self.scalar(expr.ty, expr.loc)?;
        let inline = std::mem::replace(&mut self.inline, false);
        let found = self.member_parts(base, number, expr);
        self.inline = inline;
        let types = self.member_types(base, number, expr)?;
        match (found?.as_slice(), types.as_slice()) {
            ([value], [from]) => Ok(cast(value.clone(), *from, ty)),
            _ => refuse("this member of a value is", expr.loc),
        }
    }

    fn member_parts(&mut self, base: &Expr, number: usize, expr: &Expr) -> Lowered<Vec<Ir>> {
        let inside = self.members(base, number, expr)?;
        let values = self.parts_of_value(base)?;
        Ok(values.into_iter().zip(inside).filter(|(_, (is_inside, _))| *is_inside).map(|(value, _)| value).collect())
    }

    fn member_types(&self, base: &Expr, number: usize, expr: &Expr) -> Lowered<Vec<MachineTy>> {
        let inside = self.members(base, number, expr)?;
        Ok(inside.into_iter().filter(|(is_inside, _)| *is_inside).map(|(_, ty)| ty).collect())
    }

    /// Returns for each part of a value whether it belongs to a member, and its type.
    fn members(&self, base: &Expr, number: usize, expr: &Expr) -> Lowered<Vec<(bool, MachineTy)>> {
        let types = &self.unit.types;
        let Some(field) = types.record(base.ty).and_then(|body| body.fields.get(number)) else {
            return refuse("this member is", expr.loc);
        };
        let size = types.layout(field.ty).map_or(1, |layout| layout.size);
        let is_inside = |part: &Part| match field.bits {
            Some(_) => (part.offset, part.bits) == (field.offset, field.bits),
            None => (field.offset..field.offset + size).contains(&part.offset),
        };
        Ok(self.copied_parts(base.ty, expr.loc)?.iter().map(|part| (is_inside(part), part.ty)).collect())
    }

    fn part_access(&mut self, place: &Place, part: &Part, loc: Loc) -> Lowered<Access> {
        let place = self.part_of(place.clone(), part.offset);
        self.cells_of(place, Fit { size: part.size, bits: part.bits, is_bool: part.ty.bits == 1 }, loc)
    }

    fn read_parts(&mut self, place: &Place, parts: &[Part], loc: Loc) -> Lowered<Vec<Ir>> {
        let place = self.kept_place(place.clone());
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            let access = self.part_access(&place, part, loc)?;
            values.push(self.load(&access, part.ty)?);
        }
        Ok(values)
    }

    /// Returns a place whose address does not change while parts of it are used.
    pub(super) fn kept_place(&mut self, place: Place) -> Place {
        match place {
            Place::Address(Address { at, to }) => {
                let at = self.save(at, self.low.pointer_ty());
                Place::Address(Address { at, to })
            }
            place => place,
        }
    }

    fn write_parts(&mut self, place: &Place, parts: &[Part], values: Vec<Ir>, loc: Loc) -> Lowered<()> {
        let place = self.kept_place(place.clone());
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for (part, value) in parts.iter().zip(values) {
            match self.part_access(&place, part, loc)? {
                Access::Known(cell) if !self.low.is_shared(cell.var) => {
                    own.push((cell.var, cast(value, part.ty, cell.ty)));
                }
                access => shared.push((access, value, part.ty)),
            }
        }
        for (access, value, ty) in shared {
            self.store(&access, value, ty);
        }
        if !own.is_empty() {
            self.step(Op::set(own));
        }
        Ok(())
    }

    /// Evaluates `memset`, `memcpy` and `memmove` over whole objects.
    pub(super) fn memory_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let [to, from, size] = args else { return refuse(format!("this use of `{name}` is"), expr.loc) };
        let Some(size) = self.unit.integer(size).and_then(|size| u64::try_from(size).ok()) else {
            return refuse(format!("`{name}` with a computed size is"), size.loc);
        };
        let inline = std::mem::replace(&mut self.inline, false);
        let result = if name == "memset" { self.fill(to, from, size, expr) } else { self.copy(to, from, size, expr) };
        self.inline = inline;
        // An object whose address is not taken has none: then the result cannot be used.
        Ok(match result? {
            Place::Address(address) => Some(address.at),
            Place::Object { .. } => None,
        })
    }

    /// Returns the parts of the objects that some bytes behind a pointer are, and the place.
    fn bytes(&mut self, pointer: &Expr, size: u64) -> Lowered<(Place, Vec<Part>)> {
        let pointer = uncast(pointer);
        let types = &self.unit.types;
        let of = match direct(pointer) {
            Some((place, None)) => Some(place.ty),
            _ => types.pointee(pointer.ty),
        };
        let Some(mut of) = of.filter(|of| !types.is_void(*of)) else {
            return refuse("a copy of bytes of unknown type is", pointer.loc);
        };
        while let Type::Array(element, Length::Known(_)) = types.get(of) {
            of = *element;
        }
        let unit = types.layout(of).map_or(1, |layout| layout.size.max(1));
        if !size.is_multiple_of(unit) || size / unit > 4096 {
            return refuse("a copy of a part of an object is", pointer.loc);
        }
        let one = self.copied_parts(of, pointer.loc)?;
        let moved = |number: u64| {
            let shift = move |part: &Part| Part { offset: part.offset + number * unit, ..part.clone() };
            one.iter().map(shift).collect::<Vec<_>>()
        };
        let parts = (0..size / unit).flat_map(moved).collect();
        let place = self.target(pointer)?;
        Ok((self.kept_place(place), parts))
    }

    fn fill(&mut self, to: &Expr, byte: &Expr, size: u64, expr: &Expr) -> Lowered<Place> {
        let (place, parts) = self.bytes(to, size)?;
        let byte_ty = self.scalar(byte.ty, byte.loc)?;
        let byte = self.value(byte)?;
        let byte = self.save(byte, byte_ty);
        let mut values = Vec::new();
        for part in &parts {
            values.push(match (&byte, part.bits) {
                (Ir::Machine(_, 0), _) => part.ty.constant(0),
                (_, None) if part.ty.bits > 1 => repeated(cast(byte.clone(), byte_ty, MachineTy::unsigned(8)), part.ty),
                _ => return refuse("`memset` of such a part is", expr.loc),
            });
        }
        self.write_parts(&place, &parts, values, expr.loc)?;
        Ok(place)
    }

    fn copy(&mut self, to: &Expr, from: &Expr, size: u64, expr: &Expr) -> Lowered<Place> {
        let (place, parts) = self.bytes(to, size)?;
        let (source, others) = self.bytes(from, size)?;
        let shape = |part: &Part| (part.offset, part.size, part.bits, part.ty.bits);
        if !parts.iter().map(shape).eq(others.iter().map(shape)) {
            return refuse("a copy between objects of different types is", expr.loc);
        }
        let values = self.read_parts(&source, &others, expr.loc)?;
        let typed = values.into_iter().zip(others.iter().zip(&parts));
        let values = typed.map(|(value, (from, to))| cast(value, from.ty, to.ty)).collect();
        self.write_parts(&place, &parts, values, expr.loc)?;
        Ok(place)
    }
}

/// Returns a number all of whose bytes are the same.
fn repeated(byte: Ir, ty: MachineTy) -> Ir {
    let wide = cast(byte, MachineTy::unsigned(8), MachineTy { signed: false, ..ty });
    let ones = (0..ty.bits / 8).fold(0_i128, |ones, number| ones | 1 << (8 * number));
    let unsigned = MachineTy { signed: false, ..ty };
    cast(unsigned.apply(MachineOp::Mul, wide, unsigned.constant(ones)), unsigned, ty)
}

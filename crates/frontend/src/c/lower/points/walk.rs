//! The walk over statements and expressions: what they assign, and the targets of their values.
//!
//! The value of a struct or union is a list of the values of its scalar parts, with their offsets.

use super::super::super::tree::{BinaryOp, CastKind, Expr, ExprKind, FunctionId, Init, ObjectId, Stmt, StmtKind};
use super::super::super::types::{Length, QualType, Type};
use super::super::facts::site;
use super::super::heap::{allocated, pool_of};
use super::super::place::direct;
use super::super::syntax::{exprs, inner, unqualified};
use super::offsets::{Move, scalars};
use super::{Points, Target, Targets, add};
use crate::c::tree::Storage;
use crate::c::tree::UnaryOp;

/// The values of the scalar parts of a value, with their offsets.
pub(super) type Parts = Vec<(u64, Targets)>;

impl Points<'_> {
    /// Walks over everything that is reached.
    pub(super) fn round(&mut self) {
        let unit = self.unit;
        for (object, declared) in unit.objects.iter_enumerated() {
            if matches!(declared.storage, Storage::Static | Storage::Thread) {
                self.init(object, declared.init.as_ref());
            }
        }
        let mut next = 0;
        while let Some(function) = self.reached.get(next).copied()
            && !self.is_too_much()
        {
            self.current = Some(function);
            if let Some(body) = &unit.functions[function].body {
                self.stmt(&body.block);
            }
            next += 1;
        }
        let data = vec![vec![(0, self.data.clone())]];
        for function in self.destructors.clone() {
            self.enter(function, &data);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.work += 1;
        match &stmt.kind {
            StmtKind::Declare(object) => self.init(*object, self.unit.objects[*object].init.as_ref()),
            StmtKind::Return(Some(value)) => {
                let parts = self.parts(value);
                if let Some(function) = self.current {
                    self.returned(function, &parts);
                }
            }
            _ => exprs(stmt).into_iter().for_each(|expr| drop(self.parts(expr))),
        }
        inner(stmt).into_iter().for_each(|stmt| self.stmt(stmt));
    }

    fn returned(&mut self, function: FunctionId, parts: &Parts) {
        for (offset, targets) in parts.iter().filter(|(_, targets)| !targets.is_empty()) {
            let known = self.results.entry((function, *offset)).or_default();
            self.grows |= add(known, targets);
        }
    }

    fn init(&mut self, object: ObjectId, init: Option<&Init>) {
        for item in init.into_iter().flat_map(|init| &init.items) {
            let parts = self.parts(&item.value);
            let at = Targets::from([self.part(object, item.offset)]);
            self.assign_parts(&at, &parts);
        }
    }

    /// Assigns the parts of a value to the parts of objects.
    pub(super) fn assign_parts(&mut self, at: &Targets, parts: &Parts) {
        for (offset, targets) in parts.iter().filter(|(_, targets)| !targets.is_empty()) {
            let at = self.behind(at, *offset);
            self.assign(&at, targets);
        }
    }

    /// Returns the targets some bytes behind others.
    pub(super) fn behind(&mut self, targets: &Targets, by: u64) -> Targets {
        match i64::try_from(by) {
            Ok(0) => targets.clone(),
            Ok(by) => self.moved(targets, Move::By(by)),
            Err(_) => Targets::new(),
        }
    }

    /// Evaluates an expression of any type.
    pub(super) fn parts(&mut self, expr: &Expr) -> Parts {
        if !self.unit.types.is_record(expr.ty) {
            return vec![(0, self.value(expr))];
        }
        match &expr.kind {
            ExprKind::Load(place) => {
                let at = self.place(place);
                self.read_parts(&at, expr.ty)
            }
            ExprKind::Assign { target, value } => {
                let at = self.place(target);
                let parts = self.parts(value);
                self.assign_parts(&at, &parts);
                parts
            }
            ExprKind::Cast { value, .. } => self.parts(value),
            ExprKind::Comma(left, right) => {
                self.parts(left);
                self.parts(right)
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.parts(condition);
                let mut parts = then.as_ref().map_or_else(Vec::new, |then| self.parts(then));
                parts.extend(self.parts(otherwise));
                parts
            }
            ExprKind::Statements(block) => self.statements(block),
            ExprKind::Member(base, number) if !base.is_place() => self.member_of_value(base, *number),
            _ if expr.is_place() => {
                self.place(expr);
                Parts::new()
            }
            _ => expr.kind.operands().into_iter().flat_map(|operand| self.parts(operand)).collect(),
        }
    }

    /// Returns the values of the parts of objects of a type.
    pub(super) fn read_parts(&mut self, at: &Targets, ty: QualType) -> Parts {
        let mut parts = Parts::new();
        for offset in scalars(&self.unit.types, ty) {
            let part = self.behind(at, offset);
            parts.push((offset, self.contents(&part)));
        }
        parts
    }

    fn member_of_value(&mut self, base: &Expr, number: usize) -> Parts {
        let field = self.unit.types.record(base.ty).and_then(|body| body.fields.get(number));
        let Some((first, ty)) = field.map(|field| (field.offset, field.ty)) else { return Parts::new() };
        let size = self.unit.types.layout(ty).map_or(1, |layout| layout.size);
        let inside = self.parts(base).into_iter().filter(|(offset, _)| (first..first + size).contains(offset));
        inside.map(|(offset, targets)| (offset - first, targets)).collect()
    }

    fn statements(&mut self, block: &Stmt) -> Parts {
        let StmtKind::Block(stmts) = &block.kind else { return Parts::new() };
        let Some((last, before)) = stmts.split_last() else { return Parts::new() };
        before.iter().for_each(|stmt| self.stmt(stmt));
        match &last.kind {
            StmtKind::Expr(expr) => self.parts(expr),
            _ => {
                self.stmt(last);
                Parts::new()
            }
        }
    }

    /// Evaluates an expression that is no struct or union.
    pub(super) fn value(&mut self, expr: &Expr) -> Targets {
        self.work += 1;
        match &expr.kind {
            ExprKind::Load(place) => {
                let at = self.place(place);
                self.contents(&at)
            }
            ExprKind::Decay(place) | ExprKind::AddressOf(place) => self.address(place),
            ExprKind::Offset { pointer, index, is_negative } => self.offset(pointer, index, *is_negative),
            ExprKind::Assign { target, value } => {
                let (at, targets) = (self.place(target), self.value(value));
                self.assign(&at, &targets);
                targets
            }
            ExprKind::AssignOp { target, value, .. } => self.update(target, Some(value)),
            ExprKind::AssignOffset { target, index, is_negative } => {
                let at = self.place(target);
                self.value(index);
                let by = self.by(target.ty, index, *is_negative);
                self.move_held(&at, by)
            }
            ExprKind::Increment { target, is_decrement, .. } => self.increment(target, *is_decrement),
            ExprKind::Unary(UnaryOp::Not, operand) => self.no_address([operand]),
            ExprKind::Logical { left, right, .. } | ExprKind::Difference(left, right) => self.no_address([left, right]),
            ExprKind::Binary(op, left, right) if is_comparison(*op) => self.no_address([left, right]),
            ExprKind::Unary(..) | ExprKind::Binary(..) => {
                let operands = expr.kind.operands();
                let targets = operands.into_iter().flat_map(|operand| self.value(operand)).collect();
                self.blurred(targets)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let mut targets = self.value(condition);
                if let Some(then) = then {
                    targets = self.value(then);
                }
                targets.extend(self.parts(otherwise).into_iter().flat_map(|(_, targets)| targets));
                targets
            }
            ExprKind::Comma(left, right) => {
                self.parts(left);
                self.value(right)
            }
            ExprKind::Cast { kind, value, .. } => self.cast(*kind, value, expr),
            ExprKind::Call { callee, args } => whole(self.call(expr, callee, args)),
            ExprKind::Builtin(builtin, args) => self.builtin(*builtin, args),
            ExprKind::Statements(block) => whole(self.statements(block)),
            ExprKind::Member(base, number) if !base.is_place() => whole(self.member_of_value(base, *number)),
            _ if expr.is_place() => {
                self.place(expr);
                Targets::new()
            }
            _ => expr.kind.operands().into_iter().flat_map(|operand| self.value(operand)).collect(),
        }
    }

    /// Increments or decrements a number or a pointer.
    fn increment(&mut self, target: &Expr, is_decrement: bool) -> Targets {
        let Some(of) = self.unit.types.pointee(target.ty) else { return self.update(target, None) };
        let size = self.unit.types.layout(of).map_or(1, |layout| layout.size) as i64;
        let at = self.place(target);
        self.move_held(&at, Move::By(if is_decrement { -size } else { size }))
    }

    /// Evaluates operands of something whose value has nothing to do with addresses.
    fn no_address<const N: usize>(&mut self, operands: [&Expr; N]) -> Targets {
        operands.into_iter().for_each(|operand| drop(self.value(operand)));
        Targets::new()
    }

    /// Notes that parts of objects that hold pointers move them; returns the pointers before and after.
    fn move_held(&mut self, at: &Targets, by: Move) -> Targets {
        let mut old = self.contents(at);
        let new = self.moved(&old, by);
        self.assign(at, &new);
        old.extend(new);
        old
    }

    fn update(&mut self, target: &Expr, value: Option<&Expr>) -> Targets {
        let at = self.place(target);
        let mut targets = self.contents(&at);
        targets.extend(value.into_iter().flat_map(|value| self.value(value)));
        let targets = self.blurred(targets);
        self.assign(&at, &targets);
        targets
    }

    fn cast(&mut self, kind: CastKind, value: &Expr, expr: &Expr) -> Targets {
        if allocated(self.unit, expr).is_some() {
            let pool = pool_of(self.unit, &self.made.pools, expr);
            let made = self.made;
            let slots = pool.map_or(&[][..], |pool| &made.pools[pool].slots);
            return slots.iter().map(|slot| self.part(*slot, 0)).collect();
        }
        let mut targets = whole(self.parts(value));
        match kind {
            CastKind::Void | CastKind::Bool => targets.clear(),
            CastKind::IntegerToPointer if self.unit.integer(value).is_none() => {
                let site = site(expr.loc);
                if self.blank.contains(&site) {
                    targets.insert(Target::Anything);
                } else if targets.is_empty() {
                    self.found_blank.insert(site);
                }
            }
            _ => {}
        }
        targets
    }

    /// Returns the address of a place.
    fn address(&mut self, place: &Expr) -> Targets {
        match &place.kind {
            ExprKind::Function(function) => {
                self.taken.insert(*function);
                Targets::from([Target::Function(*function)])
            }
            // The end of an array has an address.
            ExprKind::Deref(pointer) => self.value(pointer),
            _ => self.place(place),
        }
    }

    /// Evaluates a place.
    pub(super) fn place(&mut self, place: &Expr) -> Targets {
        match &place.kind {
            ExprKind::Object(object) => Targets::from([self.part(*object, 0)]),
            ExprKind::CompoundLiteral(object) => {
                self.init(*object, self.unit.objects[*object].init.as_ref());
                Targets::from([self.part(*object, 0)])
            }
            ExprKind::String(string) => {
                let object = self.made.strings[*string];
                Targets::from([self.part(object, 0)])
            }
            ExprKind::Member(base, number) => {
                let at = self.place(base);
                let field = self.unit.types.record(base.ty).and_then(|body| body.fields.get(*number));
                field.map_or_else(Targets::new, |field| self.behind(&at, field.offset))
            }
            ExprKind::Deref(pointer) => {
                let pointer = unqualified(self.unit, pointer);
                match direct(pointer) {
                    Some((array, Some(index))) => self.element(array, index, pointer.ty),
                    _ => self.value(pointer),
                }
            }
            _ => whole(self.parts(place)),
        }
    }

    /// Returns the elements of an array.
    pub(super) fn element(&mut self, array: &Expr, index: &Expr, pointer: QualType) -> Targets {
        let at = self.place(array);
        self.value(index);
        let size = self.pointee_size(pointer);
        match self.unit.types.get(array.ty) {
            Type::Array(_, Length::Known(length)) => self.moved(&at, Move::Element { size, length: *length }),
            _ => self.moved(&at, Move::Multiple(size)),
        }
    }

    fn offset(&mut self, pointer: &Expr, index: &Expr, is_negative: bool) -> Targets {
        let targets = self.value(pointer);
        self.value(index);
        let by = self.by(pointer.ty, index, is_negative);
        self.moved(&targets, by)
    }

    /// Returns how far an index moves a pointer.
    fn by(&self, pointer: QualType, index: &Expr, is_negative: bool) -> Move {
        let size = self.pointee_size(pointer);
        let number = self.unit.integer(index).and_then(|number| i64::try_from(number).ok());
        let bytes = number.and_then(|number| number.checked_mul(i64::try_from(size).ok()?));
        match bytes.and_then(|bytes| if is_negative { bytes.checked_neg() } else { Some(bytes) }) {
            Some(bytes) => Move::By(bytes),
            None => Move::Multiple(size),
        }
    }

    fn pointee_size(&self, pointer: QualType) -> u64 {
        let types = &self.unit.types;
        types.pointee(pointer).and_then(|of| types.layout(of)).map_or(1, |layout| layout.size)
    }
}

/// Returns all targets in a value.
pub(super) fn whole(parts: Parts) -> Targets {
    parts.into_iter().flat_map(|(_, targets)| targets).collect()
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

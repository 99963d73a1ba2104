//! Lowering of expressions.
//!
//! [`Body::value`] adds the steps that an expression needs, from left to right, and returns its value over variables of
//! the frame. Where an expression reads one shared cell at most and has no effects, [`Body::read_once`] lets the step
//! that uses the value read the cell. A value that a later operand could change is kept in a variable.

use selvedge_ir::span::{Site, Update};
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, LocId, MachineOp, MachineTy, Op, Ty};

use super::super::tree::{BinaryOp, Builtin, CastKind, Expr, ExprKind, UnaryOp};
use super::super::types::QualType;
use super::body::Body;
use super::heap::allocated;
use super::place::{Access, Place, cast};
use super::sites::operator;
use super::{Lowered, refuse};

impl Body<'_, '_> {
    /// Evaluates an expression for its effects.
    pub(super) fn effects(&mut self, expr: &Expr) -> Lowered<()> {
        match &expr.kind {
            ExprKind::Cast { kind: CastKind::Void, value, .. } => self.effects(value),
            ExprKind::Comma(left, right) => {
                self.effects(left)?;
                self.effects(right)
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args).map(drop),
            _ if self.unit.types.is_record(expr.ty) => self.aggregate(expr).map(drop),
            ExprKind::Statements(block) => self.statements(block, expr).map(drop),
            ExprKind::Builtin(builtin, args) => {
                self.at_call(expr, args, |body| body.builtin(*builtin, args, expr)).map(drop)
            }
            ExprKind::Conditional { condition, then: Some(then), otherwise } if self.is_void(expr) => {
                if self.is_failure(otherwise) && !has_effects(then) {
                    return self.assert(condition);
                }
                let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
                self.branch(condition, holds, fails)?;
                self.at = holds;
                self.effects(then)?;
                self.jump(end);
                self.at = fails;
                self.effects(otherwise)?;
                self.jump(end);
                self.at = end;
                Ok(())
            }
            ExprKind::Increment { target, is_decrement, .. } => {
                self.increment(target, *is_decrement, false, expr).map(drop)
            }
            ExprKind::Logical { .. } => {
                let (holds, fails) = (self.new_loc(), self.new_loc());
                self.branch(expr, holds, fails)?;
                self.low.join(holds, fails);
                self.at = fails;
                Ok(())
            }
            _ => self.value(expr).map(drop),
        }
    }

    /// Adds an assertion.
    pub(super) fn assert(&mut self, condition: &Expr) -> Lowered<()> {
        let holds = self.once(condition, |body| body.truth(condition))?;
        self.claim(holds);
        Ok(())
    }

    /// Returns the value of an expression; the step that uses it reads the shared cell, if there is just one.
    pub(super) fn read_once(&mut self, expr: &Expr) -> Lowered<Ir> {
        self.once(expr, |body| body.value(expr))
    }

    fn once<T>(&mut self, expr: &Expr, lower: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let before = self.inline;
        self.inline = self.shared_reads(expr).is_some_and(|reads| reads <= 1);
        let is_inline = self.inline;
        let lowered = lower(self);
        self.inline = before;
        self.site = is_inline.then(|| self.before(expr));
        lowered
    }

    /// Returns how many shared cells an expression without effects reads; `None` if it has effects or computes places.
    pub(super) fn shared_reads(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            _ if self.is_checked(expr) => None,
            ExprKind::Integer(_) => Some(0),
            ExprKind::Load(place) => self.shared_place(place),
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Logical { .. }
            | ExprKind::Conditional { then: Some(_), .. }
            | ExprKind::Cast { .. } => {
                let mut total = 0;
                for (number, operand) in expr.kind.operands().into_iter().enumerate() {
                    let reads = self.shared_reads(operand)?;
                    if number > 0 && reads > 0 && self.is_late(expr) {
                        return None;
                    }
                    total += reads;
                }
                Some(total)
            }
            _ => None,
        }
    }

    /// Returns 1 for a shared object or a member of it, 0 for those of the frame, `None` for computed places.
    fn shared_place(&self, place: &Expr) -> Option<usize> {
        match &place.kind {
            ExprKind::Object(object) => Some(usize::from(!self.is_local(*object))),
            ExprKind::Member(base, _) => self.shared_place(base),
            _ => None,
        }
    }

    /// Returns whether an expression is evaluated without steps here.
    fn is_plain(&self, expr: &Expr) -> bool {
        self.low.checks.in_annotation || self.shared_reads(expr).is_some_and(|reads| reads == 0 || self.inline)
    }

    /// Evaluates operands from left to right; values that later ones could change are kept.
    pub(super) fn values(&mut self, exprs: &[&Expr]) -> Lowered<Vec<Ir>> {
        let mut values = Vec::with_capacity(exprs.len());
        for (number, expr) in exprs.iter().enumerate() {
            let value = self.value(expr)?;
            let ty = self.scalar(expr.ty, expr.loc)?;
            let may_change = exprs[number + 1..].iter().any(|later| has_effects(later));
            values.push(if may_change && !is_kept(&value, self) { self.save(value, ty) } else { value });
        }
        Ok(values)
    }

    fn pair(&mut self, left: &Expr, right: &Expr) -> Lowered<(Ir, Ir)> {
        let mut values = self.values(&[left, right])?;
        let right = values.pop().unwrap_or(Ir::FALSE);
        Ok((values.pop().unwrap_or(Ir::FALSE), right))
    }

    /// Evaluates an expression of scalar type.
    pub(super) fn value(&mut self, expr: &Expr) -> Lowered<Ir> {
        match &expr.kind {
            ExprKind::Integer(number) => Ok(self.scalar(expr.ty, expr.loc)?.constant(*number)),
            ExprKind::Load(place) => {
                let ty = self.scalar(expr.ty, expr.loc)?;
                let found = self.place(place)?;
                let access = self.access(found, place)?;
                self.site = Some(self.before(expr));
                self.atomically(place.ty.is_atomic(), |body| body.load(&access, ty))
            }
            ExprKind::Decay(place) | ExprKind::AddressOf(place) => self.address(place),
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Logical { .. } => self.truth_value(expr),
            ExprKind::Unary(op, operand) => {
                let ty = self.scalar(expr.ty, expr.loc)?;
                let operand = self.value(operand)?;
                if *op == UnaryOp::Minus {
                    self.check_negation(ty, &operand);
                }
                Ok(if *op == UnaryOp::Minus { ty.negated(operand) } else { ty.complement(operand) })
            }
            ExprKind::Binary(op, left, right) => match op {
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                    self.truth_value(expr)
                }
                _ => self.arithmetic(*op, left, right, expr),
            },
            ExprKind::Offset { pointer, index, is_negative } => {
                let (base, number) = self.pair(pointer, index)?;
                let (ty, size) = (self.scalar(index.ty, index.loc)?, self.pointee_size(pointer.ty, expr)?);
                let moved = self.offset(base.clone(), number.clone(), ty, size, *is_negative);
                self.check_moved(&base, (&number, ty), size, &moved);
                Ok(moved)
            }
            ExprKind::Conditional { condition, then: Some(then), otherwise } => {
                self.conditional(condition, then, otherwise, expr)
            }
            ExprKind::Comma(left, right) => {
                self.effects(left)?;
                self.value(right)
            }
            ExprKind::Cast { .. } if allocated(self.unit, expr).is_some() => self.allocate(expr),
            ExprKind::Cast { kind, value, .. } => self.cast(*kind, value, expr),
            ExprKind::Call { callee, args } => match self.call(expr, callee, args)? {
                Some(value) => Ok(value),
                None => refuse("the value of this call is", expr.loc),
            },
            ExprKind::Builtin(builtin, args) => self.at_call(expr, args, |body| body.builtin(*builtin, args, expr)),
            ExprKind::Statements(block) => self.statements(block, expr),
            _ => self.assignment(expr),
        }
    }

    /// Evaluates assignments; other kinds of expressions are refused.
    fn assignment(&mut self, expr: &Expr) -> Lowered<Ir> {
        let loc = expr.loc;
        match &expr.kind {
            ExprKind::Assign { target, value } => {
                let ty = self.scalar(target.ty, loc)?;
                let place = self.place(target)?;
                let access = self.access(place, target)?;
                let is_local = matches!(&access, Access::Known(cell) if !self.low.is_shared(cell.var));
                let assigned = if is_local { self.read_once(value)? } else { self.value(value)? };
                if !is_local {
                    let is_plain = !self.has_access(target) && !self.has_access(value);
                    self.site = Some(if is_plain { self.before(expr) } else { self.after(value) });
                }
                let value = assigned;
                self.atomically(target.ty.is_atomic(), |body| body.store(&access, value.clone(), ty));
                match &access {
                    Access::Known(cell) if is_local => Ok(cast(Ir::Var(cell.var), cell.ty, ty)),
                    _ => Ok(self.held(target, value, ty)),
                }
            }
            ExprKind::AssignOp { op, type_of_operation, target, value } => {
                let (ty, wide) = (self.scalar(target.ty, loc)?, self.scalar(*type_of_operation, loc)?);
                let by_ty = self.scalar(value.ty, loc)?;
                let is_bool = ty.bits == 1;
                let apply = move |old: Ir, by: Ir| {
                    let old = cast(old, ty, wide);
                    let new = binary(*op, wide, old, cast(by, by_ty, wide));
                    if is_bool { ty.truth(Ir::binary(IrOp::Ne, new, wide.constant(0))) } else { cast(new, wide, ty) }
                };
                self.check_shift(*op, by_ty, wide, expr)?;
                let operands = move |body: &mut Self, old: &Ir, by: &Ir| {
                    body.check_operation(*op, wide, &cast(old.clone(), ty, wide), (by, by_ty));
                };
                let site = self.between(expr, target, Some(value), operator(*op), false);
                self.update(target, Some(value), site, apply, operands)
            }
            ExprKind::AssignOffset { target, index, is_negative } => {
                let (ty, size) = (self.scalar(index.ty, loc)?, self.pointee_size(target.ty, expr)?);
                let (pointer, negative) = (self.low.pointer_ty(), *is_negative);
                let apply = move |old: Ir, by: Ir| moved(pointer, old, by, ty, size, negative);
                let operands = move |body: &mut Self, old: &Ir, by: &Ir| {
                    body.check_moved(old, (by, ty), size, &apply(old.clone(), by.clone()));
                };
                let site = self.between(expr, target, Some(index), if negative { "-" } else { "+" }, false);
                self.update(target, Some(index), site, apply, operands)
            }
            ExprKind::Increment { target, is_decrement, is_postfix } => {
                self.increment(target, *is_decrement, *is_postfix, expr)
            }
            ExprKind::Float(_) => refuse("a number of floating point is", loc),
            ExprKind::Conditional { condition, then: None, otherwise } => self.or_else(condition, otherwise, expr),
            ExprKind::Difference(left, right) => self.difference(left, right, expr),
            ExprKind::Member(base, number) => self.member_value(base, *number, expr),
            ExprKind::SizeOf(_) => refuse("the size of an array of variable length is", loc),
            _ => refuse("this expression is", loc),
        }
    }

    fn increment(&mut self, target: &Expr, is_decrement: bool, is_postfix: bool, expr: &Expr) -> Lowered<Ir> {
        let ty = self.scalar(target.ty, expr.loc)?;
        let is_pointer = self.unit.types.is_pointer(target.ty);
        let by = if is_pointer { self.pointee_size(target.ty, expr)? } else { 1 };
        let (op, sign) = if is_decrement { (MachineOp::Sub, "-") } else { (MachineOp::Add, "+") };
        let apply = |old: Ir, _: Ir| match (ty.bits, is_decrement) {
            (1, false) => ty.constant(1),
            _ => ty.apply(op, old, ty.constant(i128::from(by))),
        };
        let operands = |body: &mut Self, old: &Ir, _: &Ir| match is_pointer {
            true => body.check_moved(old, (&INT.constant(1), INT), by, &apply(old.clone(), Ir::FALSE)),
            false => body.check_increment(ty, old, is_decrement),
        };
        let site = self.between(expr, target, None, sign, is_postfix);
        self.update(target, None, site, apply, operands)
    }

    /// Reads, changes and writes an object: one step for atomic objects, and else a step for each access.
    fn update(
        &mut self,
        target: &Expr,
        by: Option<&Expr>,
        site: Update,
        apply: impl Fn(Ir, Ir) -> Ir,
        check: impl Fn(&mut Self, &Ir, &Ir),
    ) -> Lowered<Ir> {
        let is_postfix = site.is_postfix;
        let ty = self.scalar(target.ty, target.loc)?;
        let place = self.place(target)?;
        let access = self.access(place, target)?;
        let operand = by;
        let by = |body: &mut Self| by.map_or(Ok(Ir::FALSE), |by| body.value(by));
        if target.ty.is_atomic() {
            let by = by(self)?;
            self.site = Some(operand.map_or(Site::Before(site.whole), |operand| self.after(operand)));
            let old = self.modify(&access, ty, |old| apply(old, by.clone()));
            return Ok(if is_postfix { old } else { self.held(target, apply(old, by), ty) });
        }
        self.site = (!self.has_access(target)).then_some(Site::Before(site.whole));
        let old = self.load(&access, ty)?;
        let by = by(self)?;
        self.site = None;
        let old = if is_postfix && !is_kept(&old, self) { self.save(old, ty) } else { old };
        check(self, &old, &by);
        let new = apply(old.clone(), by);
        self.site = Some(Site::Between(site));
        if is_postfix {
            self.store(&access, new, ty);
            return Ok(old);
        }
        match &access {
            Access::Known(cell) if !self.low.is_shared(cell.var) => {
                self.store(&access, new, ty);
                Ok(cast(Ir::Var(cell.var), cell.ty, ty))
            }
            _ => {
                self.store(&access, new.clone(), ty);
                Ok(self.held(target, new, ty))
            }
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (ty, by) = (self.scalar(expr.ty, expr.loc)?, self.scalar(right.ty, right.loc)?);
        self.check_shift(op, by, ty, expr)?;
        let (left, right) = self.pair(left, right)?;
        self.check_operation(op, ty, &left, (&right, by));
        Ok(binary(op, ty, left, cast(right, by, ty)))
    }

    /// Refuses shifts by numbers that are wider than what is shifted.
    fn check_shift(&self, op: BinaryOp, by: MachineTy, ty: MachineTy, expr: &Expr) -> Lowered<()> {
        match op {
            BinaryOp::Shl | BinaryOp::Shr if by.bits > ty.bits => refuse("a shift by a wider number is", expr.loc),
            _ => Ok(()),
        }
    }

    fn cast(&mut self, kind: CastKind, value: &Expr, expr: &Expr) -> Lowered<Ir> {
        match kind {
            CastKind::Bool => self.truth_value(value).map(|truth| match truth {
                Ir::Ite(parts) => MachineTy::unsigned(1).truth(parts.0),
                other => cast(other, INT, MachineTy::unsigned(1)),
            }),
            CastKind::Integer | CastKind::IntegerToPointer | CastKind::PointerToInteger | CastKind::Pointer => {
                let (from, to) = (self.scalar(value.ty, value.loc)?, self.scalar(expr.ty, expr.loc)?);
                Ok(cast(self.value(value)?, from, to))
            }
            _ => refuse(format!("a conversion to `{}` is", self.unit.show_type(expr.ty)), expr.loc),
        }
    }

    /// Returns the size of what a pointer points to.
    pub(super) fn pointee_size(&self, pointer: QualType, expr: &Expr) -> Lowered<u64> {
        let types = &self.unit.types;
        match types.pointee(pointer).and_then(|of| types.layout(of)) {
            Some(layout) => Ok(layout.size),
            None => refuse("arithmetic with this pointer is", expr.loc),
        }
    }

    /// Returns an address moved by a number of elements.
    pub(super) fn offset(&self, base: Ir, number: Ir, ty: MachineTy, size: u64, is_negative: bool) -> Ir {
        moved(self.low.pointer_ty(), base, number, ty, size, is_negative)
    }

    /// Returns the address of a place.
    fn address(&mut self, place: &Expr) -> Lowered<Ir> {
        let pointer = self.low.pointer_ty();
        if let ExprKind::Function(function) = place.kind {
            return Ok(pointer.constant(i128::from(self.low.function_address(function))));
        }
        match self.place(place)? {
            Place::Address(address) => Ok(address.at),
            Place::Object { object, offset, indices } => {
                self.low.cells(object, place.loc)?;
                self.check_element(object, &indices);
                let base = pointer.constant(i128::from(self.low.address(object) + offset));
                Ok(indices.into_iter().fold(base, |base, index| index.moved(pointer, base)))
            }
        }
    }

    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, expr: &Expr) -> Lowered<Ir> {
        let ty = self.scalar(expr.ty, expr.loc)?;
        if self.is_plain(expr) {
            let parts = (self.truth(condition)?, self.value(then)?, self.value(otherwise)?);
            return Ok(Ir::Ite(Box::new(parts)));
        }
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let var = self.temporary(ty);
        self.branch(condition, holds, fails)?;
        for (at, value) in [(holds, then), (fails, otherwise)] {
            self.at = at;
            let value = self.read_once(value)?;
            self.step(Op::set(vec![(var, value)]));
            self.jump(end);
        }
        self.at = end;
        Ok(Ir::Var(var))
    }

    /// Evaluates `a ?: b`.
    fn or_else(&mut self, condition: &Expr, otherwise: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (from, ty) = (self.scalar(condition.ty, condition.loc)?, self.scalar(expr.ty, expr.loc)?);
        let first = self.value(condition)?;
        if self.low.checks.in_annotation {
            let is_set = Ir::binary(IrOp::Ne, first.clone(), from.constant(0));
            return Ok(Ir::Ite(Box::new((is_set, cast(first, from, ty), self.value(otherwise)?))));
        }
        let first = self.save(first, from);
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let var = self.temporary(ty);
        self.fork(Ir::binary(IrOp::Ne, first.clone(), from.constant(0)), holds, fails);
        self.at = holds;
        self.step(Op::set(vec![(var, cast(first, from, ty))]));
        self.jump(end);
        self.at = fails;
        let value = self.read_once(otherwise)?;
        self.step(Op::set(vec![(var, value)]));
        self.jump(end);
        self.at = end;
        Ok(Ir::Var(var))
    }

    /// Evaluates `p - q`, in elements.
    fn difference(&mut self, left: &Expr, right: &Expr, expr: &Expr) -> Lowered<Ir> {
        let (pointer, ty) = (self.low.pointer_ty(), self.scalar(expr.ty, expr.loc)?);
        let signed = MachineTy { signed: true, ..pointer };
        let size = self.pointee_size(left.ty, expr)?.max(1);
        let (left, right) = self.pair(left, right)?;
        let bytes = cast(pointer.apply(MachineOp::Sub, left, right), pointer, signed);
        Ok(cast(signed.apply(MachineOp::Div, bytes, signed.constant(i128::from(size))), signed, ty))
    }

    /// Returns 1 if an expression is not zero, and else 0, as an `int`.
    fn truth_value(&mut self, expr: &Expr) -> Lowered<Ir> {
        Ok(INT.truth(self.truth(expr)?))
    }

    /// Returns whether an expression is not zero.
    pub(super) fn truth(&mut self, expr: &Expr) -> Lowered<Ir> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(selvedge_ir::simplify::not(self.truth(operand)?)),
            ExprKind::Binary(op, left, right) if compares(*op) => {
                let ty = self.scalar(left.ty, left.loc)?;
                let (left, right) = self.pair(left, right)?;
                Ok(comparison(*op, ty, left, right))
            }
            ExprKind::Logical { is_and, left, right } if self.is_plain(expr) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Ok(if *is_and { Ir::and(left, right) } else { Ir::or(left, right) })
            }
            ExprKind::Logical { .. } => {
                let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
                let bit = MachineTy::unsigned(1);
                let var = self.temporary(bit);
                self.branch(expr, holds, fails)?;
                for (at, value) in [(holds, 1), (fails, 0)] {
                    self.at = at;
                    self.step(Op::set(vec![(var, bit.constant(value))]));
                    self.jump(end);
                }
                self.at = end;
                Ok(Ir::binary(IrOp::Ne, Ir::Var(var), bit.constant(0)))
            }
            ExprKind::Cast { kind: CastKind::Bool, value, .. } => self.truth(value),
            ExprKind::Integer(number) => Ok(Ir::Bool(*number != 0)),
            _ => {
                let ty = self.scalar(expr.ty, expr.loc)?;
                let value = self.value(expr)?;
                Ok(match value {
                    Ir::Machine(_, bits) => Ir::Bool(bits != 0),
                    value => Ir::binary(IrOp::Ne, value, ty.constant(0)),
                })
            }
        }
    }

    /// Goes to one location where an expression is not zero, and to another where it is.
    pub(super) fn branch(&mut self, expr: &Expr, holds: LocId, fails: LocId) -> Lowered<()> {
        let is_plain = self.shared_reads(expr).is_some_and(|reads| reads <= 1);
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) if !is_plain => {
                self.is_negated = !self.is_negated;
                let branched = self.branch(operand, fails, holds);
                self.is_negated = !self.is_negated;
                branched
            }
            ExprKind::Cast { kind: CastKind::Bool, value, .. } if !is_plain => self.branch(value, holds, fails),
            ExprKind::Logical { is_and, left, right } if !is_plain => {
                let middle = self.new_loc();
                let (then, otherwise) = if *is_and { (middle, fails) } else { (holds, middle) };
                self.branch(left, then, otherwise)?;
                self.at = middle;
                self.branch(right, holds, fails)
            }
            _ => {
                let condition = self.once(expr, |body| body.truth(expr))?;
                self.fork(condition, holds, fails);
                self.at = self.new_loc();
                Ok(())
            }
        }
    }

    /// Returns any value of a type.
    pub(super) fn any_value(&mut self, ty: MachineTy) -> Ir {
        let var = self.temporary(ty);
        self.step(Op::set(vec![(var, Ir::Choice(0, Ty::Machine(ty)))]));
        Ir::Var(var)
    }

    /// Refuses a function of the compiler.
    pub(super) fn refuse_builtin<T>(&self, builtin: Builtin, expr: &Expr) -> Lowered<T> {
        refuse(format!("the function of the compiler for `{builtin:?}` is"), expr.loc)
    }
}

/// The type `int`.
pub(super) const INT: MachineTy = MachineTy::signed(32);

/// Returns whether a value is constant or in a variable for intermediate values, which nothing changes.
pub(super) fn is_kept(value: &Ir, body: &Body<'_, '_>) -> bool {
    match value {
        Ir::Machine(..) => true,
        Ir::Var(var) => body.in_use.iter().any(|(_, known)| known == var),
        _ => false,
    }
}

/// Returns whether an expression may change objects.
pub(super) fn has_effects(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Assign { .. }
        | ExprKind::AssignOp { .. }
        | ExprKind::AssignOffset { .. }
        | ExprKind::Increment { .. }
        | ExprKind::Call { .. }
        | ExprKind::Builtin(..)
        | ExprKind::Statements(_)
        | ExprKind::CompoundLiteral(_) => true,
        _ => expr.kind.operands().into_iter().any(has_effects),
    }
}

fn compares(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Returns the comparison of two numbers of one type.
fn comparison(op: BinaryOp, ty: MachineTy, left: Ir, right: Ir) -> Ir {
    match op {
        BinaryOp::Eq => Ir::binary(IrOp::Eq, left, right),
        BinaryOp::Ne => Ir::binary(IrOp::Ne, left, right),
        BinaryOp::Lt => ty.apply(MachineOp::Lt, left, right),
        BinaryOp::Le => ty.apply(MachineOp::Le, left, right),
        BinaryOp::Gt => ty.apply(MachineOp::Lt, right, left),
        _ => ty.apply(MachineOp::Le, right, left),
    }
}

/// Returns the result of arithmetic, or of a comparison as a number.
pub(super) fn binary(op: BinaryOp, ty: MachineTy, left: Ir, right: Ir) -> Ir {
    let op = match op {
        BinaryOp::Add => MachineOp::Add,
        BinaryOp::Sub => MachineOp::Sub,
        BinaryOp::Mul => MachineOp::Mul,
        BinaryOp::Div => MachineOp::Div,
        BinaryOp::Rem => MachineOp::Rem,
        BinaryOp::And => MachineOp::And,
        BinaryOp::Or => MachineOp::Or,
        BinaryOp::Xor => MachineOp::Xor,
        BinaryOp::Shl => MachineOp::Shl,
        BinaryOp::Shr => MachineOp::Shr,
        _ => return ty.truth(comparison(op, ty, left, right)),
    };
    ty.apply(op, left, right)
}

/// Returns an address moved by a number of elements.
pub(super) fn moved(pointer: MachineTy, base: Ir, number: Ir, ty: MachineTy, size: u64, is_negative: bool) -> Ir {
    let bytes = match cast(number, ty, pointer) {
        Ir::Machine(_, bits) => pointer.constant(i128::from(bits) * i128::from(size)),
        number => pointer.apply(MachineOp::Mul, number, pointer.constant(i128::from(size))),
    };
    match (base, bytes) {
        (Ir::Machine(_, base), Ir::Machine(_, bytes)) => {
            let bytes = i128::from(bytes);
            pointer.constant(i128::from(base) + if is_negative { -bytes } else { bytes })
        }
        (base, bytes) => pointer.apply(if is_negative { MachineOp::Sub } else { MachineOp::Add }, base, bytes),
    }
}

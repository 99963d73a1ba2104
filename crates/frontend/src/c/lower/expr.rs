//! Lowering of expressions.
//!
//! [`Body::value`] adds the steps that an expression needs, from left to right, and returns its value over variables of
//! the frame. Where an expression reads one shared cell at most and has no effects, [`Body::read_once`] lets the step
//! that uses the value read the cell. A value that a later operand could change is kept in a variable.

use selvedge_ir::{Expr as Ir, MachineTy, Op, Ty};

use super::super::tree::{BinaryOp, Builtin, CastKind, Expr, ExprKind, UnaryOp};
use super::body::Body;
use super::heap::allocated;
use super::input::is_stream;
use super::place::{Place, cast};
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

    pub(super) fn once<T>(&mut self, expr: &Expr, lower: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
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
    pub(super) fn is_plain(&self, expr: &Expr) -> bool {
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

    pub(super) fn pair(&mut self, left: &Expr, right: &Expr) -> Lowered<(Ir, Ir)> {
        let mut values = self.values(&[left, right])?;
        let right = values.pop().unwrap_or(Ir::FALSE);
        Ok((values.pop().unwrap_or(Ir::FALSE), right))
    }

    /// Evaluates an expression of scalar type.
    pub(super) fn value(&mut self, expr: &Expr) -> Lowered<Ir> {
        match &expr.kind {
            ExprKind::Integer(number) => Ok(self.scalar(expr.ty, expr.loc)?.constant(*number)),
            ExprKind::Load(place) if matches!(place.kind, ExprKind::Object(object) if is_stream(self.unit, object)) => {
                Ok(self.low.pointer_ty().constant(i128::from(self.low.outside())))
            }
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
                self.check_inside(pointer)?;
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
                let base = self.own_address(object, offset);
                Ok(indices.into_iter().fold(base, |base, index| index.moved(pointer, base)))
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
        refuse(format!("the built-in function `{builtin:?}` is"), expr.loc)
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

//! Assignments, compound ones too, and increments.

use selvedge_ir::span::{Site, Update};
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp};

use super::super::tree::{Expr, ExprKind};
use super::arithmetic::{binary, moved};
use super::body::Body;
use super::expr::{INT, is_kept};
use super::place::{Access, cast};
use super::sites::operator;
use super::{Lowered, refuse};

impl Body<'_, '_> {
    /// Evaluates assignments; other kinds of expressions are refused.
    pub(super) fn assignment(&mut self, expr: &Expr) -> Lowered<Ir> {
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
                self.check_held_inside(target)?;
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
            ExprKind::Float(_) => refuse("a floating-point number is", loc),
            ExprKind::Conditional { condition, then: None, otherwise } => self.or_else(condition, otherwise, expr),
            ExprKind::Difference(left, right) => self.difference(left, right, expr),
            ExprKind::Member(base, number) => self.member_value(base, *number, expr),
            ExprKind::SizeOf(_) => refuse("the size of an array of variable length is", loc),
            _ => refuse("this expression is", loc),
        }
    }

    pub(super) fn increment(
        &mut self,
        target: &Expr,
        is_decrement: bool,
        is_postfix: bool,
        expr: &Expr,
    ) -> Lowered<Ir> {
        let ty = self.scalar(target.ty, expr.loc)?;
        let is_pointer = self.unit.types.is_pointer(target.ty);
        if is_pointer {
            self.check_held_inside(target)?;
        }
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
}

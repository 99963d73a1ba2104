//! Functions of the compiler: atomic operations are single steps, sequentially consistent.

use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy, Op, Ty};

use super::super::tree::{Builtin, Expr, ExprKind, FetchOp};
use super::super::types::QualType;
use super::body::Body;
use super::expr::INT;
use super::place::{Access, Place, cast};
use super::{Lowered, refuse};

impl Body<'_, '_> {
    /// Evaluates a call of a function of the compiler.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Expr], expr: &Expr) -> Lowered<Ir> {
        self.orders(builtin, args)?;
        let zero = INT.constant(0);
        match (builtin, args) {
            (Builtin::ThreadFence | Builtin::SignalFence | Builtin::SyncSynchronize, _) => Ok(zero),
            (Builtin::AtomicLoad, [pointer, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                self.atomically(true, |body| body.load(&access, ty))
            }
            (Builtin::AtomicStore | Builtin::AtomicInit, [pointer, value, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let value = self.operand(value, ty)?;
                let is_atomic = builtin == Builtin::AtomicStore;
                self.atomically(is_atomic, |body| body.store(&access, value, ty));
                Ok(zero)
            }
            (Builtin::AtomicExchange | Builtin::SyncLockTestAndSet, [pointer, value, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let value = self.operand(value, ty)?;
                Ok(self.modify(&access, ty, |_| value))
            }
            (Builtin::SyncLockRelease | Builtin::AtomicClear, [pointer, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                self.atomically(true, |body| body.store(&access, ty.constant(0), ty));
                Ok(zero)
            }
            (Builtin::AtomicTestAndSet, [pointer, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let old = self.modify(&access, ty, |_| ty.constant(1));
                Ok(MachineTy::unsigned(1).truth(Ir::binary(IrOp::Ne, old, ty.constant(0))))
            }
            (Builtin::AtomicFetch { op, returns_new, scaled }, [pointer, value, ..])
                if !scaled || !self.points_to_pointer(pointer) =>
            {
                self.fetch(op, returns_new, pointer, value)
            }
            (Builtin::SyncFetch { op, returns_new }, [pointer, value, ..]) => {
                self.fetch(op, returns_new, pointer, value)
            }
            _ => self.other_builtin(builtin, args, expr),
        }
    }

    fn points_to_pointer(&self, pointer: &Expr) -> bool {
        self.unit.types.pointee(pointer.ty).is_some_and(|of| self.unit.types.is_pointer(of))
    }

    fn fetch(&mut self, op: FetchOp, returns_new: bool, pointer: &Expr, value: &Expr) -> Lowered<Ir> {
        let (access, ty) = self.atomic(pointer)?;
        let value = self.operand(value, ty)?;
        let old = self.modify(&access, ty, |old| fetched(op, ty, old, value.clone()));
        Ok(if returns_new { fetched(op, ty, old, value) } else { old })
    }

    /// Evaluates operations that compare, and those that take the addresses of their operands.
    fn other_builtin(&mut self, builtin: Builtin, args: &[Expr], expr: &Expr) -> Lowered<Ir> {
        let zero = INT.constant(0);
        match (builtin, args) {
            (Builtin::SyncBoolCompareAndSwap | Builtin::SyncValCompareAndSwap, [pointer, old, new]) => {
                let (access, ty) = self.atomic(pointer)?;
                let (expected, new) = (self.operand(old, ty)?, self.operand(new, ty)?);
                let old = self.modify(&access, ty, |old| swapped(old, expected.clone(), new));
                Ok(match builtin {
                    Builtin::SyncValCompareAndSwap => old,
                    _ => MachineTy::unsigned(1).truth(Ir::binary(IrOp::Eq, old, expected)),
                })
            }
            (Builtin::AtomicCompareExchange, [pointer, expected, desired, weak, ..]) => {
                self.compare_exchange(pointer, expected, desired, weak)
            }
            (Builtin::AtomicLoadInto, [pointer, result, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let (into, into_ty) = self.atomic(result)?;
                let value = self.atomically(true, |body| body.load(&access, ty))?;
                self.store(&into, cast(value, ty, into_ty), into_ty);
                Ok(zero)
            }
            (Builtin::AtomicStoreFrom, [pointer, value, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let value = self.loaded_operand(value, ty)?;
                self.atomically(true, |body| body.store(&access, value, ty));
                Ok(zero)
            }
            (Builtin::AtomicExchangeInto, [pointer, value, result, ..]) => {
                let (access, ty) = self.atomic(pointer)?;
                let value = self.loaded_operand(value, ty)?;
                let (into, into_ty) = self.atomic(result)?;
                let old = self.modify(&access, ty, |_| value);
                self.store(&into, cast(old, ty, into_ty), into_ty);
                Ok(zero)
            }
            (Builtin::Unreachable | Builtin::Trap, _) => {
                self.stop();
                Ok(zero)
            }
            _ => self.refuse_builtin(builtin, expr),
        }
    }

    /// Returns the object that the pointer of an atomic operation points to.
    fn atomic(&mut self, pointer: &Expr) -> Lowered<(Access, MachineTy)> {
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this operand is", pointer.loc) };
        let place = self.target(pointer)?;
        self.typed_access(place, of, pointer)
    }

    /// Returns the cells of a place of a scalar type.
    pub(super) fn typed_access(&mut self, place: Place, of: QualType, at: &Expr) -> Lowered<(Access, MachineTy)> {
        let ty = self.scalar(of, at.loc)?;
        let typed = Expr { ty: of, ..Expr::new(ExprKind::Integer(0), of, at.loc) };
        Ok((self.access(place, &typed)?, ty))
    }

    /// Returns the value of an operand in the type of the object.
    fn operand(&mut self, value: &Expr, ty: MachineTy) -> Lowered<Ir> {
        let from = self.scalar(value.ty, value.loc)?;
        let value = self.value(value)?;
        let value = cast(value, from, ty);
        Ok(if matches!(value, Ir::Machine(..)) { value } else { self.save(value, ty) })
    }

    /// Returns the value that a pointer points to, in the type of the object.
    fn loaded_operand(&mut self, pointer: &Expr, ty: MachineTy) -> Lowered<Ir> {
        let (access, from) = self.atomic(pointer)?;
        let value = self.load(&access, from)?;
        Ok(self.save(cast(value, from, ty), ty))
    }

    fn compare_exchange(&mut self, pointer: &Expr, expected: &Expr, desired: &Expr, weak: &Expr) -> Lowered<Ir> {
        let Some(weak) = self.unit.integer(weak) else {
            return refuse("a compare-and-exchange with a computed strength is", weak.loc);
        };
        let (access, ty) = self.atomic(pointer)?;
        let (wanted, wanted_ty) = self.atomic(expected)?;
        let desired = self.operand(desired, ty)?;
        let old = self.load(&wanted, wanted_ty)?;
        let old = self.save(cast(old, wanted_ty, ty), ty);
        let bit = MachineTy::unsigned(1);
        let may = match weak {
            0 => Ir::TRUE,
            _ => {
                let var = self.temporary(bit);
                self.step(Op::set(vec![(var, Ir::Choice(0, Ty::Machine(bit)))]));
                Ir::binary(IrOp::Ne, Ir::Var(var), bit.constant(0))
            }
        };
        let is_same = |found: Ir| Ir::and(may.clone(), Ir::binary(IrOp::Eq, found, old.clone()));
        let found = self.modify(&access, ty, |found| Ir::Ite(Box::new((is_same(found.clone()), desired, found))));
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let result = bit.truth(is_same(found.clone()));
        let result = self.save(result, bit);
        self.fork(Ir::binary(IrOp::Ne, result.clone(), bit.constant(0)), holds, fails);
        self.at = fails;
        self.store(&wanted, cast(found, ty, wanted_ty), wanted_ty);
        self.low.join(holds, end);
        self.jump(end);
        self.at = end;
        Ok(result)
    }
}

/// Returns the new value if the old one is the expected one, and else the old one.
fn swapped(old: Ir, expected: Ir, new: Ir) -> Ir {
    Ir::Ite(Box::new((Ir::binary(IrOp::Eq, old.clone(), expected), new, old)))
}

fn fetched(op: FetchOp, ty: MachineTy, old: Ir, value: Ir) -> Ir {
    match op {
        FetchOp::Add => ty.apply(MachineOp::Add, old, value),
        FetchOp::Sub => ty.apply(MachineOp::Sub, old, value),
        FetchOp::And => ty.apply(MachineOp::And, old, value),
        FetchOp::Or => ty.apply(MachineOp::Or, old, value),
        FetchOp::Xor => ty.apply(MachineOp::Xor, old, value),
        FetchOp::Nand => ty.complement(ty.apply(MachineOp::And, old, value)),
    }
}

//! Misuse of locks and threads: a mutex is unlocked, or waited with, by a thread that does not hold it, a held mutex is
//! destroyed, a thread waits for itself or for a thread that has been waited for, a key is used before it is created.
//!
//! Which mutexes a thread holds is known from the states of the mutexes (`Lowering::has_owners`), and its number is
//! that of `threads`. Where numbers are used again, it cannot be told which of their threads a handle means.

use selvedge_ir::simplify::not;
use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineTy, Op, Scope, Ty, VarId};

use super::super::super::property::Property;
use super::super::super::tree::Expr;
use super::super::body::Body;
use super::super::objects::Cell;
use super::super::place::{Access, any, cast, current};
use super::super::sync::{ERROR_CHECKING, RECURSIVE, is};
use super::super::threads::STATE;
use super::super::{Lowered, Lowering, Values, refuse};

#[derive(Default)]
pub(super) struct Misuse {
    /// For the threads from 1 on, whether they have been waited for.
    joined: Vec<VarId>,
}

impl Misuse {
    pub(super) fn initial_values(&self) -> Values {
        self.joined.iter().map(|var| (*var, Ir::FALSE)).collect()
    }
}

impl Lowering<'_> {
    /// Declares the variables for a number of threads that may be waited for.
    pub(in super::super) fn prepare_misuse(&mut self, n_threads: usize) {
        if !self.checks.asked.has(Property::Misuse) || !self.facts.joins {
            return;
        }
        for number in 1..=n_threads {
            let var = self.new_var(format!("joined(#{number})"), Scope::Shared, Ty::Bool, Span::default());
            self.hide([var]);
            self.checks.misuse.joined.push(var);
        }
    }
}

impl Body<'_, '_> {
    /// Checks that this thread holds a mutex, by the states of it, unless functions return an error for a mutex of its
    /// kind.
    pub(in super::super) fn check_held(&mut self, mutex: &[Access], has_errors: bool, note: &str) {
        if let Some(depth) = mutex.get(1).filter(|_| self.asks(Property::Misuse)) {
            let (depth, _) = current(depth, STATE);
            let is_held = Ir::binary(IrOp::Ne, depth, STATE.constant(0));
            let kind = mutex.get(2).filter(|_| has_errors).map(|kind| current(kind, STATE).0);
            let is_told = kind.map_or(Ir::FALSE, |kind| Ir::or(is(&kind, RECURSIVE), is(&kind, ERROR_CHECKING)));
            self.check(Ir::or(is_held, is_told), note);
        }
    }

    /// Checks that no thread holds a mutex that is destroyed.
    pub(in super::super) fn check_free(&mut self, mutex: &Access) {
        let (state, _) = current(mutex, STATE);
        let is_free = Ir::binary(IrOp::Eq, state, STATE.constant(0));
        self.check(is_free, "a mutex is destroyed while a thread holds it");
    }

    /// Checks that a key for data of each thread has been created. Where that is not asked about, the execution ends.
    pub(in super::super) fn check_key(&mut self, keys: &[(Ir, Cell)]) {
        let is_known = any(keys.iter().map(|(condition, _)| condition.clone()).collect());
        if self.asks(Property::Misuse) {
            self.check(is_known, "a key is used that has not been created");
        } else if self.asks(Property::Deadlock) {
            self.require(is_known);
        }
    }

    /// Checks that the thread of a number can be waited for, and notes that it has been.
    pub(in super::super) fn check_join(&mut self, number: &Ir, ty: MachineTy, handle: &Expr) -> Lowered<()> {
        let Some(own) = self.low.threads.own.filter(|_| self.asks(Property::Misuse)) else { return Ok(()) };
        if self.low.threads.uses_numbers_again() {
            return refuse("a question about misuse where any number of threads are joined is", handle.loc);
        }
        let joined = self.low.checks.misuse.joined.clone();
        let is = |index: usize| Ir::binary(IrOp::Eq, number.clone(), ty.constant(index as i128 + 1));
        // The number behind the last one is that of the initial thread.
        let is_thread = any((0..=joined.len()).map(is).collect());
        self.check(is_thread, "join of what is not a thread");
        let itself = Ir::binary(IrOp::Eq, number.clone(), cast(Ir::Var(own), STATE, ty));
        self.check(not(itself), "a thread waits for itself");
        let again = joined.iter().enumerate().map(|(index, var)| Ir::and(is(index), Ir::Var(*var)));
        self.check(not(any(again.collect())), "a thread is joined a second time");
        let note = joined.iter().enumerate().map(|(index, var)| (*var, Ir::or(Ir::Var(*var), is(index))));
        self.step(Op::set(note.collect()));
        Ok(())
    }
}

//! The variables of the sequential program, and the expressions over them.

use std::collections::BTreeMap;

use index_vec::IndexVec;

use super::{Arrangement, equal, read_at_start};
use crate::passes::edit::and_number;
use crate::syntax::{Expr, Op, Program, Scope, Ty, Var, VarId};

/// The variables that represent those of the threads, and those of the schedule.
pub(super) struct Copies {
    /// For each shared variable its copies, first context first.
    pub(super) shared: BTreeMap<VarId, Vec<VarId>>,
    /// For each shared variable the guesses for the second context and later ones.
    guesses: BTreeMap<VarId, Vec<VarId>>,
    /// For each per-thread variable the one that holds it for the running thread.
    pub(super) own: BTreeMap<VarId, VarId>,
    /// Copies of shared variables at the creation of the threads, for those that some thread's initial values read.
    at_start: BTreeMap<VarId, VarId>,
    /// The context of the running thread, lowest bit first, from 0.
    context: Vec<VarId>,
    /// The number of contexts of a thread.
    pub(super) n_contexts: usize,
    /// The flag that the running thread makes no more steps.
    pub(super) over: VarId,
    /// The flag that an error occurred.
    pub(super) failed: VarId,
    /// The flag that the running thread is inside an atomic section, if the program has any.
    pub(super) held: Option<VarId>,
}

impl Copies {
    pub(super) fn new(
        old: &Program,
        n_contexts: usize,
        arrangement: Arrangement,
        new: &mut Program,
        origins: &mut IndexVec<VarId, Option<VarId>>,
    ) -> Copies {
        let mut var = |name: String, ty: Ty, origin: Option<VarId>| {
            origins.push(origin);
            new.vars.push(Var { name, scope: Scope::Shared, ty })
        };
        // First the variables of the running thread and of the schedule, which every step reads.
        let own = old.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread);
        let own = own.map(|(id, old)| (id, var(old.name.clone(), old.ty, None))).collect();
        let n_bits = usize::BITS - (n_contexts - 1).leading_zeros();
        let context = (0..n_bits).map(|bit| var(format!("context_{bit}"), Ty::Bool, None)).collect();
        let is_atomic = old.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
        let held = is_atomic.then(|| var("atomic".to_string(), Ty::Bool, None));
        let (over, failed) = (var("over".to_string(), Ty::Bool, None), var("failed".to_string(), Ty::Bool, None));
        // Then the copies of the shared variables, in the requested order, each with its guess before it.
        let of_scope = old.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared);
        let ids: Vec<VarId> = of_scope.map(|(id, _)| id).collect();
        let places: Vec<(VarId, usize)> = match arrangement {
            Arrangement::ByVariable => ids.iter().flat_map(|id| (1..=n_contexts).map(|k| (*id, k))).collect(),
            Arrangement::ByContext => (1..=n_contexts).flat_map(|k| ids.iter().map(move |id| (*id, k))).collect(),
        };
        let (mut shared, mut guesses) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        for (id, context) in places {
            let (Var { name, ty, .. }, guessed) = (&old.vars[id], guesses.entry(id).or_default());
            if context > 1 {
                guessed.push(var(format!("{name}_guess_{context}"), *ty, None));
            }
            let origin = (context == 1).then_some(id);
            shared.entry(id).or_default().push(var(format!("{name}_{context}"), *ty, origin));
        }
        // Last the values at the creation of the threads. Only the first copies and the flags have initial values.
        let start = |id: VarId| {
            let Var { name, ty, .. } = &old.vars[id];
            (id, var(format!("{name}_start"), *ty, None))
        };
        let at_start = read_at_start(old).into_iter().map(start).collect();
        let copies = Copies { shared, guesses, own, at_start, context, n_contexts, over, failed, held };
        new.init = old.init.iter().map(|(var, rhs)| (copies.shared[var][0], rhs.clone())).collect();
        let flags = copies.context.iter().chain(&copies.held).chain([&copies.over, &copies.failed]);
        new.init.extend(flags.map(|flag| (*flag, Expr::FALSE)));
        copies
    }

    /// Returns the assignment of the guesses to the later copies, and of their values before a prelude to the variables
    /// of a thread.
    pub(super) fn guess(&self, old: &Program) -> Op {
        let pairs = self.shared.values().zip(self.guesses.values());
        let of_var = |(copies, guesses): (&Vec<VarId>, &Vec<VarId>)| -> Vec<(VarId, Expr)> {
            copies[1..].iter().zip(guesses).map(|(copy, guess)| (*copy, Expr::Var(*guess))).collect()
        };
        let has_prelude = old.prelude.is_some();
        let own = self.own.iter().filter(|_| has_prelude);
        let own = own.map(|(var, own)| (*own, Expr::default_of(old.vars[*var].ty)));
        Op::set(pairs.flat_map(of_var).chain(own).collect())
    }

    /// Returns the condition that each guess equals the values that the last thread left behind in the previous
    /// context.
    pub(super) fn check(&self) -> Expr {
        let pairs = self.shared.values().zip(self.guesses.values());
        let equalities = pairs.flat_map(|(copies, guesses)| copies.iter().zip(guesses));
        equalities.fold(Expr::TRUE, |all, (left, guess)| Expr::and(all, equal(*left, *guess)))
    }

    /// Returns the assignment that stores the shared variables that initial values of threads read.
    pub(super) fn keep_start(&self) -> Option<Op> {
        let active: Vec<(VarId, Expr)> =
            self.at_start.iter().map(|(var, kept)| (*kept, Expr::Var(self.shared[var][0]))).collect();
        (!active.is_empty()).then(|| Op::set(active))
    }

    /// Returns an initial value of a thread, over the stored variables.
    pub(super) fn at_start(&self, expr: &Expr) -> Expr {
        expr.renamed(&|var| self.at_start[&var])
    }

    /// Returns the schedule at the beginning of a thread.
    pub(super) fn reset(&self) -> Vec<(VarId, Expr)> {
        let flags = self.context.iter().chain(&self.held).chain([&self.over]);
        flags.map(|flag| (*flag, Expr::FALSE)).collect()
    }

    /// Returns the condition that the running thread is in this context, from 0.
    pub(super) fn is_in(&self, context: usize) -> Expr {
        and_number(Expr::TRUE, &self.context, context)
    }

    /// Returns the condition that the running thread may be interrupted.
    pub(super) fn is_free(&self) -> Expr {
        self.held.map_or(Expr::TRUE, |held| Expr::negate(Expr::Var(held)))
    }

    /// Returns the step from a context, which is not the last, to the next.
    pub(super) fn advance(&self, context: usize) -> Op {
        let bits = self.context.iter().enumerate();
        let active = bits
            .filter(|(number, _)| (context ^ (context + 1)) >> number & 1 == 1)
            .map(|(number, var)| (*var, Expr::Bool((context + 1) >> number & 1 == 1)))
            .collect();
        Op::guarded(active, Expr::and(self.is_in(context), self.is_free()))
    }

    /// Returns a variable in a context; locals are the same in all contexts.
    pub(super) fn var(&self, var: VarId, context: usize, locals: &BTreeMap<VarId, VarId>) -> VarId {
        let copy = self.shared.get(&var).map(|copies| copies[context]);
        copy.or_else(|| self.own.get(&var).copied()).unwrap_or_else(|| locals[&var])
    }

    /// Returns an expression in a context.
    pub(super) fn expr(&self, expr: &Expr, context: usize, locals: &BTreeMap<VarId, VarId>) -> Expr {
        expr.renamed(&|var| self.var(var, context, locals))
    }

    /// Returns an expression in the current context of the thread.
    pub(super) fn expr_now(&self, expr: &Expr, locals: &BTreeMap<VarId, VarId>) -> Expr {
        if !self.touches(expr) {
            return self.expr(expr, 0, locals);
        }
        let last = self.expr(expr, self.n_contexts - 1, locals);
        (0..self.n_contexts - 1).rev().fold(last, |otherwise, context| {
            Expr::Ite(Box::new((self.is_in(context), self.expr(expr, context, locals), otherwise)))
        })
    }

    /// Returns whether an expression reads a shared variable.
    pub(super) fn touches(&self, expr: &Expr) -> bool {
        expr.any_leaf(|leaf| matches!(leaf, Expr::Var(var) | Expr::Next(var) if self.is_shared(*var)))
    }

    pub(super) fn is_shared(&self, var: VarId) -> bool {
        self.shared.contains_key(&var)
    }
}

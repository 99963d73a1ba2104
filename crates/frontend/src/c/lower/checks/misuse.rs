//! Misuse of locks and threads: a mutex is unlocked, or waited with, by a thread that does not hold it, a held mutex is
//! destroyed, a thread waits for itself or for a thread that has been waited for.
//!
//! For each mutex every thread has a variable that says whether it holds it. A new thread has copies of its creator's
//! variables, and begins by setting them back.

use std::collections::BTreeMap;

use selvedge_ir::span::{Role, Span};
use selvedge_ir::{BinaryOp as IrOp, Edge, EdgeId, Expr as Ir, LocId, MachineTy, Op, Scope, Ty, VarId};

use super::super::super::property::Property;
use super::super::super::tree::Expr;
use super::super::body::Body;
use super::super::objects::Cell;
use super::super::place::{Access, any};
use super::super::threads::STATE;
use super::super::{Lowered, Lowering, Values, refuse};

#[derive(Default)]
pub(super) struct Misuse {
    /// For each mutex, whether the thread holds it.
    holds: BTreeMap<VarId, VarId>,
    /// The number of the thread; 0 for `main`.
    own: Option<VarId>,
    /// For the threads from 1 on, whether they have been waited for.
    joined: Vec<VarId>,
    /// The first steps of threads, which set the variables of the thread.
    starts: Vec<EdgeId>,
}

impl Misuse {
    pub(super) fn initial_values(&self) -> Values {
        let flags = self.holds.values().chain(&self.joined).map(|var| (*var, Ir::FALSE));
        flags.chain(self.own.iter().map(|var| (*var, STATE.constant(0)))).collect()
    }

    /// Returns the assignments with which a thread begins.
    fn begin(&self, number: Option<&Ir>) -> Values {
        let holds = self.holds.values().map(|var| (*var, Ir::FALSE));
        holds.chain(self.own.zip(number.cloned())).collect()
    }
}

impl Lowering<'_> {
    /// Declares the variables for a number of threads that somebody may wait for.
    pub(in super::super) fn prepare_misuse(&mut self, n_threads: usize) {
        if !self.checks.asked.has(Property::Misuse) || !self.facts.joins {
            return;
        }
        let none = Span::default();
        self.checks.misuse.own = Some(self.new_var("$self".to_owned(), Scope::Thread, Ty::Machine(STATE), none));
        for number in 1..=n_threads {
            let var = self.new_var(format!("joined(#{number})"), Scope::Shared, Ty::Bool, none);
            self.checks.misuse.joined.push(var);
        }
    }

    fn holds(&mut self, lock: VarId) -> VarId {
        if let Some(var) = self.checks.misuse.holds.get(&lock) {
            return *var;
        }
        let name = format!("holds({})", self.program.vars[lock].name);
        let var = self.new_var(name, Scope::Thread, Ty::Bool, Span::default());
        self.checks.misuse.holds.insert(lock, var);
        var
    }

    /// Adds the step with which a thread of a number begins, at a location; returns where it goes on.
    pub(in super::super) fn begin_thread(&mut self, at: LocId, number: Ir, span: Span) -> LocId {
        let values = self.checks.misuse.begin(Some(&number));
        if values.is_empty() {
            return at;
        }
        let to = self.new_loc(self.program.locs[at].proc);
        self.edge(at, to, Op::set(values), span, Role::FallOff);
        to
    }

    /// Fills in the first steps of threads without numbers, when all locks are known.
    pub(in super::super) fn finish_misuse(&mut self) {
        for start in std::mem::take(&mut self.checks.misuse.starts) {
            let Edge { op, .. } = &mut self.program.edges[start];
            *op = Op::set(self.checks.misuse.begin(None));
        }
    }
}

impl Body<'_, '_> {
    /// Adds the first step of a function that threads without numbers begin with.
    pub(in super::super) fn begin_function(&mut self) -> Lowered<()> {
        if self.asks(Property::Misuse) && self.low.facts.forks {
            let loc = self.unit.functions[self.function].loc;
            return refuse("a question about misuse where statements are threads is", loc);
        }
        let is_start = self.low.facts.sites.iter().any(|(_, start, _)| *start == self.function);
        if !self.asks(Property::Misuse) || self.low.facts.joins || !is_start {
            return Ok(());
        }
        if self.low.facts.called.contains(&self.function) {
            let loc = self.unit.functions[self.function].loc;
            return refuse("a question about misuse where the function of a thread is also called is", loc);
        }
        let start = self.low.program.edges.next_idx();
        self.low.checks.misuse.starts.push(start);
        self.step(Op::skip());
        Ok(())
    }

    /// Checks the use of a mutex before a function of the library is called.
    pub(in super::super) fn check_lock(&mut self, name: &str, args: &[Expr]) -> Lowered<()> {
        if !self.asks(Property::Misuse) {
            return Ok(());
        }
        match (name, args) {
            ("pthread_mutex_unlock", [lock]) => {
                self.check_held(lock, "unlock of a mutex that this thread does not hold")
            }
            ("pthread_cond_wait", [_, lock]) | ("pthread_cond_timedwait", [_, lock, _]) => {
                self.check_held(lock, "wait with a mutex that this thread does not hold")
            }
            ("pthread_mutex_destroy", [lock]) => {
                let candidates = self.candidates(lock)?;
                let held = |(condition, cell): &(Ir, Cell)| {
                    Ir::and(condition.clone(), Ir::binary(IrOp::Ne, Ir::Var(cell.var), STATE.constant(0)))
                };
                let is_held = any(candidates.iter().map(held).collect());
                self.check(selvedge_ir::simplify::not(is_held), "a mutex is destroyed while a thread holds it");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn candidates(&mut self, lock: &Expr) -> Lowered<Vec<(Ir, Cell)>> {
        if super::super::expr::has_effects(lock) {
            return refuse("a lock whose address has effects, with a question about misuse, is", lock.loc);
        }
        Ok(match self.lock(lock)? {
            Access::Known(cell) => vec![(Ir::TRUE, cell)],
            Access::Candidates(candidates) => candidates,
        })
    }

    fn check_held(&mut self, lock: &Expr, note: &str) -> Lowered<()> {
        let mut held = Vec::new();
        for (condition, cell) in self.candidates(lock)? {
            held.push(Ir::and(condition, Ir::Var(self.low.holds(cell.var))));
        }
        self.check(any(held), note);
        Ok(())
    }

    /// Notes that the thread holds a mutex, or does not any more, if its call had the result 0.
    pub(in super::super) fn note_lock(&mut self, lock: &Expr, is_held: bool, result: Option<&Ir>) -> Lowered<()> {
        if !self.asks(Property::Misuse) {
            return Ok(());
        }
        let mut active = Vec::new();
        for (condition, cell) in self.candidates(lock)? {
            let var = self.low.holds(cell.var);
            let worked = result.map(|result| Ir::binary(IrOp::Eq, result.clone(), MachineTy::signed(32).constant(0)));
            let applies = worked.map_or(condition.clone(), |worked| Ir::and(condition, worked));
            let new = match applies {
                Ir::Bool(true) => Ir::Bool(is_held),
                applies => Ir::Ite(Box::new((applies, Ir::Bool(is_held), Ir::Var(var)))),
            };
            active.push((var, new));
        }
        self.step(Op::set(active));
        Ok(())
    }

    /// Checks that the thread of a number can be waited for, and notes that it has been.
    pub(in super::super) fn check_join(&mut self, number: &Ir, ty: MachineTy) {
        let joined = self.low.checks.misuse.joined.clone();
        let Some(own) = self.low.checks.misuse.own.filter(|_| self.asks(Property::Misuse)) else { return };
        let is = |index: usize| Ir::binary(IrOp::Eq, number.clone(), ty.constant(index as i128 + 1));
        let is_thread = any((0..joined.len()).map(is).collect());
        self.check(is_thread, "join of what is not a thread");
        let itself = (0..joined.len())
            .map(|index| Ir::and(is(index), Ir::binary(IrOp::Eq, Ir::Var(own), STATE.constant(index as i128 + 1))));
        self.check(selvedge_ir::simplify::not(any(itself.collect())), "a thread waits for itself");
        let again = joined.iter().enumerate().map(|(index, var)| Ir::and(is(index), Ir::Var(*var)));
        self.check(selvedge_ir::simplify::not(any(again.collect())), "a thread is waited for a second time");
        let note = joined.iter().enumerate().map(|(index, var)| (*var, Ir::or(Ir::Var(*var), is(index))));
        self.step(Op::set(note.collect()));
    }
}

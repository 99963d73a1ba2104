//! Mutexes of all kinds, and condition variables, which use them.

use selvedge_ir::simplify::not;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, Op};

use super::super::property::Property;
use super::super::tree::Expr;
use super::body::Body;
use super::calls::is_null;
use super::expr::INT;
use super::place::{Access, any};
use super::sync::{Alternative, ERROR_CHECKING, RECURSIVE, State, is, plus};
use super::threads::{BUSY, STATE, TIMED_OUT};
use super::{Lowered, Lowering, refuse};

/// How often a thread may hold a recursive mutex.
const MAX_DEPTH: i128 = 7;

/// The results of functions that fail.
const NOT_PERMITTED: i128 = 1;
const DEADLOCK: i128 = 35;

/// Returns whether a function is one of mutexes, or of condition variables, which use them.
pub(super) fn is_mutex(name: &str) -> bool {
    let waits = ["pthread_cond_wait", "pthread_cond_timedwait", "cnd_wait", "cnd_timedwait"];
    name.starts_with("pthread_mutex_") || name.starts_with("mtx_") || waits.contains(&name)
}

impl Lowering<'_> {
    /// Returns whether threads know which mutexes they hold.
    pub(super) fn has_owners(&self) -> bool {
        let is_asked = self.checks.asked.has(Property::Misuse) && self.facts.library.iter().any(|name| is_mutex(name));
        self.facts.kinds || is_asked
    }
}

impl Body<'_, '_> {
    /// Evaluates a call of a function of mutexes.
    pub(super) fn mutex_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let is_c11 = name.starts_with("mtx_") || name.starts_with("cnd_");
        let busy = if is_c11 { 1 } else { BUSY };
        let late = if is_c11 { 4 } else { TIMED_OUT };
        match (name, args) {
            ("pthread_mutex_init" | "mtx_init", [lock, kind]) => self.mutex_init(lock, kind)?,
            ("pthread_mutex_lock" | "mtx_lock", [lock]) => return self.mutex_lock(lock).map(Some),
            ("pthread_mutex_unlock" | "mtx_unlock", [lock]) => return self.mutex_unlock(lock, !is_c11).map(Some),
            ("pthread_mutex_trylock" | "mtx_trylock", [lock]) => return self.mutex_try(lock, busy, false).map(Some),
            ("pthread_mutex_timedlock" | "mtx_timedlock", [lock, _]) => {
                return self.mutex_try(lock, late, true).map(Some);
            }
            ("pthread_mutex_destroy" | "mtx_destroy", [lock]) => self.mutex_destroy(lock)?,
            ("pthread_cond_wait" | "cnd_wait", [_, lock]) => return self.mutex_wait(lock, !is_c11, expr).map(Some),
            ("pthread_cond_timedwait" | "cnd_timedwait", [_, lock, _]) => {
                let waited = self.mutex_wait(lock, !is_c11, expr)?;
                let in_time = self.either(0, late);
                return Ok(Some(match waited {
                    Ir::Machine(..) => in_time,
                    waited => {
                        Ir::Ite(Box::new((Ir::binary(IrOp::Eq, waited.clone(), INT.constant(0)), in_time, waited)))
                    }
                }));
            }
            _ => return refuse(format!("this use of the function `{name}` is"), expr.loc),
        }
        self.success()
    }

    /// Returns the states of a mutex: whether it is held, where owners matter how often this thread holds it, and where
    /// kinds matter the kind.
    fn mutex(&mut self, lock: &Expr) -> Lowered<Vec<Access>> {
        if self.low.has_owners() && self.low.facts.forks {
            return refuse("a mutex whose owner matters beside threads that are copies is", lock.loc);
        }
        match (self.low.facts.kinds, self.low.has_owners()) {
            (true, _) => self.states(lock, &[State::Main, State::Depth, State::Kind]),
            (false, true) => self.states(lock, &[State::Main, State::Depth]),
            (false, false) => self.states(lock, &[State::Main]),
        }
    }

    /// Initialises a mutex; the second argument is a kind of C11, or a pointer to attributes.
    fn mutex_init(&mut self, lock: &Expr, kind: &Expr) -> Lowered<()> {
        let kind = if is_null(kind) {
            STATE.constant(0)
        } else if let Some(kind) = self.unit.integer(kind) {
            STATE.constant(kind & RECURSIVE)
        } else if self.unit.types.is_pointer(kind.ty) {
            self.attributes(kind)?
        } else {
            return refuse("a computed kind of a mutex is", kind.loc);
        };
        let states = self.mutex(lock)?;
        let new = [STATE.constant(0), STATE.constant(0), kind];
        self.change(&states, |_| Ir::TRUE, |old| replaced(old, &new));
        Ok(())
    }

    /// Destroys a mutex: nothing happens, but whether it is held may be asked about.
    fn mutex_destroy(&mut self, lock: &Expr) -> Lowered<()> {
        if self.asks(Property::Misuse) {
            let states = self.mutex(lock)?;
            self.check_free(&states[0]);
        }
        Ok(())
    }

    /// Returns the kind in attributes; without attributes it is the normal one.
    fn attributes(&mut self, attributes: &Expr) -> Lowered<Ir> {
        let loc = attributes.loc;
        let Some(of) = self.unit.types.pointee(attributes.ty) else { return refuse("this kind is", loc) };
        let var = self.temporary(STATE);
        self.step(Op::set(vec![(var, STATE.constant(0))]));
        let place = self.target(attributes)?;
        self.unless_null(place, |body, place| {
            let access = body.state_at(&place, of, State::Main, loc)?;
            body.check_lock(&place, &access);
            let kind = body.load(&access, STATE)?;
            body.step(Op::set(vec![(var, kind)]));
            Ok(())
        })?;
        Ok(Ir::Var(var))
    }

    fn mutex_lock(&mut self, lock: &Expr) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        if !self.low.facts.kinds {
            self.change(&states, is_free, taken);
            return Ok(INT.constant(0));
        }
        self.exceed_depth(&states);
        let fails: Alternative<'_> =
            (&|old| Ir::and(not(is(&old[1], 0)), is(&old[2], ERROR_CHECKING)), &<[Ir]>::to_vec, DEADLOCK);
        Ok(self.alternatives(&states, &[(&is_free, &taken, 0), (&is_mine_again, &again, 0), fails]))
    }

    /// Releases a mutex. The functions of POSIX return an error where the thread does not hold a recursive or an
    /// error-checking mutex; those of C11 leave that undefined.
    fn mutex_unlock(&mut self, lock: &Expr, has_errors: bool) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        self.check_held(&states, has_errors, "unlock of a mutex that this thread does not hold");
        if !self.low.facts.kinds {
            self.change(&states, |_| Ir::TRUE, released);
            return Ok(INT.constant(0));
        }
        let inner = |old: &[Ir]| Ir::and(is(&old[2], RECURSIVE), not(Ir::or(is(&old[1], 0), is(&old[1], 1))));
        let last = |old: &[Ir]| not(Ir::or(inner(old), foreign(old)));
        let less = |old: &[Ir]| replaced(old, &[old[0].clone(), plus(&old[1], -1)]);
        Ok(self.alternatives(
            &states,
            &[(&inner, &less, 0), (&foreign, &<[Ir]>::to_vec, NOT_PERMITTED), (&last, &released, 0)],
        ))
    }

    /// Takes a mutex if it is free, else returns a number that says that it is not. A thread that would wait for an
    /// error-checking mutex of its own is told so.
    fn mutex_try(&mut self, lock: &Expr, failure: i128, waits: bool) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        if !self.low.facts.kinds {
            let held = |old: &[Ir]| not(is_free(old));
            return Ok(self.alternatives(&states, &[(&is_free, &taken, 0), (&held, &<[Ir]>::to_vec, failure)]));
        }
        self.exceed_depth(&states);
        let own = |old: &[Ir]| Ir::and(not(is(&old[1], 0)), is(&old[2], ERROR_CHECKING));
        let own = |old: &[Ir]| if waits { own(old) } else { Ir::FALSE };
        let held = |old: &[Ir]| not(any(vec![is_free(old), is_mine(old), own(old)]));
        let mut alternatives: Vec<Alternative<'_>> =
            vec![(&is_free, &taken, 0), (&is_mine_again, &again, 0), (&held, &<[Ir]>::to_vec, failure)];
        if waits {
            alternatives.push((&own, &<[Ir]>::to_vec, DEADLOCK));
        }
        Ok(self.alternatives(&states, &alternatives))
    }

    /// Adds the limit on how often a thread holds a recursive mutex.
    fn exceed_depth(&mut self, states: &[Access]) {
        let start = self.at;
        let too_deep = |old: &[Ir]| Ir::and(is_mine(old), is(&old[1], MAX_DEPTH));
        self.change(states, too_deep, <[Ir]>::to_vec);
        self.exceed(Ir::TRUE, &format!("a recursive mutex is taken more than {MAX_DEPTH} times by one thread"));
        self.at = start;
    }

    /// Releases a mutex and takes it again: a thread that waits for a condition may always wake up. Returns the result:
    /// an error where the thread does not hold a recursive or an error-checking mutex.
    fn mutex_wait(&mut self, lock: &Expr, has_errors: bool, expr: &Expr) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        self.check_held(&states, has_errors, "wait with a mutex that this thread does not hold");
        if !self.low.facts.kinds {
            self.change(&states, |_| Ir::TRUE, released);
            self.change(&states, is_free, taken);
            self.wakes(expr);
            return Ok(INT.constant(0));
        }
        let (start, end, result) = (self.at, self.new_loc(), self.temporary(INT));
        self.change(&states, foreign, <[Ir]>::to_vec);
        self.step(Op::set(vec![(result, INT.constant(NOT_PERMITTED))]));
        self.jump(end);
        self.at = start;
        self.change(&states, |old| not(foreign(old)), released);
        self.change(&states, is_free, taken);
        self.wakes(expr);
        self.step(Op::set(vec![(result, INT.constant(0))]));
        self.jump(end);
        self.at = end;
        Ok(Ir::Var(result))
    }
}

/// Returns whether the kind of a mutex tells a thread that does not hold it so.
fn foreign(old: &[Ir]) -> Ir {
    Ir::and(Ir::or(is(&old[2], RECURSIVE), is(&old[2], ERROR_CHECKING)), is(&old[1], 0))
}

fn is_free(old: &[Ir]) -> Ir {
    is(&old[0], 0)
}

/// Returns whether this thread holds a recursive mutex.
fn is_mine(old: &[Ir]) -> Ir {
    Ir::and(not(is(&old[1], 0)), is(&old[2], RECURSIVE))
}

/// Returns states of which the first ones are new, as far as there are any.
fn replaced(old: &[Ir], new: &[Ir]) -> Vec<Ir> {
    old.iter().enumerate().map(|(number, old)| new.get(number).unwrap_or(old).clone()).collect()
}

/// Returns whether this thread holds a recursive mutex, and may take it once more.
fn is_mine_again(old: &[Ir]) -> Ir {
    Ir::and(is_mine(old), STATE.apply(MachineOp::Lt, old[1].clone(), STATE.constant(MAX_DEPTH)))
}

fn taken(old: &[Ir]) -> Vec<Ir> {
    replaced(old, &[STATE.constant(1), STATE.constant(1)])
}

fn again(old: &[Ir]) -> Vec<Ir> {
    replaced(old, &[old[0].clone(), plus(&old[1], 1)])
}

fn released(old: &[Ir]) -> Vec<Ir> {
    replaced(old, &[STATE.constant(0), STATE.constant(0)])
}

//! Locks, semaphores, barriers, keys and the like.
//!
//! An object of the library has one or several numbers, its states, each a variable of its own; its parts in memory are
//! not used. A step tests and changes all states of one object. How often this thread holds a mutex is a variable of each
//! thread, so that threads need no numbers for it; it is there where kinds of mutexes or a question need it.

use selvedge_ir::simplify::not;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy, Op, Scope, Ty, VarId};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{Expr, ObjectId};
use super::super::types::{Length, QualType, Type};
use super::body::Body;
use super::calls::is_null;
use super::expr::INT;
use super::facts::{named_function, site};
use super::objects::Cell;
use super::place::{Access, Place, at_address, cast, current, decided, written};
use super::threads::{BUSY, STATE, TIMED_OUT};
use super::{Lowered, Lowering, refuse};

/// What a number of an object of the library says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Whether a lock is held, and the count of a semaphore.
    Main,
    /// The kind of a mutex.
    Kind,
    /// How often this thread holds a mutex.
    Depth,
    /// How many threads a barrier waits for, how many have arrived and how many have still to leave.
    Count,
    Leaving,
    /// Whether one of the threads that leave a barrier has still to be the special one.
    Serial,
}

impl State {
    fn suffix(self) -> &'static str {
        match self {
            State::Main => "",
            State::Kind => ".kind",
            State::Depth => ".depth",
            State::Count => ".count",
            State::Leaving => ".leaving",
            State::Serial => ".serial",
        }
    }
}

/// The kinds of mutexes, as in the headers.
const RECURSIVE: i128 = 1;
const ERROR_CHECKING: i128 = 2;

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

fn is(value: &Ir, number: i128) -> Ir {
    Ir::binary(IrOp::Eq, value.clone(), STATE.constant(number))
}

fn plus(value: &Ir, by: i128) -> Ir {
    STATE.apply(MachineOp::Add, value.clone(), STATE.constant(by))
}

impl Lowering<'_> {
    /// Returns whether threads know which mutexes they hold.
    pub(super) fn has_owners(&self) -> bool {
        let is_asked = self.checks.asked.has(Property::Misuse) && self.facts.library.iter().any(|name| is_mutex(name));
        self.facts.kinds || is_asked
    }

    /// Returns a state of the object of the library at an offset of an object.
    fn sync_cell(&mut self, object: ObjectId, offset: u64, of: QualType, state: State, loc: Loc) -> Lowered<Cell> {
        if let Some(cell) = self.sync.get(&(object, offset, state)) {
            return Ok(*cell);
        }
        let declared = &self.unit.objects[object];
        let size = self.unit.types.layout(of).map_or(1, |layout| layout.size);
        self.initial_kind(object, offset, size)?;
        let scope = if state == State::Depth { Scope::Thread } else { self.scope(object, loc)? };
        let name = self.part_name(declared.ty, offset, of, self.unit.name(declared.name).to_owned());
        let var = self.new_var(format!("{name}{}", state.suffix()), scope, Ty::Machine(STATE), declared.loc.span);
        if state != State::Main {
            self.hide([var]);
        }
        let cell = Cell { offset, size, bits: None, ty: STATE, var };
        self.sync.insert((object, offset, state), cell);
        Ok(cell)
    }

    /// Returns the kind that a static initial value gives to a mutex.
    fn initial_kind(&self, object: ObjectId, offset: u64, size: u64) -> Lowered<i128> {
        let mut kind = 0;
        for item in self.unit.objects[object].init.iter().flat_map(|init| &init.items) {
            let is_inside = (offset..offset + size).contains(&item.offset);
            match self.unit.integer(&item.value) {
                _ if !is_inside || is_null(&item.value) => {}
                Some(0 | 3) => {}
                Some(value @ (RECURSIVE | ERROR_CHECKING)) => kind = value,
                _ => return refuse("a lock of another kind than the normal one is", item.value.loc),
            }
        }
        Ok(kind)
    }

    /// Returns the name of the part of a type at an offset.
    fn part_name(&self, ty: QualType, offset: u64, of: QualType, name: String) -> String {
        let types = &self.unit.types;
        if ty.id == of.id {
            return name;
        }
        match types.get(ty) {
            Type::Array(element, _) => {
                let size = types.layout(*element).map_or(1, |layout| layout.size.max(1));
                self.part_name(*element, offset % size, of, format!("{name}[{}]", offset / size))
            }
            _ => {
                let fields = types.record(ty).map_or(&[][..], |body| &body.fields);
                let field = fields.iter().rev().find(|field| field.offset <= offset);
                match field.and_then(|field| field.name.map(|member| (field, member))) {
                    Some((field, member)) => {
                        let name = format!("{name}.{}", self.unit.name(member));
                        self.part_name(field.ty, offset - field.offset, of, name)
                    }
                    None => name,
                }
            }
        }
    }

    /// Adds the offsets of all parts of a type that have another type.
    fn parts_of(&self, ty: QualType, offset: u64, of: QualType, found: &mut Vec<u64>) {
        let types = &self.unit.types;
        match types.get(ty) {
            _ if ty.id == of.id => found.push(offset),
            Type::Array(element, Length::Known(length)) => {
                let size = types.layout(*element).map_or(1, |layout| layout.size);
                (0..*length).for_each(|number| self.parts_of(*element, offset + number * size, of, found));
            }
            Type::Record(_) => {
                let fields = types.record(ty).map_or(&[][..], |body| &body.fields);
                fields.iter().for_each(|field| self.parts_of(field.ty, offset + field.offset, of, found));
            }
            _ => {}
        }
    }

    /// Returns the initial values of the states of objects: locks are free until they are initialised.
    pub(super) fn sync_values(&self) -> Vec<(VarId, Ir)> {
        let mut values = Vec::new();
        for ((object, offset, state), cell) in &self.sync {
            let is_local = matches!(self.program.vars[cell.var].scope, Scope::Local(_));
            let number = match state {
                State::Kind => self.initial_kind(*object, *offset, cell.size).unwrap_or(0),
                _ => 0,
            };
            if !is_local {
                values.push((cell.var, STATE.constant(number)));
            }
        }
        values
    }
}

impl Body<'_, '_> {
    /// Makes a local object of the library as its initial value says, where it is declared.
    pub(super) fn reset(&mut self, object: ObjectId) -> Lowered<()> {
        let declared = &self.unit.objects[object];
        let size = self.unit.types.layout(declared.ty).map_or(1, |layout| layout.size);
        self.begin_life(object);
        let state = self.low.sync_cell(object, 0, declared.ty, State::Main, declared.loc)?;
        if declared.init.is_none() {
            return Ok(());
        }
        let mut active = vec![(state.var, STATE.constant(0))];
        if self.low.facts.kinds {
            let kind = self.low.initial_kind(object, 0, size)?;
            let cell = self.low.sync_cell(object, 0, declared.ty, State::Kind, declared.loc)?;
            active.push((cell.var, STATE.constant(kind)));
        }
        if self.low.has_owners() {
            let cell = self.low.sync_cell(object, 0, declared.ty, State::Depth, declared.loc)?;
            active.push((cell.var, STATE.constant(0)));
        }
        self.step(Op::set(active));
        Ok(())
    }

    /// Returns the states of the object of the library that a pointer points to.
    fn states(&mut self, pointer: &Expr, states: &[State]) -> Lowered<Vec<Access>> {
        let loc = pointer.loc;
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this lock is", loc) };
        if !self.unit.types.is_record(of) {
            return refuse("a lock of this type is", loc);
        }
        let place = match self.target(pointer)? {
            Place::Address(address) => Place::Address(self.save(address, self.low.pointer_ty())),
            place => place,
        };
        let found: Vec<Access> =
            states.iter().map(|state| self.state_at(&place, of, *state, loc)).collect::<Lowered<_>>()?;
        if let Some(first) = found.first() {
            self.check_lock(&place, first);
        }
        Ok(found)
    }

    fn state_at(&mut self, place: &Place, of: QualType, state: State, loc: Loc) -> Lowered<Access> {
        let mut candidates = Vec::new();
        match place {
            Place::Object { object, offset, indices } if indices.is_empty() => {
                return Ok(Access::Known(self.low.sync_cell(*object, *offset, of, state, loc)?));
            }
            Place::Object { object, offset, indices } => {
                for (condition, offset) in self.elements(*offset, indices) {
                    candidates.push((condition, self.low.sync_cell(*object, offset, of, state, loc)?));
                }
            }
            Place::Address(address) => {
                for object in self.low.facts.taken.clone() {
                    let (base, is_there) = (self.low.address(object), self.low.is_there(object));
                    let mut offsets = Vec::new();
                    self.low.parts_of(self.unit.objects[object].ty, 0, of, &mut offsets);
                    for offset in offsets {
                        let at = self.low.pointer_ty().constant(i128::from(base + offset));
                        let cell = self.low.sync_cell(object, offset, of, state, loc)?;
                        candidates.push((Ir::and(at_address(address, at), is_there.clone()), cell));
                    }
                }
                if state == State::Main {
                    self.exceed_type(address, &candidates);
                }
            }
        }
        Ok(decided(candidates))
    }

    /// Returns the main state of the object of the library that a pointer points to.
    pub(super) fn lock(&mut self, pointer: &Expr) -> Lowered<Access> {
        let mut found = self.states(pointer, &[State::Main])?;
        found.pop().map_or_else(|| refuse("this lock is", pointer.loc), Ok)
    }

    /// Adds a step that exists where a test on states holds, and changes them.
    fn change(&mut self, states: &[Access], test: impl Fn(&[Ir]) -> Ir, new: impl Fn(&[Ir]) -> Vec<Ir>) {
        let (mut old, mut valid, mut active) = (Vec::new(), Ir::TRUE, Vec::new());
        for access in states {
            let (value, is_valid) = current(access, STATE);
            old.push(value);
            valid = is_valid;
        }
        for (access, (value, before)) in states.iter().zip(new(&old).iter().zip(&old)) {
            if value != before {
                active.extend(written(access, value, STATE).0);
            }
        }
        self.step(Op::guarded(active, Ir::and(valid, test(&old))));
    }

    /// Adds the limit on how often a thread holds a recursive mutex.
    fn exceed_depth(&mut self, states: &[Access]) {
        let start = self.at;
        let too_deep = |old: &[Ir]| Ir::and(is_mine(old), is(&old[1], MAX_DEPTH));
        self.change(states, too_deep, <[Ir]>::to_vec);
        self.exceed(Ir::TRUE, &format!("a recursive mutex is taken more than {MAX_DEPTH} times by one thread"));
        self.at = start;
    }

    /// Adds alternatives, each with a test, changes and a result; returns the result.
    fn alternatives(&mut self, states: &[Access], alternatives: &[Alternative<'_>]) -> Ir {
        let (start, end) = (self.at, self.new_loc());
        let var = self.temporary(INT);
        for (test, new, result) in alternatives {
            self.at = start;
            self.change(states, test, new);
            self.step(Op::set(vec![(var, INT.constant(*result))]));
            self.jump(end);
        }
        self.at = end;
        Ir::Var(var)
    }

    /// Evaluates a call of a function of mutexes.
    pub(super) fn mutex_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let is_c11 = name.starts_with("mtx_") || name.starts_with("cnd_");
        let busy = if is_c11 { 1 } else { BUSY };
        let late = if is_c11 { 4 } else { TIMED_OUT };
        match (name, args) {
            ("pthread_mutex_init" | "mtx_init", [lock, kind]) => self.mutex_init(lock, kind)?,
            ("pthread_mutex_lock" | "mtx_lock", [lock]) => return self.mutex_lock(lock).map(Some),
            ("pthread_mutex_unlock" | "mtx_unlock", [lock]) => return self.mutex_unlock(lock).map(Some),
            ("pthread_mutex_trylock" | "mtx_trylock", [lock]) => return self.mutex_try(lock, busy).map(Some),
            ("pthread_mutex_timedlock" | "mtx_timedlock", [lock, _]) => return self.mutex_try(lock, late).map(Some),
            ("pthread_mutex_destroy" | "mtx_destroy", [lock]) => self.mutex_destroy(lock)?,
            ("pthread_cond_wait" | "cnd_wait", [_, lock]) => self.mutex_wait(lock, expr)?,
            ("pthread_cond_timedwait" | "cnd_timedwait", [_, lock, _]) => {
                self.mutex_wait(lock, expr)?;
                return Ok(Some(self.either(0, late)));
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

    fn mutex_unlock(&mut self, lock: &Expr) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        self.check_held(&states, "unlock of a mutex that this thread does not hold");
        if !self.low.facts.kinds {
            self.change(&states, |_| Ir::TRUE, released);
            return Ok(INT.constant(0));
        }
        let inner = |old: &[Ir]| Ir::and(is(&old[2], RECURSIVE), not(Ir::or(is(&old[1], 0), is(&old[1], 1))));
        let foreign = |old: &[Ir]| Ir::and(Ir::or(is(&old[2], RECURSIVE), is(&old[2], ERROR_CHECKING)), is(&old[1], 0));
        let last = |old: &[Ir]| not(Ir::or(inner(old), foreign(old)));
        let less = |old: &[Ir]| replaced(old, &[old[0].clone(), plus(&old[1], -1)]);
        Ok(self.alternatives(
            &states,
            &[(&inner, &less, 0), (&foreign, &<[Ir]>::to_vec, NOT_PERMITTED), (&last, &released, 0)],
        ))
    }

    /// Takes a mutex if it is free, else returns a number that says that it is not.
    fn mutex_try(&mut self, lock: &Expr, failure: i128) -> Lowered<Ir> {
        let states = self.mutex(lock)?;
        if !self.low.facts.kinds {
            let held = |old: &[Ir]| not(is_free(old));
            return Ok(self.alternatives(&states, &[(&is_free, &taken, 0), (&held, &<[Ir]>::to_vec, failure)]));
        }
        self.exceed_depth(&states);
        let held = |old: &[Ir]| not(Ir::or(is_free(old), is_mine(old)));
        let alternatives: &[Alternative<'_>] =
            &[(&is_free, &taken, 0), (&is_mine_again, &again, 0), (&held, &<[Ir]>::to_vec, failure)];
        Ok(self.alternatives(&states, alternatives))
    }

    /// Releases a mutex and takes it again: a thread that waits for a condition may always wake up.
    fn mutex_wait(&mut self, lock: &Expr, expr: &Expr) -> Lowered<()> {
        let states = self.mutex(lock)?;
        self.check_held(&states, "wait with a mutex that this thread does not hold");
        self.change(&states, |_| Ir::TRUE, released);
        self.change(&states, is_free, taken);
        self.wakes(expr);
        Ok(())
    }
}

/// A test on states, what they become, and the result of the function.
type Alternative<'a> = (&'a dyn Fn(&[Ir]) -> Ir, &'a dyn Fn(&[Ir]) -> Vec<Ir>, i128);

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

impl Body<'_, '_> {
    /// Evaluates a call of another function of the library; those that are not known are refused.
    pub(super) fn sync_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let set = |state: i128| move |_: Ir| STATE.constant(state);
        match (name, args) {
            ("pthread_mutexattr_init", [attributes]) => self.set_lock(attributes, set(0))?,
            ("pthread_mutexattr_settype", [attributes, kind]) => {
                let Some(kind) = self.unit.integer(kind) else { return refuse("a computed kind is", kind.loc) };
                self.set_lock(attributes, set(if kind == 3 { 0 } else { kind }))?;
            }
            ("pthread_barrier_init", [barrier, _, count]) => self.barrier_init(barrier, count)?,
            ("pthread_barrier_wait", [barrier]) => return self.barrier_wait(barrier).map(Some),
            ("pthread_once" | "call_once", [flag, function]) => self.once_only(flag, function, expr)?,
            ("pthread_spin_init", [lock, _]) => self.set_number(lock, |_| Ir::TRUE, 0)?,
            ("pthread_spin_unlock", [lock]) => self.set_number(lock, |_| Ir::TRUE, 0)?,
            ("pthread_spin_lock", [lock]) => self.set_number(lock, |old| old, 1)?,
            ("pthread_spin_trylock", [lock]) => return self.spin_try(lock).map(Some),
            ("sem_trywait", [semaphore]) => return self.semaphore_try(semaphore),
            ("sem_timedwait", [semaphore, _]) => return self.semaphore_try(semaphore),
            ("sem_getvalue", [semaphore, value]) => {
                let states = self.lock(semaphore)?;
                let count = self.load(&states, STATE)?;
                let Some(of) = self.unit.types.pointee(value.ty) else { return refuse("this number is", value.loc) };
                let place = self.target(value)?;
                let (access, ty) = self.typed_access(place, of, value)?;
                self.store(&access, cast(count, STATE, ty), ty);
            }
            ("pthread_key_create" | "tss_create", [key, destructor]) => self.key_create(key, destructor, expr)?,
            ("pthread_key_delete" | "tss_delete", [key]) => self.effects(key)?,
            ("pthread_setspecific" | "tss_set", [key, value]) => self.key_set(key, value)?,
            ("pthread_getspecific" | "tss_get", [key]) => return self.key_get(key).map(Some),
            ("cnd_init" | "cnd_signal" | "cnd_broadcast" | "cnd_destroy" | "pthread_spin_destroy", [_])
            | ("pthread_barrier_destroy" | "pthread_mutexattr_destroy" | "pthread_testcancel", [..])
            | ("pthread_condattr_init" | "pthread_condattr_destroy" | "pthread_rwlockattr_init", [_])
            | ("pthread_rwlockattr_destroy" | "pthread_barrierattr_init" | "pthread_barrierattr_destroy", [_])
            | ("pthread_attr_setschedpolicy" | "pthread_attr_setschedparam" | "pthread_attr_setinheritsched", [_, _])
            | ("pthread_setconcurrency", [_]) => {}
            _ => return self.unknown_function(name, args, expr),
        }
        self.success()
    }

    /// Waits until the number that a pointer points to is 0, if `test` looks at it, and sets it.
    fn set_number(&mut self, pointer: &Expr, test: impl Fn(Ir) -> Ir, new: i128) -> Lowered<()> {
        let (access, ty) = self.number_at(pointer)?;
        let is_zero = |old: Ir| match test(old.clone()) {
            Ir::Bool(true) => Ir::TRUE,
            _ => Ir::binary(IrOp::Eq, old, ty.constant(0)),
        };
        self.when(&access, ty, is_zero, |_| ty.constant(new));
        Ok(())
    }

    /// Returns the number that a pointer to an object of the library points to. The library uses it atomically.
    fn number_at(&mut self, pointer: &Expr) -> Lowered<(Access, MachineTy)> {
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this lock is", pointer.loc) };
        let place = self.target(pointer)?;
        let (access, ty) = self.typed_access(place, of, pointer)?;
        self.check_alive(&access);
        self.atomically(true, |body| body.check_race(&access, true));
        Ok((access, ty))
    }

    fn spin_try(&mut self, lock: &Expr) -> Lowered<Ir> {
        let (access, ty) = self.number_at(lock)?;
        let old = self.modify(&access, ty, |_| ty.constant(1));
        let is_free = Ir::binary(IrOp::Eq, old, ty.constant(0));
        Ok(Ir::Ite(Box::new((is_free, INT.constant(0), INT.constant(BUSY)))))
    }

    fn semaphore_try(&mut self, semaphore: &Expr) -> Lowered<Option<Ir>> {
        let is_positive = |old: Ir| not(is(&old, 0));
        self.try_lock(semaphore, is_positive, |old| plus(&old, -1), -1)
    }

    fn barrier(&mut self, barrier: &Expr) -> Lowered<Vec<Access>> {
        self.states(barrier, &[State::Main, State::Count, State::Leaving, State::Serial])
    }

    fn barrier_init(&mut self, barrier: &Expr, count: &Expr) -> Lowered<()> {
        let ty = self.scalar(count.ty, count.loc)?;
        let count = self.value(count)?;
        let count = self.save(cast(count, ty, STATE), STATE);
        let states = self.barrier(barrier)?;
        let zero = STATE.constant(0);
        self.change(&states, |_| Ir::TRUE, |_| vec![zero.clone(), count.clone(), zero.clone(), zero.clone()]);
        Ok(())
    }

    /// Waits at a barrier: a thread arrives once all threads of the round before have left, the last one opens the
    /// barrier, and then all leave. That a thread waits until the others have left changes nothing, because a thread
    /// that may leave does nothing that others see. One thread, whichever, gets the special result.
    fn barrier_wait(&mut self, barrier: &Expr) -> Lowered<Ir> {
        let states = self.barrier(barrier)?;
        let is_last = |old: &[Ir]| Ir::binary(IrOp::Eq, plus(&old[0], 1), old[1].clone());
        let arrived = |old: &[Ir]| {
            let (zero, one) = (STATE.constant(0), STATE.constant(1));
            let either = |then: &Ir, otherwise: &Ir| Ir::Ite(Box::new((is_last(old), then.clone(), otherwise.clone())));
            vec![either(&zero, &plus(&old[0], 1)), old[1].clone(), either(&old[1], &zero), either(&one, &zero)]
        };
        let may_arrive =
            |old: &[Ir]| Ir::and(is(&old[2], 0), STATE.apply(MachineOp::Lt, old[0].clone(), old[1].clone()));
        self.change(&states, may_arrive, arrived);
        let leaves =
            |old: &[Ir], serial: i128| vec![old[0].clone(), old[1].clone(), plus(&old[2], -1), STATE.constant(serial)];
        let ordinary = |old: &[Ir]| {
            let others = Ir::or(is(&old[3], 0), not(is(&old[2], 1)));
            Ir::and(not(is(&old[2], 0)), others)
        };
        let special = |old: &[Ir]| Ir::and(not(is(&old[2], 0)), is(&old[3], 1));
        let keep = |old: &[Ir]| vec![old[0].clone(), old[1].clone(), plus(&old[2], -1), old[3].clone()];
        let end = |old: &[Ir]| leaves(old, 0);
        Ok(self.alternatives(&states, &[(&ordinary, &keep, 0), (&special, &end, -1)]))
    }

    /// Calls a function unless it has been called for this flag; others wait until the call is done.
    fn once_only(&mut self, flag: &Expr, function: &Expr, expr: &Expr) -> Lowered<()> {
        let Some(function) = named_function(function).filter(|found| self.low.procs.contains_key(found)) else {
            return refuse("a function that is not named here is", function.loc);
        };
        let (access, ty) = self.number_at(flag)?;
        let is = |number: i128| move |old: Ir| Ir::binary(IrOp::Eq, old, ty.constant(number));
        let (start, end) = (self.at, self.new_loc());
        self.when(&access, ty, is(2), |old| old);
        self.jump(end);
        self.at = start;
        self.when(&access, ty, is(0), |_| ty.constant(1));
        self.enter(function, &[], &[], expr.loc)?;
        self.when(&access, ty, is(1), |_| ty.constant(2));
        self.jump(end);
        self.at = end;
        Ok(())
    }

    /// Creates a key: each place that creates keys has one, with a number from 1 on.
    fn key_create(&mut self, key: &Expr, destructor: &Expr, expr: &Expr) -> Lowered<()> {
        if !is_null(destructor) {
            return refuse("a destructor of data of threads is", destructor.loc);
        }
        if self.low.facts.forks {
            return refuse("data of each thread beside threads that are copies is", expr.loc);
        }
        let span = self.span;
        let made = self.low.new_var("created(key)".to_owned(), Scope::Shared, Ty::Bool, span);
        self.low.hide([made]);
        self.low.flags.push(made);
        let number = self.low.key(site(expr.loc), span);
        self.exceed(Ir::Var(made), "a key is created more than once here");
        self.step(Op::guarded(vec![(made, Ir::TRUE)], not(Ir::Var(made))));
        let (access, ty) = self.number_at(key)?;
        self.store(&access, ty.constant(number as i128 + 1), ty);
        Ok(())
    }

    fn key_value(&mut self, key: &Expr) -> Lowered<(Vec<(Ir, Cell)>, MachineTy)> {
        let (ty, pointer) = (self.scalar(key.ty, key.loc)?, self.low.pointer_ty());
        let key = self.value(key)?;
        let key = self.save(key, ty);
        let one = |(number, (_, var)): (usize, &(super::facts::Site, VarId))| {
            let condition = Ir::binary(IrOp::Eq, key.clone(), ty.constant(number as i128 + 1));
            (condition, Cell { offset: 0, size: 8, bits: None, ty: pointer, var: *var })
        };
        let candidates: Vec<(Ir, Cell)> = self.low.keys.iter().enumerate().map(one).collect();
        self.check_key(&candidates);
        Ok((candidates, pointer))
    }

    fn key_set(&mut self, key: &Expr, value: &Expr) -> Lowered<()> {
        let (candidates, ty) = self.key_value(key)?;
        let value = self.value(value)?;
        self.store(&Access::Candidates(candidates), value, ty);
        Ok(())
    }

    fn key_get(&mut self, key: &Expr) -> Lowered<Ir> {
        let (candidates, ty) = self.key_value(key)?;
        self.load(&Access::Candidates(candidates), ty)
    }
}

impl Lowering<'_> {
    /// Returns the number of the key of a place.
    pub(super) fn key(&mut self, site: super::facts::Site, span: selvedge_ir::span::Span) -> usize {
        if let Some(number) = self.keys.iter().position(|(known, _)| *known == site) {
            return number;
        }
        let pointer = Ty::Machine(self.pointer_ty());
        let var = self.new_var(format!("key#{}", self.keys.len() + 1), Scope::Thread, pointer, span);
        self.keys.push((site, var));
        self.keys.len() - 1
    }
}

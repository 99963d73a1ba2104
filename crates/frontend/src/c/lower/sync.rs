//! Locks, semaphores, barriers, keys and the like.
//!
//! An object of the library has one or several numbers, its states, each a variable of its own; its parts in memory are
//! not used. A step tests and changes all states of one object. How often this thread holds a mutex is a variable of
//! each thread, so that threads need no numbers for it; it is there where kinds of mutexes or a question need it.

use selvedge_ir::simplify::not;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy, Op, Scope, Ty, VarId};

use super::super::files::Loc;
use super::super::tree::{Expr, ObjectId};
use super::super::types::{Length, QualType, Type};
use super::body::Body;
use super::calls::is_null;
use super::expr::INT;
use super::facts::site;
use super::objects::Cell;
use super::place::{Access, Place, cast, current, decided, written};
use super::syntax::named_function;
use super::targets::Address;
use super::threads::{BUSY, STATE};
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
pub(super) const RECURSIVE: i128 = 1;
pub(super) const ERROR_CHECKING: i128 = 2;

pub(super) fn is(value: &Ir, number: i128) -> Ir {
    Ir::binary(IrOp::Eq, value.clone(), STATE.constant(number))
}

pub(super) fn plus(value: &Ir, by: i128) -> Ir {
    STATE.apply(MachineOp::Add, value.clone(), STATE.constant(by))
}

impl Lowering<'_> {
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
        let cell = Cell { offset, size, bits: None, ty: STATE, var, second: None };
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
    pub(super) fn states(&mut self, pointer: &Expr, states: &[State]) -> Lowered<Vec<Access>> {
        let loc = pointer.loc;
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this lock is", loc) };
        if !self.unit.types.is_record(of) {
            return refuse("a lock of this type is", loc);
        }
        let place = self.target(pointer)?;
        let place = self.kept_place(place);
        let found: Vec<Access> =
            states.iter().map(|state| self.state_at(&place, of, *state, loc)).collect::<Lowered<_>>()?;
        if let Some(first) = found.first() {
            self.check_lock(&place, first);
        }
        Ok(found)
    }

    pub(super) fn state_at(&mut self, place: &Place, of: QualType, state: State, loc: Loc) -> Lowered<Access> {
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
            Place::Address(address) => return self.states_behind(address, of, state, loc),
        }
        Ok(decided(candidates))
    }

    /// Returns a state of the object of the library at an address.
    fn states_behind(&mut self, address: &Address, of: QualType, state: State, loc: Loc) -> Lowered<Access> {
        let mut parts = Vec::new();
        for object in self.low.facts.taken.clone() {
            let mut offsets = Vec::new();
            self.low.parts_of(self.unit.objects[object].ty, 0, of, &mut offsets);
            for offset in offsets {
                parts.push((object, self.low.sync_cell(object, offset, of, state, loc)?));
            }
        }
        self.leads_to(address, parts, loc)
    }

    /// Returns the main state of the object of the library that a pointer points to.
    pub(super) fn lock(&mut self, pointer: &Expr) -> Lowered<Access> {
        let mut found = self.states(pointer, &[State::Main])?;
        found.pop().map_or_else(|| refuse("this lock is", pointer.loc), Ok)
    }

    /// Adds a step that exists where a test on states holds, and changes them.
    pub(super) fn change(&mut self, states: &[Access], test: impl Fn(&[Ir]) -> Ir, new: impl Fn(&[Ir]) -> Vec<Ir>) {
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

    /// Adds alternatives, each with a test, changes and a result; returns the result.
    pub(super) fn alternatives(&mut self, states: &[Access], alternatives: &[Alternative<'_>]) -> Ir {
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
}

/// A test on states, what they become, and the result of the function.
pub(super) type Alternative<'a> = (&'a dyn Fn(&[Ir]) -> Ir, &'a dyn Fn(&[Ir]) -> Vec<Ir>, i128);

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
        let results = match self.unit.types.function(self.unit.functions[function].ty) {
            Some(ty) => self.result_variables(ty.result, expr.loc)?,
            None => Vec::new(),
        };
        self.enter(function, &results, &[], expr.loc)?;
        self.when(&access, ty, is(1), |_| ty.constant(2));
        self.jump(end);
        self.at = end;
        Ok(())
    }

    /// Creates a key: each place that creates keys has one, with a number from 1 on.
    fn key_create(&mut self, key: &Expr, destructor: &Expr, expr: &Expr) -> Lowered<()> {
        if !is_null(destructor) {
            return refuse("a destructor of thread-specific data is", destructor.loc);
        }
        if self.low.facts.forks {
            return refuse("thread-specific data beside threads that are copies is", expr.loc);
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
            (condition, Cell { offset: 0, size: 8, bits: None, ty: pointer, var: *var, second: None })
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

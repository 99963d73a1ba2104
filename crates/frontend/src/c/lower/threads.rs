//! Threads, locks and the like.
//!
//! A thread that somebody may wait for has a number: places that create threads have ranges of numbers, one for each
//! time that they may run. Such a thread runs a procedure around its function, which notes at its end that the thread
//! is done, and its result. A lock is one number, 0 while it is free.

use selvedge_ir::span::Role;
use selvedge_ir::{BinaryOp as IrOp, Call, Expr as Ir, MachineOp, MachineTy, Op, ProcId, Scope, Spawn, Ty, VarId};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{Expr, FunctionId, ObjectId, Storage};
use super::super::types::{Length, QualType, Type};
use super::body::Body;
use super::calls::is_null;
use super::expr::INT;
use super::facts::{Facts, Site, is_atomic, named_function, root, site};
use super::objects::Cell;
use super::place::{Access, Place, any, cast, direct};
use super::{Lowered, Lowering, refuse};

/// The limit on threads that somebody waits for.
const MAX_NUMBERS: u64 = 32;

/// The result of a lock that is held, and of a wait that took too long.
const BUSY: i128 = 16;
const TIMED_OUT: i128 = 110;

/// The type of states of locks, counters and numbers of threads.
pub(super) const STATE: MachineTy = MachineTy::unsigned(32);

/// The number of a read-write lock that a writer holds.
const WRITER: i128 = 0xffff_ffff;

/// The threads that somebody may wait for.
#[derive(Default)]
pub(super) struct Threads {
    sites: Vec<Numbered>,
    /// For each number, from 1 on, whether the thread is done and its result.
    ends: Vec<(VarId, VarId)>,
}

/// A place that creates threads with numbers.
struct Numbered {
    site: Site,
    start: FunctionId,
    first: u64,
    count: u64,
    /// How many threads it has created, if it may create several.
    counter: Option<VarId>,
    wrapper: Option<ProcId>,
}

impl Threads {
    /// Gives numbers to the places that create threads, if somebody waits for a thread.
    pub(super) fn new(facts: &Facts) -> Threads {
        let mut threads = Threads::default();
        let mut first = 1;
        for (site, start, times) in facts.sites.iter().filter(|_| facts.joins) {
            let Some(count) = times.filter(|count| first + count <= MAX_NUMBERS + 1) else { continue };
            threads.sites.push(Numbered { site: *site, start: *start, first, count, counter: None, wrapper: None });
            first += count;
        }
        threads
    }

    /// Returns the initial values: no thread is done. Results are read behind the end of the thread only.
    pub(super) fn initial_values(&self, pointer: MachineTy) -> Vec<(VarId, Ir)> {
        let one = |(done, result): &(VarId, VarId)| [(*done, Ir::FALSE), (*result, pointer.constant(0))];
        let done = self.ends.iter().flat_map(one);
        let counters = self.sites.iter().filter_map(|site| site.counter).map(|counter| (counter, STATE.constant(0)));
        done.chain(counters).collect()
    }
}

/// Returns whether a function of the library takes pointers to locks and the like.
pub(super) fn is_sync(name: &str) -> bool {
    let prefixes = ["pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_attr_", "sem_", "mtx_", "cnd_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

impl Lowering<'_> {
    /// Declares what the threads that somebody may wait for need.
    pub(super) fn declare_threads(&mut self) {
        let pointer = self.pointer_ty();
        for number in 0..self.threads.sites.len() {
            let Numbered { start, first, count, .. } = self.threads.sites[number];
            let (name, span) = (self.function_name(start), self.unit.functions[start].loc.span);
            for thread in first..first + count {
                let done = self.new_var(format!("done({name}#{thread})"), Scope::Shared, Ty::Bool, span);
                let result = format!("result({name}#{thread})");
                let result = self.new_var(result, Scope::Shared, Ty::Machine(pointer), span);
                self.threads.ends.push((done, result));
            }
            if count > 1 {
                let counter = self.new_var(format!("created({name})"), Scope::Shared, Ty::Machine(STATE), span);
                self.threads.sites[number].counter = Some(counter);
            }
            let wrapper = self.new_proc(format!("thread_{name}"), span);
            self.threads.sites[number].wrapper = Some(wrapper);
            if count > 1 {
                let var = self.new_var("number".to_owned(), Scope::Local(wrapper), Ty::Machine(STATE), span);
                self.program.procs[wrapper].params.push(var);
            }
            let argument = self.new_var("argument".to_owned(), Scope::Local(wrapper), Ty::Machine(pointer), span);
            self.program.procs[wrapper].params.push(argument);
        }
        self.prepare_misuse(self.threads.ends.len());
    }

    fn function_name(&self, function: FunctionId) -> String {
        self.unit.name(self.unit.functions[function].name).to_owned()
    }

    /// Adds the bodies of the procedures around threads that somebody may wait for.
    pub(super) fn add_wrappers(&mut self) {
        for number in 0..self.threads.sites.len() {
            self.wrapper(number);
        }
    }

    fn wrapper(&mut self, number: usize) {
        let Numbered { start, first, count, wrapper, .. } = self.threads.sites[number];
        let (Some(wrapper), Some(callee)) = (wrapper, self.procs.get(&start).copied()) else { return };
        let (span, pointer) = (self.unit.functions[start].loc.span, self.pointer_ty());
        let params = self.program.procs[wrapper].params.clone();
        let Some(argument) = params.last().copied() else { return };
        let takes: Vec<VarId> = self.program.procs[callee].params.clone();
        let args = takes.iter().map(|_| Ir::Var(argument)).collect();
        let mut results = Vec::new();
        let mut value = Ir::Choice(0, Ty::Machine(pointer));
        for ty in self.program.procs[callee].results.clone() {
            let var = self.new_var("result".to_owned(), Scope::Local(wrapper), ty, span);
            if let Ty::Machine(ty) = ty {
                value = cast(Ir::Var(var), ty, pointer);
            }
            results.push(Some(var));
        }
        let (entry, exit) = (self.program.procs[wrapper].entry, self.program.procs[wrapper].exit);
        let (called, noted) = (self.new_loc(wrapper), self.new_loc(wrapper));
        let number = if count > 1 { Ir::Var(params[0]) } else { STATE.constant(i128::from(first)) };
        let entry = self.begin_thread(entry, number, span);
        self.edge(entry, called, Op::Call(Call { results, callee, args }), span, Role::Statement);
        let mut active = Vec::new();
        for thread in first..first + count {
            let (done, result) = self.threads.ends[thread as usize - 1];
            if count == 1 {
                active = vec![(done, Ir::TRUE), (result, value.clone())];
                continue;
            }
            let is = Ir::binary(IrOp::Eq, Ir::Var(params[0]), STATE.constant(i128::from(thread)));
            active.push((done, Ir::or(is.clone(), Ir::Var(done))));
            active.push((result, Ir::Ite(Box::new((is, value.clone(), Ir::Var(result))))));
        }
        self.edge(called, noted, Op::set(active), span, Role::FallOff);
        self.edge(noted, exit, Op::Return(Vec::new()), span, Role::FallOff);
    }

    /// Returns the state of the lock at an offset of an object.
    fn sync_cell(&mut self, object: ObjectId, offset: u64, of: QualType, loc: Loc) -> Lowered<Cell> {
        if let Some(cell) = self.sync.get(&(object, offset)) {
            return Ok(*cell);
        }
        let declared = &self.unit.objects[object];
        let size = self.unit.types.layout(of).map_or(1, |layout| layout.size);
        for item in declared.init.iter().flat_map(|init| &init.items) {
            let is_inside = (offset..offset + size).contains(&item.offset);
            if is_inside && !is_null(&item.value) && self.unit.integer(&item.value) != Some(0) {
                return refuse("a lock of another kind than the normal one is", item.value.loc);
            }
        }
        let scope = self.scope(object, loc)?;
        let name = self.part_name(declared.ty, offset, of, self.unit.name(declared.name).to_owned());
        let var = self.new_var(name, scope, Ty::Machine(STATE), declared.loc.span);
        let cell = Cell { offset, size, ty: STATE, var };
        self.sync.insert((object, offset), cell);
        Ok(cell)
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

    /// Returns the initial values of locks: those of the program are free.
    pub(super) fn sync_values(&self) -> Vec<(VarId, Ir)> {
        let is_static = |object: ObjectId| self.unit.objects[object].storage != Storage::Auto;
        let of_program = self.sync.iter().filter(|((object, _), _)| is_static(*object));
        of_program.map(|(_, cell)| (cell.var, STATE.constant(0))).collect()
    }
}

impl Body<'_, '_> {
    /// Makes a local lock free where it is declared.
    pub(super) fn reset(&mut self, object: ObjectId) -> Lowered<()> {
        let declared = &self.unit.objects[object];
        let cell = self.low.sync_cell(object, 0, declared.ty, declared.loc)?;
        if declared.init.is_some() {
            self.step(Op::set(vec![(cell.var, STATE.constant(0))]));
        }
        Ok(())
    }

    /// Returns the state of the lock that a pointer points to.
    pub(super) fn lock(&mut self, pointer: &Expr) -> Lowered<Access> {
        let loc = pointer.loc;
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this lock is", loc) };
        if !self.unit.types.is_record(of) {
            return refuse("a lock of this type is", loc);
        }
        let mut candidates = Vec::new();
        match self.target(pointer)? {
            Place::Object { object, offset, indices } if indices.is_empty() => {
                return Ok(Access::Known(self.low.sync_cell(object, offset, of, loc)?));
            }
            Place::Object { object, offset, indices } => {
                for (condition, offset) in self.elements(offset, &indices) {
                    candidates.push((condition, self.low.sync_cell(object, offset, of, loc)?));
                }
                self.check_index(object, &candidates);
            }
            Place::Address(address) => {
                for object in self.low.facts.taken.clone() {
                    let (base, mut offsets) = (self.low.address(object), Vec::new());
                    self.low.parts_of(self.unit.objects[object].ty, 0, of, &mut offsets);
                    for offset in offsets {
                        let at = self.low.pointer_ty().constant(i128::from(base + offset));
                        let cell = self.low.sync_cell(object, offset, of, loc)?;
                        candidates.push((Ir::binary(IrOp::Eq, address.clone(), at), cell));
                    }
                }
                self.check_pointer(&address, &candidates);
            }
        }
        Ok(Access::Candidates(candidates))
    }

    /// Evaluates a call of a function for threads; other functions without a body are refused.
    pub(super) fn threads_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let is = |state: i128| move |old: Ir| Ir::binary(IrOp::Eq, old, STATE.constant(state));
        let is_not = |state: i128| move |old: Ir| Ir::binary(IrOp::Ne, old, STATE.constant(state));
        let add = |by: i128| move |old: Ir| STATE.apply(MachineOp::Add, old, STATE.constant(by));
        let set = |state: i128| move |_: Ir| STATE.constant(state);
        self.check_lock(name, args)?;
        match (name, args) {
            ("pthread_create", [handle, _, start, argument]) => return self.create(handle, start, argument, expr),
            ("pthread_join", [handle, result]) => return self.wait(handle, result),
            ("pthread_exit", [result]) => return self.exit(result, expr),
            ("pthread_detach", [handle]) => self.effects(handle)?,
            ("pthread_mutex_init", [lock, attributes]) if is_null(attributes) => self.set_lock(lock, set(0))?,
            ("pthread_cond_init" | "pthread_rwlock_init", [lock, attributes]) if is_null(attributes) => {
                self.set_lock(lock, set(0))?;
            }
            ("sem_init", [semaphore, _, value]) => {
                let value = self.value(value)?;
                self.set_lock(semaphore, move |_| value.clone())?;
            }
            ("pthread_mutex_lock", [lock]) => {
                self.wait_lock(lock, is(0), set(1))?;
                self.note_lock(lock, true, None)?;
            }
            ("pthread_mutex_unlock", [lock]) => {
                self.set_lock(lock, set(0))?;
                self.note_lock(lock, false, None)?;
            }
            ("pthread_mutex_trylock", [lock]) => {
                let result = self.try_lock(lock, is(0), set(1), BUSY)?;
                self.note_lock(lock, true, result.as_ref())?;
                return Ok(result);
            }
            ("pthread_rwlock_wrlock", [lock]) => self.wait_lock(lock, is(0), set(WRITER))?,
            ("pthread_rwlock_trywrlock", [lock]) => return self.try_lock(lock, is(0), set(WRITER), BUSY),
            ("pthread_rwlock_rdlock", [lock]) => self.wait_lock(lock, is_not(WRITER), add(1))?,
            ("pthread_rwlock_tryrdlock", [lock]) => return self.try_lock(lock, is_not(WRITER), add(1), BUSY),
            ("pthread_rwlock_unlock", [lock]) => {
                let released = |old: Ir| Ir::Ite(Box::new((is(WRITER)(old.clone()), STATE.constant(0), add(-1)(old))));
                self.set_lock(lock, released)?;
            }
            ("sem_wait", [semaphore]) => self.wait_lock(semaphore, is_not(0), add(-1))?,
            ("sem_post", [semaphore]) => self.set_lock(semaphore, add(1))?,
            ("pthread_cond_wait", [_, lock]) => {
                self.set_lock(lock, set(0))?;
                self.wait_lock(lock, is(0), set(1))?;
            }
            ("pthread_cond_timedwait", [_, lock, _]) => {
                self.set_lock(lock, set(0))?;
                self.wait_lock(lock, is(0), set(1))?;
                return Ok(Some(self.either(0, TIMED_OUT)));
            }
            ("pthread_cond_signal" | "pthread_cond_broadcast" | "pthread_cond_destroy", [_])
            | ("pthread_mutex_destroy" | "pthread_rwlock_destroy" | "sem_destroy", [_])
            | ("pthread_attr_init" | "pthread_attr_destroy", [_])
            | ("pthread_attr_setdetachstate" | "pthread_attr_setscope" | "pthread_attr_setstacksize", [_, _]) => {}
            _ => return refuse(format!("this use of the function `{name}`, which has no body, is"), expr.loc),
        }
        self.success()
    }

    fn wait_lock(&mut self, lock: &Expr, test: impl Fn(Ir) -> Ir, new: impl Fn(Ir) -> Ir) -> Lowered<()> {
        let access = self.lock(lock)?;
        self.when(&access, STATE, test, new);
        Ok(())
    }

    fn set_lock(&mut self, lock: &Expr, new: impl Fn(Ir) -> Ir) -> Lowered<()> {
        self.wait_lock(lock, |_| Ir::TRUE, new)
    }

    /// Takes a lock if it is free, else returns a number that says that it is not.
    fn try_lock(
        &mut self,
        lock: &Expr,
        test: impl Fn(Ir) -> Ir,
        new: impl Fn(Ir) -> Ir,
        failure: i128,
    ) -> Lowered<Option<Ir>> {
        let access = self.lock(lock)?;
        let var = self.temporary(INT);
        let (start, end) = (self.at, self.new_loc());
        self.when(&access, STATE, &test, new);
        self.step(Op::set(vec![(var, INT.constant(0))]));
        self.jump(end);
        self.at = start;
        self.when(&access, STATE, |old| selvedge_ir::simplify::not(test(old)), |old| old);
        self.step(Op::set(vec![(var, INT.constant(failure))]));
        self.jump(end);
        self.at = end;
        Ok(Some(Ir::Var(var)))
    }

    fn create(&mut self, handle: &Expr, start: &Expr, argument: &Expr, expr: &Expr) -> Lowered<Option<Ir>> {
        let unit = self.unit;
        let Some(function) = named_function(start).filter(|found| unit.functions[*found].body.is_some()) else {
            return refuse("a thread whose function is not named here is", start.loc);
        };
        if is_atomic(unit, function) {
            return refuse("a thread that begins with an atomic function is", start.loc);
        }
        let params = unit.functions[function].body.as_ref().map_or(&[][..], |body| &body.params);
        let takes_pointer = params.iter().all(|param| unit.types.is_pointer(unit.objects[*param].ty));
        if params.len() > 1 || !takes_pointer {
            return refuse("a thread whose function does not take one pointer is", start.loc);
        }
        for of in params.iter().filter_map(|param| unit.types.pointee(unit.objects[*param].ty)) {
            if !unit.types.is_void(of) {
                self.low.from_blank.push((of, expr.loc));
            }
        }
        let argument = self.value(argument)?;
        let callee = self.low.procs[&function];
        let numbered =
            self.low.threads.sites.iter().find(|known| (known.site, known.start) == (site(expr.loc), function));
        let number = match numbered {
            None if self.low.facts.joins => {
                return refuse("waiting for threads of which any number may be created here is", expr.loc);
            }
            None => {
                let args = params.iter().map(|_| argument.clone()).collect();
                self.step(Op::Spawn(Spawn { callee, args }));
                if self.is_ignored(handle) {
                    return self.success();
                }
                self.any_value(STATE)
            }
            Some(numbered) => {
                let (first, counter, wrapper) = (numbered.first, numbered.counter, numbered.wrapper.unwrap_or(callee));
                let first = STATE.constant(i128::from(first));
                match counter {
                    None => {
                        self.step(Op::Spawn(Spawn { callee: wrapper, args: vec![argument] }));
                        first
                    }
                    Some(counter) => {
                        let var = self.temporary(STATE);
                        let next = STATE.apply(MachineOp::Add, Ir::Var(counter), STATE.constant(1));
                        let number = STATE.apply(MachineOp::Add, Ir::Var(counter), first);
                        self.step(Op::set(vec![(var, number), (counter, next)]));
                        self.step(Op::Spawn(Spawn { callee: wrapper, args: vec![Ir::Var(var), argument] }));
                        Ir::Var(var)
                    }
                }
            }
        };
        if let Some(of) = unit.types.pointee(handle.ty).filter(|_| !is_null(handle)) {
            let place = self.target(handle)?;
            let (access, ty) = self.typed_access(place, of, handle)?;
            self.store(&access, cast(number, STATE, ty), ty);
        }
        self.success()
    }

    /// Returns whether nobody reads the object that gets the number of a thread.
    fn is_ignored(&self, handle: &Expr) -> bool {
        let root = direct(handle).and_then(|(place, _)| root(place));
        is_null(handle) || root.is_some_and(|root| !self.low.facts.read.contains(&root))
    }

    /// Waits until a thread is done.
    fn wait(&mut self, handle: &Expr, result: &Expr) -> Lowered<Option<Ir>> {
        let ty = self.scalar(handle.ty, handle.loc)?;
        let number = self.value(handle)?;
        let number = self.save(number, ty);
        self.check_join(&number, ty);
        let ends = self.low.threads.ends.clone();
        let one = |(index, (done, _)): (usize, &(VarId, VarId))| {
            Ir::and(Ir::binary(IrOp::Eq, number.clone(), ty.constant(index as i128 + 1)), Ir::Var(*done))
        };
        let done: Vec<Ir> = ends.iter().enumerate().map(one).collect();
        if is_null(result) {
            self.step(Op::assume(any(done)));
            return self.success();
        }
        let pointer = self.low.pointer_ty();
        let mut value = pointer.constant(0);
        for (is_done, (_, result)) in done.iter().zip(&ends) {
            value = Ir::Ite(Box::new((is_done.clone(), Ir::Var(*result), value)));
        }
        let var = self.temporary(pointer);
        self.step(Op::guarded(vec![(var, value)], any(done)));
        let Some(of) = self.unit.types.pointee(result.ty) else { return refuse("this result is", result.loc) };
        let place = self.target(result)?;
        let (access, ty) = self.typed_access(place, of, result)?;
        self.store(&access, cast(Ir::Var(var), pointer, ty), ty);
        self.success()
    }

    /// Ends the thread: a return where the function is the first of its thread.
    fn exit(&mut self, result: &Expr, expr: &Expr) -> Lowered<Option<Ir>> {
        if !self.is_main && self.low.facts.called.contains(&self.function) {
            return refuse("the end of a thread in a function that is called is", expr.loc);
        }
        let value = self.value(result)?;
        if self.is_main && self.asks(Property::Deadlock) {
            let exit = self.low.program.procs[self.proc].exit;
            self.low.edge(self.at, exit, Op::End, self.span, Role::Statement);
            self.at = self.new_loc();
            return Ok(None);
        }
        self.leave(Some(value), Role::Statement)?;
        Ok(None)
    }
}

//! Threads, locks and the like.
//!
//! A thread that may be waited for has a number: places that create threads have ranges of numbers, one for each
//! time that they may run. A place that may run any number of times has a few numbers, which it uses again once a
//! thread has been waited for; that they suffice is a limit of the program. A thread runs a procedure around its
//! function, which gives its own objects their initial values and notes at its end that it is done, and its result. A
//! lock is one number, 0 while it is free.

use selvedge_ir::span::{Role, View};
use selvedge_ir::{BinaryOp as IrOp, Call, Expr as Ir, MachineOp, MachineTy, Op, ProcId, Scope, Spawn, Ty, VarId};

use super::super::property::Property;
use super::super::tree::{Expr, FunctionId};
use super::body::Body;
use super::calls::is_null;
use super::expr::INT;
use super::facts::{Facts, Site, site};
use super::mutex::is_mutex;
use super::place::{any, cast, direct};
use super::syntax::{is_atomic, named_function, root};
use super::{Lowered, Lowering, refuse};

/// The limit on threads that are waited for.
const MAX_NUMBERS: u64 = 32;

/// The numbers of a place that may create any number of threads.
const REUSED: u64 = 4;

/// The result of a lock that is held, and of a wait that took too long.
pub(super) const BUSY: i128 = 16;
pub(super) const TIMED_OUT: i128 = 110;

/// The type of states of locks, counters and numbers of threads.
pub(super) const STATE: MachineTy = MachineTy::unsigned(32);

/// The number of a read-write lock that a writer holds.
const WRITER: i128 = 0xffff_ffff;

/// The threads that may be waited for.
#[derive(Default)]
pub(super) struct Threads {
    sites: Vec<Numbered>,
    /// For each number, from 1 on, whether the thread is done and its result, and whether the number is in use where
    /// numbers are used again.
    ends: Vec<End>,
    /// The number of this thread, if the program asks for it.
    pub(super) own: Option<VarId>,
}

/// What is noted about a thread with a number.
#[derive(Clone, Copy)]
struct End {
    done: VarId,
    result: VarId,
    in_use: Option<VarId>,
}

/// A place that creates threads. Without numbers, the count is 0.
struct Numbered {
    site: Site,
    start: FunctionId,
    first: u64,
    count: u64,
    /// Set if numbers are used again.
    is_reused: bool,
    /// How many threads it has created, if it may create several.
    counter: Option<VarId>,
    wrapper: Option<ProcId>,
}

impl Threads {
    /// Gives numbers to the places that create threads, if they are needed.
    pub(super) fn new(facts: &Facts) -> Threads {
        let mut threads = Threads::default();
        let mut first = 1;
        for (site, start, times) in &facts.sites {
            let fits = |count: &u64| first + count <= MAX_NUMBERS + 1;
            let count = if facts.needs_numbers() { times.filter(fits).unwrap_or(REUSED) } else { 0 };
            let is_reused = facts.needs_numbers() && times.filter(fits).is_none();
            let (site, start) = (*site, *start);
            threads.sites.push(Numbered { site, start, first, count, is_reused, counter: None, wrapper: None });
            first += count;
        }
        threads
    }

    /// Returns whether some numbers stand for several threads, one after the other.
    pub(super) fn uses_numbers_again(&self) -> bool {
        self.sites.iter().any(|site| site.is_reused)
    }

    /// Returns the number of the initial thread.
    fn main(&self) -> i128 {
        self.ends.len() as i128 + 1
    }

    /// Returns the initial values: no thread is done. Results are read behind the end of the thread only.
    pub(super) fn initial_values(&self, pointer: MachineTy) -> Vec<(VarId, Ir)> {
        let one = |end: &End| {
            let noted = [(end.done, Ir::FALSE), (end.result, pointer.constant(0))];
            noted.into_iter().chain(end.in_use.map(|var| (var, Ir::FALSE)))
        };
        let done = self.ends.iter().flat_map(one);
        let counters = self.sites.iter().filter_map(|site| site.counter).map(|counter| (counter, STATE.constant(0)));
        let own = self.own.map(|own| (own, STATE.constant(self.main())));
        done.chain(counters).chain(own).collect()
    }
}

/// Returns whether a function of the library takes pointers to locks and the like.
pub(super) fn is_sync(name: &str) -> bool {
    let prefixes = ["mutex", "cond", "rwlock", "attr", "barrier"];
    let of_pthread = name.strip_prefix("pthread_");
    of_pthread.is_some_and(|rest| prefixes.iter().any(|prefix| rest.starts_with(prefix)))
        || ["sem_", "mtx_", "cnd_"].iter().any(|prefix| name.starts_with(prefix))
}

impl Lowering<'_> {
    /// Declares what threads with numbers need, and the procedures around the functions of threads.
    pub(super) fn declare_threads(&mut self) {
        let span = Default::default();
        let asks = |name: &str| self.facts.library.contains(name);
        let is_compared = self.facts.deep_exit || self.checks.asked.has(Property::Misuse);
        if asks("pthread_self") || asks("thrd_current") || is_compared && self.facts.joins {
            let own = self.new_var("self".to_owned(), Scope::Thread, Ty::Machine(STATE), span);
            self.hide([own]);
            self.threads.own = Some(own);
        }
        for site in self.facts.keys.clone() {
            self.key(site, span);
        }
        for number in 0..self.threads.sites.len() {
            self.declare_numbers(number);
            self.declare_wrapper(number);
        }
        self.prepare_misuse(self.threads.ends.len());
    }

    fn declare_numbers(&mut self, number: usize) {
        let Numbered { start, first, count, is_reused, .. } = self.threads.sites[number];
        let (name, span, pointer) = (self.function_name(start), self.unit.functions[start].loc.span, self.pointer_ty());
        for thread in first..first + count {
            let mut noted = |what: &str, ty: Ty| {
                let var = self.new_var(format!("{what}({name}#{thread})"), Scope::Shared, ty, span);
                self.hide([var]);
                var
            };
            let (done, result) = (noted("done", Ty::Bool), noted("result", Ty::Machine(pointer)));
            let in_use = is_reused.then(|| noted("in use", Ty::Bool));
            self.threads.ends.push(End { done, result, in_use });
        }
        if count > 1 && !is_reused {
            let counter = self.new_var(format!("created({name})"), Scope::Shared, Ty::Machine(STATE), span);
            self.hide([counter]);
            self.threads.sites[number].counter = Some(counter);
        }
    }

    /// Declares the procedure around the function of a thread; its parameters are the number and the argument.
    fn declare_wrapper(&mut self, number: usize) {
        let Numbered { start, count, .. } = self.threads.sites[number];
        if count == 0 && !self.facts.has_thread_state(self.unit) && !self.has_owners() {
            return;
        }
        // A function without a body is refused where the thread is created.
        let Some(proc) = self.procs.get(&start).copied() else { return };
        let (name, span, pointer) = (self.function_name(start), self.unit.functions[start].loc.span, self.pointer_ty());
        let wrapper = self.new_proc(format!("thread_{name}"), span);
        self.map.wrappers.insert(wrapper, proc);
        self.threads.sites[number].wrapper = Some(wrapper);
        let param = self.unit.functions[start].body.as_ref().and_then(|body| body.params.first());
        let name = param.map_or("argument", |param| self.unit.name(self.unit.objects[*param].name)).to_owned();
        let view = if param.is_some() && !name.is_empty() { View::Pointer } else { View::Hidden };
        for (name, ty, view) in [("number".to_owned(), STATE, View::Hidden), (name, pointer, view)] {
            let var = self.new_var(name, Scope::Local(wrapper), Ty::Machine(ty), span);
            self.map.views.insert(var, view);
            self.program.procs[wrapper].params.push(var);
        }
    }

    fn function_name(&self, function: FunctionId) -> String {
        self.unit.name(self.unit.functions[function].name).to_owned()
    }

    /// Adds the bodies of the procedures around threads that may be waited for.
    pub(super) fn add_wrappers(&mut self) {
        for number in 0..self.threads.sites.len() {
            self.wrapper(number);
        }
    }

    fn wrapper(&mut self, number: usize) {
        let Numbered { start, first, count, wrapper, .. } = self.threads.sites[number];
        let (Some(wrapper), Some(callee)) = (wrapper, self.procs.get(&start).copied()) else { return };
        let (span, pointer) = (self.unit.functions[start].loc.span, self.pointer_ty());
        let &[own, argument] = self.program.procs[wrapper].params.as_slice() else { return };
        let args = self.program.procs[callee].params.iter().map(|_| Ir::Var(argument)).collect();
        let mut results = Vec::new();
        let mut value = Ir::Choice(0, Ty::Machine(pointer));
        for ty in self.program.procs[callee].results.clone() {
            let var = self.new_var("result".to_owned(), Scope::Local(wrapper), ty, span);
            self.hide([var]);
            if let Ty::Machine(ty) = ty {
                value = cast(Ir::Var(var), ty, pointer);
            }
            results.push(Some(var));
        }
        let (entry, exit) = (self.program.procs[wrapper].entry, self.program.procs[wrapper].exit);
        let (ready, called, noted) = (self.new_loc(wrapper), self.new_loc(wrapper), self.new_loc(wrapper));
        let reset = self.thread_values(Ir::Var(own));
        match reset.is_empty() {
            true => self.join(entry, ready),
            false => drop(self.edge(entry, ready, Op::set(reset), span, Role::Statement)),
        }
        self.edge(ready, called, Op::Call(Call { results, callee, args }), span, Role::Statement);
        let active = self.noted(first..first + count, &Ir::Var(own), &value);
        match active.is_empty() {
            true => self.join(called, noted),
            false => drop(self.edge(called, noted, Op::set(active), span, Role::FallOff)),
        }
        self.edge(noted, exit, Op::Return(Vec::new()), span, Role::FallOff);
    }

    /// Returns the assignments that note that one of some threads is done, with its result.
    fn noted(&self, threads: std::ops::Range<u64>, own: &Ir, value: &Ir) -> Vec<(VarId, Ir)> {
        if threads.end - threads.start == 1 {
            let End { done, result, .. } = self.threads.ends[threads.start as usize - 1];
            return vec![(done, Ir::TRUE), (result, value.clone())];
        }
        let mut active = Vec::new();
        for thread in threads {
            let End { done, result, .. } = self.threads.ends[thread as usize - 1];
            let is = Ir::binary(IrOp::Eq, own.clone(), STATE.constant(i128::from(thread)));
            active.push((done, Ir::or(is.clone(), Ir::Var(done))));
            active.push((result, Ir::Ite(Box::new((is, value.clone(), Ir::Var(result))))));
        }
        active
    }

    /// Returns the values of objects of each thread in a new thread.
    fn thread_values(&mut self, own: Ir) -> Vec<(VarId, Ir)> {
        let (_, mut values) = self.initial_values();
        for (var, value) in &mut values {
            if Some(*var) == self.threads.own {
                *value = own.clone();
            }
        }
        values
    }
}

impl Body<'_, '_> {
    /// Evaluates a call of a function for threads; other functions without a body are refused.
    pub(super) fn threads_library(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let is = |state: i128| move |old: Ir| Ir::binary(IrOp::Eq, old, STATE.constant(state));
        let is_not = |state: i128| move |old: Ir| Ir::binary(IrOp::Ne, old, STATE.constant(state));
        let add = |by: i128| move |old: Ir| STATE.apply(MachineOp::Add, old, STATE.constant(by));
        let set = |state: i128| move |_: Ir| STATE.constant(state);
        match (name, args) {
            ("pthread_create", [handle, _, start, argument]) | ("thrd_create", [handle, start, argument]) => {
                return self.create(handle, start, argument, expr);
            }
            ("pthread_join" | "thrd_join", [handle, result]) => return self.wait(handle, result),
            ("pthread_exit" | "thrd_exit", [result]) => return self.exit(result),
            ("pthread_self" | "thrd_current", []) => return self.own_number(expr).map(Some),
            ("pthread_equal" | "thrd_equal", [one, other]) => {
                let ty = self.scalar(one.ty, one.loc)?;
                let values = self.values(&[one, other])?;
                let [one, other] = values.as_slice() else { return self.success() };
                let (one, other) = (self.save(one.clone(), ty), self.save(other.clone(), ty));
                return Ok(Some(INT.truth(Ir::binary(IrOp::Eq, one, other))));
            }
            ("pthread_detach" | "thrd_detach", [handle]) => self.effects(handle)?,
            (name, _) if is_mutex(name) => return self.mutex_library(name, args, expr),
            ("pthread_cond_init" | "pthread_rwlock_init", [lock, attributes]) if is_null(attributes) => {
                self.set_lock(lock, set(0))?;
            }
            ("sem_init", [semaphore, _, value]) => {
                let value = self.value(value)?;
                self.set_lock(semaphore, move |_| value.clone())?;
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
            ("pthread_cond_signal" | "pthread_cond_broadcast" | "pthread_cond_destroy", [_])
            | ("pthread_rwlock_destroy" | "sem_destroy", [_])
            | ("pthread_attr_init" | "pthread_attr_destroy", [_])
            | ("pthread_attr_setdetachstate" | "pthread_attr_setscope" | "pthread_attr_setstacksize", [_, _]) => {}
            _ => return self.sync_library(name, args, expr),
        }
        self.success()
    }

    pub(super) fn wait_lock(&mut self, lock: &Expr, test: impl Fn(Ir) -> Ir, new: impl Fn(Ir) -> Ir) -> Lowered<()> {
        let access = self.lock(lock)?;
        self.when(&access, STATE, test, new);
        Ok(())
    }

    pub(super) fn set_lock(&mut self, lock: &Expr, new: impl Fn(Ir) -> Ir) -> Lowered<()> {
        self.wait_lock(lock, |_| Ir::TRUE, new)
    }

    /// Takes a lock if it is free, else returns a number that says that it is not.
    pub(super) fn try_lock(
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
        let Some(function) = named_function(start) else {
            return refuse("a thread whose function is not named here is", start.loc);
        };
        if unit.functions[function].body.is_none() {
            return refuse("a thread whose function has no body is", start.loc);
        }
        if is_atomic(unit, function) {
            return refuse("a thread that begins with an atomic function is", start.loc);
        }
        let params = unit.functions[function].body.as_ref().map_or(&[][..], |body| &body.params);
        let takes_pointer = params.iter().all(|param| unit.types.is_pointer(unit.objects[*param].ty));
        if params.len() > 1 || !takes_pointer {
            return refuse("a thread whose function does not take one pointer is", start.loc);
        }
        let argument = self.value(argument)?;
        let pointer = self.low.pointer_ty();
        let argument = self.save(argument, pointer);
        let is_site = |known: &Numbered| (known.site, known.start) == (site(expr.loc), function);
        let Some(at) = self.low.threads.sites.iter().position(is_site) else {
            return refuse("a thread that is created here is", expr.loc);
        };
        let number = self.number(at);
        let spawn = match self.low.threads.sites[at].wrapper {
            Some(callee) => Spawn { callee, args: vec![number.clone().unwrap_or(STATE.constant(0)), argument] },
            None => {
                let args = params.iter().map(|_| argument.clone()).collect();
                Spawn { callee: self.low.procs[&function], args }
            }
        };
        self.step(Op::Spawn(spawn));
        let number = match number {
            Some(number) => number,
            None if self.is_ignored(handle) => return self.success(),
            None => self.any_value(STATE),
        };
        if let Some(of) = unit.types.pointee(handle.ty).filter(|_| !is_null(handle)) {
            let place = self.target(handle)?;
            let (access, ty) = self.typed_access(place, of, handle)?;
            self.store(&access, cast(number, STATE, ty), ty);
        }
        self.success()
    }

    /// Returns the number of a thread that is to be created; `None` where threads have none.
    fn number(&mut self, at: usize) -> Option<Ir> {
        let Numbered { first, count, is_reused, counter, .. } = self.low.threads.sites[at];
        if count == 0 {
            return None;
        }
        if is_reused {
            return Some(self.free_number(first, count));
        }
        let first = STATE.constant(i128::from(first));
        let Some(counter) = counter else { return Some(first) };
        let var = self.temporary(STATE);
        let next = STATE.apply(MachineOp::Add, Ir::Var(counter), STATE.constant(1));
        let number = STATE.apply(MachineOp::Add, Ir::Var(counter), first);
        self.step(Op::set(vec![(var, number), (counter, next)]));
        Some(Ir::Var(var))
    }

    /// Takes the first number of some that is not in use; there are enough, or else a limit is exceeded.
    fn free_number(&mut self, first: u64, count: u64) -> Ir {
        let var = self.temporary(STATE);
        let (mut chosen, mut active, mut all) = (STATE.constant(0), Vec::new(), Ir::TRUE);
        let ends: Vec<(u64, End)> =
            (first..first + count).map(|number| (number, self.low.threads.ends[number as usize - 1])).collect();
        let mut before = Ir::TRUE;
        for (number, End { done, in_use, .. }) in &ends {
            let Some(in_use) = *in_use else { continue };
            let is_this = Ir::and(before.clone(), selvedge_ir::simplify::not(Ir::Var(in_use)));
            let number = STATE.constant(i128::from(*number));
            chosen = Ir::Ite(Box::new((is_this.clone(), number, chosen)));
            active.push((in_use, Ir::or(Ir::Var(in_use), is_this.clone())));
            active.push((*done, Ir::and(Ir::Var(*done), selvedge_ir::simplify::not(is_this))));
            before = Ir::and(before, Ir::Var(in_use));
            all = Ir::and(all, Ir::Var(in_use));
        }
        self.exceed(all.clone(), &format!("more than {count} threads are created here before they are joined"));
        active.push((var, chosen));
        self.step(Op::guarded(active, selvedge_ir::simplify::not(all)));
        Ir::Var(var)
    }

    /// Returns the number of this thread.
    fn own_number(&mut self, expr: &Expr) -> Lowered<Ir> {
        let ty = self.scalar(expr.ty, expr.loc)?;
        match self.low.threads.own {
            Some(own) => Ok(cast(Ir::Var(own), STATE, ty)),
            None => refuse("the number of this thread is", expr.loc),
        }
    }

    /// Returns whether the program never reads the object that gets the number of a thread.
    fn is_ignored(&self, handle: &Expr) -> bool {
        let root = direct(handle).and_then(|(place, _)| root(place));
        is_null(handle) || root.is_some_and(|root| !self.low.facts.read.contains(&root))
    }

    /// Waits until a thread is done.
    fn wait(&mut self, handle: &Expr, result: &Expr) -> Lowered<Option<Ir>> {
        let ty = self.scalar(handle.ty, handle.loc)?;
        let number = self.value(handle)?;
        let number = self.save(number, ty);
        self.check_join(&number, ty, handle)?;
        if self.low.facts.may_wait_for_main() {
            let main = ty.constant(self.low.threads.main());
            self.exceed(Ir::binary(IrOp::Eq, number.clone(), main), "a thread waits for the initial thread");
        }
        let ends = self.low.threads.ends.clone();
        let one = |(index, end): (usize, &End)| {
            Ir::and(Ir::binary(IrOp::Eq, number.clone(), ty.constant(index as i128 + 1)), Ir::Var(end.done))
        };
        let done: Vec<Ir> = ends.iter().enumerate().map(one).collect();
        let pointer = self.low.pointer_ty();
        let (mut value, mut active) = (pointer.constant(0), Vec::new());
        for (is_done, end) in done.iter().zip(&ends) {
            value = Ir::Ite(Box::new((is_done.clone(), Ir::Var(end.result), value)));
            for var in end.in_use.into_iter().chain(end.in_use.map(|_| end.done)) {
                active.push((var, Ir::and(Ir::Var(var), selvedge_ir::simplify::not(is_done.clone()))));
            }
        }
        if is_null(result) {
            self.step(Op::guarded(active, any(done)));
            return self.success();
        }
        let var = self.temporary(pointer);
        active.push((var, value));
        self.step(Op::guarded(active, any(done)));
        let Some(of) = self.unit.types.pointee(result.ty) else { return refuse("this result is", result.loc) };
        let place = self.target(result)?;
        self.unless_null(place, |body, place| {
            let (access, ty) = body.typed_access(place, of, result)?;
            body.store(&access, cast(Ir::Var(var), pointer, ty), ty);
            Ok(())
        })?;
        self.success()
    }

    /// Ends the thread: a return where the function is the first of its thread.
    fn exit(&mut self, result: &Expr) -> Lowered<Option<Ir>> {
        let (ty, pointer) = (self.scalar(result.ty, result.loc)?, self.low.pointer_ty());
        let value = self.value(result)?;
        if self.is_main {
            self.end_lives();
            if self.asks(Property::Deadlock) {
                self.end()
            } else {
                self.stop()
            }
            return Ok(None);
        }
        if !self.low.facts.called.contains(&self.function) {
            let types = self.results(result.loc)?;
            let values = types.into_iter().map(|to| cast(value.clone(), ty, to)).collect();
            self.leave(Some(values), Role::Statement)?;
            return Ok(None);
        }
        if self.has_lives() {
            return refuse("a question about memory where a function that is called ends its thread is", result.loc);
        }
        if let Some(own) = self.low.threads.own {
            let count = self.low.threads.ends.len() as u64;
            let value = self.save(value, ty);
            // No single number is meant, so that the number is always compared.
            let active = match count {
                1 => {
                    let is = Ir::binary(IrOp::Eq, Ir::Var(own), STATE.constant(1));
                    let End { done, result, .. } = self.low.threads.ends[0];
                    let value = Ir::Ite(Box::new((is.clone(), cast(value, ty, pointer), Ir::Var(result))));
                    vec![(done, Ir::or(is, Ir::Var(done))), (result, value)]
                }
                _ => self.low.noted(1..count + 1, &Ir::Var(own), &cast(value, ty, pointer)),
            };
            self.step(Op::set(active));
        }
        self.end();
        Ok(None)
    }

    /// Ends the thread, wherever it is.
    fn end(&mut self) {
        let exit = self.low.program.procs[self.proc].exit;
        self.low.edge(self.at, exit, Op::End, self.span, Role::Statement);
        self.at = self.new_loc();
    }
}

//! What the program as a whole does: which functions run, how often and in how many threads, and whose addresses are
//! taken.
//!
//! The functions that run are found from `main` along calls, created threads and mentions of functions. A number of
//! times is an upper bound: statements run as often as the function, times the rounds of the counted loops around them;
//! in other loops, behind jumps backwards and in recursive functions any number of times.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::files::Loc;
use super::super::tree::{
    BinaryOp, Callee, Expr, ExprKind, FunctionId, Init, LabelId, Object, ObjectId, Stmt, StmtKind, Storage, StringId,
    Unit,
};
use super::super::types::{QualType, TypeId};
use super::heap::{Pool, allocated, pool_of};
use super::lengths::Lengths;
use super::made::Made;
use super::place::direct;
use super::points::Points;
use super::syntax::{
    is_async, is_atomic, is_part_of, jumps_back, loaded, mentions_beside_reads, named_function, root, steps_by_one,
    uncast, unqualified,
};
use super::threads::is_sync;

/// An upper bound on a number of times; `None` is any number.
pub(super) type Times = Option<u64>;

/// A place where threads are created. Places that come from one use of a macro are one.
pub(super) type Site = (u32, u32, u32, u32);

/// Returns the number of a place.
pub(super) fn site(loc: Loc) -> Site {
    (loc.span.start, loc.span.end, loc.written.start, loc.written.end)
}

#[derive(Default)]
pub(super) struct Facts {
    /// The functions that may run and have a body, in the order in which they are found.
    pub(super) running: Vec<FunctionId>,
    /// The objects whose addresses are values somewhere.
    pub(super) taken: BTreeSet<ObjectId>,
    /// The objects that are read, or may be: whose addresses are taken or that are changed by reading them.
    pub(super) read: FxHashSet<ObjectId>,
    /// The functions whose addresses are values somewhere.
    pub(super) taken_functions: BTreeSet<FunctionId>,
    /// The functions that are called once at most.
    pub(super) once: FxHashSet<FunctionId>,
    /// The functions that run in at most one frame at a time.
    pub(super) single: FxHashSet<FunctionId>,
    /// For each kind of thread how many there are, and the functions that they may run.
    pub(super) roots: Vec<(Times, BTreeSet<FunctionId>)>,
    /// The functions that are called, rather than started as threads.
    pub(super) called: FxHashSet<FunctionId>,
    /// For each place where threads are created, the number of threads.
    pub(super) sites: Vec<(Site, FunctionId, Times)>,
    /// Set if statements are threads of their own, by labels `__CPROVER_ASYNC_1` and so on.
    pub(super) forks: bool,
    /// Set if some thread is waited for.
    pub(super) joins: bool,
    /// The functions without a body that are called.
    pub(super) library: BTreeSet<String>,
    /// The objects that are handles of threads and nothing else: threads are created into them and waited for.
    pub(super) handles: FxHashSet<ObjectId>,
    /// The objects that are read otherwise than to wait for a thread.
    inspected: FxHashSet<ObjectId>,
    /// The places that create keys for data of each thread.
    pub(super) keys: Vec<Site>,
    /// The functions that end their thread.
    exits: FxHashSet<FunctionId>,
    /// Set if a function that is called ends its thread.
    pub(super) deep_exit: bool,
    /// Set if there are mutexes of several kinds.
    pub(super) kinds: bool,
    /// The types of locks and the like, whose parts are not looked at.
    pub(super) opaque: FxHashSet<TypeId>,
    /// The objects that hold the elements of string literals.
    pub(super) strings: IndexVec<StringId, ObjectId>,
    /// The places that allocate objects.
    pub(super) pools: Vec<Pool>,
    /// Set if an atomic function calls another one.
    pub(super) nested: bool,
    /// Set if the program has sections between `__VERIFIER_atomic_begin` and `_end`.
    pub(super) sections: bool,
}

impl Facts {
    /// Returns the number of threads of a run, if it is bounded.
    pub(super) fn threads(&self) -> Option<u32> {
        if self.forks || self.needs_numbers() && self.sites.iter().any(|(.., times)| times.is_none()) {
            return None;
        }
        let created = self.sites.iter().map(|(.., times)| *times).fold(Some(0), sum);
        created.and_then(|created| u32::try_from(created + 1).ok())
    }

    /// Returns whether threads need numbers: they are waited for, or ask which one they are.
    pub(super) fn needs_numbers(&self) -> bool {
        self.joins || self.needs_self()
    }

    /// Returns whether the initial thread may end before the program, and another thread may wait for that.
    pub(super) fn may_wait_for_main(&self) -> bool {
        self.joins && !self.exits.is_empty() && self.needs_self()
    }

    fn needs_self(&self) -> bool {
        ["pthread_self", "thrd_current"].iter().any(|name| self.library.contains(*name))
    }

    /// Returns whether threads have objects of their own that a new thread must initialise.
    pub(super) fn has_thread_state(&self, unit: &Unit) -> bool {
        let has_objects = unit.objects.iter().any(|object| object.storage == Storage::Thread);
        self.kinds || has_objects || !self.keys.is_empty()
    }
}

/// The walk over the functions that run.
struct Walk<'p, 'u> {
    unit: &'u Unit,
    /// What pointers to functions may lead to, if it is known.
    points: Option<&'p mut Points<'u>>,
    lengths: &'p Lengths,
    /// Set if some call may be one of any function whose address is taken.
    calls_any: bool,
    facts: Facts,
    found: FxHashSet<FunctionId>,
    /// Callers, callees and how often a run of the caller calls.
    calls: Vec<(FunctionId, FunctionId, Times)>,
    spawns: Vec<(Site, FunctionId, FunctionId, Times)>,
    current: FunctionId,
    times: Times,
    labels: FxHashSet<LabelId>,
    /// The objects whose addresses are known to be taken.
    known: BTreeSet<ObjectId>,
}

fn product(one: Times, other: Times) -> Times {
    if one == Some(0) || other == Some(0) { Some(0) } else { one?.checked_mul(other?) }
}

fn sum(one: Times, other: Times) -> Times {
    one?.checked_add(other?)
}

impl Facts {
    /// Collects the facts about a program: first which addresses are taken, then what rests on that.
    pub(super) fn new<'u>(unit: &'u Unit, main: FunctionId, made: &'u Made, lengths: &Lengths) -> (Facts, Points<'u>) {
        let mut points = Points::new(unit, main, made);
        let taken = Facts::collect(unit, main, made, BTreeSet::new(), &mut points, lengths).taken;
        let facts = Facts::collect(unit, main, made, taken, &mut points, lengths);
        (facts, points)
    }

    fn collect<'u>(
        unit: &'u Unit,
        main: FunctionId,
        made: &Made,
        known: BTreeSet<ObjectId>,
        points: &mut Points<'u>,
        lengths: &Lengths,
    ) -> Facts {
        let mut walk = Walk {
            known,
            unit,
            lengths,
            calls_any: false,
            points: (!points.gave_up()).then_some(points),
            facts: Facts { strings: made.strings.clone(), pools: made.pools.clone(), ..Facts::default() },
            found: FxHashSet::default(),
            calls: Vec::new(),
            spawns: Vec::new(),
            current: main,
            times: Some(1),
            labels: FxHashSet::default(),
        };
        for (id, object) in unit.objects.iter_enumerated() {
            if object.storage == Storage::Static || object.storage == Storage::Thread {
                walk.init(unit.objects[id].init.as_ref());
            }
        }
        walk.find(main);
        let mut next = 0;
        while let Some(function) = walk.facts.running.get(next).copied() {
            walk.body(function);
            next += 1;
        }
        walk.finish(main)
    }
}

impl Walk<'_, '_> {
    fn find(&mut self, function: FunctionId) {
        if self.unit.functions[function].body.is_some() && self.found.insert(function) {
            self.facts.running.push(function);
        }
    }

    fn body(&mut self, function: FunctionId) {
        let unit = self.unit;
        let Some(body) = &unit.functions[function].body else { return };
        self.current = function;
        self.labels.clear();
        self.times = if jumps_back(unit, &body.block, &mut self.labels) { None } else { Some(1) };
        self.stmt(&body.block);
    }

    fn init(&mut self, init: Option<&Init>) {
        init.into_iter().flat_map(|init| &init.items).for_each(|item| self.value(&item.value));
    }

    /// Runs a walk inside of a loop.
    fn within(&mut self, rounds: Times, walk: impl FnOnce(&mut Self)) {
        let outside = self.times;
        self.times = product(outside, rounds);
        walk(self);
        self.times = outside;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let unit = self.unit;
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Annotation(expr) => self.value(expr),
            StmtKind::Declare(object) => {
                self.init(unit.objects[*object].init.as_ref());
                if let Some(length) = self.lengths.computed(unit.objects[*object].ty) {
                    self.value(&unit.lengths[length]);
                }
            }
            StmtKind::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            StmtKind::If { condition, then, otherwise } => {
                self.value(condition);
                self.stmt(then);
                otherwise.iter().for_each(|stmt| self.stmt(stmt));
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => self.within(None, |walk| {
                walk.value(condition);
                walk.stmt(body);
            }),
            StmtKind::For { first, condition, step, body } => {
                first.iter().for_each(|stmt| self.stmt(stmt));
                let rounds = self.rounds(first, condition.as_ref(), step.as_ref(), body);
                self.within(None, |walk| condition.iter().chain(step).for_each(|expr| walk.value(expr)));
                self.within(rounds, |walk| walk.stmt(body));
            }
            StmtKind::Switch { value, body, .. } => {
                self.value(value);
                self.stmt(body);
            }
            StmtKind::Label(label) => {
                let body = unit.functions[self.current].body.as_ref();
                self.facts.forks |= body.is_some_and(|body| is_async(unit.name(body.labels[*label].name)));
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.value(value)),
            _ => {}
        }
    }

    /// Returns the rounds of `for (i = 0; i < 4; i++)` where only the loop itself changes `i`.
    fn rounds(&self, first: &[Stmt], condition: Option<&Expr>, step: Option<&Expr>, body: &Stmt) -> Times {
        let (counter, start) = self.start(first)?;
        let ExprKind::Binary(op, left, right) = &condition?.kind else { return None };
        let end = self.unit.integer(right)?;
        let is_counter = loaded(self.unit, left) == Some(counter) && steps_by_one(step?) == Some(counter);
        let object = &self.unit.objects[counter];
        let is_int = self.unit.types.layout(object.ty)?.size >= 4 && end.abs() < 1 << 30 && start.abs() < 1 << 30;
        let is_private = object.storage == Storage::Auto
            && !self.known.contains(&counter)
            && !mentions_beside_reads(self.unit, body, counter);
        if !(is_counter && is_int && is_private) {
            return None;
        }
        match op {
            BinaryOp::Lt => Some(u64::try_from((end - start).max(0)).ok()?),
            BinaryOp::Le => Some(u64::try_from((end - start + 1).max(0)).ok()?),
            BinaryOp::Ne if end >= start => Some(u64::try_from(end - start).ok()?),
            _ => None,
        }
    }

    /// Returns the object that a loop begins with setting to a constant.
    fn start(&self, first: &[Stmt]) -> Option<(ObjectId, i128)> {
        let [only] = first else { return None };
        match &only.kind {
            StmtKind::Declare(object) => {
                let init = self.unit.objects[*object].init.as_ref()?;
                let [item] = init.items.as_slice() else { return None };
                Some((*object, self.unit.integer(&item.value)?))
            }
            StmtKind::Expr(Expr { kind: ExprKind::Assign { target, value }, .. }) => {
                let ExprKind::Object(object) = target.kind else { return None };
                Some((object, self.unit.integer(value)?))
            }
            _ => None,
        }
    }

    /// Walks over an expression whose value is used.
    fn value(&mut self, expr: &Expr) {
        let unit = self.unit;
        match &expr.kind {
            ExprKind::Decay(place) | ExprKind::AddressOf(place) => self.take(place),
            ExprKind::Load(place) => {
                self.facts.read.extend(root(place));
                self.facts.inspected.extend(root(place));
                self.place(place);
            }
            ExprKind::Member(_, _) | ExprKind::Object(_) | ExprKind::Deref(_) => self.place(expr),
            ExprKind::CompoundLiteral(object) => self.init(unit.objects[*object].init.as_ref()),
            ExprKind::Assign { target, value }
            | ExprKind::AssignOp { target, value, .. }
            | ExprKind::AssignOffset { target, index: value, .. } => {
                self.facts.read.extend(root(target));
                self.facts.inspected.extend(root(target));
                self.place(target);
                self.value(value);
            }
            ExprKind::Increment { target, .. } => {
                self.facts.read.extend(root(target));
                self.place(target);
            }
            ExprKind::Cast { .. } if allocated(unit, expr).is_some() => {
                if let Some(pool) = pool_of(unit, &self.facts.pools, expr) {
                    self.facts.taken.extend(self.facts.pools[pool].slots.iter().copied());
                }
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args),
            ExprKind::Builtin(_, args) => args.iter().for_each(|arg| self.argument(arg)),
            ExprKind::Statements(block) => self.stmt(block),
            _ => expr.kind.operands().into_iter().for_each(|operand| self.value(operand)),
        }
    }

    /// Walks over an expression that denotes an object which is read or written.
    fn place(&mut self, place: &Expr) {
        match &place.kind {
            ExprKind::Deref(pointer) => self.pointer(pointer),
            ExprKind::Member(base, _) => self.place(base),
            ExprKind::CompoundLiteral(object) => self.init(self.unit.objects[*object].init.as_ref()),
            ExprKind::Object(_) | ExprKind::Function(_) | ExprKind::String(_) => {}
            _ => self.value(place),
        }
    }

    /// Walks over a pointer that is followed at once by a function of the library.
    fn argument(&mut self, pointer: &Expr) {
        let pointer = unqualified(self.unit, pointer);
        self.facts.read.extend(direct(pointer).and_then(|(place, _)| root(place)));
        self.pointer(pointer);
    }

    /// Walks over a pointer that is followed at once.
    fn pointer(&mut self, pointer: &Expr) {
        let pointer = unqualified(self.unit, pointer);
        match direct(pointer) {
            Some((place, index)) => {
                self.place(place);
                index.into_iter().for_each(|index| self.value(index));
            }
            None => self.value(pointer),
        }
    }

    /// Notes that the address of a place is a value.
    fn take(&mut self, place: &Expr) {
        match &place.kind {
            ExprKind::Object(object) => drop(self.facts.taken.insert(*object)),
            ExprKind::CompoundLiteral(object) => {
                self.facts.taken.insert(*object);
                self.init(self.unit.objects[*object].init.as_ref());
            }
            ExprKind::Function(function) => {
                self.facts.taken_functions.insert(*function);
                if self.points.as_ref().is_none_or(|points| points.has_blank()) {
                    self.find(*function);
                }
            }
            ExprKind::String(string) => drop(self.facts.taken.insert(self.facts.strings[*string])),
            ExprKind::Member(base, _) => self.take(base),
            ExprKind::Deref(pointer) => match direct(pointer) {
                Some((place, index)) => {
                    self.take(place);
                    index.into_iter().for_each(|index| self.value(index));
                }
                None => self.value(pointer),
            },
            _ => self.place(place),
        }
    }

    fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) {
        let unit = self.unit;
        let function = match callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(pointer) => {
                self.value(pointer);
                match self.points.as_mut().and_then(|points| points.callees(pointer)) {
                    Some(callees) => callees.into_iter().for_each(|callee| self.may_call(callee)),
                    None => self.calls_any = true,
                }
                return args.iter().for_each(|arg| self.value(arg));
            }
        };
        let name = unit.name(unit.functions[function].name);
        if unit.functions[function].body.is_some() {
            self.may_call(function);
            return args.iter().for_each(|arg| self.value(arg));
        }
        self.facts.library.insert(name.to_owned());
        match name {
            "pthread_create" | "thrd_create" => {
                let start = if name == "pthread_create" { 2 } else { 1 };
                self.spawn(expr, args, start);
            }
            "pthread_join" | "thrd_join" => {
                self.facts.joins = true;
                args.iter().for_each(|arg| self.joined(arg));
            }
            "pthread_once" | "call_once" => args.iter().for_each(|arg| match named_function(arg) {
                Some(function) => {
                    self.find(function);
                    self.calls.push((self.current, function, self.times));
                }
                None => self.argument(arg),
            }),
            "memset" | "memcpy" | "memmove" | "free" => args.iter().for_each(|arg| self.argument(uncast(arg))),
            _ => {
                match name {
                    "pthread_key_create" | "tss_create" if !self.facts.keys.contains(&site(expr.loc)) => {
                        self.facts.keys.push(site(expr.loc));
                    }
                    "pthread_exit" | "thrd_exit" => drop(self.facts.exits.insert(self.current)),
                    _ => {}
                }
                if is_sync(name) {
                    let types = &unit.types;
                    let records = args.iter().filter_map(|arg| types.pointee(arg.ty)).filter(|of| types.is_record(*of));
                    self.facts.opaque.extend(records.map(|of| of.id));
                }
                self.facts.sections |= name.starts_with("__VERIFIER_atomic_") || name.starts_with("__CPROVER_atomic_");
                args.iter().for_each(|arg| self.argument(arg));
            }
        }
    }

    /// Notes that a function of the program may be called.
    fn may_call(&mut self, function: FunctionId) {
        if self.unit.functions[function].body.is_some() {
            self.find(function);
            self.calls.push((self.current, function, self.times));
        }
    }

    /// Walks over an argument of a function that waits for a thread.
    fn joined(&mut self, arg: &Expr) {
        match &arg.kind {
            ExprKind::Load(place) => {
                self.facts.read.extend(root(place));
                self.place(place);
            }
            _ => self.argument(arg),
        }
    }

    fn spawn(&mut self, expr: &Expr, args: &[Expr], start: usize) {
        for (number, arg) in args.iter().enumerate() {
            match named_function(arg) {
                Some(function) if number == start => {
                    self.find(function);
                    self.spawns.push((site(expr.loc), self.current, function, self.times));
                }
                _ if number == 0 => {
                    self.facts.handles.extend(direct(arg).and_then(|(place, _)| root(place)));
                    self.pointer(arg);
                }
                _ => self.value(arg),
            }
        }
    }

    /// Computes how often functions run, and which run in one frame at a time.
    fn finish(mut self, main: FunctionId) -> Facts {
        for taken in self.facts.taken_functions.iter().copied().filter(|_| self.calls_any).collect::<Vec<_>>() {
            for caller in self.facts.running.clone() {
                self.calls.push((caller, taken, None));
            }
        }
        let mut runs = FxHashMap::default();
        for (site, caller, start, times) in self.spawns.clone() {
            let times = product(times, self.runs(caller, main, &mut runs));
            match self.facts.sites.iter_mut().find(|(known, function, _)| (*known, *function) == (site, start)) {
                Some(known) => known.2 = sum(known.2, times),
                None => self.facts.sites.push((site, start, times)),
            }
        }
        self.facts.called = self.calls.iter().map(|(_, callee, _)| *callee).collect();
        let mut frames: FxHashMap<FunctionId, Times> = FxHashMap::default();
        let starts = self.facts.sites.iter().map(|(_, start, times)| (*start, *times));
        for (root, times) in starts.chain([(main, Some(1))]).collect::<Vec<_>>() {
            let below = self.below(root);
            self.facts.roots.push((times, below.clone()));
            for function in below {
                let so_far = frames.get(&function).copied().unwrap_or(Some(0));
                frames.insert(function, sum(so_far, times));
            }
        }
        let is_single = |function: &FunctionId| {
            frames.get(function) == Some(&Some(1))
                && !self.callees(*function).any(|callee| self.reaches(callee, *function))
        };
        let mut is_once = |function: &FunctionId| self.runs(*function, main, &mut runs).is_some_and(|times| times <= 1);
        let once = self.facts.running.iter().copied().filter(|function| is_once(function)).collect();
        let may_be_single = self.facts.running.iter().copied().filter(|_| !self.facts.forks);
        let single = may_be_single.filter(is_single).collect();
        let nested = self.has_nested();
        let read = self.facts.read.iter().chain(&self.facts.taken).copied().collect();
        let is_handle =
            |object: &&ObjectId| !self.facts.inspected.contains(*object) && !self.facts.taken.contains(*object);
        let handles = self.facts.handles.iter().filter(is_handle).copied().collect();
        let kinds = self.has_kinds();
        let deep_exit = self.facts.exits.iter().any(|function| self.facts.called.contains(function));
        Facts { deep_exit, once, single, nested, read, handles, kinds, ..self.facts }
    }

    /// Returns whether mutexes may have other kinds than the normal one.
    fn has_kinds(&self) -> bool {
        let is_lock = |ty: QualType| self.facts.opaque.contains(&ty.id);
        let is_set = |object: &Object| {
            let items = object.init.iter().flat_map(|init| &init.items);
            let mut of_locks = items.filter(|item| is_part_of(self.unit, object.ty, item.offset, &is_lock));
            of_locks.any(|item| self.unit.integer(&item.value).is_some_and(|value| value != 0))
        };
        ["pthread_mutexattr_settype", "mtx_init"].iter().any(|name| self.facts.library.contains(*name))
            || self.unit.objects.iter().any(is_set)
    }

    /// Returns whether an atomic function calls another one, or itself.
    fn has_nested(&self) -> bool {
        let is_section = |function: &FunctionId| is_atomic(self.unit, *function);
        let inside = |function: FunctionId| self.callees(function).flat_map(|callee| self.below(callee));
        self.facts.running.iter().copied().filter(is_section).any(|function| inside(function).any(|f| is_section(&f)))
    }

    /// Returns how often a function runs; functions that are being asked about are recursive.
    fn runs(&self, function: FunctionId, main: FunctionId, known: &mut FxHashMap<FunctionId, Times>) -> Times {
        if let Some(times) = known.get(&function) {
            return *times;
        }
        known.insert(function, None);
        let mut total = Some(u64::from(function == main));
        let spawns = self.spawns.iter().map(|(_, caller, start, times)| (*caller, *start, *times));
        for (caller, _, times) in self.calls.iter().copied().chain(spawns).filter(|(_, callee, _)| *callee == function)
        {
            total = sum(total, product(times, self.runs(caller, main, known)));
        }
        known.insert(function, total);
        total
    }

    fn callees(&self, function: FunctionId) -> impl Iterator<Item = FunctionId> + '_ {
        self.calls.iter().filter(move |(caller, ..)| *caller == function).map(|(_, callee, _)| *callee)
    }

    /// Returns a function and all that it calls.
    fn below(&self, function: FunctionId) -> BTreeSet<FunctionId> {
        let mut seen = BTreeSet::from([function]);
        let mut rest = vec![function];
        while let Some(caller) = rest.pop() {
            rest.extend(self.callees(caller).filter(|callee| seen.insert(*callee)));
        }
        seen
    }

    fn reaches(&self, from: FunctionId, to: FunctionId) -> bool {
        self.below(from).contains(&to)
    }
}

//! Steps through an execution without the interpreter of the judge.
//!
//! The meaning is written down once more, from the comments of `ir::syntax` and `ir::trace`, and in another way: values
//! are kept in maps by variable, calls with shared bodies are written out first, and expressions are evaluated by
//! `ir::eval`. So a mistake in the judge's interpreter is not one here.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Task, ThreadScope};
use selvedge_ir::eval::{eval, holds};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, Edge, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Ty, Value, VarId};

pub(super) type Values = BTreeMap<VarId, Value>;
type Checked<T> = Result<T, &'static str>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    proc: ProcId,
    pub(super) loc: LocId,
    call: Option<EdgeId>,
    locals: Values,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thread {
    pub(super) number: u32,
    pub(super) kind: Option<EntryId>,
    pub(super) own: Values,
    pub(super) stack: Vec<Frame>,
}

/// A state, changed by one step after the other.
#[derive(Clone)]
pub(super) struct World<'t> {
    pub(super) task: &'t Task<'t>,
    pub(super) shared: Values,
    pub(super) threads: Vec<Thread>,
    pub(super) holder: Option<u32>,
    /// The initial threads that wait for the end of the prelude, whose thread has the number 0.
    pub(super) waiting: Option<Vec<StartThread>>,
    pub(super) n_created: u32,
}

/// What comes of a step that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// The next state.
    State,
    /// The failure of an assertion of the target.
    Failure,
    /// The failure of another assertion, which ends the execution without an error.
    End,
}

/// Checks that a trace is an execution of the program, and that its first error is its end.
pub(super) fn is_execution(task: &Task<'_>, trace: &Trace) -> Checked<()> {
    let trace = trace.written_out();
    let mut world = World::start(task, &trace.start)?;
    for (number, step) in trace.steps.iter().enumerate() {
        if world.has_error() {
            return Err("it goes on after an error");
        }
        match world.step(step)? {
            Made::State => {}
            Made::End => return Err("another assertion fails"),
            Made::Failure if number + 1 == trace.steps.len() => return Ok(()),
            Made::Failure => return Err("it goes on after an assertion failed"),
        }
    }
    if world.has_error() { Ok(()) } else { Err("it ends without an error") }
}

/// Returns the given values of variables that start with any value; those that are not given are false or zero.
fn filled(program: &Program, vars: impl IntoIterator<Item = VarId>, fresh: &Fresh) -> Values {
    let given = |var: VarId| fresh.iter().find(|(other, _)| *other == var).map(|(_, value)| *value);
    vars.into_iter().map(|var| (var, given(var).unwrap_or(program.vars[var].ty.default_value()))).collect()
}

/// Checks that only variables that start have given values, each once and of its type.
fn check_fresh(program: &Program, started: &[VarId], fresh: &Fresh) -> Checked<()> {
    let names: BTreeSet<VarId> = fresh.iter().map(|(var, _)| *var).collect();
    let fits = |(var, value): &(VarId, Value)| started.contains(var) && program.vars[*var].ty == value.ty();
    if names.len() == fresh.len() && fresh.iter().all(fits) { Ok(()) } else { Err("a value for no variable") }
}

fn check_choices(types: &[Ty], choices: &[Value]) -> Checked<()> {
    let fits = types.len() == choices.len() && types.iter().zip(choices).all(|(ty, value)| *ty == value.ty());
    if fits { Ok(()) } else { Err("other choices") }
}

pub(super) fn of_scope(program: &Program, scope: Scope) -> Vec<VarId> {
    program.vars.indices().filter(|var| program.vars[*var].scope == scope).collect()
}

fn has(program: &Program, thread: &Thread, var: VarId) -> bool {
    match program.vars[var].scope {
        Scope::Shared => true,
        Scope::Thread => thread.kind.is_some_and(|kind| program.entries[kind].thread_vars.contains(&var)),
        Scope::Local(owner) => thread.stack.iter().any(|frame| frame.proc == owner),
    }
}

fn has_all(program: &Program, thread: &Thread, expr: &Expr) -> bool {
    !expr.any_leaf(|leaf| matches!(leaf, Expr::Passive(var) | Expr::PassiveNext(var) if !has(program, thread, *var)))
}

fn is_assigned(program: &Program, thread: &Thread, (var, rhs): &(VarId, Expr)) -> bool {
    has(program, thread, *var) && has_all(program, thread, rhs)
}

impl<'t> World<'t> {
    pub(super) fn start(task: &'t Task<'t>, start: &Start) -> Checked<World<'t>> {
        let program = task.program;
        let bound = match task.threads {
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound as usize,
            ThreadScope::Unbounded => usize::MAX,
        };
        let count = |kind: EntryId| start.threads.iter().filter(|thread| thread.entry == kind).count();
        let counted = program.entries.iter_enumerated().all(|(kind, entry)| entry.count.allows(count(kind)));
        let known = start.threads.iter().all(|thread| thread.entry.index() < program.entries.len());
        if start.threads.len() > bound || !counted || !known {
            return Err("other initial threads");
        }
        check_choices(&choice_types(program.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
        let is_initial = |var: &VarId| program.init.iter().any(|(other, _)| other == var);
        let mut open = of_scope(program, Scope::Shared);
        open.retain(|var| !is_initial(var));
        let mut shared = filled(program, open.iter().copied(), &start.fresh);
        let leaf = |leaf: &Expr| match leaf {
            Expr::Choice(number, _) => start.choices[*number as usize],
            _ => unreachable!("initial values read nothing"),
        };
        for (var, rhs) in &program.init {
            shared.insert(*var, eval(rhs, &leaf).map_err(|_| "overflow")?);
        }
        let mut world = World { task, shared, threads: Vec::new(), holder: None, waiting: None, n_created: 0 };
        match program.prelude {
            Some(proc) => {
                world.waiting = Some(start.threads.clone());
                let own = filled(program, of_scope(program, Scope::Thread), &Vec::new());
                let locals = &program.procs[proc].locals;
                world.add(None, own, vec![world.frame(proc, filled(program, locals.iter().copied(), &start.fresh))]);
                open.extend(locals);
            }
            None => world.start_threads(&start.threads)?,
        }
        check_fresh(program, &open, &start.fresh)?;
        Ok(world)
    }

    fn start_threads(&mut self, threads: &[StartThread]) -> Checked<()> {
        for start in threads {
            let program = self.task.program;
            let entry = &program.entries[start.entry];
            check_choices(&choice_types(entry.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
            let leaf = |leaf: &Expr| match leaf {
                Expr::Choice(number, _) => start.choices[*number as usize],
                Expr::Var(var) => self.shared[var],
                _ => unreachable!("initial values read shared variables"),
            };
            let mut own = filled(program, of_scope(program, Scope::Thread), &Vec::new());
            let mut open: Vec<VarId> = entry.thread_vars.clone();
            open.retain(|var| !entry.init.iter().any(|(other, _)| other == var));
            own.extend(filled(program, open.iter().copied(), &start.fresh));
            for (var, rhs) in &entry.init {
                own.insert(*var, eval(rhs, &leaf).map_err(|_| "overflow")?);
            }
            let locals = &program.procs[entry.proc].locals;
            open.extend(locals);
            check_fresh(program, &open, &start.fresh)?;
            let frame = self.frame(entry.proc, filled(program, locals.iter().copied(), &start.fresh));
            self.add(Some(start.entry), own, vec![frame]);
        }
        Ok(())
    }

    fn frame(&self, proc: ProcId, locals: Values) -> Frame {
        Frame { proc, loc: self.task.program.procs[proc].entry, call: None, locals }
    }

    fn add(&mut self, kind: Option<EntryId>, own: Values, stack: Vec<Frame>) {
        self.threads.push(Thread { number: self.n_created, kind, own, stack });
        self.n_created += 1;
    }

    pub(super) fn has_error(&self) -> bool {
        let target = self.task.target;
        let locs: Vec<LocId> = self.threads.iter().map(|thread| thread.stack[thread.stack.len() - 1].loc).collect();
        let count = |list: &[LocId], loc: LocId| list.iter().filter(|other| **other == loc).count();
        let meets = |meeting: &Vec<LocId>| meeting.iter().all(|loc| count(&locs, *loc) >= count(meeting, *loc));
        locs.iter().any(|loc| target.locs.contains(loc)) || target.together.iter().any(meets)
    }

    fn read(&self, position: usize, var: VarId) -> Value {
        let thread = &self.threads[position];
        match self.task.program.vars[var].scope {
            Scope::Shared => self.shared[&var],
            Scope::Thread => thread.own[&var],
            Scope::Local(owner) => {
                let frame = thread.stack.iter().rev().find(|frame| frame.proc == owner);
                frame.expect("a thread reads locals that it has").locals[&var]
            }
        }
    }

    fn write(&mut self, position: usize, var: VarId, value: Value) {
        let thread = &mut self.threads[position];
        let values = match self.task.program.vars[var].scope {
            Scope::Shared => &mut self.shared,
            Scope::Thread => &mut thread.own,
            Scope::Local(owner) => {
                let frame = thread.stack.iter_mut().rev().find(|frame| frame.proc == owner);
                &mut frame.expect("a thread writes locals that it has").locals
            }
        };
        values.insert(var, value);
    }

    /// Makes a step, if it exists.
    pub(super) fn step(&mut self, step: &Step) -> Checked<Made> {
        let program = self.task.program;
        let position = self.threads.iter().position(|thread| thread.number == step.thread.0).ok_or("no such thread")?;
        if self.holder.is_some_and(|holder| holder != step.thread.0) {
            return Err("another thread holds the flag");
        }
        let edge = program.edges.get(step.edge).ok_or("no such edge")?;
        let top = self.threads[position].stack.len() - 1;
        if self.threads[position].stack[top].loc != edge.from {
            return Err("the thread is elsewhere");
        }
        check_choices(&edge.op.choices(), &step.choices)?;
        if !matches!(edge.op, Op::Assign(_)) && !step.passive.is_empty() {
            return Err("no other thread takes part");
        }
        self.perform(position, edge, step)
    }

    /// Does what the edge of a step says.
    fn perform(&mut self, position: usize, edge: &Edge, step: &Step) -> Checked<Made> {
        let program = self.task.program;
        let top = self.threads[position].stack.len() - 1;
        let value = |expr: &Expr| {
            let leaf = |leaf: &Expr| match leaf {
                Expr::Var(var) => self.read(position, *var),
                Expr::Choice(number, _) => step.choices[*number as usize],
                _ => unreachable!("only assignments know other threads"),
            };
            eval(expr, &leaf).map_err(|_| "overflow")
        };
        let values = |exprs: &[Expr]| exprs.iter().map(value).collect::<Checked<Vec<Value>>>();
        // Nothing that an operation changes is in its own condition; that of a call is read by the return.
        if !matches!(edge.op, Op::Call(_)) && value(&edge.ensures)? == Value::Bool(false) {
            return Err("what the step ensures does not hold");
        }
        let mut started = Vec::new();
        match &edge.op {
            Op::Assign(assign) => self.assign(position, assign, step)?,
            Op::Assert(condition) => {
                if value(condition)? == Value::Bool(false) {
                    check_fresh(program, &[], &step.fresh)?;
                    let is_error = self.task.target.asserts.contains(&step.edge);
                    return Ok(if is_error { Made::Failure } else { Made::End });
                }
            }
            Op::Call(call) => {
                let args = values(&call.args)?;
                return self.call(position, (step.edge, call), args, &step.fresh).map(|()| Made::State);
            }
            Op::Return(results) => {
                check_fresh(program, &[], &step.fresh)?;
                let results = values(results)?;
                return self.return_from(position, results).map(|()| Made::State);
            }
            Op::Spawn(spawn) if self.has_room() => {
                let args = values(&spawn.args)?;
                let locals = self.locals(spawn.callee, args, &step.fresh, &mut started);
                let Thread { kind, own, .. } = self.threads[position].clone();
                self.add(kind, own, vec![self.frame(spawn.callee, locals)]);
            }
            Op::Fork(at) if self.has_room() => {
                let Thread { kind, own, mut stack, .. } = self.threads[position].clone();
                stack[top].loc = *at;
                self.add(kind, own, stack);
            }
            Op::Spawn(_) | Op::Fork(_) => {}
            Op::End => {
                check_fresh(program, &[], &step.fresh)?;
                return self.end(position).map(|()| Made::State);
            }
            Op::AtomicBegin => self.holder = Some(step.thread.0),
            Op::AtomicEnd => self.holder = None,
        }
        check_fresh(program, &started, &step.fresh)?;
        self.threads[position].stack[top].loc = edge.to;
        Ok(Made::State)
    }

    pub(super) fn has_room(&self) -> bool {
        let has_prelude = self.task.program.prelude.is_some();
        match self.task.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) => {
                let is_counted = |thread: &&Thread| !(has_prelude && thread.number == 0);
                self.threads.iter().filter(is_counted).count() < bound as usize
            }
            ThreadScope::Created(bound) => self.n_created - u32::from(has_prelude) < bound,
        }
    }

    /// Returns the variables of a new frame: parameters have the arguments, the others any values.
    fn locals(&self, callee: ProcId, args: Vec<Value>, fresh: &Fresh, started: &mut Vec<VarId>) -> Values {
        let proc = &self.task.program.procs[callee];
        started.extend(proc.locals.iter().filter(|local| !proc.params.contains(local)));
        let mut locals = filled(self.task.program, started.iter().copied(), fresh);
        locals.extend(proc.params.iter().copied().zip(args));
        locals
    }

    fn call(&mut self, position: usize, (edge, call): (EdgeId, &Call), args: Vec<Value>, fresh: &Fresh) -> Checked<()> {
        let mut started = Vec::new();
        let locals = self.locals(call.callee, args, fresh, &mut started);
        check_fresh(self.task.program, &started, fresh)?;
        let frame = self.frame(call.callee, locals);
        let stack = &mut self.threads[position].stack;
        let top = stack.len() - 1;
        stack[top].call = Some(edge);
        stack.push(frame);
        Ok(())
    }

    fn return_from(&mut self, position: usize, values: Vec<Value>) -> Checked<()> {
        let stack = &mut self.threads[position].stack;
        if stack.len() == 1 {
            return self.end(position);
        }
        stack.pop();
        let top = stack.len() - 1;
        let edge = stack[top].call.take().ok_or("no call to return from")?;
        stack[top].loc = self.task.program.edges[edge].to;
        let Op::Call(call) = &self.task.program.edges[edge].op else { return Err("no call to return from") };
        for (result, value) in call.results.iter().zip(values) {
            if let Some(var) = result {
                self.write(position, *var, value);
            }
        }
        let ensured = holds(&self.task.program.edges[edge].ensures, &|leaf| match leaf {
            Expr::Var(var) => self.read(position, *var),
            _ => unreachable!("what a call ensures is about variables"),
        });
        if ensured == Ok(true) { Ok(()) } else { Err("what the call ensures does not hold") }
    }

    fn end(&mut self, position: usize) -> Checked<()> {
        let ended = self.threads.remove(position).number;
        self.holder = self.holder.filter(|holder| *holder != ended);
        match self.waiting.take_if(|_| ended == 0) {
            Some(threads) => self.start_threads(&threads),
            None => Ok(()),
        }
    }

    /// The positions of the other threads that take part in an assignment.
    pub(super) fn participants(&self, position: usize, assign: &Assign) -> Vec<usize> {
        let program = self.task.program;
        let is_constrained =
            |thread: &Thread| assign.constrain.is_passive() && has_all(program, thread, &assign.constrain);
        let takes_part = |other: &usize| {
            let thread = &self.threads[*other];
            *other != position
                && (assign.passive.iter().any(|pair| is_assigned(program, thread, pair)) || is_constrained(thread))
        };
        (0..self.threads.len()).filter(takes_part).collect()
    }

    /// Makes an assignment: everything is computed in the old state, then written.
    fn assign(&mut self, position: usize, assign: &Assign, step: &Step) -> Checked<()> {
        let program = self.task.program;
        let per_thread = assign.per_thread_choices();
        let constrains_others = assign.constrain.is_passive();
        let is_constrained = |thread: &Thread| constrains_others && has_all(program, thread, &assign.constrain);
        let others = self.participants(position, assign);
        if others.len() != step.passive.len() {
            return Err("other threads take part");
        }
        step.passive.iter().try_for_each(|choices| check_choices(&assign.choices(), choices))?;
        let mut writes: Vec<(usize, VarId, Value)> = Vec::new();
        // The value of a leaf for the mover and perhaps another thread, with what was written so far as new values.
        let leaf = |leaf: &Expr, other: Option<(usize, usize)>, writes: &[(usize, VarId, Value)]| {
            let new = |at: usize, var: VarId| writes.iter().find(|write| (write.0, write.1) == (at, var)).map(|w| w.2);
            match (leaf, other) {
                (Expr::Var(var), _) => self.read(position, *var),
                (Expr::Next(var), _) => new(position, *var).unwrap_or_else(|| self.read(position, *var)),
                (Expr::Choice(number, _), Some((place, _))) if per_thread[*number as usize] => {
                    step.passive[place][*number as usize]
                }
                (Expr::Choice(number, _), _) => step.choices[*number as usize],
                (Expr::Passive(var), Some((_, at))) => self.read(at, *var),
                (Expr::PassiveNext(var), Some((_, at))) => new(at, *var).unwrap_or_else(|| self.read(at, *var)),
                _ => unreachable!("a valid program mentions others only there"),
            }
        };
        for (var, rhs) in &assign.active {
            writes.push((position, *var, eval(rhs, &|part| leaf(part, None, &[])).map_err(|_| "overflow")?));
        }
        for (place, at) in others.iter().enumerate() {
            for (var, rhs) in assign.passive.iter().filter(|pair| is_assigned(program, &self.threads[*at], pair)) {
                let value = eval(rhs, &|part| leaf(part, Some((place, *at)), &[])).map_err(|_| "overflow")?;
                writes.push((*at, *var, value));
            }
        }
        let holds = |other| holds(&assign.constrain, &|part| leaf(part, other, &writes)).map_err(|_| "overflow");
        if constrains_others {
            for (place, at) in others.iter().enumerate().filter(|(_, at)| is_constrained(&self.threads[**at])) {
                holds(Some((place, *at)))?.then_some(()).ok_or("a condition on another thread does not hold")?;
            }
        } else {
            holds(None)?.then_some(()).ok_or("a condition does not hold")?;
        }
        for (at, var, value) in writes {
            self.write(at, var, value);
        }
        Ok(())
    }
}

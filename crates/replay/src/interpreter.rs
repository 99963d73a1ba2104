//! The meaning of programs: from a state and a step to the next state.
//!
//! A [`Step`] says everything that is nondeterministic: who moves, along which edge, and the value of each choice and
//! of each variable that starts with any value. So a step has at most one outcome, and [`Interpreter::step`] computes
//! it. [`crate::enumerate`] lists the steps that a state has.

use std::collections::BTreeSet;
use std::fmt;

use selvedge_check::ThreadScope;
use selvedge_check::execution::{Frame, Prelude, State, Thread};
use selvedge_ir::eval::{Overflow, eval, holds};
use selvedge_ir::flow::Flow;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Spawn, Ty, Value, VarId};

use crate::layout::Layout;

/// Executes one program.
pub struct Interpreter<'p> {
    pub(crate) program: &'p Program,
    pub(crate) threads: ThreadScope,
    pub(crate) layout: Layout,
    pub(crate) flow: Flow,
    /// See [`Interpreter::settling`].
    pub(crate) settled: BTreeSet<VarId>,
}

/// What a step leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This state.
    Next(State),
    /// Nothing: a condition does not hold.
    Blocked,
    /// A failed assertion.
    Failed,
}

/// Why a step or a start is none of the program, whatever the values of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// No live thread has this number.
    NoSuchThread(ThreadId),
    /// Another thread holds the atomic flag.
    AtomicElsewhere(ThreadId),
    /// The thread does not stand where the edge begins.
    WrongPlace(EdgeId),
    /// The number of choices, or the type of one, is not the edge's.
    WrongChoices,
    /// A fresh value for a variable that does not start in this step, or of another type.
    WrongFresh(VarId),
    /// The initial threads are not those that the program or the thread bound allows.
    WrongThreads,
    /// An integer beyond 64 bits.
    Overflow,
}

impl From<Overflow> for Illegal {
    fn from(_: Overflow) -> Illegal {
        Illegal::Overflow
    }
}

impl<'p> Interpreter<'p> {
    /// An interpreter of a valid program.
    pub fn new(program: &'p Program, threads: ThreadScope) -> Interpreter<'p> {
        Interpreter {
            program,
            threads,
            layout: Layout::new(program),
            flow: Flow::new(program),
            settled: BTreeSet::new(),
        }
    }

    /// Lets these variables start with the default value in all starts and steps that it lists. For variables that
    /// nobody reads before they are written this loses nothing.
    pub fn settling(self, settled: BTreeSet<VarId>) -> Interpreter<'p> {
        Interpreter { settled, ..self }
    }

    /// The program that it executes.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The edges along which a thread could move: none if another thread holds the atomic flag.
    pub fn edges(&self, state: &State, thread: &Thread) -> &[EdgeId] {
        if state.may_move(thread.id) { self.flow.out(thread.loc()) } else { &[] }
    }

    /// The initial state that `start` describes.
    pub fn start(&self, start: &Start) -> Result<State, Illegal> {
        self.check_threads(&start.threads)?;
        let mut fresh = Given::new(&start.fresh, self.program);
        check_choices(&choice_types(self.program.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
        let mut state = State {
            shared: self.layout.shared.iter().map(|var| fresh.take_unless(*var, &self.program.init)).collect(),
            holder: None,
            threads: Vec::new(),
            prelude: None,
            next_thread: 0,
        };
        for (var, rhs) in &self.program.init {
            let value = eval(rhs, &|leaf| match leaf {
                Expr::Choice(number, _) => start.choices[*number as usize],
                _ => unreachable!("the validator rejects variables in initial values"),
            })?;
            state.shared[self.layout.slot[*var]] = value;
        }
        match self.program.prelude {
            Some(proc) => {
                state.prelude = Some(Prelude { thread: ThreadId(0), waiting: start.threads.clone() });
                let stack = vec![self.frame(proc, Vec::new(), &mut fresh)];
                self.add_thread(&mut state, None, self.layout.default_thread_vars(), stack);
            }
            None => self.start_threads(&mut state, &start.threads)?,
        }
        fresh.finish()?;
        Ok(state)
    }

    /// What a step leads to, or why it is none. Of a call with a body only the call itself is made.
    pub fn step(&self, state: &State, step: &Step) -> Result<Outcome, Illegal> {
        let position = state.position(step.thread).ok_or(Illegal::NoSuchThread(step.thread))?;
        if let Some(holder) = state.holder
            && holder != step.thread
        {
            return Err(Illegal::AtomicElsewhere(holder));
        }
        let edge = self.program.edges.get(step.edge).ok_or(Illegal::WrongPlace(step.edge))?;
        if state.threads[position].loc() != edge.from {
            return Err(Illegal::WrongPlace(step.edge));
        }
        check_choices(&edge.op.choices(), &step.choices)?;
        if !matches!(&edge.op, Op::Assign(assign) if assign.is_passive()) && !step.passive.is_empty() {
            return Err(Illegal::WrongChoices);
        }
        let mut fresh = Given::new(&step.fresh, self.program);
        let outcome = Move { interpreter: self, state, position, step }.execute(&edge.op, edge.to, &mut fresh)?;
        fresh.finish()?;
        Ok(outcome)
    }

    /// Brings initial threads to life, in order.
    fn start_threads(&self, state: &mut State, threads: &[StartThread]) -> Result<(), Illegal> {
        for start in threads {
            let entry = &self.program.entries[start.entry];
            let mut fresh = Given::new(&start.fresh, self.program);
            check_choices(&choice_types(entry.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
            let mut vars = self.layout.default_thread_vars();
            for var in &entry.thread_vars {
                vars[self.layout.slot[*var]] = fresh.take_unless(*var, &entry.init);
            }
            for (var, rhs) in &entry.init {
                vars[self.layout.slot[*var]] = eval(rhs, &|leaf| match leaf {
                    Expr::Var(var) => state.shared[self.layout.slot[*var]],
                    Expr::Choice(number, _) => start.choices[*number as usize],
                    _ => unreachable!("the validator rejects other leaves in initial values"),
                })?;
            }
            let params = &self.program.procs[entry.proc].params;
            let args = params.iter().map(|param| fresh.take(*param)).collect();
            let stack = vec![self.frame(entry.proc, args, &mut fresh)];
            fresh.finish()?;
            self.add_thread(state, Some(start.entry), vars, stack);
        }
        Ok(())
    }

    /// A frame at the beginning of a procedure: arguments for the parameters, fresh values for the other locals.
    fn frame(&self, proc: ProcId, args: Vec<Value>, fresh: &mut Given<'_>) -> Frame {
        let callee = &self.program.procs[proc];
        let value = |local: &VarId, fresh: &mut Given<'_>| match callee.params.iter().position(|param| param == local) {
            Some(number) => args[number],
            None => fresh.take(*local),
        };
        let locals = callee.locals.iter().map(|local| value(local, fresh)).collect();
        Frame { proc, loc: callee.entry, call: None, locals }
    }

    fn add_thread(&self, state: &mut State, entry: Option<EntryId>, vars: Vec<Value>, stack: Vec<Frame>) {
        state.threads.push(Thread { id: ThreadId(state.next_thread), entry, vars, stack });
        state.next_thread += 1;
    }

    /// Whether one more thread may live. The prelude's does not count.
    pub(crate) fn has_room(&self, state: &State) -> bool {
        match self.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) => state.threads.len() - usize::from(state.prelude.is_some()) < bound as usize,
            ThreadScope::Created(bound) => state.next_thread - u32::from(self.program.prelude.is_some()) < bound,
        }
    }

    /// Whether the program and the thread bound allow these initial threads.
    fn check_threads(&self, threads: &[StartThread]) -> Result<(), Illegal> {
        let within = match self.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => threads.len() <= bound as usize,
        };
        let known = threads.iter().all(|thread| thread.entry.index() < self.program.entries.len());
        let counted = self
            .program
            .entries
            .iter_enumerated()
            .all(|(id, entry)| entry.count.allows(threads.iter().filter(|thread| thread.entry == id).count()));
        if within && known && counted { Ok(()) } else { Err(Illegal::WrongThreads) }
    }
}

/// One step being executed.
struct Move<'a> {
    interpreter: &'a Interpreter<'a>,
    state: &'a State,
    /// The position of the moving thread.
    position: usize,
    step: &'a Step,
}

impl Move<'_> {
    fn execute(&self, op: &Op, to: LocId, fresh: &mut Given<'_>) -> Result<Outcome, Illegal> {
        let mut next = self.state.clone();
        match op {
            Op::Assign(assign) => {
                if !self.assign(assign, &mut next)? {
                    return Ok(Outcome::Blocked);
                }
                self.go(&mut next, to);
            }
            Op::Assert(condition) => {
                if !self.holds(condition)? {
                    return Ok(Outcome::Failed);
                }
                self.go(&mut next, to);
            }
            Op::Call(call) => self.call(call, &mut next, fresh)?,
            Op::Return(values) => self.return_from(values, &mut next)?,
            Op::Spawn(spawn) => {
                self.spawn(spawn, &mut next, fresh)?;
                self.go(&mut next, to);
            }
            Op::Fork(at) => {
                self.fork(*at, &mut next);
                self.go(&mut next, to);
            }
            Op::End => self.end(&mut next)?,
            Op::AtomicBegin => {
                next.holder = Some(self.step.thread);
                self.go(&mut next, to);
            }
            Op::AtomicEnd => {
                next.holder = None;
                self.go(&mut next, to);
            }
        }
        Ok(Outcome::Next(next))
    }

    /// Moves the thread's running frame.
    fn go(&self, next: &mut State, to: LocId) {
        let top = next.threads[self.position].stack.last_mut();
        top.expect("the moving thread has a frame").loc = to;
    }

    /// Computes all new values in the old state, writes them, and says whether the constraint holds.
    fn assign(&self, assign: &Assign, next: &mut State) -> Result<bool, Illegal> {
        let layout = &self.interpreter.layout;
        for (var, rhs) in &assign.active {
            let value = eval(rhs, &|leaf| self.leaf(leaf))?;
            layout.write(next, self.position, *var, value);
        }
        if !assign.is_passive() {
            return Ok(holds(&assign.constrain, &|leaf| self.leaf_in_constraint(leaf, next))?);
        }
        let others = self.interpreter.participants(self.state, self.position, assign);
        if self.step.passive.len() != others.len() {
            return Err(Illegal::WrongChoices);
        }
        let types = Op::Assign(assign.clone()).choices();
        let per_thread = assign.per_thread_choices();
        for (other, choices) in others.iter().zip(&self.step.passive) {
            check_choices(&types, choices)?;
            let pair = Pair { mover: self, other: *other, choices, per_thread: &per_thread };
            for (var, rhs) in &assign.passive {
                if layout.has_all(&self.state.threads[*other], rhs) && layout.has(&self.state.threads[*other], *var) {
                    let value = eval(rhs, &|leaf| pair.leaf(leaf, next))?;
                    layout.write(next, *other, *var, value);
                }
            }
        }
        for (other, choices) in others.iter().zip(&self.step.passive) {
            let pair = Pair { mover: self, other: *other, choices, per_thread: &per_thread };
            if layout.has_all(&self.state.threads[*other], &assign.constrain)
                && !holds(&assign.constrain, &|leaf| pair.leaf(leaf, next))?
            {
                return Ok(false);
            }
        }
        // A condition on other threads holds where there is none; one without passive variables must hold always.
        Ok(assign.constrain.is_passive() || holds(&assign.constrain, &|leaf| self.leaf_in_constraint(leaf, next))?)
    }

    fn holds(&self, condition: &Expr) -> Result<bool, Overflow> {
        holds(condition, &|leaf| self.leaf(leaf))
    }

    /// The value of a leaf in the old state.
    fn leaf(&self, leaf: &Expr) -> Value {
        match leaf {
            Expr::Var(var) => self.interpreter.layout.read(self.state, self.position, *var),
            Expr::Choice(number, _) => self.step.choices[*number as usize],
            _ => unreachable!("the validator allows other leaves in constraints only"),
        }
    }

    /// The value of a leaf in a constraint without passive variables.
    fn leaf_in_constraint(&self, leaf: &Expr, next: &State) -> Value {
        match leaf {
            Expr::Next(var) => self.interpreter.layout.read(next, self.position, *var),
            leaf => self.leaf(leaf),
        }
    }

    fn args(&self, args: &[Expr]) -> Result<Vec<Value>, Overflow> {
        args.iter().map(|arg| eval(arg, &|leaf| self.leaf(leaf))).collect()
    }

    fn call(&self, call: &Call, next: &mut State, fresh: &mut Given<'_>) -> Result<(), Illegal> {
        let frame = self.interpreter.frame(call.callee, self.args(&call.args)?, fresh);
        let stack = &mut next.threads[self.position].stack;
        stack.last_mut().expect("the moving thread has a frame").call = Some(self.step.edge);
        stack.push(frame);
        Ok(())
    }

    /// Pops the frame; the values, read in it, are written in the caller, which goes on behind its call.
    fn return_from(&self, values: &[Expr], next: &mut State) -> Result<(), Illegal> {
        let values = self.args(values)?;
        let stack = &mut next.threads[self.position].stack;
        stack.pop();
        let Some(caller) = stack.last_mut() else { return self.end(next) };
        let edge = &self.interpreter.program.edges[caller.call.take().expect("a frame below another one called it")];
        caller.loc = edge.to;
        let Op::Call(call) = &edge.op else { unreachable!("frames remember call edges") };
        for (result, value) in call.results.iter().zip(values) {
            if let Some(var) = result {
                self.interpreter.layout.write(next, self.position, *var, value);
            }
        }
        Ok(())
    }

    fn spawn(&self, spawn: &Spawn, next: &mut State, fresh: &mut Given<'_>) -> Result<(), Illegal> {
        let args = self.args(&spawn.args)?;
        if self.interpreter.has_room(self.state) {
            let stack = vec![self.interpreter.frame(spawn.callee, args, fresh)];
            let spawner = &self.state.threads[self.position];
            self.interpreter.add_thread(next, spawner.entry, spawner.vars.clone(), stack);
        }
        Ok(())
    }

    fn fork(&self, at: LocId, next: &mut State) {
        if self.interpreter.has_room(self.state) {
            let spawner = &self.state.threads[self.position];
            let mut stack = spawner.stack.clone();
            stack.last_mut().expect("the moving thread has a frame").loc = at;
            self.interpreter.add_thread(next, spawner.entry, spawner.vars.clone(), stack);
        }
    }

    /// Removes the thread; it releases the atomic flag. The end of the prelude brings the initial threads to life.
    fn end(&self, next: &mut State) -> Result<(), Illegal> {
        let ended = next.threads.remove(self.position);
        if next.holder == Some(ended.id) {
            next.holder = None;
        }
        match next.prelude.take_if(|prelude| prelude.thread == ended.id) {
            Some(prelude) => self.interpreter.start_threads(next, &prelude.waiting),
            None => Ok(()),
        }
    }
}

/// A step seen together with one other thread that takes part in it.
struct Pair<'a> {
    mover: &'a Move<'a>,
    /// The position of the other thread.
    other: usize,
    /// The choices made for it.
    choices: &'a [Value],
    per_thread: &'a [bool],
}

impl Pair<'_> {
    fn leaf(&self, leaf: &Expr, next: &State) -> Value {
        let layout = &self.mover.interpreter.layout;
        match leaf {
            Expr::Passive(var) => layout.read(self.mover.state, self.other, *var),
            Expr::PassiveNext(var) => layout.read(next, self.other, *var),
            Expr::Choice(number, _) if self.per_thread[*number as usize] => self.choices[*number as usize],
            leaf => self.mover.leaf_in_constraint(leaf, next),
        }
    }
}

impl Interpreter<'_> {
    /// The positions of the threads that take part in a step with passive parts: all others that have what some
    /// passive assignment or the passive constraint mentions.
    pub(crate) fn participants(&self, state: &State, mover: usize, assign: &Assign) -> Vec<usize> {
        let takes_part = |thread: &Thread| {
            let assigned = assign
                .passive
                .iter()
                .any(|(var, rhs)| self.layout.has(thread, *var) && self.layout.has_all(thread, rhs));
            assigned || (assign.constrain.is_passive() && self.layout.has_all(thread, &assign.constrain))
        };
        (0..state.threads.len()).filter(|other| *other != mover && takes_part(&state.threads[*other])).collect()
    }
}

/// Fresh values that a trace gives, as they are taken.
struct Given<'a> {
    fresh: &'a Fresh,
    program: &'a Program,
    taken: Vec<VarId>,
}

impl<'a> Given<'a> {
    fn new(fresh: &'a Fresh, program: &'a Program) -> Given<'a> {
        Given { fresh, program, taken: Vec::new() }
    }

    /// The value of a variable that starts with any value: the given one, or the default.
    fn take(&mut self, var: VarId) -> Value {
        self.taken.push(var);
        let given = self.fresh.iter().find(|(given, _)| *given == var);
        given.map_or(self.program.vars[var].ty.default_value(), |(_, value)| *value)
    }

    /// The same for a variable that may be initialised: then a default value, to be overwritten.
    fn take_unless(&mut self, var: VarId, init: &[(VarId, Expr)]) -> Value {
        if init.iter().any(|(initialised, _)| *initialised == var) {
            self.program.vars[var].ty.default_value()
        } else {
            self.take(var)
        }
    }

    /// Every given value was taken, once, and has its variable's type.
    fn finish(self) -> Result<(), Illegal> {
        for (number, (var, value)) in self.fresh.iter().enumerate() {
            let repeated = self.fresh[..number].iter().any(|(earlier, _)| earlier == var);
            if repeated || !self.taken.contains(var) || self.program.vars[*var].ty != value.ty() {
                return Err(Illegal::WrongFresh(*var));
            }
        }
        Ok(())
    }
}

fn check_choices(types: &[Ty], choices: &[Value]) -> Result<(), Illegal> {
    let fit = types.len() == choices.len() && types.iter().zip(choices).all(|(ty, value)| *ty == value.ty());
    if fit { Ok(()) } else { Err(Illegal::WrongChoices) }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Illegal::NoSuchThread(id) => write!(f, "there is no live thread {}", id.0),
            Illegal::AtomicElsewhere(id) => write!(f, "thread {} holds the atomic flag", id.0),
            Illegal::WrongPlace(edge) => write!(f, "the thread does not stand where edge {} begins", edge.index()),
            Illegal::WrongChoices => write!(f, "the choices are not those of the edge"),
            Illegal::WrongFresh(var) => write!(f, "variable {} does not start with any value here", var.index()),
            Illegal::WrongThreads => write!(f, "the program does not start with these threads"),
            Illegal::Overflow => write!(f, "an integer leaves the range of 64 bits"),
        }
    }
}

/// Where a variable is stored, for those who read states.
impl Interpreter<'_> {
    /// The value of a variable as the thread at `position` sees it.
    pub fn read(&self, state: &State, position: usize, var: VarId) -> Value {
        self.layout.read(state, position, var)
    }

    /// The shared variables, in the order of [`State::shared`].
    pub fn shared_vars(&self) -> &[VarId] {
        &self.layout.shared
    }

    /// The per-thread variables, in the order of [`Thread::vars`].
    pub fn thread_vars(&self) -> &[VarId] {
        &self.layout.thread
    }

    /// Whether a variable of this scope is visible in a procedure.
    pub fn sees(&self, proc: ProcId, var: VarId) -> bool {
        match self.program.vars[var].scope {
            Scope::Shared | Scope::Thread => true,
            Scope::Local(owner) => owner == proc,
        }
    }
}

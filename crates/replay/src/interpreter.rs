//! The meaning of programs: from a state and a step to the next state.
//!
//! A [`Step`] says everything that is nondeterministic: the thread that moves, the edge, and the value of each choice
//! and of each variable that starts with any value. So a step has at most one outcome, and [`Interpreter::step`]
//! computes it: what the operation of the edge does comes from `semantics`, in the domain of values
//! themselves, and is then written into a copy of the state. [`crate::enumerate`] lists the steps that a state has.

use std::collections::BTreeSet;

use selvedge_check::ThreadScope;
use selvedge_check::execution::{Frame, Prelude, State, Thread};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId};
use selvedge_ir::{EdgeId, EntryId, Op, ProcId, Program, Scope, Ty, Value, VarId};

use crate::domain::{Concrete, NoValue, is_true};
use crate::layout::Layout;
use crate::machine::is_of;
use crate::program::{Leaving, choice_types, default_value, exprs, leaving};
use crate::semantics::{Child, Control, Effect, Meaning, Scene, Writes, child, control, flag, participants};

/// Executes one program.
pub struct Interpreter<'p> {
    pub(crate) program: &'p Program,
    pub(crate) threads: ThreadScope,
    pub(crate) layout: Layout<'p>,
    pub(crate) leaving: Leaving,
    /// See [`Interpreter::settling`].
    pub(crate) settled: BTreeSet<VarId>,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This state.
    Next(State),
    /// Nothing: a condition does not hold.
    Blocked,
    /// A failed assertion.
    Failed,
}

/// The reason why a step or a start is not one of the program, whatever the values of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// No live thread has this number.
    NoSuchThread(ThreadId),
    /// Another thread holds the atomic flag.
    AtomicElsewhere(ThreadId),
    /// The thread is not at the location where the edge begins.
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

impl From<NoValue> for Illegal {
    /// All choices are given, and no variable is open.
    fn from(_: NoValue) -> Illegal {
        Illegal::Overflow
    }
}

impl<'p> Interpreter<'p> {
    /// An interpreter of a valid program.
    pub fn new(program: &'p Program, threads: ThreadScope) -> Interpreter<'p> {
        let (layout, leaving) = (Layout::new(program), leaving(program));
        Interpreter { program, threads, layout, leaving, settled: BTreeSet::new() }
    }

    /// Computes the initial state that `start` describes.
    pub fn start(&self, start: &Start) -> Result<State, Illegal> {
        self.check_threads(&start.threads)?;
        check_choices(&choice_types(self.program.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
        let mut fresh = Given::new(&start.fresh, self.program);
        let mut state = State::default();
        state.shared = fresh.fill(self.starting(&state, &start.choices, |meaning| meaning.start_shared())?);
        match self.program.prelude {
            Some(proc) => {
                state.prelude = Some(Prelude { thread: ThreadId(0), waiting: start.threads.clone() });
                let writes = self.starting(&state, &[], |meaning| meaning.begin(proc))?;
                self.begin(&mut state, (None, proc), writes, &mut fresh);
            }
            None => self.start_threads(&mut state, &start.threads)?,
        }
        fresh.finish()?;
        Ok(state)
    }

    /// Executes a step, or says why it is not a step of the program. Of a call with a body only the call itself is
    /// made.
    pub fn step(&self, state: &State, step: &Step) -> Result<Outcome, Illegal> {
        let position = state.position(step.thread).ok_or(Illegal::NoSuchThread(step.thread))?;
        if let Some(holder) = state.holder.filter(|holder| *holder != step.thread) {
            return Err(Illegal::AtomicElsewhere(holder));
        }
        let edge = self.program.edges.get(step.edge).ok_or(Illegal::WrongPlace(step.edge))?;
        let thread = &state.threads[position];
        if thread.loc() != edge.from {
            return Err(Illegal::WrongPlace(step.edge));
        }
        let mut scene =
            StepScene { interpreter: self, state, position, choices: &step.choices, passive: &step.passive };
        scene.check_choices(&edge.op)?;
        let caller = thread.stack.iter().rev().nth(1).and_then(|frame| frame.call);
        let effect = Meaning::new(self.program, &mut Concrete, &mut scene).effect(edge, caller)?;
        if !effect.conditions.iter().all(|condition| is_true(*condition)) {
            return Ok(Outcome::Blocked);
        }
        let mut fresh = Given::new(&step.fresh, self.program);
        let outcome = if effect.asserted.is_some_and(|holds| !is_true(holds)) {
            Outcome::Failed
        } else {
            Outcome::Next(self.after(state, position, (step.edge, control(edge, caller)), effect, &mut fresh)?)
        };
        fresh.finish()?;
        Ok(outcome)
    }

    /// Computes the state after a step with a given effect.
    fn after(
        &self,
        state: &State,
        position: usize,
        (id, control): (EdgeId, Control),
        effect: Effect<Value>,
        fresh: &mut Given<'_>,
    ) -> Result<State, Illegal> {
        let (mut next, op) = (state.clone(), &self.program.edges[id].op);
        for (other, var, value) in effect.passive {
            self.layout.write(&mut next, other_position(other, position), var, value);
        }
        if let Some(child) = child(op).filter(|_| self.has_room(state)) {
            self.start_child(&mut next, &state.threads[position], child, effect.child, fresh);
        }
        if let Some(held) = flag(op) {
            next.holder = held.then_some(state.threads[position].id);
        }
        // The values of a call fill the frame that it pushes, and a thread that ends has no variables. All other writes
        // come after the change of frames, so that the results of a return reach the caller.
        let stack = &mut next.threads[position].stack;
        match control {
            Control::Go(to) => stack.last_mut().expect("the moving thread has a frame").loc = to,
            Control::Call(callee) => {
                stack.last_mut().expect("the moving thread has a frame").call = Some(id);
                stack.push(self.frame(callee, fresh.fill(effect.writes)));
                return Ok(next);
            }
            Control::Return(call) => {
                stack.pop();
                let caller = stack.last_mut().expect("the frame that called it");
                (caller.call, caller.loc) = (None, self.program.edges[call].to);
            }
            Control::End => {
                self.end(&mut next, position)?;
                return Ok(next);
            }
        }
        for (var, value) in effect.writes {
            self.layout.write(&mut next, position, var, value.expect("only frames have variables with any value"));
        }
        Ok(next)
    }

    /// Starts a thread as a procedure of its own, or as a copy of the one that starts it.
    fn start_child(
        &self,
        next: &mut State,
        parent: &Thread,
        child: Child,
        writes: Writes<Value>,
        fresh: &mut Given<'_>,
    ) {
        let stack = match child {
            Child::Spawn(callee) => vec![self.frame(callee, fresh.fill(writes))],
            Child::Fork(at) => {
                let mut stack = parent.stack.clone();
                stack.last_mut().expect("the moving thread has a frame").loc = at;
                stack
            }
        };
        self.add_thread(next, parent.entry, parent.vars.clone(), stack);
    }

    /// Removes a thread; it releases the atomic flag. The end of the prelude brings the initial threads to life.
    fn end(&self, next: &mut State, position: usize) -> Result<(), Illegal> {
        let ended = next.threads.remove(position);
        next.holder = next.holder.filter(|holder| *holder != ended.id);
        match next.prelude.take_if(|prelude| prelude.thread == ended.id) {
            Some(prelude) => self.start_threads(next, &prelude.waiting),
            None => Ok(()),
        }
    }

    /// Computes values that variables start with.
    fn starting(
        &self,
        state: &State,
        choices: &[Value],
        writes: impl FnOnce(&mut Meaning<'_, Concrete, StepScene<'_>>) -> Result<Writes<Value>, NoValue>,
    ) -> Result<Writes<Value>, NoValue> {
        let mut scene = StepScene { interpreter: self, state, position: 0, choices, passive: &[] };
        writes(&mut Meaning::new(self.program, &mut Concrete, &mut scene))
    }

    /// Brings initial threads to life, in order.
    fn start_threads(&self, state: &mut State, threads: &[StartThread]) -> Result<(), Illegal> {
        for start in threads {
            let entry = &self.program.entries[start.entry];
            check_choices(&choice_types(entry.init.iter().map(|(_, rhs)| rhs)), &start.choices)?;
            let mut fresh = Given::new(&start.fresh, self.program);
            let writes = self.starting(state, &start.choices, |meaning| meaning.start_thread(start.entry))?;
            self.begin(state, (Some(start.entry), entry.proc), writes, &mut fresh);
            fresh.finish()?;
        }
        Ok(())
    }

    /// Adds a thread with all its variables at the beginning of a procedure.
    fn begin(
        &self,
        state: &mut State,
        (entry, proc): (Option<EntryId>, ProcId),
        mut writes: Writes<Value>,
        fresh: &mut Given<'_>,
    ) {
        writes.sort_by_key(|(var, _)| (self.program.vars[*var].scope != Scope::Thread, self.layout.slot[*var]));
        let locals = writes.split_off(self.layout.thread.len());
        let (vars, locals) = (fresh.fill(writes), fresh.fill(locals));
        self.add_thread(state, entry, vars, vec![self.frame(proc, locals)]);
    }

    /// A frame at the beginning of a procedure.
    fn frame(&self, proc: ProcId, locals: Vec<Value>) -> Frame {
        Frame { proc, loc: self.program.procs[proc].entry, call: None, locals }
    }

    fn add_thread(&self, state: &mut State, entry: Option<EntryId>, vars: Vec<Value>, stack: Vec<Frame>) {
        state.threads.push(Thread { id: ThreadId(state.next_thread), entry, vars, stack });
        state.next_thread += 1;
    }

    /// Returns whether one more thread may live. The prelude's does not count.
    pub(crate) fn has_room(&self, state: &State) -> bool {
        match self.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) => state.threads.len() - usize::from(state.prelude.is_some()) < bound as usize,
            ThreadScope::Created(bound) => state.next_thread - u32::from(self.program.prelude.is_some()) < bound,
        }
    }

    /// Returns whether the program and the thread bound allow these initial threads.
    fn check_threads(&self, threads: &[StartThread]) -> Result<(), Illegal> {
        let within = match self.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => threads.len() <= bound as usize,
        };
        let known = threads.iter().all(|thread| thread.entry.index() < self.program.entries.len());
        let n_threads = |id: EntryId| threads.iter().filter(|thread| thread.entry == id).count();
        let counted = self.program.entries.iter_enumerated().all(|(id, entry)| entry.count.allows(n_threads(id)));
        if within && known && counted { Ok(()) } else { Err(Illegal::WrongThreads) }
    }
}

/// A step in a state, or a start, which reads shared variables only. The other threads are numbered in their order, the
/// moving one left out.
pub(crate) struct StepScene<'a> {
    pub(crate) interpreter: &'a Interpreter<'a>,
    pub(crate) state: &'a State,
    /// The position of the moving thread; of no meaning at a start.
    pub(crate) position: usize,
    pub(crate) choices: &'a [Value],
    /// For each other thread that takes part, its choices.
    pub(crate) passive: &'a [Vec<Value>],
}

/// The position of another thread in the list of live threads.
fn other_position(other: usize, mover: usize) -> usize {
    if other < mover { other } else { other + 1 }
}

impl StepScene<'_> {
    /// Checks that there is a value of its type for each choice of an operation, also for each thread that takes part.
    fn check_choices(&self, op: &Op) -> Result<(), Illegal> {
        let types = choice_types(exprs(op));
        check_choices(&types, self.choices)?;
        let n_participants = if let Op::Assign(assign) = op { participants(assign, self).len() } else { 0 };
        if self.passive.len() != n_participants {
            return Err(Illegal::WrongChoices);
        }
        self.passive.iter().try_for_each(|choices| check_choices(&types, choices))
    }
}

impl Scene<Concrete> for StepScene<'_> {
    fn read(&mut self, _: &mut Concrete, var: VarId) -> Result<Value, NoValue> {
        Ok(self.interpreter.layout.read(self.state, self.position, var))
    }

    fn choice(&mut self, _: &mut Concrete, number: u32) -> Result<Value, NoValue> {
        Ok(self.choices[number as usize])
    }

    fn read_below(&mut self, _: &mut Concrete, var: VarId) -> Result<Value, NoValue> {
        Ok(self.interpreter.layout.read_below(self.state, self.position, var))
    }

    fn n_others(&self) -> usize {
        self.state.threads.len() - 1
    }

    fn has(&self, other: usize, var: VarId) -> bool {
        self.interpreter.layout.has(&self.state.threads[other_position(other, self.position)], var)
    }

    fn read_other(&mut self, _: &mut Concrete, other: usize, var: VarId) -> Result<Value, NoValue> {
        Ok(self.interpreter.layout.read(self.state, other_position(other, self.position), var))
    }

    fn choice_for(&mut self, _: &mut Concrete, number_of: usize, number: u32) -> Result<Value, NoValue> {
        Ok(self.passive[number_of][number as usize])
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

    /// The values of variables in the order of a list. For one that starts with any value the given one is taken, or
    /// the default.
    fn fill(&mut self, writes: Writes<Value>) -> Vec<Value> {
        let mut take = |var: VarId| {
            self.taken.push(var);
            let given = self.fresh.iter().find(|(given, _)| *given == var);
            given.map_or(default_value(self.program.vars[var].ty), |(_, value)| *value)
        };
        writes.into_iter().map(|(var, value)| value.unwrap_or_else(|| take(var))).collect()
    }

    /// Every given value was taken, once, and has its variable's type.
    fn finish(self) -> Result<(), Illegal> {
        for (number, (var, value)) in self.fresh.iter().enumerate() {
            let repeated = self.fresh[..number].iter().any(|(earlier, _)| earlier == var);
            if repeated || !self.taken.contains(var) || !is_of(*value, self.program.vars[*var].ty) {
                return Err(Illegal::WrongFresh(*var));
            }
        }
        Ok(())
    }
}

fn check_choices(types: &[Ty], choices: &[Value]) -> Result<(), Illegal> {
    let fit = types.len() == choices.len() && types.iter().zip(choices).all(|(ty, value)| is_of(*value, *ty));
    if fit { Ok(()) } else { Err(Illegal::WrongChoices) }
}

//! An execution with annotations: for each step its place, its thread, and its effects.
//!
//! The states come from the interpreter; a step's effects are read off the difference of two of them. So a report can
//! leave things out, but cannot claim a change that did not happen.

use std::collections::BTreeSet;

use selvedge_check::{Counterexample, Irrelevant};
use selvedge_ir::flow::Flow;
use selvedge_ir::span::{Role, Span};
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Value, VarId};
use selvedge_replay::{Frame, State, Thread, Violation};

use crate::Position;
use crate::lanes::{Process, process, processes};
use crate::names::{Names, vars_of};
use crate::system_vars::SystemVars;
use crate::thread_names::ThreadNames;
use crate::views::{Holders, depth, follow, is_hidden, is_wrapper, word};
use crate::waits::Wait;
pub use selvedge_frontend::Context;

/// An execution with its states.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    pub steps: &'a [Step],
    pub start: &'a State,
    /// The state after each step; the last step has none if it fails an assertion.
    pub states: &'a [State],
    /// The error in which it ends, if any.
    pub violation: Option<&'a Violation>,
    /// The values in it that do not matter, where that is known.
    pub irrelevant: Option<&'a Irrelevant>,
}

impl<'a> Execution<'a> {
    /// The execution of a counterexample, without the bodies that its calls may share.
    pub fn of(found: &'a Counterexample) -> Execution<'a> {
        let Counterexample { trace, replay, irrelevant } = found;
        Execution {
            steps: &trace.steps,
            start: &replay.start,
            states: &replay.states,
            violation: Some(&replay.violation),
            irrelevant: Some(irrelevant),
        }
    }
}

/// An execution with annotations.
#[derive(Clone, Debug)]
pub struct AnnotatedTrace {
    /// The shared variables at the start.
    pub shared: Vec<Binding>,
    /// The threads at the start.
    pub threads: Vec<StartedThread>,
    /// The thread that runs the prelude, if there is one.
    pub prelude: Option<ThreadId>,
    /// The names of all threads that live at some time.
    pub names: ThreadNames,
    pub steps: Vec<AnnotatedStep>,
    pub ending: Option<Ending>,
}

/// A variable with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub var: VarId,
    pub name: String,
    pub value: Value,
    /// The name of the value, if it has one.
    pub word: Option<String>,
    /// Set if the value does not matter.
    pub free: bool,
}

/// A thread that came to life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedThread {
    pub thread: ThreadId,
    pub name: String,
    /// The kind of initial thread that it is or descends from.
    pub entry: Option<EntryId>,
    /// The variables that it begins with; empty for a copy of another thread.
    pub bindings: Vec<Binding>,
}

/// A step with annotations.
#[derive(Clone, Debug)]
pub struct AnnotatedStep {
    pub thread: ThreadId,
    /// The name of the thread.
    pub name: String,
    pub edge: EdgeId,
    pub role: Role,
    pub position: Position,
    /// The statement on one line.
    pub text: String,
    /// The name of the command, if it has one.
    pub command: Option<String>,
    /// The process, for commands of one.
    pub process: Option<Process>,
    /// The procedure, and the number of callers below it.
    pub proc: String,
    pub depth: usize,
    /// Set if the thread holds the atomic flag before or after the step.
    pub atomic: bool,
    /// Set if the step can have no effect but to go on: `skip`, `goto`.
    pub idle: bool,
    pub events: Vec<Event>,
    pub changes: Vec<Change>,
    /// The number of the last step of the execution that is part of it, from 0.
    pub last: usize,
}

/// An effect of a step other than an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The condition of an `if` or `while` held, or did not.
    Condition(bool),
    /// Called a procedure, with these values of its parameters and other locals.
    Calls { proc: String, params: Vec<Binding>, locals: Vec<Binding> },
    /// Called a procedure, ran it and returned, all in one line: the trace shares the body with other calls.
    WholeCall(String),
    /// Returned from a procedure to its caller.
    Returns(String),
    /// A thread came to life.
    Starts(StartedThread),
    /// Would have started a thread, but the limit on threads is reached.
    NoRoom,
    /// The thread ended.
    Ends,
    /// Failed its assertion.
    AssertionFails,
    /// Read these shared variables, for later steps of its statement.
    Reads(Vec<Binding>),
    /// Wrote the values that shared variables had before.
    Keeps(Vec<Binding>),
    /// A function without a body returned a value.
    Input { function: String, value: Value, free: bool },
}

/// A variable got another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub var: VarId,
    pub name: String,
    /// The owner of the copy with its name, if it is a thread other than the one that moved.
    pub of: Option<(ThreadId, String)>,
    /// `None` for a first value.
    pub before: Option<Value>,
    pub after: Value,
    /// The names of the two values, if they have some.
    pub words: [Option<String>; 2],
    /// Set if the new value does not matter.
    pub free: bool,
}

/// The error at the end.
#[derive(Clone, Debug)]
pub struct Ending {
    pub thread: ThreadId,
    /// The name of the thread, and the procedure that it has called and is in, if it has called one.
    pub name: String,
    pub callee: Option<String>,
    pub position: Position,
    pub span: Span,
    pub text: String,
    /// What is wrong, where it is not an assertion of the program that fails.
    pub note: Option<String>,
    pub error: ReachedError,
}

#[derive(Clone, Debug)]
pub enum ReachedError {
    /// An assertion fails; its variables and choices have these values.
    Assertion { edge: EdgeId, operands: Vec<Operand> },
    /// A location with these labels is reached.
    Location { labels: Vec<String> },
    /// A target of a system is covered: the states that it asks for, by name.
    Target { states: Vec<Operand> },
    /// Several threads are at labels at once.
    Together(Vec<Stand>),
    /// No thread can move.
    Deadlock(Vec<Wait>),
}

/// A thread of a meeting, and its position.
#[derive(Clone, Debug)]
pub struct Stand {
    pub thread: ThreadId,
    pub name: String,
    pub position: Position,
    pub labels: Vec<String>,
}

/// An operand of a failed assertion: a variable, or a choice, which is written `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub name: String,
    pub value: Value,
    /// The name of the value, if it has one.
    pub word: Option<String>,
}

impl AnnotatedTrace {
    /// Tells an execution.
    pub fn new(context: Context<'_>, execution: Execution<'_>) -> AnnotatedTrace {
        let annotator = Annotator::new(context);
        let names = ThreadNames::new(context, std::iter::once(execution.start).chain(execution.states));
        let befores = std::iter::once(execution.start).chain(execution.states);
        let afters = execution.states.iter().map(Some).chain(std::iter::once(None));
        let mut holders = Holders::new();
        let mut steps = Vec::with_capacity(execution.steps.len());
        for ((step, before), after) in execution.steps.iter().zip(befores).zip(afters) {
            let told = annotator.step(&names, &holders, step, before, after);
            follow(context.map, &mut holders, &names, told.thread, &told.changes);
            steps.push(AnnotatedStep { last: steps.len(), ..told });
        }
        let mut annotated = AnnotatedTrace {
            shared: annotator.shared(&Holders::new(), execution.start),
            threads: execution.start.threads.iter().map(|thread| annotator.newcomer(&names, thread)).collect(),
            prelude: execution.start.prelude.as_ref().map(|prelude| prelude.thread),
            steps,
            ending: execution.violation.map(|violation| annotator.ending(&names, violation, execution)),
            names,
        };
        if let Some(irrelevant) = execution.irrelevant {
            annotated.mark(context.program, irrelevant);
        }
        annotated
    }

    /// Marks the values that do not matter: those with which something starts, and those that a step chooses and
    /// assigns as they are.
    fn mark(&mut self, program: &Program, irrelevant: &Irrelevant) {
        self.shared.iter_mut().for_each(|binding| binding.free = irrelevant.shared.contains(&binding.var));
        for (place, thread) in self.threads.iter_mut().enumerate() {
            for binding in &mut thread.bindings {
                binding.free = irrelevant.threads.contains(&(place, binding.var));
            }
        }
        for (number, told) in self.steps.iter_mut().enumerate() {
            let chosen = |var: VarId| match &program.edges[told.edge].op {
                Op::Assign(assign) => assign.active.iter().any(|(assigned, rhs)| match rhs {
                    Expr::Choice(choice, _) => {
                        *assigned == var && irrelevant.choices.contains(&(number, *choice as usize))
                    }
                    _ => false,
                }),
                _ => false,
            };
            for change in told.changes.iter_mut().filter(|change| change.of.is_none()) {
                change.free = chosen(change.var);
            }
            for event in &mut told.events {
                if let Event::Input { free, .. } = event {
                    *free = irrelevant.choices.contains(&(number, 0));
                }
                let (Event::Starts(StartedThread { bindings, .. }) | Event::Calls { locals: bindings, .. }) = event
                else {
                    continue;
                };
                bindings.iter_mut().for_each(|one| one.free = irrelevant.fresh.contains(&(number, one.var)));
            }
        }
    }

    /// Returns how often another thread takes over. The end of the prelude is none: before it there is no other thread.
    pub fn switches(&self) -> usize {
        let has_processes = self.n_processes() > 0;
        let moves = self.steps.iter().filter(|step| step.process.is_some() || !has_processes);
        let moves: Vec<&AnnotatedStep> = moves.collect();
        let is_switch = |pair: &&[&AnnotatedStep]| pair[0].lane() != pair[1].lane() && !self.is_prelude(pair[0].thread);
        moves.windows(2).filter(is_switch).count()
    }

    /// Returns how many processes make steps.
    pub fn n_processes(&self) -> usize {
        let names = self.steps.iter().filter_map(|step| step.process.as_ref()).map(|process| process.number);
        names.collect::<BTreeSet<u32>>().len()
    }

    /// Returns how many threads move, without the prelude's.
    pub fn movers(&self) -> usize {
        let movers: BTreeSet<ThreadId> = self.steps.iter().map(|step| step.thread).collect();
        movers.into_iter().filter(|thread| !self.is_prelude(*thread)).count()
    }

    /// Returns how many threads live at some time, without the prelude's.
    pub fn n_threads(&self) -> usize {
        self.names.all().filter(|(thread, _)| !self.is_prelude(*thread)).count()
    }

    /// Returns whether a thread runs the prelude.
    pub fn is_prelude(&self, thread: ThreadId) -> bool {
        self.prelude == Some(thread)
    }
}

/// Knows the program and looks up what steps mean in it.
pub(crate) struct Annotator<'a> {
    context: Context<'a>,
    names: Names<'a>,
    flow: Flow,
    /// The shared variables and the per-thread ones, those of a system included.
    pub(crate) shared: Vec<VarId>,
    pub(crate) thread_vars: Vec<VarId>,
    pub(crate) system: SystemVars<'a>,
    /// Locals whose initial value is assigned at the entry of their procedure: what they hold before does not matter.
    initialised: BTreeSet<VarId>,
    processes: Vec<String>,
}

impl<'a> Annotator<'a> {
    pub(crate) fn new(context: Context<'a>) -> Annotator<'a> {
        let program = context.program;
        let names = Names::new(program);
        let system = SystemVars::new(context);
        let vars = |scope: Scope| vars_of(program, scope).into_iter().chain(system.of_scope(scope)).collect();
        let (shared, thread_vars) = (vars(Scope::Shared), vars(Scope::Thread));
        Annotator {
            processes: processes(context.map, |var| names.of(var)),
            names,
            flow: Flow::new(program),
            shared,
            thread_vars,
            system,
            initialised: initialised_locals(context),
            context,
        }
    }

    pub(crate) fn shared(&self, holders: &Holders, state: &State) -> Vec<Binding> {
        let values = self.shared_values(state);
        let all = self.shared.iter().zip(values).filter(|(var, _)| !is_hidden(self.context.map, **var));
        all.map(|(var, value)| self.binding(holders, *var, value)).collect()
    }

    /// Returns the values of the shared variables, those of a system included.
    pub(crate) fn shared_values(&self, state: &State) -> Vec<Value> {
        state.shared.iter().copied().chain(self.system.shared(state)).collect()
    }

    /// Returns the values of a thread's variables, those of a system included.
    pub(crate) fn thread_values(&self, thread: &Thread) -> Vec<Value> {
        thread.vars.iter().copied().chain(self.system.of_thread(thread)).collect()
    }

    /// Returns the name of a variable.
    pub(crate) fn name(&self, var: VarId) -> String {
        self.system.name(var).map_or_else(|| self.names.of(var), str::to_owned)
    }

    /// Returns whether a step is part of a procedure that the source does not have.
    pub(crate) fn is_unseen(&self, edge: EdgeId) -> bool {
        let program = self.context.program;
        is_wrapper(self.context.map, program.locs[program.edges[edge].from].proc)
    }

    /// Returns the source positions of the program's parts.
    pub(crate) fn context(&self) -> Context<'a> {
        self.context
    }

    /// The per-thread variables that the thread uses.
    pub(crate) fn thread_vars(&self, thread: &Thread) -> Vec<Binding> {
        let used: &[VarId] = thread.entry.map_or(&[], |entry| &self.context.program.entries[entry].thread_vars);
        let all = self.thread_vars.iter().zip(self.thread_values(thread));
        let is_used = |var: &VarId| used.contains(var) || self.system.name(*var).is_some();
        let shown = all.filter(|(var, _)| is_used(var) && !is_hidden(self.context.map, **var));
        shown.map(|(var, value)| self.binding(&Holders::new(), *var, value)).collect()
    }

    /// The variables of a frame.
    pub(crate) fn locals(&self, frame: &Frame) -> Vec<Binding> {
        let locals = self.context.program.procs[frame.proc].locals.iter().zip(&frame.locals);
        let shown = locals.filter(|(var, _)| !is_hidden(self.context.map, **var));
        shown.map(|(var, value)| self.binding(&Holders::new(), *var, *value)).collect()
    }

    /// Returns the position of a location in the source: the first of the statements that leave it.
    pub(crate) fn place(&self, loc: LocId) -> Option<Span> {
        let Context { program, map, .. } = self.context;
        let next = self.flow.out(loc).iter().map(|edge| map.edges[*edge].span).min();
        // Where a thread stays for ever, the step that led there says why.
        let last = || {
            let mut known = map.notes.keys().filter(|edge| program.edges[**edge].to == loc);
            known.next().map(|edge| map.edges[*edge].span)
        };
        next.or_else(last)
    }

    /// Returns the line and column at which a part of the source begins.
    pub(crate) fn position(&self, span: Span) -> Position {
        self.context.source.position(span.start as usize)
    }

    /// Lists the edges that leave a location.
    pub(crate) fn leaving(&self, loc: LocId) -> &[EdgeId] {
        self.flow.out(loc)
    }

    pub(crate) fn op(&self, edge: EdgeId) -> &'a Op {
        &self.context.program.edges[edge].op
    }

    pub(crate) fn proc_name(&self, proc: ProcId) -> &'a str {
        &self.context.program.procs[proc].name
    }

    pub(crate) fn binding(&self, holders: &Holders, var: VarId, value: Value) -> Binding {
        Binding { var, name: self.name(var), value, word: self.word(holders, var, value), free: false }
    }

    pub(crate) fn word(&self, holders: &Holders, var: VarId, value: Value) -> Option<String> {
        self.system.word(var, value).or_else(|| word(self.context.map, holders, var, value))
    }

    fn newcomer(&self, names: &ThreadNames, thread: &Thread) -> StartedThread {
        let frame = thread.top();
        let locals = self.locals(frame).into_iter().filter(|local| !self.initialised.contains(&local.var));
        let bindings = self.thread_vars(thread).into_iter().chain(locals).collect();
        StartedThread { thread: thread.id, name: names.of(thread.id), entry: thread.entry, bindings }
    }

    pub(crate) fn step(
        &self,
        names: &ThreadNames,
        holders: &Holders,
        step: &Step,
        before: &State,
        after: Option<&State>,
    ) -> AnnotatedStep {
        let program = self.context.program;
        let origin = self.context.map.edges[step.edge];
        let thread = before.thread(step.thread).expect("an executed step is one of a live thread");
        let op = &program.edges[step.edge].op;
        let holds_flag = |state: &State| state.holder == Some(step.thread);
        AnnotatedStep {
            thread: step.thread,
            name: names.of(step.thread),
            edge: step.edge,
            role: origin.role,
            position: self.context.source.position_in_file(origin.span.start as usize),
            text: self.text(step.edge),
            command: self.context.map.commands.get(&step.edge).cloned(),
            process: process(self.context.map, &self.processes, step.edge),
            proc: self.proc_name(thread.top().proc).to_string(),
            depth: depth(self.context.map, thread),
            atomic: holds_flag(before) || after.is_some_and(holds_flag),
            idle: *op == Op::skip() && matches!(origin.role, Role::Statement),
            events: self.events(names, step, before, after),
            changes: after.map_or(Vec::new(), |after| self.changes(names, holders, step, before, after)),
            last: 0,
        }
    }

    /// The statement of an edge on one line. Of declarations only the initial value has a place; the rest is added. A
    /// command of a process says whose it is.
    pub(crate) fn text(&self, edge: EdgeId) -> String {
        let origin = self.context.map.edges[edge];
        let text = self.context.statement(edge);
        let is_assert = matches!(self.context.program.edges[edge].op, Op::Assert(_));
        if let Some(note) = self.context.map.notes.get(&edge).filter(|_| !is_assert) {
            return format!("{text} ({note})");
        }
        let text = match self.context.map.commands.get(&edge) {
            Some(command) if text.is_empty() => command.clone(),
            Some(command) if text.starts_with("at ") => {
                format!("{} {text}", command.split('.').next().unwrap_or_default())
            }
            _ => text,
        };
        let Op::Assign(assign) = &self.context.program.edges[edge].op else { return text };
        let names: Vec<&str> =
            assign.active.iter().map(|(var, _)| self.context.program.vars[*var].name.as_str()).collect();
        match (origin.role, names.as_slice()) {
            (Role::Initialise, [name]) => format!("decl {name} := {text}"),
            (Role::Initialise, names) => format!("decl {}", names.join(", ")),
            _ => text,
        }
    }

    fn events(&self, names: &ThreadNames, step: &Step, before: &State, after: Option<&State>) -> Vec<Event> {
        let op = &self.context.program.edges[step.edge].op;
        let mut events = match self.context.map.edges[step.edge].role {
            Role::Holds => vec![Event::Condition(true)],
            Role::Fails => vec![Event::Condition(false)],
            Role::Statement | Role::Initialise | Role::Enforce | Role::FallOff | Role::Section | Role::Violation => {
                Vec::new()
            }
        };
        let Some(after) = after else {
            events.push(Event::AssertionFails);
            return events;
        };
        events.extend(self.input(step));
        events.extend(self.reads(step, before));
        events.extend(self.keeps(step, before));
        let newcomers = after.threads.iter().filter(|thread| before.thread(thread.id).is_none());
        let is_copy = matches!(op, Op::Fork(_));
        let starts = newcomers.map(|thread| self.newcomer(names, thread)).map(|newcomer| StartedThread {
            bindings: if is_copy && self.context.map.system.is_none() { Vec::new() } else { newcomer.bindings },
            ..newcomer
        });
        let starts: Vec<Event> = starts.map(Event::Starts).collect();
        let ended = after.thread(step.thread).is_none();
        match op {
            Op::Call(call) if step.body.is_some() => {
                events.push(Event::WholeCall(self.proc_name(call.callee).to_string()));
            }
            Op::Call(call) => events.push(self.call(call.callee, after.thread(step.thread))),
            Op::Return(_) if after.thread(step.thread).is_some_and(|thread| self.is_unseen_frame(thread)) => {
                events.push(Event::Ends);
            }
            Op::Return(_) if !ended => {
                let from = before.thread(step.thread).map(|thread| thread.top().proc);
                events.extend(from.map(|proc| Event::Returns(self.proc_name(proc).to_string())));
            }
            Op::Spawn(_) | Op::Fork(_) if starts.is_empty() => events.push(Event::NoRoom),
            _ => {}
        }
        events.extend(ended.then_some(Event::Ends));
        events.extend(starts);
        events
    }

    fn is_unseen_frame(&self, thread: &Thread) -> bool {
        is_wrapper(self.context.map, thread.top().proc)
    }

    fn call(&self, callee: ProcId, thread: Option<&Thread>) -> Event {
        let params = &self.context.program.procs[callee].params;
        let frame = thread.map_or(Vec::new(), |thread| self.locals(thread.top()));
        let (params, locals) = frame.into_iter().partition(|local| params.contains(&local.var));
        let mut locals: Vec<Binding> = locals;
        locals.retain(|local| !self.initialised.contains(&local.var));
        Event::Calls { proc: self.proc_name(callee).to_string(), params, locals }
    }

    /// All variables that a thread sees, and those that the source does not have.
    pub(crate) fn visible(&self, state: &State, thread: &Thread) -> Vec<Binding> {
        let program = self.context.program;
        let frame = thread.top();
        let locals = program.procs[frame.proc].locals.iter().zip(&frame.locals);
        let all = locals.chain(self.thread_vars.iter().zip(&thread.vars)).chain(self.shared.iter().zip(&state.shared));
        all.map(|(var, value)| self.binding(&Holders::new(), *var, *value)).collect()
    }
}

fn initialised_locals(context: Context<'_>) -> BTreeSet<VarId> {
    let origins = context.map.edges.iter_enumerated().filter(|(_, origin)| origin.role == Role::Initialise);
    let assigns = origins.filter_map(|(id, _)| match &context.program.edges[id].op {
        Op::Assign(assign) => Some(assign),
        _ => None,
    });
    assigns.flat_map(|assign| assign.active.iter().map(|(var, _)| *var)).collect()
}

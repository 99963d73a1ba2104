//! Executions as the model checker BOOM printed them, for SatAbs, which reads them.
//!
//! A line per executed statement, with all values *before* it: `TRACE t=1 l3 PC7 b0=1 main::b1=0 main::b1=1 TAKEN=0`.
//! Shared variables come once, then for each thread that was ever created, ended ones included, its own variables:
//! those of the procedure that it runs, or ran last. So each name occurs once per thread, by which SatAbs tells the
//! threads apart. All values are those of the replayed execution. What belongs to no statement (initial values,
//! `enforce`, the end of a procedure, steps that only take or release the atomic flag) has no line.

use std::fmt::Write as _;

use selvedge_check::{Answer, Counterexample, Outcome, ThreadScope};
use selvedge_ir::span::Role;
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{LocId, Op, Program, Scope, VarId};
use selvedge_replay::{State, Thread, Violation, replay};

use crate::annotated_trace::{Context, Execution};
use crate::names::vars_of;

/// The longest execution that is written out where calls share their bodies.
const MAX_STEPS: u128 = 1_000_000;

/// The details that are printed beside the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The execution to the error.
    Trace,
    /// Nothing.
    Verdict,
}

/// Returns the whole answer; `None` if there is none, or the execution is too long to be written.
pub fn answer(context: Context<'_>, answer: &Answer, detail: Detail) -> Option<String> {
    let bound = match answer.model.threads {
        ThreadScope::Created(bound) | ThreadScope::AtMost(bound) => format!("threadbound={bound}\n"),
        ThreadScope::Unbounded => String::new(),
    };
    match (&answer.outcome, detail) {
        (Outcome::Safe(_), _) => Some(format!("{bound}VERIFICATION SUCCESSFUL\n")),
        (Outcome::Unsafe(_), Detail::Verdict) => Some(format!("{bound}VERIFICATION FAILED\n")),
        (Outcome::Unsafe(found), Detail::Trace) => {
            Some(format!("{bound}{}VERIFICATION FAILED\n", counterexample(context, answer, found)?))
        }
        (Outcome::Unknown(_), _) => None,
    }
}

fn counterexample(context: Context<'_>, answer: &Answer, found: &Counterexample) -> Option<String> {
    if found.trace.bodies.is_empty() {
        return Some(trace(context, Execution::of(found)));
    }
    if found.trace.length() > MAX_STEPS {
        return None;
    }
    let long = found.trace.written_out();
    let replayed =
        replay(&answer.model.task(), &long).expect("an execution that is written out is the one that was judged");
    Some(trace(context, Execution::of(&Counterexample::new(long, replayed))))
}

/// The lines of an execution.
pub fn trace(context: Context<'_>, execution: Execution<'_>) -> String {
    let shared = vars_of(context.program, Scope::Shared);
    let mut scribe = Scribe { context, shared, threads: Vec::new(), began: None };
    let befores = std::iter::once(execution.start).chain(execution.states);
    let mut text = String::new();
    for (step, before) in execution.steps.iter().zip(befores) {
        scribe.see(before);
        text.push_str(&scribe.step(step, before).unwrap_or_default());
    }
    if let Some(Violation::Location { thread, loc }) = execution.violation {
        let last = execution.states.last().unwrap_or(execution.start);
        scribe.see(last);
        text.push_str(&scribe.line(*thread, *loc, last, None));
    }
    text
}

/// Writes lines.
struct Scribe<'a> {
    context: Context<'a>,
    shared: Vec<VarId>,
    /// All threads that were created so far, as they were last seen, by number.
    threads: Vec<Thread>,
    /// The location of the statement that begins with the step before: the thread has taken the atomic flag for it.
    began: Option<LocId>,
}

impl Scribe<'_> {
    /// Notes how the threads are now. Those that have ended stay as they were.
    fn see(&mut self, state: &State) {
        for thread in &state.threads {
            let number = thread.id.0 as usize;
            match self.threads.get_mut(number) {
                Some(known) => known.clone_from(thread),
                None => self.threads.push(thread.clone()),
            }
            debug_assert_eq!(self.threads[number].id, thread.id, "threads are created in the order of their numbers");
        }
    }

    /// The line of a step, if it is one of a statement.
    fn step(&mut self, step: &Step, before: &State) -> Option<String> {
        let edge = &self.context.program.edges[step.edge];
        let began = self.began.take();
        let taken = match self.context.map.edges[step.edge].role {
            Role::Statement => None,
            Role::Holds => Some(true),
            Role::Fails => Some(false),
            Role::Section => {
                self.began = (edge.op == Op::AtomicBegin).then_some(edge.from);
                return None;
            }
            Role::Initialise | Role::Enforce | Role::FallOff | Role::Violation => return None,
        };
        Some(self.line(step.thread, began.unwrap_or(edge.from), before, taken))
    }

    fn line(&self, thread: ThreadId, loc: LocId, state: &State, taken: Option<bool>) -> String {
        let program = self.context.program;
        let mut line = format!("TRACE t={}", thread.0);
        for label in labels(program, loc) {
            let _ = write!(line, " {label}");
        }
        for (var, value) in self.shared.iter().zip(&state.shared) {
            let _ = write!(line, " {}={}", program.vars[*var].name, value.number());
        }
        self.threads.iter().for_each(|thread| write_locals(program, thread, &mut line));
        if let Some(taken) = taken {
            let _ = write!(line, " TAKEN={}", u8::from(taken));
        }
        line.push('\n');
        line
    }
}

/// The per-thread variables of a thread, and the variables of the procedure that it runs.
fn write_locals(program: &Program, thread: &Thread, line: &mut String) {
    let used: &[VarId] = thread.entry.map_or(&[], |entry| &program.entries[entry].thread_vars);
    let per_thread = program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread);
    for ((_, decl), value) in per_thread.zip(&thread.vars).filter(|((var, _), _)| used.contains(var)) {
        let _ = write!(line, " {}={}", decl.name, value.number());
    }
    let frame = thread.top();
    let proc = &program.procs[frame.proc];
    for (var, value) in proc.locals.iter().zip(&frame.locals) {
        let _ = write!(line, " {}::{}={}", proc.name, program.vars[*var].name, value.number());
    }
}

/// Returns the labels of a statement, in the order of the text. Of those that name the SatAbs instruction that it comes
/// from, only the last one: the reader keeps no other.
fn labels(program: &Program, loc: LocId) -> Vec<&str> {
    let mut labels: Vec<&str> =
        program.labels.iter().filter(|label| label.loc == loc).map(|label| &*label.name).collect();
    let last = labels.iter().rposition(|label| label.starts_with("PC"));
    let mut place = 0;
    labels.retain(|label| {
        place += 1;
        !label.starts_with("PC") || Some(place - 1) == last
    });
    labels
}

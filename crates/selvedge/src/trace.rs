//! Executions to errors.

use std::fmt;

use selvedge_check::{Counterexample, OwnedTask};
use selvedge_frontend::Source;
use selvedge_ir::span::Span;
use selvedge_replay::replay::replay;
use selvedge_report::annotated_trace::{self, AnnotatedTrace, Ending, ReachedError};
use selvedge_report::json::{self, TraceFile, read_saved};
use selvedge_report::text::event_text;
use selvedge_report::{Context, Execution};

use crate::evidence::{SavedEvidence, judge};
use crate::{Error, Limits, Program, Question};

/// An execution to an error, which was replayed on the program.
#[derive(Clone, Debug)]
pub struct Trace {
    file: TraceFile,
    steps: Vec<Step>,
    failure: Failure,
}

/// A statement that a thread executes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The name of the thread: `main`, `worker#2`.
    pub thread: String,
    /// The procedure.
    pub procedure: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The statement, on one line.
    pub statement: String,
    /// The variables that got other values.
    pub changes: Vec<Change>,
    /// What else happened: calls, threads that start and end, conditions.
    pub notes: Vec<String>,
}

/// A variable that got another value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The variable.
    pub variable: String,
    /// The value before; `None` for the first one.
    pub before: Option<Value>,
    /// The value after.
    pub after: Value,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
}

/// The error at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// What is wrong: `assertion fails`, `label ERROR is reached`, `deadlock`, ..
    pub what: String,
    /// The name of the thread, or of one of them.
    pub thread: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The statement, on one line.
    pub statement: String,
}

impl Trace {
    pub(crate) fn new(context: Context<'_>, file: TraceFile, found: &Counterexample) -> Trace {
        let told = AnnotatedTrace::by_statements(context, Execution::of(found));
        let ending = told.ending.as_ref().expect("the execution of an error ends in one");
        Trace {
            file,
            steps: told.steps.iter().map(|step| Step::new(context, step)).collect(),
            failure: Failure::new(context.source, ending),
        }
    }

    /// Reads a trace from JSON, or the first one in a report, and replays it on a program. It must answer this
    /// question.
    pub fn from_json(text: &str, program: &Program, question: &Question, limits: &Limits) -> Result<Trace, Error> {
        let file = read_saved(text).map_err(|error| Error::Rejected(error.to_string()))?;
        judge(SavedEvidence::Trace(file), program, question, limits, |posed, file| {
            let SavedEvidence::Trace(file) = file else { unreachable!("the evidence is a trace") };
            let found = replayed(&posed.task, &file)?;
            Ok(Trace::new(posed.context(), file, &found))
        })
    }

    /// Returns the steps, one for each statement.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the error at the end.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// Returns the trace in the format that `selvedge replay` reads.
    pub fn to_json(&self) -> String {
        json::to_text(&self.file)
    }

    /// Replays the trace on a program, for a question. It must be the question that the trace answers.
    pub fn verify(&self, program: &Program, question: &Question, limits: &Limits) -> Result<(), Error> {
        Trace::from_json(&self.to_json(), program, question, limits).map(drop)
    }

    pub(crate) fn file(&self) -> &TraceFile {
        &self.file
    }
}

/// Executes a saved trace.
pub(crate) fn replayed(task: &OwnedTask, file: &TraceFile) -> Result<Counterexample, Error> {
    let trace = file.trace(&task.program).map_err(|error| Error::Rejected(error.to_string()))?;
    let replayed = replay(&task.task(), &trace);
    let replayed = replayed.map_err(|mismatch| Error::Rejected(format!("the trace does not replay: {mismatch}")))?;
    Ok(Counterexample::new(trace, replayed))
}

/// Returns a place as its file, line and column.
fn place(source: &Source, span: Span) -> (String, usize, usize) {
    let (file, first) = source.part(span.start as usize);
    let position = file.position(span.start as usize - first);
    (file.name.clone(), position.line, position.column)
}

impl Step {
    fn new(context: Context<'_>, step: &annotated_trace::AnnotatedStep) -> Step {
        let (file, line, column) = place(context.source, context.map.edges[step.edge].span);
        Step {
            thread: step.name.clone(),
            procedure: step.proc.clone(),
            file,
            line,
            column,
            statement: step.text.clone(),
            changes: step.changes.iter().map(Change::new).collect(),
            notes: step.events.iter().map(|event| event_text(&step.name, event)).collect(),
        }
    }
}

impl Change {
    fn new(change: &annotated_trace::Change) -> Change {
        let variable = match &change.of {
            Some((_, owner)) => format!("{} of {owner}", change.name),
            None => change.name.clone(),
        };
        Change { variable, before: change.before.map(Value::of), after: Value::of(change.after) }
    }
}

impl Failure {
    fn new(source: &Source, ending: &Ending) -> Failure {
        let what = match (&ending.error, &ending.note) {
            (ReachedError::Assertion { .. }, Some(note)) => note.clone(),
            (ReachedError::Assertion { .. }, None) => "assertion fails".to_string(),
            (ReachedError::Location { labels }, _) => format!("label {} is reached", labels.join(", ")),
            (ReachedError::Target { .. }, _) => "the target is covered".to_string(),
            (ReachedError::Together(stands), _) => {
                let at = |stand: &annotated_trace::Stand| format!("{} at {}", stand.name, stand.labels.join(", "));
                format!("threads meet: {}", stands.iter().map(at).collect::<Vec<_>>().join("; "))
            }
            (ReachedError::Deadlock(_), _) => "deadlock".to_string(),
        };
        let (file, line, column) = place(source, ending.span);
        Failure { what, thread: ending.name.clone(), file, line, column, statement: ending.text.clone() }
    }
}

impl Value {
    fn of(value: selvedge_ir::Value) -> Value {
        match value {
            selvedge_ir::Value::Bool(value) => Value::Bool(value),
            number => Value::Int(number.number()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{}", u8::from(*value)),
            Value::Int(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.before {
            Some(before) => write!(f, "{}: {before} -> {}", self.variable, self.after),
            None => write!(f, "{} = {}", self.variable, self.after),
        }
    }
}

//! Traces as JSON. A trace names the question under which it was found. Whoever replays it asks a question of their
//! own; the one in the file only tells them that theirs is another.
//!
//! Edges and variables are given by number, which is what counts, and by line, text and name, for people and to notice
//! that a trace does not belong to a program.

use selvedge_check::{Counterexample, Irrelevant};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EdgeId, EntryId, Expr, Program, Scope, Ty, Value, VarId};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::question::QuestionView;
use super::{GENERATOR, VERSION, ValueView, add, list, read};
use crate::annotated_trace::{
    AnnotatedStep, AnnotatedTrace, Change, Context, Ending, Execution, Operand, ReachedError,
};
use crate::waits::Wait;

const FORMAT: &str = "selvedge-trace";

/// A trace file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Always `selvedge-trace`.
    pub format: String,
    pub version: u32,
    #[serde(default)]
    pub generator: String,
    pub program: ProgramView,
    pub question: QuestionView,
    pub start: StartView,
    pub steps: Vec<StepView>,
    /// Shared bodies of calls, each a list of steps that refers only to bodies before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Vec<StepView>>,
    /// The error at the end: for people, recomputed by whoever replays.
    #[serde(default)]
    pub error: Json,
}

/// The program that a trace or a certificate belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramView {
    pub file: String,
    /// See [`digest`].
    pub digest: String,
    pub edges: usize,
    pub variables: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartView {
    #[serde(default)]
    pub choices: Vec<ValueView>,
    #[serde(default)]
    pub fresh: Vec<FreshView>,
    pub threads: Vec<StartThreadView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartThreadView {
    /// The name of the kind of thread, and its number.
    pub entry: String,
    pub number: u32,
    #[serde(default)]
    pub choices: Vec<ValueView>,
    #[serde(default)]
    pub fresh: Vec<FreshView>,
}

/// The value of a variable that starts with any value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshView {
    pub variable: String,
    /// The procedure of a local; null for shared and per-thread variables.
    pub procedure: Option<String>,
    pub number: u32,
    pub value: ValueView,
    /// Set if the value does not matter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepView {
    pub thread: u32,
    /// The name of the thread, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub edge: u32,
    pub line: usize,
    pub text: String,
    /// The name of the command, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ValueView>,
    /// The numbers of choices that do not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passive: Vec<Vec<ValueView>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fresh: Vec<FreshView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u32>,
    /// The changes: for people, recomputed by a replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Json>,
}

/// Why a text is no trace or certificate, or none of a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the right form; from 1.
    #[error("{line}:{column}: {message}")]
    Syntax { line: usize, column: usize, message: String },
    /// JSON of another format or version.
    #[error("{0}")]
    Format(String),
    /// It does not fit the program: where, and how.
    #[error("{place}: {message}")]
    Mismatch { place: String, message: String },
}

/// A fingerprint of a program's text, to notice that it changed: FNV-1a with 64 bits, in hexadecimal.
pub fn digest(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// Reads a trace file; [`TraceFile::trace`] then fits it to a program.
pub fn read_trace(text: &str) -> Result<TraceFile, ReadError> {
    read(text, FORMAT)
}

/// Reads the execution in a trace file, or the first one in a report.
pub fn read_saved(text: &str) -> Result<TraceFile, ReadError> {
    let whole: Json = serde_json::from_str(text).unwrap_or_default();
    if whole["format"] != "selvedge-report" {
        return read_trace(text);
    }
    let results = whole["results"].as_array().map_or(&[][..], Vec::as_slice);
    let single = results.iter().map(|result| &result["answer"]["trace"]);
    let of_each = results.iter().flat_map(|result| result["each"].as_array().into_iter().flatten());
    let found = single.chain(of_each.map(|each| &each["trace"])).find(|trace| trace.is_object());
    match found {
        Some(trace) => read_trace(&trace.to_string()),
        None => Err(ReadError::Format("the report holds no trace".to_string())),
    }
}

impl ProgramView {
    pub(super) fn new(context: Context<'_>) -> ProgramView {
        ProgramView {
            file: context.source.path.clone(),
            digest: digest(context.source.text()),
            edges: context.program.edges.len(),
            variables: context.program.vars.len(),
        }
    }
}

impl TraceFile {
    /// Writes down a counterexample.
    pub fn new(context: Context<'_>, question: QuestionView, counterexample: &Counterexample) -> TraceFile {
        let trace = &counterexample.trace;
        let execution = Execution::of(counterexample);
        let annotated = AnnotatedTrace::new(context, execution);
        let steps = trace.steps.iter().zip(&annotated.steps).map(|(step, told)| step_view(context, step, Some(told)));
        let body = |steps: &Vec<Step>| steps.iter().map(|step| step_view(context, step, None)).collect();
        TraceFile {
            format: FORMAT.to_string(),
            version: VERSION,
            generator: GENERATOR.to_string(),
            program: ProgramView::new(context),
            question,
            start: start_view(context, &trace.start),
            steps: steps.collect(),
            bodies: trace.bodies.iter().map(body).collect(),
            error: annotated.ending.as_ref().map_or(Json::Null, |ending| error(context, ending)),
        }
        .marked(&counterexample.irrelevant)
    }

    /// Marks the values that do not matter.
    fn marked(mut self, irrelevant: &Irrelevant) -> TraceFile {
        let var = |fresh: &FreshView| VarId::new(fresh.number as usize);
        self.start.fresh.iter_mut().for_each(|fresh| fresh.any = irrelevant.shared.contains(&var(fresh)));
        for (place, thread) in self.start.threads.iter_mut().enumerate() {
            thread.fresh.iter_mut().for_each(|fresh| fresh.any = irrelevant.threads.contains(&(place, var(fresh))));
        }
        for (number, step) in self.steps.iter_mut().enumerate() {
            step.any =
                (0..step.choices.len()).filter(|choice| irrelevant.choices.contains(&(number, *choice))).collect();
            step.fresh.iter_mut().for_each(|fresh| fresh.any = irrelevant.fresh.contains(&(number, var(fresh))));
        }
        self
    }

    /// The trace, whose numbers are checked against a program. Whether it can be executed is for the judge to say.
    pub fn trace(&self, program: &Program) -> Result<Trace, ReadError> {
        let steps = self.steps.iter().enumerate();
        let steps = steps.map(|(number, step)| read_step(program, step, &format!("step {}", number + 1)));
        let body = |(number, steps): (usize, &Vec<StepView>)| -> Result<Vec<Step>, ReadError> {
            let place = |at: usize| format!("body {number}, step {}", at + 1);
            steps.iter().enumerate().map(|(at, step)| read_step(program, step, &place(at))).collect()
        };
        Ok(Trace {
            start: read_start(program, &self.start)?,
            steps: steps.collect::<Result<_, _>>()?,
            bodies: self.bodies.iter().enumerate().map(body).collect::<Result<_, _>>()?,
        })
    }
}

fn start_view(context: Context<'_>, start: &Start) -> StartView {
    let thread = |thread: &StartThread| StartThreadView {
        entry: context.program.entries[thread.entry].name.clone(),
        number: thread.entry.index() as u32,
        choices: values(&thread.choices),
        fresh: fresh_views(context.program, &thread.fresh),
    };
    StartView {
        choices: values(&start.choices),
        fresh: fresh_views(context.program, &start.fresh),
        threads: start.threads.iter().map(thread).collect(),
    }
}

fn fresh_views(program: &Program, fresh: &Fresh) -> Vec<FreshView> {
    let view = |(id, value): &(VarId, Value)| {
        let var = &program.vars[*id];
        let procedure = owner(program, *id).map(str::to_string);
        FreshView {
            variable: var.name.clone(),
            procedure,
            number: id.index() as u32,
            value: (*value).into(),
            any: false,
        }
    };
    fresh.iter().map(view).collect()
}

fn step_view(context: Context<'_>, step: &Step, told: Option<&AnnotatedStep>) -> StepView {
    let span = context.map.edges[step.edge].span;
    StepView {
        thread: step.thread.0,
        name: told.map(|told| told.name.clone()),
        edge: step.edge.index() as u32,
        line: context.source.line(span.start as usize),
        text: context.statement(step.edge),
        command: context.map.commands.get(&step.edge).cloned(),
        choices: values(&step.choices),
        any: Vec::new(),
        passive: step.passive.iter().map(|choices| values(choices)).collect(),
        fresh: fresh_views(context.program, &step.fresh),
        body: step.body,
        changes: told.map_or(Vec::new(), |told| told.changes.iter().map(change).collect()),
    }
}

/// Returns a change: `thread` is the owner of the copy, if it is neither the moving thread's nor shared, and `location`
/// the name of the new value, if it has one.
fn change(change: &Change) -> Json {
    let mut view = json!({ "variable": change.name });
    add(&mut view, "thread", change.of.as_ref().map(|(thread, _)| thread.0));
    view["before"] = json!(change.before.map(ValueView::from));
    view["after"] = json!(ValueView::from(change.after));
    add(&mut view, "location", change.words[1].as_ref());
    view
}

/// Returns an error, with the operands of the assertion that fails, the labels that are reached, or the threads that
/// meet or wait.
fn error(context: Context<'_>, ending: &Ending) -> Json {
    let mut view = json!({
        "kind": "assertion",
        "thread": ending.thread.0,
        "name": ending.name,
        "line": ending.position.line,
        "column": ending.position.column,
        "text": ending.text,
    });
    let (file, start) = context.source.part(ending.span.start as usize);
    add(&mut view, "file", (start > 0).then_some(&file.path));
    add(&mut view, "note", ending.note.as_ref());
    match &ending.error {
        ReachedError::Assertion { operands, .. } if operands.is_empty() => {}
        ReachedError::Assertion { operands, .. } => view["values"] = list(operands, operand),
        ReachedError::Location { labels } => {
            view["kind"] = "label".into();
            add(&mut view, "labels", (!labels.is_empty()).then_some(labels));
        }
        ReachedError::Target { states } => {
            view["kind"] = "target".into();
            view["values"] = list(states, operand);
        }
        ReachedError::Together(stands) => {
            view["kind"] = "together".into();
            view["threads"] = list(stands, |stand| {
                json!({
                    "thread": stand.thread.0,
                    "name": stand.name,
                    "line": stand.position.line,
                    "labels": stand.labels,
                })
            });
        }
        ReachedError::Deadlock(waits) => {
            view["kind"] = "deadlock".into();
            view["threads"] = list(waits, wait);
        }
    }
    view
}

fn operand(operand: &Operand) -> Json {
    let mut view = json!({ "name": operand.name, "value": ValueView::from(operand.value) });
    add(&mut view, "location", operand.word.as_ref());
    view
}

/// Returns a thread of a deadlock: where it waits, and for what.
fn wait(wait: &Wait) -> Json {
    let values =
        list(&wait.operands, |operand| json!({ "name": operand.name, "value": ValueView::from(operand.value) }));
    let mut view = json!({
        "thread": wait.thread.0,
        "name": wait.name,
        "line": wait.position.map(|at| at.line),
        "text": wait.text,
    });
    add(&mut view, "values", (!wait.operands.is_empty()).then_some(values));
    add(&mut view, "holder", wait.holder.as_ref());
    view
}

fn read_start(program: &Program, view: &StartView) -> Result<Start, ReadError> {
    let threads = view.threads.iter().map(|thread| read_thread(program, thread));
    Ok(Start {
        choices: read_values(&view.choices, &init_types(&program.init), "start")?,
        fresh: read_fresh(program, &view.fresh, "start")?,
        threads: threads.collect::<Result<_, _>>()?,
    })
}

fn read_thread(program: &Program, view: &StartThreadView) -> Result<StartThread, ReadError> {
    let entry = EntryId::new(view.number as usize);
    match program.entries.get(entry) {
        Some(known) if known.name == view.entry => Ok(StartThread {
            entry,
            choices: read_values(&view.choices, &init_types(&known.init), "start")?,
            fresh: read_fresh(program, &view.fresh, "start")?,
        }),
        Some(known) => {
            Err(mismatch("start", format!("kind of thread {} is `{}`, not `{}`", view.number, known.name, view.entry)))
        }
        None => Err(mismatch("start", format!("the program has no kind of thread `{}`", view.entry))),
    }
}

fn read_fresh(program: &Program, views: &[FreshView], place: &str) -> Result<Fresh, ReadError> {
    let one = |view: &FreshView| {
        let id = named_variable(program, place, view.number, &view.variable, view.procedure.as_deref())?;
        let ty = program.vars[id].ty;
        let value = view.value.typed(ty).ok_or_else(|| mismatch(place, format!("a value is not of type {ty}")))?;
        Ok((id, value))
    };
    views.iter().map(one).collect()
}

fn read_step(program: &Program, view: &StepView, place: &str) -> Result<Step, ReadError> {
    let edge = EdgeId::new(view.edge as usize);
    let Some(known) = program.edges.get(edge) else {
        let message = format!("the program has no edge {} (line {}, `{}`)", view.edge, view.line, view.text);
        return Err(mismatch(place, message));
    };
    let types = known.op.choices();
    let to_values = |views: &[ValueView]| read_values(views, &types, place);
    Ok(Step {
        thread: ThreadId(view.thread),
        edge,
        choices: to_values(&view.choices)?,
        passive: view.passive.iter().map(|choices| to_values(choices)).collect::<Result<_, _>>()?,
        fresh: read_fresh(program, &view.fresh, place)?,
        body: view.body,
    })
}

/// The types of the choices in initial values.
fn init_types(init: &[(VarId, Expr)]) -> Vec<Ty> {
    choice_types(init.iter().map(|(_, rhs)| rhs))
}

/// Reads the values of choices of these types. The judge refuses values beyond them.
pub(super) fn read_values(views: &[ValueView], types: &[Ty], place: &str) -> Result<Vec<Value>, ReadError> {
    let types = types.iter().copied().chain(std::iter::repeat(Ty::Int));
    let value = |(view, ty): (&ValueView, Ty)| {
        view.typed(ty).ok_or_else(|| mismatch(place, format!("a choice is not of type {ty}")))
    };
    views.iter().zip(types).map(value).collect()
}

pub(super) fn mismatch(place: &str, message: String) -> ReadError {
    ReadError::Mismatch { place: place.to_string(), message }
}

/// The procedure of a local.
pub(super) fn owner(program: &Program, var: VarId) -> Option<&str> {
    match program.vars[var].scope {
        Scope::Local(proc) => Some(&program.procs[proc].name),
        Scope::Shared | Scope::Thread => None,
    }
}

/// Returns the variable with a number, which must have this name and procedure in the program.
pub(super) fn named_variable(
    program: &Program,
    place: &str,
    number: u32,
    name: &str,
    procedure: Option<&str>,
) -> Result<VarId, ReadError> {
    let id = VarId::new(number as usize);
    let named = format!("variable {number} is `{}`", qualified(name, procedure));
    match program.vars.get(id) {
        None => Err(mismatch(place, format!("{named}, but the program has no variable {number}"))),
        Some(var) if var.name != name || owner(program, id) != procedure => {
            let here = qualified(&var.name, owner(program, id));
            Err(mismatch(place, format!("{named}, but in the program it is `{here}`")))
        }
        Some(_) => Ok(id),
    }
}

fn qualified(name: &str, procedure: Option<&str>) -> String {
    procedure.map_or(name.to_string(), |procedure| format!("{procedure}.{name}"))
}

fn values(values: &[Value]) -> Vec<ValueView> {
    values.iter().copied().map(ValueView::from).collect()
}

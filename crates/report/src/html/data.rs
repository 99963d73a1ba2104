//! The data of a page: the program as far as a page speaks of it, and executions as differences of states.
//!
//! A page rebuilds the states itself, so that ten thousand steps stay small. The numbers of operations are part of the
//! contract with `assets/report.js`.

use std::collections::{BTreeMap, HashMap};

use selvedge_ir::span::Role;
use selvedge_ir::{LocId, Scope, Ty, Value};
use selvedge_replay::{Frame, State, Thread};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::annotated_trace::{AnnotatedStep, Annotator, Context, Ending, ReachedError};
use crate::names::Names;
use crate::session::Session;
use crate::text;

/// The program, by numbers.
#[derive(Serialize)]
pub(super) struct ProgramData {
    /// Name, scope (`s`, `t`, `l`) and type (`b`, `i`) of each variable.
    vars: Vec<(String, char, char)>,
    /// The shared variables in the order of states, and the per-thread ones.
    shared: Vec<usize>,
    thread: Vec<usize>,
    procs: Vec<ProcData>,
    /// For each kind of initial thread its name and its per-thread variables.
    entries: Vec<(String, Vec<usize>)>,
    /// For each edge: first line, last line, text.
    edges: Vec<(usize, usize, String)>,
    /// For each location the line of the statement that follows, or 0; always 0 where the program is a set of commands
    /// that may all follow.
    locs: Vec<usize>,
    /// For variables whose values have names, the names of 0, 1, ..
    words: BTreeMap<usize, Vec<String>>,
    /// Set if there is only one thread, and its position is of no interest: guarded commands.
    guarded: bool,
}

#[derive(Serialize)]
struct ProcData {
    name: String,
    locals: Vec<usize>,
}

impl ProgramData {
    pub(super) fn new(context: Context<'_>) -> ProgramData {
        let (program, source) = (context.program, context.source);
        let (names, annotator) = (Names::new(program), Annotator::new(context));
        let of_scope = |scope: Scope| {
            let vars = program.vars.iter_enumerated().filter(move |(_, var)| var.scope == scope);
            vars.map(|(id, _)| id.index()).collect()
        };
        let var = |(id, var): (selvedge_ir::VarId, &selvedge_ir::Var)| {
            let scope = match var.scope {
                Scope::Shared => 's',
                Scope::Thread => 't',
                Scope::Local(_) => 'l',
            };
            let ty = match var.ty {
                Ty::Bool => 'b',
                Ty::Int => 'i',
            };
            (names.of(id), scope, ty)
        };
        let edge = |edge: selvedge_ir::EdgeId| {
            let span = context.map.edges[edge].span;
            let last = (span.end as usize).saturating_sub(1).max(span.start as usize);
            (source.line(span.start as usize), source.line(last), annotator.text(edge))
        };
        let guarded = context.is_guarded();
        let line = |loc: LocId| match annotator.place(loc) {
            Some(span) if !guarded => source.line(span.start as usize),
            _ => 0,
        };
        let numbers = |vars: &[selvedge_ir::VarId]| vars.iter().map(|var| var.index()).collect();
        ProgramData {
            vars: program.vars.iter_enumerated().map(var).collect(),
            shared: of_scope(Scope::Shared),
            thread: of_scope(Scope::Thread),
            procs: program
                .procs
                .iter()
                .map(|proc| ProcData { name: proc.name.clone(), locals: numbers(&proc.locals) })
                .collect(),
            entries: program.entries.iter().map(|entry| (entry.name.clone(), numbers(&entry.thread_vars))).collect(),
            edges: program.edges.indices().map(edge).collect(),
            locs: program.locs.indices().map(line).collect(),
            words: context.map.values.iter().map(|(var, words)| (var.index(), words.clone())).collect(),
            guarded,
        }
    }
}

/// An operation: its number, and its operands.
type Operation = Vec<Json>;

/// Thread, edge, flags (1 atomic, 2 idle, 4 fails), depth, operations, numbers of remarks.
type StepData = (u32, usize, u8, usize, Vec<Operation>, Vec<usize>);

/// An execution.
#[derive(Serialize)]
pub(super) struct TraceData {
    title: String,
    start: Json,
    /// Remarks that steps refer to by number.
    remarks: Vec<String>,
    steps: Vec<StepData>,
    ending: Option<EndingData>,
}

#[derive(Serialize)]
struct EndingData {
    thread: u32,
    line: usize,
    title: String,
    text: String,
    /// The parts of the condition with their values.
    parts: Vec<(String, String)>,
}

impl TraceData {
    pub(super) fn new(session: &Session<'_>, title: &str) -> TraceData {
        let mut remarks = Remarks::default();
        let mut steps = Vec::with_capacity(session.len());
        for (number, told) in session.annotated().iter().enumerate() {
            let fails = told.events.contains(&crate::annotated_trace::Event::AssertionFails);
            let flags = u8::from(told.atomic) | u8::from(told.idle) << 1 | u8::from(fails) << 2;
            let changes = operations(session.state(number), session.state(number + 1));
            let notes = notes(told).into_iter().map(|note| remarks.number(note)).collect();
            steps.push((told.thread.0, told.edge.index(), flags, told.depth, changes, notes));
        }
        TraceData {
            title: title.to_string(),
            start: state(session.state(0)),
            steps,
            ending: session.ending().map(|ending| EndingData::new(session, ending)),
            remarks: remarks.list,
        }
    }
}

/// Texts, each once.
#[derive(Default)]
struct Remarks {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Remarks {
    fn number(&mut self, text: String) -> usize {
        if let Some(known) = self.numbers.get(&text) {
            return *known;
        }
        self.numbers.insert(text.clone(), self.list.len());
        self.list.push(text);
        self.list.len() - 1
    }
}

/// Returns what is to be said about a step beside its statement and the values that changed.
fn notes(told: &AnnotatedStep) -> Vec<String> {
    let mut notes: Vec<String> = told.events.iter().map(|event| text::event_text(told.thread, event)).collect();
    if told.role == Role::Enforce {
        notes.push("enforced".to_string());
    }
    let free = told.changes.iter().filter(|change| change.free);
    notes.extend(free.map(|change| format!("{} may be anything", change.name)));
    notes
}

impl EndingData {
    fn new(session: &Session<'_>, ending: &Ending) -> EndingData {
        let (title, parts) = match &ending.error {
            ReachedError::Assertion { edge, .. } => ("The assertion fails".to_string(), session.parts(*edge)),
            ReachedError::Location { labels } => (format!("Label {} is reached", labels.join(", ")), Vec::new()),
            ReachedError::Together(stands) => {
                let stand = |stand: &crate::annotated_trace::Stand| {
                    (
                        format!("thread {}", stand.thread.0),
                        format!("at {}, line {}", stand.labels.join(", "), stand.position.line),
                    )
                };
                (format!("{} threads meet", stands.len()), stands.iter().map(stand).collect())
            }
        };
        EndingData { thread: ending.thread.0, line: ending.position.line, title, text: ending.text.clone(), parts }
    }
}

/// A whole state: shared values, holder of the atomic flag, threads.
fn state(state: &State) -> Json {
    json!([values(&state.shared), holder(state), state.threads.iter().map(thread).collect::<Vec<_>>()])
}

fn holder(state: &State) -> Json {
    state.holder.map_or(json!(-1), |holder| json!(holder.0))
}

fn thread(thread: &Thread) -> Json {
    let entry = thread.entry.map_or(json!(-1), |entry| json!(entry.index()));
    json!([thread.id.0, entry, values(&thread.vars), thread.stack.iter().map(frame).collect::<Vec<_>>()])
}

fn frame(frame: &Frame) -> Json {
    json!([frame.proc.index(), frame.loc.index(), values(&frame.locals)])
}

fn values(values: &[Value]) -> Vec<Json> {
    values.iter().map(|value| value_json(*value)).collect()
}

/// Truth values are 0 and 1; integers that a page cannot hold are texts.
fn value_json(value: Value) -> Json {
    match value {
        Value::Bool(value) => json!(u8::from(value)),
        Value::Int(value) if value.unsigned_abs() < 1 << 53 => json!(value),
        Value::Int(value) => json!(value.to_string()),
    }
}

/// The operations that make one state of another, in the order in which they are to be made:
///
/// | number | operands | what |
/// |---|---|---|
/// | 0 | slot, value | a shared variable |
/// | 1 | thread | the holder of the atomic flag, or -1 |
/// | 2 | thread, slot, value | a per-thread variable |
/// | 3 | thread, number | takes frames away |
/// | 4 | thread, frame | puts a frame on top |
/// | 5 | thread, frame number, location | a frame moves |
/// | 6 | thread, frame number, slot, value | a local |
/// | 7 | thread as in states | a new thread |
/// | 8 | thread | a thread is gone |
fn operations(before: &State, after: &State) -> Vec<Operation> {
    let mut list: Vec<Operation> = Vec::new();
    for (slot, value) in differing(&before.shared, &after.shared) {
        list.push(vec![json!(0), json!(slot), value_json(value)]);
    }
    if before.holder != after.holder {
        list.push(vec![json!(1), holder(after)]);
    }
    for old in &before.threads {
        match after.thread(old.id) {
            Some(new) => thread_operations(old, new, &mut list),
            None => list.push(vec![json!(8), json!(old.id.0)]),
        }
    }
    for new in after.threads.iter().filter(|new| before.thread(new.id).is_none()) {
        list.push(vec![json!(7), thread(new)]);
    }
    list
}

fn differing<'v>(old: &'v [Value], new: &'v [Value]) -> impl Iterator<Item = (usize, Value)> + 'v {
    old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new).map(|(slot, (_, new))| (slot, *new))
}

fn thread_operations(old: &Thread, new: &Thread, list: &mut Vec<Operation>) {
    let id = json!(old.id.0);
    for (slot, value) in differing(&old.vars, &new.vars) {
        list.push(vec![json!(2), id.clone(), json!(slot), value_json(value)]);
    }
    let common = old.stack.iter().zip(&new.stack).take_while(|(old, new)| old.proc == new.proc).count();
    if old.stack.len() > common {
        list.push(vec![json!(3), id.clone(), json!(old.stack.len() - common)]);
    }
    for (number, (old, new)) in old.stack.iter().zip(&new.stack).take(common).enumerate() {
        if old.loc != new.loc {
            list.push(vec![json!(5), id.clone(), json!(number), json!(new.loc.index())]);
        }
        for (slot, value) in differing(&old.locals, &new.locals) {
            list.push(vec![json!(6), id.clone(), json!(number), json!(slot), value_json(value)]);
        }
    }
    for pushed in &new.stack[common..] {
        list.push(vec![json!(4), id.clone(), frame(pushed)]);
    }
}

//! The data of a page: the program as far as a page speaks of it, and executions as differences of states.
//!
//! A page rebuilds the states itself, so that ten thousand steps stay small. The numbers of operations are part of the
//! contract with `assets/execution.js`.

use std::collections::{BTreeMap, HashMap};

use selvedge_ir::span::Role;
use selvedge_ir::{Entry, LocId, ProcId, Scope, Ty, Value, VarId};
use selvedge_replay::{Frame, State, Thread};
use serde_json::{Value as Json, json};

use crate::annotated_trace::{AnnotatedStep, Annotator, Context, Ending, Operand, ReachedError};
use crate::json::list;
use crate::lanes::processes;
use crate::names::Names;
use crate::session::Session;
use crate::text;
use crate::views::{Holders, follow, is_hidden, is_wrapper, word};

/// Returns the program, by numbers:
///
/// | name | what |
/// |---|---|
/// | `vars` | name, scope (`s`, `t`, `l`) and type (`b`, `i`) of each variable |
/// | `shared`, `thread` | the shared variables in the order of states, and the per-thread ones |
/// | `procs` | name and locals of each procedure |
/// | `entries` | for each kind of initial thread its name and its per-thread variables |
/// | `edges` | for each edge: first line, last line, text |
/// | `locs` | for each location the line of the statement that follows; 0 for none, or for guarded commands |
/// | `words` | for variables whose values have names, the names of 0, 1, .. |
/// | `unseen` | the variables and the procedures that the source does not have |
/// | `guarded` | whether there is only one thread, whose position is of no interest: guarded commands |
pub(super) fn program(context: Context<'_>) -> Json {
    let (program, source) = (context.program, context.source);
    let annotator = Annotator::new(context);
    let var = |(id, var): (VarId, &selvedge_ir::Var)| {
        let scope = match var.scope {
            Scope::Shared => 's',
            Scope::Thread => 't',
            Scope::Local(_) => 'l',
        };
        json!([annotator.name(id), scope, if var.ty == Ty::Bool { 'b' } else { 'i' }])
    };
    let of_system = |(scope, name): (Scope, &str)| json!([name, if scope == Scope::Shared { 's' } else { 't' }, 'i']);
    let edge = |edge: selvedge_ir::EdgeId| {
        let span = context.map.edges[edge].span;
        let last = (span.end as usize).saturating_sub(1).max(span.start as usize);
        json!([source.line(span.start as usize), source.line(last), annotator.text(edge)])
    };
    let guarded = context.is_guarded() || is_net(context);
    let line = |loc: LocId| match annotator.place(loc) {
        Some(span) if !guarded => source.line(span.start as usize).into(),
        _ => json!(0),
    };
    let numbers = |vars: &[VarId]| list(vars, |var| var.index().into());
    let words: BTreeMap<usize, &Vec<String>> =
        context.map.values.iter().map(|(var, words)| (var.index(), words)).collect();
    let own = annotator.system.of_scope(Scope::Thread);
    let entry = |entry: &Entry| json!([entry.name, numbers(&[&entry.thread_vars[..], &own[..]].concat())]);
    // The position of a thread of a system is its local state.
    let is_unseen = |proc: &ProcId| is_wrapper(context.map, *proc) || context.map.system.is_some();
    let vars = program.vars.iter_enumerated().map(var);
    json!({
        "vars": vars.chain(annotator.system.all().map(of_system)).collect::<Vec<_>>(),
        "shared": numbers(&annotator.shared),
        "thread": numbers(&annotator.thread_vars),
        "procs": list(&program.procs, |proc| json!({ "name": proc.name, "locals": numbers(&proc.locals) })),
        "entries": list(&program.entries, entry),
        "edges": list(program.edges.indices(), edge),
        "locs": list(program.locs.indices(), line),
        "words": words,
        "unseen": [
            numbers(&program.vars.indices().filter(|var| is_hidden(context.map, *var)).collect::<Vec<_>>()),
            list(program.procs.indices().filter(is_unseen), |proc| proc.index().into()),
        ],
        "guarded": guarded,
    })
}

/// An operation: its number, and its operands.
type Operation = Vec<Json>;

/// Returns an execution. A step is its lane, which is its thread, or its process if `lanes` lists some, edge, flags (1
/// atomic, 2 idle, 4 fails), depth, operations, and numbers of remarks.
pub(super) fn trace(session: &Session<'_>, title: &str) -> Json {
    let mut remarks = Remarks::default();
    let mut steps = Vec::with_capacity(session.len());
    let mut writer =
        Writer { context: session.context, annotator: Annotator::new(session.context), holders: Holders::new() };
    let start = writer.state(session.state(0));
    let processes = processes(session.context.map, |var| Names::new(session.context.program).of(var));
    let other = processes.len() as u32;
    for (number, told) in session.annotated().iter().enumerate() {
        follow(session.context.map, &mut writer.holders, session.names(), told.thread, &told.changes);
        let fails = told.events.contains(&crate::annotated_trace::Event::AssertionFails);
        let flags = u8::from(told.atomic) | u8::from(told.idle) << 1 | u8::from(fails) << 2;
        let changes = writer.operations(session.state(number), session.state(number + 1));
        let notes: Vec<usize> = notes(told).into_iter().map(|note| remarks.number(note)).collect();
        // A step of no process has a lane of its own.
        let lane =
            if processes.is_empty() { told.thread.0 } else { told.process.as_ref().map_or(other, |one| one.number) };
        steps.push(json!([lane, told.edge.index(), flags, told.depth, changes, notes]));
    }
    let names: BTreeMap<u32, &str> = session.names().all().map(|(thread, name)| (thread.0, name)).collect();
    json!({
        "title": title,
        "names": names,
        "lanes": if processes.is_empty() { json!(null) } else { json!(processes) },
        "start": start,
        "remarks": remarks.list,
        "steps": steps,
        "ending": session.ending().map(|found| ending(session, found)),
    })
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
    let mut notes: Vec<String> = told.events.iter().map(|event| text::event_text(&told.name, event)).collect();
    if told.role == Role::Enforce {
        notes.push("enforced".to_string());
    }
    let free = told.changes.iter().filter(|change| change.free);
    notes.extend(free.map(|change| format!("{} may be anything", change.name)));
    notes
}

/// Returns a text that begins with a capital letter, without the marks of code.
fn sentence(text: &str) -> String {
    let mut letters = text.chars().filter(|letter| *letter != '`');
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Returns the error at the end, with the parts of its condition and their values.
fn ending(session: &Session<'_>, ending: &Ending) -> Json {
    let (title, parts) = match &ending.error {
        ReachedError::Assertion { edge, .. } => {
            (ending.note.as_deref().map_or("The assertion fails".to_string(), sentence), session.parts(*edge))
        }
        ReachedError::Location { labels } => (format!("Label {} is reached", labels.join(", ")), Vec::new()),
        ReachedError::Target { states } => {
            let part = |one: &Operand| (one.name.clone(), one.value_text());
            ("The target is covered".to_string(), states.iter().map(part).collect())
        }
        ReachedError::Together(stands) => {
            let stand = |stand: &crate::annotated_trace::Stand| {
                (stand.name.clone(), format!("at {}, line {}", stand.labels.join(", "), stand.position.line))
            };
            (format!("{} threads meet", stands.len()), stands.iter().map(stand).collect())
        }
        ReachedError::Deadlock(waits) => {
            let wait = |wait: &crate::waits::Wait| (wait.name.clone(), format!("waits at {}", wait.what()));
            ("Deadlock: no thread can move".to_string(), waits.iter().map(wait).collect())
        }
    };
    let source = session.context.source;
    let (file, first) = source.part(ending.span.start as usize);
    let place = match first {
        0 => format!("line {}", ending.position.line),
        _ => format!("{}, line {}", file.name, ending.position.line),
    };
    json!({
        "thread": ending.thread.0,
        "line": source.line(ending.span.start as usize),
        "place": place,
        "title": title,
        "text": ending.text,
        "parts": parts,
    })
}

/// Writes states; knows who holds which lock in the state that is written.
struct Writer<'a> {
    context: Context<'a>,
    annotator: Annotator<'a>,
    holders: Holders,
}

/// Returns whether executions are those of a Petri net, whose threads are tokens and of no interest.
fn is_net(context: Context<'_>) -> bool {
    context.map.system.as_ref().is_some_and(|system| system.net.is_some())
}

impl Writer<'_> {
    /// A whole state: shared values, holder of the atomic flag, threads.
    fn state(&self, state: &State) -> Json {
        let threads: Vec<Json> = self.threads(state).map(|thread| self.thread(thread)).collect();
        let shared = self.annotator.shared_values(state);
        json!([self.values(&self.annotator.shared, &shared), holder(state), threads])
    }

    /// The threads that are shown: of a net only the driver.
    fn threads<'s>(&self, state: &'s State) -> impl Iterator<Item = &'s Thread> + use<'s> {
        let most = if is_net(self.context) { 1 } else { usize::MAX };
        state.threads.iter().take(most)
    }

    fn thread(&self, thread: &Thread) -> Json {
        let entry = thread.entry.map_or(json!(-1), |entry| json!(entry.index()));
        let frames: Vec<Json> = thread.stack.iter().map(|frame| self.frame(frame)).collect();
        json!([
            thread.id.0,
            entry,
            self.values(&self.annotator.thread_vars, &self.annotator.thread_values(thread)),
            frames
        ])
    }

    fn frame(&self, frame: &Frame) -> Json {
        let locals = &self.context.program.procs[frame.proc].locals;
        json!([frame.proc.index(), frame.loc.index(), self.values(locals, &frame.locals)])
    }

    fn values(&self, vars: &[VarId], values: &[Value]) -> Vec<Json> {
        vars.iter().zip(values).map(|(var, value)| self.value(*var, *value)).collect()
    }

    /// Truth values are 0 and 1; integers that a page cannot hold are texts, and so are values that the source has
    /// words for. The names of values of guarded commands are in the program.
    fn value(&self, var: VarId, value: Value) -> Json {
        if self.context.map.views.contains_key(&var)
            && let Some(word) = word(self.context.map, &self.holders, var, value)
        {
            return json!(word);
        }
        if let Some(word) = self.annotator.system.word(var, value) {
            return json!(word);
        }
        match value {
            Value::Bool(value) => json!(u8::from(value)),
            number => match number.number() {
                number if number.unsigned_abs() < 1 << 53 => json!(number as i64),
                number => json!(number.to_string()),
            },
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
    fn operations(&self, before: &State, after: &State) -> Vec<Operation> {
        let mut list: Vec<Operation> = Vec::new();
        let [old, new] = [before, after].map(|state| self.annotator.shared_values(state));
        for (slot, value) in differing(&old, &new) {
            list.push(vec![json!(0), json!(slot), self.value(self.annotator.shared[slot], value)]);
        }
        if before.holder != after.holder {
            list.push(vec![json!(1), holder(after)]);
        }
        for old in self.threads(before) {
            match after.thread(old.id) {
                Some(new) => self.thread_operations(old, new, &mut list),
                None => list.push(vec![json!(8), json!(old.id.0)]),
            }
        }
        for new in self.threads(after).filter(|new| before.thread(new.id).is_none()) {
            list.push(vec![json!(7), self.thread(new)]);
        }
        list
    }

    fn thread_operations(&self, old: &Thread, new: &Thread, list: &mut Vec<Operation>) {
        let id = json!(old.id.0);
        let values = [old, new].map(|thread| self.annotator.thread_values(thread));
        for (slot, value) in differing(&values[0], &values[1]) {
            list.push(vec![json!(2), id.clone(), json!(slot), self.value(self.annotator.thread_vars[slot], value)]);
        }
        let common = old.stack.iter().zip(&new.stack).take_while(|(old, new)| old.proc == new.proc).count();
        if old.stack.len() > common {
            list.push(vec![json!(3), id.clone(), json!(old.stack.len() - common)]);
        }
        for (number, (old, new)) in old.stack.iter().zip(&new.stack).take(common).enumerate() {
            if old.loc != new.loc {
                list.push(vec![json!(5), id.clone(), json!(number), json!(new.loc.index())]);
            }
            let locals = &self.context.program.procs[new.proc].locals;
            for (slot, value) in differing(&old.locals, &new.locals) {
                list.push(vec![json!(6), id.clone(), json!(number), json!(slot), self.value(locals[slot], value)]);
            }
        }
        for pushed in &new.stack[common..] {
            list.push(vec![json!(4), id.clone(), self.frame(pushed)]);
        }
    }
}

fn holder(state: &State) -> Json {
    state.holder.map_or(json!(-1), |holder| json!(holder.0))
}

fn differing<'v>(old: &'v [Value], new: &'v [Value]) -> impl Iterator<Item = (usize, Value)> + 'v {
    old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new).map(|(slot, (_, new))| (slot, *new))
}

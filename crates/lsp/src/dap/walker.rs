//! The requests of a client that walks through an execution.

use std::collections::BTreeSet;

use selvedge_ir::trace::ThreadId;
use selvedge_report::annotated_trace::{Binding, ReachedError};
use selvedge_report::names;
use selvedge_report::session::{Direction, Session, ThreadSight};
use serde_json::{Value, json};

use super::breaks::{Breaks, Kind, absolute, place, statements};
use super::wire::{Event, Request};

/// The answer to a request.
pub(super) enum Reaction {
    Body(Value),
    /// The position changed: the answer, and the events that say what happened on the way and why it ends here.
    Moved(Value, Vec<Event>),
    /// The walk is over.
    Over,
}

/// From which number the client counts lines and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    first_line: usize,
    first_column: usize,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { first_line: 1, first_column: 1 }
    }
}

impl Lines {
    /// Reads the arguments of `initialize`.
    pub(super) fn read(arguments: &Value) -> Lines {
        let first = |name: &str| usize::from(arguments[name] != false);
        Lines { first_line: first("linesStartAt1"), first_column: first("columnsStartAt1") }
    }

    /// Returns the line from 1 that the client means.
    fn meant(self, line: &Value) -> usize {
        line.as_u64().map_or(0, |line| (line as usize).saturating_add(1 - self.first_line))
    }

    /// Returns how the client counts a line, which is counted from 1 here.
    pub(super) fn shown(self, line: usize) -> usize {
        line + self.first_line - 1
    }
}

/// The meaning of a number in `variablesReference`.
#[derive(Clone, Copy)]
enum Scope {
    Shared,
    Thread(ThreadId),
    Locals(ThreadId, usize),
}

/// Limit on the depth of a thread's calls where its step ends.
#[derive(Clone, Copy)]
enum Depth {
    Any,
    /// Not deeper than before.
    NotBelow,
    /// Less deep than before.
    Above,
}

/// Maximum number of messages of breakpoints that one move writes.
const MAX_MESSAGES: usize = 1000;

type Done = Result<Reaction, String>;

pub(super) struct Walker<'s, 'a> {
    session: &'s Session<'a>,
    lines: Lines,
    at: usize,
    pub(super) breaks: Breaks,
    /// The frames that were shown since the last stop, by their number less one: thread, and number from the top.
    frames: Vec<(ThreadId, usize)>,
    scopes: Vec<Scope>,
}

/// Returns the events of the start: the threads that are there, and the stop.
pub(super) fn entry_events(session: &Session<'_>) -> Vec<Event> {
    let mut events = thread_events(&BTreeSet::new(), &threads_at(session, 0));
    events.push(("stopped", stopped(session, 0, "entry", None)));
    events
}

fn threads_at(session: &Session<'_>, position: usize) -> BTreeSet<ThreadId> {
    session.state(position).threads.iter().map(|thread| thread.id).collect()
}

/// Returns the events about threads that are there only before, or only after a move.
fn thread_events(before: &BTreeSet<ThreadId>, after: &BTreeSet<ThreadId>) -> Vec<Event> {
    let event = |reason: &str, id: &ThreadId| ("thread", json!({ "reason": reason, "threadId": number(*id) }));
    let exited = before.difference(after).map(|id| event("exited", id));
    exited.chain(after.difference(before).map(|id| event("started", id))).collect()
}

/// Returns the body of a stop. At the end of the execution that is its error.
fn stopped(session: &Session<'_>, at: usize, reason: &str, hit: Option<u64>) -> Value {
    let mut stop = json!({ "reason": reason, "allThreadsStopped": true });
    if let Some(thread) = session.active(at).map(number) {
        stop["threadId"] = json!(thread);
    }
    if let Some(hit) = hit {
        stop["hitBreakpointIds"] = json!([hit]);
    }
    if let Some(ending) = session.ending().filter(|_| at == session.len()) {
        stop["reason"] = json!("exception");
        stop["description"] = json!("the error is reached");
        stop["text"] = json!(ending.text);
        stop["threadId"] = json!(number(ending.thread));
    }
    stop
}

impl<'s, 'a> Walker<'s, 'a> {
    /// Returns a walker at the start, with the breakpoints of an earlier execution.
    pub(super) fn new(session: &'s Session<'a>, lines: Lines, mut breaks: Breaks) -> Walker<'s, 'a> {
        breaks.renew(session);
        Walker { session, lines, at: 0, breaks, frames: Vec::new(), scopes: Vec::new() }
    }

    pub(super) fn handle(&mut self, request: &Request) -> Done {
        use Direction::{Backward, Forward};
        let arguments = &request.arguments;
        match request.command.as_str() {
            "setBreakpoints" => Ok(Reaction::Body(self.line_breaks(arguments))),
            "setFunctionBreakpoints" => {
                let is_old = |kind: &Kind| matches!(kind, Kind::Name(_));
                Ok(Reaction::Body(self.set_breaks(arguments, is_old, |wish| Kind::Name(text(&wish["name"])))))
            }
            "setDataBreakpoints" => {
                let is_old = |kind: &Kind| matches!(kind, Kind::Data(_));
                Ok(Reaction::Body(self.set_breaks(arguments, is_old, |wish| Kind::Data(text(&wish["dataId"])))))
            }
            "dataBreakpointInfo" => Ok(Reaction::Body(self.data_info(arguments))),
            "setExceptionBreakpoints" => Ok(Reaction::Body(json!({}))),
            "breakpointLocations" => Ok(Reaction::Body(self.locations(arguments))),
            "configurationDone" => Ok(self.begin()),
            "threads" => Ok(Reaction::Body(self.threads())),
            "stackTrace" => self.stack(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "evaluate" => self.evaluate(arguments),
            "completions" => Ok(Reaction::Body(self.completions(arguments))),
            "exceptionInfo" => self.exception(),
            "gotoTargets" => Ok(Reaction::Body(self.targets(arguments))),
            "goto" => self.jump(arguments),
            "stepIn" => self.step(arguments, Forward, Depth::Any),
            "next" => self.step(arguments, Forward, Depth::NotBelow),
            "stepOut" => self.step(arguments, Forward, Depth::Above),
            "stepBack" => self.step(arguments, Backward, Depth::Any),
            "continue" => Ok(self.run(Forward)),
            "reverseContinue" => Ok(self.run(Backward)),
            "pause" => Ok(Reaction::Moved(json!({}), vec![("stopped", stopped(self.session, self.at, "pause", None))])),
            "cancel" => Ok(Reaction::Body(json!({}))),
            "disconnect" | "terminate" => Ok(Reaction::Over),
            other => Err(format!("`{other}` is not supported")),
        }
    }

    fn thread_of(&self, arguments: &Value) -> Result<ThreadId, String> {
        let id = arguments["threadId"].as_u64().and_then(|id| u32::try_from(id).ok());
        id.map(|id| ThreadId(id.wrapping_sub(1))).ok_or_else(|| "`threadId` is missing".to_string())
    }

    /// Moves, and forgets the numbers that were given out: they hold until the next stop only. Returns what happens on
    /// the way: messages of breakpoints forwards, and threads that come and go.
    fn go(&mut self, position: usize) -> Vec<Event> {
        let before = threads_at(self.session, self.at);
        let passed = self.at + 1..position + 1;
        let mut events = self.messages(passed);
        self.at = position;
        self.frames.clear();
        self.scopes.clear();
        events.extend(thread_events(&before, &threads_at(self.session, position)));
        events
    }

    /// Returns the messages of the breakpoints at some positions.
    fn messages(&self, positions: std::ops::Range<usize>) -> Vec<Event> {
        let session = self.session;
        let told = |position: usize| {
            let place = session.next_span(position).map(|span| place(session, span.start as usize));
            let messages = self.breaks.messages(session, position).into_iter();
            messages.map(move |message| {
                let mut body = json!({ "category": "console", "output": format!("{message}\n") });
                if let Some((path, line)) = &place {
                    body["source"] = json!({ "path": path });
                    body["line"] = json!(self.lines.shown(*line));
                }
                ("output", body)
            })
        };
        let mut events: Vec<Event> = positions.flat_map(told).take(MAX_MESSAGES + 1).collect();
        if events.len() > MAX_MESSAGES {
            events.truncate(MAX_MESSAGES);
            let output = format!("more than {MAX_MESSAGES} messages: the rest is left out\n");
            events.push(("output", json!({ "category": "console", "output": output })));
        }
        events
    }

    /// Begins the walk at the start.
    fn begin(&mut self) -> Reaction {
        let mut events = self.messages(0..1);
        events.extend(entry_events(self.session));
        Reaction::Moved(json!({}), events)
    }

    /// Makes one step of a thread; the others do what they did in between. Without a further step of the thread: to the
    /// end, or to the start.
    fn step(&mut self, arguments: &Value, way: Direction, wanted: Depth) -> Done {
        let (session, thread) = (self.session, self.thread_of(arguments)?);
        let depth = match wanted {
            Depth::Any => usize::MAX,
            Depth::NotBelow => session.depth(thread, self.at),
            Depth::Above => session.depth(thread, self.at).saturating_sub(1),
        };
        let found = session.within_depth(thread, depth, self.at, way);
        let end = if way == Direction::Forward { session.len() } else { 0 };
        let mut events = self.go(found.unwrap_or(end));
        let mut stop = stopped(session, self.at, "step", None);
        if stop["reason"] == "step" && session.state(self.at).thread(thread).is_some() {
            stop["threadId"] = json!(number(thread));
        }
        events.push(("stopped", stop));
        Ok(Reaction::Moved(json!({}), events))
    }

    /// Runs to the next breakpoint, or to the end or the start.
    fn run(&mut self, way: Direction) -> Reaction {
        let session = self.session;
        let mut hit = None;
        let found = session.seek(self.at, way, |position| {
            hit = self.breaks.stop_at(position, way);
            hit.is_some()
        });
        let end = if way == Direction::Forward { session.len() } else { 0 };
        let mut events = self.go(found.unwrap_or(end));
        let (id, reason) = hit.map_or((None, "entry"), |hit| (Some(hit.id), hit.reason));
        events.push(("stopped", stopped(session, self.at, reason, id)));
        Reaction::Moved(json!({ "allThreadsContinued": true }), events)
    }

    /// Goes to a position without passing those in between.
    fn jump(&mut self, arguments: &Value) -> Done {
        let target = arguments["targetId"].as_u64().map(|target| target as usize);
        let target = target.filter(|target| *target <= self.session.len()).ok_or("there is no such target")?;
        let before = threads_at(self.session, self.at);
        self.at = target;
        self.frames.clear();
        self.scopes.clear();
        let mut events = thread_events(&before, &threads_at(self.session, target));
        events.push(("stopped", stopped(self.session, target, "goto", None)));
        Ok(Reaction::Moved(json!({}), events))
    }

    /// Returns the path of the file that a request is about; without one, that of the program.
    fn path(&self, arguments: &Value) -> String {
        absolute(arguments["source"]["path"].as_str().unwrap_or(&self.session.context.source.path))
    }

    /// Returns the positions before steps of a line.
    fn targets(&self, arguments: &Value) -> Value {
        let wanted = (self.path(arguments), self.lines.meant(&arguments["line"]));
        let session = self.session;
        let is_there = |position: &usize| {
            session.next_span(*position).is_some_and(|span| place(session, span.start as usize) == wanted)
        };
        let target = |position: usize| {
            let text = session.told(position + 1).map_or("", |told| told.text.as_str());
            let label = format!("before step {}: {text}", position + 1);
            json!({ "id": position, "label": label, "line": self.lines.shown(wanted.1) })
        };
        json!({ "targets": (0..session.len()).filter(is_there).take(100).map(target).collect::<Vec<_>>() })
    }

    fn locations(&self, arguments: &Value) -> Value {
        let (path, first) = (self.path(arguments), self.lines.meant(&arguments["line"]));
        let last = &arguments["endLine"];
        let last = if last.is_null() { first } else { self.lines.meant(last) };
        let inside = statements(self.session).filter(|(file, line)| *file == path && (first..=last).contains(line));
        let lines: BTreeSet<usize> = inside.map(|(_, line)| self.lines.shown(line)).collect();
        json!({ "breakpoints": lines.iter().map(|line| json!({ "line": line })).collect::<Vec<_>>() })
    }

    fn threads(&self) -> Value {
        let name = |thread: ThreadSight| {
            let atomic = if thread.atomic { ", atomic" } else { "" };
            json!({ "id": number(thread.id), "name": format!("{}{atomic}", thread.name) })
        };
        json!({ "threads": self.session.threads(self.at).into_iter().map(name).collect::<Vec<_>>() })
    }

    fn stack(&mut self, arguments: &Value) -> Done {
        let thread = self.thread_of(arguments)?;
        let threads = self.session.threads(self.at);
        let seen = threads.iter().find(|seen| seen.id == thread).ok_or("this thread has ended")?;
        let mut frames = Vec::new();
        for (depth, frame) in seen.frames.iter().enumerate() {
            self.frames.push((thread, depth));
            let mut shown = json!({ "id": self.frames.len(), "name": frame.name, "line": 0, "column": 0 });
            if let Some(span) = frame.span {
                let source = self.session.context.source;
                let position = source.position_in_file(span.start as usize);
                let path = absolute(&source.part(span.start as usize).0.path);
                let name = std::path::Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
                shown["line"] = json!(self.lines.shown(position.line));
                shown["column"] = json!(position.column + self.lines.first_column - 1);
                shown["source"] = json!({ "name": name, "path": path });
            }
            frames.push(shown);
        }
        let first = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
        let levels =
            arguments["levels"].as_u64().filter(|levels| *levels > 0).map_or(usize::MAX, |levels| levels as usize);
        let shown: Vec<Value> = frames.into_iter().skip(first).take(levels).collect();
        Ok(Reaction::Body(json!({ "stackFrames": shown, "totalFrames": seen.frames.len() })))
    }

    fn frame(&self, id: &Value) -> Option<(ThreadId, usize)> {
        self.frames.get((id.as_u64()? as usize).checked_sub(1)?).copied()
    }

    fn scopes(&mut self, arguments: &Value) -> Done {
        let (thread, depth) = self.frame(&arguments["frameId"]).ok_or("this frame is not there any more")?;
        let mut scopes = Vec::new();
        for (name, scope) in
            [("Locals", Scope::Locals(thread, depth)), ("Thread", Scope::Thread(thread)), ("Shared", Scope::Shared)]
        {
            let bindings = self.bindings(scope);
            if bindings.is_empty() {
                continue;
            }
            self.scopes.push(scope);
            let reference = self.scopes.len();
            scopes.push(json!({
                "name": name, "variablesReference": reference, "namedVariables": bindings.len(), "expensive": false,
            }));
        }
        Ok(Reaction::Body(json!({ "scopes": scopes })))
    }

    fn bindings(&self, scope: Scope) -> Vec<Binding> {
        let threads = self.session.threads(self.at);
        let of = |id: ThreadId| threads.iter().find(move |thread| thread.id == id);
        match scope {
            Scope::Shared => self.session.shared(self.at),
            Scope::Thread(id) => of(id).map_or(Vec::new(), |thread| thread.vars.clone()),
            Scope::Locals(id, depth) => {
                let frame = of(id).and_then(|thread| thread.frames.get(depth));
                frame.map_or(Vec::new(), |frame| frame.locals.clone())
            }
        }
    }

    fn variables(&self, arguments: &Value) -> Done {
        let reference = arguments["variablesReference"].as_u64().unwrap_or(0) as usize;
        let scope = reference.checked_sub(1).and_then(|place| self.scopes.get(place)).copied();
        let bindings = self.bindings(scope.ok_or("these variables are not there any more")?);
        let variable = |binding: &Binding| {
            let is_bool = matches!(binding.value, selvedge_ir::Value::Bool(_));
            json!({
                "name": binding.name, "value": names::shown(binding.value, binding.word.as_ref()),
                "type": if is_bool { "bool" } else { "int" }, "evaluateName": binding.name, "variablesReference": 0,
            })
        };
        Ok(Reaction::Body(json!({ "variables": bindings.iter().map(variable).collect::<Vec<_>>() })))
    }

    /// Returns the thread and the frame that a request is about; without one, those that move next.
    fn asked_frame(&self, arguments: &Value) -> (Option<ThreadId>, usize) {
        let frame = self.frame(&arguments["frameId"]);
        frame.map_or((self.session.active(self.at), 0), |(thread, depth)| (Some(thread), depth))
    }

    fn evaluate(&self, arguments: &Value) -> Done {
        let text = arguments["expression"].as_str().unwrap_or("");
        let watch = self.session.watch(text).map_err(|error| error.to_string())?;
        let (thread, depth) = self.asked_frame(arguments);
        let value = self.session.evaluate(self.at, thread, depth, &watch).map_err(|error| error.to_string())?;
        let kind = if matches!(value, selvedge_ir::Value::Bool(_)) { "bool" } else { "int" };
        Ok(Reaction::Body(json!({ "result": names::value(value), "type": kind, "variablesReference": 0 })))
    }

    /// Returns the variables of a frame whose names begin with the word before the cursor.
    fn completions(&self, arguments: &Value) -> Value {
        let text = arguments["text"].as_str().unwrap_or("");
        let column = arguments["column"].as_u64().map_or(0, |column| column as usize);
        let typed: Vec<u16> = text.encode_utf16().take(column.saturating_sub(self.lines.first_column)).collect();
        let typed = String::from_utf16_lossy(&typed);
        let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.' | '$');
        let word = typed.rsplit(|char: char| !is_word(char)).next().unwrap_or("");
        let (thread, depth) = self.asked_frame(arguments);
        let of_thread = thread.map_or(Vec::new(), |thread| {
            [self.bindings(Scope::Locals(thread, depth)), self.bindings(Scope::Thread(thread))].concat()
        });
        let all = of_thread.into_iter().chain(self.bindings(Scope::Shared)).map(|binding| binding.name);
        let names: BTreeSet<String> = all.filter(|name| name.starts_with(word)).collect();
        let (length, before) = (word.encode_utf16().count(), typed.encode_utf16().count());
        let target =
            |name: &String| json!({ "label": name, "type": "variable", "start": before - length, "length": length });
        json!({ "targets": names.iter().map(target).collect::<Vec<_>>() })
    }

    /// Returns the error, explained by the values of its parts.
    fn exception(&self) -> Done {
        let ending = self.session.ending().filter(|_| self.at == self.session.len());
        let ending = ending.ok_or("there is no error here")?;
        let details = match &ending.error {
            ReachedError::Assertion { edge, .. } => self.session.parts(*edge),
            ReachedError::Location { labels } => vec![(labels.join(", "), "reached".to_string())],
            ReachedError::Target { states } => states.iter().map(|one| (one.name.clone(), one.value_text())).collect(),
            ReachedError::Together(stands) => {
                let stand = |stand: &selvedge_report::annotated_trace::Stand| {
                    (stand.name.clone(), format!("at {}", stand.labels.join(", ")))
                };
                stands.iter().map(stand).collect()
            }
            ReachedError::Deadlock(waits) => {
                let wait = |wait: &selvedge_report::waits::Wait| (wait.name.clone(), wait.what());
                waits.iter().map(wait).collect()
            }
        };
        let parts: Vec<String> = details.into_iter().map(|(part, value)| format!("{part} = {value}")).collect();
        let description = format!("{}\n{}", ending.text, parts.join("\n"));
        Ok(Reaction::Body(json!({ "exceptionId": ending.rule(), "description": description, "breakMode": "always" })))
    }

    /// Sets the breakpoints on lines of one file.
    fn line_breaks(&mut self, arguments: &Value) -> Value {
        let (path, lines) = (self.path(arguments), self.lines);
        let is_old = |kind: &Kind| matches!(kind, Kind::Line(file, _) if *file == path);
        self.set_breaks(arguments, is_old, |wish| Kind::Line(path.clone(), lines.meant(&wish["line"])))
    }

    /// Replaces the breakpoints of a kind by those that the client wishes.
    fn set_breaks(
        &mut self,
        arguments: &Value,
        is_old: impl Fn(&Kind) -> bool,
        kind: impl Fn(&Value) -> Kind,
    ) -> Value {
        self.breaks.replace(self.session, is_old, kind, &arguments["breakpoints"], self.lines)
    }

    fn data_info(&self, arguments: &Value) -> Value {
        let name = arguments["name"].as_str().unwrap_or("");
        if self.session.variables().contains(name) {
            json!({ "dataId": name, "description": format!("{name} changes"), "accessTypes": ["write"] })
        } else {
            json!({ "dataId": null, "description": format!("{name} is not a variable") })
        }
    }
}

/// Returns the number of a thread for clients, some of which take 0 for none.
fn number(thread: ThreadId) -> u32 {
    thread.0 + 1
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

//! The requests of a client that walks through an execution.

use std::collections::BTreeSet;

use selvedge_ir::trace::ThreadId;
use selvedge_report::annotated_trace::{Binding, ReachedError};
use selvedge_report::names;
use selvedge_report::session::{Direction, Session, Watch};
use serde_json::{Value, json};

use super::breaks::{Break, Kind, is_known};
use super::wire::Request;

/// The answer to a request.
pub(super) enum Reaction {
    Body(Value),
    /// The position changed: the answer, and the event that says why.
    Stopped(Value, Value),
    /// The walk is over.
    Over,
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

type Done = Result<Reaction, String>;

pub(super) struct Walker<'s, 'a> {
    session: &'s Session<'a>,
    at: usize,
    breaks: Vec<Break>,
    next_break: u64,
    /// The frames that were shown since the last stop, by their number less one: thread, and number from the top.
    frames: Vec<(ThreadId, usize)>,
    scopes: Vec<Scope>,
}

impl<'s, 'a> Walker<'s, 'a> {
    pub(super) fn new(session: &'s Session<'a>) -> Walker<'s, 'a> {
        Walker { session, at: 0, breaks: Vec::new(), next_break: 1, frames: Vec::new(), scopes: Vec::new() }
    }

    pub(super) fn handle(&mut self, request: &Request) -> Done {
        use Direction::{Backward, Forward};
        let arguments = &request.arguments;
        match request.command.as_str() {
            "setBreakpoints" => self.set_breaks(
                arguments,
                |kind| matches!(kind, Kind::Line(_)),
                |wish| Kind::Line(wish["line"].as_u64().unwrap_or(0) as usize),
            ),
            "setFunctionBreakpoints" => {
                self.set_breaks(arguments, |kind| matches!(kind, Kind::Name(_)), |wish| Kind::Name(text(&wish["name"])))
            }
            "setDataBreakpoints" => self.set_breaks(
                arguments,
                |kind| matches!(kind, Kind::Data(_)),
                |wish| Kind::Data(text(&wish["dataId"])),
            ),
            "dataBreakpointInfo" => Ok(Reaction::Body(self.data_info(arguments))),
            "setExceptionBreakpoints" => Ok(Reaction::Body(json!({}))),
            "breakpointLocations" => Ok(Reaction::Body(self.locations(arguments))),
            "configurationDone" => Ok(Reaction::Stopped(json!({}), self.stopped("entry", None))),
            "threads" => Ok(Reaction::Body(self.threads())),
            "stackTrace" => self.stack(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "evaluate" => self.evaluate(arguments),
            "exceptionInfo" => self.exception(),
            "gotoTargets" => Ok(Reaction::Body(self.targets(arguments))),
            "goto" => self.jump(arguments),
            "stepIn" => self.step(arguments, Forward, Depth::Any),
            "next" => self.step(arguments, Forward, Depth::NotBelow),
            "stepOut" => self.step(arguments, Forward, Depth::Above),
            "stepBack" => self.step(arguments, Backward, Depth::Any),
            "continue" => Ok(self.run(Forward)),
            "reverseContinue" => Ok(self.run(Backward)),
            "pause" => Ok(Reaction::Stopped(json!({}), self.stopped("pause", None))),
            "disconnect" | "terminate" => Ok(Reaction::Over),
            other => Err(format!("`{other}` is not supported")),
        }
    }

    fn thread_of(&self, arguments: &Value) -> Result<ThreadId, String> {
        let id = arguments["threadId"].as_u64().and_then(|id| u32::try_from(id).ok());
        id.map(|id| ThreadId(id.wrapping_sub(1))).ok_or_else(|| "`threadId` is missing".to_string())
    }

    /// Moves, and forgets the numbers that were given out: they hold until the next stop only.
    fn go(&mut self, position: usize) {
        self.at = position;
        self.frames.clear();
        self.scopes.clear();
    }

    /// The event of a stop. At the end of the execution that is its error.
    fn stopped(&self, reason: &str, hit: Option<u64>) -> Value {
        let thread = self.session.active(self.at).map(number);
        let mut stop = json!({ "reason": reason, "allThreadsStopped": true });
        if let Some(thread) = thread {
            stop["threadId"] = json!(thread);
        }
        if let Some(hit) = hit {
            stop["hitBreakpointIds"] = json!([hit]);
        }
        if let Some(ending) = self.session.ending().filter(|_| self.at == self.session.len()) {
            stop["reason"] = json!("exception");
            stop["description"] = json!("the error is reached");
            stop["text"] = json!(ending.text);
            stop["threadId"] = json!(number(ending.thread));
        }
        stop
    }

    /// One step of a thread; the others do what they did in between. Without a further step of the thread: to the
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
        self.go(found.unwrap_or(end));
        let mut stop = self.stopped("step", None);
        if stop["reason"] == "step" && session.state(self.at).thread(thread).is_some() {
            stop["threadId"] = json!(number(thread));
        }
        Ok(Reaction::Stopped(json!({}), stop))
    }

    /// To the next breakpoint, or to the end or the start.
    fn run(&mut self, way: Direction) -> Reaction {
        let session = self.session;
        let mut hit = None;
        let found = session.seek(self.at, way, |position| {
            hit =
                self.breaks.iter().find(|stop| stop.stops(session, position, way)).map(|stop| (stop.id, stop.reason()));
            hit.is_some()
        });
        let end = if way == Direction::Forward { session.len() } else { 0 };
        self.go(found.unwrap_or(end));
        let (id, reason) = hit.map_or((None, "entry"), |(id, reason)| (Some(id), reason));
        Reaction::Stopped(json!({ "allThreadsContinued": true }), self.stopped(reason, id))
    }

    fn jump(&mut self, arguments: &Value) -> Done {
        let target = arguments["targetId"].as_u64().map(|target| target as usize);
        let target = target.filter(|target| *target <= self.session.len()).ok_or("there is no such target")?;
        self.go(target);
        Ok(Reaction::Stopped(json!({}), self.stopped("goto", None)))
    }

    /// The positions before steps of a line.
    fn targets(&self, arguments: &Value) -> Value {
        let line = arguments["line"].as_u64().unwrap_or(0) as usize;
        let positions = (0..self.session.len()).filter(|position| self.session.next_line(*position) == Some(line));
        let target = |position: usize| {
            let text = self.session.told(position + 1).map_or("", |told| told.text.as_str());
            json!({ "id": position, "label": format!("before step {}: {text}", position + 1), "line": line })
        };
        json!({ "targets": positions.take(100).map(target).collect::<Vec<_>>() })
    }

    fn locations(&self, arguments: &Value) -> Value {
        let first = arguments["line"].as_u64().unwrap_or(0) as usize;
        let last = arguments["endLine"].as_u64().map_or(first, |line| line as usize);
        let lines: BTreeSet<usize> = self.statement_lines().filter(|line| (first..=last).contains(line)).collect();
        json!({ "breakpoints": lines.iter().map(|line| json!({ "line": line })).collect::<Vec<_>>() })
    }

    fn has_statement(&self, line: usize) -> bool {
        self.statement_lines().any(|other| other == line)
    }

    /// Returns the line of each statement.
    fn statement_lines(&self) -> impl Iterator<Item = usize> {
        let context = self.session.context;
        context.map.edges.iter().map(move |origin| context.source.line(origin.span.start as usize))
    }

    fn threads(&self) -> Value {
        let name = |thread: selvedge_report::session::ThreadSight| {
            let atomic = if thread.atomic { ", atomic" } else { "" };
            json!({ "id": number(thread.id), "name": format!("{}{atomic}", thread.name) })
        };
        json!({ "threads": self.session.threads(self.at).into_iter().map(name).collect::<Vec<_>>() })
    }

    fn stack(&mut self, arguments: &Value) -> Done {
        let thread = self.thread_of(arguments)?;
        let threads = self.session.threads(self.at);
        let seen = threads.iter().find(|seen| seen.id == thread).ok_or("this thread has ended")?;
        let path = std::path::absolute(&self.session.context.source.path).unwrap_or_default();
        let mut frames = Vec::new();
        for (depth, frame) in seen.frames.iter().enumerate() {
            self.frames.push((thread, depth));
            let position = frame.position.unwrap_or(selvedge_report::Position { line: 0, column: 0 });
            frames.push(json!({
                "id": self.frames.len(), "name": frame.name, "line": position.line, "column": position.column,
                "source": {
                    "name": path.file_name().map(|name| name.to_string_lossy()),
                    "path": path.to_string_lossy(),
                },
            }));
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

    fn evaluate(&self, arguments: &Value) -> Done {
        let watch = Watch::parse(arguments["expression"].as_str().unwrap_or("")).map_err(|error| error.to_string())?;
        let frame = self.frame(&arguments["frameId"]);
        let (thread, depth) = frame.map_or((self.session.active(self.at), 0), |(thread, depth)| (Some(thread), depth));
        let value = self.session.evaluate(self.at, thread, depth, &watch).map_err(|error| error.to_string())?;
        Ok(Reaction::Body(json!({ "result": names::value(value), "variablesReference": 0 })))
    }

    /// The error, explained by the values of its parts.
    fn exception(&self) -> Done {
        let ending = self.session.ending().filter(|_| self.at == self.session.len());
        let ending = ending.ok_or("there is no error here")?;
        let (id, details) = match &ending.error {
            ReachedError::Assertion { edge, .. } => ("assertion", self.session.parts(*edge)),
            ReachedError::Location { labels } => ("label", vec![(labels.join(", "), "reached".to_string())]),
            ReachedError::Together(stands) => {
                let stand = |stand: &selvedge_report::annotated_trace::Stand| {
                    (stand.name.clone(), format!("at {}", stand.labels.join(", ")))
                };
                ("meeting", stands.iter().map(stand).collect())
            }
            ReachedError::Deadlock(waits) => {
                let wait = |wait: &selvedge_report::waits::Wait| (wait.name.clone(), wait.what());
                ("deadlock", waits.iter().map(wait).collect())
            }
        };
        let parts: Vec<String> = details.into_iter().map(|(part, value)| format!("{part} = {value}")).collect();
        let description = format!("{}\n{}", ending.text, parts.join("\n"));
        Ok(Reaction::Body(json!({ "exceptionId": id, "description": description, "breakMode": "always" })))
    }

    fn add(&mut self, kind: Kind, condition: &Value) -> Result<u64, String> {
        let text = condition.as_str().filter(|text| !text.trim().is_empty());
        let condition = text.map(Watch::parse).transpose().map_err(|error| error.to_string())?;
        let id = self.next_break;
        self.next_break += 1;
        self.breaks.push(Break { id, kind, condition });
        Ok(id)
    }

    fn added(&mut self, kind: Kind, wish: &Value) -> Value {
        if !self.is_known(&kind) {
            return json!({ "verified": false, "message": "there is no such place in the program" });
        }
        let line = wish["line"].clone();
        match self.add(kind, &wish["condition"]) {
            Ok(id) if line.is_null() => json!({ "id": id, "verified": true }),
            Ok(id) => json!({ "id": id, "verified": true, "line": line }),
            Err(message) => json!({ "verified": false, "message": message }),
        }
    }

    /// Replaces the breakpoints of a kind by those that the client wishes.
    fn set_breaks(&mut self, arguments: &Value, old: fn(&Kind) -> bool, kind: impl Fn(&Value) -> Kind) -> Done {
        self.breaks.retain(|stop| !old(&stop.kind));
        let wishes = arguments["breakpoints"].as_array().map_or(&[][..], Vec::as_slice);
        let set: Vec<Value> = wishes.iter().map(|wish| self.added(kind(wish), wish)).collect();
        Ok(Reaction::Body(json!({ "breakpoints": set })))
    }

    fn is_known(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Line(line) => self.has_statement(*line),
            Kind::Name(name) => is_known(self.session, name),
            Kind::Data(name) => self.is_variable(name),
        }
    }

    fn is_variable(&self, name: &str) -> bool {
        let program = self.session.context.program;
        let all = names::Names::new(program);
        program.vars.indices().any(|var| all.of(var) == name)
    }

    fn data_info(&self, arguments: &Value) -> Value {
        let name = arguments["name"].as_str().unwrap_or("");
        if self.is_variable(name) {
            json!({ "dataId": name, "description": format!("{name} changes"), "accessTypes": ["write"] })
        } else {
            json!({ "dataId": null, "description": format!("{name} is no variable") })
        }
    }
}

/// The number of a thread for clients, some of which take 0 for none.
fn number(thread: ThreadId) -> u32 {
    thread.0 + 1
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

//! Looking for the execution, on a thread of its own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use selvedge_check::{CancelToken, Event, Observer, Run, Solvers};
use selvedge_report::session::Session;
use serde_json::{Value, json};

use super::walker::entry_events;
use super::wire::{Client, Request};
use crate::found::{Found, Launched, SessionOptions, Wanted, find};
use crate::guarded;

/// Engines nest deeply.
const STACK: usize = 256 << 20;

/// What the thread of a search shares with the one that reads requests.
pub(super) struct Shared<'e> {
    client: &'e Client<'e>,
    solvers: &'e Solvers,
    given: SessionOptions,
    /// Whether the client shows the progress of long work.
    shows_progress: AtomicBool,
    state: Mutex<State>,
    /// Signals that a search has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The search that runs.
    running: Option<CancelToken>,
    /// The execution that was found last, until the walk begins.
    found: Option<Box<Found>>,
    /// The arguments of the last launch.
    arguments: Value,
}

impl<'e> Shared<'e> {
    pub(super) fn new(client: &'e Client<'e>, solvers: &'e Solvers, given: SessionOptions) -> Shared<'e> {
        let (shows_progress, state, ended) = (AtomicBool::new(false), Mutex::default(), Condvar::new());
        Shared { client, solvers, given, shows_progress, state, ended }
    }

    /// Keeps what a search has found.
    fn end(&self, found: Option<Box<Found>>) {
        let mut state = self.state();
        (state.running, state.found) = (None, found);
        self.ended.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The search for executions.
pub(super) struct Launcher<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    shared: &'e Shared<'e>,
}

/// What the client is told once the execution is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// That it may set breakpoints.
    Launched,
    /// That the walk is at the start: its breakpoints are known.
    Restarted,
}

impl<'s, 'e> Launcher<'s, 'e> {
    pub(super) fn new(scope: &'s Scope<'s, 'e>, shared: &'e Shared<'e>) -> Launcher<'s, 'e> {
        Launcher { scope, shared }
    }

    /// Reads what the client can do.
    pub(super) fn follow(&self, arguments: &Value) {
        self.shared.shows_progress.store(arguments["supportsProgressReporting"] == true, Ordering::Relaxed);
    }

    /// Stops the search that runs, if one does. Its request is answered with the reason.
    pub(super) fn cancel(&self) {
        if let Some(running) = &self.shared.state().running {
            running.cancel();
        }
    }

    /// Waits until no search runs.
    pub(super) fn wait(&self) {
        let is_running = |state: &mut State| state.running.is_some();
        drop(self.shared.ended.wait_while(self.shared.state(), is_running));
    }

    /// Returns the execution that was found, once.
    pub(super) fn take(&self) -> Option<Box<Found>> {
        self.shared.state().found.take()
    }

    /// Looks for the execution that a launch configuration asks for.
    pub(super) fn launch(&self, request: Request) -> io::Result<()> {
        let arguments = request.arguments.clone();
        self.start(request, arguments, Begin::Launched)
    }

    /// Looks again: for what the request asks for, or else for what was asked before.
    pub(super) fn restart(&self, request: Request) -> io::Result<()> {
        let given = &request.arguments["arguments"];
        let arguments = if given.is_object() { given.clone() } else { self.shared.state().arguments.clone() };
        self.start(request, arguments, Begin::Restarted)
    }

    fn start(&self, request: Request, arguments: Value, begin: Begin) -> io::Result<()> {
        let cancel = CancelToken::default();
        {
            let mut state = self.shared.state();
            if state.running.is_some() {
                let message = "a check is already running: end it with `cancel` or `terminate`".to_string();
                return self.shared.client.answer(&request, Err(message));
            }
            (state.running, state.arguments) = (Some(cancel.clone()), arguments.clone());
        }
        let (shared, asked) = (self.shared, request.clone());
        // A client that is gone is noticed by the thread that reads from it.
        let work = move || drop(search(shared, &request, arguments, begin, cancel));
        match std::thread::Builder::new().stack_size(STACK).spawn_scoped(self.scope, work) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.shared.end(None);
                self.shared.client.answer(&asked, Err(error.to_string()))
            }
        }
    }
}

/// Tells the client what a search does.
struct Progress<'a, 'e> {
    shared: &'a Shared<'e>,
    id: String,
}

impl Progress<'_, '_> {
    fn tell(&self, event: &'static str, mut body: Value) {
        if self.shared.shows_progress.load(Ordering::Relaxed) {
            body["progressId"] = json!(self.id);
            drop(self.shared.client.event((event, body)));
        }
    }
}

impl Observer for Progress<'_, '_> {
    fn event(&self, event: Event) {
        if let Event::Phase(phase) = event {
            self.tell("progressUpdate", json!({ "message": phase }));
        }
    }
}

/// Looks for an execution and tells the client. Where there is none the session ends with a sentence that says why.
fn search(
    shared: &Shared<'_>,
    request: &Request,
    arguments: Value,
    begin: Begin,
    cancel: CancelToken,
) -> io::Result<()> {
    let progress = Progress { shared, id: format!("check-{}", request.seq) };
    progress.tell("progressStart", json!({ "title": "Selvedge", "requestId": request.seq, "cancellable": true }));
    let wanted = serde_json::from_value::<Wanted>(arguments).map_err(|error| error.to_string());
    let answer = wanted.and_then(|wanted| {
        let run = Run::new(cancel.clone(), wanted.limits()?, &progress).with_solvers(shared.solvers.clone());
        guarded(|| find(&wanted, shared.given, &run))?
    });
    progress.tell("progressEnd", json!({}));
    let client = shared.client;
    match answer {
        Ok(_) if cancel.is_cancelled() => {
            shared.end(None);
            client.answer(request, Err("the check was cancelled".to_string()))
        }
        Ok(Launched::Found(found)) => found_it(shared, request, found, begin),
        Ok(Launched::None(line)) => {
            shared.end(None);
            client.answer(request, Ok(json!({})))?;
            let output = format!("there is no execution to step through\n{line}\n");
            client.event(("output", json!({ "category": "important", "output": output })))?;
            client.event(("terminated", json!({})))
        }
        Err(message) => {
            shared.end(None);
            client.answer(request, Err(message))?;
            match begin {
                Begin::Launched => Ok(()),
                Begin::Restarted => client.event(("terminated", json!({}))),
            }
        }
    }
}

/// Tells the client that the execution is found, and hands it over. Requests that wait for it are answered afterwards.
fn found_it(shared: &Shared<'_>, request: &Request, found: Box<Found>, begin: Begin) -> io::Result<()> {
    let events = match begin {
        Begin::Launched => vec![("initialized", json!({}))],
        Begin::Restarted => {
            let task = found.execution.task.task();
            let session = || Session::of(found.context(), &task, &found.execution.counterexample);
            guarded(|| entry_events(&session())).unwrap_or_default()
        }
    };
    let answered = shared.client.answer(request, Ok(json!({})));
    let told = answered.and_then(|()| events.into_iter().try_for_each(|event| shared.client.event(event)));
    shared.end(Some(found));
    told
}

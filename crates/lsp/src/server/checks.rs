//! Checks that run beside the server: with progress, and stopped when the client says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use lsp_server::{Connection, ErrorCode, Message, Notification, RequestId, Response};
use selvedge_check::{CancelToken, Event, Limits, Observer, Run, Solvers};
use selvedge_report::text;
use serde_json::{Value, json};

use super::{id_of, path_of};
use crate::found::{Wanted, ask, load};

/// Engines nest deeply.
const STACK: usize = 256 << 20;

/// A check that runs.
struct Running {
    request: RequestId,
    token: Value,
    cancel: CancelToken,
}

/// The checks of a client.
pub(super) struct Checks<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    connection: &'e Connection,
    solvers: &'e Solvers,
    running: Arc<Mutex<Vec<Running>>>,
}

/// The input of a check.
struct Job {
    request: RequestId,
    uri: String,
    text: String,
    arguments: Value,
    token: Value,
    cancel: CancelToken,
}

impl<'s, 'e: 's> Checks<'s, 'e> {
    pub(super) fn new(scope: &'s Scope<'s, 'e>, connection: &'e Connection, solvers: &'e Solvers) -> Checks<'s, 'e> {
        Checks { scope, connection, solvers, running: Arc::default() }
    }

    /// Starts a check; its answer is sent when it is there.
    pub(super) fn start(&mut self, request: RequestId, uri: &str, text: String, arguments: Value, token: Value) {
        let cancel = CancelToken::default();
        let entry = Running { request: request.clone(), token: token.clone(), cancel: cancel.clone() };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        let (connection, solvers, running) = (self.connection, self.solvers, Arc::clone(&self.running));
        let job = Job { request, uri: uri.to_string(), text, arguments, token, cancel };
        let work = move || {
            let request = job.request.clone();
            let response = execute(job, connection, solvers);
            running.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.request != request);
            // A client that is gone needs no answer.
            drop(connection.sender.send(Message::Response(response)));
        };
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(self.scope, work);
        if let Err(error) = spawned {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(one) = running.pop() {
                let response = Response::new_err(one.request, ErrorCode::InternalError as i32, error.to_string());
                drop(self.connection.sender.send(Message::Response(response)));
            }
        }
    }

    pub(super) fn cancel_request(&self, id: &Value) {
        let id = id_of(id);
        self.cancel(|one| Some(&one.request) == id.as_ref());
    }

    pub(super) fn cancel_token(&self, token: &Value) {
        self.cancel(|one| one.token == *token);
    }

    pub(super) fn cancel_all(&self) {
        self.cancel(|_| true);
    }

    fn cancel(&self, wanted: impl Fn(&Running) -> bool) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().filter(|one| wanted(one)).for_each(|one| one.cancel.cancel());
    }
}

/// Tells the client what a check does.
struct Progress<'e> {
    connection: &'e Connection,
    token: Value,
}

impl Progress<'_> {
    fn tell(&self, value: Value) {
        if !self.token.is_null() {
            let params = json!({ "token": self.token, "value": value });
            let notification = Notification { method: "$/progress".to_string(), params };
            drop(self.connection.sender.send(Message::Notification(notification)));
        }
    }
}

impl Observer for Progress<'_> {
    fn event(&self, event: Event) {
        if let Event::Phase(phase) = event {
            self.tell(json!({ "kind": "report", "message": phase }));
        }
    }
}

fn execute(job: Job, connection: &Connection, solvers: &Solvers) -> Response {
    let progress = Progress { connection, token: job.token.clone() };
    progress.tell(json!({ "kind": "begin", "title": "Selvedge", "cancellable": true }));
    let result = answer(&job, &progress, solvers);
    progress.tell(json!({ "kind": "end" }));
    match result {
        Ok(_) if job.cancel.is_cancelled() => cancelled(job.request),
        Ok(value) => Response::new_ok(job.request, value),
        Err(message) => Response::new_err(job.request, ErrorCode::RequestFailed as i32, message),
    }
}

fn cancelled(request: RequestId) -> Response {
    Response::new_err(request, ErrorCode::RequestCanceled as i32, "the check was cancelled".to_string())
}

/// The verdict, its last line, and the text that the command line prints.
fn answer(job: &Job, progress: &Progress<'_>, solvers: &Solvers) -> Result<Value, String> {
    let mut wanted: Wanted = serde_json::from_value(job.arguments.clone()).map_err(|error| error.to_string())?;
    wanted.assertion = wanted.assertion.or_else(|| job.arguments["line"].as_u64().map(|line| line.to_string()));
    let question = wanted.question(&job.text);
    let subjected = load(&path_of(&job.uri), job.text.clone(), &wanted.load_options(&question))?;
    let run = Run::new(job.cancel.clone(), Limits::default(), progress).with_solvers(solvers.clone());
    let answer = ask(&subjected, question, &run)?;
    let context =
        selvedge_report::Context { program: &answer.model.program, map: &subjected.map, source: &subjected.source };
    let style = text::Style { palette: selvedge_report::Palette::plain(), detail: text::Detail::Changes };
    Ok(json!({
        "verdict": answer.outcome.name(),
        "line": answer.outcome.line(),
        "text": text::report(context, &answer, std::time::Duration::ZERO, style),
        "html": selvedge_report::html::report(context, &answer, std::time::Duration::ZERO),
    }))
}

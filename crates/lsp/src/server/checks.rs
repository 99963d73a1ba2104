//! Checks that run beside the server: with progress, and stopped when the client says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use selvedge_check::{CancelToken, Event, Limits, Observer, Run, Solvers};
use selvedge_report::{Reading, text};
use serde_json::{Value, json};

use super::client::{Client, ErrorCode, Refusal};
use super::{guarded, path_of};
use crate::found::{Asked, SessionOptions, Wanted, ask, load};

/// Engines nest deeply.
const STACK: usize = 256 << 20;

/// A check that runs.
struct Running {
    request: Value,
    token: Value,
    cancel: CancelToken,
}

/// The checks of a client.
pub(super) struct Checks<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    client: &'e Client<'e>,
    solvers: &'e Solvers,
    given: SessionOptions,
    running: Arc<Mutex<Vec<Running>>>,
}

/// The input of a check.
struct Job {
    request: Value,
    uri: String,
    text: String,
    given: SessionOptions,
    arguments: Value,
    token: Value,
    cancel: CancelToken,
}

impl<'s, 'e: 's> Checks<'s, 'e> {
    pub(super) fn new(
        scope: &'s Scope<'s, 'e>,
        client: &'e Client<'e>,
        solvers: &'e Solvers,
        given: SessionOptions,
    ) -> Checks<'s, 'e> {
        Checks { scope, client, solvers, given, running: Arc::default() }
    }

    /// Starts a check; its answer is sent when it is there.
    pub(super) fn start(&mut self, request: Value, uri: &str, text: String, arguments: Value, token: Value) {
        let cancel = CancelToken::default();
        let entry = Running { request: request.clone(), token: token.clone(), cancel: cancel.clone() };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        let (client, solvers, running) = (self.client, self.solvers, Arc::clone(&self.running));
        let job = Job { request, uri: uri.to_string(), text, given: self.given, arguments, token, cancel };
        let work = move || {
            let request = job.request.clone();
            let result = execute(&job, client, solvers);
            running.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.request != request);
            // A client that is gone needs no answer.
            drop(client.answer(&request, result));
        };
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(self.scope, work);
        if let Err(error) = spawned {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(one) = running.pop() {
                drop(self.client.answer(&one.request, Err((ErrorCode::InternalError, error.to_string()))));
            }
        }
    }

    pub(super) fn cancel_request(&self, id: &Value) {
        self.cancel(|one| one.request == *id);
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
    client: &'e Client<'e>,
    token: Value,
}

impl Progress<'_> {
    fn tell(&self, value: Value) {
        if !self.token.is_null() {
            let params = json!({ "token": self.token, "value": value });
            drop(self.client.notify("$/progress", &params));
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

fn execute<'e>(job: &Job, client: &'e Client<'e>, solvers: &Solvers) -> Result<Value, Refusal> {
    let progress = Progress { client, token: job.token.clone() };
    progress.tell(json!({ "kind": "begin", "title": "Selvedge", "cancellable": true }));
    let result = guarded(|| answer(job, &progress, solvers));
    progress.tell(json!({ "kind": "end" }));
    match result? {
        Ok(_) if job.cancel.is_cancelled() => Err((ErrorCode::RequestCancelled, "the check was cancelled".to_string())),
        Ok(value) => Ok(value),
        Err(message) => Err((ErrorCode::RequestFailed, message)),
    }
}

/// The verdict, its last line, and the text that the command line prints.
fn answer(job: &Job, progress: &Progress<'_>, solvers: &Solvers) -> Result<Value, String> {
    let mut wanted: Wanted = serde_json::from_value(job.arguments.clone()).map_err(|error| error.to_string())?;
    wanted.assertion = wanted.assertion.or_else(|| job.arguments["line"].as_u64().map(|line| line.to_string()));
    wanted.program = path_of(&job.uri);
    let Asked { question, options, file_options } = wanted.asked(&job.text, job.given)?;
    let subjected = load(&wanted.program, job.text.clone(), &options)?;
    let run = Run::new(job.cancel.clone(), Limits::default(), progress).with_solvers(solvers.clone());
    let answer = ask(&subjected, question, &run)?;
    let context =
        selvedge_report::Context { program: &answer.model.program, map: &subjected.map, source: &subjected.source };
    let reading = Reading { file_options: &file_options, ..Reading::default() };
    let style =
        text::Style { palette: selvedge_report::Palette::plain(), detail: text::Detail::Changes, width: text::WIDTH };
    Ok(json!({
        "verdict": answer.outcome.name(),
        "line": answer.outcome.line(),
        "text": text::report(context, &answer, reading, style),
        "html": selvedge_report::html::report(context, &answer, reading),
    }))
}

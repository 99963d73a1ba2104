//! Checks that run beside the server: with progress, and stopped when the client says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use selvedge_check::{CancelToken, Event, Limits, Observer, Run, Solvers};
use selvedge_report::{Reading, text};
use serde_json::{Value, json};

use super::client::{Client, ErrorCode, Refusal};
use super::files::Files;
use super::found::Checked;
use super::{guarded, path_of};
use crate::found::{Asked, SessionOptions, Wanted, ask, load};

/// Engines nest deeply.
const STACK: usize = 256 << 20;

/// Why a check runs.
#[derive(Clone)]
pub(super) enum Asking {
    /// A request with this number, and the token for its progress.
    Request { id: Value, token: Value },
    /// The file was saved. Nothing is answered, and the time is limited.
    Saved { within: Duration },
}

impl Asking {
    fn token(&self) -> Value {
        match self {
            Asking::Request { token, .. } => token.clone(),
            Asking::Saved { .. } => Value::Null,
        }
    }
}

/// A check that runs.
struct Running {
    number: u64,
    uri: String,
    asking: Asking,
    cancel: CancelToken,
}

/// The checks of a client.
pub(super) struct Checks<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    client: &'e Client<'e>,
    files: &'e Files,
    solvers: &'e Solvers,
    given: SessionOptions,
    running: Arc<Mutex<Vec<Running>>>,
    /// The number of checks that were started.
    started: u64,
}

/// The input of a check.
struct Job {
    uri: String,
    text: Arc<str>,
    given: SessionOptions,
    arguments: Value,
    asking: Asking,
    cancel: CancelToken,
}

impl<'s, 'e: 's> Checks<'s, 'e> {
    pub(super) fn new(
        scope: &'s Scope<'s, 'e>,
        client: &'e Client<'e>,
        files: &'e Files,
        solvers: &'e Solvers,
        given: SessionOptions,
    ) -> Checks<'s, 'e> {
        Checks { scope, client, files, solvers, given, running: Arc::default(), started: 0 }
    }

    /// Starts a check; its answer is sent when it is there. A check of a file that is saved replaces the one before.
    pub(super) fn start(&mut self, asking: Asking, uri: &str, text: Arc<str>, arguments: Value) {
        if matches!(asking, Asking::Saved { .. }) {
            self.cancel(|one| one.uri == uri && matches!(one.asking, Asking::Saved { .. }));
        }
        let (cancel, uri, number) = (CancelToken::default(), uri.to_string(), self.started);
        self.started += 1;
        let entry = Running { number, uri: uri.clone(), asking: asking.clone(), cancel: cancel.clone() };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        let (client, files, solvers) = (self.client, self.files, self.solvers);
        let (running, failed) = (Arc::clone(&self.running), asking.clone());
        let job = Job { uri, text, given: self.given, arguments, asking, cancel };
        let work = move || {
            let result = execute(&job, client, files, solvers);
            running.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.number != number);
            tell(client, &job.asking, result);
        };
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(self.scope, work);
        if let Err(error) = spawned {
            self.running.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.number != number);
            tell(self.client, &failed, Err((ErrorCode::InternalError, error.to_string())));
        }
    }

    pub(super) fn cancel_request(&self, id: &Value) {
        self.cancel(|one| matches!(&one.asking, Asking::Request { id: request, .. } if request == id));
    }

    pub(super) fn cancel_token(&self, token: &Value) {
        self.cancel(|one| !token.is_null() && one.asking.token() == *token);
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

/// Answers the request of a check. A client that is gone needs no answer.
fn tell(client: &Client<'_>, asking: &Asking, result: Result<Value, Refusal>) {
    if let Asking::Request { id, .. } = asking {
        drop(client.answer(id, result));
    }
}

fn execute<'e>(job: &Job, client: &'e Client<'e>, files: &Files, solvers: &Solvers) -> Result<Value, Refusal> {
    let progress = Progress { client, token: job.asking.token() };
    progress.tell(json!({ "kind": "begin", "title": "Selvedge", "cancellable": true }));
    let result = guarded(|| answer(job, &progress, files, solvers));
    progress.tell(json!({ "kind": "end" }));
    match result? {
        Ok(_) if job.cancel.is_cancelled() => Err((ErrorCode::RequestCancelled, "the check was cancelled".to_string())),
        Ok(value) => Ok(value),
        Err(message) => Err((ErrorCode::RequestFailed, message)),
    }
}

/// Returns the verdict, its last line, and the text that the command line prints. What was found is shown in the file,
/// if it still has this text.
fn answer(job: &Job, progress: &Progress<'_>, files: &Files, solvers: &Solvers) -> Result<Value, String> {
    let mut wanted: Wanted = serde_json::from_value(job.arguments.clone()).map_err(|error| error.to_string())?;
    let (line, is_plain) = (job.arguments["line"].as_u64(), wanted.is_plain());
    wanted.assertion = wanted.assertion.or_else(|| line.map(|line| line.to_string()));
    wanted.program = path_of(&job.uri);
    let Asked { question, options, file_options } = wanted.asked(&job.text, job.given)?;
    let subjected = load(&wanted.program, job.text.to_string(), &options)?;
    let limits = match job.asking {
        Asking::Request { .. } => wanted.limits()?,
        Asking::Saved { within } => Limits { time: Some(within), ..Limits::default() },
    };
    let run = Run::new(job.cancel.clone(), limits, progress).with_solvers(solvers.clone());
    let answer = ask(&subjected, question, &wanted, &run)?;
    let context =
        selvedge_report::Context { program: &answer.model.program, map: &subjected.map, source: &subjected.source };
    if is_plain && !job.cancel.is_cancelled() && files.record(&job.uri, &job.text, Checked::new(line, &answer, context))
    {
        // A client that is gone is noticed by the thread that reads from it.
        drop(files.publish(&job.uri, progress.client, job.given));
        drop(progress.client.refresh());
    }
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

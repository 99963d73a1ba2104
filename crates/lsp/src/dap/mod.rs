//! `selvedge dap`: the Debug Adapter Protocol over an execution to an error.
//!
//! The execution is there before the walk begins: `launch` looks for it, or reads it. A *stop* is a position in it, so
//! going back is as cheap as going forward, and stepping one thread lets the others do what they did in between. The
//! line that a frame shows is the statement that is next, as in other debuggers; a position before the step of a thread
//! is where a breakpoint on its line stops.
//!
//! The check runs on a thread of its own, so that the client can end it; all other requests wait until it is done.

mod breaks;
mod launch;
mod walker;
mod wire;

use std::io::{self, BufRead, Write};

use selvedge_check::Solvers;
use selvedge_report::session::Session;
use serde_json::{Value, json};

use crate::found::{Found, SessionOptions};
use breaks::Breaks;
use launch::{Launcher, Shared};
use walker::{Lines, Reaction, Walker};
use wire::{Client, Request, Requests};

/// Returns what the adapter can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsGotoTargetsRequest": true,
        "supportsDataBreakpoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsCompletionsRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsSteppingGranularity": false,
        "exceptionBreakpointFilters": [],
    })
}

/// Serves one client until it disconnects.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut (dyn Write + Send),
    solvers: &Solvers,
    given: SessionOptions,
) -> io::Result<()> {
    let client = Client::new(output);
    let shared = Shared::new(&client, solvers, given);
    std::thread::scope(|scope| {
        let launcher = Launcher::new(scope, &shared);
        let served = converse(&mut Requests::new(input), &client, &launcher);
        launcher.cancel();
        served
    })
}

/// Follows the requests: looks for an execution, and walks through it, as often as the client restarts.
fn converse(requests: &mut Requests<'_>, client: &Client<'_>, launcher: &Launcher<'_, '_>) -> io::Result<()> {
    let (mut lines, mut breaks) = (Lines::default(), Breaks::default());
    while let Some(request) = requests.next(client)? {
        if !matches!(request.command.as_str(), "initialize" | "cancel" | "disconnect" | "terminate") {
            launcher.wait();
        }
        if let Some(found) = launcher.take() {
            match walk(requests, client, &found, (lines, breaks), request)? {
                Ended::Over => return Ok(()),
                Ended::Restarted(request, kept) => {
                    breaks = kept;
                    launcher.restart(request)?;
                }
            }
            continue;
        }
        match request.command.as_str() {
            "initialize" => {
                lines = Lines::read(&request.arguments);
                launcher.follow(&request.arguments);
                client.answer(&request, Ok(capabilities()))?;
            }
            "launch" | "attach" => launcher.launch(request)?,
            "cancel" => {
                launcher.cancel();
                client.answer(&request, Ok(json!({})))?;
            }
            "disconnect" | "terminate" => {
                launcher.cancel();
                return client.answer(&request, Ok(json!({})));
            }
            other => client.answer(&request, Err(format!("`{other}` needs a launched program")))?,
        }
    }
    Ok(())
}

/// How a walk ends.
enum Ended {
    Over,
    /// The client wishes for a new execution; the breakpoints are kept.
    Restarted(Request, Breaks),
}

/// Walks through an execution. `first` is the first request about it.
fn walk(
    requests: &mut Requests<'_>,
    client: &Client<'_>,
    found: &Found,
    (lines, breaks): (Lines, Breaks),
    first: Request,
) -> io::Result<Ended> {
    let session = Session::of(found.context(), &found.execution.task.task(), &found.execution.counterexample);
    let mut walker = Walker::new(&session, lines, breaks);
    let mut next = Some(first);
    while let Some(request) = next {
        if request.command == "restart" {
            return Ok(Ended::Restarted(request, walker.breaks));
        }
        match walker.handle(&request) {
            Ok(Reaction::Body(body)) => client.answer(&request, Ok(body))?,
            Ok(Reaction::Moved(body, events)) => {
                client.answer(&request, Ok(body))?;
                events.into_iter().try_for_each(|event| client.event(event))?;
            }
            Ok(Reaction::Over) => {
                client.answer(&request, Ok(json!({})))?;
                client.event(("terminated", json!({})))?;
                return Ok(Ended::Over);
            }
            Err(message) => client.answer(&request, Err(message))?,
        }
        next = requests.next(client)?;
    }
    Ok(Ended::Over)
}

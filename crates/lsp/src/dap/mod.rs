//! `selvedge dap`: the Debug Adapter Protocol over an execution to an error.
//!
//! The execution is there before the walk begins: `launch` looks for it, or reads it. A *stop* is a position in it, so
//! going back is as cheap as going forward, and stepping one thread lets the others do what they did in between. The
//! line that a frame shows is the statement that is next, as in other debuggers; a position before the step of a thread
//! is where a breakpoint on its line stops.

mod breaks;
mod walker;
mod wire;

use std::io::{self, BufRead, Write};

use selvedge_check::{Run, Solvers};
use selvedge_report::session::Session;
use serde_json::{Value, json};

use crate::found::{Found, Launched, SessionOptions, Wanted, find};
use walker::{Reaction, Walker};
use wire::{Request, Wire};

/// Returns what the adapter can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsGotoTargetsRequest": true,
        "supportsDataBreakpoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": false,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsSteppingGranularity": false,
        "exceptionBreakpointFilters": [],
    })
}

/// Serves one client until it disconnects.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    solvers: &Solvers,
    given: SessionOptions,
) -> io::Result<()> {
    let mut wire = Wire::new(input, output);
    while let Some(request) = wire.read()? {
        match request.command.as_str() {
            "initialize" => wire.answer(&request, Ok(capabilities()))?,
            "launch" | "attach" => {
                if let Some(found) = launch(&mut wire, &request, solvers, given)? {
                    return walk(&mut wire, &found);
                }
            }
            "disconnect" | "terminate" => return wire.answer(&request, Ok(json!({}))),
            other => wire.answer(&request, Err(format!("`{other}` needs a launched program")))?,
        }
    }
    Ok(())
}

/// Looks for the execution. Where there is none the session ends with a sentence that says why.
fn launch(
    wire: &mut Wire<'_>,
    request: &Request,
    solvers: &Solvers,
    given: SessionOptions,
) -> io::Result<Option<Found>> {
    let wanted: Result<Wanted, _> = serde_json::from_value(request.arguments.clone());
    let run = Run::unlimited().with_solvers(solvers.clone());
    let answer = wanted.map_err(|error| error.to_string()).and_then(|wanted| find(&wanted, given, &run));
    match answer {
        Ok(Launched::Found(found)) => {
            wire.answer(request, Ok(json!({})))?;
            wire.event("initialized", json!({}))?;
            Ok(Some(*found))
        }
        Ok(Launched::None(line)) => {
            wire.answer(request, Ok(json!({})))?;
            let output = format!("there is no execution to walk through\n{line}\n");
            wire.event("output", json!({ "category": "important", "output": output }))?;
            wire.event("terminated", json!({}))?;
            Ok(None)
        }
        Err(message) => {
            wire.answer(request, Err(message))?;
            Ok(None)
        }
    }
}

fn walk(wire: &mut Wire<'_>, found: &Found) -> io::Result<()> {
    let session = Session::of(found.context(), &found.execution.task.task(), &found.execution.counterexample);
    let mut walker = Walker::new(&session);
    while let Some(request) = wire.read()? {
        match walker.handle(&request) {
            Ok(Reaction::Body(body)) => wire.answer(&request, Ok(body))?,
            Ok(Reaction::Stopped(body, stop)) => {
                wire.answer(&request, Ok(body))?;
                wire.event("stopped", stop)?;
            }
            Ok(Reaction::Over) => {
                wire.answer(&request, Ok(json!({})))?;
                return wire.event("terminated", json!({}));
            }
            Err(message) => wire.answer(&request, Err(message))?,
        }
    }
    Ok(())
}

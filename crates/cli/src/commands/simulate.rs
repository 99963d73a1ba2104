//! `selvedge simulate`: one random run.

use selvedge_check::{Counterexample, Task};
use selvedge_driver::{RunEnd, Simulation, simulate};
use selvedge_replay::{Interpreter, Replay, replay};
use selvedge_report::json::{self, TraceFile};
use selvedge_report::session::Session as Walk;
use selvedge_report::text;
use selvedge_report::{Execution, html};

use super::debug;
use super::program::{self, FileQuestion, Program, Warnings};
use crate::args::SimulateArgs;
use crate::exit::Exit;
use crate::outputs::{self, CommandFiles};
use crate::session::Session;

pub(crate) fn run(args: &SimulateArgs, session: &Session) -> Result<Exit, Exit> {
    let files = CommandFiles::reading([&args.input], session).writing("--html", args.html.as_ref());
    files.writing("--trace-out", args.trace_out.as_ref()).check(session)?;
    let (subject, posed) = program::pose(&args.input, &args.question, FileQuestion::Counts, Warnings::Hidden, session)?;
    let task = posed.task();
    if args.interactive {
        if let Err(reason) = Interpreter::new(task.program, task.threads).enumerable() {
            return Ok(end(Exit::Unknown, &reason, session));
        }
        return by_hand(&subject, &task, args, session);
    }
    let conditions = session.run();
    match simulate(&task, args.seed, args.steps, &conditions) {
        Ok(simulation) => Ok(tell(&subject, &task, &simulation, args, session)),
        Err(stop) => Ok(end(Exit::from(stop), &stop.to_string(), session)),
    }
}

/// Lets the user choose each step, from the start that the seed gives, and tells the run in the end.
fn by_hand(subject: &Program, task: &Task<'_>, args: &SimulateArgs, session: &Session) -> Result<Exit, Exit> {
    let conditions = session.run();
    let begun = simulate(task, args.seed, 0, &conditions);
    let begun = begun.map_err(|stop| end(Exit::from(stop), &stop.to_string(), session))?;
    let context = subject.context(task.program);
    let execution = Execution { steps: &[], start: &begun.start, states: &[], violation: None, irrelevant: None };
    let mut walk = Walk::new(context, &execution);
    debug::by_hand(&mut walk, task, session)?;
    let trace = walk.trace(begun.trace.start);
    let states: Vec<_> = (1..=walk.len()).map(|position| walk.state(position).clone()).collect();
    match replay(task, &trace) {
        Ok(replayed) => {
            let made = Simulation {
                trace,
                start: replayed.start,
                states: replayed.states,
                end: RunEnd::Error(replayed.violation),
            };
            Ok(tell(subject, task, &made, args, session))
        }
        Err(_) => {
            let made = Simulation { trace, start: begun.start, states, end: RunEnd::StepLimit };
            Ok(tell(subject, task, &made, args, session))
        }
    }
}

/// Prints a run, writes its trace, and says how it ended.
fn tell(subject: &Program, task: &Task<'_>, simulation: &Simulation, args: &SimulateArgs, session: &Session) -> Exit {
    let style = session.style(args.full);
    let violation = match &simulation.end {
        RunEnd::Error(violation) => Some(violation),
        RunEnd::Over | RunEnd::Deadlock | RunEnd::Stuck | RunEnd::StepLimit | RunEnd::NoStart => None,
    };
    let execution = Execution {
        steps: &simulation.trace.steps,
        start: &simulation.start,
        states: &simulation.states,
        violation,
        irrelevant: None,
    };
    let context = subject.context(task.program);
    let scope = text::scope(context, task);
    let title = if args.interactive { "run by hand".to_string() } else { format!("run with seed {}", args.seed) };
    let told = text::trace(context, execution, &title, style);
    session.printer.out(&format!("{}: {scope}\n\n{told}", subject.source.name));
    let mut written = Exit::Success;
    if let Some(path) = &args.html {
        let page = html::execution(&Walk::new(context, &execution), task, &title);
        written = outputs::write(path, &page, session);
    }
    let Some(violation) = violation else {
        return Exit::worst([end(Exit::Unknown, ending(&simulation.end), session), written]);
    };
    if let Some(path) = &args.trace_out {
        let replay =
            Replay { start: simulation.start.clone(), states: simulation.states.clone(), violation: violation.clone() };
        let counterexample = Counterexample::new(simulation.trace.clone(), replay);
        let question = subject.question.clone();
        let file = json::to_text(&TraceFile::new(context, question, &counterexample));
        written = Exit::worst([written, outputs::write(path, &file, session)]);
    }
    session.printer.out("VERIFICATION FAILED\n");
    Exit::worst([Exit::Unsafe, written])
}

fn ending(end: &RunEnd) -> &'static str {
    match end {
        RunEnd::Error(_) => "the run meets an error",
        RunEnd::Over => "this run ends without an error: no thread is left",
        RunEnd::Deadlock => "this run ends without an error: no thread can move",
        RunEnd::Stuck => "this run ends without an error: no possible step was found",
        RunEnd::NoStart => "no first state was found",
        RunEnd::StepLimit => "this run meets no error within its steps",
    }
}

fn end(exit: Exit, reason: &str, session: &Session) -> Exit {
    session.printer.out(&format!("VERIFICATION UNKNOWN ({reason})\n"));
    exit
}

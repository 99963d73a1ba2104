//! `selvedge replay`: executes a trace on a program.

use selvedge_check::{Counterexample, Task};
use selvedge_frontend::bp::LoadOptions;
use selvedge_replay::replay::{Mismatch, Moment, replay};
use selvedge_report::json::{TraceFile, digest, read_trace};
use selvedge_report::session::Session as Walk;
use selvedge_report::text::{self, Detail, Style};
use selvedge_report::{Execution, Source, html};

use super::program::{self, Program, Warnings};
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

pub(crate) fn run(args: &ReplayArgs, session: &Session) -> Exit {
    execute(args, session).unwrap_or_else(|exit| exit)
}

fn execute(args: &ReplayArgs, session: &Session) -> Result<Exit, Exit> {
    if args.trace == Input::Stdin && args.program == Input::Stdin {
        session.printer.error("standard input can be read once only: `-` is given twice");
        return Err(Exit::Usage);
    }
    let trace_source = program::read(&args.trace, session)?;
    let file =
        read_trace(trace_source.text()).map_err(|error| program::not_readable(&trace_source, &error, session))?;
    let warnings = if args.quiet { Warnings::Hidden } else { Warnings::Shown };
    let labels = file.question.label.iter().chain(&file.question.assertion).cloned().collect();
    let options = LoadOptions { entry: file.question.entry.clone(), labels };
    let subject = program::load(&args.program, &options, warnings, session)?;
    judge(&file, &trace_source, &subject, args, session)
}

fn judge(
    file: &TraceFile,
    trace_source: &Source,
    subject: &Program,
    args: &ReplayArgs,
    session: &Session,
) -> Result<Exit, Exit> {
    let posed = file.question.question().pose(subject.subject());
    let (program, target, threads) = posed.map_err(|error| {
        program::refuse(&error, session);
        session.printer.help(&format!("the question comes from {}", trace_source.name));
        Exit::Input
    })?;
    let reject = |message: String| {
        session.printer.error(&message);
        if digest(subject.source.text()) != file.program.digest {
            let help = format!("{} is not the text that the trace was made from", subject.source.name);
            session.printer.help(&help);
        }
        Exit::Input
    };
    let trace = file.trace(&program).map_err(|error| reject(format!("{}: {error}", trace_source.name)))?;
    let task = Task { program: &program, target: &target, threads };
    let replayed = replay(&task, &trace).map_err(|mismatch| {
        let place = described(file, &mismatch);
        reject(format!("{}: the trace does not replay: {mismatch}{place}", trace_source.name))
    })?;
    let counterexample = Counterexample::new(trace, replayed);
    if !args.quiet {
        session.printer.out(&told(subject, &task, &counterexample, args, session));
    }
    let mut written = Exit::Success;
    if let Some(path) = &args.html {
        let walk = Walk::of(subject.context(&program), &task, &counterexample);
        written = program::write(path, &html::execution(&walk, &task, "Trace"), session);
    }
    session.printer.out("VERIFICATION FAILED\n");
    Ok(Exit::worst([Exit::Unsafe, written]))
}

/// Returns what the trace says about the step that fails.
fn described(file: &TraceFile, mismatch: &Mismatch) -> String {
    let Moment::Step(number) = mismatch.moment else { return String::new() };
    let step = file.steps.get(number);
    step.map_or(String::new(), |step| format!(" (thread {}, line {}, `{}`)", step.thread, step.line, step.text))
}

fn told(
    subject: &Program,
    task: &Task<'_>,
    counterexample: &Counterexample,
    args: &ReplayArgs,
    session: &Session,
) -> String {
    let detail = if args.full { Detail::Full } else { Detail::Changes };
    let style = Style { palette: session.printer.out_palette(), detail };
    let context = subject.context(task.program);
    let execution = Execution::of(counterexample);
    let scope = text::scope(task);
    let asked = text::target(context, task.target);
    let head =
        format!("{}: the trace replays\n  scope:       {scope}\n  asked:       {asked}\n\n", subject.source.name);
    head + &text::trace(context, execution, "trace", style)
}

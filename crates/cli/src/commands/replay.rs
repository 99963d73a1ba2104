//! `selvedge replay`: executes a trace on a program.

use selvedge_check::{Counterexample, Task};
use selvedge_export::harness::harness;
use selvedge_replay::replay::{Mismatch, Moment, replay};
use selvedge_report::json::{StepView, TraceFile, read_trace};
use selvedge_report::session::Session as Walk;
use selvedge_report::text;
use selvedge_report::{Execution, Source, html};

use super::check::write_harness;
use super::language::language_of;
use super::program::{self, FileQuestion, Program, Warnings};
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::outputs::{self, CommandFiles};
use crate::session::Session;

pub(crate) fn run(args: &ReplayArgs, session: &Session) -> Result<Exit, Exit> {
    program::check_stdin([&args.trace, &args.program]).map_err(|message| session.refuse(Exit::Usage, message))?;
    let files = CommandFiles::reading([&args.trace, &args.program], session);
    let files = files.writing("--html", args.html.as_ref());
    files.writing("--harness", args.harness.as_ref()).check(session)?;
    let trace_source = program::read_data(&args.trace, session)?;
    let file =
        read_trace(trace_source.text()).map_err(|error| program::not_readable(&trace_source, &error, session))?;
    let warnings = if args.quiet { Warnings::Hidden } else { Warnings::Shown };
    let language = language_of(&args.program, args.input_format);
    let asked = args.question.view();
    let subject = program::load_as(language, &args.program, &asked, FileQuestion::Counts, warnings, session)?;
    program::same_question(&subject.question, &file.question, "trace", &trace_source, session)?;
    judge(&file, &trace_source, &subject, args, session)
}

fn judge(
    file: &TraceFile,
    trace_source: &Source,
    subject: &Program,
    args: &ReplayArgs,
    session: &Session,
) -> Result<Exit, Exit> {
    let posed = subject.pose(session)?;
    let task = posed.task();
    let reject = |message: String| {
        let message = format!("{}: {message}", trace_source.name);
        program::reject(&message, "trace", &file.program.digest, &subject.source, session)
    };
    let trace = file.trace(task.program).map_err(|error| reject(error.to_string()))?;
    let replayed = replay(&task, &trace).map_err(|mismatch| {
        let place = described(file, &mismatch);
        reject(format!("the trace does not replay: {mismatch}{place}"))
    })?;
    let counterexample = Counterexample::new(trace, replayed);
    session.printer.out(&match args.quiet {
        true => subject.asked(&task),
        false => told(subject, &task, &counterexample, args, session),
    });
    let mut written = Exit::Success;
    if let Some(path) = &args.html {
        let walk = Walk::of(subject.context(task.program), &task, &counterexample);
        written = outputs::write(path, &html::execution(&walk, &task, "Trace"), session);
    }
    let context = subject.context(task.program);
    let forced = || harness(context, &counterexample.trace, &|trace| replay(&task, trace).is_ok());
    let forced = write_harness(args.harness.as_ref(), forced, session);
    session.printer.out("VERIFICATION FAILED\n");
    Ok(Exit::worst([Exit::Unsafe, written, forced]))
}

/// Returns what the trace says about the step that fails.
fn described(file: &TraceFile, mismatch: &Mismatch) -> String {
    let Moment::Step(number) = mismatch.moment else { return String::new() };
    let step = file.steps.get(number);
    let name = |step: &StepView| step.name.clone().unwrap_or_else(|| format!("thread {}", step.thread));
    step.map_or(String::new(), |step| format!(" ({}, line {}, `{}`)", name(step), step.line, step.text))
}

fn told(
    subject: &Program,
    task: &Task<'_>,
    counterexample: &Counterexample,
    args: &ReplayArgs,
    session: &Session,
) -> String {
    let context = subject.context(task.program);
    let execution = Execution::of(counterexample);
    let head = format!("{}: the trace replays\n{}\n", subject.source.name, subject.asked(task));
    head + &text::trace(context, execution, "trace", session.style(args.full))
}

//! Executions to walk through: found by a check, or saved by an earlier one.

use selvedge_check::{Limits, Outcome, OwnedTask, Run};
use selvedge_driver::{ExecutedTrace, Options, check};
use selvedge_frontend::bp::LoadOptions;
use selvedge_report::json::read_saved;

use super::program::{self, Warnings};
use crate::args::QuestionArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// A program as it was read, and an execution of it.
type Walked = (program::Program, ExecutedTrace);

/// The execution in a file: a trace, or a report with one.
pub(crate) fn saved(trace: &Input, input: &Input, session: &Session) -> Result<Walked, Exit> {
    let source = program::read(trace, session)?;
    let file = read_saved(source.text()).map_err(|error| program::not_readable(&source, &error, session))?;
    let labels = file.question.label.iter().chain(&file.question.assertion).cloned().collect();
    let options = LoadOptions { entry: file.question.entry.clone(), labels };
    let subject = program::load(input, &options, Warnings::Hidden, session)?;
    let posed = file.question.question().pose(subject.subject());
    let (program, target, threads) = posed.map_err(|error| program::refuse(&error, session))?;
    let refuse = |message: String| {
        session.printer.error(&format!("{}: {message}", source.name));
        Exit::Input
    };
    let trace = file.trace(&program).map_err(|error| refuse(error.to_string()))?;
    let found = ExecutedTrace::new(OwnedTask { program, target, threads }, trace);
    Ok((subject, found.map_err(|error| refuse(format!("the trace does not replay: {error}")))?))
}

/// Returns the execution that a check finds. Other answers are printed, and end the command.
pub(crate) fn checked(input: &Input, question: &QuestionArgs, session: &Session) -> Result<Walked, Exit> {
    let options = LoadOptions { entry: question.entry.clone(), labels: question.labels() };
    let subject = program::load(input, &options, Warnings::Hidden, session)?;
    session.listen_for_interrupts();
    let options = Options { question: question.question(), jobs: 2, ..Options::default() };
    let run = Run::new(session.cancel.clone(), Limits::default(), &()).with_solvers(session.solvers.clone());
    let answer = check(subject.subject(), &options, &run).map_err(|failure| program::failed(&failure, session))?;
    match answer.outcome {
        Outcome::Unsafe(found) => Ok((subject, ExecutedTrace { task: answer.model, counterexample: *found })),
        outcome => Err(told(&outcome.line(), Exit::from(&outcome), session)),
    }
}

fn told(line: &str, exit: Exit, session: &Session) -> Exit {
    session.printer.out(&format!("there is no execution to walk through\n{line}\n"));
    exit
}

//! Executions to walk through: found by a check, or saved by an earlier one.

use selvedge_check::Outcome;
use selvedge_driver::{ExecutedTrace, Minimize, Options, check};
use selvedge_engines::EngineKind;
use selvedge_report::json::read_saved;

use super::program::{self, FileQuestion, Warnings};
use crate::args::{QuestionArgs, SearchArgs};
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// A program as it was read, and an execution of it.
type Walked = (program::Program, ExecutedTrace);

/// The execution in a file: a trace, or a report with one.
pub(crate) fn saved(trace: &Input, input: &Input, question: &QuestionArgs, session: &Session) -> Result<Walked, Exit> {
    let source = program::read_data(trace, session)?;
    let file = read_saved(source.text()).map_err(|error| program::not_readable(&source, &error, session))?;
    let (subject, posed) = program::pose(input, question, FileQuestion::Counts, Warnings::Hidden, session)?;
    program::same_question(&subject.question, &file.question, "trace", &source, session)?;
    let refuse = |message: String| session.refuse(Exit::Input, format!("{}: {message}", source.name));
    let trace = file.trace(&posed.program).map_err(|error| refuse(error.to_string()))?;
    let found = ExecutedTrace::new(posed, trace);
    Ok((subject, found.map_err(|error| refuse(format!("the trace does not replay: {error}")))?))
}

/// Returns the execution that a check finds. Other answers are printed, and end the command.
pub(crate) fn checked(
    input: &Input,
    question: &QuestionArgs,
    search: &SearchArgs,
    session: &Session,
) -> Result<Walked, Exit> {
    let subject = program::load(input, &question.view(), FileQuestion::Counts, Warnings::Hidden, session)?;
    let (question, minimize) = (subject.question.question(), Minimize::Yes);
    let mut options = Options { question, minimize, jobs: 2, ..Options::default() };
    // A bound that no run exceeds changes no answer.
    let initial = options.question.initial;
    options.question.threads = options.question.threads.or(subject.threads.filter(|_| initial.is_none()));
    options.engine = search.engine.0.map(EngineKind::row);
    options.engine_options.contexts.bound = search.contexts;
    let run = session.run_within(search.limits).since(session.start);
    let answer = check(subject.subject(), &options, &run);
    let answer = answer.map_err(|failure| program::failed(&failure, session))?;
    match answer.outcome {
        Outcome::Unsafe(found) => Ok((subject, ExecutedTrace { task: answer.model, counterexample: *found })),
        outcome => Err(told(&outcome, session)),
    }
}

/// Says why there is nothing to step through.
fn told(outcome: &Outcome, session: &Session) -> Exit {
    let why = match outcome {
        Outcome::Safe(_) => {
            "no error can be reached, so there is no execution to step through; \
                             `selvedge simulate` makes one that ends without an error"
        }
        _ => "no execution to an error was found, so there is nothing to step through",
    };
    session.printer.out(&format!("{why}\n{}\n", outcome.line()));
    Exit::from(outcome)
}

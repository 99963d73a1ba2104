//! `selvedge boom`, also when the program is called `boom`: in the place of the model checker BOOM (docs/boom.md).

use selvedge_check::{Answer, Question};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_report::boom::{self, Detail};
use selvedge_report::json::QuestionView;

use super::program::{self, FileQuestion, Program, Warnings};
use crate::args::BoomArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &BoomArgs, session: &Session) -> Result<Exit, Exit> {
    note_ignored(args, session);
    let asked = QuestionView::default();
    let subject = program::load(&args.input, &asked, FileQuestion::Ignored, Warnings::Hidden, session)?;
    let conditions = session.run();
    let question = Question { created: Some(args.threadbound), ..Question::default() };
    let (engine, shortest) = (args.engine.0.map(EngineKind::row), !args.no_shortest);
    let options = Options { question, engine, shortest, ..Options::default() };
    let answer =
        check(subject.subject(), &options, &conditions).map_err(|failure| program::failed(&failure, session))?;
    Ok(print(&subject, &answer, args, session))
}

fn note_ignored(args: &BoomArgs, session: &Session) {
    let given = [("--algo", args.algo.is_some()), ("--por", args.por)];
    for (option, _) in given.iter().filter(|(_, given)| *given) {
        session.printer.err(&format!("note: {option} is ignored; --engine says how to search\n"));
    }
}

/// Prints the answer: nothing that SatAbs could take for one if there is none.
fn print(subject: &Program, answer: &Answer, args: &BoomArgs, session: &Session) -> Exit {
    let exit = Exit::from(&answer.outcome);
    if let Some(reason) = answer.outcome.reason() {
        return unknown(&reason.to_string(), exit, session);
    }
    let detail = if args.trace { Detail::Trace } else { Detail::Verdict };
    let Some(text) = boom::answer(subject.context(&answer.model.program), answer, detail) else {
        return unknown("the execution to the error is too long to be written", Exit::Unknown, session);
    };
    if args.stats {
        let seconds = session.start.elapsed().as_secs_f64();
        session.printer.out(&format!("statistics: engine {}, {seconds:.3} s\n", answer.engine));
    }
    session.printer.out(&text);
    exit
}

fn unknown(reason: &str, exit: Exit, session: &Session) -> Exit {
    session.printer.err(&format!("unknown: {reason}\n"));
    exit
}

//! `selvedge validate`: looks for the execution of a violation witness, or checks the invariants of a correctness
//! witness.

use selvedge_check::{Outcome, Reason, Subject};
use selvedge_driver::{Minimize, Options};
use selvedge_export::witness::{Content, Invariant, Waypoint, Witness, annotate, follow, is_about, read};
use selvedge_frontend::Language;
use selvedge_ir::Program as Ir;
use selvedge_ir::span::SourceMap;
use selvedge_report::Source;
use selvedge_report::names::count;

use super::check::options::cores;
use super::language;
use super::program::{self, FileQuestion, Program, Warnings};
use crate::args::ValidateArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

pub(crate) fn run(args: &ValidateArgs, session: &Session) -> Result<Exit, Exit> {
    program::check_stdin([&args.witness, &args.program]).map_err(|message| session.refuse(Exit::Usage, message))?;
    let file = program::read_data(&args.witness, session)?;
    let reject = |reason: String| session.refuse(Exit::Input, format!("{}: {reason}", file.name));
    let witness = read(file.text()).map_err(reject)?;
    let source = language::read(Language::C, &args.program, session);
    let source = source.map_err(|message| session.refuse(Exit::Input, message))?;
    check_hash(&witness, &args.program, &source).map_err(reject)?;
    match &witness.content {
        Content::Violation(waypoints) => violation((waypoints, None), source, args, session, &reject),
        Content::Race(waypoints, race) => violation((waypoints, Some(race)), source, args, session, &reject),
        Content::Correctness(invariants) => correctness(invariants, source, args, session, &reject),
    }
}

/// Checks that a witness is about a program.
fn check_hash(witness: &Witness, input: &Input, source: &Source) -> Result<(), String> {
    let bytes = match input {
        Input::File(path) => std::fs::read(path).ok(),
        Input::Stdin => None,
    };
    match is_about(witness, bytes.as_deref().unwrap_or(source.text().as_bytes())) {
        true => Ok(()),
        false => Err(format!("the witness is about another text than that of {}", source.name)),
    }
}

/// Looks for an execution to the error, or to the data race, that passes all waypoints.
fn violation(
    (waypoints, race): (&[Waypoint], Option<&[Waypoint; 2]>),
    source: Source,
    args: &ValidateArgs,
    session: &Session,
    reject: &dyn Fn(String) -> Exit,
) -> Result<Exit, Exit> {
    let subject = load(source, args, session)?;
    let (program, map) = follow(subject.context(&subject.program), waypoints, race).map_err(reject)?;
    match decide(&subject, &program, &map, session)? {
        Outcome::Unsafe(found) => {
            let steps = found.trace.steps.len();
            told(args, session, &format!("the witness is valid: an execution of {steps} steps passes its places"));
            session.printer.out("VERIFICATION FAILED\n");
            Ok(Exit::Unsafe)
        }
        Outcome::Safe(_) => Err(reject("no execution passes these places in this order and ends in the error".into())),
        Outcome::Unknown(reason) => Ok(unknown(&reason, session)),
    }
}

/// Checks the invariants, as assertions in the text, and the program.
fn correctness(
    invariants: &[Invariant],
    source: Source,
    args: &ValidateArgs,
    session: &Session,
    reject: &dyn Fn(String) -> Exit,
) -> Result<Exit, Exit> {
    let text = annotate(&source, invariants).map_err(reject)?;
    let subject = load(Source::new(source.name.clone(), text), args, session)?;
    match decide(&subject, &subject.program, &subject.map, session)? {
        Outcome::Safe(certificate) => {
            let judged = if certificate.is_some() { "" } else { " (uncertified)" };
            told(args, session, &format!("the witness is valid: {} checked", count(invariants.len(), "invariant")));
            session.printer.out(&format!("VERIFICATION SUCCESSFUL{judged}\n"));
            Ok(Exit::Success)
        }
        Outcome::Unsafe(found) => {
            let last = found.trace.steps.last().map(|step| subject.map.edges[step.edge].span);
            let line = last.map_or(0, |span| subject.source.line(span.start as usize));
            Err(reject(format!("an invariant, or an assertion of the program, fails at line {line}")))
        }
        Outcome::Unknown(reason) => Ok(unknown(&reason, session)),
    }
}

fn load(source: Source, args: &ValidateArgs, session: &Session) -> Result<Program, Exit> {
    let warnings = if args.quiet { Warnings::Hidden } else { Warnings::Shown };
    let input = (Language::C, &args.program);
    program::load_text(input, source, &args.question.view(), FileQuestion::Counts, warnings, session)
}

/// Asks the question about a program in the place of the one that was read.
fn decide(subject: &Program, program: &Ir, map: &SourceMap, session: &Session) -> Result<Outcome, Exit> {
    let mut question = subject.question.question();
    question.threads = question.threads.or(subject.threads.filter(|_| question.initial.is_none()));
    let options = Options { question, jobs: cores(), minimize: Minimize::No, ..Options::default() };
    let asked = Subject { program, map, text: subject.source.text() };
    let answer = selvedge_driver::check(asked, &options, &session.run());
    answer.map(|answer| answer.outcome).map_err(|failure| program::failed(&failure, session))
}

fn unknown(reason: &Reason, session: &Session) -> Exit {
    session.printer.out(&format!("VERIFICATION UNKNOWN ({reason})\n"));
    Exit::from(reason)
}

fn told(args: &ValidateArgs, session: &Session, line: &str) {
    if !args.quiet {
        session.printer.out(&format!("{}: {line}\n", args.witness.name()));
    }
}

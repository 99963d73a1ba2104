//! `selvedge convert`: a program in another format.

use selvedge_check::{Engine as _, Limits, Run, Task};
use selvedge_engines::pushdown::{self, Pushdown};
use selvedge_export::{horn, promela};
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::pds::print_with_comments;

use super::convert_tts;
use super::program::{self, Warnings};
use crate::args::{ConvertArgs, ConvertTo};
use crate::exit::Exit;
use crate::memory;
use crate::session::Session;

pub(crate) fn run(args: &ConvertArgs, session: &Session) -> Exit {
    let is_limited = matches!(args.to, ConvertTo::Pds | ConvertTo::Tts | ConvertTo::Spec);
    if !is_limited && (args.time_limit.is_some() || args.memory_limit.is_some()) {
        session.printer.error("--time-limit and --memory-limit are for `--to pds`, `--to tts` and `--to spec`");
        return Exit::Usage;
    }
    convert(args, session).unwrap_or_else(|exit| exit)
}

fn convert(args: &ConvertArgs, session: &Session) -> Result<Exit, Exit> {
    if matches!(args.to, ConvertTo::Tts | ConvertTo::Spec | ConvertTo::Bp) {
        return convert_tts::convert(args, session);
    }
    let options = LoadOptions { entry: args.question.entry.clone(), labels: args.question.labels() };
    let subject = program::load(&args.input, &options, Warnings::Shown, session)?;
    let posed = args.question.question().pose(subject.subject());
    let (program, target, threads) = posed.map_err(|error| program::refuse(&error, session))?;
    let name = &subject.source.name;
    let text = match args.to {
        ConvertTo::Horn => horn::render(subject.context(&program), &target).map_err(|reason| (reason, Exit::Unknown)),
        ConvertTo::Promela => {
            let task = Task { program: &program, target: &target, threads };
            promela::render(subject.context(&program), &task).map_err(|reason| (reason, Exit::Unknown))
        }
        ConvertTo::Pds => to_pds(&Task { program: &program, target: &target, threads }, name, args, session),
        ConvertTo::Tts | ConvertTo::Spec | ConvertTo::Bp => unreachable!("these were written above"),
    };
    let text = text.map_err(|(reason, exit)| {
        session.printer.error(&format!("{name}: {reason}"));
        exit
    })?;
    match &args.output {
        Some(path) => Ok(program::write(path, &text, session)),
        None => {
            session.printer.out(&text);
            Ok(Exit::Success)
        }
    }
}

/// Returns the pushdown system of a program. An error says why there is none.
fn to_pds(task: &Task<'_>, name: &str, args: &ConvertArgs, session: &Session) -> Result<String, (String, Exit)> {
    Pushdown::default().supports(task).map_err(|unsupported| (unsupported.to_string(), Exit::Unknown))?;
    session.listen_for_interrupts();
    let limits = Limits { time: args.time_limit, memory: args.memory_limit, memory_in_use: Some(memory::in_use) };
    let run = Run::new(session.cancel.clone(), limits, &()).with_solvers(session.solvers.clone()).since(session.start);
    let converted = pushdown::convert(task, &run).map_err(|stop| (stop.to_string(), Exit::from(stop)))?;
    let head = [
        format!("The pushdown system of {name}: the heads that a run can have."),
        "A state is a valuation of the shared and per-thread variables, a symbol n a location with its locals,"
            .to_string(),
        "a symbol c a call that waits. Variables that are not read any more are F.".to_string(),
    ];
    let comments: Vec<String> = head.into_iter().chain(converted.legend).collect();
    Ok(print_with_comments(&converted.pds, &comments))
}

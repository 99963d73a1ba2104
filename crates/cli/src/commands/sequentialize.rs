//! `selvedge sequentialize`: threads that take turns as a program of one thread.

use selvedge_check::{ContextBound, Task};
use selvedge_engines::contexts::{Options, threads::fixed_threads};
use selvedge_export::sequential;
use selvedge_frontend::bp::LoadOptions;
use selvedge_ir::passes::sequentialize;

use super::program::{self, Warnings};
use crate::args::SequentializeArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &SequentializeArgs, session: &Session) -> Exit {
    write(args, session).unwrap_or_else(|exit| exit)
}

fn write(args: &SequentializeArgs, session: &Session) -> Result<Exit, Exit> {
    let options = LoadOptions { entry: args.question.entry.clone(), labels: args.question.labels() };
    let subject = program::load(&args.input, &options, Warnings::Shown, session)?;
    let posed = args.question.question().pose(subject.subject());
    let (program, target, threads) = posed.map_err(|error| program::refuse(&error, session))?;
    let refuse = |reason: String| {
        session.printer.error(&format!("{}: {reason}", subject.source.name));
        Exit::Unknown
    };
    let options = Options { bound: Some(ContextBound::exactly(args.contexts)), ..Options::default() };
    let task = Task { program: &program, target: &target, threads };
    let (_, lists) = fixed_threads(&task, &options, "sequentialize").map_err(|unsupported| {
        let line = unsupported.edge.map(|edge| subject.source.line(subject.map.edges[edge].span.start as usize));
        refuse(line.map_or(String::new(), |line| format!("line {line}: ")) + &unsupported.reason)
    })?;
    let [list] = lists.as_slice() else {
        let reason = "the number of initial threads is open: write one program for each, with --initial N";
        return Err(refuse(reason.to_string()));
    };
    let reduced = sequentialize::run(&list.program, &list.target, args.contexts);
    let text = sequential::render(subject.context(&program), list, &reduced, args.contexts);
    match &args.output {
        Some(path) => Ok(program::write(path, &text, session)),
        None => {
            session.printer.out(&text);
            Ok(Exit::Success)
        }
    }
}

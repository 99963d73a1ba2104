//! `selvedge convert`: a program in another format.

use selvedge_frontend::bp::LoadOptions;
use selvedge_report::horn;

use super::program::{self, Warnings};
use crate::args::{ConvertArgs, ConvertTo};
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &ConvertArgs, session: &Session) -> Exit {
    convert(args, session).unwrap_or_else(|exit| exit)
}

fn convert(args: &ConvertArgs, session: &Session) -> Result<Exit, Exit> {
    let options = LoadOptions { entry: args.question.entry.clone(), labels: args.question.labels() };
    let subject = program::load(&args.input, &options, Warnings::Shown, session)?;
    let posed = args.question.question().pose(subject.subject());
    let (program, target, _) = posed.map_err(|error| program::refuse(&error, session))?;
    let text = match args.to {
        ConvertTo::Horn => horn::render(subject.context(&program), &target),
    };
    let text = text.map_err(|reason| {
        session.printer.error(&format!("{}: {reason}", subject.source.name));
        Exit::Unknown
    })?;
    match &args.output {
        Some(path) => Ok(program::write(path, &text, session)),
        None => {
            session.printer.out(&text);
            Ok(Exit::Success)
        }
    }
}

//! `selvedge convert`: a program in another format.

use selvedge_check::{Engine as _, Task};
use selvedge_engines::pushdown::{self, Pushdown};
use selvedge_export::{horn, promela};
use selvedge_frontend::pds::print_with_comments;

use super::convert_tts;
use super::program::{self, FileQuestion, Warnings};
use crate::args::{ConvertArgs, ConvertTo};
use crate::exit::Exit;
use crate::outputs::{self, CommandFiles};
use crate::session::Session;

pub(crate) fn run(args: &ConvertArgs, session: &Session) -> Result<Exit, Exit> {
    let target = args.output.as_ref().filter(|_| args.to == ConvertTo::Tts).map(|path| path.with_extension("prop"));
    let files = CommandFiles::reading([&args.input], session).writing("--output", args.output.as_ref());
    files.writing("the target of --output", target.as_ref()).check(session)?;
    if args.question.deadlock {
        return Err(session.refuse(Exit::Usage, "no output format can express deadlocks: leave out --deadlock"));
    }
    if matches!(args.to, ConvertTo::Tts | ConvertTo::Spec | ConvertTo::Bp) {
        return convert_tts::convert(args, session);
    }
    let (subject, posed) = program::pose(&args.input, &args.question, FileQuestion::Ignored, Warnings::Shown, session)?;
    let (task, context) = (posed.task(), subject.context(&posed.program));
    let name = &subject.source.name;
    let text = match args.to {
        ConvertTo::Horn => horn::render(context, task.target).map_err(|reason| (reason, Exit::Unknown)),
        ConvertTo::Promela => promela::render(context, &task).map_err(|reason| (reason, Exit::Unknown)),
        ConvertTo::Pds => to_pds(&task, name, session),
        ConvertTo::Tts | ConvertTo::Spec | ConvertTo::Bp => unreachable!("these were written above"),
    };
    let text = text.map_err(|(reason, exit)| session.refuse(exit, format!("{name}: {reason}")))?;
    Ok(outputs::write_or_print(args.output.as_ref(), &text, session))
}

/// Returns the pushdown system of a program. An error says why there is none.
fn to_pds(task: &Task<'_>, name: &str, session: &Session) -> Result<String, (String, Exit)> {
    Pushdown.supports(task).map_err(|unsupported| (unsupported.to_string(), Exit::Unknown))?;
    let run = session.run();
    let converted = pushdown::convert(task, &run).map_err(|stop| (stop.to_string(), Exit::from(stop)))?;
    let head = [
        format!("The pushdown system of {name}: the heads that a run can have."),
        "A state is a valuation of the shared and per-thread variables, a symbol n a location with its locals,"
            .to_string(),
        "a symbol c a call that waits. Variables that are no longer read are F.".to_string(),
    ];
    let comments: Vec<String> = head.into_iter().chain(converted.legend).collect();
    Ok(print_with_comments(&converted.pds, &comments))
}

//! The subcommands, one file each.

mod abstraction;
mod batch;
mod boom;
mod check;
mod children;
mod completions;
mod convert;
mod convert_tts;
mod crosscheck;
mod debug;
mod doctor;
mod editor;
mod explain;
mod fmt;
mod language;
mod manual;
mod program;
mod project;
mod reader;
mod replay;
mod sequentialize;
mod show;
mod simulate;
mod solve;
mod system;
mod validate;
mod verify;
mod verify_system;
mod walk;

use std::sync::Arc;

use selvedge_check::Stop;

use crate::args::{Command, Format};
use crate::crash;
use crate::exit::Exit;
use crate::session::Session;
use crate::supervise::{NoResult, Watch, supervised};

/// Runs a command on a thread of its own. If it must stop and does not, the answer is given here.
pub(crate) fn run(command: &Arc<Command>, session: &Arc<Session>) -> Exit {
    let watch = match **command {
        // They watch the work on each file themselves, and tell about all of them in the end.
        Command::Check(_) | Command::Crosscheck(_) => Watch::default(),
        _ => session.watch(session.limits, session.start),
    };
    let (inner, conditions) = (Arc::clone(command), Arc::clone(session));
    let end = supervised(&watch, || session.printer.take_over(), move || dispatch(&inner, &conditions));
    end.unwrap_or_else(|end| match end {
        NoResult::Stopped(stop) => stopped(command, stop, session),
        NoResult::Panicked(panic) => {
            session.printer.err(&crash::report(&panic.message));
            Exit::Internal
        }
    })
}

/// Runs a part of a command within limits of its own, on a thread of its own.
fn part<T: Send + 'static>(
    session: &Session,
    watch: &Watch,
    work: impl FnOnce() -> Result<T, Exit> + Send + 'static,
) -> Result<T, Exit> {
    supervised(watch, || session.printer.take_over(), work).unwrap_or_else(|end| match end {
        NoResult::Stopped(stop) => Err(session.refuse(Exit::from(stop), stop)),
        NoResult::Panicked(panic) => {
            session.printer.err(&crash::report(&panic.message));
            Err(Exit::Internal)
        }
    })
}

/// Says why a command stops, in the way of its own results.
fn stopped(command: &Command, stop: Stop, session: &Session) -> Exit {
    let printer = &session.printer;
    match command {
        // Whoever reads standard output expects another language.
        Command::Check(args) if args.format != Format::Text => printer.error(&stop.to_string()),
        Command::Check(_) | Command::Crosscheck(_) | Command::Verify(_) | Command::Validate(_) | Command::Replay(_) => {
            printer.out(&format!("VERIFICATION UNKNOWN ({stop})\n"));
        }
        Command::Simulate(args) if !args.interactive => printer.out(&format!("VERIFICATION UNKNOWN ({stop})\n")),
        Command::Solve(_) => printer.out(&format!("unknown: {stop}\n")),
        Command::Boom(_) => printer.err(&format!("unknown: {stop}\n")),
        Command::Debug(_) | Command::Simulate(_) => {
            ratatui::restore();
            printer.error(&stop.to_string());
        }
        _ => printer.error(&stop.to_string()),
    }
    Exit::from(stop)
}

/// Runs a command. Those that can fail half-way return the end as an error then.
fn dispatch(command: &Command, session: &Arc<Session>) -> Exit {
    let end = match command {
        Command::Check(args) => Ok(check::run(args, session)),
        Command::Boom(args) => boom::run(args, session),
        Command::Fmt(args) => Ok(fmt::run(args, session)),
        Command::Explain(args) => Ok(explain::run(args, session)),
        Command::Replay(args) => replay::run(args, session),
        Command::Verify(args) => verify::run(args, session),
        Command::Validate(args) => validate::run(args, session),
        Command::Simulate(args) => simulate::run(args, session),
        Command::Debug(args) => debug::run(args, session),
        Command::Dap(_) => Ok(editor::dap(session)),
        Command::Lsp(_) => Ok(editor::lsp(session)),
        Command::Man(args) => Ok(manual::run(args, session)),
        Command::Show(args) => show::run(args, session),
        Command::Convert(args) => convert::run(args, session),
        Command::Abstract(args) => abstraction::run(args, session),
        Command::Sequentialize(args) => sequentialize::run(args, session),
        Command::Solve(args) => solve::run(args, session),
        Command::Crosscheck(args) => Ok(crosscheck::run(args, session)),
        Command::Test(args) => project::test::run(args, session),
        Command::Init(args) => project::init::run(args, session),
        Command::Batch(args) => batch::run(args, session),
        Command::Doctor => Ok(doctor::run(session)),
        Command::Completions(args) => Ok(completions::run(args, session)),
    };
    end.unwrap_or_else(|exit| exit)
}

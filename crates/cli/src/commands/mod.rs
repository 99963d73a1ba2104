//! The subcommands, one file each.

mod abstraction;
mod boom;
mod check;
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
mod replay;
mod sequentialize;
mod show;
mod simulate;
mod solve;
mod system;
mod verify;
mod verify_system;
mod walk;

use crate::args::Command;
use crate::exit::Exit;
use crate::session::Session;

/// Runs a command. Those that can fail half-way return the end as an error then.
pub(crate) fn run(command: &Command, session: &Session) -> Exit {
    let end = match command {
        Command::Check(args) => Ok(check::run(args, session)),
        Command::Boom(args) => boom::run(args, session),
        Command::Fmt(args) => Ok(fmt::run(args, session)),
        Command::Explain(args) => Ok(explain::run(args, session)),
        Command::Replay(args) => replay::run(args, session),
        Command::Verify(args) => verify::run(args, session),
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
        Command::Doctor => Ok(doctor::run(session)),
        Command::Completions(args) => Ok(completions::run(args, session)),
    };
    end.unwrap_or_else(|exit| exit)
}

//! `selvedge completions`: a completion script for a shell.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &CompletionsArgs, session: &Session) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "selvedge", &mut script);
    session.printer.out(&String::from_utf8_lossy(&script));
    Exit::Success
}

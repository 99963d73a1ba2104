//! `selvedge man`: a manual page for the program and for each subcommand.

use clap::CommandFactory as _;

use crate::args::{Cli, ManArgs};
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &ManArgs, session: &Session) -> Exit {
    let written =
        std::fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    match written {
        Ok(()) => Exit::Success,
        Err(error) => session.refuse(Exit::Input, format!("cannot write into {}: {error}", args.folder.display())),
    }
}

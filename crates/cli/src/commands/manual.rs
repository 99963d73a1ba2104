//! `selvedge man`: a manual page for the program and for each subcommand.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use selvedge_frontend::files;

use crate::args::{ManArgs, with_all_options};
use crate::exit::Exit;
use crate::outputs::shown;
use crate::session::Session;

pub(crate) fn run(args: &ManArgs, session: &Session) -> Exit {
    let mut command = with_all_options().disable_help_subcommand(true);
    command.build();
    let written = std::fs::create_dir_all(&args.folder).and_then(|()| write(&command, &args.folder));
    match written {
        Ok(()) => Exit::Success,
        Err(error) => session.refuse(Exit::Input, format!("cannot write into {}: {error}", shown(&args.folder))),
    }
}

/// Writes the pages of a command and of its subcommands.
fn write(command: &Command, folder: &Path) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write(subcommand, folder)?;
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    files::write(&folder.join(page.get_filename()), &text)
}

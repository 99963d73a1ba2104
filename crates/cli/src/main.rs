//! The command line of Selvedge: reads the arguments, runs a command, ends with its exit code.

mod args;
mod commands;
mod crash;
mod exit;
mod input;
mod memory;
mod outputs;
mod printer;
mod progress;
mod quantity;
mod session;
mod supervise;
mod system;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser as _;
use selvedge_check::CancelToken;
use selvedge_driver::defect;

use args::{Cli, When};
use exit::Exit;
use printer::Printer;

fn main() -> Exit {
    let start = Instant::now();
    let cancel = CancelToken::default();
    let listening = session::listen_for_interrupts(&cancel);
    system::catch_aborts();
    defect::install();
    outputs::survive_file_limits();
    match Cli::try_parse_from(arguments()) {
        Ok(cli) => {
            let session = session::open(&cli, start, cancel);
            if let Err(error) = listening {
                session.printer.err(&format!("note: Ctrl-C will not be noticed: {error}\n"));
            }
            let exit = commands::run(&Arc::new(cli.command), &session);
            // Engines that another one has overtaken may still be at work, with solvers of their own.
            system::end(if session.printer.has_failed() { Exit::worst([exit, Exit::Input]) } else { exit })
        }
        Err(error) => answer(&error),
    }
}

/// The arguments. Under the name `boom` the program is `selvedge boom`.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if name.is_some_and(|name| name == "boom") {
        arguments.insert(1, OsString::from("boom"));
    }
    arguments
}

/// Prints the message of the parser of the command line: help and version on standard output, mistakes on standard
/// error.
fn answer(error: &clap::Error) -> Exit {
    let printer = Printer::new(When::Auto);
    let text = |is_terminal: bool| {
        if is_terminal { error.render().ansi().to_string() } else { error.render().to_string() }
    };
    if error.use_stderr() {
        printer.err(&text(std::io::stderr().is_terminal()));
        Exit::Usage
    } else {
        printer.out(&text(std::io::stdout().is_terminal()));
        if printer.has_failed() { Exit::Input } else { Exit::Success }
    }
}

//! The command line of Selvedge: reads the arguments, runs a command, ends with its exit code.

mod args;
mod commands;
mod crash;
mod exit;
mod input;
mod memory;
mod printer;
mod progress;
mod quantity;
mod session;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

use clap::Parser as _;
use selvedge_check::CancelToken;

use args::{Cli, When};
use exit::Exit;
use printer::Printer;
use session::Session;

/// Expressions and call chains nest deeply in generated programs, so commands run on a thread with a large stack.
const STACK: usize = 256 << 20;

fn main() -> Exit {
    let start = Instant::now();
    crash::install();
    match Cli::try_parse_from(arguments()) {
        Ok(cli) => on_a_large_stack(cli, start),
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

fn on_a_large_stack(cli: Cli, start: Instant) -> Exit {
    let (colour, prop) = (cli.color, cli.prop.clone());
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let session = Session {
            printer: Printer::new(colour),
            cancel: CancelToken::default(),
            start,
            prop,
            solvers: session::solvers(),
        };
        let exit = crash::guard(|| commands::run(&cli.command, &session)).unwrap_or_else(|message| {
            session.printer.err(&crash::report(&message));
            Exit::Internal
        });
        if session.printer.has_failed() { Exit::worst([exit, Exit::Input]) } else { exit }
    });
    let result = worker.map(|worker| worker.join().unwrap_or(Exit::Internal));
    result.unwrap_or_else(|error| {
        Printer::new(colour).error(&format!("cannot start a thread: {error}"));
        Exit::Internal
    })
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
        Exit::Success
    }
}

//! The command line of Selvedge: reads the arguments, runs a command, ends with its exit code.

mod args;
mod commands;
mod crash;
mod input;
mod memory;
mod outputs;
mod printer;
mod progress;
mod quantity;
mod session;
mod supervise;
mod system;
mod task_file;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue};
use selvedge_check::CancelToken;
use selvedge_driver::defect;
use selvedge_frontend::visible::visible_name;

use args::{Cli, When, with_all_options};
use printer::Printer;
use selvedge_report::exit;
use selvedge_report::exit::Exit;

fn main() -> ExitCode {
    ExitCode::from(begin().code())
}

/// Reads the command line and runs its command.
fn begin() -> Exit {
    let start = Instant::now();
    let cancel = CancelToken::default();
    let listening = session::listen_for_interrupts(&cancel);
    system::catch_aborts();
    defect::install();
    outputs::survive_file_limits();
    let arguments = arguments();
    if let Some(error) = complete_help(&arguments) {
        return answer(&error);
    }
    match Cli::try_parse_from(arguments) {
        Ok(mut cli) => {
            let task = task_file::replace(&mut cli);
            let session = session::open(&cli, start, cancel);
            if let Err(error) = listening {
                session.printer.err(&format!("note: Ctrl-C cannot stop the program gracefully: {error}\n"));
            }
            if let Err(message) = task {
                return session.refuse(Exit::Input, message);
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

/// Returns the help for `--help-all`: the same as for `--help`, with all options.
fn complete_help(arguments: &[OsString]) -> Option<clap::Error> {
    if !arguments.iter().any(|argument| argument == "--help-all") {
        return None;
    }
    let is_help = |argument: &OsString| argument == "--help-all";
    let words = arguments.iter().map(|word| if is_help(word) { OsString::from("--help") } else { word.clone() });
    with_all_options().try_get_matches_from(words).err()
}

/// Returns what to do if a file is given in the place of a command.
fn suggested_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let is_program = |extension: &str| matches!(extension, "bp" | "c" | "i" | "gcl" | "tts" | "spec" | "pds");
    let path = Path::new(word);
    let is_file = path.extension().and_then(|extension| extension.to_str()).is_some_and(is_program) || path.is_file();
    is_file.then(|| format!("\nhelp: to check a file: selvedge check {}\n", visible_name(word)))
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
        suggested_command(error).iter().for_each(|help| printer.err(help));
        Exit::Usage
    } else {
        printer.out(&text(std::io::stdout().is_terminal()));
        if printer.has_failed() { Exit::Input } else { Exit::Success }
    }
}

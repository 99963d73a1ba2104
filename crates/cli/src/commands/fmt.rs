//! `selvedge fmt`: programs in the one layout.
//!
//! Files are rewritten in place; standard input goes to standard output. With `--check` nothing is written: the files
//! that would change are listed, and the exit code is 2 if there are any. A program with errors is left as it is.

use selvedge_frontend::bp;
use selvedge_report::Source;

use super::language::language_of;
use super::program::{self, Warnings};
use crate::args::{FmtArgs, InputFormat};
use crate::exit::Exit;
use crate::input::Input;
use crate::outputs;
use crate::session::Session;

pub(crate) fn run(args: &FmtArgs, session: &Session) -> Exit {
    // Nothing is written after an interrupt.
    let stop = || session.run().check_limits().err().map(|stop| session.refuse(Exit::from(stop), stop));
    Exit::worst(args.inputs.iter().map(|input| stop().unwrap_or_else(|| one(input, args, session))))
}

fn one(input: &Input, args: &FmtArgs, session: &Session) -> Exit {
    let source = match program::read(input, session) {
        Ok(source) => source,
        Err(exit) => return exit,
    };
    let formatted = language_of(input, InputFormat::Auto).format(source.text());
    match formatted.unwrap_or_else(|| bp::format(source.text())) {
        Ok(formatted) if args.check => compare(&source, &formatted, session),
        Ok(formatted) => write(input, &source, &formatted, session),
        Err(diagnostics) => {
            program::print_diagnostics(&source, &diagnostics, Warnings::Hidden, session);
            Exit::Input
        }
    }
}

/// Names the file if it would change.
fn compare(source: &Source, formatted: &str, session: &Session) -> Exit {
    if source.text() == formatted {
        return Exit::Success;
    }
    session.printer.out(&format!("{}\n", source.name));
    Exit::Input
}

/// Writes the formatted program; a file that would not change keeps its time.
fn write(input: &Input, source: &Source, formatted: &str, session: &Session) -> Exit {
    match input {
        Input::Stdin => {
            session.printer.out_bytes(&source.encode(formatted).unwrap_or_else(|| formatted.as_bytes().to_vec()));
            Exit::Success
        }
        Input::File(_) if source.text() == formatted => Exit::Success,
        Input::File(path) => match source.encode(formatted) {
            Some(bytes) => outputs::write_bytes(path, &bytes, session),
            None => {
                let message = format!("{}: a byte in a comment is not UTF-8 and would be lost", source.name);
                session.refuse(Exit::Input, message)
            }
        },
    }
}

//! The only place that writes to standard output and standard error.

use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use selvedge_report::Palette;

use crate::args::When;

/// Writes text. A reader that has closed the pipe (`| head`) is not an error: the rest is dropped.
pub(crate) struct Printer {
    colour: When,
    /// Set if standard output could not be written for another reason than a closed pipe.
    failed: AtomicBool,
}

impl Printer {
    pub(crate) fn new(colour: When) -> Printer {
        Printer { colour, failed: AtomicBool::new(false) }
    }

    /// Writes to standard output.
    pub(crate) fn out(&self, text: &str) {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                if !self.failed.swap(true, Ordering::Relaxed) {
                    self.error(&format!("cannot write to standard output: {error}"));
                }
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Writes to standard error. A failure to write cannot be reported and is ignored.
    pub(crate) fn err(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// An error that belongs to no place in a program.
    pub(crate) fn error(&self, message: &str) {
        let style = self.err_palette().bad;
        self.err(&format!("{style}error{style:#}: {message}\n"));
    }

    /// Prints a suggestion after an error.
    pub(crate) fn help(&self, message: &str) {
        self.err(&format!("  help: {message}\n"));
    }

    /// Returns whether standard output could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn out_palette(&self) -> Palette {
        self.palette(io::stdout().is_terminal())
    }

    pub(crate) fn err_palette(&self) -> Palette {
        self.palette(io::stderr().is_terminal())
    }

    fn palette(&self, is_terminal: bool) -> Palette {
        let wanted = match self.colour {
            When::Always => true,
            When::Never => false,
            When::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        if wanted { Palette::coloured() } else { Palette::plain() }
    }
}

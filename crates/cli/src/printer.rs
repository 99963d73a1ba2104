//! The only place that writes to standard output and standard error.

use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use selvedge_faults::{self as faults, Point};
use selvedge_report::Palette;

use crate::args::When;

/// Writes text. A reader that has closed the pipe (`| head`) is not an error: the rest is dropped.
pub(crate) struct Printer {
    colour: When,
    /// Set if standard output could not be written for another reason than a closed pipe.
    failed: AtomicBool,
    output: Mutex<Output>,
}

/// Who answers for a command: the first who writes a part of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Open,
    /// The work has begun to write.
    Begun,
    /// The work was left behind, and this thread answers in its place.
    Taken(ThreadId),
}

impl Printer {
    pub(crate) fn new(colour: When) -> Printer {
        Printer { colour, failed: AtomicBool::new(false), output: Mutex::new(Output::Open) }
    }

    /// Begins the result: whoever watches the limits waits from now on until it is written. A thread that was left
    /// behind waits here for the end of the program.
    pub(crate) fn begin(&self) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match *output {
            Output::Open => *output = Output::Begun,
            Output::Taken(by) if by != thread::current().id() => {
                drop(output);
                loop {
                    thread::park();
                }
            }
            Output::Begun | Output::Taken(_) => {}
        }
    }

    /// Lets this thread answer instead of the work. Returns whether that is possible: not if the work has begun to
    /// write.
    pub(crate) fn take_over(&self) -> bool {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if *output == Output::Open {
            *output = Output::Taken(thread::current().id());
        }
        *output == Output::Taken(thread::current().id())
    }

    /// Writes to standard output.
    pub(crate) fn out(&self, text: &str) {
        self.begin();
        let mut out = io::stdout().lock();
        let fault = if faults::fails(Point::Write) { Err(faults::disk_full()) } else { Ok(()) };
        match fault.and_then(|()| out.write_all(text.as_bytes())).and_then(|()| out.flush()) {
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

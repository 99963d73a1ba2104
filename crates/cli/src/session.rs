//! The state that all commands share: the printer, the switch that stops them, and the time at which they began.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Limits, Run, Solvers};
use selvedge_driver::external::find_solvers;
use selvedge_report::text::{Detail, Style};

use crate::exit::Exit;
use crate::memory;
use crate::printer::Printer;

pub(crate) struct Session {
    pub(crate) printer: Printer,
    pub(crate) cancel: CancelToken,
    /// When the program was started; time limits count from here.
    pub(crate) start: Instant,
    /// The file with the target of a thread-transition system, where the user names one.
    pub(crate) prop: Option<PathBuf>,
    /// The SMT solvers.
    pub(crate) solvers: Solvers,
}

/// The SMT solvers of this machine. The variables `SELVEDGE_Z3` and `SELVEDGE_CVC5` name some before all others.
pub(crate) fn solvers() -> Solvers {
    let named = |variable: &str| std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = |variable: &str| named(variable).map(|path| Arc::from(path.as_path()));
    find_solvers(&Solvers { z3: named("SELVEDGE_Z3"), cvc5: named("SELVEDGE_CVC5") })
}

impl Session {
    /// Prints an error, and returns the end of the command.
    pub(crate) fn refuse(&self, exit: Exit, message: impl Display) -> Exit {
        self.printer.error(&message.to_string());
        exit
    }

    /// Returns the conditions of a check within limits, whose clock starts now.
    pub(crate) fn run(&self, time: Option<Duration>, memory: Option<u64>) -> Run<'static> {
        let limits = Limits { time, memory, memory_in_use: Some(memory::in_use) };
        Run::new(self.cancel.clone(), limits, &()).with_solvers(self.solvers.clone())
    }

    /// Returns the style of traces on standard output.
    pub(crate) fn style(&self, full: bool) -> Style {
        Style { palette: self.printer.out_palette(), detail: if full { Detail::Full } else { Detail::Changes } }
    }

    /// The first Ctrl-C (or termination signal) asks the running check to stop; the second one ends the program.
    ///
    /// Called once the input is there: a program that waits for standard input is ended by the signal itself.
    pub(crate) fn listen_for_interrupts(&self) {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| self.set_handler());
    }

    fn set_handler(&self) {
        let cancel = self.cancel.clone();
        let listening = ctrlc::set_handler(move || {
            if cancel.is_cancelled() {
                end_at_once();
            }
            cancel.cancel();
        });
        if let Err(error) = listening {
            self.printer.error(&format!("Ctrl-C will not be noticed: {error}"));
        }
    }
}

#[expect(clippy::exit, reason = "the user insists, and the thread at work does not listen")]
fn end_at_once() {
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

//! The state that all commands share: the printer, the switch that stops them, and the time at which they began.

use std::fmt::Display;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use selvedge_check::{CancelToken, Run, Solvers};
use selvedge_driver::external::find_solvers;
use selvedge_frontend::bp::Dialect;
use selvedge_report::text::{Detail, Style, WIDTH};

use crate::args::{CArgs, Cli, LimitArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::supervise::Watch;
use crate::system;

pub(crate) struct Session {
    pub(crate) printer: Printer,
    pub(crate) cancel: CancelToken,
    /// When the program was started; time limits count from here.
    pub(crate) start: Instant,
    /// The file with the target of a thread-transition system, where the user names one.
    pub(crate) prop: Option<PathBuf>,
    /// The dialect of Boolean programs, where the user names one.
    pub(crate) dialect: Option<Dialect>,
    /// Set if the options that files bring along do not count.
    pub(crate) ignores_file_options: bool,
    /// How C programs are read.
    pub(crate) c: CArgs,
    /// The SMT solvers.
    pub(crate) solvers: Solvers,
    /// The limits of the command, where it has some for all of its work.
    pub(crate) limits: LimitArgs,
}

/// Prepares what a command needs.
pub(crate) fn open(cli: &Cli, start: Instant, cancel: CancelToken) -> Arc<Session> {
    Arc::new(Session {
        printer: Printer::new(cli.color),
        cancel,
        start,
        prop: cli.prop.clone(),
        dialect: cli.dialect,
        ignores_file_options: cli.no_file_options,
        c: cli.c.clone(),
        solvers: solvers(),
        limits: cli.command.limits(),
    })
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

    /// Returns the conditions of the work of a command, whose clock started with the program.
    pub(crate) fn run(&self) -> Run<'static> {
        self.run_within(self.limits).since(self.start)
    }

    /// Returns the conditions of a part of it with limits of its own, whose clock starts now.
    pub(crate) fn run_within(&self, limits: LimitArgs) -> Run<'static> {
        Run::new(self.cancel.clone(), limits.limits(), &()).with_solvers(self.solvers.clone())
    }

    /// Returns what a watcher of such a part looks at.
    pub(crate) fn watch(&self, limits: LimitArgs, start: Instant) -> Watch {
        let time = limits.time_limit.map(|limit| (start, limit));
        Watch { time, memory: limits.memory(), cancel: Some(self.cancel.clone()) }
    }

    /// Returns the style of traces on standard output.
    pub(crate) fn style(&self, full: bool) -> Style {
        let detail = if full { Detail::Full } else { Detail::Changes };
        Style { palette: self.printer.out_palette(), detail, width: width() }
    }
}

/// From now on the first Ctrl-C (or termination signal) asks the work to stop; the second one ends the program.
pub(crate) fn listen_for_interrupts(cancel: &CancelToken) -> Result<(), ctrlc::Error> {
    let cancel = cancel.clone();
    ctrlc::set_handler(move || {
        if cancel.is_cancelled() {
            system::end(Exit::Interrupted);
        }
        cancel.cancel();
    })
}

/// Returns the width of the terminal that standard output goes to, within bounds in which traces can be read.
fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return WIDTH;
    }
    ratatui::crossterm::terminal::size().map_or(WIDTH, |(columns, _)| usize::from(columns).clamp(60, 200))
}

//! Reachability in programs with one thread, recursive or not, by summaries without decision diagrams.
//!
//! After Basler, Kroening and Weissenbacher (chapters 3, 4 and 10 of the thesis behind Boom). States are guards and
//! valuations in and-inverter graphs (`simulate`); instead of comparing decision diagrams, solvers are used
//! (`queries`): SAT for the feasibility of guards, formulas with one quantifier alternation for coverage. There are
//! three ways of getting summaries (`SummaryMode`): `reach` follows reached entries to a fixed point, `unroll` makes
//! universal summaries (of recursive procedures: `nest`, or `reach` from all entries), and `modes` makes them on
//! demand.
//!
//! An error is reported where its guard is satisfiable, and not where a summary is made: a callee that never returns
//! can fail too. Its trace is read from the assignment (`trace`).
//!
//! Safe answers have no certificate: whether path edges with existential choices are closed is a question with one
//! quantifier alternation, which the judge cannot decide. The explanation lists the arguments that closed the search;
//! the driver can run `summaries` for a certificate.

mod call_effects;
mod modes;
mod nest;
mod program_facts;
mod queries;
mod reach;
mod root;
mod simulate;
mod trace;
mod unroll;

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::callgraph::prelude_ends_early;
use selvedge_transition::support::supports_one_thread;

use simulate::Simulation;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Sat {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The summaries to make.
    ///
    /// Default: those that are reached.
    pub summaries: SummaryMode,
    /// The method that closes universal summaries of recursive procedures. Summaries of reached entries always use a
    /// fixed point.
    ///
    /// Default: by a fixed point.
    pub recursion: Recursion,
}

/// The method that closes universal summaries of recursive procedures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recursion {
    /// By a fixed point from all entries.
    #[default]
    Fixpoint,
    /// By unrolling nested summaries until their entries and exits repeat (Theorem 4.5). Grows exponentially with the
    /// depth if a procedure calls itself at several places: for small programs.
    Unroll,
}

impl Recursion {
    /// Both methods.
    pub const ALL: &'static [Recursion] = &[Recursion::Fixpoint, Recursion::Unroll];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Recursion::Fixpoint => "fixpoint",
            Recursion::Unroll => "unroll",
        }
    }
}

/// The summaries to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SummaryMode {
    /// Summaries of reached entries (thesis, Fig. 4.3).
    #[default]
    Reachable,
    /// Universal summaries of all procedures that can be called (§4.2).
    Universal,
    /// Universal summaries of the procedures on possible paths to errors (Fig. 4.8).
    Lazy,
}

impl SummaryMode {
    /// All modes.
    pub const ALL: &'static [SummaryMode] = &[SummaryMode::Reachable, SummaryMode::Universal, SummaryMode::Lazy];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SummaryMode::Reachable => "reachable",
            SummaryMode::Universal => "universal",
            SummaryMode::Lazy => "lazy",
        }
    }
}

impl Engine for Sat {
    fn name(&self) -> &'static str {
        "sat"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_one_thread(task, self.name())?;
        if prelude_ends_early(task.program) {
            return Err(Unsupported::new("`sat` does not support programs whose `init` ends its thread in the middle"));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let mut sim = Simulation::new(task, run, explanation);
        let recursion = self.options.recursion;
        let trace = match self.options.summaries {
            SummaryMode::Reachable => modes::reachable(&mut sim)?,
            SummaryMode::Universal => modes::universal(&mut sim, recursion)?,
            SummaryMode::Lazy => modes::lazy(&mut sim, recursion)?,
        };
        Ok(trace.map_or(Verdict::Safe(None), Verdict::Unsafe))
    }
}

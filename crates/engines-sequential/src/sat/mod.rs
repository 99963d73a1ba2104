//! Reachability in programs with one thread, recursive or not, by summaries without decision diagrams.
//!
//! After Basler, Kroening and Weissenbacher (chapters 3, 4 and 10 of the thesis behind Boom). States are guards and
//! valuations in and-inverter graphs (`simulate`); where decision diagrams would be compared, a solver is asked
//! (`queries`): SAT for the feasibility of guards, formulas with one alternation for coverage. Three ways of getting
//! summaries (`SummaryMode`): `reach` follows reached entries to a fixed point, `unroll` makes universal summaries
//! (of recursive procedures: `nest`, or `reach` from all entries), and `modes` makes them on demand.
//!
//! An error is reported where its guard can be satisfied, and not where a summary is made: a callee that never returns
//! can fail all the same. Its trace is read off the assignment (`trace`).
//!
//! Safe answers have no certificate: that path edges with existential choices are closed is a question with one
//! alternation, which the judge does not ask. The run hears which arguments closed the search; the driver can ask
//! `summaries` for a certificate.

mod known;
mod modes;
mod nest;
mod plan;
mod queries;
mod reach;
mod root;
mod simulate;
mod trace;
mod unroll;

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::Ty;
use selvedge_ir::callgraph::is_sequential;

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
    /// Which summaries are made.
    ///
    /// Default: those that are reached.
    pub summaries: SummaryMode,
    /// How universal summaries of recursive procedures are closed. Summaries of reached entries have a fixed point only.
    ///
    /// Default: by a fixed point.
    pub recursion: Recursion,
}

/// How universal summaries of recursive procedures are closed.
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
    /// Both.
    pub const ALL: &'static [Recursion] = &[Recursion::Fixpoint, Recursion::Unroll];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Recursion::Fixpoint => "fixpoint",
            Recursion::Unroll => "unroll",
        }
    }
}

/// Which summaries are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SummaryMode {
    /// Those of entries that are reached (thesis, Fig. 4.3).
    #[default]
    Reachable,
    /// Universal ones, of all procedures that can be called (§4.2).
    Universal,
    /// Universal ones, of the procedures that errors seem to lead through (Fig. 4.8).
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
        let refuse = |reason: &str| Err(Unsupported::new(format!("`sat` takes {reason} only")));
        if !is_sequential(task.program) {
            return refuse("programs with one thread");
        }
        if task.program.vars.iter().any(|var| var.ty != Ty::Bool) {
            return refuse("Boolean programs");
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

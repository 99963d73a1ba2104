//! Questions about pushdown systems: search, and replay of the run that was found.

use std::time::{Duration, Instant};

use selvedge_check::{Event, Run, Stop};
use selvedge_engines::pushdown::{Answer, Direction, check};
use selvedge_ir::pds::{Config, NoRun, Pds, PdsTrace};

/// The answer about a pushdown system.
#[derive(Clone, Debug)]
pub struct SystemReport {
    /// The system, with the targets that were asked for.
    pub pds: Pds,
    /// The answer.
    pub outcome: SystemOutcome,
    /// How long the search took.
    pub search: Duration,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub enum SystemOutcome {
    /// No target can be reached.
    Unreachable,
    /// A run to a target, which was executed, and its configurations, the first one included.
    Reachable(PdsTrace, Vec<Config>),
    /// Not decided.
    Unknown(Stop),
}

/// Answers whether a target can be reached. An error says how the run that was found fails: we are wrong.
pub fn check_system(pds: Pds, direction: Direction, run: &Run<'_>) -> Result<SystemReport, NoRun> {
    run.event(Event::Phase("searching"));
    let start = Instant::now();
    let outcome = match check(&pds, direction, run) {
        Ok(Answer::Unreachable) => SystemOutcome::Unreachable,
        Ok(Answer::Reachable(trace)) => {
            let configs = pds.replay(&trace)?;
            SystemOutcome::Reachable(trace, configs)
        }
        Err(stop) => SystemOutcome::Unknown(stop),
    };
    Ok(SystemReport { pds, outcome, search: start.elapsed() })
}

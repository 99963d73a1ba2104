//! Questions about pushdown systems: search, and the judge's look at the run or the proof that was found.

use std::time::{Duration, Instant};

use selvedge_check::{Event, Run, Stop, SystemProof};
use selvedge_engines::pushdown::{Answer, Direction, check};
use selvedge_ir::pds::{Config, Pds, PdsTrace};
use selvedge_replay::certificate::{Refused, Unjudged, verify_system};

/// The answer about a pushdown system.
#[derive(Clone, Debug)]
pub struct SystemReport {
    /// The system, with the targets that were asked for.
    pub pds: Pds,
    /// The answer.
    pub outcome: SystemOutcome,
    /// How long the search took.
    pub search: Duration,
    /// How long the judge took.
    pub judge: Duration,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub enum SystemOutcome {
    /// No target can be reached, by a proof that was accepted.
    Unreachable(SystemProof),
    /// A run to a target, which was executed, and its configurations, the first one included.
    Reachable(PdsTrace, Vec<Config>),
    /// Not decided.
    Unknown(Stop),
}

/// Answers whether a target can be reached. An error says why the judge rejects what was found: we are wrong.
pub fn check_system(pds: Pds, direction: Direction, run: &Run<'_>) -> Result<SystemReport, String> {
    run.event(Event::Phase("searching"));
    let start = Instant::now();
    let answer = check(&pds, direction, run);
    let search = start.elapsed();
    run.event(Event::Phase("judging"));
    let outcome = match answer {
        Ok(Answer::Unreachable(proof)) => match verify_system(&pds, &proof, run) {
            Ok(()) => SystemOutcome::Unreachable(proof),
            Err(Refused::Unjudged(Unjudged::Stopped(stop))) => SystemOutcome::Unknown(stop),
            Err(Refused::Unjudged(unjudged)) => return Err(unjudged.to_string()),
            Err(Refused::Flawed(flaw)) => return Err(format!("the proof is flawed: {}", flaw.show(&pds))),
        },
        Ok(Answer::Reachable(trace)) => {
            let configs = pds.replay(&trace).map_err(|reason| format!("the run is none: {reason:?}"))?;
            SystemOutcome::Reachable(trace, configs)
        }
        Err(stop) => SystemOutcome::Unknown(stop),
    };
    Ok(SystemReport { pds, outcome, search, judge: start.elapsed() - search })
}

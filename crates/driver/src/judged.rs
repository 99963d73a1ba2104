//! The one place where verdicts meet the judge.
//!
//! A rejected verdict is a defect of ours. A certificate that the judge cannot check (no solver, too large, out of time)
//! is not rejected: the answer stays and is uncertified. Whoever cancels a check gets no answer.

use selvedge_check::{Counterexample, Outcome, Reason, Run, Stop, Task, Verdict};
use selvedge_replay::certificate::Unjudged;
use selvedge_replay::{Judged, judge};

use crate::Failure;

/// An outcome with judged evidence.
pub(crate) struct Examined {
    pub(crate) outcome: Outcome,
    /// Why the certificate could not be checked, if it could not.
    pub(crate) unchecked: Option<String>,
}

/// Judges a verdict of an engine about a task and returns the outcome.
pub(crate) fn examine(
    task: &Task<'_>,
    engine: &'static str,
    verdict: Verdict,
    run: &Run<'_>,
) -> Result<Examined, Failure> {
    let mut unchecked = None;
    let outcome = match (judge(task, &verdict, run), verdict) {
        (Ok(Judged::Replayed(replay)), Verdict::Unsafe(trace)) => {
            Outcome::Unsafe(Box::new(Counterexample::new(trace, replay)))
        }
        (Ok(Judged::Unjudged(Unjudged::Stopped(Stop::Cancelled))), _) => {
            Outcome::Unknown(Reason::Stop(Stop::Cancelled))
        }
        (Ok(Judged::Unjudged(unjudged)), _) => {
            unchecked = Some(unjudged.to_string());
            Outcome::Safe(None)
        }
        (Ok(_), Verdict::Safe(certificate)) => Outcome::Safe(certificate),
        (Ok(judged), Verdict::Unsafe(_)) => unreachable!("the judge replays traces: {judged:?}"),
        (Err(reject), _) => return Err(Failure::Internal { engine, message: reject.to_string() }),
    };
    Ok(Examined { outcome, unchecked })
}

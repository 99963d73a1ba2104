//! Judging the evidence of a verdict before it leaves the driver.

use selvedge_check::{Replay, Run, Task, Verdict};

use crate::certificate::{Accepted, Flaw, Refused, Unjudged, verify};
use crate::replay::{Mismatch, replay};

/// A verdict that the judge let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Safe, and the certificate was accepted.
    Certified,
    /// Safe, and the certificate was accepted, but it rests on this SMT solver alone.
    ByOneSolver(&'static str),
    /// Said to be safe, without a certificate.
    Uncertified,
    /// Said to be safe, with a certificate of which the judge cannot tell whether it proves something.
    Unjudged(Unjudged),
    /// Unsafe, and the trace was executed.
    Replayed(Replay),
}

/// Why the judge rejects a verdict: an engine or a pass is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reject {
    /// The trace is not one of the program, or ends in no error.
    Trace(Mismatch),
    /// The certificate proves nothing.
    Certificate(Flaw),
}

/// Examines the evidence of a verdict on the program as the user wrote it.
pub fn judge(task: &Task<'_>, verdict: &Verdict, run: &Run<'_>) -> Result<Judged, Reject> {
    match verdict {
        Verdict::Unsafe(trace) => replay(task, trace).map(Judged::Replayed).map_err(Reject::Trace),
        Verdict::Safe(None) => Ok(Judged::Uncertified),
        Verdict::Safe(Some(certificate)) => match verify(task, certificate, run) {
            Ok(Accepted::Certified) => Ok(Judged::Certified),
            Ok(Accepted::ByOneSolver(solver)) => Ok(Judged::ByOneSolver(solver)),
            Err(Refused::Unjudged(unjudged)) => Ok(Judged::Unjudged(unjudged)),
            Err(Refused::Flawed(flaw)) => Err(Reject::Certificate(flaw)),
        },
    }
}

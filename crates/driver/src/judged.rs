//! The one place where verdicts meet the judge.
//!
//! A rejected verdict is a defect of ours, unless two solvers contradict each other about a proof: one of them is
//! wrong, and there is no answer. A certificate that the judge cannot check (no solver, too large, out of time) is not
//! rejected: the answer stays and is uncertified. A proof that was judged only by the solver that found it is not
//! certified either. A check that is cancelled has no answer.

use selvedge_check::{Counterexample, Outcome, Reason, Run, SolverFailure, Stop, Task, Verdict};
use selvedge_replay::certificate::{Flaw, Unjudged};
use selvedge_replay::{Judged, Reject, judge};

use crate::Failure;

/// An outcome with judged evidence.
pub(crate) struct Examined {
    pub(crate) outcome: Outcome,
    /// Why the certificate could not be checked, if it could not.
    pub(crate) unchecked: Option<String>,
    /// The SMT solver that found the proof and alone judged it, if it was so.
    pub(crate) own_judge: Option<&'static str>,
}

/// Judges a verdict of an engine about a task and returns the outcome.
pub(crate) fn examine(
    task: &Task<'_>,
    engine: &'static str,
    verdict: Verdict,
    run: &Run<'_>,
) -> Result<Examined, Failure> {
    let (mut unchecked, mut own_judge) = (None, None);
    let outcome = match (judge(task, &verdict, run), verdict) {
        (Ok(Judged::Replayed(replay)), Verdict::Unsafe(trace)) => {
            Outcome::Unsafe(Box::new(Counterexample::new(trace, replay)))
        }
        (Ok(Judged::Unjudged(Unjudged::Stopped(stop @ (Stop::Cancelled | Stop::PartStopped)))), _) => {
            Outcome::Unknown(Reason::Stop(stop))
        }
        (Ok(Judged::Unjudged(unjudged)), _) => {
            unchecked = Some(unjudged.to_string());
            Outcome::Safe(None)
        }
        (Ok(judged), Verdict::Safe(certificate)) => {
            // If the finder is the one that did not judge, the judge is another one.
            let finder = run.solvers().of_engines();
            own_judge = finder.filter(|solver| judged == Judged::ByOneSolver(solver));
            Outcome::Safe(certificate)
        }
        (Ok(judged), Verdict::Unsafe(_)) => unreachable!("the judge replays traces: {judged:?}"),
        (Err(Reject::Certificate(Flaw::SolversDisagree { sat, unsat })), _) => {
            Outcome::Unknown(Reason::Stop(Stop::Solver(SolverFailure::Disagree { sat, unsat })))
        }
        (Err(reject), _) => return Err(Failure::Internal { engine, message: reject.to_string() }),
    };
    Ok(Examined { outcome, unchecked, own_judge })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use selvedge_check::{CancelToken, Engine, Limits, OwnedTask, ThreadScope};
    use selvedge_engines::summaries::Summaries;
    use selvedge_ir::text::parse_with_target;

    use super::*;

    const TEXT: &str = "shared x: bool\ninit x := F\nproc main() from L0 to L2\nL0 -> L1: x := T\n\
        L1 -> L2: assert x\nstart main\ntarget e1";

    fn examined(run: &Run<'_>) -> Examined {
        let (program, target) = parse_with_target(TEXT).expect("it is well-formed");
        let task = OwnedTask { program, target, threads: ThreadScope::Unbounded };
        let verdict = Summaries::default().check(&task.task(), &Run::unlimited()).expect("there is no limit");
        assert!(matches!(verdict, Verdict::Safe(Some(_))), "{verdict:?}");
        examine(&task.task(), "summaries", verdict, run).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn a_certificate_that_cannot_be_checked_leaves_the_answer_uncertified() {
        let Examined { outcome, unchecked, .. } = examined(&Run::unlimited());
        assert_eq!((matches!(outcome, Outcome::Safe(Some(_))), unchecked), (true, None));
        let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        let Examined { outcome, unchecked, .. } = examined(&Run::new(CancelToken::default(), limits, &()));
        assert_eq!((matches!(outcome, Outcome::Safe(None)), unchecked.is_some()), (true, true));
    }

    #[test]
    fn a_check_that_is_cancelled_while_it_is_judged_has_no_answer() {
        let cancel = CancelToken::default();
        cancel.cancel();
        let Examined { outcome, unchecked, .. } = examined(&Run::new(cancel, Limits::default(), &()));
        assert_eq!(outcome.reason(), Some(&Reason::Stop(Stop::Cancelled)));
        assert_eq!(unchecked, None);
    }
}

//! All states that can be reached, and the answer for each assertion and error location.
//!
//! *Order of work.* An engine visits all states, on the program as it is. What it says about errors is not evidence,
//! so that each error is then decided as if it were asked for on its own ([`each`]), by the engine that the user
//! names or by those that suit the program: with a replayed execution, or with an accepted certificate, or else the
//! answer says that it is uncertified. *Right*: every answer about an error is judged. Where the visit was complete
//! and says otherwise, one of the engines is wrong, which is reported as our defect.

use std::sync::Arc;
use std::time::Duration;

use selvedge_check::{Answer, Asked, Exploration, Outcome, Reason, Run, Status, Stop, Task, Times, Unsupported};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;

use crate::attempt::timed;
use crate::{Failure, Options, Prepared, each};

/// Visits everything, and answers for each error.
pub(crate) fn explore(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let rows = match options.engine {
        Some(row) => vec![row],
        None => vec![EngineKind::ThreadsExplicit.row(), EngineKind::Exhaustive.row()],
    };
    let mut time = Duration::ZERO;
    let (engine, explored) = timed(&mut time, || visit(&rows, &prepared.task(), options, run));
    let seen = match explored {
        Ok(seen) => seen,
        Err(reason) => {
            let times = Times { engine: time, ..Times::default() };
            return Ok(Answer::new(prepared.task().into(), Outcome::Unknown(reason), engine, times));
        }
    };
    let mut answer = each::decide(prepared, options, run)?;
    answer.engine = engine;
    answer.times.engine += time;
    if !seen.truncated {
        compare(&answer, &seen)?;
    } else if !matches!(answer.outcome, Outcome::Unsafe(_)) {
        answer.outcome = Outcome::Unknown(Reason::Truncated);
    }
    answer.exploration = Some(seen);
    Ok(answer)
}

/// Checks that judged answers and the states that were seen say the same.
fn compare(answer: &Answer, seen: &Exploration) -> Result<(), Failure> {
    for (asked, status) in answer.each.iter().flatten() {
        let is_seen = match asked {
            Asked::Assert(edge) => seen.failing.contains(edge),
            Asked::Loc(loc) => seen.thread_states.iter().any(|state| state.loc == *loc),
        };
        let differs = match status {
            Status::Violated(_) => !is_seen,
            Status::Holds(_) | Status::Unreachable(_) => is_seen,
            Status::Unknown(_) => false,
        };
        if differs {
            let message = format!("{asked:?} is {}, but among all states that were seen it is not", status.name());
            return Err(Failure::Internal { engine: answer.engine, message });
        }
    }
    Ok(())
}

/// Runs the first engine that takes the task and visits everything.
fn visit(
    rows: &[&Row],
    task: &Task<'_>,
    options: &Options,
    run: &Run<'_>,
) -> (&'static str, Result<Exploration, Reason>) {
    let mut refusal = ("", Unsupported::new("no engine was run"));
    for row in rows {
        let engine = (row.build)(&options.engine_options);
        let explored: Option<Result<Exploration, Stop>> = match engine.supports(task) {
            Ok(()) => engine.reachable(task, run),
            Err(unsupported) => {
                refusal = (engine.name(), unsupported);
                continue;
            }
        };
        match explored {
            Some(explored) => return (engine.name(), explored.map_err(Reason::Stop)),
            None => {
                let reason = format!("the engine `{}` does not visit everything", engine.name());
                refusal = (engine.name(), Unsupported::new(reason));
            }
        }
    }
    (refusal.0, Err(Reason::Unsupported(refusal.1)))
}

//! What the engines of a team have answered, and which answer is the best.

use std::time::{Duration, Instant};

use selvedge_check::{EngineEnd, EngineRun, Event, Outcome, Reason, Run, Stop};
use selvedge_engines::table::Row;

use crate::attempt::Attempt;
use crate::{Failure, Prepared};

/// The attempt whose answer is reported, the engine that made it, and the runs of all engines.
pub(super) struct Best {
    pub(super) row: &'static Row,
    pub(super) attempt: Attempt,
    pub(super) runs: Vec<EngineRun>,
}

/// Returns the run of an engine that ended in a defect.
pub(crate) fn defect(engine: &'static str, time: Duration, failure: &Failure) -> EngineRun {
    EngineRun { engine, time, end: EngineEnd::Defect(failure.to_string()), far: None }
}

/// The quality of an answer, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// None.
    Open,
    /// Safe without a certificate, or with one that only the solver judged which found it.
    Uncertified,
    /// With evidence.
    Judged,
}

pub(super) fn worth(attempt: &Attempt) -> Worth {
    match (&attempt.outcome, attempt.own_judge) {
        (Outcome::Unknown(_), _) => Worth::Open,
        (Outcome::Safe(None), _) | (Outcome::Safe(Some(_)), Some(_)) => Worth::Uncertified,
        (Outcome::Safe(Some(_)), None) | (Outcome::Unsafe(_), _) => Worth::Judged,
    }
}

/// The order in which attempts are reported: by what the answer is worth, and without an answer by the reason.
fn rank(attempt: &Attempt) -> (Worth, Urgency) {
    (worth(attempt), urgency(&attempt.outcome))
}

/// The reasons to have no answer. With a higher limit an engine might have had one, which users should know, whatever
/// the bounds of other engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// Its turn was over.
    Turn,
    /// A bound of the engine's own.
    Bound,
    /// A limit of the run, or something that went wrong.
    Trouble,
}

fn urgency(outcome: &Outcome) -> Urgency {
    match outcome {
        Outcome::Unknown(Reason::Stop(Stop::PartStopped)) => Urgency::Turn,
        // Other engines need no solver, or say the same.
        Outcome::Unknown(Reason::Stop(Stop::BoundReached(_) | Stop::NoSolver)) => Urgency::Bound,
        _ => Urgency::Trouble,
    }
}

pub(super) fn end_of(attempt: &Attempt) -> EngineEnd {
    match &attempt.outcome {
        Outcome::Unknown(reason) => EngineEnd::GaveUp(reason.clone()),
        Outcome::Safe(_) | Outcome::Unsafe(_) => EngineEnd::Answered,
    }
}

/// A team, the best answer yet, the first failure, and the runs that have ended.
pub(super) struct Standing {
    pub(super) team: Vec<&'static Row>,
    pub(super) runs: Vec<Option<EngineRun>>,
    pub(super) best: Option<(usize, Attempt)>,
    /// How far the search of each engine was when it told last.
    pub(super) far: Vec<Option<Event>>,
    failure: Option<Failure>,
}

impl Standing {
    pub(super) fn new(team: Vec<&'static Row>) -> Standing {
        Standing { runs: vec![None; team.len()], far: vec![None; team.len()], team, best: None, failure: None }
    }

    /// Notes the attempt of an engine, or the defect that ended it.
    pub(super) fn note(&mut self, number: usize, attempt: Result<Attempt, Failure>, time: Duration) {
        let attempt = match attempt {
            Ok(attempt) => attempt,
            Err(failure) => {
                self.runs[number] = Some(defect(self.team[number].name, time, &failure));
                self.failure.get_or_insert(failure);
                return;
            }
        };
        let is_better = self.best.as_ref().is_none_or(|(_, best)| rank(&attempt) > rank(best));
        let end = match end_of(&attempt) {
            EngineEnd::Answered => EngineEnd::Overtaken,
            end => end,
        };
        self.runs[number] = Some(EngineRun { engine: attempt.engine, time, end, far: attempt.far });
        if is_better {
            self.best = Some((number, attempt));
        }
    }

    pub(super) fn worth(&self) -> Worth {
        self.best.as_ref().map_or(Worth::Open, |(_, attempt)| worth(attempt))
    }

    /// Ends it. Engines that began and have not ended were overtaken, or did not notice that the run must stop. Without
    /// an answer, a defect of an engine is a failure.
    pub(super) fn close(
        mut self,
        prepared: &Prepared,
        began: &[Option<Instant>],
        run: &Run<'_>,
    ) -> Result<Best, Failure> {
        let stop = if self.worth() == Worth::Open { run.check_limits().err() } else { None };
        for (number, row) in self.team.iter().enumerate() {
            if let (None, Some(began)) = (&self.runs[number], began[number]) {
                let end = stop.map_or(EngineEnd::Overtaken, |stop| EngineEnd::GaveUp(Reason::Stop(stop)));
                self.runs[number] =
                    Some(EngineRun { engine: row.name, time: began.elapsed(), end, far: self.far[number] });
            }
        }
        if let (Worth::Open, Some(failure)) = (self.worth(), self.failure) {
            return Err(failure);
        }
        let stopped = |stop| (0, Attempt::stopped(prepared, self.team[0], stop));
        let was_stopped = stop.is_some_and(|stop| {
            let end = EngineEnd::GaveUp(Reason::Stop(stop));
            self.runs.iter().flatten().any(|run| run.end == end)
        });
        let best = self.best.filter(|(_, attempt)| match urgency(&attempt.outcome) {
            Urgency::Turn => stop.is_none(),
            Urgency::Bound => !was_stopped,
            Urgency::Trouble => true,
        });
        let (number, attempt) = best.unwrap_or_else(|| stopped(stop.unwrap_or(Stop::PartStopped)));
        if let (Some(run), true) = (&mut self.runs[number], worth(&attempt) > Worth::Open) {
            run.end = EngineEnd::Answered;
        }
        Ok(Best { row: self.team[number], attempt, runs: self.runs.into_iter().flatten().collect() })
    }
}

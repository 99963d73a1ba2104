//! Engines that are compared: running one, and judging its evidence.

use selvedge_check::{Engine, Stop, Task, Verdict};
use selvedge_driver::Simplified;
use selvedge_replay::{Judged, judge};

use crate::harness::{Fault, Tally, fault};
use crate::oracle::{Answer, Budget, within};

/// An engine with certain options.
pub struct Contender<'e> {
    /// Its name, and its options where they are not the defaults.
    pub name: &'e str,
    /// The engine.
    pub engine: &'e dyn Engine,
    /// The inlined program, for engines that do not support calls.
    pub inlined: Option<&'e Simplified>,
}

impl Contender<'_> {
    /// Runs the engine and judges its evidence, also for the program before inlining; `None` if the engine does not
    /// support the program.
    pub fn decide(&self, task: &Task<'_>, budget: Budget, tally: &mut Tally) -> Result<Option<Answer>, Fault> {
        let asked = self.inlined.map_or(*task, |inlined| inlined.task(task.threads));
        if self.engine.supports(&asked).is_err() {
            return Ok(None);
        }
        tally.count("asked");
        let answer = within(budget, |run| match self.engine.check(&asked, run) {
            Ok(verdict) => judge(&asked, &verdict, run).map(|judged| Ok((verdict, judged))),
            Err(stop) => Ok(Err(stop)),
        });
        match answer {
            Ok(Ok((verdict, judged))) => {
                self.check_lifted(task, &verdict, budget)?;
                Ok(Some(count_evidence(verdict, &judged, tally)))
            }
            Ok(Err(Stop::BoundReached(_))) => Ok(Some(Answer::Deep)),
            Ok(Err(_)) => {
                tally.count("undecided");
                Ok(Some(Answer::Large))
            }
            Err(reject) => fault(format!("{} (judge)", self.name), reject.to_string()),
        }
    }

    /// Checks that the evidence is also evidence about the program before inlining.
    fn check_lifted(&self, task: &Task<'_>, verdict: &Verdict, budget: Budget) -> Result<(), Fault> {
        let Some(inlined) = self.inlined else { return Ok(()) };
        match within(budget, |run| judge(task, &inlined.lift(verdict.clone()), run)) {
            Ok(_) => Ok(()),
            Err(reject) => fault(format!("{} (lifted)", self.name), reject.to_string()),
        }
    }

    /// Runs the engine and compares its answer with what is known, which the answer may decide. Returns whether the
    /// engine supports the program.
    pub fn compare(
        &self,
        task: &Task<'_>,
        known: &mut Answer,
        budget: Budget,
        tally: &mut Tally,
    ) -> Result<bool, Fault> {
        let Some(found) = self.decide(task, budget, tally)? else { return Ok(false) };
        if known.contradicts(&found) {
            return fault(self.name, format!("{known} for the engines before, but then {found}"));
        }
        if found.is_decided() {
            *known = found;
        }
        Ok(true)
    }
}

fn count_evidence(verdict: Verdict, judged: &Judged, tally: &mut Tally) -> Answer {
    match verdict {
        Verdict::Unsafe(trace) => Answer::Unsafe(trace),
        Verdict::Safe(_) => {
            tally.count(if *judged == Judged::Certified { "certified" } else { "uncertified" });
            Answer::Safe
        }
    }
}

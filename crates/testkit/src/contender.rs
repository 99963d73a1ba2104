//! Engines that are compared: running one, and judging its evidence.

use selvedge_check::{Engine, Stop, Task, Verdict};
use selvedge_driver::Simplified;
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_replay::{Judged, judge};

use crate::harness::{CERTIFICATES, COMPARISONS, Fault, Tally, fault};
use crate::oracle::{Answer, Budget, within};

/// An engine with certain options.
pub struct Contender {
    /// The engine.
    pub kind: EngineKind,
    /// Its name, and its options where they are not the defaults.
    pub name: String,
    /// The engine with its options.
    pub engine: Box<dyn Engine>,
}

impl Contender {
    /// Returns an engine with options that some words describe.
    pub fn new(kind: EngineKind, words: &str, options: &EngineOptions) -> Contender {
        let name = if words.is_empty() { kind.name().to_string() } else { format!("{} ({words})", kind.name()) };
        Contender { kind, name, engine: build(kind, options) }
    }

    /// Runs the engine and judges its evidence; `None` if the engine does not support the program. An engine that does
    /// not support calls gets the inlined program, and the evidence is judged also for the program before inlining.
    pub fn decide(
        &self,
        task: &Task<'_>,
        inlined: Option<&Simplified>,
        budget: Budget,
        tally: &mut Tally,
    ) -> Result<Option<Answer>, Fault> {
        let asked = inlined.map_or(*task, |inlined| inlined.task(task.threads));
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
                if let Some(inlined) = inlined {
                    let judged = within(budget, |run| judge(task, &inlined.lift(verdict.clone()), run));
                    let lifted =
                        judged.or_else(|reject| fault(format!("{} (lifted)", self.name), reject.to_string()))?;
                    if lifted == Judged::Certified {
                        tally.count("lifted");
                    }
                }
                tally.count(COMPARISONS);
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

    /// Runs the engine and compares its answer with what is known, which the answer may decide. Returns whether the
    /// engine supports the program.
    pub fn compare(
        &self,
        task: &Task<'_>,
        inlined: Option<&Simplified>,
        known: &mut Answer,
        budget: Budget,
        tally: &mut Tally,
    ) -> Result<bool, Fault> {
        let Some(found) = self.decide(task, inlined, budget, tally)? else { return Ok(false) };
        if known.contradicts(&found) {
            return fault(&self.name, format!("{known} for the engines before, but then {found}"));
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
            tally.count(if *judged == Judged::Certified { CERTIFICATES } else { "uncertified" });
            Answer::Safe
        }
    }
}

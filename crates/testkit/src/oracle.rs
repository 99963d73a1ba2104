//! The answer of the exhaustive engine within a budget, with which all others are compared.

use std::fmt;
use std::time::Duration;

use selvedge_check::{CancelToken, Engine, Event, Limits, Observer, Run, Stop, Task, Trace, Verdict};
use selvedge_engines::exhaustive::{Exhaustive, Options};

use crate::harness::Tally;

/// The limits of the oracle.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The limit on states. Some more may be found, since the limit is checked at intervals only.
    pub states: usize,
    /// The greatest number of frames on one stack.
    pub frames: u32,
    /// The memory for decision diagrams in bytes, if it is limited.
    pub diagrams: Option<u64>,
    /// The time limit of one engine, if nothing else stops it.
    pub patience: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::states(20_000)
    }
}

impl Budget {
    /// Returns the budget with a limit on states.
    pub const fn states(states: usize) -> Budget {
        Budget { states, frames: 6, diagrams: None, patience: None }
    }

    /// Returns the same budget with small stores for decision diagrams, which are created quickly, and a limit of ten
    /// seconds.
    #[must_use]
    pub const fn tight(self) -> Budget {
        Budget { diagrams: Some(4 << 20), patience: Some(Duration::from_secs(10)), ..self }
    }
}

/// The answer of the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No error can be reached.
    Safe,
    /// This execution ends in an error.
    Unsafe(Trace),
    /// Stacks exceed the budget, and there is no error up to there.
    Deep,
    /// The budget of states is used up.
    Large,
}

impl Answer {
    /// Returns whether a verdict was reached.
    pub fn is_decided(&self) -> bool {
        matches!(self, Answer::Safe | Answer::Unsafe(_))
    }

    /// Counts a program with this answer.
    pub(crate) fn count(&self, tally: &mut Tally) {
        tally.count(match self {
            Answer::Safe => "safe",
            Answer::Unsafe(_) => "unsafe",
            Answer::Deep | Answer::Large => "open",
        });
    }

    /// Returns whether the two answers cannot both be right.
    pub fn contradicts(&self, other: &Answer) -> bool {
        matches!((self, other), (Answer::Safe, Answer::Unsafe(_)) | (Answer::Unsafe(_), Answer::Safe))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Safe => write!(f, "safe"),
            Answer::Unsafe(trace) => write!(f, "unsafe in {} steps", trace.steps.len()),
            Answer::Deep => write!(f, "undecided: deep stacks"),
            Answer::Large => write!(f, "undecided: many states"),
        }
    }
}

/// Runs the oracle.
pub fn ask(task: &Task<'_>, budget: Budget) -> Answer {
    let engine = Exhaustive { options: Options { frames: budget.frames } };
    match within(budget, |run| engine.check(task, run)) {
        Ok(Verdict::Safe(_)) => Answer::Safe,
        Ok(Verdict::Unsafe(trace)) => Answer::Unsafe(trace),
        Err(Stop::BoundReached(_)) => Answer::Deep,
        Err(_) => Answer::Large,
    }
}

/// Returns a run that ends after some seconds.
pub fn patient(seconds: u64) -> Run<'static> {
    let limits = Limits { time: Some(Duration::from_secs(seconds)), ..Limits::default() };
    Run::new(CancelToken::default(), limits, &())
}

/// Runs an engine until it has found more states than the budget allows.
pub fn within<T>(budget: Budget, work: impl FnOnce(&Run<'_>) -> T) -> T {
    let watch = Watch { states: budget.states, cancel: CancelToken::default() };
    let limits = Limits { time: budget.patience, memory: budget.diagrams, memory_in_use: None };
    work(&Run::new(watch.cancel.clone(), limits, &watch))
}

/// The conflicts of SAT solvers after which a search has taken long enough.
const MOST_CONFLICTS: u64 = 50_000;

struct Watch {
    states: usize,
    cancel: CancelToken,
}

impl Observer for Watch {
    fn event(&self, event: Event) {
        let enough = match event {
            Event::Searched { visited, .. } => visited > self.states,
            Event::Views { k, views, .. } => k > 4 || views > self.states,
            Event::Solved { conflicts } => conflicts > MOST_CONFLICTS,
            _ => false,
        };
        if enough {
            self.cancel.cancel();
        }
    }
}

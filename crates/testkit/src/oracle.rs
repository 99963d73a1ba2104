//! The answer of the exhaustive engine within a budget: what everything else is compared with.

use std::fmt;
use std::time::Duration;

use selvedge_check::{CancelToken, Engine, Event, Limits, Observer, Run, Stop, Task, Trace, Verdict};
use selvedge_engines::exhaustive::{Exhaustive, Options};

use crate::harness::Tally;

/// How far the oracle looks.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// It gives up on programs with more states than this (and some, since it looks up now and then only).
    pub states: usize,
    /// The greatest number of frames on one stack.
    pub frames: u32,
    /// The bytes that decision diagrams may take, if they are to take little.
    pub diagrams: Option<u64>,
    /// How long one engine may take, where nothing else stops it.
    pub patience: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::states(20_000)
    }
}

impl Budget {
    /// So many states.
    pub const fn states(states: usize) -> Budget {
        Budget { states, frames: 6, diagrams: None, patience: None }
    }

    /// The same with small stores for decision diagrams, which are made quickly, and for at most ten seconds.
    #[must_use]
    pub const fn tight(self) -> Budget {
        Budget { diagrams: Some(4 << 20), patience: Some(Duration::from_secs(10)), ..self }
    }
}

/// What the oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No error can be reached.
    Safe,
    /// This execution ends in an error.
    Unsafe(Trace),
    /// Stacks are deeper than the budget allows, and there is no error up to there.
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

/// Asks the oracle.
pub fn ask(task: &Task<'_>, budget: Budget) -> Answer {
    let engine = Exhaustive { options: Options { frames: budget.frames } };
    match within(budget, |run| engine.check(task, run)) {
        Ok(Verdict::Safe(_)) => Answer::Safe,
        Ok(Verdict::Unsafe(trace)) => Answer::Unsafe(trace),
        Err(Stop::BoundReached(_)) => Answer::Deep,
        Err(_) => Answer::Large,
    }
}

/// Runs an engine until it has found more states than the budget allows.
pub fn within<T>(budget: Budget, work: impl FnOnce(&Run<'_>) -> T) -> T {
    let watch = Watch { states: budget.states, cancel: CancelToken::default() };
    let limits = Limits { time: budget.patience, memory: budget.diagrams, memory_in_use: None };
    work(&Run::new(watch.cancel.clone(), limits, &watch))
}

struct Watch {
    states: usize,
    cancel: CancelToken,
}

impl Observer for Watch {
    fn event(&self, event: Event) {
        let enough = match event {
            Event::Searched { visited, .. } => visited > self.states,
            Event::Views { k, views, .. } => k > 4 || views > self.states,
            _ => false,
        };
        if enough {
            self.cancel.cancel();
        }
    }
}

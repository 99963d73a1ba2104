//! `induction`: k-induction by SAT for Boolean programs, by SMT for programs with integers.

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_engines_integers::{self as integers, has_integers};
use selvedge_engines_sequential::induction as boolean;

pub use boolean::Options;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Induction {
    /// Its options.
    pub options: Options,
}

impl Induction {
    fn boolean(&self) -> boolean::Induction {
        boolean::Induction { options: self.options.clone() }
    }
}

impl Engine for Induction {
    fn name(&self) -> &'static str {
        "induction"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        if has_integers(task.program) { integers::supports(task, "induction") } else { self.boolean().supports(task) }
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        if has_integers(task.program) {
            return integers::induction::check(task, self.options.bound, run);
        }
        self.boolean().decide(task, run, explanation)
    }
}

//! A bounded number of threads without symmetry: the engine `threads-plain`.
//!
//! The baseline of the thesis behind Boom: for each assignment of places to the N threads, one set over the shared
//! variables and those of all threads (`search`). Threads have numbers 0 to N - 1; a new one takes the first free
//! number. Each step is an image of one thread along one edge (`step`). It shares the meaning of a step with
//! [`super::symbolic`] and no algorithm, and is kept as its partner for comparison. The order of work, the invariant
//! and the end are those of the breadth-first search.

mod explore;
mod layout;
mod search;
mod step;
mod trace;

use selvedge_check::{Engine, Explanation, Run, Stop, Task, ThreadScope, Unsupported, Verdict};
use selvedge_transition::step::vars::Keep;

use self::search::PlainSearch;
use super::Visit;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct ThreadsPlain {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Forgets the values of variables that are not read any more (thesis, §10.9).
    ///
    /// Default: on.
    pub dead: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { dead: true }
    }
}

impl Engine for ThreadsPlain {
    fn name(&self) -> &'static str {
        "threads-plain"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        if let ThreadScope::Created(_) = task.threads {
            let reason = "`threads-plain` bounds the threads at one time, not those created in a run";
            return Err(Unsupported::new(reason.to_string()));
        }
        super::supports(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let keep = if self.options.dead { Keep::Live } else { Keep::All };
        let mut search = PlainSearch::new(task, run, keep, Visit::UntilError)?;
        match search.run()? {
            Some(found) => Ok(Verdict::Unsafe(search.trace(found)?)),
            None => Ok(Verdict::Safe(None)),
        }
    }
}

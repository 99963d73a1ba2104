//! Bounded model checking by SAT, for programs with one thread, recursive or not (thesis behind Boom, §2.4).
//!
//! The order of work: all executions of zero steps, of one step, of two, and so on up to the bound; for each number the
//! solver is asked whether one of them ends in an error, so that the first counterexample is a shortest one. The
//! program counter is explicit: `unwinding` has one valuation and one guard for each location and stack height that
//! control flow can reach in that number of steps. Calls are unwound like loops, one frame per call.
//!
//! It ends at the bound. It is right because each execution with that number of steps is one assignment of the
//! unwinding's inputs, and each assignment is at most one execution. It never answers "safe", even if no execution is
//! longer than the bound.

mod frame;
mod unwinding;

use selvedge_check::{Bound, Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_transition::support::supports_one_thread;

pub(crate) use frame::Phase;
pub(crate) use unwinding::Unwinding;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Bmc {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The greatest number of steps of an execution to consider.
    ///
    /// Default: 200. Range: all.
    pub steps: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 200 }
    }
}

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_one_thread(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let bound = self.options.steps;
        let mut unwinding = Unwinding::new(*task);
        for _ in 0..bound {
            if let Some(trace) = unwinding.error(run)? {
                return Ok(Verdict::Unsafe(trace));
            }
            if unwinding.is_complete() {
                return Err(Stop::BoundReached(Bound::Steps(bound)));
            }
            unwinding.extend(run)?;
        }
        match unwinding.error(run)? {
            Some(trace) => Ok(Verdict::Unsafe(trace)),
            None => Err(Stop::BoundReached(Bound::Steps(bound))),
        }
    }
}

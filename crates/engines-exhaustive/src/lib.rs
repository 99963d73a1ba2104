//! Breadth-first search over the reference interpreter: simple, exact within its bounds, and the oracle for every other
//! engine.
//!
//! The order of work: all initial states, then the successors of each state in the order in which they were found.
//! States that differ only in the numbers of their threads are one state (`canonical`). It ends because the numbers of
//! threads and frames are bounded and all values are Boolean or of a fixed width. It is right because it tries every step that the
//! interpreter lists; if the bound on frames cut something off, it does not answer "safe".

mod canonical;
mod codec;
mod search;
mod settle;

use selvedge_check::{Bound, Engine, Explanation, Run, Stop, Task, ThreadScope, Unsupported, Verdict};
use selvedge_ir::callgraph::has_bounded_threads;
use selvedge_replay::Interpreter;

pub use selvedge_check::{Exploration, ThreadState};

use search::{ExhaustiveSearch, SearchExtent};
use settle::settled;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The greatest number of frames on one stack. Only recursive programs reach it.
    ///
    /// Default: 24. Range: 1 and more.
    pub frames: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { frames: 24 }
    }
}

impl Engine for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        if task.threads == ThreadScope::Unbounded && !has_bounded_threads(task.program) {
            let reason = "the number of threads is not bounded, and `exhaustive` needs a bound: give --threads N";
            return Err(Unsupported::new(reason.to_string()));
        }
        let interpreter = Interpreter::new(task.program, task.threads).settling(settled(task.program));
        interpreter.enumerable().map_err(Unsupported::new)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let interpreter = Interpreter::new(task.program, task.threads).settling(settled(task.program));
        let mut search = ExhaustiveSearch::new(*task, interpreter, run, &self.options);
        match search.run(SearchExtent::UntilError)? {
            Some(error) => Ok(Verdict::Unsafe(search.trace(error)?)),
            None if search.truncated() => Err(Stop::BoundReached(Bound::Frames(self.options.frames))),
            None => Ok(Verdict::Safe(None)),
        }
    }

    fn reachable(&self, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
        Some(self.explore(task, run))
    }
}

impl Exhaustive {
    /// Visits all states, errors or not, and returns the observable states of their threads. Tries every initial value
    /// of every variable.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let interpreter = Interpreter::new(task.program, task.threads);
        let mut search = ExhaustiveSearch::new(*task, interpreter, run, &self.options);
        search.run(SearchExtent::All)?;
        Ok(search.exploration())
    }
}

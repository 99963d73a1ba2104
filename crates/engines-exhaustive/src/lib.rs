//! Breadth-first search over the reference interpreter: simple, exact within its bounds, and the oracle for every other
//! engine.
//!
//! The order of work: all initial states, then the successors of each state in the order in which they were found.
//! States that differ only in the numbers of their threads are one state ([`selvedge_replay::canonical`]). It ends
//! because the numbers of threads and frames are bounded and all values are Boolean or of a fixed width. It is right
//! because it tries every step that the interpreter lists; if the bound on frames cut something off, it does not answer
//! "safe".
//!
//! Where deadlocks are all that is asked for, values that no thread reads later do not distinguish states, and a thread
//! whose steps no other notices may move alone (`quiet`).
//!
//! A state none of whose steps is possible is a deadlock. Whether there is one with any number of threads is not
//! decided by any number of them, since one more thread may free the others: then a few threads are tried, one more
//! each time.

mod codec;
mod quiet;
mod search;
mod settle;

use selvedge_check::{
    Bound, Certificate, Engine, Explanation, Run, Stop, Task, ThreadScope, Unsupported, ValuesAsked, Verdict,
};
use selvedge_ir::Target;
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
        if any_number(task) && !task.target.deadlock {
            let reason = "the number of threads is not bounded, and `exhaustive` needs a bound: give --threads N";
            return Err(Unsupported::new(reason.to_string()));
        }
        let interpreter = Interpreter::new(task.program, task.threads).settling(settled(task.program));
        interpreter.enumerable().map_err(Unsupported::new)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        if any_number(task) {
            return self.try_few_threads(task, run);
        }
        let mut search = self.search(task, run);
        let verdict = self.verdict(&mut search)?;
        Ok(verdict.unwrap_or_else(|| safe(task)))
    }

    fn reachable(&self, task: &Task<'_>, _: ValuesAsked<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
        Some(self.explore(task, run))
    }
}

/// The greatest number of threads to try when the question is about any number.
const FEW_THREADS: u32 = 6;

/// The number of states after which no more threads are tried.
const FEW_STATES: usize = 100_000;

/// Returns whether the number of threads has no limit.
fn any_number(task: &Task<'_>) -> bool {
    task.threads == ThreadScope::Unbounded && !has_bounded_threads(task.program)
}

/// Returns the answer where all states were seen. Proofs for other questions come from other engines.
fn safe(task: &Task<'_>) -> Verdict {
    Verdict::Safe(task.target.deadlock.then_some(Certificate::AllStates))
}

impl Exhaustive {
    fn search<'a>(&self, task: &Task<'a>, run: &'a Run<'a>) -> ExhaustiveSearch<'a> {
        let interpreter = Interpreter::new(task.program, task.threads).settling(settled(task.program));
        let search = ExhaustiveSearch::new(*task, interpreter, run, &self.options);
        let Target { deadlock, locs, asserts, together } = task.target;
        let is_all = locs.is_empty() && asserts.is_empty() && together.is_empty();
        if *deadlock && is_all { search.for_deadlocks() } else { search }
    }

    /// Runs a search; `None` if it finds no error.
    fn verdict(&self, search: &mut ExhaustiveSearch<'_>) -> Result<Option<Verdict>, Stop> {
        match search.run(SearchExtent::UntilError)? {
            Some(error) => Ok(Some(Verdict::Unsafe(search.trace(error)?))),
            None if search.truncated() => Err(Stop::BoundReached(Bound::Frames(self.options.frames))),
            None => Ok(None),
        }
    }

    /// Looks for an error with one thread, two, and so on, as long as these have few states. The answer is "safe" only
    /// if no run has more threads.
    fn try_few_threads(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Verdict, Stop> {
        for few in 1.. {
            let mut search = self.search(task, run).within(few);
            match self.verdict(&mut search)? {
                Some(verdict) => return Ok(verdict),
                None if !search.leaves_out_threads() => return Ok(safe(task)),
                None if few >= FEW_THREADS || search.n_states() > FEW_STATES => {
                    return Err(Stop::BoundReached(Bound::DeadlockThreads(few)));
                }
                None => {}
            }
        }
        unreachable!("the loop ends")
    }

    /// Visits all states, errors or not, and returns the observable states of their threads. Tries every initial value
    /// of every variable.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let interpreter = Interpreter::new(task.program, task.threads);
        let mut search = ExhaustiveSearch::new(*task, interpreter, run, &self.options);
        search.run(SearchExtent::All)?;
        Ok(search.exploration())
    }
}

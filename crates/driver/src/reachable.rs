//! Everything that can be reached: the states of threads, and what becomes of each assertion.

use std::time::{Duration, Instant};

use selvedge_check::{Exploration, Run, Task, ThreadScope, Unsupported};
use selvedge_engines::{EngineKind, build};
use selvedge_ir::{EdgeId, Program, Target};

use crate::{Failure, Options, Reason, Subject};

/// What was found.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The program that was asked about.
    pub program: Program,
    /// The errors that count.
    pub target: Target,
    /// How many threads may live.
    pub threads: ThreadScope,
    /// Who looked.
    pub engine: &'static str,
    /// How long it took.
    pub time: Duration,
    /// What was seen, or why not all was.
    pub outcome: Result<Exploration, Reason>,
}

/// What becomes of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can fail.
    Violated,
    /// It is reached and cannot fail.
    Holds,
    /// No thread reaches it.
    Unreachable,
}

impl Reachable {
    /// What becomes of each assertion that was asked for, in the order of their numbers; nothing if not all was seen.
    pub fn assertions(&self) -> Vec<(EdgeId, Status)> {
        let Ok(seen) = &self.outcome else { return Vec::new() };
        let status = |edge: EdgeId| {
            let from = self.program.edges[edge].from;
            if seen.failing.contains(&edge) {
                Status::Violated
            } else if seen.thread_states.iter().any(|state| state.loc == from) {
                Status::Holds
            } else {
                Status::Unreachable
            }
        };
        self.target.asserts.iter().map(|edge| (*edge, status(*edge))).collect()
    }

    /// Whether an error of the target is among what was seen. Meetings of threads are not told by their states.
    pub fn has_error(&self) -> bool {
        let Ok(seen) = &self.outcome else { return false };
        let stands = seen.thread_states.iter().any(|state| self.target.has_loc(state.loc));
        stands || seen.failing.iter().any(|edge| self.target.has_assert(*edge))
    }
}

/// Visits everything, on the program as it is.
pub fn reachable(subject: Subject<'_>, options: &Options, run: &Run<'_>) -> Result<Reachable, Failure> {
    let (program, target, threads) = options.question.pose(subject).map_err(Failure::Usage)?;
    let task = Task { program: &program, target: &target, threads };
    let start = Instant::now();
    let kinds = match options.engine {
        Some(kind) => vec![kind],
        None => vec![EngineKind::ThreadsExplicit, EngineKind::Exhaustive],
    };
    let (engine, outcome) = first(&kinds, &task, options, run);
    Ok(Reachable { engine, outcome, time: start.elapsed(), threads, target, program })
}

/// Asks the first engine that takes the task and visits everything.
fn first(
    kinds: &[EngineKind],
    task: &Task<'_>,
    options: &Options,
    run: &Run<'_>,
) -> (&'static str, Result<Exploration, Reason>) {
    let mut refusal = ("", Unsupported::new("no engine was asked"));
    for kind in kinds {
        let engine = build(*kind, &options.engine_options);
        let explored = match engine.supports(task) {
            Ok(()) => engine.reachable(task, run),
            Err(unsupported) => {
                refusal = (engine.name(), unsupported);
                continue;
            }
        };
        match explored {
            Some(explored) => return (engine.name(), explored.map_err(Reason::Stop)),
            None => {
                let reason = format!("the engine `{}` does not visit everything", engine.name());
                refusal = (engine.name(), Unsupported::new(reason));
            }
        }
    }
    (refusal.0, Err(Reason::Unsupported(refusal.1)))
}

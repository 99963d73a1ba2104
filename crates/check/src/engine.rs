//! The interface of engines, and their results.

use std::time::Duration;

use selvedge_ir::trace::Trace;
use selvedge_ir::{EdgeId, LocId};
use thiserror::Error;

use crate::{Certificate, Explanation, Exploration, Run, SolverFailure, Task, ValuesAsked};

/// One way of deciding reachability. An engine value is its options and nothing else.
///
/// # Soundness
///
/// An engine that did not look at every execution in the task's scope must not answer [`Verdict::Safe`]; it returns
/// [`Stop::BoundReached`]. A [`Verdict::Unsafe`] carries an execution of the task's program, which the driver replays.
pub trait Engine: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Returns whether the engine can work on the task. Cheap and conservative: `Ok` may still end in a [`Stop`].
    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported>;

    /// Decides the task. The explanation is filled in on the way, so that it is there also where the engine stops.
    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop>;

    /// Decides the task without an explanation.
    fn check(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Verdict, Stop> {
        self.decide(task, run, &mut Explanation::default())
    }

    /// Decides each assertion and location of the target on its own, as if it were the only one, all in one run. `None`
    /// from engines that cannot.
    fn check_each(&self, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Findings, Stop>> {
        let _ = (task, run);
        None
    }

    /// Visits all states, also behind errors and without reductions that lose some, and returns what can be seen of
    /// their threads. Values that are not asked for may be left out. `None` from engines that cannot.
    fn reachable(&self, task: &Task<'_>, asked: ValuesAsked<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
        let _ = (task, asked, run);
        None
    }
}

/// A decided question, with the evidence that decides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No error can be reached.
    Safe(Option<Certificate>),
    /// This execution ends in an error.
    Unsafe(Trace),
}

/// The result for each assertion and location of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The assertions that can fail, in ascending order, each with an execution that ends in its failure.
    pub asserts: Vec<(EdgeId, Trace)>,
    /// The locations that can be reached, in ascending order, each with an execution that ends there.
    pub locs: Vec<(LocId, Trace)>,
    /// Assertions of the target that no execution reaches, in ascending order.
    pub unreachable: Vec<EdgeId>,
    /// Evidence that the rest of the target cannot be reached.
    pub certificate: Option<Certificate>,
}

/// Why an engine returned without a verdict. Never an error of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stop {
    /// The run was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// This part of the run was stopped, or has used up its share of the work; the run itself goes on.
    #[error("stopped in favour of other engines")]
    PartStopped,
    /// The system refused to start a thread.
    #[error("the system refused to start another thread")]
    NoThread,
    /// This much time was used up.
    #[error("time limit of {} s reached", .0.as_secs_f64())]
    TimeLimit(Duration),
    /// This many bytes were used up.
    #[error("memory limit of {} MB reached", .0 / 1_000_000)]
    MemoryLimit(u64),
    /// This many nodes of decision diagrams were used up.
    #[error("limit of {0} nodes reached")]
    NodeLimit(usize),
    /// The program has more than this many states of threads, or steps between them, where these are listed one by one.
    #[error("more than {0} states of threads and steps between them")]
    StateLimit(usize),
    /// No error within the bound; beyond it nothing is known.
    #[error("{0}")]
    BoundReached(Bound),
    /// An SMT solver is needed, and there is none.
    #[error("integers need the SMT solver z3, which was not found: `selvedge doctor` says how to install it")]
    NoSolver,
    /// The SMT solver failed.
    #[error("{0}")]
    Solver(SolverFailure),
}

/// A bound within which an engine looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Bound {
    /// This many threads at a time.
    #[error("no error within {0} threads")]
    Threads(u32),
    /// This many threads at a time, of which none is a deadlock.
    #[error("no deadlock with up to {}; more may have one: --threads N decides it for N", count(*.0, "thread"))]
    DeadlockThreads(u32),
    /// This many frames on a stack.
    #[error("no error within {0} frames per stack")]
    Frames(u32),
    /// This many steps of an execution.
    #[error("no error within {0} steps")]
    Steps(u32),
    /// This many steps of each thread that other threads can notice.
    #[error("no error within {0} visible steps of each thread")]
    VisibleSteps(u32),
    /// This many execution contexts of each thread, in a round-robin schedule.
    #[error("no error within {} per thread", count(*.0, "context"))]
    Contexts(u32),
    /// This many rounds of any number of threads.
    #[error("no error within {}", count(*.0, "round"))]
    Rounds(u32),
    /// This many abstractions, each finer than the one before.
    #[error("not decided by {0} abstractions")]
    Abstractions(u32),
    /// Invariants of certain forms.
    #[error("no invariant of the forms that were tried is strong enough")]
    Invariants,
}

/// Why an engine does not take a task.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Unsupported {
    /// A sentence for the user, without a full stop.
    pub reason: String,
    /// The step that the engine cannot do, where it is one.
    pub edge: Option<EdgeId>,
}

impl Unsupported {
    /// A reason that is not about a single step.
    pub fn new(reason: impl Into<String>) -> Unsupported {
        Unsupported { reason: reason.into(), edge: None }
    }

    /// A reason that is about this step.
    pub fn at(edge: EdgeId, reason: impl Into<String>) -> Unsupported {
        Unsupported { reason: reason.into(), edge: Some(edge) }
    }
}

/// `1 round`, `2 rounds`.
fn count(number: u32, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

//! From a question to a judged answer: pose it, prepare the program, choose engines and run them, lift their evidence,
//! judge it.
//!
//! The driver knows no output format and no terminal. [`check`] is the door for all questions; [`Subject::answer`] is
//! the table of contents of a check of a program.

mod attempt;
pub mod defect;
mod each;
pub mod external;
mod inlined_states;
mod judged;
mod least;
mod limits;
mod minimize;
mod portfolio;
mod predicate_proof;
mod prepare;
mod projection;
mod reachable;
mod shortest;
mod simplify;
mod simulate;
mod systems;
mod thread_proof;
pub mod threads;

use selvedge_check::{
    Answer, Asked, Counterexample, InvalidQuestion, Model, Outcome, OwnedTask, Question, Reason, Run, Status, Stop,
    Subject, Task, Trace, Unsupported,
};
use selvedge_engines::pushdown::Direction;
use selvedge_engines::table::Row;
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_ir::span::Role;

use selvedge_replay::replay::{Mismatch, replay};

pub use minimize::Minimize;
use prepare::Prepared;
pub use selvedge_check::AbstractModel;
pub use selvedge_ir::passes::Pass;
pub use simplify::{Simplified, simplify};
pub use simulate::{RunEnd, Simulation, possible_steps, simulate};
pub use systems::{OneSystem, turns_options};

/// The options of a check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The question, for programs.
    pub question: Question,
    /// The scope of the answer.
    pub ask: Ask,
    /// Which engine: a row of the table, or one of the caller's own. `None` lets the driver choose some of the table,
    /// which run in parallel.
    pub engine: Option<&'static Row>,
    /// Maximum number of engines that run in parallel. With one they take turns, and the answer is the same each time.
    pub jobs: usize,
    /// The options of the engines.
    pub engine_options: EngineOptions,
    /// The passes before the engine, in order; `None`: those that suit the engine.
    pub passes: Option<Vec<Pass>>,
    /// The source of certificates.
    pub certify: Certify,
    /// The treatment of an execution to an error.
    pub minimize: Minimize,
    /// Set if an execution to an error is to have as few steps as possible, as far as a small budget allows; for
    /// programs with one thread.
    pub shortest: bool,
    /// Which way pushdown systems are searched.
    pub direction: Direction,
}

/// Returns the engine with a name of the table.
pub fn engine_named(name: &str) -> Option<&'static Row> {
    EngineKind::from_name(name).map(EngineKind::row)
}

/// The scope of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ask {
    /// One answer for all errors: whether one of them can be reached.
    #[default]
    Any,
    /// The same for each assertion and error location on its own.
    Each,
    /// The same, and all states of threads that can be reached.
    Reachable,
    /// One answer for all errors, and the steps that lie on some execution to one.
    Projection,
}

/// The source of the certificate of a safe answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certify {
    /// The engine that answered, if one did.
    #[default]
    Engine,
    /// If it gives none, [`EngineKind::Summaries`], for rounds [`EngineKind::Views`], within what is left of the
    /// limits.
    Anybody,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The question does not fit the program.
    #[error("{0}")]
    Usage(InvalidQuestion),
    /// No engine supports it.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// An engine and the judge disagree: we are wrong.
    #[error("the engine `{engine}` and the judge disagree: {message}")]
    Internal {
        /// The engine.
        engine: &'static str,
        /// The judge's message.
        message: String,
    },
    /// An engine panicked: we are wrong.
    #[error("the engine `{engine}` panicked: {message}")]
    Panicked {
        /// The engine.
        engine: &'static str,
        /// The message and place of the panic.
        message: String,
    },
}

/// Something that can be checked: a program, a pushdown system, or several that take turns. The parameter is what the
/// answer speaks of.
pub trait Checkable<M: Model> {
    /// Answers the question that the options ask.
    fn answer(self, options: &Options, run: &Run<'_>) -> Result<Answer<M>, Failure>;
}

/// Answers a question, with evidence that was judged.
pub fn check<M: Model>(subject: impl Checkable<M>, options: &Options, run: &Run<'_>) -> Result<Answer<M>, Failure> {
    let mut answer = subject.answer(options, run)?;
    // Where somebody interrupts, engines and solvers may end for other reasons at the same time. And what stopped only
    // a part of the run is no reason for the whole.
    if let Outcome::Unknown(reason) = &mut answer.outcome {
        match (run.check_limits(), &*reason) {
            (Err(Stop::Cancelled), _) => *reason = Reason::Stop(Stop::Cancelled),
            (Err(stop), Reason::Stop(Stop::PartStopped)) => *reason = Reason::Stop(stop),
            _ => {}
        }
    }
    Ok(answer)
}

impl Checkable<OwnedTask> for Subject<'_> {
    /// Answers the question about the program as it is, and again within its limits if need be (`limits`).
    fn answer(self, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
        limits::validate(self, options).map_err(Failure::Usage)?;
        limits::respect(ask(self, options, run)?, self, |within| ask(within, options, run))
    }
}

/// The table of contents: the question is posed, the program prepared, engines run (`portfolio`), each with its
/// evidence lifted and judged (`attempt`), and further requested parts are added to the answer.
fn ask(subject: Subject<'_>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let (program, target, threads) = options.question.pose(subject).map_err(Failure::Usage)?;
    projection::validate(&target, options).map_err(Failure::Usage)?;
    let prepared = Prepared::new(OwnedTask { program, target, threads });
    let mut answer = match options.ask {
        Ask::Any => portfolio::decide(&prepared, options, run)?,
        Ask::Each => each::decide(&prepared, options, run)?,
        Ask::Reachable => reachable::explore(&prepared, options, run)?,
        Ask::Projection => projection::project(&prepared, options, run)?,
    };
    locate(&mut answer.outcome, subject);
    unfold_checks(answer.each.as_deref_mut().unwrap_or_default(), subject);
    Ok(answer)
}

/// Says of a check that a statement brings along (the range of a number, the index of an element) that it holds where
/// its violation is unreachable: the statement itself may well be reached.
fn unfold_checks(each: &mut [(Asked, Status)], subject: Subject<'_>) {
    for (asked, status) in each {
        if let (Asked::Assert(edge), Status::Unreachable(evidence)) = (asked, &*status)
            && subject.map.edges[*edge].role == Role::Violation
        {
            *status = Status::Holds(evidence.clone());
        }
    }
}

/// Adds the line to a refusal that is about one step.
fn locate(outcome: &mut Outcome, subject: Subject<'_>) {
    if let Outcome::Unknown(Reason::Unsupported(unsupported)) = outcome
        && let Some(edge) = unsupported.edge.take()
    {
        unsupported.reason = format!("line {}: {}", subject.line(edge), unsupported.reason);
    }
}

/// Explores a program with integers by symbolic execution with abstract matching, under the predicates of its guards
/// and assertions.
pub fn abstract_model(task: &Task<'_>, run: &Run<'_>) -> Result<AbstractModel, Reason> {
    selvedge_engines::build(EngineKind::Ase, &EngineOptions::default()).supports(task).map_err(Reason::Unsupported)?;
    selvedge_engines::integers::ase::picture::abstract_model(task, &[], run).map_err(Reason::Stop)
}

/// An execution to an error, with the question that it answers.
#[derive(Clone, Debug)]
pub struct ExecutedTrace {
    /// The question.
    pub task: OwnedTask,
    /// The execution.
    pub counterexample: Counterexample,
}

impl ExecutedTrace {
    /// Executes a trace, which must answer the question.
    pub fn new(task: OwnedTask, trace: Trace) -> Result<ExecutedTrace, Mismatch> {
        let replayed = replay(&task.task(), &trace)?;
        Ok(ExecutedTrace { task, counterexample: Counterexample::new(trace, replayed) })
    }
}

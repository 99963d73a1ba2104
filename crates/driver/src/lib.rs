//! From a program to a judged report: simplify, choose an engine, run it, lift its evidence, judge it.
//!
//! The driver knows no output format and no terminal. [`check`] is the table of contents.

mod attempt;
mod each;
pub mod external;
mod minimize;
mod projection;
mod question;
mod race;
mod reachable;
mod simplify;
mod simulate;
mod systems;
mod thread_proof;
mod turns;

use std::time::Duration;

use selvedge_check::{Certificate, Event, Explanation, Run, Stop, Task, ThreadScope, Unsupported};
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_ir::span::SourceMap;
use selvedge_ir::{Program, Target, Trace};
use selvedge_replay::replay::Mismatch;
use selvedge_replay::{Reject, Replay, replay};

use attempt::{Attempt, by_control_flow};
pub use each::{Answer, Asked, Each, Evidence, check_each};
pub use minimize::{Irrelevant, Minimize};
pub use projection::{Involved, Projection};
pub use question::{Initial, Question, UsageError};
use race::Raced;
pub use race::{Leg, LegEnd};
pub use reachable::{Reachable, Status, reachable};
pub use selvedge_engines::integers::ase::picture::{AbstractModel, AbstractState};
pub use selvedge_ir::passes::Pass;
pub use simplify::{Simplified, simplify};
pub use simulate::{RunEnd, Simulation, possible_steps, simulate};
pub use systems::{SystemOutcome, SystemReport, check_system};
pub use turns::{TurnsEngine, TurnsOutcome, TurnsReport, TurnsRun, check_turns, turns_options};

/// A program as the user wrote it, with its source positions.
#[derive(Clone, Copy)]
pub struct Subject<'s> {
    /// The program.
    pub program: &'s Program,
    /// The positions of its parts.
    pub map: &'s SourceMap,
    /// The text that it was read from.
    pub text: &'s str,
}

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The question.
    pub question: Question,
    /// Which engine; `None` lets the driver choose some, which run side by side.
    pub engine: Option<EngineKind>,
    /// How many engines may run at a time. With at most one they take turns, and the answer is the same each time.
    pub jobs: usize,
    /// What the engines are told.
    pub engine_options: EngineOptions,
    /// The passes before the engine, in order; `None`: those that suit the engine.
    pub passes: Option<Vec<Pass>>,
    /// Who may give the certificate.
    pub certify: Certify,
    /// Whether an execution to an error is made smaller.
    pub minimize: Minimize,
    /// Whether the report says which steps an error can involve.
    pub projection: bool,
}

/// Who may give the certificate of a safe answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certify {
    /// The engine that answers, or nobody.
    #[default]
    Engine,
    /// Where it gives none, [`EngineKind::Summaries`], for rounds [`EngineKind::Views`], within what is left of the limits.
    Anybody,
}

/// The answer, with all that a report says about it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The program that was asked about: the user's, with the initial threads that the question names.
    pub program: Program,
    /// The errors that were asked for.
    pub target: Target,
    /// How many threads may live.
    pub threads: ThreadScope,
    /// The answer.
    pub outcome: Outcome,
    /// Who found it.
    pub engine: &'static str,
    /// Who ran.
    pub legs: Vec<Leg>,
    /// Who gave the certificate, if it was another engine.
    pub certifier: Option<&'static str>,
    /// What the engine tells about its search.
    pub explanation: Explanation,
    /// Which steps an error can involve, where that was asked.
    pub projection: Option<Projection>,
    /// How large the program was before and after the passes.
    pub sizes: [Size; 2],
    /// How long the phases took.
    pub times: Times,
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No error can be reached. `None`: the engine gave no certificate.
    Safe(Option<Certificate>),
    /// An error can be reached.
    Unsafe(Box<Counterexample>),
    /// Not decided.
    Unknown(Reason),
}

/// An execution that ends in an error, and was executed.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The choices.
    pub trace: Trace,
    /// The states, and the error.
    pub replay: Replay,
    /// What does not matter in it, where that was looked for.
    pub irrelevant: Irrelevant,
}

impl Counterexample {
    /// An execution of which nothing else is known.
    pub fn new(trace: Trace, replay: Replay) -> Counterexample {
        Counterexample { trace, replay, irrelevant: Irrelevant::default() }
    }
}

/// An execution that ends in an error, with the question that it answers.
#[derive(Clone, Debug)]
pub struct Found {
    /// The program, with its initial threads.
    pub program: Program,
    /// The errors that were asked for.
    pub target: Target,
    /// How many threads there may be.
    pub threads: ThreadScope,
    /// The execution.
    pub counterexample: Counterexample,
}

impl Found {
    /// Executes a trace, which must answer the question.
    pub fn executed(program: Program, target: Target, threads: ThreadScope, trace: Trace) -> Result<Found, Mismatch> {
        let replayed = replay(&Task { program: &program, target: &target, threads }, &trace)?;
        Ok(Found { program, target, threads, counterexample: Counterexample::new(trace, replayed) })
    }

    /// The question.
    pub fn task(&self) -> Task<'_> {
        Task { program: &self.program, target: &self.target, threads: self.threads }
    }
}

/// Why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The engine stopped.
    Stop(Stop),
    /// No engine takes the program, or the chosen one does not.
    Unsupported(Unsupported),
}

/// The size of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Procedures.
    pub procs: usize,
    /// Locations.
    pub locs: usize,
    /// Edges.
    pub edges: usize,
    /// Variables of all scopes.
    pub vars: usize,
}

/// How long the phases took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The passes.
    pub simplify: Duration,
    /// The engine.
    pub engine: Duration,
    /// The judge.
    pub judge: Duration,
}

/// Why there is no report.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The question does not fit the program.
    Usage(UsageError),
    /// An engine and the judge disagree: we are wrong.
    Internal {
        /// Who answered.
        engine: &'static str,
        /// What the judge says.
        reject: Box<Reject>,
    },
}

/// Answers a question about a program, with evidence about the program as the user wrote it.
pub fn check(subject: Subject<'_>, options: &Options, run: &Run<'_>) -> Result<Report, Failure> {
    let (program, target, threads) = options.question.pose(subject).map_err(Failure::Usage)?;
    if options.projection
        && let Some(mistake) = projection::mistake(&target)
    {
        return Err(Failure::Usage(mistake));
    }
    let task = Task { program: &program, target: &target, threads };
    let mut options = options.clone();
    if options.projection && options.engine_options.contexts.bound.is_some() {
        // Nobody else says what there is within a number of contexts.
        options.engine = options.engine.or(Some(EngineKind::Contexts));
    }
    let mut report = check_task(task, &options, run)?;
    if options.projection {
        report.projection = Some(projection::project(&task, &report.outcome, &options, run)?);
    }
    if let Outcome::Unknown(Reason::Unsupported(unsupported)) = &mut report.outcome {
        locate(unsupported, subject);
    }
    Ok(report)
}

/// What symbolic execution with abstract matching sees of a program with integers, under the predicates of its guards
/// and assertions.
pub fn abstract_model(task: &Task<'_>, run: &Run<'_>) -> Result<AbstractModel, Reason> {
    selvedge_engines::build(EngineKind::Ase, &EngineOptions::default()).supports(task).map_err(Reason::Unsupported)?;
    selvedge_engines::integers::ase::picture::abstract_model(task, &[], run).map_err(Reason::Stop)
}

/// A refusal that is about one step says on which line that stands.
fn locate(unsupported: &mut Unsupported, subject: Subject<'_>) {
    if let Some(edge) = unsupported.edge.take() {
        let start = subject.map.edges[edge].span.start as usize;
        let line = subject.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        unsupported.reason = format!("line {line}: {}", unsupported.reason);
    }
}

/// Answers a question that was posed.
fn check_task(task: Task<'_>, options: &Options, run: &Run<'_>) -> Result<Report, Failure> {
    run.event(Event::Phase("choosing"));
    if options.engine.is_none()
        && let Some(attempt) = by_control_flow(&task, run)
    {
        return attempt.map(|attempt| report(task, attempt, Vec::new()));
    }
    let Raced { winner, mut attempt, legs } = race::race(&task, race::team(&task, options), options, run)?;
    if let (Outcome::Unsafe(found), Minimize::Yes) = (&mut attempt.outcome, options.minimize) {
        run.event(Event::Phase("minimizing"));
        **found = winner.minimized(&task, options, (**found).clone());
    }
    Ok(report(task, attempt, legs))
}

fn report(task: Task<'_>, attempt: Attempt, legs: Vec<Leg>) -> Report {
    Report {
        program: task.program.clone(),
        target: task.target.clone(),
        threads: task.threads,
        outcome: attempt.outcome,
        engine: attempt.engine,
        legs,
        certifier: attempt.certifier,
        explanation: attempt.explanation,
        projection: None,
        sizes: [Size::of(task.program), Size::of(&attempt.simplified.program)],
        times: attempt.times,
    }
}

impl Times {
    /// All phases together.
    pub fn total(&self) -> Duration {
        self.simplify + self.engine + self.judge
    }
}

impl Size {
    /// The size of a program.
    pub fn of(program: &Program) -> Size {
        Size {
            procs: program.procs.len(),
            locs: program.locs.len(),
            edges: program.edges.len(),
            vars: program.vars.len(),
        }
    }
}

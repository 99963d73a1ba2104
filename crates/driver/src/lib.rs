//! From a program to a judged report: simplify, choose an engine, run it, lift its evidence, judge it.
//!
//! The driver knows no output format and no terminal. [`check`] is the table of contents.

mod each;
pub mod external;
mod minimize;
mod question;
mod reachable;
mod simplify;
mod simulate;
mod systems;
mod thread_proof;

use std::time::{Duration, Instant};

use selvedge_check::{Argument, Certificate, Engine, Event, Run, Stop, Task, ThreadScope, Unsupported, Verdict};
use selvedge_engines::{EngineKind, EngineOptions, build, control_flow};
use selvedge_ir::span::SourceMap;
use selvedge_ir::{Program, Target, Trace};
use selvedge_replay::certificate::Flaw;
use selvedge_replay::{Judged, Reject, Replay, judge};

pub use each::{Answer, Asked, Each, Evidence, check_each};
pub use minimize::{Irrelevant, Minimize};
pub use question::{Initial, Question, UsageError};
pub use reachable::{Reachable, Status, reachable};
use simplify::simplify_for;
pub use simplify::{Pass, Simplified, simplify};
pub use simulate::{RunEnd, Simulation, simulate};
pub use systems::{SystemOutcome, SystemReport, check_system};

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
    /// Which engine; `None` lets the driver choose.
    pub engine: Option<EngineKind>,
    /// What the engines are told.
    pub engine_options: EngineOptions,
    /// The passes before the engine, in order; `None`: those that suit the engine.
    pub passes: Option<Vec<Pass>>,
    /// Who may give the certificate.
    pub certify: Certify,
    /// Whether an execution to an error is made smaller.
    pub minimize: Minimize,
}

/// Who may give the certificate of a safe answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certify {
    /// The engine that answers, or nobody.
    #[default]
    Engine,
    /// Where it gives none, [`EngineKind::Summaries`], within what is left of the limits.
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
    /// Who gave the certificate, if it was another engine.
    pub certifier: Option<&'static str>,
    /// For safe answers: what closed the search, as far as the engine tells.
    pub arguments: Vec<Argument>,
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
    check_task(Task { program: &program, target: &target, threads }, options, run)
}

/// Answers a question that was posed.
fn check_task(task: Task<'_>, options: &Options, run: &Run<'_>) -> Result<Report, Failure> {
    let mut times = Times::default();

    run.event(Event::Phase("simplifying"));
    let kind = options.engine.unwrap_or_else(|| choose(&task, &options.engine_options));
    let engine = build(kind, &options.engine_options);
    let passes = options.passes.as_deref().unwrap_or(Pass::before(kind));
    let simplified = timed(&mut times.simplify, || simplify_for(&*engine, &task, passes));

    run.event(Event::Phase("searching"));
    let (way, answer) = timed(&mut times.engine, || decide(&task, &simplified, &*engine, options, run));

    run.event(Event::Phase("judging"));
    let judged = match answer {
        Ok(verdict) => timed(&mut times.judge, || judge(&task, &verdict, run)).map(|judged| (verdict, judged)),
        Err(reason) => return Ok(report(task, Outcome::Unknown(reason), way, &simplified, times)),
    };
    let outcome = match judged {
        Ok((Verdict::Unsafe(trace), Judged::Replayed(replay))) => {
            let found = Counterexample::new(trace, replay);
            Outcome::Unsafe(Box::new(match options.minimize {
                Minimize::Yes => {
                    run.event(Event::Phase("minimizing"));
                    let found = minimize::with_fewer_threads(&task, &*engine, &simplified, found);
                    minimize::minimize(&task, found)
                }
                Minimize::No => found,
            }))
        }
        Ok((Verdict::Safe(certificate), Judged::Certified | Judged::Uncertified)) => Outcome::Safe(certificate),
        Ok((verdict, judged)) => unreachable!("the judge examines the evidence it is given: {verdict:?}, {judged:?}"),
        Err(Reject::Certificate(Flaw::Stopped(stop))) => Outcome::Unknown(Reason::Stop(stop)),
        Err(reject) => {
            return Err(Failure::Internal { engine: way.certifier.unwrap_or(way.engine), reject: Box::new(reject) });
        }
    };
    Ok(report(task, outcome, way, &simplified, times))
}

/// The engine that suits a program best: the one that proves, where it takes the program.
fn choose(task: &Task<'_>, options: &EngineOptions) -> EngineKind {
    let takes = |kind: &EngineKind| {
        let engine = build(*kind, options);
        engine.supports(&simplify_for(&*engine, task, Pass::before(*kind)).question()).is_ok()
    };
    [EngineKind::Summaries, EngineKind::Threads, EngineKind::ThreadsExplicit]
        .into_iter()
        .find(takes)
        .unwrap_or(EngineKind::Exhaustive)
}

/// How an answer was found.
struct Way {
    engine: &'static str,
    certifier: Option<&'static str>,
    arguments: Vec<Argument>,
}

/// Runs an engine on the simplified program and lifts its evidence.
fn decide(
    task: &Task<'_>,
    simplified: &Simplified,
    engine: &dyn Engine,
    options: &Options,
    run: &Run<'_>,
) -> (Way, Result<Verdict, Reason>) {
    if options.engine.is_none()
        && let Some(certificate) = control_flow::certificate(task)
    {
        let way = Way { engine: "control-flow", certifier: None, arguments: Vec::new() };
        return (way, Ok(Verdict::Safe(Some(certificate))));
    }
    let small = simplified.question();
    let answer = match engine.supports(&small) {
        Ok(()) => engine.check(&small, run).map(|verdict| simplified.lift(verdict)).map_err(Reason::Stop),
        Err(unsupported) => Err(Reason::Unsupported(unsupported)),
    };
    let is_safe = matches!(answer, Ok(Verdict::Safe(_)));
    let arguments = Some(run.take_arguments()).filter(|_| is_safe).unwrap_or_default();
    let mut way = Way { engine: engine.name(), certifier: None, arguments };
    match answer {
        Ok(Verdict::Safe(None)) if options.certify == Certify::Anybody => {
            let (certifier, certificate) = certify(task, &way, options, run);
            way.certifier = certificate.is_some().then_some(certifier);
            (way, Ok(Verdict::Safe(certificate)))
        }
        answer => (way, answer),
    }
}

/// A certificate for what another engine has found to be safe, if there is one within the limits.
fn certify(task: &Task<'_>, way: &Way, options: &Options, run: &Run<'_>) -> (&'static str, Option<Certificate>) {
    run.event(Event::Phase("certifying"));
    let engine = build(EngineKind::Summaries, &options.engine_options);
    let verdict = engine.supports(task).ok().and_then(|()| engine.check(task, run).ok());
    match verdict {
        Some(Verdict::Unsafe(_)) => unreachable!("`{}` finds an error, `{}` finds none", engine.name(), way.engine),
        Some(Verdict::Safe(certificate)) => (engine.name(), certificate),
        None => (engine.name(), None),
    }
}

fn report(task: Task<'_>, outcome: Outcome, way: Way, simplified: &Simplified, times: Times) -> Report {
    Report {
        program: task.program.clone(),
        target: task.target.clone(),
        threads: task.threads,
        outcome,
        engine: way.engine,
        certifier: way.certifier,
        arguments: way.arguments,
        sizes: [Size::of(task.program), Size::of(&simplified.program)],
        times,
    }
}

fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *time = start.elapsed();
    result
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

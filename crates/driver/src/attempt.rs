//! One engine's attempt at a question: simplify, run, lift, judge.

use std::time::{Duration, Instant};

use selvedge_check::{Certificate, Engine, Event, Explanation, Run, Stop, Task, Verdict};
use selvedge_engines::contexts::rounds::proof;
use selvedge_engines::{EngineKind, EngineOptions, build, control_flow};
use selvedge_replay::certificate::Unjudged;
use selvedge_replay::{Judged, judge};

use crate::simplify::simplify_for;
use crate::{Certify, Counterexample, Failure, Options, Outcome, Pass, Reason, Simplified, Times, minimize};

/// An engine with what it is told.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) kind: EngineKind,
    pub(crate) options: EngineOptions,
}

impl Member {
    pub(crate) fn engine(&self) -> Box<dyn Engine> {
        build(self.kind, &self.options)
    }

    /// The question as the engine gets it.
    fn simplified(&self, task: &Task<'_>, options: &Options) -> Simplified {
        simplify_for(&*self.engine(), task, options.passes.as_deref().unwrap_or(self.kind.row().passes))
    }

    /// Whether the engine takes the task.
    pub(crate) fn takes(&self, task: &Task<'_>, options: &Options) -> bool {
        self.engine().supports(&self.simplified(task, options).question()).is_ok()
    }

    /// The same execution or a better one, as the question's options say.
    pub(crate) fn minimized(&self, task: &Task<'_>, options: &Options, found: Counterexample) -> Counterexample {
        let simplified = self.simplified(task, options);
        minimize::minimize(task, minimize::with_fewer_threads(task, &*self.engine(), &simplified, found))
    }
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) engine: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) certifier: Option<&'static str>,
    pub(crate) explanation: Explanation,
    pub(crate) simplified: Simplified,
    pub(crate) times: Times,
}

/// Lets an engine answer, and the judge examine its evidence.
pub(crate) fn attempt(task: &Task<'_>, member: &Member, options: &Options, run: &Run<'_>) -> Result<Attempt, Failure> {
    let mut times = Times::default();
    run.event(Event::Phase("simplifying"));
    let engine = member.engine();
    let simplified = timed(&mut times.simplify, || member.simplified(task, options));

    run.event(Event::Phase("searching"));
    let mut explanation = Explanation::default();
    let answer = timed(&mut times.engine, || search(&simplified, &*engine, run, &mut explanation));
    if !matches!(answer, Ok(Verdict::Safe(_))) {
        explanation.arguments.clear();
    }
    let answer = match answer {
        Ok(Verdict::Safe(None)) if member.kind == EngineKind::Rounds => {
            Ok(Verdict::Safe(timed(&mut times.engine, || adequacy(task, &explanation, run))))
        }
        answer => answer,
    };
    let (certifier, answer) = match answer {
        Ok(Verdict::Safe(None)) if options.certify == Certify::Anybody => {
            let certificate = timed(&mut times.engine, || certify(task, engine.name(), options, run));
            (certificate.is_some().then_some(certifier_of(engine.name()).name()), Ok(Verdict::Safe(certificate)))
        }
        answer => (None, answer),
    };
    let outcome = match answer {
        Ok(verdict) => {
            run.event(Event::Phase("judging"));
            timed(&mut times.judge, || examined(task, certifier.unwrap_or(engine.name()), verdict, run))?
        }
        Err(reason) => Outcome::Unknown(reason),
    };
    Ok(Attempt { engine: engine.name(), outcome, certifier, explanation, simplified, times })
}

/// The answer where no error is on any control path, which no engine is needed for.
pub(crate) fn by_control_flow(task: &Task<'_>, run: &Run<'_>) -> Option<Result<Attempt, Failure>> {
    let mut times = Times::default();
    let certificate = timed(&mut times.engine, || control_flow::certificate(task))?;
    let engine = "control-flow";
    let verdict = Verdict::Safe(Some(certificate));
    let outcome = timed(&mut times.judge, || examined(task, engine, verdict, run));
    let simplified = crate::simplify(task, &[]);
    let explanation = Explanation::default();
    Some(outcome.map(|outcome| Attempt { engine, outcome, certifier: None, explanation, simplified, times }))
}

/// Runs an engine on the simplified program and lifts its evidence.
fn search(
    simplified: &Simplified,
    engine: &dyn Engine,
    run: &Run<'_>,
    explanation: &mut Explanation,
) -> Result<Verdict, Reason> {
    let small = simplified.question();
    engine.supports(&small).map_err(|unsupported| Reason::Unsupported(simplified.lift_refusal(unsupported)))?;
    engine.decide(&small, run, explanation).map(|verdict| simplified.lift(verdict)).map_err(Reason::Stop)
}

/// What is left of a verdict when the judge has seen it.
fn examined(task: &Task<'_>, engine: &'static str, verdict: Verdict, run: &Run<'_>) -> Result<Outcome, Failure> {
    match judge(task, &verdict, run) {
        Ok(judged) => Ok(match (verdict, judged) {
            (Verdict::Unsafe(trace), Judged::Replayed(replay)) => {
                Outcome::Unsafe(Box::new(Counterexample::new(trace, replay)))
            }
            (Verdict::Safe(certificate), Judged::Certified | Judged::Uncertified) => Outcome::Safe(certificate),
            (Verdict::Safe(_), Judged::Unjudged(unjudged)) => match uncertified(unjudged) {
                Ok(()) => Outcome::Safe(None),
                Err(stop) => Outcome::Unknown(Reason::Stop(stop)),
            },
            (verdict, judged) => unreachable!("the judge examines the evidence it is given: {verdict:?}, {judged:?}"),
        }),
        Err(reject) => Err(Failure::Internal { engine, reject: Box::new(reject) }),
    }
}

/// Decides what becomes of an answer whose certificate the judge could not check: it is uncertified, unless the check was
/// stopped, like the rest of the run.
pub(crate) fn uncertified(unjudged: Unjudged) -> Result<(), Stop> {
    match unjudged {
        Unjudged::Beyond(_) | Unjudged::Stopped(Stop::NoSolver | Stop::Solver(_)) => Ok(()),
        Unjudged::Stopped(stop) => Err(stop),
    }
}

/// Who may certify what another engine has found to be safe.
fn certifier_of(other: &str) -> EngineKind {
    if other == EngineKind::Rounds.name() { EngineKind::Views } else { EngineKind::Summaries }
}

/// A certificate for what another engine has found to be safe, if there is one within the limits.
fn certify(task: &Task<'_>, other: &str, options: &Options, run: &Run<'_>) -> Option<Certificate> {
    run.event(Event::Phase("certifying"));
    let kind = certifier_of(other);
    let engine = build(kind, &options.engine_options);
    let simplified = simplify_for(&*engine, task, kind.row().passes);
    match search(&simplified, &*engine, run, &mut Explanation::default()).ok()? {
        Verdict::Unsafe(_) => unreachable!("`{}` finds an error, `{other}` finds none", engine.name()),
        Verdict::Safe(certificate) => certificate,
    }
}

/// The certificate of rounds that are enough, if it is not too long. It is about the program with calls replaced and nothing
/// else, of which more rounds may be needed than of the one that was searched.
fn adequacy(task: &Task<'_>, explanation: &Explanation, run: &Run<'_>) -> Option<Certificate> {
    run.event(Event::Phase("certifying"));
    let enough = explanation.rounds.as_ref()?.enough?;
    let simplified = crate::simplify(task, &[Pass::Inline]);
    let certificate = proof::certificate(&simplified.question(), [enough, enough + 1], run).ok()??;
    let verdict = simplified.lift(Verdict::Safe(Some(certificate)));
    // The judge may see a read where the value is not used. Then another engine is asked for a certificate.
    match (judge(task, &verdict, run), verdict) {
        (Ok(Judged::Unjudged(Unjudged::Beyond(_))), _) | (_, Verdict::Unsafe(_)) => None,
        (_, Verdict::Safe(certificate)) => certificate,
    }
}

fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *time += start.elapsed();
    result
}

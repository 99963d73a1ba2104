//! One engine's attempt at a question: run, lift, judge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_check::{
    Certificate, Engine, Event, Explanation, Outcome, Reason, Run, Size, Stop, Times, Unsupported, Verdict,
};
use selvedge_engines::contexts::rounds::proof;
use selvedge_engines::table::Row;
use selvedge_engines::{EngineKind, build, control_flow};

use selvedge_faults::{self as faults, Point};
use selvedge_replay::certificate::Unjudged;
use selvedge_replay::{Judged, judge};

use crate::defect::guard;
use crate::judged::{Examined, examine};
use crate::{Certify, Failure, Options, Pass, Prepared, Simplified};

/// The result of an attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) engine: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) certifier: Option<&'static str>,
    pub(crate) unchecked: Option<String>,
    pub(crate) own_judge: Option<&'static str>,
    pub(crate) explanation: Explanation,
    pub(crate) searched: Size,
    pub(crate) times: Times,
    /// How far the search was, if it stopped.
    pub(crate) far: Option<Event>,
}

impl Attempt {
    /// Returns the attempt of an engine that stopped before it did anything that is worth telling.
    pub(crate) fn stopped(prepared: &Prepared, row: &Row, stop: Stop) -> Attempt {
        Attempt {
            engine: row.name,
            outcome: Outcome::Unknown(Reason::Stop(stop)),
            certifier: None,
            unchecked: None,
            own_judge: None,
            explanation: Explanation::default(),
            searched: Size::of(prepared.task().program),
            times: Times::default(),
            far: None,
        }
    }
}

/// Builds the engine of a row, and simplifies the program for it.
pub(crate) fn equipped(prepared: &Prepared, row: &Row, options: &Options) -> (Box<dyn Engine>, Arc<Simplified>) {
    let engine = (row.build)(&options.engine_options);
    let simplified = prepared.simplified(&*engine, options.passes.as_deref().unwrap_or(row.passes));
    (engine, simplified)
}

/// Returns whether an engine takes the task.
pub(crate) fn takes(prepared: &Prepared, row: &Row, options: &Options) -> Result<(), Unsupported> {
    let (engine, simplified) = equipped(prepared, row, options);
    simplified.supported(&*engine)
}

/// Lets an engine answer, and the judge examine its evidence. A panic of either is a failure of the engine.
pub(crate) fn attempt(prepared: &Prepared, row: &Row, options: &Options, run: &Run<'_>) -> Result<Attempt, Failure> {
    guard(|| try_attempt(prepared, row, options, run)).unwrap_or_else(|panic| match panic.stop() {
        Some(stop) => Ok(Attempt::stopped(prepared, row, stop)),
        None => Err(Failure::Panicked { engine: row.name, message: panic.message }),
    })
}

fn try_attempt(prepared: &Prepared, row: &Row, options: &Options, run: &Run<'_>) -> Result<Attempt, Failure> {
    assert!(!faults::fails(Point::Engine), "a fault on purpose");
    run.event(Event::Phase("simplifying"));
    let (engine, simplified) = equipped(prepared, row, options);
    let mut times = Times { simplify: simplified.time, ..Times::default() };
    let mut explanation = Explanation::default();

    run.event(Event::Phase("searching"));
    let answer = timed(&mut times.engine, || search(&simplified, &*engine, run, &mut explanation));
    if !matches!(answer, Ok(Verdict::Safe(_))) {
        explanation.arguments.clear();
    }
    let far = if matches!(answer, Err(Reason::Stop(_))) { run.far() } else { None };
    let mut certifier = None;
    let answer = answer.map(|verdict| match verdict {
        Verdict::Safe(None) => timed(&mut times.engine, || {
            let found = certified(prepared, engine.name(), options, &explanation, run);
            certifier = found.as_ref().and_then(|(certifier, _)| *certifier);
            Verdict::Safe(found.map(|(_, certificate)| certificate))
        }),
        verdict => verdict,
    });

    let Examined { outcome, unchecked, own_judge } = match answer {
        Ok(verdict) => {
            run.event(Event::Phase("judging"));
            let answered = certifier.unwrap_or(engine.name());
            timed(&mut times.judge, || examine(&prepared.task(), answered, verdict, run))?
        }
        Err(reason) => Examined { outcome: Outcome::Unknown(reason), unchecked: None, own_judge: None },
    };
    let (engine, searched) = (engine.name(), Size::of(&simplified.program));
    Ok(Attempt { engine, outcome, certifier, unchecked, own_judge, explanation, searched, times, far })
}

/// The name of the answer without an engine.
pub(crate) const CONTROL_FLOW: &str = "control-flow";

/// Answers where no error is on any control path, which needs no engine.
pub(crate) fn by_control_flow(prepared: &Prepared, run: &Run<'_>) -> Option<Result<Attempt, Failure>> {
    let mut times = Times::default();
    let task = prepared.task();
    let certificate = timed(&mut times.engine, || control_flow::certificate(&task))?;
    let engine = CONTROL_FLOW;
    let examined = timed(&mut times.judge, || examine(&task, engine, Verdict::Safe(Some(certificate)), run));
    Some(examined.map(|Examined { outcome, unchecked, own_judge }| Attempt {
        engine,
        outcome,
        certifier: None,
        unchecked,
        own_judge,
        explanation: Explanation::default(),
        searched: Size::of(task.program),
        times,
        far: None,
    }))
}

/// Runs an engine on the simplified program and lifts its evidence.
fn search(
    simplified: &Simplified,
    engine: &dyn Engine,
    run: &Run<'_>,
    explanation: &mut Explanation,
) -> Result<Verdict, Reason> {
    let small = simplified.question();
    simplified.supported(engine).map_err(|unsupported| Reason::Unsupported(simplified.lift_refusal(unsupported)))?;
    engine.decide(&small, run, explanation).map(|verdict| simplified.lift(verdict)).map_err(Reason::Stop)
}

/// Returns a certificate for what an engine has found to be safe without one, if there is one within the limits, and
/// the engine that gave it, if it is another one.
fn certified(
    prepared: &Prepared,
    answered: &str,
    options: &Options,
    explanation: &Explanation,
    run: &Run<'_>,
) -> Option<(Option<&'static str>, Certificate)> {
    let in_rounds = explanation.rounds.is_some();
    if in_rounds && let Some(certificate) = adequacy(prepared, explanation, run) {
        return Some((None, certificate));
    }
    if options.certify == Certify::Engine {
        return None;
    }
    run.event(Event::Phase("certifying"));
    let certifier = if in_rounds { EngineKind::Views } else { EngineKind::Summaries };
    let engine = build(certifier, &options.engine_options);
    let simplified = prepared.simplified(&*engine, certifier.row().passes);
    match search(&simplified, &*engine, run, &mut Explanation::default()).ok()? {
        Verdict::Unsafe(_) => unreachable!("`{}` finds an error, `{}` finds none", engine.name(), answered),
        Verdict::Safe(certificate) => Some((Some(engine.name()), certificate?)),
    }
}

/// Returns the certificate of rounds that are enough, if it is not too long. It is about the program with calls
/// replaced and nothing else, of which more rounds may be needed than of the one that was searched.
fn adequacy(prepared: &Prepared, explanation: &Explanation, run: &Run<'_>) -> Option<Certificate> {
    run.event(Event::Phase("certifying"));
    let enough = explanation.rounds.as_ref()?.enough?;
    let simplified = match prepared.task().program.has_machine_integers() {
        true => prepared.over_bits(&[Pass::Inline]),
        false => prepared.after(&[Pass::Inline]),
    };
    let certificate = proof::certificate(&simplified.question(), [enough, enough + 1], run).ok()??;
    let verdict = simplified.lift(Verdict::Safe(Some(certificate)));
    // The judge may see a read where the value is not used. Then another engine is run for a certificate.
    match (judge(&prepared.task(), &verdict, run), verdict) {
        (Ok(Judged::Unjudged(Unjudged::Beyond(_))), _) | (_, Verdict::Unsafe(_)) => None,
        (_, Verdict::Safe(certificate)) => certificate,
    }
}

pub(crate) fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *time += start.elapsed();
    result
}

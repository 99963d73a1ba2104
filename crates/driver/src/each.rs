//! Every assertion and error location of a question on its own.
//!
//! An engine that finds them all in one run is run once; with others there is a run for each error. Every trace is
//! replayed, and a certificate must prove the rest.

use std::sync::Arc;
use std::time::Instant;

use selvedge_check::{
    Answer, Asked, Certificate, Engine, EngineEnd, EngineRun, Event, Evidence, Findings, Outcome, OwnedTask, Reason,
    Run, Status, Target, Task, Times, Trace, Verdict,
};
use selvedge_ir::EdgeId;

use crate::defect::{Panic, guard};
use crate::judged::examine;
use crate::{Ask, Failure, Options, Prepared, portfolio};

/// Answers a question for each assertion and error location on its own.
pub(crate) fn decide(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let task = prepared.task();
    let start = Instant::now();
    let engine = (portfolio::team(prepared, options)[0].build)(&options.engine_options);
    let name = engine.name();
    let panicked = |Panic { message }| Some(Err(Failure::Panicked { engine: name, message }));
    let mut defects = Vec::new();
    let each = match guard(|| together(&task, &*engine, run)).unwrap_or_else(panicked) {
        Some(Ok(each)) => each,
        Some(Err(failure)) if options.engine.is_some() => return Err(failure),
        Some(Err(failure)) => {
            defects.push(portfolio::defect(name, start.elapsed(), &failure));
            one_by_one(&task, options, run, &mut defects)?
        }
        None => one_by_one(&task, options, run, &mut defects)?,
    };
    let times = Times { engine: start.elapsed(), ..Times::default() };
    Ok(Answer { each: Some(each.clone()), runs: defects, ..Answer::new(task.into(), summary(each), name, times) })
}

/// Lets an engine answer for all errors in one run. `None` if it cannot.
fn together(task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Option<Result<Vec<(Asked, Status)>, Failure>> {
    engine.supports(task).ok()?;
    Some(match engine.check_each(task, run)? {
        Ok(findings) => judged(task, engine.name(), &findings, run),
        Err(stop) => {
            let unknown = |one| (one, Status::Unknown(Reason::Stop(stop)));
            Ok(Asked::list(task.target).into_iter().map(unknown).collect())
        }
    })
}

/// Sums the answers for all errors up: the first error that can happen, else whether some are open.
fn summary(each: Vec<(Asked, Status)>) -> Outcome {
    let of = each.len();
    let mut open = Vec::new();
    for (_, status) in each {
        match status {
            Status::Violated(found) => return Outcome::Unsafe(found),
            Status::Unknown(reason) => open.push(reason),
            Status::Holds(_) | Status::Unreachable(_) => {}
        }
    }
    if open.is_empty() { Outcome::Safe(None) } else { Outcome::Unknown(Reason::Undecided { of, reasons: open }) }
}

/// Runs engines for each error, and adds the runs that ended in a defect.
fn one_by_one(
    task: &Task<'_>,
    options: &Options,
    run: &Run<'_>,
    defects: &mut Vec<EngineRun>,
) -> Result<Vec<(Asked, Status)>, Failure> {
    let options = Options { ask: Ask::Any, ..options.clone() };
    let mut statuses = Vec::new();
    for one in Asked::list(task.target) {
        let alone = OwnedTask { target: one.target(), ..(*task).into() };
        let answer = portfolio::decide(&Prepared::new(alone), &options, run)?;
        let accepted = answer.own_judge.map_or(Evidence::Certified, Evidence::OwnJudge);
        let is_defect = |run: &EngineRun| matches!(run.end, EngineEnd::Defect(_));
        defects.extend(answer.runs.into_iter().filter(is_defect));
        let status = match answer.outcome {
            Outcome::Unsafe(found) => Status::Violated(found),
            Outcome::Unknown(reason) => Status::Unknown(reason),
            Outcome::Safe(None) => Status::Holds(Evidence::Uncertified(answer.unchecked)),
            Outcome::Safe(Some(certificate)) if certificate.excludes(one.loc(task.program)) => {
                Status::Unreachable(accepted)
            }
            Outcome::Safe(Some(_)) => Status::Holds(accepted),
        };
        statuses.push((one, status));
    }
    Ok(statuses)
}

/// Judges the findings of one run.
fn judged(
    task: &Task<'_>,
    engine: &'static str,
    findings: &Findings,
    run: &Run<'_>,
) -> Result<Vec<(Asked, Status)>, Failure> {
    let violated = |one: Asked| match one {
        Asked::Assert(edge) => findings.asserts.iter().find(|(other, _)| *other == edge).map(|(_, trace)| trace),
        Asked::Loc(loc) => findings.locs.iter().find(|(other, _)| *other == loc).map(|(_, trace)| trace),
    };
    run.event(Event::Phase("judging"));
    let rest: Vec<Asked> = Asked::list(task.target).into_iter().filter(|one| violated(*one).is_none()).collect();
    let proved = proved(task, engine, &rest, findings.certificate.clone(), run)?;
    let mut statuses = Vec::new();
    for one in Asked::list(task.target) {
        let status = match (violated(one), &proved) {
            (Some(trace), _) => replayed(task, engine, one, trace, run)?,
            (None, Err(reason)) => Status::Unknown(reason.clone()),
            (None, Ok(evidence)) => match one {
                Asked::Assert(edge) if !is_unreachable(task, edge, findings, evidence) => {
                    Status::Holds(evidence.clone())
                }
                Asked::Assert(_) | Asked::Loc(_) => Status::Unreachable(evidence.clone()),
            },
        };
        statuses.push((one, status));
    }
    Ok(statuses)
}

/// Returns whether an assertion is unreachable with this evidence. The engine may know that without a proof: a
/// certificate must say so, or else it proves only that the assertion holds.
fn is_unreachable(task: &Task<'_>, edge: EdgeId, findings: &Findings, evidence: &Evidence) -> bool {
    let from = task.program.edges[edge].from;
    let excludes = findings.certificate.as_ref().is_some_and(|certificate| certificate.excludes(from));
    findings.unreachable.contains(&edge) && (matches!(evidence, Evidence::Uncertified(_)) || excludes)
}

fn replayed(
    task: &Task<'_>,
    engine: &'static str,
    one: Asked,
    trace: &Trace,
    run: &Run<'_>,
) -> Result<Status, Failure> {
    let target = one.target();
    match examine(&Task { target: &target, ..*task }, engine, Verdict::Unsafe(trace.clone()), run)?.outcome {
        Outcome::Unsafe(found) => Ok(Status::Violated(found)),
        outcome => unreachable!("a trace is replayed or rejected: {outcome:?}"),
    }
}

/// Judges a certificate that none of some errors happens; an inner error says why that was not finished.
fn proved(
    task: &Task<'_>,
    engine: &'static str,
    rest: &[Asked],
    certificate: Option<Certificate>,
    run: &Run<'_>,
) -> Result<Result<Evidence, Reason>, Failure> {
    let (mut asserts, mut locs) = (Vec::new(), Vec::new());
    for one in rest {
        match one {
            Asked::Assert(edge) => asserts.push(*edge),
            Asked::Loc(loc) => locs.push(*loc),
        }
    }
    let target = Target::new(asserts, locs);
    let examined = examine(&Task { target: &target, ..*task }, engine, Verdict::Safe(certificate), run)?;
    match examined.outcome {
        Outcome::Safe(Some(_)) => Ok(Ok(examined.own_judge.map_or(Evidence::Certified, Evidence::OwnJudge))),
        Outcome::Safe(None) | Outcome::Unsafe(_) => Ok(Ok(Evidence::Uncertified(examined.unchecked))),
        Outcome::Unknown(reason) => Ok(Err(reason)),
    }
}

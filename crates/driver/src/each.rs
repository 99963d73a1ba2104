//! Every assertion and error location of a question on its own.
//!
//! An engine that finds them all in one run is asked once; of others each is asked for in a run of its own. Every trace
//! is replayed, and a certificate must prove the rest.

use std::time::{Duration, Instant};

use selvedge_check::{Certificate, Findings, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::build;
use selvedge_ir::{EdgeId, LocId, Program, Target, Trace};
use selvedge_replay::{Judged, Reject, judge};

use crate::attempt::uncertified;
use crate::{Counterexample, Failure, Options, Outcome, Reason, Subject, check_task, race};

/// The answers, one for each assertion and error location.
#[derive(Clone, Debug)]
pub struct Each {
    /// The program that was asked about.
    pub program: Program,
    /// The errors that were asked for.
    pub target: Target,
    /// How many threads may live.
    pub threads: ThreadScope,
    /// Who answered.
    pub engine: &'static str,
    /// How long it took, judging included.
    pub time: Duration,
    /// The answers: assertions, then locations, each in ascending order.
    pub answers: Vec<(Asked, Answer)>,
}

/// One error that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The failure of an assertion.
    Assert(EdgeId),
    /// A thread at a location.
    Loc(LocId),
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It can happen: this execution ends in it.
    Violated(Box<Counterexample>),
    /// It cannot happen.
    Holds(Evidence),
    /// No execution reaches the assertion; for a location, it is not reached.
    Unreachable(Evidence),
    /// Not decided.
    Unknown(Reason),
}

/// Whether a certificate was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It was accepted.
    Certified,
    /// There was none.
    Uncertified,
}

/// Answers a question for each assertion and error location on its own.
pub fn check_each(subject: Subject<'_>, options: &Options, run: &Run<'_>) -> Result<Each, Failure> {
    let (program, target, threads) = options.question.pose(subject).map_err(Failure::Usage)?;
    let task = Task { program: &program, target: &target, threads };
    let start = Instant::now();
    let engine = build(race::team(&task, options)[0].kind, &options.engine_options);
    let together = engine.supports(&task).ok().and_then(|()| engine.check_each(&task, run));
    let answers = match together {
        Some(Ok(findings)) => judged(&task, engine.name(), findings, run)?,
        Some(Err(stop)) => asked(&target).into_iter().map(|one| (one, Answer::Unknown(Reason::Stop(stop)))).collect(),
        None => one_by_one(&task, options, run)?,
    };
    let engine = engine.name();
    let time = start.elapsed();
    Ok(Each { engine, threads, answers, time, target, program })
}

fn asked(target: &Target) -> Vec<Asked> {
    let locs = target.locs.iter().copied().map(Asked::Loc);
    target.asserts.iter().copied().map(Asked::Assert).chain(locs).collect()
}

impl Asked {
    fn target(self) -> Target {
        match self {
            Asked::Assert(edge) => Target::new(vec![edge], Vec::new()),
            Asked::Loc(loc) => Target::new(Vec::new(), vec![loc]),
        }
    }
}

/// A run for each.
fn one_by_one(task: &Task<'_>, options: &Options, run: &Run<'_>) -> Result<Vec<(Asked, Answer)>, Failure> {
    let mut answers = Vec::new();
    for one in asked(task.target) {
        let target = one.target();
        let report = check_task(Task { target: &target, ..*task }, options, run)?;
        let answer = match report.outcome {
            Outcome::Unsafe(counterexample) => Answer::Violated(counterexample),
            Outcome::Unknown(reason) => Answer::Unknown(reason),
            Outcome::Safe(certificate) => {
                let evidence = if certificate.is_some() { Evidence::Certified } else { Evidence::Uncertified };
                let outside = certificate.is_some_and(|certificate| is_outside(task.program, one, &certificate));
                if outside { Answer::Unreachable(evidence) } else { Answer::Holds(evidence) }
            }
        };
        answers.push((one, answer));
    }
    Ok(answers)
}

/// Returns whether the certificate says that no thread comes to the place.
fn is_outside(program: &Program, one: Asked, certificate: &Certificate) -> bool {
    let loc = match one {
        Asked::Assert(edge) => program.edges[edge].from,
        Asked::Loc(loc) => loc,
    };
    certificate.excludes(loc)
}

/// The findings of one run, after the judge has examined their evidence.
fn judged(
    task: &Task<'_>,
    engine: &'static str,
    findings: Findings,
    run: &Run<'_>,
) -> Result<Vec<(Asked, Answer)>, Failure> {
    let violated = |one: Asked| match one {
        Asked::Assert(edge) => findings.asserts.iter().find(|(other, _)| *other == edge).map(|(_, trace)| trace),
        Asked::Loc(loc) => findings.locs.iter().find(|(other, _)| *other == loc).map(|(_, trace)| trace),
    };
    let internal = |reject: Reject| Failure::Internal { engine, reject: Box::new(reject) };
    let rest: Vec<Asked> = asked(task.target).into_iter().filter(|one| violated(*one).is_none()).collect();
    let proved = prove(task, &rest, findings.certificate.as_ref(), run).map_err(internal)?;
    let mut answers = Vec::new();
    for one in asked(task.target) {
        let answer = match (violated(one), proved) {
            (Some(trace), _) => replayed(task, one, trace, run).map_err(internal)?,
            (None, Err(stop)) => Answer::Unknown(Reason::Stop(stop)),
            (None, Ok(evidence)) => match one {
                Asked::Assert(edge) if !findings.unreachable.contains(&edge) => Answer::Holds(evidence),
                Asked::Assert(_) | Asked::Loc(_) => Answer::Unreachable(evidence),
            },
        };
        answers.push((one, answer));
    }
    Ok(answers)
}

fn replayed(task: &Task<'_>, one: Asked, trace: &Trace, run: &Run<'_>) -> Result<Answer, Reject> {
    let target = one.target();
    let verdict = Verdict::Unsafe(trace.clone());
    match judge(&Task { target: &target, ..*task }, &verdict, run)? {
        Judged::Replayed(replay) => Ok(Answer::Violated(Box::new(Counterexample::new(trace.clone(), replay)))),
        judged => unreachable!("the judge replays traces: {judged:?}"),
    }
}

/// Whether a certificate proves that none of these happens; an inner error if the check was not finished.
fn prove(
    task: &Task<'_>,
    rest: &[Asked],
    certificate: Option<&Certificate>,
    run: &Run<'_>,
) -> Result<Result<Evidence, Stop>, Reject> {
    let (mut asserts, mut locs) = (Vec::new(), Vec::new());
    for one in rest {
        match one {
            Asked::Assert(edge) => asserts.push(*edge),
            Asked::Loc(loc) => locs.push(*loc),
        }
    }
    let target = Target::new(asserts, locs);
    match judge(&Task { target: &target, ..*task }, &Verdict::Safe(certificate.cloned()), run) {
        Ok(Judged::Certified) => Ok(Ok(Evidence::Certified)),
        Ok(Judged::Uncertified | Judged::Replayed(_)) => Ok(Ok(Evidence::Uncertified)),
        Ok(Judged::Unjudged(unjudged)) => Ok(uncertified(unjudged).map(|()| Evidence::Uncertified)),
        Err(reject) => Err(reject),
    }
}

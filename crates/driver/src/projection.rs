//! Error projection: which steps lie on some execution to an error.
//!
//! To reach an error location counts as an assertion that fails there. *Order of work.* The steps of the first
//! execution are involved. Then the same question is asked with the errors counted only after a step that is not
//! known to be involved yet ([`require_step`]), again and again, until no such error can be reached. *It ends*: each
//! execution involves a new step, or is dropped with the steps that it stumbled over, which stay open. *Right*: each
//! involved step was seen in an execution that the judge replayed; for the others the last search found no error
//! behind any of them, within the bounds that were asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use index_vec::index_vec;
use selvedge_check::{
    Answer, Bound, Event, InvalidQuestion, Involved, Outcome, OwnedTask, Projection, Reason, Run, Stop, Target, Task,
    ThreadId, Trace, Verdict,
};
use selvedge_engines::EngineKind;
use selvedge_ir::passes::require_step::{self, RequiredStep};
use selvedge_ir::trace::Step;
use selvedge_ir::{EdgeId, Program};
use selvedge_replay::{Judged, judge};

use crate::judged::examine;
use crate::{Ask, Failure, Minimize, Options, Prepared, portfolio};

/// Checks that the question can be asked with errors that count after some steps only.
pub(crate) fn validate(target: &Target, options: &Options) -> Result<(), InvalidQuestion> {
    if options.ask != Ask::Any && target.deadlock {
        let message = "--deadlock cannot be combined with --all, --reachable or --projection".to_string();
        return Err(InvalidQuestion { message, help: None });
    }
    if options.ask == Ask::Projection && !target.together.is_empty() {
        let message = "--projection is about assertions and labels, not about --together".to_string();
        return Err(InvalidQuestion { message, help: None });
    }
    Ok(())
}

/// Answers a question, and says which steps an error can involve.
pub(crate) fn project(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let mut options = Options { ask: Ask::Any, ..options.clone() };
    if options.engine_options.contexts.bound.is_some() {
        // No other engine says what there is within a number of contexts.
        options.engine = options.engine.or(Some(EngineKind::Contexts.row()));
    }
    let mut answer = portfolio::decide(prepared, &options, run)?;
    let task = prepared.task();
    let (program, target) = require_step::failures(task.program, task.target);
    let asked = Task { program: &program, target: &target, ..task };
    let mut projection = asked_again(&asked, &answer.outcome, &options, run)?;
    projection.steps.truncate(task.program.edges.len());
    answer.projection = Some(projection);
    Ok(answer)
}

fn asked_again(task: &Task<'_>, outcome: &Outcome, options: &Options, run: &Run<'_>) -> Result<Projection, Failure> {
    let steps = index_vec![Involved::No; task.program.edges.len()];
    let mut projection = Projection { steps, executions: 0, stopped: None };
    match outcome {
        Outcome::Unsafe(found) => involve(&mut projection, &found.trace),
        Outcome::Safe(_) => return Ok(projection),
        Outcome::Unknown(reason) => return Ok(stopped(projection, reason)),
    };
    let options = Options { minimize: Minimize::No, ..options.clone() };
    loop {
        run.event(Event::Phase("projecting"));
        let watched = require_step::run(task.program, task.target, |edge| projection.steps[edge] == Involved::No);
        let passed = &watched.passed;
        let question =
            OwnedTask { program: passed.program.clone(), target: passed.target.clone(), threads: task.threads };
        match portfolio::decide(&Prepared::new(question), &options, run)?.outcome {
            Outcome::Unsafe(found) => learn(&mut projection, task, &watched, &found.trace, run)?,
            Outcome::Safe(_) => return Ok(projection),
            Outcome::Unknown(reason) => return Ok(stopped(projection, &reason)),
        }
    }
}

/// Leaves the other steps open, unless a number of contexts ended the search: there is nothing within it then.
fn stopped(mut projection: Projection, reason: &Reason) -> Projection {
    if !matches!(reason, Reason::Stop(Stop::BoundReached(Bound::Contexts(_)))) {
        let others = projection.steps.iter_mut().filter(|involved| **involved == Involved::No);
        others.for_each(|step| *step = Involved::Open);
        projection.stopped = Some(reason.clone());
    }
    projection
}

/// Notes the steps of an execution; returns whether one of them is new.
fn involve(projection: &mut Projection, trace: &Trace) -> bool {
    let mut is_new = false;
    for step in trace.steps.iter().chain(trace.bodies.iter().flatten()) {
        is_new |= projection.steps[step.edge] != Involved::Yes;
        projection.steps[step.edge] = Involved::Yes;
    }
    projection.executions += usize::from(is_new);
    is_new
}

/// Notes the steps of an execution of the program that watches, those that it only announced included where they can be
/// made.
fn learn(
    projection: &mut Projection,
    task: &Task<'_>,
    watched: &RequiredStep,
    trace: &Trace,
    run: &Run<'_>,
) -> Result<(), Failure> {
    let lifted = watched.passed.lift.trace(trace);
    examine(task, "projection", Verdict::Unsafe(lifted.clone()), run)?;
    let mut is_new = involve(projection, &lifted);
    let pending = pending(watched, trace);
    for (position, edge) in &pending {
        let completed = watched.passed.lift.trace(&completed(trace, task.program, *position, *edge));
        if matches!(judge(task, &Verdict::Unsafe(completed.clone()), run), Ok(Judged::Replayed(_))) {
            is_new |= involve(projection, &completed);
        }
    }
    if !is_new {
        let stumbled = pending.iter().map(|(_, edge)| *edge);
        stumbled.for_each(|edge| projection.steps[edge] = Involved::Open);
        debug_assert!(!pending.is_empty(), "an execution to an error makes or announces a watched step");
    }
    Ok(())
}

/// The steps that were announced and not made: after how many steps, and along which edge.
fn pending(watched: &RequiredStep, trace: &Trace) -> Vec<(usize, EdgeId)> {
    let announced = |step: &Step| {
        let place = watched.announced.binary_search_by_key(&step.edge, |(edge, _)| *edge).ok()?;
        Some(watched.announced[place].1)
    };
    let last: BTreeMap<ThreadId, usize> =
        trace.steps.iter().enumerate().map(|(position, step)| (step.thread, position)).collect();
    last.into_values().filter_map(|position| Some((position + 1, announced(&trace.steps[position])?))).collect()
}

/// The execution with one more step of the thread that announced it.
fn completed(trace: &Trace, program: &Program, position: usize, edge: EdgeId) -> Trace {
    let choices = program.edges[edge].op.choices().iter().map(|ty| ty.default_value()).collect();
    let thread = trace.steps[position - 1].thread;
    let step = Step { thread, edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None };
    let mut longer = trace.clone();
    longer.steps.insert(position, step);
    longer
}

//! Error projection: which steps lie on some execution to an error.
//!
//! To reach an error location counts as an assertion that fails there. *Order of work.* The steps of the first execution are involved. Then the same question is asked with the errors
//! counted only after a step that is not known to be involved yet ([`watch`]), again and again, until there is no
//! answer but that there is none. *It ends*: each execution involves a new step, or is dropped with the steps that it
//! stumbled over, which stay open. *Right*: each involved step was seen in an execution that the judge replayed; for
//! the others the last search found no error behind any of them, within the bounds that were asked for.

use std::collections::BTreeMap;

use index_vec::{IndexVec, index_vec};
use selvedge_check::{Bound, Event, Run, Stop, Task, ThreadId, Trace, Verdict};
use selvedge_ir::passes::require_step::{self, RequiredStep};
use selvedge_ir::trace::Step;
use selvedge_ir::{EdgeId, Program, Target};
use selvedge_replay::{Judged, judge};

use crate::{Failure, Minimize, Options, Outcome, Reason, UsageError, check_task};

/// What an error can involve.
#[derive(Clone, Debug)]
pub struct Projection {
    /// For each step of the program whether an execution to an error makes it.
    pub steps: IndexVec<EdgeId, Involved>,
    /// How many executions showed it.
    pub executions: usize,
    /// Why some are open, if some are.
    pub stopped: Option<Reason>,
}

/// Whether some execution to an error makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Involved {
    /// One does, and was replayed.
    Yes,
    /// None does, within the bounds of the question.
    No,
    /// Not decided.
    Open,
}

/// Whether the question cannot be asked with errors that count after some steps only.
pub(crate) fn mistake(target: &Target) -> Option<UsageError> {
    let message = "--projection is about assertions and labels, not about --together".to_string();
    (!target.together.is_empty()).then_some(UsageError { message, help: None })
}

/// The steps that an error can involve, of which `outcome` is the first answer.
pub(crate) fn project(
    task: &Task<'_>,
    outcome: &Outcome,
    options: &Options,
    run: &Run<'_>,
) -> Result<Projection, Failure> {
    let (program, target) = require_step::failures(task.program, task.target);
    let asked = Task { program: &program, target: &target, ..*task };
    let mut projection = asked_again(&asked, outcome, options, run)?;
    projection.steps.truncate(task.program.edges.len());
    Ok(projection)
}

fn asked_again(task: &Task<'_>, outcome: &Outcome, options: &Options, run: &Run<'_>) -> Result<Projection, Failure> {
    let steps = index_vec![Involved::No; task.program.edges.len()];
    let mut projection = Projection { steps, executions: 0, stopped: None };
    match outcome {
        Outcome::Unsafe(found) => projection.involve(&found.trace),
        Outcome::Safe(_) => return Ok(projection),
        Outcome::Unknown(reason) => return Ok(projection.stop(reason)),
    };
    let options = Options { minimize: Minimize::No, ..options.clone() };
    loop {
        run.event(Event::Phase("projecting"));
        let watched = require_step::run(task.program, task.target, |edge| projection.steps[edge] == Involved::No);
        let question = Task { program: &watched.passed.program, target: &watched.passed.target, ..*task };
        match check_task(question, &options, run)?.outcome {
            Outcome::Unsafe(found) => projection.learn(task, &watched, &found.trace, run)?,
            Outcome::Safe(_) => return Ok(projection),
            Outcome::Unknown(reason) => return Ok(projection.stop(&reason)),
        }
    }
}

impl Projection {
    /// Where the number of contexts ended the search, there is nothing within it; elsewhere the rest is open.
    fn stop(mut self, reason: &Reason) -> Projection {
        if !matches!(reason, Reason::Stop(Stop::BoundReached(Bound::Contexts(_)))) {
            self.steps.iter_mut().filter(|involved| **involved == Involved::No).for_each(|step| *step = Involved::Open);
            self.stopped = Some(reason.clone());
        }
        self
    }

    /// Notes the steps of an execution; returns whether one of them is new.
    fn involve(&mut self, trace: &Trace) -> bool {
        let mut is_new = false;
        for step in trace.steps.iter().chain(trace.bodies.iter().flatten()) {
            is_new |= self.steps[step.edge] != Involved::Yes;
            self.steps[step.edge] = Involved::Yes;
        }
        self.executions += usize::from(is_new);
        is_new
    }

    /// Notes the steps of an execution of the program that watches, those that it only announced included where they
    /// can be made.
    fn learn(&mut self, task: &Task<'_>, watched: &RequiredStep, trace: &Trace, run: &Run<'_>) -> Result<(), Failure> {
        let lifted = watched.passed.lift.trace(trace);
        judge(task, &Verdict::Unsafe(lifted.clone()), run)
            .map_err(|reject| Failure::Internal { engine: "projection", reject: Box::new(reject) })?;
        let mut is_new = self.involve(&lifted);
        let pending = pending(watched, trace);
        for (position, edge) in &pending {
            let completed = watched.passed.lift.trace(&completed(trace, task.program, *position, *edge));
            if matches!(judge(task, &Verdict::Unsafe(completed.clone()), run), Ok(Judged::Replayed(_))) {
                is_new |= self.involve(&completed);
            }
        }
        if !is_new {
            let stumbled = pending.iter().map(|(_, edge)| *edge);
            stumbled.for_each(|edge| self.steps[edge] = Involved::Open);
            debug_assert!(!pending.is_empty(), "an execution to an error makes or announces a watched step");
        }
        Ok(())
    }
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

//! All states that can be reached, and the answer for each assertion and error location.
//!
//! *Order of work.* An engine visits all states: of the program as it is, or with bodies in the place of calls. Values
//! that no thread reads any more are not asked for, unless the options of the engines say so. What the engine says
//! about errors is not evidence, so that each error is then decided as if it were asked for on its own ([`each`]), by
//! the engine that the user names or by those that suit the program: with a replayed execution, or with an accepted
//! certificate, or else the answer says that it is uncertified. *Right*: every answer about an error is judged. Where
//! the visit was complete and says otherwise, one of the engines is wrong, which is reported as our defect.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use selvedge_check::{
    Answer, Asked, Engine, Exploration, Outcome, Reason, Run, Status, Stop, Times, Unsupported, ValuesAsked,
};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::{LocId, Program, Scope, Value, VarId};

use crate::attempt::timed;
use crate::inlined_states::InlinedStates;
use crate::{Failure, Options, Pass, Prepared, each};

/// Visits everything, and answers for each error.
pub(crate) fn explore(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let rows = match options.engine {
        Some(row) => vec![row],
        None => vec![EngineKind::ThreadsExplicit.row(), EngineKind::Exhaustive.row()],
    };
    let mut time = Duration::ZERO;
    let (engine, explored) = timed(&mut time, || visit(&rows, prepared, options, run));
    let seen = match explored {
        Ok(seen) => seen,
        Err(reason) => {
            let times = Times { engine: time, ..Times::default() };
            return Ok(Answer::new(prepared.task().into(), Outcome::Unknown(reason), engine, times));
        }
    };
    let mut answer = each::decide(prepared, options, run)?;
    answer.engine = engine;
    answer.times.engine += time;
    if !seen.truncated {
        compare(&answer, &seen)?;
    } else if !matches!(answer.outcome, Outcome::Unsafe(_)) {
        answer.outcome = Outcome::Unknown(Reason::Truncated);
    }
    answer.exploration = Some(seen);
    Ok(answer)
}

/// Checks that judged answers and the states that were seen say the same.
fn compare(answer: &Answer, seen: &Exploration) -> Result<(), Failure> {
    for (asked, status) in answer.each.iter().flatten() {
        let is_seen = match asked {
            Asked::Assert(edge) => seen.failing.contains(edge),
            Asked::Loc(loc) => seen.thread_states.iter().any(|state| state.loc == *loc),
        };
        let differs = match status {
            Status::Violated(_) => !is_seen,
            Status::Holds(_) | Status::Unreachable(_) => is_seen,
            Status::Unknown(_) => false,
        };
        if differs {
            let message = format!("{asked:?} is {}, but among all states that were seen it is not", status.name());
            return Err(Failure::Internal { engine: answer.engine, message });
        }
    }
    Ok(())
}

/// Runs the first engine that takes the task and visits everything.
fn visit(
    rows: &[&Row],
    prepared: &Prepared,
    options: &Options,
    run: &Run<'_>,
) -> (&'static str, Result<Exploration, Reason>) {
    let program = prepared.task().program;
    let liveness = Liveness::observed(program);
    let keeps_all = !options.engine_options.threads_explicit.reductions.dead;
    let asked = |loc: LocId, var: VarId| keeps_all || liveness.is_live(loc, var);
    let mut refusal = ("", Unsupported::new("no engine was run"));
    for row in rows {
        let engine = (row.build)(&options.engine_options);
        let explored = match visit_with(&*engine, prepared, &asked, run) {
            Ok(explored) => explored,
            Err(unsupported) => {
                refusal = (engine.name(), unsupported);
                continue;
            }
        };
        match explored {
            Some(explored) => {
                let explored = explored.map(|seen| only_asked(seen, program, &asked));
                return (engine.name(), explored.map_err(Reason::Stop));
            }
            None => {
                let reason = format!("the engine `{}` does not visit everything", engine.name());
                refusal = (engine.name(), Unsupported::new(reason));
            }
        }
    }
    (refusal.0, Err(Reason::Unsupported(refusal.1)))
}

/// Lets an engine visit everything, if need be with bodies in the place of calls.
fn visit_with(
    engine: &dyn Engine,
    prepared: &Prepared,
    asked: ValuesAsked<'_>,
    run: &Run<'_>,
) -> Result<Option<Result<Exploration, Stop>>, Unsupported> {
    let task = prepared.task();
    let Err(unsupported) = engine.supports(&task) else { return Ok(engine.reachable(&task, asked, run)) };
    let inlined = prepared.after(&[Pass::Inline]);
    let question = inlined.question();
    let Some(states) = InlinedStates::new(task.program, &inlined) else { return Err(unsupported) };
    engine.supports(&question).map_err(|_| unsupported)?;
    let explored = engine.reachable(&question, &|loc, var| states.is_asked(asked, loc, var), run);
    Ok(explored.map(|explored| explored.map(|seen| states.lifted(seen))))
}

/// Replaces the values that were not asked for, so that states that differ only there are one, and lists them.
fn only_asked(seen: Exploration, program: &Program, asked: ValuesAsked<'_>) -> Exploration {
    let mut any = BTreeSet::new();
    let (shared, thread_vars) = (vars_of(program, Scope::Shared), vars_of(program, Scope::Thread));
    let mut thread_states = BTreeSet::new();
    for mut state in seen.thread_states {
        let locals = &program.procs[program.locs[state.loc].proc].locals;
        let values = shared.iter().zip(&mut state.shared).chain(thread_vars.iter().zip(&mut state.vars));
        let values = values.chain(locals.iter().zip(&mut state.locals));
        for (var, value) in values.filter(|(var, _)| !asked(state.loc, **var)) {
            *value = Value::Bool(false);
            any.insert((state.loc, *var));
        }
        thread_states.insert(state);
    }
    Exploration { thread_states, any, ..seen }
}

fn vars_of(program: &Program, scope: Scope) -> Vec<VarId> {
    program.vars.iter_enumerated().filter(|(_, var)| var.scope == scope).map(|(id, _)| id).collect()
}

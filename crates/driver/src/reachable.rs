//! All states that can be reached, and the answer for each assertion and error location.
//!
//! *Order of work.* An engine visits all states: of the program as it is, over bits, or with bodies in the place of
//! calls. Explicit search and decision diagrams take turns, with budgets of work that grow, and the first that is done
//! is reported; the lists of both are put into one form (`merged`). Values that no thread reads any more are not asked
//! for, unless the options of the engines say so. What the engine says about errors is not evidence, so that each error
//! is then decided as if it were asked for on its own ([`each`]), by the engine that the user names or by those that
//! suit the program: with a replayed execution, or with an accepted certificate, or else the answer says that it is
//! uncertified. *End.* A budget that grows without bound does not stop an engine that ends. *Right.* Every answer about
//! an error is judged. Where the visit was complete and says otherwise, one of the engines is wrong, which is reported
//! as our defect.

mod bit_states;
mod merged;

use std::sync::Arc;
use std::time::Duration;

use selvedge_check::{
    Answer, Asked, Engine, Exploration, Outcome, Reason, Run, Status, Stop, Task, Times, Unsupported, ValuesAsked,
};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::{LocId, Program, Scope, Ty, VarId};

use crate::attempt::timed;
use crate::inlined_states::InlinedStates;
use crate::portfolio::BudgetObserver;
use crate::simplify::simplify;
use crate::{Failure, Options, Pass, Prepared, Simplified, each};
use bit_states::BitStates;
use merged::merged;

/// With more bits than this that may have any value when a thread begins, decision diagrams come first.
const FEW_BITS: u32 = 10;

/// Visits everything, and answers for each error.
pub(crate) fn explore(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    let mut time = Duration::ZERO;
    let (engine, explored) = timed(&mut time, || visit(prepared, options, run));
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

/// Lets engines visit everything, in turns unless the user names one.
fn visit(prepared: &Prepared, options: &Options, run: &Run<'_>) -> (&'static str, Result<Exploration, Reason>) {
    if let Some(row) = options.engine {
        return (row.name, visit_alone(row, prepared, options, run));
    }
    let mut playing = vec![EngineKind::ThreadsExplicit.row(), EngineKind::Threads.row()];
    if n_open_bits(prepared.task().program) > FEW_BITS {
        playing.reverse();
    }
    let mut stopped = None;
    let mut budget = 1;
    while !playing.is_empty() {
        for row in std::mem::take(&mut playing) {
            let part = run.part();
            let observer = BudgetObserver { row, budget, run, cancel: part.cancel.clone() };
            match visit_alone(row, prepared, options, &part.run(&observer)) {
                Ok(seen) => return (row.name, Ok(seen)),
                Err(Reason::Stop(Stop::PartStopped)) if run.check_limits().is_ok() => playing.push(row),
                Err(Reason::Unsupported(_)) => {}
                Err(reason) => stopped = Some((row.name, Err(reason))),
            }
        }
        budget = if playing.len() == 1 { usize::MAX } else { budget.saturating_mul(8) };
    }
    let oracle = EngineKind::Exhaustive.row();
    stopped.unwrap_or_else(|| (oracle.name, visit_alone(oracle, prepared, options, run)))
}

/// Returns the number of bits that may have any value when a thread begins: an explicit search lists all beginnings
/// before it notices that its turn is over.
fn n_open_bits(program: &Program) -> u32 {
    let bits = |var: &VarId| match program.vars[*var].ty {
        Ty::Bool => 1,
        Ty::Machine(ty) => u32::from(ty.bits),
        Ty::Int => u32::MAX / 2,
    };
    let sum = |vars: &mut dyn Iterator<Item = VarId>| vars.fold(0, |sum: u32, var| sum.saturating_add(bits(&var)));
    let is_open = |var: &VarId| !program.init.iter().any(|(known, _)| known == var);
    let mut global = program.vars.indices().filter(|var| match program.vars[*var].scope {
        Scope::Shared => is_open(var),
        Scope::Thread => true,
        Scope::Local(_) => false,
    });
    let own = program.procs.iter().map(|proc| sum(&mut proc.locals.iter().copied())).max().unwrap_or(0);
    sum(&mut global).saturating_add(own)
}

/// Lets one engine visit everything.
fn visit_alone(row: &Row, prepared: &Prepared, options: &Options, run: &Run<'_>) -> Result<Exploration, Reason> {
    let task = prepared.task();
    let liveness = Liveness::observed(task.program);
    let keeps_all = !options.engine_options.threads_explicit.reductions.dead;
    let asked = |loc: LocId, var: VarId| keeps_all || liveness.is_live(loc, var);
    let engine = (row.build)(&options.engine_options);
    let seen = match visit_with(&*engine, &task, &asked, run) {
        Ok(Some(explored)) => explored.and_then(|seen| merged(seen, task.program, &asked, run)),
        Ok(None) => {
            let reason = format!("the engine `{}` does not visit everything", engine.name());
            return Err(Reason::Unsupported(Unsupported::new(reason)));
        }
        Err(unsupported) => return Err(Reason::Unsupported(unsupported)),
    };
    seen.map_err(Reason::Stop)
}

/// Lets an engine visit everything; if need be over bits, and with bodies in the place of calls.
fn visit_with(
    engine: &dyn Engine,
    task: &Task<'_>,
    asked: ValuesAsked<'_>,
    run: &Run<'_>,
) -> Result<Option<Result<Exploration, Stop>>, Unsupported> {
    let Err(unsupported) = engine.supports(task) else { return Ok(engine.reachable(task, asked, run)) };
    if let Some(explored) = visit_inlined(engine, task, asked, run) {
        return Ok(explored);
    }
    if !task.program.has_machine_integers() {
        return Err(unsupported);
    }
    let works_on_bits = |reason: String| Unsupported::new(format!("`{}` works on bits, and {reason}", engine.name()));
    let over_bits = Simplified::over_all_bits(task).map_err(works_on_bits)?;
    let states = BitStates::new(task.program, over_bits.bits().expect("it is over bits"));
    let (question, asked) = (over_bits.question(), |loc, bit| states.is_asked(asked, loc, bit));
    let explored = match engine.supports(&question) {
        Ok(()) => Some(engine.reachable(&question, &asked, run)),
        Err(_) => visit_inlined(engine, &question, &asked, run),
    };
    let lifted = |explored: Result<Exploration, Stop>| explored.and_then(|seen| states.lifted(seen, run));
    explored.map(|explored| explored.map(lifted)).ok_or(unsupported)
}

/// Lets an engine visit everything with bodies in the place of calls; `None` if it does not support that.
fn visit_inlined(
    engine: &dyn Engine,
    task: &Task<'_>,
    asked: ValuesAsked<'_>,
    run: &Run<'_>,
) -> Option<Option<Result<Exploration, Stop>>> {
    let inlined = simplify(task, &[Pass::Inline]);
    let states = InlinedStates::new(task.program, &inlined)?;
    engine.supports(&inlined.question()).ok()?;
    let explored = engine.reachable(&inlined.question(), &|loc, var| states.is_asked(asked, loc, var), run);
    Some(explored.map(|explored| explored.map(|seen| states.lifted(seen))))
}

//! All engines on one program: verdicts, evidence and reachable sets compared with the exhaustive engine.
//!
//! For each engine that supports the program: its verdict does not contradict the oracle's, its trace replays, its
//! certificate is accepted. Two engines that decide must agree also where the oracle gave up. `pushdown` and
//! `summaries` list what they reach; the lists must be the oracle's, or contain them where it stopped at the bound on
//! frames. The pushdown system of the program has the same verdict after it was printed and read.

use std::collections::BTreeSet;

use selvedge_check::{Engine as _, Task};
use selvedge_engines::exhaustive::{Exhaustive, Options, ThreadState};
use selvedge_engines::pushdown::{self, Direction, Pushdown};
use selvedge_engines::sat::SummaryMode;
use selvedge_engines::summaries::Summaries;
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_frontend::System;
use selvedge_frontend::pds::{load, print};
use selvedge_ir::{LocId, Program, Scope, Value, VarId};
use selvedge_replay::certificate::{Refused, verify_system};

use crate::contender::Contender;
use crate::differ::pose;
use crate::generate::{Weights, generate_with};
use crate::harness::{COMPARISONS, Comparison, Fault, Tally, check_set, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, within};
use crate::rng::Rng;

/// Generates the program with a number: sequential and recursive ones alternate.
pub fn item(seed: u64, number: u64) -> Model {
    let weights = if number.is_multiple_of(2) { Weights::sequential() } else { Weights::recursive() };
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// The comparison of all engines on programs with one thread.
pub const SEQUENTIAL: Comparison = Comparison::new(item, |model, _, budget, tally| compare(model, budget, tally));

fn compare(model: &Model, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let posed = pose(model)?;
    let task = posed.task();
    let mut known = ask(&task, budget);
    for contender in contenders() {
        contender.compare(&task, None, &mut known, budget, tally)?;
    }
    known.count(tally);
    compare_sets(&task, budget, tally)?;
    compare_converted(&task, &known, budget)
}

/// Returns the engines with their default options; `sat` in all its modes.
fn contenders() -> Vec<Contender> {
    let mut found = Vec::new();
    for kind in EngineKind::ALL.iter().copied().filter(|kind| *kind != EngineKind::Exhaustive) {
        let mut options = EngineOptions::default();
        if kind != EngineKind::Sat {
            found.push(Contender::new(kind, "", &options));
            continue;
        }
        for mode in SummaryMode::ALL {
            options.sat.summaries = *mode;
            found.push(Contender::new(kind, &format!("summaries {}", mode.name()), &options));
        }
    }
    found
}

/// Compares the reachable sets of the engines.
fn compare_sets(task: &Task<'_>, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    if Pushdown.supports(task).is_err() || Summaries::default().supports(task).is_err() {
        return Ok(());
    }
    let oracle = Exhaustive { options: Options { frames: budget.frames } };
    let Ok(seen) = within(budget, |run| oracle.explore(task, run)) else { return Ok(()) };
    let Ok(found) = within(budget, |run| Pushdown.explore(task, run)) else { return Ok(()) };
    count_set(tally);
    // The oracle sees less where the bound on frames stopped it, never more.
    check_set("pushdown (states)", &seen.thread_states, !seen.truncated, &found)?;
    let Ok(reached) = within(budget, |run| Summaries::default().explore(task, run)) else { return Ok(()) };
    count_set(tally);
    let project = |state: &ThreadState| -> (LocId, Vec<bool>) {
        let place = reached.vars.binary_search_by_key(&state.loc, |(loc, _)| *loc);
        let vars = place.map_or(&[][..], |place| &reached.vars[place].1);
        let holds = |var: &VarId| {
            let found = values_of(task.program, state).into_iter().find(|(other, _)| other == var);
            found.is_some_and(|(_, value)| *value == Value::Bool(true))
        };
        (state.loc, vars.iter().map(holds).collect())
    };
    let projected: BTreeSet<_> = found.iter().map(project).collect();
    check_set("summaries (states)", &projected, true, &reached.states)
}

fn count_set(tally: &mut Tally) {
    tally.count("sets");
    tally.count(COMPARISONS);
}

/// Returns the variables of a thread state with their values, the locals first.
pub(crate) fn values_of<'s>(program: &Program, state: &'s ThreadState) -> Vec<(VarId, &'s Value)> {
    let of_scope = |scope: Scope| program.vars.indices().filter(move |var| program.vars[*var].scope == scope);
    let locals = program.procs[program.locs[state.loc].proc].locals.iter().copied().zip(&state.locals);
    let (thread, shared) = (of_scope(Scope::Thread).zip(&state.vars), of_scope(Scope::Shared).zip(&state.shared));
    locals.chain(thread).chain(shared).collect()
}

/// Checks that the pushdown system, printed and read, has the same verdict in both directions.
fn compare_converted(task: &Task<'_>, known: &Answer, budget: Budget) -> Result<(), Fault> {
    if Pushdown.supports(task).is_err() {
        return Ok(());
    }
    let Ok(converted) = within(budget, |run| pushdown::convert(task, run)) else { return Ok(()) };
    let Some(System::Pds(pds)) = load(&print(&converted.pds)).system else {
        return fault("convert", "the printed system is not read");
    };
    for direction in [Direction::Forward, Direction::Backward] {
        let Ok(answer) = within(budget, |run| pushdown::check(&pds, direction, run)) else { continue };
        let found = match answer {
            pushdown::SystemVerdict::Unreachable(proof) => {
                if let Err(Refused::Flawed(flaw)) = within(budget, |run| verify_system(&pds, &proof, run)) {
                    return fault("convert (proof)", format!("{direction:?}: {}", flaw.show(&pds)));
                }
                Answer::Safe
            }
            pushdown::SystemVerdict::Reachable(trace) => match pds.replay(&trace) {
                Ok(_) => Answer::Unsafe(selvedge_check::Trace::default()),
                Err(reason) => return fault("convert (trace)", format!("{direction:?}: {reason:?}")),
            },
        };
        if known.contradicts(&found) {
            return fault("convert", format!("{direction:?}: {known}, but as a pushdown system {found}"));
        }
    }
    Ok(())
}

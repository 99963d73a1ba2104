//! Which engines suit a question.

use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::{Count, Op, Program};

use crate::attempt::takes;
use crate::{Options, Prepared};

/// Returns whether an engine finds errors and proves nothing: it works beside others, not alone.
pub(super) fn only_finds_errors(row: &Row) -> bool {
    row.name == EngineKind::Bmc.name()
}

/// Chooses the engine that the user names. Else those that take a question, of the group that suits it best, the most
/// promising first; the oracle if none does. Partial orders are off unless the user wants one: a certificate needs all
/// states, and those that a partial order left out are explored after all.
pub(crate) fn team(prepared: &Prepared, options: &Options) -> Vec<&'static Row> {
    if let Some(row) = options.engine {
        return vec![row];
    }
    if in_turns(options) {
        return vec![EngineKind::Contexts.row()];
    }
    if in_rounds(options) {
        return vec![EngineKind::Rounds.row()];
    }
    without_bound(prepared, options)
}

/// Returns whether the question bounds the contexts and the user leaves the choice of the engine to us.
pub(super) fn in_turns(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.contexts.bound.is_some()
}

/// Returns whether the question bounds the rounds and the user leaves the choice of the engine to us.
pub(super) fn in_rounds(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.rounds.bound.is_some()
}

/// Chooses engines that take a question about all executions.
pub(super) fn without_bound(prepared: &Prepared, options: &Options) -> Vec<&'static Row> {
    let takers = |kinds: &[EngineKind]| -> Vec<EngineKind> {
        kinds.iter().copied().filter(|kind| takes(prepared, kind.row(), options).is_ok()).collect()
    };
    let mut teams = EngineKind::PORTFOLIO.into_iter().map(takers).filter(|team| !team.is_empty());
    let team = match teams.next() {
        // Alone they would answer without certificate: the passes of `sat` have left one thread of several.
        Some(team) if !team.contains(&EngineKind::Summaries) && team.contains(&EngineKind::Sat) => {
            [teams.next().unwrap_or_default(), team].concat()
        }
        // Programs of one thread with numbers often compute with few values, which are tried one by one. Where they
        // compute with many, invariants and errors are looked for in turn; circuits over bits in decision diagrams are
        // large.
        Some(team) if team.contains(&EngineKind::Summaries) && prepared.task().program.has_machine_integers() => {
            let others = team.iter().copied().filter(|kind| *kind != EngineKind::Summaries);
            let (first, rest): (Vec<_>, Vec<_>) = others.partition(|kind| *kind == EngineKind::Sat);
            let exact = takers(&[EngineKind::Pushdown, EngineKind::Invariants, EngineKind::Horn]);
            [exact, rest, first, vec![EngineKind::Summaries]].concat()
        }
        // A proof for any number of threads is one for a bounded number. Numbers are large in decision diagrams, and
        // have many values to list: there, unwinding is among the first. Counting threads in the same state helps only
        // where some are alike.
        Some(team) if team.contains(&EngineKind::Threads) => {
            use EngineKind::{BmcThreads, Facts, Threads, ThreadsExplicit};
            let program = prepared.task().program;
            if program.has_machine_integers() {
                takers(&[ThreadsExplicit, BmcThreads, Threads, Facts])
            } else if all_differ(program) {
                takers(&[ThreadsExplicit, Threads, Facts, BmcThreads])
            } else {
                takers(&[Threads, ThreadsExplicit, Facts, BmcThreads])
            }
        }
        // Programs that start their threads may start few, although their number is not bounded.
        Some(team) if team.contains(&EngineKind::Views) => {
            if !prepared.task().program.has_machine_integers() {
                return rows([team, takers(&[EngineKind::BmcThreads])].concat());
            }
            let facts = team.iter().position(|kind| *kind == EngineKind::Facts).map_or(1, |place| place + 1);
            let (more, last) = (takers(&[EngineKind::BmcThreads]), takers(&[EngineKind::Predicates]));
            [&team[..1], &more, &team[1..facts], &last, &team[facts..]].concat()
        }
        Some(team) => team,
        // Recursion with any number of threads is undecidable, but errors can be found.
        None => [takers(&[EngineKind::Rounds]), vec![EngineKind::Exhaustive]].concat(),
    };
    rows(team)
}

fn rows(team: Vec<EngineKind>) -> Vec<&'static Row> {
    team.into_iter().map(EngineKind::row).collect()
}

/// Returns whether several threads begin, no two of them alike, and none is started later.
fn all_differ(program: &Program) -> bool {
    let alone = program.entries.iter().all(|entry| matches!(entry.count, Count::Exactly(0 | 1) | Count::AtMost(0 | 1)));
    let starts = program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
    program.entries.len() > 1 && alone && !starts
}

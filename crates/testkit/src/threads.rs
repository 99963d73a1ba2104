//! The engines for several threads on one program, with every combination of their reductions or a sample of them,
//! compared with the exhaustive engine.
//!
//! For each engine that supports the program: its verdict does not contradict the oracle's, its trace replays, also on
//! the program before inlining, its certificate is accepted. If an engine answers for each error separately, the
//! answers for every assertion and every label are the oracle's, whatever reductions it makes. If an engine lists what
//! it reaches, the list is the oracle's. Engines for one thread run too if there is only one.

use std::collections::BTreeSet;

use selvedge_check::{Findings, Run, Stop, Target, Task, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::exhaustive::{Exhaustive, Exploration, Options};
use selvedge_engines::threads::explicit::ThreadsExplicit;
use selvedge_engines::threads::plain::ThreadsPlain;
use selvedge_engines::threads::symbolic::Threads;
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_ir::LocId;
use selvedge_replay::{Reject, judge};

use crate::contender::Contender;
use crate::corpus::{Entry, Expected};
use crate::differ::{pose, pose_text};
use crate::generate::{Weights, generate_in_turn};
use crate::harness::{COMPARISONS, Comparison, Fault, Tally, check_set, fault};
use crate::model::Model;
use crate::oracle::{Budget, ask, within};
use crate::rng::Rng;

/// The comparison of all engines on programs with several threads.
pub const CONCURRENT: Comparison = Comparison::new(item, compare).within(Budget::states(20_000).tight());

/// Returns every engine but the oracle, those for several threads with every combination of reductions. Those that
/// unwind programs do so for a few steps only.
pub fn contenders() -> Vec<Contender> {
    let mut options = EngineOptions::default();
    options.bmc.steps = 25;
    options.bmc_threads.bound = 6;
    options.induction.bound = 8;
    let mut found = Vec::new();
    for kind in EngineKind::ALL.iter().copied().filter(|kind| *kind != EngineKind::Exhaustive) {
        for (words, options) in variants(kind, &options) {
            found.push(Contender::new(kind, &words, &options));
        }
    }
    found
}

/// Returns the contenders that a number chooses: two combinations of reductions of `threads` and `threads-explicit`,
/// and the other engines in turns; all of them without a number.
fn sampled(number: Option<u64>) -> Vec<Contender> {
    let all = contenders();
    let Some(number) = number else { return all };
    let mut rng = Rng::for_item(SALT, number);
    let mut chosen = Vec::new();
    for kind in EngineKind::ALL {
        let places: Vec<usize> = (0..all.len()).filter(|place| all[*place].kind == *kind).collect();
        let (first, half) = (rng.below(places.len().max(4)), places.len() / 2);
        chosen.extend(places.get(first));
        if half > 1 {
            chosen.push(places[(first + half) % places.len()]);
        }
    }
    all.into_iter().enumerate().filter(|(place, _)| chosen.contains(place)).map(|(_, contender)| contender).collect()
}

/// A salt that makes the choice of contenders independent of the choice of programs.
const SALT: u64 = 0x5eed;

/// Returns the options that matter to an engine, each with a description.
fn variants(kind: EngineKind, base: &EngineOptions) -> Vec<(String, EngineOptions)> {
    let each = |choices: Vec<Reductions>, set: fn(&mut EngineOptions, Reductions)| {
        let variant = |reductions: Reductions| {
            let mut options = base.clone();
            set(&mut options, reductions);
            (words(reductions), options)
        };
        choices.into_iter().map(variant).collect()
    };
    match kind {
        EngineKind::ThreadsExplicit => each(reductions(), |options, choice| {
            options.threads_explicit.reductions = choice;
            options.threads_explicit.most_listed = if choice.dead { 0 } else { usize::MAX };
        }),
        EngineKind::Threads => {
            let mut found = each(reductions(), |options, choice| options.threads.reductions = choice);
            let mut options = base.clone();
            options.threads.merge = false;
            found.push(("no merge".to_string(), options));
            found
        }
        EngineKind::ThreadsPlain => {
            let without_order = reductions().into_iter().filter(|choice| choice.partial_order == PartialOrder::Off);
            let choices = without_order.filter(|choice| choice.compress).collect();
            each(choices, |options, choice| options.threads_plain.dead = choice.dead)
        }
        _ => vec![(String::new(), base.clone())],
    }
}

/// Returns whether an engine is one of those for several threads.
pub fn is_for_threads(kind: EngineKind) -> bool {
    matches!(kind, EngineKind::Views | EngineKind::Facts) || kind.name().starts_with("threads")
}

/// Returns all combinations of reductions, first none.
pub fn reductions() -> Vec<Reductions> {
    let mut found = Vec::new();
    for partial_order in [PartialOrder::Off, PartialOrder::Ample, PartialOrder::Persistent, PartialOrder::Cartesian] {
        for (compress, dead) in [(false, false), (true, false), (false, true), (true, true)] {
            found.push(Reductions { compress, dead, partial_order });
        }
    }
    found
}

/// Returns the reductions in words.
pub fn words(reductions: Reductions) -> String {
    let order = format!("{:?}", reductions.partial_order).to_lowercase();
    let compress = if reductions.compress { "" } else { ", no compress" };
    let dead = if reductions.dead { "" } else { ", no dead" };
    format!("{order}{compress}{dead}")
}

/// Returns the reachable set of an engine without reductions; `None` if it does not list it.
pub fn explore(kind: EngineKind, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
    match kind {
        EngineKind::ThreadsExplicit => Some(ThreadsExplicit::default().explore(task, run)),
        EngineKind::Threads => Some(Threads::default().explore(task, run)),
        EngineKind::ThreadsPlain => Some(ThreadsPlain::default().explore(task, run)),
        _ => None,
    }
}

/// Returns the program with a number: the presets for threads take turns.
pub fn item(seed: u64, number: u64) -> Model {
    generate_in_turn(&Weights::concurrent(), seed, number)
}

fn compare(model: &Model, number: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    compare_task(&pose(model)?.task(), Some(number), budget, tally)
}

/// Compares all contenders on a program with a known verdict, which must be theirs; panics if it is not.
pub fn compare_entry(entry: &Entry) {
    let posed =
        pose_text(entry.text.clone(), &entry.question).unwrap_or_else(|fault| panic!("{}: {fault}", entry.name));
    let mut tally = Tally::default();
    compare_task(&posed.task(), None, Budget::default().tight(), &mut tally)
        .unwrap_or_else(|fault| panic!("{}: {fault}", entry.name));
    let expected = match entry.verdict {
        Some(Expected::Safe) => (1, 0),
        Some(Expected::Unsafe) => (0, 1),
        None => panic!("{} has no verdict", entry.name),
    };
    assert_eq!((tally["safe"], tally["unsafe"]), expected, "{}", entry.name);
    assert!(tally["sets"] > 0 && tally["lists of answers"] > 0, "{}: {tally}", entry.name);
}

/// Compares the engines on one question, as far as they are in a sample. Reachable sets are always compared.
fn compare_task(task: &Task<'_>, sample: Option<u64>, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let mut known = ask(task, budget);
    let all = every_target(task);
    let each = simplify(&Task { target: &all, ..*task }, &[Pass::Inline]);
    let each = each.task(task.threads);
    let oracle = Exhaustive { options: Options { frames: budget.frames } };
    let seen = within(budget, |run| oracle.explore(&each, run)).ok().filter(|seen| !seen.truncated);
    let inlined = simplify(task, &[Pass::Inline]);
    let contenders = sampled(sample);
    for contender in &contenders {
        // Engines for several threads do not support calls.
        let inlined = is_for_threads(contender.kind).then_some(&inlined);
        let is_supported = contender.compare(task, inlined, &mut known, budget, tally)?;
        if let Some(seen) = seen.as_ref().filter(|_| is_supported) {
            compare_each(contender, &each, seen, budget, tally)?;
        }
    }
    compare_meeting(&contenders, task, budget, tally)?;
    for kind in EngineKind::ALL.iter().copied() {
        if let Some(seen) = &seen {
            compare_sets(kind, &each, seen, budget, tally)?;
        }
    }
    known.count(tally);
    Ok(())
}

/// Checks whether two threads can meet: at the first label and the last one, which may be the same.
fn compare_meeting(all: &[Contender], task: &Task<'_>, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let labels = &task.program.labels;
    let (Some(first), Some(last)) = (labels.first(), labels.last()) else { return Ok(()) };
    let target = Target::default().with_together([vec![first.loc, last.loc]]);
    let task = Task { target: &target, ..*task };
    let inlined = simplify(&task, &[Pass::Inline]);
    let known = ask(&task, budget);
    for contender in all.iter().filter(|contender| is_for_threads(contender.kind)) {
        let found = contender.decide(&task, Some(&inlined), budget, tally)?;
        if let Some(found) = found.filter(|found| known.contradicts(found)) {
            return fault(format!("{} (meeting)", contender.name), format!("{known}, but then {found}"));
        }
    }
    Ok(())
}

/// Returns the target of all assertions and all labels.
fn every_target(task: &Task<'_>) -> Target {
    let locs = task.program.labels.iter().map(|label| label.loc).collect();
    Target::new(Target::all_asserts(task.program).asserts, locs)
}

/// Checks that the answers for every assertion and label are those that the oracle saw.
fn check_statuses(name: &str, task: &Task<'_>, seen: &Exploration, findings: &Findings) -> Result<(), Fault> {
    let locs: BTreeSet<LocId> = seen.thread_states.iter().map(|state| state.loc).collect();
    let asserts = || task.target.asserts.iter().copied();
    let failing = asserts().filter(|edge| seen.failing.contains(edge)).collect();
    let found = findings.asserts.iter().map(|(edge, _)| *edge).collect();
    check_set(format!("{name} (each, failing)"), &failing, true, &found)?;
    let unreachable = asserts().filter(|edge| !locs.contains(&task.program.edges[*edge].from)).collect();
    let found = findings.unreachable.iter().copied().collect();
    check_set(format!("{name} (each, unreachable)"), &unreachable, true, &found)?;
    let reached = task.target.locs.iter().copied().filter(|loc| locs.contains(loc)).collect();
    let found = findings.locs.iter().map(|(loc, _)| *loc).collect();
    check_set(format!("{name} (each, labels)"), &reached, true, &found)
}

/// Compares the answers for every assertion and label, and judges their evidence.
fn compare_each(
    contender: &Contender,
    task: &Task<'_>,
    seen: &Exploration,
    budget: Budget,
    tally: &mut Tally,
) -> Result<(), Fault> {
    if !is_for_threads(contender.kind) {
        return Ok(());
    }
    let findings = within(budget, |run| contender.engine.check_each(task, run));
    let Some(findings) = findings else { return Ok(()) };
    count_question(findings.is_ok(), tally);
    let Ok(findings) = findings else { return Ok(()) };
    check_statuses(&contender.name, task, seen, &findings)?;
    tally.count("lists of answers");
    within(budget, |run| judge_findings(task, &findings, run))
        .or_else(|reject| fault(format!("{} (each, judge)", contender.name), reject.to_string()))
}

fn judge_findings(task: &Task<'_>, findings: &Findings, run: &Run<'_>) -> Result<(), Reject> {
    let mut rest = task.target.clone();
    rest.asserts.retain(|edge| !findings.asserts.iter().any(|(other, _)| other == edge));
    rest.locs.retain(|loc| !findings.locs.iter().any(|(other, _)| other == loc));
    let asserts = findings.asserts.iter().map(|(edge, trace)| (Target::new(vec![*edge], Vec::new()), trace));
    let locs = findings.locs.iter().map(|(loc, trace)| (Target::new(Vec::new(), vec![*loc]), trace));
    for (target, trace) in asserts.chain(locs) {
        judge(&Task { target: &target, ..*task }, &Verdict::Unsafe(trace.clone()), run)?;
    }
    judge(&Task { target: &rest, ..*task }, &Verdict::Safe(findings.certificate.clone()), run)?;
    Ok(())
}

fn count_question(answered: bool, tally: &mut Tally) {
    tally.count("asked");
    tally.count(if answered { COMPARISONS } else { "undecided" });
}

/// Compares the reachable set of an engine, and the assertions that it sees fail.
fn compare_sets(
    kind: EngineKind,
    task: &Task<'_>,
    seen: &Exploration,
    budget: Budget,
    tally: &mut Tally,
) -> Result<(), Fault> {
    let takes = build(kind, &EngineOptions::default()).supports(task).is_ok();
    if kind == EngineKind::Exhaustive || !takes {
        return Ok(());
    }
    let Some(found) = within(budget, |run| explore(kind, task, run)) else { return Ok(()) };
    count_question(found.is_ok(), tally);
    let Ok(found) = found else { return Ok(()) };
    tally.count("sets");
    check_set(format!("{} (states)", kind.name()), &seen.thread_states, true, &found.thread_states)?;
    check_set(format!("{} (failing)", kind.name()), &seen.failing, true, &found.failing)
}

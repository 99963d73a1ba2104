//! Proofs about several threads on generated programs: the judge accepts the reachable states of safe programs and of
//! no unsafe one, whichever places are listed; without one of the states it accepts none; with one more it does
//! exactly if the interpreter finds no way out and no error.

use std::collections::BTreeSet;

use selvedge_check::{Certificate, Run, Task, ThreadProof};
use selvedge_ir::callgraph::CallGraph;
use selvedge_replay::certificate::{Flaw, verify};
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::rng::Rng;
use selvedge_testkit::seen::{Reached, Row, Spot, explore, explore_from, proof, spots, state};

const N_PROGRAMS: usize = 250;
const N_MUTANTS: usize = 8;
const N_STATES: usize = 300;

/// A program without recursion whose states are few, and these.
fn explored(seed: u64) -> Option<(Posed, Reached)> {
    let weights = if seed.is_multiple_of(2) { Weights::threads() } else { Weights::everything() };
    let posed = pose(&generate(seed, &weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    if CallGraph::new(&posed.asked).has_recursion() || posed.target.is_empty() {
        return None;
    }
    let reached = explore(&posed.task(), N_STATES)?;
    (reached.rows.len() > 3).then_some((posed, reached))
}

fn judged(task: &Task<'_>, proof: ThreadProof) -> Result<(), Flaw> {
    verify(task, &Certificate::Threads(proof), &Run::unlimited())
}

/// Leaves out places at random, as long as the judge still accepts the rest; returns what is left.
fn fewer(rng: &mut Rng, task: &Task<'_>, rows: &BTreeSet<Row>) -> BTreeSet<Spot> {
    let mut listed = spots(rows);
    for spot in rng.subset(&listed.iter().cloned().collect::<Vec<_>>(), 12) {
        listed.remove(&spot);
        if judged(task, proof(task.program, rows, &listed)).is_err() {
            listed.insert(spot);
        }
    }
    listed
}

/// The states with all threads at listed places.
fn seen(rows: &BTreeSet<Row>, listed: &BTreeSet<Spot>) -> Vec<Row> {
    let is_seen = |row: &&Row| row.threads.iter().all(|(spot, _)| listed.contains(spot));
    rows.iter().filter(is_seen).cloned().collect()
}

/// A state with another value, or with a thread at another place.
fn another(rng: &mut Rng, row: &Row, others: &[Row]) -> Row {
    let mut row = row.clone();
    let n_threads = row.threads.len();
    if n_threads > 0 && rng.percent(70) {
        let thread = rng.below(n_threads);
        let n_values = row.threads[thread].1.len();
        if n_values > 0 && rng.percent(60) {
            let value = rng.below(n_values);
            row.threads[thread].1[value] ^= true;
        } else if let Some(donor) = rng.pick(others).and_then(|other| rng.pick(&other.threads)) {
            row.threads[thread] = donor.clone();
        }
    } else if !row.shared.is_empty() {
        let value = rng.below(row.shared.len());
        row.shared[value] ^= true;
    }
    row.threads.sort();
    row
}

/// Whether the set with one more state is still one that proves something; `None` if that is not easily said.
fn allows(task: &Task<'_>, row: &Row, rows: &BTreeSet<Row>, listed: &BTreeSet<Spot>) -> Option<bool> {
    let n_holders = row.threads.iter().filter(|(spot, _)| matches!(spot.0, selvedge_check::Role::Holder(_))).count();
    if n_holders > 1 {
        return None;
    }
    let known = spots(rows);
    let beyond = explore_from(task, vec![state(task, row)?], 10 * N_STATES)?;
    let inside = seen(&beyond.rows, listed).iter().all(|next| next == row || rows.contains(next));
    // Whether a place that nobody came to before must be listed depends on the steps to it.
    let new_places = spots(&beyond.rows).iter().any(|spot| !known.contains(spot));
    match inside && !beyond.error {
        true if new_places => None,
        allowed => Some(allowed),
    }
}

#[derive(Debug, Default)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    unlisted: usize,
    removed: usize,
    allowed: usize,
    forbidden: usize,
}

fn try_safe(rng: &mut Rng, seed: u64, posed: &Posed, rows: &BTreeSet<Row>, tally: &mut Tally) {
    let task = posed.task();
    assert_eq!(judged(&task, proof(task.program, rows, &spots(rows))), Ok(()), "seed {seed}:\n{}", posed.text);
    let listed = fewer(rng, &task, rows);
    tally.unlisted += spots(rows).len() - listed.len();
    let all = seen(rows, &listed);
    for _ in 0..N_MUTANTS {
        let Some(row) = rng.pick(&all) else { continue };
        let mut less = rows.clone();
        less.remove(row);
        let verdict = judged(&task, proof(task.program, &less, &listed));
        assert!(verdict.is_err(), "seed {seed}: without {row:?}\n{}", posed.text);
        tally.removed += 1;
        let more = another(rng, row, &all);
        if rows.contains(&more) {
            continue;
        }
        let Some(expected) = allows(&task, &more, rows, &listed) else { continue };
        let mut with = rows.clone();
        with.insert(more.clone());
        let verdict = judged(&task, proof(task.program, &with, &listed));
        assert_eq!(verdict.is_ok(), expected, "seed {seed}: {verdict:?} with {more:?}\n{}", posed.text);
        *(if expected { &mut tally.allowed } else { &mut tally.forbidden }) += 1;
    }
}

fn try_unsafe(rng: &mut Rng, seed: u64, posed: &Posed, rows: &BTreeSet<Row>) {
    let task = posed.task();
    let all = spots(rows);
    let verdict = judged(&task, proof(task.program, rows, &all));
    assert!(matches!(verdict, Err(Flaw::Assert(_) | Flaw::Location(_))), "seed {seed}: {verdict:?}\n{}", posed.text);
    for _ in 0..N_MUTANTS {
        let left_out = rng.subset(&all.iter().cloned().collect::<Vec<_>>(), 3);
        let listed = all.iter().filter(|spot| !left_out.contains(spot)).cloned().collect();
        let verdict = judged(&task, proof(task.program, rows, &listed));
        assert!(verdict.is_err(), "seed {seed}: without {left_out:?}\n{}", posed.text);
    }
}

#[test]
fn the_judge_accepts_exactly_the_closed_sets_without_error() {
    let mut tally = Tally::default();
    let mut seed = 0;
    while tally.safe + tally.unsafe_ < N_PROGRAMS {
        seed += 1;
        let Some((posed, reached)) = explored(seed) else { continue };
        let rng = &mut Rng::new(seed);
        if reached.error {
            try_unsafe(rng, seed, &posed, &reached.rows);
            tally.unsafe_ += 1;
        } else {
            try_safe(rng, seed, &posed, &reached.rows, &mut tally);
            tally.safe += 1;
        }
    }
    let Tally { safe, unsafe_, unlisted, removed, allowed, forbidden } = tally;
    assert!(
        safe > 50 && unsafe_ > 50 && unlisted > 100 && removed > 300 && allowed > 50 && forbidden > 50,
        "{tally:?}"
    );
}

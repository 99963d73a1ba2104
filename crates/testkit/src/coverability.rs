//! Thread-transition systems: all ways to decide coverability, compared with each other.

use std::collections::BTreeSet;

use selvedge_check::{CoverClaim, Run, Stop, ViewTable};
use selvedge_engines::unbounded::coverability::cutoff::{self, Effort};
use selvedge_engines::unbounded::coverability::{
    Answer, Rules, backward, bounded, certificate, decide, karp_miller, net, views, widening,
};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};
use selvedge_replay::certificate::{Flaw, Refused, verify_claim};

use crate::harness::{CERTIFICATES, COMPARISONS, Campaign, Fault, Tally, fault};
use crate::rng::Rng;
use crate::shrink::without_one;
use crate::tts::{AtBound, coverable, reach, shrink};

/// The greatest number of threads in a view.
const MOST_VIEWS: usize = 3;
/// The greatest number of threads in a search.
const MOST_THREADS: usize = 4;
/// The greatest numbers of elements and configurations that the plain searches look at.
const MOST_ELEMENTS: usize = 300;
const MOST_CONFIGURATIONS: usize = 2_000;

/// Generates a small system: up to 6 shared and 8 local states; a fifth of its rules are spawns, some of which start
/// two threads.
pub fn random(rng: &mut Rng) -> Tts {
    let (n_shared, n_local) = (rng.between(1, 6), rng.between(1, 8));
    let shared = |rng: &mut Rng| SharedId::from(rng.below(n_shared));
    let local = |rng: &mut Rng| LocalId::from(rng.below(n_local));
    let locals = |rng: &mut Rng, n: usize| {
        let mut locals: Vec<LocalId> = (0..n).map(|_| local(rng)).collect();
        locals.sort_unstable();
        locals
    };
    let rule = |rng: &mut Rng| {
        let n_after = *rng.pick(&[1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 0]).expect("there are some");
        let before = local(rng);
        let mut after: Vec<LocalId> = (0..n_after).map(|_| local(rng)).collect();
        if n_after > 1 && rng.coin() {
            after[0] = before;
        }
        let goes_on = n_after > 0 && rng.percent(90);
        let transfers = Vec::new();
        Rule { shared: shared(rng), local: before, shared_after: shared(rng), after, goes_on, transfers }
    };
    let start = |rng: &mut Rng| {
        let n_exact = rng.between(0, 2);
        let mut any = if n_exact == 0 || rng.percent(30) {
            let n = rng.between(1, 2);
            locals(rng, n)
        } else {
            Vec::new()
        };
        any.dedup();
        Start { shared: shared(rng), threads: locals(rng, n_exact), any }
    };
    let target = |rng: &mut Rng| {
        let n_threads = *rng.pick(&[1, 1, 1, 2, 2, 3]).expect("there are some");
        Cover { shared: shared(rng), threads: locals(rng, n_threads) }
    };
    let (n_rules, n_starts, n_targets) = (rng.between(3, 16), rng.between(1, 2), rng.between(1, 2));
    Tts {
        n_shared: n_shared as u32,
        n_local: n_local as u32,
        rules: (0..n_rules).map(|_| rule(rng)).collect(),
        starts: (0..n_starts).map(|_| start(rng)).collect(),
        targets: (0..n_targets).map(|_| target(rng)).collect(),
    }
}

/// Generates a small system of which some rules transfer threads: about a third, to one state, to several of which each
/// thread chooses one, or, which removes them, to one from which nothing happens.
pub fn random_with_transfers(rng: &mut Rng) -> Tts {
    let mut tts = random(rng);
    let gone = LocalId::from_raw(tts.n_local);
    tts.n_local += 1;
    let n_local = tts.n_local as usize;
    for rule in &mut tts.rules {
        if !rng.percent(35) {
            continue;
        }
        for from in (0..n_local).map(LocalId::from).filter(|from| *from != gone) {
            if !rng.percent(30) {
                continue;
            }
            let n_ways = *rng.pick(&[1, 1, 1, 2, 3]).expect("there are some");
            let mut to: Vec<LocalId> = (0..n_ways).map(|_| LocalId::from(rng.below(n_local))).collect();
            to.sort_unstable();
            to.dedup();
            if to != [from] {
                rule.transfers.push((from, to));
            }
        }
    }
    tts
}

/// A comparison of all ways to decide coverability on random systems.
pub struct Coverability {
    random: fn(&mut Rng) -> Tts,
    compare: fn(&Tts, &mut Tally) -> Result<(), String>,
}

/// The comparison on systems without transfers.
pub const PLAIN: Coverability = Coverability { random, compare };

/// The comparison on systems whose rules transfer threads, with searches that share no code with the others: forwards
/// with few threads, and backwards.
pub const TRANSFERS: Coverability = Coverability { random: random_with_transfers, compare: compare_transfers };

impl Campaign for Coverability {
    type Subject = Tts;

    fn subject(&self, seed: u64, number: u64) -> Tts {
        (self.random)(&mut Rng::for_item(seed, number))
    }

    fn compare(&self, tts: &Tts, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        (self.compare)(tts, tally).or_else(|why| fault("coverability", why))
    }

    fn shrink(&self, tts: Tts, fails: &mut dyn FnMut(&Tts) -> bool) -> Tts {
        shrink(&tts, fails)
    }
}

/// Decides a system with transfers in all ways.
fn compare_transfers(tts: &Tts, tally: &mut Tally) -> Result<(), String> {
    let run = Run::unlimited();
    let rules = Rules::new(tts);
    let covered = verdict(tts, "backward", &backward::decide(&rules, &tts.targets, None, &run).map_err(stopped)?)?;
    match coverable(tts, MOST_ELEMENTS) {
        Some(expected) => agree(covered, expected, "the plain search backwards", tally)?,
        None => tally.count("too large for the plain search backwards"),
    }
    let forwards = reach(tts, MOST_THREADS, AtBound::Blocked, MOST_CONFIGURATIONS);
    if forwards.covered {
        let run = forwards.run.ok_or("the plain search forwards has no run")?;
        tts.replay(&run).map_err(|why| format!("the run of the plain search forwards does not replay: {why:?}"))?;
        agree(covered, true, "the plain search forwards", tally)?;
    }
    compare_directed(&rules, covered, tally)?;
    for k in 1..=2 {
        let table = views::table(&rules, k, &run).map_err(stopped)?;
        let name = format!("backward within {k}-views");
        let answer = backward::decide(&rules, &tts.targets, Some(&table), &run).map_err(stopped)?;
        agree(covered, verdict(tts, &name, &answer)?, &name, tally)?;
        compare_guesses(tts, &table, covered, tally)?;
        let lost = forwards.pairs.iter().find(|pair| table.thread_states().binary_search(pair).is_err());
        if let Some(pair) = lost {
            return Err(format!("{k}-views lack {pair:?}, which {MOST_THREADS} threads reach"));
        }
    }
    match decide(tts, Some(MOST_VIEWS), &run) {
        Ok(answer) => {
            agree(covered, verdict(tts, "views", &answer)?, "views", tally)?;
            tally.count("decided by a few threads");
        }
        Err(Stop::BoundReached(_)) => {}
        Err(stop) => return Err(stopped(stop)),
    }
    check_claims(tts, covered, tally)?;
    tally.count(if covered { "covered" } else { "uncovered" });
    Ok(())
}

/// Decides a system in all ways. An error is a sentence about the disagreement.
fn compare(tts: &Tts, tally: &mut Tally) -> Result<(), String> {
    let run = Run::unlimited();
    let rules = Rules::new(tts);
    let covered = verdict(tts, "backward", &backward::decide(&rules, &tts.targets, None, &run).map_err(stopped)?)?;
    compare_directed(&rules, covered, tally)?;
    for k in 1..=2 {
        let table = views::table(&rules, k, &run).map_err(stopped)?;
        let name = format!("backward within {k}-views");
        let answer = backward::decide(&rules, &tts.targets, Some(&table), &run).map_err(stopped)?;
        agree(covered, verdict(tts, &name, &answer)?, &name, tally)?;
        compare_guesses(tts, &table, covered, tally)?;
    }
    let proof = karp_miller::prove(&rules, &run).map_err(stopped)?;
    agree(covered, proof.is_none(), "karp-miller", tally)?;
    let answer = karp_miller::decide(&rules, &run).map_err(stopped)?.ok_or("the run of karp-miller is too long")?;
    agree(covered, verdict(tts, "karp-miller", &answer)?, "the run of karp-miller", tally)?;
    match decide(tts, Some(MOST_VIEWS), &run) {
        Ok(answer) => {
            agree(covered, verdict(tts, "views", &answer)?, "views", tally)?;
            tally.count("decided by a few threads");
        }
        Err(Stop::BoundReached(_)) => {}
        Err(stop) => return Err(stopped(stop)),
    }
    check_claims(tts, covered, tally)?;
    if let Some(cutoff) = compare_thread_states(&rules, &run)? {
        tally.count(format!("cutoff {cutoff}"));
    }
    tally.count(if covered { "covered" } else { "uncovered" });
    Ok(())
}

fn stopped(stop: Stop) -> String {
    format!("stopped: {stop}")
}

/// Checks that the search with guesses agrees, and that its claim is accepted.
fn compare_guesses(tts: &Tts, table: &views::Table, covered: bool, tally: &mut Tally) -> Result<(), String> {
    let run = &Run::unlimited();
    let name = format!("backward with guesses within {}-views", table.k());
    let answer = widening::decide(&Rules::new(tts), &tts.targets, Some(table), run).map_err(stopped)?;
    agree(covered, verdict(tts, &name, &answer)?, &name, tally)?;
    match &answer {
        Answer::Uncovered(basis) if verify_claim(tts, &certificate::basis(table, basis), run) != Ok(()) => {
            Err(format!("the judge rejects the claim of {name}: {basis:?}"))
        }
        _ => Ok(()),
    }
}

/// Checks that the directed search agrees, and that its claims are accepted.
fn compare_directed(rules: &Rules<'_>, covered: bool, tally: &mut Tally) -> Result<(), String> {
    let run = &Run::unlimited();
    let Some(answer) = net::decide(rules, usize::MAX, run).map_err(stopped)? else {
        tally.count("too large for the directed search");
        return Ok(());
    };
    agree(covered, verdict(rules.tts, "directed", &answer)?, "directed", tally)?;
    let Answer::Uncovered(proof) = answer else { return Ok(()) };
    for k in 1..=2 {
        let table = views::table(rules, k, run).map_err(stopped)?;
        let basis = proof.basis(&table, run).map_err(stopped)?.ok_or("the basis of the net is too large")?;
        if verify_claim(rules.tts, &certificate::basis(&table, &basis), run) != Ok(()) {
            return Err(format!("the judge rejects the claim of the directed search within {k}-views: {basis:?}"));
        }
        tally.count(if basis.weights.is_empty() { CERTIFICATES } else { "certificates with weights" });
    }
    Ok(())
}

/// Checks that the claims of all searches are accepted, and rejected if any part is missing; where a target can be
/// covered, the claims about the system without targets are rejected because of it.
fn check_claims(tts: &Tts, covered: bool, tally: &mut Tally) -> Result<(), String> {
    let run = &Run::unlimited();
    let without = Tts { targets: Vec::new(), ..tts.clone() };
    for (name, claim) in claims(tts, run).map_err(stopped)? {
        let wrong = |what: &str| Err(format!("{what} of {name}: {claim:?}"));
        if verify_claim(&without, &claim, run) != Ok(()) {
            return wrong("the judge rejects a closed claim");
        }
        match verify_claim(tts, &claim, run) {
            Ok(()) if covered => return wrong("the judge accepts a claim against a run"),
            Err(Refused::Flawed(Flaw::Target(_))) => continue,
            Ok(()) => tally.count(CERTIFICATES),
            Err(_) => return wrong("the judge blames something else"),
        }
        if let Some(mutant) = mutants(&claim).into_iter().find(|mutant| verify_claim(tts, mutant, run).is_ok()) {
            return Err(format!("the judge accepts {mutant:?} in the place of the claim of {name}"));
        }
    }
    Ok(())
}

/// Returns the claim of each search about a system.
fn claims(tts: &Tts, run: &Run<'_>) -> Result<Vec<(String, CoverClaim)>, Stop> {
    let rules = Rules::new(tts);
    let mut claims = Vec::new();
    for k in 1..=MOST_VIEWS {
        let table = views::table(&rules, k, run)?;
        claims.push((format!("{k}-views"), certificate::views(&table)));
        if let Answer::Uncovered(basis) = backward::decide(&rules, &tts.targets, Some(&table), run)? {
            claims.push((format!("backward within {k}-views"), certificate::basis(&table, &basis)));
        }
    }
    if !tts.has_transfers() {
        claims.push(("karp-miller".to_string(), certificate::vectors(&karp_miller::cover_set(&rules, run)?)));
    }
    Ok(claims)
}

/// Returns the claims without one part each. The searches claim as little as they can, so that every part is needed.
pub fn mutants(claim: &CoverClaim) -> Vec<CoverClaim> {
    match claim {
        CoverClaim::Views(table) => smaller_tables(table).into_iter().map(CoverClaim::Views).collect(),
        CoverClaim::Vectors(vectors) => without_one(vectors).into_iter().map(CoverClaim::Vectors).collect(),
        CoverClaim::Basis { within, weights, forbidden } => {
            let tables = smaller_tables(within);
            let (weights, table) = (weights.clone(), within.clone());
            let with_table =
                |within| CoverClaim::Basis { within, weights: weights.clone(), forbidden: forbidden.clone() };
            let with_basis =
                |forbidden| CoverClaim::Basis { within: table.clone(), weights: weights.clone(), forbidden };
            tables.into_iter().map(with_table).chain(without_one(forbidden).into_iter().map(with_basis)).collect()
        }
        // No search over a bare system makes this claim.
        CoverClaim::Adequacy(_) => Vec::new(),
    }
}

fn smaller_tables(table: &ViewTable) -> Vec<ViewTable> {
    let mut smaller: Vec<ViewTable> =
        without_one(&table.shareds).into_iter().map(|shareds| ViewTable { shareds, ..table.clone() }).collect();
    for (number, row) in table.rows.iter().enumerate() {
        for last in without_one(&row.last) {
            let mut table = table.clone();
            table.rows[number].last = last;
            smaller.push(table);
        }
    }
    smaller
}

/// Compares the sets of thread states; returns the cutoff, where it was proved.
fn compare_thread_states(rules: &Rules<'_>, run: &Run<'_>) -> Result<Option<usize>, String> {
    let exact = karp_miller::cover_set(rules, run).map_err(stopped)?.thread_states();
    if exact != backward::thread_states(rules, run).map_err(stopped)? {
        return Err("karp-miller and backward cover other thread states".into());
    }
    let all: BTreeSet<(SharedId, LocalId)> = exact.iter().copied().collect();
    let mut known = BTreeSet::new();
    for n in 1..=MOST_THREADS {
        let reached: BTreeSet<_> = bounded::thread_states(rules, n, run).map_err(stopped)?.into_iter().collect();
        if !reached.is_subset(&all) || !known.is_subset(&reached) {
            return Err(format!("{n} threads reach what cannot be covered, or less than fewer do"));
        }
        known = reached;
    }
    for k in 1..=MOST_VIEWS {
        let admitted: BTreeSet<_> = views::table(rules, k, run).map_err(stopped)?.thread_states().into_iter().collect();
        if !all.is_subset(&admitted) {
            return Err(format!("{k}-views lack what can be covered"));
        }
    }
    let effort = Effort { most: Some(MOST_THREADS), most_views: 2, exact: true };
    let found = cutoff::search(rules, effort, run).map_err(stopped)?.cutoff;
    let reached = found.reached[found.plateau() - 1];
    if found.proof.is_some() && reached != all.len() {
        return Err(format!("{:?} proves a wrong cutoff", found.proof));
    }
    Ok(found.proof.map(|_| found.plateau()))
}

/// Returns whether a target is covered, after following the run.
fn verdict<P>(tts: &Tts, name: &str, answer: &Answer<P>) -> Result<bool, String> {
    match answer {
        Answer::Covered(run) => {
            tts.replay(run).map_err(|why| format!("{name}: its run does not replay: {why:?}"))?;
            Ok(true)
        }
        Answer::Uncovered(_) => Ok(false),
    }
}

fn agree(expected: bool, found: bool, name: &str, tally: &mut Tally) -> Result<(), String> {
    tally.count(COMPARISONS);
    if expected == found { Ok(()) } else { Err(format!("backward says covered: {expected}; {name}: {found}")) }
}

//! Checks that a set of configurations of a thread-transition system contains the starts, is closed under the rules,
//! and has no target.
//!
//! Nothing here is computed that the claim does not say: each check is a walk over what is listed.

use std::collections::BTreeMap;

use selvedge_check::{CoverClaim, OmegaVector, Run, ViewTable, Weighting};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

use super::super::{Flaw, Refused, Unjudged};
use super::start::LIMIT;
use super::views::Views;
use super::weights::Weights;

/// Checks that a claim proves that no target of the system can be covered.
pub fn verify_claim(tts: &Tts, claim: &CoverClaim, run: &Run<'_>) -> Result<(), Refused> {
    match claim {
        CoverClaim::Views(table) => Basis::new(tts, table, &[], &[], run)?.check(tts, run),
        CoverClaim::Basis { within, weights, forbidden } => {
            Basis::new(tts, within, weights, forbidden, run)?.check(tts, run)
        }
        CoverClaim::Vectors(vectors) => Vectors::new(tts, vectors)?.check(tts, run),
        // The claim does not state the kinds of the threads.
        CoverClaim::Adequacy(_) => Err(Flaw::Malformed(None).into()),
    }
}

/// The thread states that a claim may allow: a step of any other need not be looked at.
pub(super) fn thread_states(claim: &CoverClaim) -> Vec<(SharedId, LocalId)> {
    let mut states: Vec<(SharedId, LocalId)> = match claim {
        CoverClaim::Views(table) | CoverClaim::Basis { within: table, .. } => {
            let single = table.rows.iter().filter(|row| row.threads.is_empty());
            single.flat_map(|row| row.last.iter().map(|local| (row.shared, *local))).collect()
        }
        CoverClaim::Vectors(vectors) => {
            let states = |vector: &OmegaVector| {
                vector.counts.iter().map(|(local, _)| (vector.shared, *local)).collect::<Vec<_>>()
            };
            vectors.iter().flat_map(states).collect()
        }
        CoverClaim::Adequacy(claim) => {
            let states = claim.turns.iter().flat_map(|turn| &turn.states);
            states.filter_map(|state| Some((state.shared, state.local?))).collect()
        }
    };
    states.sort_unstable();
    states.dedup();
    states
}

/// Numbers of threads; `None` is any number.
type Counts = BTreeMap<LocalId, Option<u32>>;

/// Returns whether there are at least as many threads everywhere.
fn below(less: &Counts, more: &Counts) -> bool {
    less.iter().all(|(local, count)| match (count, more.get(local)) {
        (_, Some(None)) => true,
        (Some(count), Some(Some(bound))) => count <= bound,
        (Some(0), None) => true,
        _ => false,
    })
}

fn counts(threads: &[LocalId]) -> Counts {
    let mut counts = Counts::new();
    threads.iter().for_each(|local| add(&mut counts, *local));
    counts
}

fn add(counts: &mut Counts, local: LocalId) {
    if let Some(count) = counts.entry(local).or_insert(Some(0)) {
        *count = count.saturating_add(1);
    }
}

/// One thread less, if there is one.
fn take(counts: &mut Counts, local: LocalId) -> bool {
    match counts.get_mut(&local) {
        None => false,
        Some(None) => true,
        Some(Some(1)) => counts.remove(&local).is_some(),
        Some(Some(count)) => {
            *count -= 1;
            true
        }
    }
}

/// The largest configurations of a start.
fn all_of(start: &Start) -> Counts {
    let mut all = counts(&start.threads);
    all.extend(start.any.iter().map(|local| (*local, None)));
    all
}

/// A set of vectors, by their shared states.
struct Vectors(BTreeMap<SharedId, Vec<Counts>>);

impl Vectors {
    fn new(tts: &Tts, vectors: &[OmegaVector]) -> Result<Vectors, Refused> {
        let mut by_shared: BTreeMap<SharedId, Vec<Counts>> = BTreeMap::new();
        for vector in vectors {
            // A number that a rule can only raise, never to one that cannot be written.
            let counts = |count: u32| (1..u32::MAX / 2).contains(&count);
            let known = |(local, count): &(LocalId, Option<u32>)| local.raw() < tts.n_local && count.is_none_or(counts);
            let in_order = vector.counts.is_sorted_by(|left, right| left.0 < right.0);
            if vector.shared.raw() >= tts.n_shared || !in_order || !vector.counts.iter().all(known) {
                return Err(Flaw::Malformed(None).into());
            }
            by_shared.entry(vector.shared).or_default().push(vector.counts.iter().copied().collect());
        }
        Ok(Vectors(by_shared))
    }

    fn allows(&self, shared: SharedId, counts: &Counts) -> bool {
        self.0.get(&shared).is_some_and(|vectors| vectors.iter().any(|vector| below(counts, vector)))
    }

    fn check(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused> {
        if tts.has_transfers() {
            return Err(
                Unjudged::Beyond("a claim with numbers of threads is not judged where steps transfer threads").into()
            );
        }
        none(&tts.starts, Flaw::Initial, run, |start| !self.allows(start.shared, &all_of(start)))?;
        for (id, rule) in tts.rules.iter_enumerated() {
            for vector in self.0.get(&rule.shared).into_iter().flatten() {
                run.tick()?;
                let mut after = vector.clone();
                if !take(&mut after, rule.local) {
                    continue;
                }
                rule.after.iter().for_each(|local| add(&mut after, *local));
                if !self.allows(rule.shared_after, &after) {
                    return Err(Flaw::Rule(id.index()).into());
                }
            }
        }
        none(&tts.targets, Flaw::Target, run, |target| self.allows(target.shared, &counts(&target.threads)))
    }
}

/// Returns the flaw of the first one that is wrong, if there is one.
fn none<T>(all: &[T], flaw: fn(usize) -> Flaw, run: &Run<'_>, is_wrong: impl Fn(&T) -> bool) -> Result<(), Refused> {
    for (number, one) in all.iter().enumerate() {
        run.tick()?;
        if is_wrong(one) {
            return Err(flaw(number).into());
        }
    }
    Ok(())
}

/// A table of views, weights, and forbidden configurations, by their shared states, among those that both admit.
struct Basis {
    views: Views,
    weights: Vec<Weights>,
    forbidden: BTreeMap<SharedId, Vec<Counts>>,
}

impl Basis {
    fn new(
        tts: &Tts,
        within: &ViewTable,
        weights: &[Weighting],
        forbidden: &[Cover],
        run: &Run<'_>,
    ) -> Result<Basis, Refused> {
        let mut by_shared: BTreeMap<SharedId, Vec<Counts>> = BTreeMap::new();
        for cover in forbidden {
            if cover.shared.raw() >= tts.n_shared || cover.threads.iter().any(|local| local.raw() >= tts.n_local) {
                return Err(Flaw::Malformed(None).into());
            }
            by_shared.entry(cover.shared).or_default().push(counts(&cover.threads));
        }
        let weights = weights.iter().map(|one| Weights::new(tts, one)).collect::<Result<_, _>>()?;
        Ok(Basis { views: Views::new(tts, within, run)?, weights, forbidden: by_shared })
    }

    fn forbids(&self, shared: SharedId, threads: &Counts) -> bool {
        self.forbidden.get(&shared).is_some_and(|forbidden| forbidden.iter().any(|least| below(least, threads)))
    }

    /// Returns whether everything above a configuration is excluded: as forbidden, by weights, or by the table.
    fn excludes(&self, shared: SharedId, threads: &Counts) -> bool {
        let counts = || threads.iter().map(|(local, count)| (*local, count.expect("it is not a vector")));
        let listed = counts().flat_map(|(local, count)| std::iter::repeat_n(local, count as usize));
        self.forbids(shared, threads)
            || self.weights.iter().any(|weights| weights.exclude(shared, counts()))
            || !self.views.admits(shared, listed)
    }

    fn check(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused> {
        self.views.check_closed(tts, run)?;
        self.weights.iter().try_for_each(|weights| weights.check(tts, run))?;
        none(&tts.starts, Flaw::Initial, run, |start| self.forbids(start.shared, &all_of(start)))?;
        for (id, rule) in tts.rules.iter_enumerated() {
            for least in self.forbidden.get(&rule.shared_after).into_iter().flatten() {
                run.tick()?;
                for before in before(rule, least, run)? {
                    run.tick()?;
                    if !self.excludes(rule.shared, &before) {
                        return Err(Flaw::Rule(id.index()).into());
                    }
                }
            }
        }
        none(&tts.targets, Flaw::Target, run, |target| !self.excludes(target.shared, &counts(&target.threads)))
    }
}

/// Configurations from which a rule leads to one above another; whatever it leads from to one above it is above one of
/// them. The threads that the rule does not put were other threads before: each in one of the states whose threads may
/// go where it is.
fn before(rule: &Rule, after: &Counts, run: &Run<'_>) -> Result<Vec<Counts>, Refused> {
    let mut left = after.clone();
    for local in &rule.after {
        take(&mut left, *local);
    }
    let mut all = vec![counts(&[rule.local])];
    for (local, count) in left {
        let stays = (!rule.transfers(local)).then_some(local);
        let moved = rule.transfers.iter().filter(|(_, to)| to.contains(&local)).map(|(from, _)| *from);
        let from: Vec<LocalId> = stays.into_iter().chain(moved).collect();
        for _ in 0..count.expect("it is not a vector") {
            let mut longer: Vec<Counts> = Vec::new();
            for (before, local) in all.iter().flat_map(|before| from.iter().map(move |local| (before, local))) {
                run.tick()?;
                let mut before = before.clone();
                add(&mut before, *local);
                longer.push(before);
            }
            longer.sort_unstable();
            longer.dedup();
            if longer.len() > LIMIT {
                return Err(Unjudged::Beyond("threads may be transferred in too many ways").into());
            }
            all = longer;
        }
    }
    Ok(all)
}

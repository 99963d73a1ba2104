//! Checks that a set of configurations of a thread-transition system contains the starts, is closed under the rules,
//! and has no target.
//!
//! Nothing here is computed that the claim does not say: each check is a walk over what is listed.

use std::collections::BTreeMap;

use selvedge_check::{CoverClaim, OmegaVector, Run};
use selvedge_ir::tts::{Cover, LocalId, Rule, RuleId, SharedId, Start, Tts};

use super::super::Refused;
use super::views::Views;

/// Why a claim about a thread-transition system proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverFlaw {
    /// It does not allow every configuration of the start with this number.
    Start(usize),
    /// It is not closed under this rule.
    Rule(RuleId),
    /// It allows the target with this number.
    Target(usize),
    /// Something in it is out of range or out of order.
    Malformed,
}

impl From<CoverFlaw> for Refused<CoverFlaw> {
    fn from(flaw: CoverFlaw) -> Refused<CoverFlaw> {
        Refused::Flawed(flaw)
    }
}

/// Checks that a claim proves that no target of the system can be covered.
pub fn verify_claim(tts: &Tts, claim: &CoverClaim, run: &Run<'_>) -> Result<(), Refused<CoverFlaw>> {
    match claim {
        CoverClaim::Views(table) => {
            let views = Views::new(tts, table)?;
            views.check_closed(tts, run)?;
            match tts.targets.iter().position(|target| views.admits(target.shared, &target.threads)) {
                Some(target) => Err(CoverFlaw::Target(target).into()),
                None => Ok(()),
            }
        }
        CoverClaim::Vectors(vectors) => Vectors::new(tts, vectors)?.check(tts, run),
        CoverClaim::Basis { within, forbidden } => {
            let views = Views::new(tts, within)?;
            views.check_closed(tts, run)?;
            Basis::new(tts, &views, forbidden)?.check(tts, run)
        }
        // The claim does not state the kinds of the threads.
        CoverClaim::Adequacy(_) => Err(CoverFlaw::Malformed.into()),
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
    fn new(tts: &Tts, vectors: &[OmegaVector]) -> Result<Vectors, Refused<CoverFlaw>> {
        let mut by_shared: BTreeMap<SharedId, Vec<Counts>> = BTreeMap::new();
        for vector in vectors {
            let known = |(local, count): &(LocalId, Option<u32>)| local.raw() < tts.n_local && *count != Some(0);
            let in_order = vector.counts.is_sorted_by(|left, right| left.0 < right.0);
            if vector.shared.raw() >= tts.n_shared || !in_order || !vector.counts.iter().all(known) {
                return Err(CoverFlaw::Malformed.into());
            }
            by_shared.entry(vector.shared).or_default().push(vector.counts.iter().copied().collect());
        }
        Ok(Vectors(by_shared))
    }

    fn allows(&self, shared: SharedId, counts: &Counts) -> bool {
        self.0.get(&shared).is_some_and(|vectors| vectors.iter().any(|vector| below(counts, vector)))
    }

    fn check(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused<CoverFlaw>> {
        if let Some(start) = tts.starts.iter().position(|start| !self.allows(start.shared, &all_of(start))) {
            return Err(CoverFlaw::Start(start).into());
        }
        for (id, rule) in tts.rules.iter_enumerated() {
            for vector in self.0.get(&rule.shared).into_iter().flatten() {
                run.tick()?;
                let mut after = vector.clone();
                if !take(&mut after, rule.local) {
                    continue;
                }
                rule.after.iter().for_each(|local| add(&mut after, *local));
                if !self.allows(rule.shared_after, &after) {
                    return Err(CoverFlaw::Rule(id).into());
                }
            }
        }
        match tts.targets.iter().position(|target| self.allows(target.shared, &counts(&target.threads))) {
            Some(target) => Err(CoverFlaw::Target(target).into()),
            None => Ok(()),
        }
    }
}

/// Forbidden configurations, by their shared states, among those that a closed table admits.
struct Basis<'v> {
    views: &'v Views,
    forbidden: BTreeMap<SharedId, Vec<Counts>>,
}

impl<'v> Basis<'v> {
    fn new(tts: &Tts, views: &'v Views, forbidden: &[Cover]) -> Result<Basis<'v>, Refused<CoverFlaw>> {
        let mut by_shared: BTreeMap<SharedId, Vec<Counts>> = BTreeMap::new();
        for cover in forbidden {
            if cover.shared.raw() >= tts.n_shared || cover.threads.iter().any(|local| local.raw() >= tts.n_local) {
                return Err(CoverFlaw::Malformed.into());
            }
            by_shared.entry(cover.shared).or_default().push(counts(&cover.threads));
        }
        Ok(Basis { views, forbidden: by_shared })
    }

    /// Returns whether everything above a configuration is excluded: by the table, or as forbidden.
    fn excludes(&self, shared: SharedId, threads: &Counts) -> bool {
        let forbidden = self.forbidden.get(&shared);
        if forbidden.is_some_and(|forbidden| forbidden.iter().any(|least| below(least, threads))) {
            return true;
        }
        let listed: Vec<LocalId> = threads
            .iter()
            .flat_map(|(local, count)| std::iter::repeat_n(*local, count.expect("it is no vector") as usize))
            .collect();
        !self.views.admits(shared, &listed)
    }

    fn check(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused<CoverFlaw>> {
        for (number, start) in tts.starts.iter().enumerate() {
            let all = all_of(start);
            let forbidden = self.forbidden.get(&start.shared);
            if forbidden.is_some_and(|forbidden| forbidden.iter().any(|least| below(least, &all))) {
                return Err(CoverFlaw::Start(number).into());
            }
        }
        for (id, rule) in tts.rules.iter_enumerated() {
            for least in self.forbidden.get(&rule.shared_after).into_iter().flatten() {
                run.tick()?;
                if !self.excludes(rule.shared, &before(rule, least)) {
                    return Err(CoverFlaw::Rule(id).into());
                }
            }
        }
        let allowed = |target: &Cover| !self.excludes(target.shared, &counts(&target.threads));
        match tts.targets.iter().position(allowed) {
            Some(target) => Err(CoverFlaw::Target(target).into()),
            None => Ok(()),
        }
    }
}

/// The least configuration from which a rule leads to one above another.
fn before(rule: &Rule, after: &Counts) -> Counts {
    let mut before = after.clone();
    for local in &rule.after {
        take(&mut before, *local);
    }
    add(&mut before, rule.local);
    before
}

//! Checks that a number of rounds is enough (La Torre, Madhusudan and Parlato, 2010, §5).
//!
//! The claim is about a system whose steps are all real. The check has three parts:
//!
//! 1. *Turns.* Each state of a turn follows from one that is listed before it, the first ones from the end of the turn
//!    before or from a start: so every turn is that of a real thread, whatever its neighbours would have to do. And all
//!    steps lead to listed states, none of which is an error.
//! 2. *Blocks.* The turns, left blocks and right blocks that are listed contain those of all executions of `k + 1`
//!    rounds: the equations of section 4 lead to nothing that is not listed. More may be listed, which helps Eve only.
//! 3. *The game.* From each position, and from the start, whatever thread Eve adds, Adam adds one of the same kind, in
//!    the same state at its end, so that the position is listed. Where her rounds are wrapped, so are his, with the
//!    same shared state at the end. His threads are real by the first part, so a wrapped block of his is an execution.
//!
//! Then each configuration after `k + 1` rounds is one after `k` rounds, of the same threads in the same order. By
//! induction that holds for all later rounds, and an error in one of them is one within `k + 1`, where there is none.
//! Configurations in the middle of a round count as well: the other threads idle.

use std::collections::{BTreeSet, HashMap, HashSet};

use selvedge_check::adequacy::{Block, Position, Turn};
use selvedge_check::{AdequacyClaim, Run, Stop};
use selvedge_ir::tts::{LocalId, RuleId, SharedId, Tts};

use super::super::{Flaw, MOST_SEEN, Refused, at_most};

/// A system in which threads are of certain kinds.
pub(super) struct Kinds<'s> {
    pub(super) tts: &'s Tts,
    /// The shared states in which threads come to life.
    pub(super) first: BTreeSet<SharedId>,
    /// The states in which threads of each kind begin.
    pub(super) begin: Vec<BTreeSet<LocalId>>,
    /// The number of threads of a kind that a run may have; none if that is not limited.
    pub(super) limits: Vec<Option<u32>>,
}

/// Checks a claim.
pub(super) fn verify(kinds: &Kinds<'_>, claim: &AdequacyClaim, run: &Run<'_>) -> Result<(), Refused> {
    at_most(claim.k as usize, MOST_SEEN)?;
    let check = Check::new(kinds, claim, run)?;
    check.turns()?;
    for round in 1..=claim.k as usize + 1 {
        check.left(round)?;
        check.histories(round)?;
        if round <= claim.k as usize {
            check.right(round)?;
        }
    }
    check.game()
}

type Vector = Vec<SharedId>;

/// Blocks by their two vectors: how many threads they have.
type Blocks<'c> = HashMap<(&'c [SharedId], &'c [SharedId]), Vec<&'c [u32]>>;

/// The past of a thread of a kind: with which states its turns began, and with which all but the last ended.
type Past = (u32, Vector, Vector);

struct Check<'c> {
    run: &'c Run<'c>,
    kinds: &'c Kinds<'c>,
    /// The numbers of threads that a run may have, of the kinds of which that is limited.
    limits: Vec<u32>,
    claim: &'c AdequacyClaim,
    rules: HashMap<(SharedId, LocalId), Vec<RuleId>>,
    /// The numbers of the targets.
    targets: HashMap<(SharedId, LocalId), usize>,
    /// The past of each turn.
    pasts: Vec<Past>,
    numbers: HashMap<Past, usize>,
    /// The turns by the states with which all of them began.
    by_begin: HashMap<Vector, Vec<usize>>,
    /// The turns by the states with which all of them ended.
    by_end: HashMap<Vector, BTreeSet<usize>>,
    /// For each round the blocks by their two vectors.
    left: Vec<Blocks<'c>>,
    right: Vec<Blocks<'c>>,
    positions: HashSet<&'c Position>,
}

impl<'c> Check<'c> {
    /// Looks through a claim: everything fits.
    fn new(kinds: &'c Kinds<'c>, claim: &'c AdequacyClaim, run: &'c Run<'c>) -> Result<Check<'c>, Refused> {
        let k = claim.k as usize;
        check(k > 0 && claim.left.len() == k + 1 && claim.right.len() == k)?;
        let pasts = pasts(claim, kinds, run)?;
        let mut rules: HashMap<_, Vec<RuleId>> = HashMap::new();
        for (id, rule) in kinds.tts.rules.iter_enumerated() {
            check(rule.after.len() == usize::from(rule.goes_on) && rule.transfers.is_empty())?;
            rules.entry((rule.shared, rule.local)).or_default().push(id);
        }
        let mut targets = HashMap::new();
        for (number, target) in kinds.tts.targets.iter().enumerate() {
            let [local] = target.threads[..] else { return Err(Flaw::Malformed(None).into()) };
            targets.entry((target.shared, local)).or_insert(number);
        }
        let numbers: HashMap<Past, usize> = pasts.iter().cloned().zip(0..).collect();
        let mut by_begin: HashMap<Vector, Vec<usize>> = HashMap::new();
        let mut by_end: HashMap<Vector, BTreeSet<usize>> = HashMap::new();
        for (number, (_, begins, ends)) in pasts.iter().enumerate() {
            by_begin.entry(begins.clone()).or_default().push(number);
            for state in &claim.turns[number].states {
                by_end.entry(extended(ends, state.shared)).or_default().insert(number);
            }
        }
        let limits: Vec<u32> = kinds.limits.iter().flatten().copied().collect();
        let blocks = |lists: &'c [Vec<Block>], less: usize| -> Result<Vec<_>, Refused> {
            let lengths = |round: usize| [limits.len(), round + 1, round + 1 - less];
            lists.iter().enumerate().map(|(round, list)| indexed(list, lengths(round))).collect()
        };
        let (left, right) = (blocks(&claim.left, 1)?, blocks(&claim.right, 0)?);
        let fits = |position: &Position| {
            let lengths = [&position.eve[0], &position.eve[1], &position.adam[0], &position.adam[1]].map(Vec::len);
            position.used.len() == limits.len() && lengths == [k + 1, k, k, k - 1]
        };
        check(numbers.len() == pasts.len() && claim.positions.iter().all(fits))?;
        let positions = claim.positions.iter().collect();
        Ok(Check {
            run,
            kinds,
            limits,
            claim,
            rules,
            targets,
            pasts,
            numbers,
            by_begin,
            by_end,
            left,
            right,
            positions,
        })
    }

    /// One thread of a kind more; none if a run may not have it.
    fn more(&self, used: &[u32], kind: u32) -> Option<Vec<u32>> {
        let mut used = used.to_vec();
        if let Some(limit) = self.kinds.limits[kind as usize] {
            let place = self.kinds.limits[..kind as usize].iter().flatten().count();
            used[place] = used[place].saturating_add(1);
            if used[place] > limit {
                return None;
            }
        }
        Some(used)
    }

    /// Returns whether a block fits beside one of some others.
    fn fits(&self, used: &[u32], others: Option<&Vec<&[u32]>>) -> Result<bool, Stop> {
        self.run.tick()?;
        let fit = |other: &&[u32]| {
            used.iter().zip(*other).zip(&self.limits).all(|((one, other), most)| one.saturating_add(*other) <= *most)
        };
        Ok(others.is_some_and(|others| others.iter().any(fit)))
    }

    fn turns(&self) -> Result<(), Refused> {
        for turn in &self.claim.turns {
            self.run.tick()?;
            let begins: BTreeSet<Option<LocalId>> = match turn.before {
                None => self.kinds.begin[turn.kind as usize].iter().copied().map(Some).collect(),
                Some((before, ended)) => {
                    let ends = self.claim.turns[before as usize].states.iter();
                    ends.filter(|state| state.shared == ended).map(|state| state.local).collect()
                }
            };
            self.turn(turn, &begins)?;
        }
        Ok(())
    }

    /// One turn, which begins with these states of the thread.
    fn turn(&self, turn: &Turn, begins: &BTreeSet<Option<LocalId>>) -> Result<(), Refused> {
        let listed: HashSet<_> = turn.states.iter().map(|state| (state.shared, state.local)).collect();
        let all = begins.iter().all(|local| listed.contains(&(turn.begun, *local)));
        check(listed.len() == turn.states.len() && all)?;
        for (number, state) in turn.states.iter().enumerate() {
            self.run.tick()?;
            let is_real = match state.from {
                None => state.shared == turn.begun && begins.contains(&state.local),
                Some(from) => turn.states[..number].get(from as usize).is_some_and(|from| {
                    self.successors(from.shared, from.local).any(|(_, after)| after == (state.shared, state.local))
                }),
            };
            check(is_real)?;
            if let Some(number) = state.local.and_then(|local| self.targets.get(&(state.shared, local))) {
                return Err(Flaw::Target(*number).into());
            }
            let mut after = self.successors(state.shared, state.local);
            if let Some((rule, _)) = after.find(|(_, after)| !listed.contains(after)) {
                return Err(Flaw::Rule(rule.index()).into());
            }
        }
        Ok(())
    }

    fn successors(
        &self,
        shared: SharedId,
        local: Option<LocalId>,
    ) -> impl Iterator<Item = (RuleId, (SharedId, Option<LocalId>))> {
        let rules = local.and_then(|local| self.rules.get(&(shared, local)));
        rules.into_iter().flatten().map(|id| {
            let rule = &self.kinds.tts.rules[*id];
            (*id, (rule.shared_after, rule.after.first().copied()))
        })
    }

    /// The left blocks of a round: the empty one, and those that are longer by one thread.
    fn left(&self, round: usize) -> Result<(), Refused> {
        let no_threads = vec![0; self.limits.len()];
        let has = |used: &[u32], begins: &[SharedId], ends: &[SharedId]| has(&self.left[round - 1], used, begins, ends);
        if round == 1 {
            check(self.kinds.first.iter().all(|first| has(&no_threads, &[*first], &[])))?;
        }
        for block in self.claim.right[..round - 1].last().into_iter().flatten() {
            let begins = &block.begins;
            let (last, ends) = block.ends.split_last().ok_or(Flaw::Malformed(None))?;
            if self.kinds.first.contains(&begins[0]) && begins[1..] == *ends {
                check(has(&no_threads, &extended(begins, *last), &block.ends))?;
            }
        }
        for block in &self.claim.left[round - 1] {
            for (number, used) in self.next_threads(&block.used, &block.begins) {
                self.run.tick()?;
                for after in self.ends(number) {
                    check(!self.is_wanted(round, &used, &after, &block.ends)? || has(&used, &after, &block.ends))?;
                }
            }
        }
        Ok(())
    }

    /// The turns of threads that may come behind a block, with what the block then has.
    fn next_threads(&self, used: &[u32], begins: &[SharedId]) -> impl Iterator<Item = (usize, Vec<u32>)> {
        let turns = self.by_begin.get(begins).into_iter().flatten();
        turns.filter_map(move |number| Some((*number, self.more(used, self.pasts[*number].0)?)))
    }

    /// With which shared states a thread can have ended its turns.
    fn ends(&self, number: usize) -> BTreeSet<Vector> {
        let states = self.claim.turns[number].states.iter();
        states.map(|state| extended(&self.pasts[number].2, state.shared)).collect()
    }

    /// Returns whether some right block of the round before fits behind a left block.
    fn is_wanted(&self, round: usize, used: &[u32], begins: &[SharedId], ends: &[SharedId]) -> Result<bool, Stop> {
        Ok(round == 1 || self.fits(used, self.right[round - 2].get(&(&begins[..round - 1], ends)))?)
    }

    /// All threads that go on between the blocks have turns.
    fn histories(&self, round: usize) -> Result<(), Refused> {
        for block in &self.claim.left[round - 1] {
            let (begun, before) = block.begins.split_last().ok_or(Flaw::Malformed(None))?;
            if round == 1 {
                for kind in 0..self.kinds.limits.len() as u32 {
                    let listed = || self.numbers.contains_key(&(kind, vec![*begun], Vec::new()));
                    check(self.more(&block.used, kind).is_none() || listed())?;
                }
                continue;
            }
            for (number, used) in self.next_threads(&block.used, before) {
                self.run.tick()?;
                for ends in self.ends(number) {
                    if self.fits(&used, self.right[round - 2].get(&(&ends[..], &block.ends[..])))? {
                        let past = (self.pasts[number].0, block.begins.clone(), ends);
                        check(self.numbers.contains_key(&past))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The right blocks of a round: the empty one, and those that are longer by one thread.
    fn right(&self, round: usize) -> Result<(), Refused> {
        let no_threads = vec![0; self.limits.len()];
        let has =
            |used: &[u32], begins: &[SharedId], ends: &[SharedId]| has(&self.right[round - 1], used, begins, ends);
        for block in &self.claim.left[round - 1] {
            if block.begins[..round - 1] == block.ends {
                check(has(&no_threads, &block.begins, &block.begins))?;
            }
        }
        for block in &self.claim.right[round - 1] {
            for number in self.by_end.get(&block.begins).into_iter().flatten() {
                self.run.tick()?;
                let (kind, begins, _) = &self.pasts[*number];
                let Some(used) = self.more(&block.used, *kind) else { continue };
                let wanted = self.left[round - 1].get(&(&begins[..], &block.ends[..round - 1]));
                check(!self.fits(&used, wanted)? || has(&used, begins, &block.ends))?;
            }
        }
        Ok(())
    }

    /// Adam has an answer to every move.
    fn game(&self) -> Result<(), Refused> {
        let k = self.claim.k as usize;
        // His first thread begins its turns as he likes: with a first state, and then with any.
        let is_opening = |begins: &&Vector| begins.len() == k && self.kinds.first.contains(&begins[0]);
        let openings = self.by_begin.keys().filter(is_opening);
        let openings: Vec<(&[SharedId], &[SharedId])> = openings.map(|begins| (&begins[..], &begins[1..])).collect();
        for block in &self.claim.left[k] {
            let is_empty = block.used.iter().all(|used| *used == 0)
                && self.kinds.first.contains(&block.begins[0])
                && block.begins[1..] == block.ends;
            if is_empty {
                self.answered(&block.used, [&block.begins, &block.ends], &openings)?;
            }
        }
        for position in &self.claim.positions {
            let ([begins, ends], [his, his_ends]) = (&position.eve, &position.adam);
            let is_wrapped = his[..k - 1] == *his_ends && his[k - 1] == begins[k];
            check(begins[..k] != *ends || is_wrapped)?;
            self.answered(&position.used, [begins, ends], &[(his, his_ends)])?;
        }
        Ok(())
    }

    /// Returns whether Adam, whose block is one of these, can answer every move of Eve.
    fn answered(
        &self,
        used: &[u32],
        [begins, ends]: [&Vector; 2],
        his: &[(&[SharedId], &[SharedId])],
    ) -> Result<(), Refused> {
        let k = self.claim.k as usize;
        for (number, used) in self.next_threads(used, begins) {
            let kind = self.pasts[number].0;
            let moves: BTreeSet<_> =
                self.claim.turns[number].states.iter().map(|state| (state.shared, state.local)).collect();
            for (shared, local) in moves {
                self.run.tick()?;
                let after = extended(&self.pasts[number].2, shared);
                if !has(&self.left[k], &used, &after, ends) {
                    continue;
                }
                let mut position =
                    Position { used: used.clone(), eve: [after, ends.clone()], adam: [Vec::new(), Vec::new()] };
                let mut found = false;
                'answers: for (begins, his_ends) in his {
                    position.adam[1] = his_ends.to_vec();
                    for own in self.by_begin.get(*begins).into_iter().flatten() {
                        self.run.tick()?;
                        let (own_kind, _, own_ends) = &self.pasts[*own];
                        let mut states = self.claim.turns[*own].states.iter().filter(|state| state.local == local);
                        found = *own_kind == kind
                            && states.any(|state| {
                                position.adam[0] = extended(own_ends, state.shared);
                                self.positions.contains(&position)
                            });
                        if found {
                            break 'answers;
                        }
                    }
                }
                check(found)?;
            }
        }
        Ok(())
    }
}

fn has(blocks: &Blocks<'_>, used: &[u32], begins: &[SharedId], ends: &[SharedId]) -> bool {
    blocks.get(&(begins, ends)).is_some_and(|blocks| blocks.contains(&used))
}

fn check(holds: bool) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(Flaw::Malformed(None).into()) }
}

fn extended(vector: &[SharedId], last: SharedId) -> Vector {
    vector.iter().copied().chain([last]).collect()
}

/// The pasts of all turns.
fn pasts(claim: &AdequacyClaim, kinds: &Kinds<'_>, run: &Run<'_>) -> Result<Vec<Past>, Refused> {
    let mut pasts: Vec<Past> = Vec::with_capacity(claim.turns.len());
    for turn in &claim.turns {
        run.tick()?;
        let past = match turn.before {
            None => (turn.kind, vec![turn.begun], Vec::new()),
            Some((before, ended)) => {
                let (kind, begins, ends) = pasts.get(before as usize).ok_or(Flaw::Malformed(None))?;
                (*kind, extended(begins, turn.begun), extended(ends, ended))
            }
        };
        let is_known = past.0 == turn.kind && (turn.kind as usize) < kinds.limits.len();
        check(is_known && past.1.len() <= claim.k as usize + 1)?;
        pasts.push(past);
    }
    Ok(pasts)
}

/// Blocks by their vectors, whose lengths must be these.
fn indexed(list: &[Block], lengths: [usize; 3]) -> Result<Blocks<'_>, Refused> {
    let mut table = Blocks::new();
    for block in list {
        check([block.used.len(), block.begins.len(), block.ends.len()] == lengths)?;
        table.entry((&block.begins[..], &block.ends[..])).or_default().push(&block.used);
    }
    Ok(table)
}

#[cfg(test)]
mod tests;

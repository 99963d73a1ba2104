//! Claims about rounds, on small random systems. What turns, blocks and positions there are is computed here once more,
//! from the equations and as sets: the least claim is accepted exactly if Adam wins with it, and each part of it that
//! is missing or wrong is noticed.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::adequacy::{Block, Position, Turn, TurnState};
use selvedge_check::{AdequacyClaim, Run};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Tts};

use super::{Kinds, verify};
use crate::certificate::{Flaw, Refused, Unjudged};

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

type Vector = Vec<SharedId>;
type Used = Vec<u32>;
type Blocks = BTreeSet<(Used, Vector, Vector)>;
/// A kind, the states with which its turns begin, and those with which all but the last end.
type Past = (u32, Vector, Vector);
/// The states of a turn, each with the one before it.
type States = Vec<(SharedId, Option<LocalId>, Option<u32>)>;
/// A turn, with the one before it and the shared state in which that ended.
type Row = (Past, Option<(u32, SharedId)>, States);

struct System {
    tts: Tts,
    first: BTreeSet<SharedId>,
    begin: Vec<BTreeSet<LocalId>>,
    limits: Vec<Option<u32>>,
}

fn system(random: &mut Random) -> System {
    let (n_shared, n_local) = (2, 1 + random.below(3));
    let rule = |random: &mut Random| {
        let after: Vec<LocalId> = (0..random.below(5).min(1)).map(|_| random.below(n_local).into()).collect();
        Rule {
            shared: random.below(n_shared).into(),
            local: random.below(n_local).into(),
            shared_after: random.below(n_shared).into(),
            goes_on: !after.is_empty(),
            transfers: Vec::new(),
            after,
        }
    };
    let targets = if random.below(4) == 0 {
        vec![Cover { shared: random.below(n_shared).into(), threads: vec![random.below(n_local).into()] }]
    } else {
        Vec::new()
    };
    let tts = Tts {
        n_shared: n_shared as u32,
        n_local: n_local as u32,
        rules: (0..random.below(4)).map(|_| rule(random)).collect(),
        starts: Vec::new(),
        targets,
    };
    let n_kinds = 1 + random.below(2);
    let first = (0..1 + random.below(2)).map(|_| random.below(n_shared).into()).collect();
    let begin = (0..n_kinds).map(|_| (0..1 + random.below(2)).map(|_| random.below(n_local).into()).collect());
    let begin = begin.collect();
    let limits = (0..n_kinds).map(|_| [None, Some(1), Some(2)][random.below(3)]).collect();
    System { tts, first, begin, limits }
}

/// The least lists of a claim, and the positions of the game.
struct Lists {
    turns: Vec<Row>,
    left: Vec<Blocks>,
    right: Vec<Blocks>,
}

fn longer(vector: &[SharedId], last: SharedId) -> Vector {
    vector.iter().copied().chain([last]).collect()
}

impl System {
    fn limited(&self) -> Vec<u32> {
        self.limits.iter().flatten().copied().collect()
    }

    fn more(&self, used: &[u32], kind: u32) -> Option<Used> {
        let mut used = used.to_vec();
        if self.limits[kind as usize].is_some() {
            used[self.limits[..kind as usize].iter().flatten().count()] += 1;
        }
        used.iter().zip(self.limited()).all(|(used, limit)| *used <= limit).then_some(used)
    }

    fn fits(&self, used: &[u32], blocks: &Blocks, begins: &[SharedId], ends: &[SharedId]) -> bool {
        let within = |other: &Used| used.iter().zip(other).zip(self.limited()).all(|((a, b), most)| a + b <= most);
        blocks
            .iter()
            .any(|(other, other_begins, other_ends)| other_begins == begins && other_ends == ends && within(other))
    }

    /// All states of a turn that begins so.
    fn states(&self, begun: SharedId, begins: &BTreeSet<Option<LocalId>>) -> States {
        let mut states: States = begins.iter().map(|local| (begun, *local, None)).collect();
        let mut next = 0;
        while next < states.len() {
            let (shared, local, _) = states[next];
            for rule in &self.tts.rules {
                let after = (rule.shared_after, rule.after.first().copied());
                let applies = rule.shared == shared && Some(rule.local) == local;
                if applies && !states.iter().any(|state| (state.0, state.1) == after) {
                    states.push((after.0, after.1, Some(next as u32)));
                }
            }
            next += 1;
        }
        states
    }

    /// The least lists for `k` rounds and one more.
    fn lists(&self, k: usize) -> Lists {
        let mut lists = Lists { turns: Vec::new(), left: vec![Blocks::new(); k + 1], right: vec![Blocks::new(); k] };
        for round in 1..=k + 1 {
            while self.grow(&mut lists, round, k) {}
        }
        lists
    }

    /// Adds what follows from what is there; returns whether that is something.
    fn grow(&self, lists: &mut Lists, round: usize, k: usize) -> bool {
        let (left, pasts) = (self.grown_left(lists, round), self.pasts(lists, round));
        let mut has_grown = left != lists.left[round - 1];
        if round <= k {
            let right = self.grown_right(lists, round);
            has_grown |= right != lists.right[round - 1];
            lists.right[round - 1] = right;
        }
        lists.left[round - 1] = left;
        let known: BTreeSet<Past> = lists.turns.iter().map(|turn| turn.0.clone()).collect();
        for (past, before) in pasts.into_iter().filter(|(past, _)| !known.contains(past)) {
            let begins = match before {
                None => self.begin[past.0 as usize].iter().copied().map(Some).collect(),
                Some((before, ended)) => {
                    let states = lists.turns[before as usize].2.iter();
                    states.filter(|state| state.0 == ended).map(|state| state.1).collect()
                }
            };
            let states = self.states(*past.1.last().expect("a turn has begun"), &begins);
            lists.turns.push((past, before, states));
            has_grown = true;
        }
        has_grown
    }

    /// The left blocks of a round: empty ones, those that there are, and each with one more thread.
    fn grown_left(&self, lists: &Lists, round: usize) -> Blocks {
        let none = vec![0; self.limited().len()];
        let mut left = lists.left[round - 1].clone();
        if round == 1 {
            left.extend(self.first.iter().map(|first| (none.clone(), vec![*first], Vec::new())));
        } else {
            for (_, begins, ends) in &lists.right[round - 2] {
                if self.first.contains(&begins[0]) && begins[1..] == ends[..round - 2] {
                    left.insert((none.clone(), longer(begins, ends[round - 2]), ends.clone()));
                }
            }
        }
        for (used, begins, ends) in &lists.left[round - 1] {
            for ((kind, own_begins, own_ends), _, states) in &lists.turns {
                let Some(used) = self.more(used, *kind).filter(|_| own_begins == begins) else { continue };
                for (shared, _, _) in states {
                    let after = longer(own_ends, *shared);
                    if round == 1 || self.fits(&used, &lists.right[round - 2], &after[..round - 1], ends) {
                        left.insert((used.clone(), after, ends.clone()));
                    }
                }
            }
        }
        left
    }

    /// The pasts of threads that have a turn in a round, each with the turn before and the state in which that ended.
    fn pasts(&self, lists: &Lists, round: usize) -> BTreeMap<Past, Option<(u32, SharedId)>> {
        let mut pasts = BTreeMap::new();
        for (used, begins, ends) in &lists.left[round - 1] {
            if round == 1 {
                let kinds = (0..self.limits.len() as u32).filter(|kind| self.more(used, *kind).is_some());
                pasts.extend(kinds.map(|kind| ((kind, begins.clone(), Vec::new()), None)));
                continue;
            }
            for (number, ((kind, own_begins, own_ends), _, states)) in lists.turns.iter().enumerate() {
                let goes_on = own_begins[..] == begins[..round - 1];
                let Some(used) = self.more(used, *kind).filter(|_| goes_on) else { continue };
                for (shared, _, _) in states {
                    let own_ends = longer(own_ends, *shared);
                    if self.fits(&used, &lists.right[round - 2], &own_ends, ends) {
                        pasts.insert((*kind, begins.clone(), own_ends), Some((number as u32, *shared)));
                    }
                }
            }
        }
        pasts
    }

    /// The right blocks of a round: empty ones, those that there are, and each with one more thread.
    fn grown_right(&self, lists: &Lists, round: usize) -> Blocks {
        let none = vec![0; self.limited().len()];
        let mut right = lists.right[round - 1].clone();
        for (_, begins, ends) in &lists.left[round - 1] {
            if begins[..round - 1] == ends[..] {
                right.insert((none.clone(), begins.clone(), begins.clone()));
            }
        }
        for (used, begins, ends) in &lists.right[round - 1] {
            for ((kind, own_begins, own_ends), _, states) in &lists.turns {
                let meets = states.iter().any(|(shared, _, _)| longer(own_ends, *shared) == *begins);
                let Some(used) = self.more(used, *kind).filter(|_| meets) else { continue };
                if self.fits(&used, &lists.left[round - 1], own_begins, &ends[..round - 1]) {
                    right.insert((used, own_begins.clone(), ends.clone()));
                }
            }
        }
        right
    }

    /// The positions to which Adam can answer a move of Eve, for each of her moves.
    fn answers(
        &self,
        lists: &Lists,
        k: usize,
        used: &[u32],
        eve: [&Vector; 2],
        adam: &[(Vector, Vector)],
    ) -> Vec<BTreeSet<Position>> {
        let mut all = Vec::new();
        for ((kind, begins, ends), _, states) in &lists.turns {
            let Some(used) = self.more(used, *kind).filter(|_| begins == eve[0]) else { continue };
            for (shared, local, _) in states {
                let after = longer(ends, *shared);
                if !lists.left[k].contains(&(used.clone(), after.clone(), eve[1].clone())) {
                    continue;
                }
                let mut answers = BTreeSet::new();
                for (his, his_ends) in adam {
                    for ((own_kind, own_begins, own_ends), _, own) in &lists.turns {
                        for state in own.iter().filter(|state| (*own_kind, own_begins, state.1) == (*kind, his, *local))
                        {
                            let adam = [longer(own_ends, state.0), his_ends.clone()];
                            let eve = [after.clone(), eve[1].clone()];
                            answers.insert(Position { used: used.clone(), eve, adam });
                        }
                    }
                }
                all.push(answers);
            }
        }
        all
    }

    fn is_lost(&self, k: usize, position: &Position) -> bool {
        let ([begins, ends], [his, his_ends]) = (&position.eve, &position.adam);
        let is_wrapped = his[..k - 1] == his_ends[..] && his[k - 1] == begins[k];
        begins[..k] == ends[..] && !is_wrapped
    }

    /// All moves of Eve in empty positions, with Adam's answers. He must not begin with another state than a first one:
    /// `cheats` says that he does.
    fn openings(&self, lists: &Lists, k: usize, cheats: bool) -> Vec<BTreeSet<Position>> {
        let begins: BTreeSet<&Vector> = lists.turns.iter().map(|turn| &turn.0.1).collect();
        let may_begin = |begins: &&Vector| begins.len() == k && (cheats || self.first.contains(&begins[0]));
        let his = begins.into_iter().filter(may_begin);
        let his: Vec<(Vector, Vector)> = his.map(|begins| (begins.clone(), begins[1..].to_vec())).collect();
        let is_empty = |(used, begins, ends): &&(Used, Vector, Vector)| {
            used.iter().all(|used| *used == 0) && self.first.contains(&begins[0]) && begins[1..] == ends[..]
        };
        let empty = lists.left[k].iter().filter(is_empty);
        empty.flat_map(|(used, begins, ends)| self.answers(lists, k, used, [begins, ends], &his)).collect()
    }

    /// Returns whether a set of positions answers all moves.
    fn wins(&self, lists: &Lists, k: usize, positions: &BTreeSet<Position>) -> bool {
        let answered = |moves: Vec<BTreeSet<Position>>| moves.iter().all(|answers| !answers.is_disjoint(positions));
        let goes_on = |position: &Position| {
            let [his, his_ends] = position.adam.clone();
            self.answers(lists, k, &position.used, [&position.eve[0], &position.eve[1]], &[(his, his_ends)])
        };
        answered(self.openings(lists, k, false))
            && positions.iter().all(|position| !self.is_lost(k, position) && answered(goes_on(position)))
    }

    /// The positions that Adam does not lose, and all that there are.
    fn positions(&self, lists: &Lists, k: usize, cheats: bool) -> [BTreeSet<Position>; 2] {
        let mut all: BTreeSet<Position> = BTreeSet::new();
        let mut waiting: Vec<Position> = self.openings(lists, k, cheats).into_iter().flatten().collect();
        let mut moves = BTreeMap::new();
        while let Some(position) = waiting.pop() {
            if all.insert(position.clone()) {
                let adam = [(position.adam[0].clone(), position.adam[1].clone())];
                let next = self.answers(lists, k, &position.used, [&position.eve[0], &position.eve[1]], &adam);
                waiting.extend(next.iter().flatten().cloned());
                moves.insert(position, next);
            }
        }
        let every = all.clone();
        loop {
            let stays = |position: &&Position| {
                !self.is_lost(k, position) && moves[*position].iter().all(|answers| !answers.is_disjoint(&all))
            };
            let fewer: BTreeSet<Position> = all.iter().filter(stays).cloned().collect();
            if fewer.len() == all.len() {
                return [all, every];
            }
            all = fewer;
        }
    }

    fn judged(&self, claim: &AdequacyClaim) -> Result<(), Refused> {
        let System { tts, first, begin, limits } = self;
        let (first, begin, limits) = (first.clone(), begin.clone(), limits.clone());
        verify(&Kinds { tts, first, begin, limits }, claim, &Run::unlimited())
    }

    /// Returns whether some turn has a target.
    fn is_error(&self, lists: &Lists) -> bool {
        let is_target = |state: &(SharedId, Option<LocalId>, Option<u32>)| {
            let is_it = |target: &Cover| target.shared == state.0 && Some(target.threads[0]) == state.1;
            self.tts.targets.iter().any(is_it)
        };
        lists.turns.iter().any(|(_, _, states)| states.iter().any(is_target))
    }
}

fn written(lists: &Lists, k: usize, positions: &BTreeSet<Position>) -> AdequacyClaim {
    let block = |(used, begins, ends): &(Used, Vector, Vector)| Block {
        used: used.clone(),
        begins: begins.clone(),
        ends: ends.clone(),
    };
    let blocks = |lists: &[Blocks]| lists.iter().map(|list| list.iter().map(block).collect()).collect();
    let turn = |((kind, begins, _), before, states): &Row| Turn {
        kind: *kind,
        before: *before,
        begun: *begins.last().expect("it has begun"),
        states: states
            .iter()
            .map(|(shared, local, from)| TurnState { shared: *shared, local: *local, from: *from })
            .collect(),
    };
    AdequacyClaim {
        k: k as u32,
        turns: lists.turns.iter().map(turn).collect(),
        left: blocks(&lists.left),
        right: blocks(&lists.right),
        positions: positions.iter().cloned().collect(),
    }
}

/// The claim without its last turn that is no other one's beginning, or with other damage that breaks a rule of the
/// lists: all of these must be noticed.
fn damaged(claim: &AdequacyClaim, random: &mut Random) -> Option<AdequacyClaim> {
    let mut claim = claim.clone();
    let pick = |random: &mut Random, n: usize| (n > 0).then(|| random.below(n));
    match random.below(8) {
        0 => {
            let round = pick(random, claim.left.len())?;
            let place = pick(random, claim.left[round].len())?;
            claim.left[round].remove(place);
        }
        1 => {
            let round = pick(random, claim.right.len())?;
            let place = pick(random, claim.right[round].len())?;
            claim.right[round].remove(place);
        }
        2 => {
            // No turn goes on from the last one.
            claim.turns.pop()?;
        }
        3 => {
            let turn = pick(random, claim.turns.len())?;
            let states = &mut claim.turns[turn].states;
            states.pop()?;
            // Another one is there twice, which makes up for the number.
            let again = states.first().filter(|_| random.below(2) == 0).copied();
            states.extend(again);
        }
        4 => {
            let turn = pick(random, claim.turns.len())?;
            let state = claim.turns[turn].states.iter().rposition(|state| state.from.is_some())?;
            let (begun, states) = (claim.turns[turn].begun, &mut claim.turns[turn].states);
            let none = if states[state].shared == begun { Some(state as u32) } else { None };
            states[state].from = [none, Some(state as u32), Some(states.len() as u32)][random.below(3)];
        }
        5 => {
            let turn = pick(random, claim.turns.len())?;
            claim.turns[turn].kind += 1;
        }
        6 => {
            // A kind that there is not.
            let kind = claim.turns.iter().map(|turn| turn.kind).max()? + 2;
            let states = Vec::new();
            claim.turns.push(Turn { kind, before: None, begun: claim.turns[0].begun, states });
        }
        _ => {
            let turn = pick(random, claim.turns.len())?;
            let repeated = claim.turns[turn].clone();
            claim.turns.push(repeated);
        }
    }
    Some(claim)
}

#[test]
fn the_least_claim_is_accepted_exactly_if_adam_wins_with_it() {
    let mut random = Random(7);
    let (mut n_accepted, mut n_lost, mut n_damaged) = (0, 0, 0);
    for number in 0..250 {
        let system = system(&mut random);
        let k = 1 + number % 2;
        let lists = system.lists(k);
        let [positions, every] = system.positions(&lists, k, false);
        let [cheated, _] = system.positions(&lists, k, true);
        let claim = written(&lists, k, &positions);
        let is_right = !system.is_error(&lists) && system.wins(&lists, k, &positions);
        let found = system.judged(&claim);
        assert_eq!(found.is_ok(), is_right, "{found:?} {:?} {claim:?}", system.tts);
        if system.is_error(&lists) {
            assert_eq!(found, Err(Flaw::Target(0).into()));
        }
        let found = system.judged(&written(&lists, k, &cheated));
        let wins = !system.is_error(&lists) && system.wins(&lists, k, &cheated);
        assert_eq!(found.is_ok(), wins, "with other beginnings: {found:?} {:?} {claim:?}", system.tts);
        n_accepted += usize::from(is_right);
        n_lost += usize::from(!is_right);
        if !is_right {
            continue;
        }
        for _ in 0..10 {
            let Some(damaged) = damaged(&claim, &mut random) else { continue };
            let found = system.judged(&damaged);
            n_damaged += 1;
            assert!(found.is_err(), "{:?} {claim:?} became {damaged:?}", system.tts);
        }
        for position in every.difference(&positions).take(12) {
            let mut more = positions.clone();
            more.insert(position.clone());
            let found = system.judged(&written(&lists, k, &more));
            assert_eq!(found.is_ok(), system.wins(&lists, k, &more), "{found:?} with {position:?}");
        }
        for position in positions.iter().take(12) {
            let mut fewer = positions.clone();
            fewer.remove(position);
            let found = system.judged(&written(&lists, k, &fewer));
            assert_eq!(found.is_ok(), system.wins(&lists, k, &fewer), "{found:?} without {position:?}");
        }
    }
    assert!(n_accepted > 40 && n_lost > 40 && n_damaged > 300, "{n_accepted} {n_lost} {n_damaged}");
}

/// A thread that does nothing.
fn idle() -> System {
    let tts = Tts { n_shared: 1, n_local: 1, ..Tts::default() };
    let zero = SharedId::from_raw(0);
    System { tts, first: BTreeSet::from([zero]), begin: vec![BTreeSet::from([0.into()])], limits: vec![None] }
}

#[test]
fn what_does_not_fit_is_malformed() {
    let system = idle();
    let lists = system.lists(1);
    let right = written(&lists, 1, &system.positions(&lists, 1, false)[0]);
    assert_eq!(system.judged(&right), Ok(()));
    let changes: [fn(&mut AdequacyClaim); 12] = [
        |claim| claim.k = 0,
        |claim| claim.left.push(Vec::new()),
        |claim| claim.right.push(Vec::new()),
        |claim| claim.left[0][0].used.push(0),
        |claim| claim.left[0][0].begins.push(0.into()),
        |claim| claim.left[0][0].ends.push(0.into()),
        |claim| claim.right[0][0].ends.clear(),
        |claim| claim.positions[0].used.push(0),
        |claim| claim.positions[0].eve[0].push(0.into()),
        |claim| claim.positions[0].eve[1].clear(),
        |claim| claim.positions[0].adam[0].clear(),
        |claim| claim.positions[0].adam[1].push(0.into()),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut wrong = right.clone();
        change(&mut wrong);
        assert_eq!(system.judged(&wrong), Err(Flaw::Malformed(None).into()), "change {number}");
    }
    // A turn of a third round, and one behind a turn that is not there.
    for before in [1, 9] {
        let mut wrong = right.clone();
        wrong.turns.push(Turn { before: Some((before, 0.into())), ..wrong.turns[1].clone() });
        assert_eq!(system.judged(&wrong), Err(Flaw::Malformed(None).into()), "behind {before}");
    }
    // A kind that there is not, and a state of such a turn.
    for kind in [1, 2] {
        let mut wrong = right.clone();
        wrong.turns.push(Turn { kind, ..wrong.turns[0].clone() });
        assert_eq!(system.judged(&wrong), Err(Flaw::Malformed(None).into()), "kind {kind}");
    }
    let much = AdequacyClaim { k: 101, ..AdequacyClaim::default() };
    assert!(matches!(system.judged(&much), Err(Refused::Unjudged(Unjudged::Beyond(_)))));
    assert_eq!(system.judged(&AdequacyClaim { k: 100, ..much }), Err(Flaw::Malformed(None).into()));
}

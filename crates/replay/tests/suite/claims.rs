//! Claims about thread-transition systems, on small random systems: the judge accepts exactly those sets of
//! configurations that contain the starts, are closed under the rules and hold no target, as a plain walk over the
//! configurations finds. The claims are sets that are closed, damaged in one place.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{CoverClaim, OmegaVector, Run, ViewRow, ViewTable, Weighting};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};
use selvedge_replay::certificate::{Flaw, Refused, Unjudged, verify_claim};

use crate::random::Random;

/// Returns an ascending list of at most `most` numbers below `below`.
fn list(random: &mut Random, most: usize, below: usize) -> Vec<LocalId> {
    let mut list: Vec<LocalId> = (0..random.below(most + 1)).map(|_| random.below(below).into()).collect();
    list.sort_unstable();
    list
}

const SHARED: usize = 2;
const LOCAL: usize = 3;

/// Some states whose threads are transferred, half of the time.
fn transfers(random: &mut Random) -> Vec<(LocalId, Vec<LocalId>)> {
    let mut transfers = Vec::new();
    for from in (0..LOCAL).map(LocalId::from) {
        let mut to = list(random, 2, LOCAL);
        to.dedup();
        if !to.is_empty() && random.below(2) == 0 {
            transfers.push((from, to));
        }
    }
    if random.below(2) == 0 { transfers } else { Vec::new() }
}

/// A system whose rules transfer no threads.
fn plain_system(random: &mut Random) -> Tts {
    let mut tts = system(random);
    tts.rules.iter_mut().for_each(|rule| rule.transfers.clear());
    tts
}

fn system(random: &mut Random) -> Tts {
    let rule = |random: &mut Random| Rule {
        shared: random.below(SHARED).into(),
        local: random.below(LOCAL).into(),
        shared_after: random.below(SHARED).into(),
        after: list(random, 2, LOCAL),
        goes_on: false,
        transfers: transfers(random),
    };
    let mut starts = Vec::new();
    for _ in 0..1 + random.below(2) {
        let most = 1 + random.below(2);
        let mut any = list(random, most, LOCAL);
        any.dedup();
        starts.push(Start { shared: random.below(SHARED).into(), threads: list(random, 2, LOCAL), any });
    }
    let target = |random: &mut Random| Cover { shared: random.below(SHARED).into(), threads: list(random, 3, LOCAL) };
    Tts {
        n_shared: SHARED as u32,
        n_local: LOCAL as u32,
        rules: (0..1 + random.below(4)).map(|_| rule(random)).collect(),
        starts,
        targets: (0..random.below(3)).map(|_| target(random)).collect(),
    }
}

/// A shared state with the number of threads in each state.
type Config = (usize, [u32; LOCAL]);

/// As many threads as stand for any number.
const MANY: u32 = 1000;

fn bag(shared: SharedId, threads: &[LocalId], any: &[LocalId], many: u32) -> Config {
    let mut bag = [0; LOCAL];
    threads.iter().for_each(|local| bag[local.index()] += 1);
    any.iter().for_each(|local| bag[local.index()] += many);
    (shared.index(), bag)
}

/// The configurations after a rule, if there is a thread that takes it.
fn after(rule: &Rule, (shared, mut bag): Config) -> Vec<Config> {
    if rule.shared.index() != shared || bag[rule.local.index()] == 0 {
        return Vec::new();
    }
    bag[rule.local.index()] -= 1;
    let mut all = vec![bag];
    for (from, to) in &rule.transfers {
        let moved = |mut before: [u32; LOCAL]| {
            let n_moved = bag[from.index()];
            before[from.index()] -= n_moved;
            let one = |n_first: u32| {
                let mut after = before;
                after[to[0].index()] += n_first;
                after[to[to.len() - 1].index()] += n_moved - n_first;
                after
            };
            (0..=n_moved).map(one).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(moved).collect();
    }
    let put = |mut bag: [u32; LOCAL]| {
        rule.after.iter().for_each(|local| bag[local.index()] += 1);
        (rule.shared_after.index(), bag)
    };
    all.into_iter().map(put).collect()
}

fn covers((shared, more): Config, (same, less): Config) -> bool {
    shared == same && more.iter().zip(less).all(|(more, less)| *more >= less)
}

fn answer(tts: &Tts, claim: &CoverClaim) -> Result<(), Flaw> {
    verify_claim(tts, claim, &Run::unlimited()).map_err(|refused| refused.flaw().expect("the judge can tell"))
}

/// The first flaw of a set, whose members are walked over in `members`.
fn flaw(tts: &Tts, members: &[Config], many: u32, has: impl Fn(Config) -> bool) -> Result<(), Flaw> {
    let start = |start: &Start| has(bag(start.shared, &start.threads, &start.any, many));
    if let Some(number) = tts.starts.iter().position(|one| !start(one)) {
        return Err(Flaw::Initial(number));
    }
    let leaves = |rule: &Rule| members.iter().any(|member| after(rule, *member).into_iter().any(|after| !has(after)));
    if let Some(number) = tts.rules.iter().position(leaves) {
        return Err(Flaw::Rule(number));
    }
    let is_met = |target: &Cover| has(bag(target.shared, &target.threads, &[], 0));
    tts.targets.iter().position(is_met).map_or(Ok(()), |number| Err(Flaw::Target(number)))
}

/// Vectors that contain the starts and all steps: numbers above 2 become any number.
fn closed_vectors(tts: &Tts) -> Vec<Config> {
    let mut all = Vec::new();
    let mut waiting: Vec<Config> =
        tts.starts.iter().map(|start| bag(start.shared, &start.threads, &start.any, MANY)).collect();
    while let Some((shared, bag)) = waiting.pop() {
        let next = (shared, bag.map(|count| if count > 2 { MANY } else { count }));
        if !all.iter().any(|known| covers(*known, next)) {
            all.push(next);
            waiting.extend(tts.rules.iter().flat_map(|rule| after(rule, next)));
        }
    }
    all
}

fn vectors(configs: &[Config]) -> CoverClaim {
    let vector = |(shared, bag): &Config| OmegaVector {
        shared: (*shared).into(),
        counts: (0..LOCAL)
            .filter(|local| bag[*local] > 0)
            .map(|local| (local.into(), (bag[local] < MANY).then_some(bag[local])))
            .collect(),
    };
    CoverClaim::Vectors(configs.iter().map(vector).collect())
}

#[test]
fn vectors_are_accepted_exactly_if_they_are_closed() {
    let mut random = Random(1);
    let mut n_accepted = 0;
    for _ in 0..4000 {
        let tts = plain_system(&mut random);
        let mut claim = closed_vectors(&tts);
        let place = random.below(claim.len());
        let local = random.below(LOCAL);
        match random.below(5) {
            0 => drop(claim.remove(place)),
            1 => claim[place].1[local] = claim[place].1[local].saturating_sub(1).min(3),
            2 => claim[place].1[local] = [1, 2, MANY][random.below(3)],
            3 => claim.push((random.below(SHARED), [0; LOCAL])),
            _ => {}
        }
        // What is below a vector with any number of threads is below one with many.
        let full = |(shared, bag): &Config| (*shared, bag.map(|count| if count == MANY { u32::MAX } else { count }));
        let limits: Vec<Config> = claim.iter().map(full).collect();
        let expected = flaw(&tts, &claim, MANY, |config| limits.iter().any(|limit| covers(*limit, config)));
        n_accepted += usize::from(expected.is_ok());
        assert_eq!(answer(&tts, &vectors(&claim)), expected, "{tts:?} {claim:?}");
    }
    assert!((500..3500).contains(&n_accepted), "{n_accepted} are accepted");
}

/// A view: a shared state and k threads, 0 for one that sleeps, else the number of its state plus 1, in order.
type View = (usize, Vec<usize>);

/// All views of a configuration, in which any number of threads sleep.
fn views((shared, bag): Config, k: usize) -> BTreeSet<View> {
    let mut all = BTreeSet::from([(shared, vec![0; k])]);
    for (local, count) in bag.iter().enumerate() {
        for _ in 0..(*count).min(k as u32) {
            let longer = |(shared, view): &View| {
                let mut view = view.clone();
                view[0] = if view[0] == 0 { local + 1 } else { view[0] };
                view.sort_unstable();
                (*shared, view)
            };
            let more: Vec<View> = all.iter().map(longer).collect();
            all.extend(more);
        }
    }
    all
}

/// All configurations with at most `most` threads.
fn configs(most: u32) -> Vec<Config> {
    let counts = 0..=most;
    let bags = counts.clone().flat_map(|a| counts.clone().map(move |b| (a, b)));
    let bags = bags.flat_map(|(a, b)| counts.clone().map(move |c| [a, b, c]));
    let few: Vec<[u32; LOCAL]> = bags.filter(|bag| bag.iter().sum::<u32>() <= most).collect();
    (0..SHARED).flat_map(|shared| few.iter().map(move |bag| (shared, *bag))).collect()
}

/// The least closed table of views.
fn closed_views(tts: &Tts, k: usize, all: &[Config]) -> BTreeSet<View> {
    let start = |start: &Start| views(bag(start.shared, &start.threads, &start.any, k as u32), k);
    let mut table: BTreeSet<View> = tts.starts.iter().flat_map(start).collect();
    loop {
        let n_before = table.len();
        for config in all {
            if views(*config, k).is_subset(&table) {
                let next = tts.rules.iter().flat_map(|rule| after(rule, *config));
                let new: Vec<View> = next.flat_map(|next| views(next, k)).collect();
                table.extend(new);
            }
        }
        if table.len() == n_before {
            return table;
        }
    }
}

/// Writes a table with rows of views that differ in their greatest thread.
fn written(table: &BTreeSet<View>, k: usize) -> ViewTable {
    let mut rows: BTreeMap<(usize, Vec<LocalId>), Vec<LocalId>> = BTreeMap::new();
    let mut shareds = Vec::new();
    for (shared, view) in table {
        let awake = view.iter().filter(|thread| **thread > 0);
        let mut threads: Vec<LocalId> = awake.map(|thread| (thread - 1).into()).collect();
        match threads.pop() {
            Some(last) => rows.entry((*shared, threads)).or_default().push(last),
            None => shareds.push((*shared).into()),
        }
    }
    let row = |((shared, threads), last): ((usize, Vec<LocalId>), Vec<LocalId>)| ViewRow {
        shared: shared.into(),
        threads,
        last,
    };
    ViewTable { k: k as u32, shareds, rows: rows.into_iter().map(row).collect() }
}

/// Takes a view away, with all views that have its threads and more.
fn without(table: &BTreeSet<View>, random: &mut Random) -> BTreeSet<View> {
    let Some((shared, least)) = table.iter().nth(random.below(table.len())).cloned() else { return table.clone() };
    let least: Vec<usize> = least.into_iter().filter(|thread| *thread > 0).collect();
    let count = |view: &[usize], thread: usize| view.iter().filter(|other| **other == thread).count();
    let is_above = |(here, view): &&View| {
        *here == shared && least.iter().all(|thread| count(view, *thread) >= count(&least, *thread))
    };
    table.iter().filter(|view| !is_above(view)).cloned().collect()
}

#[test]
fn tables_of_views_are_accepted_exactly_if_they_are_closed() {
    let mut random = Random(2);
    let mut n_accepted = 0;
    for _ in 0..2500 {
        let tts = system(&mut random);
        let k = 1 + random.below(3);
        // A step of a thread is judged beside k others.
        let all = configs(k as u32 + 1);
        let mut table = closed_views(&tts, k, &all);
        if random.below(2) == 0 && !table.is_empty() {
            table = without(&table, &mut random);
        }
        let has = |config: Config| views(config, k).is_subset(&table);
        let members: Vec<Config> = all.iter().copied().filter(|config| has(*config)).collect();
        let expected = flaw(&tts, &members, k as u32, has);
        n_accepted += usize::from(expected.is_ok());
        let found = answer(&tts, &CoverClaim::Views(written(&table, k)));
        // Rules are tried view by view, so that another one may come first.
        match (&found, &expected) {
            (Err(Flaw::Rule(_)), Err(Flaw::Rule(_))) => {}
            _ => assert_eq!(found, expected, "{tts:?} {table:?}"),
        }
    }
    assert!((300..2200).contains(&n_accepted), "{n_accepted} are accepted");
}

/// All lists of states from which threads can have been transferred to these.
fn transferred_from(rule: &Rule, threads: &[LocalId]) -> Vec<Vec<LocalId>> {
    let Some((first, rest)) = threads.split_first() else { return vec![Vec::new()] };
    let from = (0..LOCAL).map(LocalId::from).filter(|from| rule.ways(from).contains(first));
    let with = |from: LocalId| {
        transferred_from(rule, rest).into_iter().map(move |list| [vec![from], list].concat()).collect::<Vec<_>>()
    };
    from.flat_map(with).collect()
}

/// What excludes the targets: the least configurations from which rules lead there, again and again, up to some size.
fn closed_basis(tts: &Tts, random: &mut Random) -> Vec<Cover> {
    let mut all: Vec<Cover> = tts.targets.clone();
    let mut next = 0;
    while next < all.len() {
        let forbidden = all[next].clone();
        next += 1;
        for rule in tts.rules.iter().filter(|rule| rule.shared_after == forbidden.shared) {
            let mut threads = forbidden.threads.clone();
            for local in &rule.after {
                if let Some(place) = threads.iter().position(|thread| thread == local) {
                    threads.remove(place);
                }
            }
            for mut threads in transferred_from(rule, &threads) {
                threads.push(rule.local);
                threads.sort_unstable();
                let before = Cover { shared: rule.shared, threads };
                let least = bag(before.shared, &before.threads, &[], 0);
                let is_known = all.iter().any(|known| covers(least, bag(known.shared, &known.threads, &[], 0)));
                if !is_known && before.threads.len() < 5 {
                    all.push(before);
                }
            }
        }
    }
    if !all.is_empty() && random.below(2) == 0 {
        let place = random.below(all.len());
        match random.below(2) {
            0 => drop(all.remove(place)),
            _ => all[place].threads.push((LOCAL - 1).into()),
        }
    }
    all
}

#[test]
fn forbidden_configurations_are_accepted_exactly_if_nothing_leads_to_them() {
    let mut random = Random(3);
    let mut n_accepted = 0;
    let all = configs(8);
    for _ in 0..1500 {
        let tts = system(&mut random);
        let k = 1 + random.below(2);
        let table = closed_views(&tts, k, &configs(k as u32 + 1));
        let forbidden = closed_basis(&tts, &mut random);
        let least: Vec<Config> = forbidden.iter().map(|one| bag(one.shared, &one.threads, &[], 0)).collect();
        let is_forbidden = |config: Config| least.iter().any(|least| covers(config, *least));
        let has = |config: Config| views(config, k).is_subset(&table) && !is_forbidden(config);
        let members: Vec<Config> = all.iter().copied().filter(|config| has(*config)).collect();
        let expected = flaw(&tts, &members, 8, has);
        n_accepted += usize::from(expected.is_ok());
        let claim = CoverClaim::Basis { within: written(&table, k), weights: Vec::new(), forbidden: forbidden.clone() };
        let found = answer(&tts, &claim);
        assert_eq!(found, expected, "{tts:?} {table:?} {forbidden:?}");
    }
    assert!((300..1300).contains(&n_accepted), "{n_accepted} are accepted");
}

/// All pairs of local states.
const PAIRS: [(usize, usize); LOCAL * LOCAL] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)];

/// A claim that weights exclude the targets, within a table.
fn weighted(within: ViewTable, shareds: &[i64], locals: &[i64], most: i64) -> CoverClaim {
    let shareds = shareds.iter().enumerate().map(|(shared, weight)| (shared.into(), *weight)).collect();
    let locals = locals.iter().enumerate().map(|(local, weight)| (local.into(), *weight)).collect();
    CoverClaim::Basis { within, weights: vec![Weighting { shareds, locals, most }], forbidden: Vec::new() }
}

#[test]
fn weights_are_accepted_exactly_if_no_step_makes_a_sum_greater() {
    let mut random = Random(4);
    let mut n_accepted = 0;
    // A thread moves alone, or beside so many others in one state that what becomes of them weighs more than anything.
    let mut all = Vec::new();
    for (shared, (mover, other)) in (0..SHARED).flat_map(|shared| PAIRS.map(|pair| (shared, pair))) {
        for n_others in [0, 12] {
            let mut bag = [0; LOCAL];
            bag[mover] += 1;
            bag[other] += n_others;
            all.push((shared, bag));
        }
    }
    let everything: BTreeSet<View> = configs(1).into_iter().flat_map(|config| views(config, 1)).collect();
    for _ in 0..20_000 {
        let tts = system(&mut random);
        let shareds = [(); SHARED].map(|()| random.below(4) as i64 - 1);
        let locals = [(); LOCAL].map(|()| random.below(3) as i64);
        let most = random.below(3) as i64;
        let sum = |(shared, bag): Config| {
            shareds[shared] + locals.iter().zip(bag).map(|(weight, count)| weight * i64::from(count)).sum::<i64>()
        };
        let is_too_great = |start: &Start| sum(bag(start.shared, &start.threads, &start.any, MANY)) > most;
        let grows = |rule: &Rule| all.iter().any(|one| after(rule, *one).into_iter().any(|next| sum(next) > sum(*one)));
        let is_met = |target: &Cover| sum(bag(target.shared, &target.threads, &[], 0)) <= most;
        let expected = if let Some(number) = tts.starts.iter().position(is_too_great) {
            Err(Flaw::Initial(number))
        } else if let Some(number) = tts.rules.iter().position(grows) {
            Err(Flaw::Rule(number))
        } else {
            tts.targets.iter().position(is_met).map_or(Ok(()), |number| Err(Flaw::Target(number)))
        };
        n_accepted += usize::from(expected.is_ok() && !tts.targets.is_empty());
        let claim = weighted(written(&everything, 1), &shareds, &locals, most);
        assert_eq!(answer(&tts, &claim), expected, "{tts:?} {shareds:?} {locals:?} {most}");
    }
    assert!((30..10_000).contains(&n_accepted), "{n_accepted} are accepted");
}

#[test]
fn weights_of_what_there_is_not_or_less_than_nothing_are_malformed() {
    let tts = empty(2, 2);
    let weighted = |shareds: &[i64], locals: &[i64], most: i64| {
        let within = ViewTable { k: 1, shareds: vec![0.into()], rows: Vec::new() };
        answer(&tts, &weighted(within, shareds, locals, most))
    };
    assert_eq!(weighted(&[0, -1], &[0, 1], 0), Ok(()));
    assert_eq!(weighted(&[i64::MIN, i64::MAX], &[i64::MAX; 2], i64::MAX), Ok(()));
    assert_eq!(weighted(&[1, 0], &[0, 0], 0), Err(Flaw::Initial(0)));
    assert_eq!(weighted(&[0, 0], &[-1, 0], 0), MALFORMED);
    assert_eq!(weighted(&[0, 0, 0], &[0, 0], 0), MALFORMED);
    assert_eq!(weighted(&[0, 0], &[0, 0, 0], 0), MALFORMED);
}

const MALFORMED: Result<(), Flaw> = Err(Flaw::Malformed(None));

/// A system without rules, which starts with no thread.
fn empty(n_shared: u32, n_local: u32) -> Tts {
    let start = Start { shared: 0.into(), threads: Vec::new(), any: Vec::new() };
    Tts { n_shared, n_local, starts: vec![start], ..Tts::default() }
}

#[test]
fn numbers_of_what_there_is_not_are_malformed() {
    let tts = empty(1, 2);
    let vector = |shared: usize, counts: &[(usize, Option<u32>)]| {
        let counts = counts.iter().map(|(local, count)| ((*local).into(), *count)).collect();
        answer(&tts, &CoverClaim::Vectors(vec![OmegaVector { shared: shared.into(), counts }]))
    };
    assert_eq!(vector(0, &[(0, Some(1)), (1, None)]), Ok(()));
    assert_eq!(vector(0, &[(1, Some(u32::MAX / 2 - 1))]), Ok(()));
    for (shared, counts) in [
        (1, &[(0, None)][..]),
        (0, &[(2, None)]),
        (0, &[(2, Some(1))]),
        (0, &[(0, Some(0))]),
        (0, &[(0, Some(u32::MAX / 2))]),
        (0, &[(1, None), (0, None)]),
        (0, &[(0, None), (0, None)]),
    ] {
        assert_eq!(vector(shared, counts), MALFORMED, "{shared} {counts:?}");
    }
    let table = |k: u32, shared: usize, rows: &[(usize, &[usize], &[usize])]| {
        let list = |list: &[usize]| list.iter().map(|local| LocalId::from(*local)).collect();
        let row = |(shared, threads, last): &(usize, &[usize], &[usize])| ViewRow {
            shared: (*shared).into(),
            threads: list(threads),
            last: list(last),
        };
        let rows = rows.iter().map(row).collect();
        answer(&tts, &CoverClaim::Views(ViewTable { k, shareds: vec![shared.into()], rows }))
    };
    assert_eq!(table(2, 0, &[(0, &[1], &[1])]), Ok(()));
    assert_eq!(table(0, 0, &[]), MALFORMED);
    assert_eq!(table(2, 1, &[]), MALFORMED);
    assert_eq!(table(2, 0, &[(1, &[0], &[1])]), MALFORMED);
    assert_eq!(table(2, 0, &[(0, &[2], &[1])]), MALFORMED);
    assert_eq!(table(2, 0, &[(0, &[0], &[2])]), MALFORMED);
    assert_eq!(table(2, 0, &[(0, &[0, 1], &[1])]), MALFORMED);
    let within = ViewTable { k: 1, shareds: vec![0.into()], rows: Vec::new() };
    let basis = |shared: usize, local: usize| {
        let forbidden = vec![Cover { shared: shared.into(), threads: vec![local.into()] }];
        answer(&tts, &CoverClaim::Basis { within: within.clone(), weights: Vec::new(), forbidden })
    };
    assert_eq!(basis(0, 1), Ok(()));
    assert_eq!(basis(1, 1), MALFORMED);
    assert_eq!(basis(0, 2), MALFORMED);
}

#[test]
fn views_of_very_many_threads_are_not_looked_at() {
    let claim = |k: u32| CoverClaim::Views(ViewTable { k, shareds: vec![0.into()], rows: Vec::new() });
    assert_eq!(answer(&empty(1, 1), &claim(100)), Ok(()));
    let refused = verify_claim(&empty(1, 1), &claim(101), &Run::unlimited());
    assert!(matches!(refused, Err(Refused::Unjudged(Unjudged::Beyond(_)))), "{refused:?}");
}

/// One thread may go from each state to the next one; another one must not be beside the last, which the table says.
#[test]
fn tables_may_have_more_states_than_a_word_has_bits() {
    for n_local in [63, 64, 65, 127, 128, 130, 200] {
        let step = |local: usize| Rule {
            shared: (local % 2).into(),
            local: local.into(),
            shared_after: ((local + 1) % 2).into(),
            after: vec![(local + 1).into()],
            goes_on: true,
            transfers: Vec::new(),
        };
        let start = Start { shared: 0.into(), threads: vec![0.into()], any: Vec::new() };
        let mut tts =
            Tts { rules: (0..n_local - 1).map(step).collect(), starts: vec![start], ..empty(2, n_local as u32) };
        let row = |local: usize| ViewRow { shared: (local % 2).into(), threads: Vec::new(), last: vec![local.into()] };
        let shareds = vec![0.into(), 1.into()];
        let table = ViewTable { k: 2, shareds, rows: (0..n_local).map(row).collect() };
        assert_eq!(answer(&tts, &CoverClaim::Views(table.clone())), Ok(()), "{n_local}");
        tts.targets.push(Cover { shared: ((n_local - 1) % 2).into(), threads: vec![(n_local - 1).into()] });
        assert_eq!(answer(&tts, &CoverClaim::Views(table.clone())), Err(Flaw::Target(0)), "{n_local}");
        for missing in [n_local - 1, n_local / 2, 1] {
            let mut fewer = table.clone();
            fewer.rows.remove(missing);
            let flaw = Err(Flaw::Rule(missing - 1));
            assert_eq!(answer(&tts, &CoverClaim::Views(fewer)), flaw, "{n_local} without {missing}");
        }
    }
}

#[test]
fn vectors_are_not_judged_where_threads_are_transferred() {
    let rule = Rule {
        shared: 0.into(),
        local: 0.into(),
        shared_after: 0.into(),
        after: vec![0.into()],
        goes_on: true,
        transfers: vec![(0.into(), vec![1.into()])],
    };
    let tts = Tts { rules: [rule].into_iter().collect(), ..empty(1, 2) };
    let refused = verify_claim(&tts, &vectors(&[(0, [MANY, MANY, 0])]), &Run::unlimited());
    assert!(matches!(refused, Err(Refused::Unjudged(Unjudged::Beyond(_)))), "{refused:?}");
}

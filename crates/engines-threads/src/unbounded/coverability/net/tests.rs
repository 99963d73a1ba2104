//! Small random systems: the directed search agrees with the plain one backwards, its runs are runs, and its proofs are
//! closed.

use selvedge_check::Run;
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

use super::super::backward::{self, Basis};
use super::super::transfer::before;
use super::super::views::{self, Table};
use super::super::{Answer, Rules, Vector};
use super::decide;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn locals(&mut self, n: usize) -> Vec<LocalId> {
        let mut locals: Vec<LocalId> = (0..n).map(|_| LocalId::from(self.below(5))).collect();
        locals.sort_unstable();
        locals
    }
}

/// A system in which many shared states are passed through, with transfers in every third one.
fn system(random: &mut Random) -> Tts {
    let n_shared = 2 + random.below(6);
    let has_transfers = random.below(3) == 0;
    let rule = |random: &mut Random| {
        let mut transfers: Vec<(LocalId, Vec<LocalId>)> = Vec::new();
        for from in (0..5).map(LocalId::from) {
            if has_transfers && random.below(5) == 0 {
                let n = 1 + random.below(2);
                let mut to = random.locals(n);
                to.dedup();
                transfers.extend((to != [from]).then_some((from, to)));
            }
        }
        let n_after = [1, 1, 1, 1, 2, 0][random.below(6)];
        let after = random.locals(n_after);
        Rule {
            shared: random.below(n_shared).into(),
            local: random.below(5).into(),
            shared_after: random.below(n_shared).into(),
            goes_on: !after.is_empty(),
            after,
            transfers,
        }
    };
    let n_any = random.below(2);
    let target = |random: &mut Random| {
        let n = 1 + random.below(4);
        Cover { shared: random.below(n_shared).into(), threads: random.locals(n) }
    };
    Tts {
        n_shared: n_shared as u32,
        n_local: 5,
        rules: (0..3 + random.below(10)).map(|_| rule(random)).collect(),
        starts: vec![Start { shared: 0.into(), threads: random.locals(2), any: random.locals(n_any) }],
        targets: (0..1 + random.below(2)).map(|_| target(random)).collect(),
    }
}

/// Checks that weights do not grow, and that whatever leads to an element is above one, or excluded.
fn check_closed(tts: &Tts, table: &Table, basis: &Basis) {
    let excluded = |shared: SharedId, threads: &Vector| {
        !table.admits(shared, &threads.threads())
            || basis.weights.iter().any(|weights| weights.exclude(shared, threads))
            || basis.least.iter().any(|(other, least)| *other == shared && least.is_covered_by(threads))
    };
    for weights in &basis.weights {
        let sum = |locals: &[LocalId]| locals.iter().map(|local| weights.locals[local.index()]).sum::<i64>();
        for start in &tts.starts {
            assert!(weights.shareds[start.shared.index()] + sum(&start.threads) <= weights.most);
            assert_eq!(sum(&start.any), 0);
        }
        for rule in &tts.rules {
            let before = weights.shareds[rule.shared.index()] + sum(&[rule.local]);
            assert!(weights.shareds[rule.shared_after.index()] + sum(&rule.after) <= before, "{rule:?} {weights:?}");
            let moved = rule.transfers.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
            assert!(moved.into_iter().all(|(from, to)| sum(&[*to]) <= sum(&[*from])), "{rule:?} {weights:?}");
        }
    }
    for rule in &tts.rules {
        for (_, least) in basis.least.iter().filter(|(shared, _)| *shared == rule.shared_after) {
            for before in before(rule, least, &Run::unlimited()).expect("nothing stops it").0 {
                assert!(excluded(rule.shared, &before), "{tts:?} {rule:?} {before:?} {basis:?}");
            }
        }
    }
    assert!(tts.targets.iter().all(|target| excluded(target.shared, &Vector::of(&target.threads))));
    let above = |start: &Start, least: &Vector| {
        least.counts().iter().all(|(local, count)| {
            start.any.contains(local)
                || start.threads.iter().filter(|thread| *thread == local).count() >= *count as usize
        })
    };
    let meets =
        |start: &Start| basis.least.iter().any(|(shared, least)| *shared == start.shared && above(start, least));
    assert!(!tts.starts.iter().any(meets));
}

#[test]
fn the_directed_search_agrees_with_the_one_backwards() {
    let (mut random, run) = (Random(1), Run::unlimited());
    let (mut n_covered, mut n_weighted) = (0, 0);
    for _ in 0..3_000 {
        let tts = system(&mut random);
        let rules = Rules::new(&tts);
        let expected = backward::decide(&rules, &tts.targets, None, &run).expect("nothing stops it");
        match decide(&rules, usize::MAX, &run).expect("nothing stops it").expect("the equation is small") {
            Answer::Covered(found) => {
                assert!(matches!(expected, Answer::Covered(_)), "{tts:?}");
                assert_eq!(tts.replay(&found), Ok(()), "{tts:?} {found:?}");
                n_covered += 1;
            }
            Answer::Uncovered(proof) => {
                assert!(matches!(expected, Answer::Uncovered(_)), "{tts:?}");
                let table = views::table(&rules, 1, &run).expect("nothing stops it");
                let basis = proof.basis(&table, &run).expect("nothing stops it").expect("it is small");
                check_closed(&tts, &table, &basis);
                n_weighted += usize::from(!basis.weights.is_empty());
            }
        }
    }
    assert!((300..2_700).contains(&n_covered) && n_weighted > 100, "{n_covered} covered, {n_weighted} with weights");
}

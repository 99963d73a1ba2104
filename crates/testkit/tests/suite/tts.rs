//! Thread-transition systems: all ways to decide coverability agree, the errata of chapters 8 and 9, and the verdicts
//! of the corpus.

use std::fs;
use std::path::Path;

use selvedge_check::{CutoffProof, Run, Stop};
use selvedge_engines::unbounded::coverability::cutoff::{Effort, search};
use selvedge_engines::unbounded::coverability::{
    Answer, Rules, backward, bounded, certificate, decide, karp_miller, net, views,
};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};
use selvedge_replay::certificate::verify_claim;
use selvedge_testkit::coverability::{PLAIN, TRANSFERS};
use selvedge_testkit::harness::sample;

/// The limit on local states of systems of the corpus in builds without optimisation.
const MOST_LOCALS: u32 = if cfg!(debug_assertions) { 210 } else { u32::MAX };

/// The greatest number of threads in proofs.
const MOST_TOGETHER: usize = 10;

/// Parses a system as the corpus writes it.
fn parse(text: &str) -> Tts {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let mut lines = lines.filter(|line| !line.is_empty());
    let number = |word: &str| word.parse::<u32>().expect("it is a number");
    let sizes: Vec<u32> = lines.next().expect("sizes come first").split_whitespace().map(number).collect();
    let rule = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (local, after) = (LocalId::from_raw(number(words[1])), LocalId::from_raw(number(words[4])));
        Rule {
            shared: SharedId::from_raw(number(words[0])),
            local,
            shared_after: SharedId::from_raw(number(words[3])),
            after: if words[2] == "+>" { vec![local, after] } else { vec![after] },
            goes_on: true,
            transfers: Vec::new(),
        }
    };
    Tts {
        n_shared: sizes[0],
        n_local: sizes[1],
        rules: lines.map(rule).collect(),
        starts: vec![Start { shared: 0.into(), threads: vec![0.into()], any: vec![] }],
        targets: Vec::new(),
    }
}

fn cover(text: &str) -> Cover {
    let number = |word: &str| word.trim().parse::<u32>().expect("it is a number");
    let (shared, threads) = text.trim().split_once('|').expect("a bar is behind the shared state");
    let mut threads: Vec<LocalId> = threads.split(',').map(|local| LocalId::from_raw(number(local))).collect();
    threads.sort_unstable();
    Cover { shared: SharedId::from_raw(number(shared)), threads }
}

fn with_target(text: &str, target: &str) -> Tts {
    Tts { targets: vec![cover(target)], ..parse(text) }
}

/// Returns the same system with any number of initial threads.
fn with_any_start(mut tts: Tts) -> Tts {
    tts.starts = vec![Start { shared: 0.into(), threads: vec![], any: vec![0.into()] }];
    tts
}

fn is_covered<P>(tts: &Tts, answer: &Answer<P>) -> bool {
    match answer {
        Answer::Covered(run) => {
            assert_eq!(tts.replay(run), Ok(()));
            true
        }
        Answer::Uncovered(_) => false,
    }
}

/// Returns whether a target can be covered, on which all searches agree.
fn all_say(tts: &Tts) -> bool {
    let run = Run::unlimited();
    let rules = Rules::new(tts);
    let answer = backward::decide(&rules, &tts.targets, None, &run).expect("nothing stops it");
    let covered = is_covered(tts, &answer);
    assert_eq!(karp_miller::prove(&rules, &run).expect("nothing stops it").is_none(), covered);
    let answer = karp_miller::decide(&rules, &run).expect("nothing stops it").expect("the run is short");
    assert_eq!(is_covered(tts, &answer), covered);
    if let Some(answer) = net::decide(&rules, usize::MAX, &run).expect("nothing stops it") {
        assert_eq!(is_covered(tts, &answer), covered);
    }
    match decide(tts, Some(MOST_TOGETHER), &run) {
        Ok(answer) => assert_eq!(is_covered(tts, &answer), covered),
        Err(stop) => assert!(matches!(stop, Stop::BoundReached(_)), "{stop}"),
    }
    covered
}

#[test]
fn all_searches_agree_on_random_systems() {
    let tally = sample(PLAIN, 7, 0, 300);
    assert!((75..225).contains(&tally["covered"]), "both answers occur: {tally}");
    assert!(tally["decided by a few threads"] >= 290, "views and few threads decide nearly all: {tally}");
    assert!(tally.sum(&["cutoff 2", "cutoff 3", "cutoff 4"]) > 15, "cutoffs above 1 occur: {tally}");
}

/// A workshop: a part takes one of the machines, of which there are five, and a worker; `needed` parts are to be on
/// machines at the same time, each begun in another shared state.
fn workshop(needed: usize) -> Tts {
    // Local states: 0 orders, 1 machines, 2 workers, 3 parts on machines.
    let mut text = format!("{} 4\n0 0 -> 1 0\n", 3 + needed);
    for step in ["1 1 -> 2 3", "2 2 -> 1 2", "1 3 -> 1 1"] {
        text.push_str(step);
        text.push('\n');
    }
    let target = format!("1|{}", vec!["3"; needed].join(","));
    let mut tts = with_target(&text, &target);
    tts.starts = vec![Start {
        shared: 0.into(),
        threads: [[1; 5], [2; 5]].concat().into_iter().map(LocalId::from_raw).collect(),
        any: vec![0.into()],
    }];
    tts
}

#[test]
fn the_marking_equation_finds_what_needs_many_threads_and_excludes_what_needs_more() {
    let run = Run::unlimited();
    for (needed, covered) in [(5, true), (6, false)] {
        let tts = workshop(needed);
        let rules = Rules::new(&tts);
        let answer = net::decide(&rules, 1_000, &run).expect("nothing stops it").expect("the equation is small");
        assert_eq!(is_covered(&tts, &answer), covered);
        if let Answer::Uncovered(proof) = answer {
            let table = views::table(&rules, 1, &run).expect("nothing stops it");
            let basis = proof.basis(&table, &run).expect("nothing stops it").expect("it is small");
            assert!(basis.least.is_empty() && basis.weights.len() == 1, "one inequality is the proof: {basis:?}");
            assert_eq!(verify_claim(&tts, &certificate::basis(&table, &basis), &run), Ok(()));
        }
    }
}

#[test]
fn all_searches_agree_on_random_systems_with_transfers() {
    let tally = sample(TRANSFERS, 7, 0, 300);
    assert!((75..225).contains(&tally["covered"]), "both answers occur: {tally}");
    assert!(tally["decided by a few threads"] >= 280, "views and few threads decide nearly all: {tally}");
    assert!(tally["too large for the plain search backwards"] < 200, "the plain search decides many: {tally}");
}

/// The tree ends only if the node with ω is the one that is stored: without it, the spawner's children have no bound.
#[test]
fn km_stores_accelerated() {
    let tts = with_target("2 3\n0 0 +> 0 1\n0 1 -> 1 2\n1 2 -> 0 1\n", "1|2,2");
    assert!(!all_say(&tts), "only one thread at a time is in 2");
    let rules = Rules::new(&tts);
    let cover = karp_miller::cover_set(&rules, &Run::unlimited()).expect("nothing stops it");
    assert!(cover.covers(&super_cover(0, &[0, 1, 1, 1, 1, 1, 1, 1])) && !cover.covers(&super_cover(0, &[0, 0])));
}

fn super_cover(shared: usize, threads: &[usize]) -> Cover {
    Cover { shared: shared.into(), threads: threads.iter().map(|local| LocalId::from(*local)).collect() }
}

/// Numbers grow only in an order in which more threads cover fewer: here the second round has one more thread in 1, and
/// one in a state that had none before.
#[test]
fn km_cover_order() {
    let tts = with_target("3 4\n0 0 +> 1 1\n1 0 +> 2 2\n2 0 -> 0 0\n0 2 -> 0 3\n", "0|1,1,1,3,3");
    assert!(all_say(&tts));
    let cover = karp_miller::cover_set(&Rules::new(&tts), &Run::unlimited()).expect("nothing stops it");
    assert!(cover.covers(&super_cover(0, &[0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3])));
    assert!(!cover.covers(&super_cover(0, &[0, 0])));
}

/// Pruning the subtrees of expanded nodes would lose what only they lead to.
#[test]
fn coverability_tree_pruning() {
    let net = "3 4\n0 0 -> 1 1\n1 1 -> 0 2\n0 2 +> 1 0\n1 0 -> 0 3\n0 3 +> 2 1\n2 1 -> 0 0\n";
    for target in ["0|3,3,2", "2|3,3", "1|1,1", "0|2,2,2"] {
        all_say(&with_target(net, target));
        all_say(&with_any_start(with_target(net, target)));
    }
}

/// Nothing new comes from two threads to three, and with four there is more.
#[test]
fn cutoff_stutter() {
    let tts = with_any_start(with_target("4 2\n0 0 -> 2 1\n2 0 -> 0 1\n2 0 -> 3 0\n3 1 -> 1 0\n", "1|1"));
    assert!(all_say(&tts));
    let rules = Rules::new(&tts);
    let run = Run::unlimited();
    let effort = Effort { most: Some(10), most_views: 0, exact: true };
    let found = search(&rules, effort, &run).expect("nothing stops it").cutoff;
    assert_eq!(found.plateau(), found.reached.len());
    assert!(found.reached.windows(3).any(|n| n[0] == n[1] && n[1] < n[2]), "{found:?}");
    assert!(found.proof.is_some());
    let effort = Effort { most: Some(3), most_views: 0, exact: false };
    let open = search(&rules, effort, &run).expect("nothing stops it").cutoff;
    assert_eq!((open.plateau(), open.proof), (2, None), "a plateau is no proof");
}

/// Generates c threads of which each counts up once; the last one finds the sum.
fn counter(c: usize) -> Tts {
    let steps: String = (0..c).map(|n| format!("{n} 0 -> {} 1\n", n + 1)).collect();
    with_any_start(with_target(&format!("{} 3\n{steps}{c} 1 -> {c} 2\n", c + 1), &format!("{c}|2")))
}

#[test]
fn cutoff_large() {
    for c in [5, 10, 20] {
        let tts = counter(c);
        assert!(all_say(&tts), "{c} threads are needed and found");
        let rules = Rules::new(&tts);
        let run = Run::unlimited();
        assert_eq!(bounded::find(&rules, c - 1, &run), Ok(None));
        let found = bounded::find(&rules, c, &run).expect("nothing stops it").expect("c threads are enough");
        assert_eq!(tts.replay(&found), Ok(()));
        let effort = Effort { most: None, most_views: 1, exact: true };
        let found = search(&rules, effort, &run).expect("nothing stops it").cutoff;
        // One more thread remains in its first state when the sum is reached.
        assert_eq!((found.plateau(), found.proof), (c + 1, Some(CutoffProof::KarpMiller)));
    }
}

/// The safe twins: one initial thread fewer, and no others.
#[test]
fn cutoff_large_with_too_few_threads() {
    for c in [5, 10, 20] {
        let mut tts = counter(c);
        tts.starts = vec![Start { shared: 0.into(), threads: vec![0.into(); c - 1], any: vec![] }];
        assert!(!all_say(&tts));
    }
}

#[expect(clippy::print_stderr, reason = "a test that looks at nothing says so")]
fn corpus() -> Vec<(String, Tts, String, String)> {
    let Some(folder) = selvedge_testkit::corpus::foreign("") else {
        eprintln!("the corpus is not there: nothing to compare with");
        return Vec::new();
    };
    let read = |path: &Path| fs::read_to_string(path).expect("files of the corpus can be read");
    let table = read(&folder.join("tts_verdicts.csv"));
    let row = |line: &str| {
        let columns: Vec<&str> = line.split(',').collect();
        let path = folder.join(columns[0]);
        let tts = with_target(&read(&path), &read(&path.with_extension("prop")));
        (columns[0].to_string(), tts, columns[5].to_string(), columns[6].to_string())
    };
    table.lines().skip(1).map(row).collect()
}

/// All 116 systems run in optimised builds only: `cargo test --release -p selvedge-testkit --test suite tts`.
#[test]
fn verdicts_of_the_corpus() {
    for (name, tts, one, any) in corpus().into_iter().filter(|(_, tts, _, _)| tts.n_local <= MOST_LOCALS) {
        let anybody = with_any_start(tts.clone());
        for (tts, expected) in [(tts, one), (anybody, any)] {
            let answer = decide(&tts, None, &Run::unlimited()).expect("nothing stops it");
            let verdict = if is_covered(&tts, &answer) { "UNSAFE" } else { "SAFE" };
            assert!(expected.is_empty() || verdict == expected, "{name}: {verdict}");
        }
    }
}

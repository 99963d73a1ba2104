//! Several pushdown systems with a shared state in turns: one pushdown system (Fig. 4 of Lal and Reps), a program for
//! the engines with a bound on contexts (section 5), and a search of configurations agree on the corpus of CUBA.

use selvedge_ir::pds::Threads;
use selvedge_testkit::contexts::systems::{Effort, compare, corpus};
use selvedge_testkit::harness::Tally;

#[test]
fn the_corpus_of_cuba_has_one_answer_in_turns() {
    let (mut n_systems, mut tally) = (0, Tally::default());
    for (path, threads) in corpus() {
        n_systems += 1;
        compare(&threads, effort(&threads), &mut tally).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    assert_eq!(tally["late"], 0, "nothing limits the time");
    if n_systems > 0 {
        let is_enough = tally["sets by search, exactly"] >= 20 && tally["sets by one pushdown system"] >= 40;
        assert!(n_systems >= 25 && is_enough, "{n_systems} systems, {tally}");
    }
}

/// Returns the limits for a system. All guesses of many shared states take long, and so does the lazy engine without
/// optimisation; `fuzz systems` goes further.
fn effort(threads: &Threads) -> Effort {
    let (last, eagerly) = match threads.n_shared {
        0..=4 => (4, 3),
        5..=10 => (4, 2),
        11..=100 => (2, 1),
        _ => (1, 1),
    };
    Effort { last, eagerly, rules: 2_000, height: 5, configurations: 3_000, patience: None }
}

//! Several pushdown systems with a shared state in turns: one pushdown system (Fig. 4 of Lal and Reps), a program for
//! the engines with a bound on contexts (section 5), and a search of configurations agree on the corpus of CUBA.

use selvedge_ir::pds::Threads;
use selvedge_testkit::contexts::systems::{Effort, compare, corpus};

#[test]
fn the_corpus_of_cuba_has_one_answer_in_turns() {
    let (mut n_systems, mut n_exact, mut n_by_system) = (0, 0, 0);
    for (path, threads) in corpus() {
        n_systems += 1;
        let rows = compare(&threads, effort(&threads)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        assert!(rows.iter().all(|row| row.lazy.is_some()), "nothing limits the time");
        n_exact += rows.iter().filter(|row| row.explicit.is_some_and(|(_, exact)| exact)).count();
        n_by_system += rows.iter().filter(|row| row.system).count();
    }
    if n_systems > 0 {
        assert!(n_systems >= 25 && n_exact >= 20 && n_by_system >= 40, "{n_systems}, {n_exact}, {n_by_system}");
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

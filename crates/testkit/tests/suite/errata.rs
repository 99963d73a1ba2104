//! Errors and subtleties of the papers: chapters 5 to 7 of the thesis. Each test has the name of its entry in the list
//! of errata; its programs run on every engine with every combination of reductions, and verdicts, evidence, reachable
//! sets and the answer for every assertion and label are those of the oracle.

use selvedge_testkit::corpus::{Entry, own};
use selvedge_testkit::threads::compare_entry;

/// Compares all engines on all programs whose names begin with one of these prefixes; there must be `at_least` of them.
/// Names of the errata are without their folder.
fn compare_all(prefixes: &[&str], at_least: usize) {
    let entries = own().expect("headers are readable");
    let is_wanted = |entry: &&Entry| {
        let name = entry.name.trim_start_matches("tests/programs/errata/");
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let wanted: Vec<&Entry> = entries.iter().filter(is_wanted).collect();
    assert!(wanted.len() >= at_least, "only {} programs", wanted.len());
    wanted.into_iter().for_each(compare_entry);
}

#[test]
fn ample_blocked_thread() {
    compare_all(&["ample_blocked_thread"], 3);
}

/// Each form in both orders of the threads.
#[test]
fn ample_spawn_dependence() {
    for prefix in ["ample_spawn_race", "ample_end_frees", "ample_child_writes"] {
        compare_all(&[prefix], 2);
    }
}

#[test]
fn ample_cycle() {
    compare_all(&["ample_cycle"], 4);
}

#[test]
fn persistent_blocked() {
    compare_all(&["persistent_"], 5);
}

#[test]
fn splice_on_image() {
    compare_all(&["splice_on_image"], 6);
}

#[test]
fn counters_self_loop() {
    compare_all(&["counters_self_loop"], 2);
}

#[test]
fn merge_counts() {
    compare_all(&["merge_counts"], 2);
}

#[test]
fn subsumption_direction() {
    compare_all(&["subsumption_direction"], 4);
}

#[test]
fn end_thread_index() {
    compare_all(&["end_thread_index"], 3);
}

/// Programs on which engines for threads were once wrong.
#[test]
fn regressions_with_every_reduction() {
    compare_all(
        &[
            "tests/regress/0003",
            "tests/regress/0004",
            "tests/regress/0006",
            "tests/regress/0007",
            "tests/regress/0008",
            "tests/regress/0010",
            "tests/regress/0015",
        ],
        7,
    );
}

/// The count goes up and down by one in every bit: with a wrong one the driver would stop too early, or never.
#[test]
fn bluetooth_listings() {
    compare_all(&["bluetooth_"], 2);
}

//! Samples of `fuzz faults` and `fuzz interrupts`: what goes wrong in the world gives no wrong answer, breaks no file
//! and leaves no process behind.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;

use selvedge_testkit::harness;
use selvedge_testkit::trials::interrupts::Interrupts;
use selvedge_testkit::trials::{Setting, faults, tasks};
use selvedge_testkit::workers::Items;

fn setting() -> Setting {
    Setting::new(env!("CARGO_BIN_EXE_selvedge").into())
}

#[test]
fn faults_on_purpose_do_no_harm() {
    let plan = faults::Plan { dense: 1, most: 2, jobs: 2 };
    let tallies = faults::run(&setting(), tasks::sample(), plan, |_, _| {});
    let findings: Vec<&String> = tallies.iter().flat_map(|(_, tally)| &tally.findings).collect();
    assert!(findings.is_empty(), "{findings:#?}");
    let silent: BTreeSet<&str> =
        tallies.iter().filter(|(_, tally)| tally.points == 0).map(|(point, _)| point.name()).collect();
    // In a release build, which users have, nothing can be made to fail.
    let expected = if cfg!(debug_assertions) { 0 } else { tallies.len() };
    assert_eq!(silent.len(), expected, "these kinds never happened: {silent:?}");
}

#[test]
fn interruptions_do_no_harm() {
    let items = Items { first: 0, count: 8, jobs: 1 };
    let summary = harness::run(Interrupts::new(setting()), 7, items, |_, _| {}).expect("all of them end");
    assert!(summary.findings.is_empty(), "{}", summary.findings[0]);
    assert_eq!(summary.total, 8);
}

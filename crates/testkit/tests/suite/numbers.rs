//! All engines on generated programs with numbers, arrays and locks.

use std::time::Duration;

use selvedge_testkit::harness::sample;
use selvedge_testkit::numbers::Numbers;
use selvedge_testkit::oracle::Budget;

#[test]
fn engines_agree_on_generated_programs_with_numbers() {
    let budget = Budget { patience: Some(Duration::from_secs(2)), ..Budget::states(1_000).tight() };
    let tally = sample(Numbers { budget }, 1, 0, 80);
    assert!(tally["search: safe"] > 5 && tally["search: unsafe"] > 10, "{tally}");
    assert!(tally["lifted"] > 20, "{tally}");
}

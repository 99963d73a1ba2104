//! All engines on generated programs with machine integers.

use std::time::Duration;

use selvedge_testkit::harness::sample;
use selvedge_testkit::machine::Machine;
use selvedge_testkit::oracle::Budget;

#[test]
fn engines_agree_on_generated_programs_with_machine_integers() {
    let budget = Budget { patience: Some(Duration::from_secs(2)), ..Budget::states(1_000).tight() };
    let tally = sample(Machine { budget }, 1, 0, 30);
    assert!(tally["safe"] > 10 && tally["unsafe"] > 10, "{tally}");
    assert!(tally["ranges"] > 10 && tally["lifted"] > 50, "{tally}");
}

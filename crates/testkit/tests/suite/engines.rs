//! All engines on generated programs with one thread.

use selvedge_testkit::engines::SEQUENTIAL;
use selvedge_testkit::harness::sample;

#[test]
fn engines_agree_on_generated_programs() {
    let tally = sample(SEQUENTIAL, 11, 0, 300);
    assert!(tally["safe"] > 50 && tally["unsafe"] > 50 && tally["sets"] > 200, "{tally}");
    assert!(tally["certified"] > 100 && tally["uncertified"] > 100, "{tally}");
}

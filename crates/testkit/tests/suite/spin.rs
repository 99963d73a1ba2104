//! Models of generated programs with threads: SPIN's verdict is the oracle's.
//!
//! Needs `spin`, which `./setup` installs into `.tools/`, and a C compiler.

use selvedge_testkit::harness::sample;
use selvedge_testkit::spin::MODELS;

#[test]
fn spin_agrees_on_generated_programs_with_threads() {
    let tally = sample(MODELS, 7, 0, 48);
    assert!(tally["safe"] > 8 && tally["unsafe"] > 8, "{tally}");
}

//! All engines on generated programs with machine integers.

use selvedge_testkit::harness::sample;
use selvedge_testkit::machine::Machine;

#[test]
fn engines_agree_on_generated_programs_with_machine_integers() {
    let tally = sample(Machine::default(), 1, 0, 60);
    assert!(tally["safe"] > 10 && tally["unsafe"] > 10, "{tally}");
    assert!(tally["ranges"] > 20 && tally["certified"] > 50, "{tally}");
}

//! Generated guarded commands: all engines for integers agree with each other and with a search over a box, and their
//! evidence is judged.

use selvedge_check::Solvers;
use selvedge_driver::external::find_solvers;
use selvedge_testkit::integers::compare::run;
use selvedge_testkit::workers::Items;

/// A sample of `fuzz integers`. For program 191 Spacer prints a derivation without its beginning.
#[test]
fn engines_for_integers_agree() {
    let solvers = find_solvers(&Solvers::default());
    let items = Items { first: 186, count: 16, jobs: 2 };
    let tally = run(1, items, &solvers, |_, _| {}).expect("nothing hangs");
    let told = tally.findings.iter().map(|(number, small, found)| format!("program {number}: {found}\n{small}"));
    assert!(tally.findings.is_empty(), "{}", told.collect::<Vec<_>>().join("\n"));
    assert!(tally.programs == 16 && tally.errors_in_box > 3, "{tally}");
}

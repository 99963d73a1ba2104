//! Models of generated programs with threads: SPIN's verdict is the oracle's.
//!
//! Needs `spin`, which `./setup` installs into `.tools/`, and a C compiler.

use selvedge_driver::external::Spin;
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::spin::run;
use selvedge_testkit::workers::Items;

#[test]
fn spin_agrees_on_generated_programs_with_threads() {
    let spin = Spin::find().expect("spin and a C compiler are needed: run ./setup, which installs spin into .tools/");
    let items = Items { first: 0, count: 48, jobs: 2 };
    let (tally, findings) = run(7, items, Budget::default(), &spin, |_, _| {}).expect("nothing hangs");
    if let Some(finding) = findings.first() {
        panic!("program {}: {}\n{}", finding.number, finding.fault, finding.small);
    }
    assert!(tally.safe > 8 && tally.unsafe_ > 8, "{tally}");
}

//! All engines on generated programs with one thread.

use selvedge_testkit::engines::{SEQUENTIAL, run};
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::workers::Items;

#[test]
fn engines_agree_on_generated_programs() {
    let items = Items { first: 0, count: 300, jobs: 2 };
    let (compared, findings) = run(SEQUENTIAL, 11, items, Budget::default(), |_, _| {}).expect("no program hangs");
    let mut report = String::new();
    for finding in &findings {
        report.push_str(&format!("program {}: {}\n{}\n", finding.number, finding.fault, finding.small));
    }
    assert!(findings.is_empty(), "{report}");
    assert!(compared.safe > 50 && compared.unsafe_ > 50 && compared.sets > 200, "{compared}");
    assert!(compared.certified > 100 && compared.uncertified > 100, "{compared}");
}

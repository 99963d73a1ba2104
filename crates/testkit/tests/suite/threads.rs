//! All engines on generated programs with several threads.

use selvedge_testkit::engines::run;
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::threads::{CONCURRENT, contenders, reductions};
use selvedge_testkit::workers::Items;

/// What the long run tries, a little of it.
#[test]
fn engines_agree_on_generated_programs_with_threads() {
    let items = Items { first: 0, count: 200, jobs: 2 };
    let budget = Budget::states(1_000).tight();
    let (compared, findings) = run(CONCURRENT, 1, items, budget, |_, _| {}).expect("no program hangs");
    let mut report = String::new();
    for finding in &findings {
        report.push_str(&format!("program {}: {}\n{}\n", finding.number, finding.fault, finding.small));
    }
    assert!(findings.is_empty(), "{report}");
    assert!(compared.safe > 10 && compared.unsafe_ > 10, "{compared}");
    assert!(compared.sets > 400 && compared.statuses > 500, "{compared}");
}

#[test]
fn every_engine_for_threads_is_tried_with_every_reduction_that_it_makes() {
    let count = |prefix: &str| contenders().iter().filter(|contender| contender.name.starts_with(prefix)).count();
    assert_eq!(reductions().len(), 16);
    assert_eq!(count("threads-explicit ("), 16);
    assert_eq!(count("threads ("), 17);
    assert_eq!(count("threads-plain ("), 2);
}

//! All engines on generated programs with several threads.

use selvedge_testkit::harness::sample;
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::threads::{CONCURRENT, contenders, reductions};

#[test]
fn engines_agree_on_generated_programs_with_threads() {
    let tally = sample(CONCURRENT.within(Budget::states(1_000).tight()), 1, 0, 200);
    assert!(tally["safe"] > 10 && tally["unsafe"] > 10, "{tally}");
    assert!(tally["sets"] > 400 && tally["lists of answers"] > 500, "{tally}");
}

#[test]
fn every_engine_for_threads_is_tried_with_every_reduction_that_it_makes() {
    let count = |prefix: &str| contenders().iter().filter(|contender| contender.name.starts_with(prefix)).count();
    assert_eq!(reductions().len(), 16);
    assert_eq!(count("threads-explicit ("), 16);
    assert_eq!(count("threads ("), 17);
    assert_eq!(count("threads-plain ("), 2);
}

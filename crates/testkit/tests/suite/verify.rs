//! Forged evidence about edited programs: what the judge accepts is true by a search. `fuzz verify` tries more.

use selvedge_driver::external::find_solvers;
use selvedge_testkit::harness::sample;
use selvedge_testkit::verify::{Judge, KINDS};

#[test]
fn the_judge_accepts_no_forged_evidence_against_a_search() {
    let judge = Judge { solvers: find_solvers(&selvedge_check::Solvers::default()), only: Vec::new() };
    let tally = sample(judge, 1, 0, 20 * KINDS.len() as u64);
    for (kind, _) in KINDS {
        for count in ["judged", "accepted", "rejected", "rejected, search refutes"] {
            assert!(tally[&*format!("{kind}: {count}")] > 0, "{kind}: nothing was {count}: {tally}");
        }
    }
}

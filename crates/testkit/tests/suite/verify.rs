//! Forged evidence about edited programs: what the judge accepts is true by a search. `fuzz verify` tries more.

use selvedge_driver::external::find_solvers;
use selvedge_testkit::harness::sample;
use selvedge_testkit::verify::{Judge, KINDS};

#[test]
fn the_judge_accepts_no_forged_evidence_against_a_search() {
    let solvers = find_solvers(&selvedge_check::Solvers::default());
    for (kind, _) in KINDS {
        let judge = Judge { solvers: solvers.clone(), pool: None, only: vec![kind.to_string()] };
        // Few programs are safe by their control flow alone, and not every engine finds each execution.
        let n_programs = match kind {
            "control flow" | "execution" => 150,
            "all states" | "over bits" => 8,
            _ => 20,
        };
        let tally = sample(judge, 1, 0, n_programs);
        for count in ["judged", "accepted", "rejected", "rejected, search refutes"] {
            assert!(tally[&*format!("{kind}: {count}")] > 0, "{kind}: nothing was {count}: {tally}");
        }
    }
}

//! Generated guarded commands: all engines for integers agree with each other and with a search over a box, and their
//! evidence is judged.

use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Run, Solvers, Verdict};
use selvedge_driver::external::find_solvers;
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::gcl;
use selvedge_ir::Target;
use selvedge_replay::certificate::{Accepted, verify};
use selvedge_testkit::corpus::{files, root};
use selvedge_testkit::harness::sample;
use selvedge_testkit::integers::boxed::task;
use selvedge_testkit::integers::compare::Integers;

/// A sample of `fuzz integers`. For program 191 Spacer prints a derivation without its beginning.
#[test]
fn engines_for_integers_agree() {
    let solvers = find_solvers(&Solvers::default());
    let tally = sample(Integers { solvers }, 1, 186, 16);
    assert!(tally["errors in the box"] > 3, "{tally}");
}

/// Certificates found by z3 are accepted by z3 and cvc5; by z3 alone if cvc5 could not be installed, which `./setup`
/// reports.
#[test]
fn certificates_of_the_programs_of_the_tables_are_accepted_by_both_solvers() {
    let all = find_solvers(&Solvers::default());
    let mut judges = vec![Solvers { cvc5: None, ..all.clone() }];
    judges.extend(all.cvc5.iter().map(|cvc5| Solvers { z3: None, cvc5: Some(cvc5.clone()) }));
    judges.extend(all.cvc5.iter().map(|_| all.clone()));
    let mut accepted = 0;
    for path in files(&root().join("tests/programs/gcl"), "gcl") {
        let text = std::fs::read_to_string(&path).expect("the file is there");
        let program = gcl::load(&text).program.expect("it is read");
        let target = Target::all_asserts(&program);
        let task = task(&program, &target);
        for kind in [EngineKind::Ase, EngineKind::Horn, EngineKind::Cegar, EngineKind::Induction] {
            let limits = Limits { time: Some(Duration::from_secs(2)), ..Limits::default() };
            let run = Run::new(CancelToken::default(), limits, &()).with_solvers(all.clone());
            let Ok(Verdict::Safe(Some(certificate))) = build(kind, &EngineOptions::default()).check(&task, &run) else {
                continue;
            };
            for judge in &judges {
                let judged = verify(&task, &certificate, &Run::unlimited().with_solvers(judge.clone()));
                let expected = match (&judge.z3, &judge.cvc5) {
                    (Some(_), Some(_)) => Accepted::Certified,
                    (Some(_), None) => Accepted::ByOneSolver("z3"),
                    (None, _) => Accepted::ByOneSolver("cvc5"),
                };
                assert_eq!(judged, Ok(expected), "{} of {}", path.display(), kind.name());
            }
            accepted += 1;
        }
    }
    assert!(accepted >= 8, "{accepted}");
}

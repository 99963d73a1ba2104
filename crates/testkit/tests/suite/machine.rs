//! All engines on generated programs with machine integers.

use std::time::Duration;

use selvedge_check::{Engine, Solvers, Target, Task, ThreadScope, Verdict};
use selvedge_driver::external::find_solvers;
use selvedge_engines::horn::Horn;
use selvedge_engines::unbounded::horn::HornThreads;
use selvedge_ir::text::parse;
use selvedge_replay::{Judged, judge};
use selvedge_testkit::harness::{Campaign, sample};
use selvedge_testkit::machine::Machine;
use selvedge_testkit::oracle::{Answer, Budget, ask, patient};

#[test]
fn engines_agree_on_generated_programs_with_machine_integers() {
    let budget = Budget { patience: Some(Duration::from_secs(2)), ..Budget::states(1_000).tight() };
    let tally = sample(Machine { budget }, 1, 0, 30);
    assert!(tally["safe"] > 10 && tally["unsafe"] > 10, "{tally}");
    assert!(tally["ranges"] > 10 && tally["lifted"] > 50, "{tally}");
}

#[test]
fn spacer_proves_no_unsafe_program_with_machine_integers() {
    proves_no_unsafe_program(&Horn, 1);
}

#[test]
fn spacer_proves_no_unsafe_threads_with_machine_integers() {
    proves_no_unsafe_program(&HornThreads, 3);
}

/// What Spacer proves over bit vectors, the judge accepts, and the search through all states finds no error.
fn proves_no_unsafe_program(engine: &dyn Engine, threads: u32) {
    let (generator, solvers) = (Machine::default(), find_solvers(&Solvers::default()));
    assert!(solvers.z3.is_some(), "z3 is needed: run ./setup, which installs it into .tools/");
    let (mut asked, mut proved) = (0, 0);
    for number in 0..150 {
        let text = generator.subject(21, number);
        let program = parse(&text).expect("the program is well-formed");
        let target = Target::all_asserts(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(threads) };
        if engine.supports(&task).is_err() {
            continue;
        }
        asked += 1;
        let Ok(verdict) = engine.check(&task, &patient(2).with_solvers(solvers.clone())) else { continue };
        assert!(matches!(verdict, Verdict::Safe(_)), "{text}");
        let judged = judge(&task, &verdict, &patient(10)).unwrap_or_else(|flaw| panic!("{flaw}\n{text}"));
        assert!(!matches!(ask(&task, Budget::states(3_000).tight()), Answer::Unsafe(_)), "{text}");
        proved += usize::from(judged == Judged::Certified);
    }
    assert!(proved > 5, "{proved} of {asked} are proved");
}

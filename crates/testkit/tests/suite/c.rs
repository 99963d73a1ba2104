//! Generated C programs, with the compiler of the machine.

#![expect(clippy::print_stdout, reason = "the tests say what they could not do")]

use std::time::Duration;

use selvedge_testkit::c::compiler::Compiler;
use selvedge_testkit::c::sequential::Sequential;
use selvedge_testkit::c::texts::{BrokenPrograms, sources};
use selvedge_testkit::c::threads::Threads;
use selvedge_testkit::harness::sample;
use selvedge_testkit::oracle::Budget;

#[test]
fn compiled_programs_compute_what_the_interpreter_computes() {
    let Some(compiler) = Compiler::find() else {
        println!("there is no C compiler with a sanitizer: nothing was compared");
        return;
    };
    let tally = sample(Sequential { compiler }, 3, 0, 4);
    assert!(tally["comparisons"] > 120, "{tally}");
}

#[test]
fn engines_agree_on_programs_with_threads_and_what_happens_is_possible() {
    let Some(compiler) = Compiler::find() else {
        println!("there is no C compiler: nothing was compared");
        return;
    };
    let budget = Budget { patience: Some(Duration::from_secs(1)), ..Budget::states(3_000).tight() };
    let tally = sample(Threads { budget, runs: 20, ..Threads::new(compiler) }, 3, 0, 3);
    assert!(tally["safe"] > 5 && tally["unsafe"] > 2, "{tally}");
    assert!(!cfg!(target_arch = "x86_64") || tally["outcomes"] > 20, "{tally}");
}

#[test]
fn mutated_programs_are_read_without_panic() {
    let tally = sample(BrokenPrograms { sources: sources().expect("our programs are readable") }, 1, 0, 1_500);
    assert!(tally["broken"] > 500 && tally["lowered"] > 50, "the mutations are too mild or too harsh: {tally}");
}

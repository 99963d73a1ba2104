//! Generated C programs, with the compiler of the machine.

#![expect(clippy::print_stdout, reason = "the tests say what they could not do")]

use std::path::Path;
use std::time::Duration;

use selvedge_frontend::LoadOptions;
use selvedge_testkit::c::compiler::Compiler;
use selvedge_testkit::c::pointers::{Pointers, watch};
use selvedge_testkit::c::sequential::Sequential;
use selvedge_testkit::c::texts::{BrokenPrograms, sources};
use selvedge_testkit::c::threads::Threads;
use selvedge_testkit::harness::{Tally, sample};
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

#[test]
fn pointers_lead_where_the_analysis_says() {
    let tally = sample(Pointers, 3, 0, 60);
    assert!(tally["observed"] > 300, "{tally}");
}

/// Returns the C programs of a folder of the project that have no undefined behaviour.
fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it is read").path());
    let texts = files.filter(|path| path.extension().is_some_and(|end| end == "c"));
    let texts = texts.map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("it is a text")));
    let is_defined = |text: &str| !(text.contains("// verdict: unsafe") && text.contains("--property memory"));
    texts.filter(|(_, text)| is_defined(text)).collect()
}

#[test]
fn pointers_of_our_programs_lead_where_the_analysis_says() {
    let (mut tally, mut n_all, mut n_kept) = (Tally::default(), 0, 0);
    for (path, text) in programs("tests/programs/c").into_iter().chain(programs("examples/c")) {
        let options = LoadOptions { path: Some(path.clone().into()), ..LoadOptions::default() };
        let uses = watch(&text, &options, 1, &mut tally).unwrap_or_else(|fault| panic!("{path}: {fault:?}"));
        for used in uses.iter().flatten() {
            (n_all, n_kept) = (n_all + used.n_all, n_kept + used.expected.len());
        }
    }
    assert!(tally["observed"] > 100, "{tally}");
    assert!(n_kept * 4 < n_all * 3, "{n_kept} of {n_all} candidates");
}

//! The reader and the formatter on texts of all kinds.

#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

use selvedge_check::{Run, Target, Task, ThreadScope};
use selvedge_driver::{RunEnd, simulate};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_testkit::corpus;
use selvedge_testkit::differ::item;
use selvedge_testkit::harness::sample;
use selvedge_testkit::texts::{self, Reading, Texts, read};

#[test]
fn mutated_texts_are_read_without_panic() {
    let sources = texts::sources().expect("the corpora are readable");
    let tally = sample(Texts { sources }, 1, 0, 2_000);
    let enough = tally["broken"] > 1_000 && tally["parsed"] > 50 && tally["lowered"] > 100;
    assert!(enough, "the mutations are too mild or too harsh: {tally}");
}

#[test]
fn generated_programs_are_read_and_formatted() {
    for number in 0..400 {
        let text = item(4, number).to_string();
        assert_eq!(read(text.as_bytes()), Ok(Reading::Lowered), "{text}");
    }
}

#[test]
fn other_peoples_programs_are_read_formatted_lowered_and_run() {
    let entries = corpus::all_foreign().expect("the corpus is readable");
    if entries.is_empty() {
        println!("the corpus is not here: nothing was read");
        return;
    }
    let (mut n_steps, mut n_passive) = (0, 0);
    for entry in &entries {
        assert_eq!(read(entry.text.as_bytes()), Ok(Reading::Lowered), "{}", entry.name);
        let program = load(&entry.text, &LoadOptions::default()).program.expect("the program was lowered");
        let target = Target::default();
        let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(3) };
        let run = simulate(&task, 1, 300, &Run::unlimited()).expect("the run has no limits");
        assert_eq!(run.trace.steps.len(), run.states.len(), "{}: without target no step is an error", entry.name);
        assert!(!run.trace.steps.is_empty() || run.end != RunEnd::StepLimit, "{}", entry.name);
        n_steps += run.trace.steps.len();
        n_passive += usize::from(run.trace.steps.iter().any(|step| !step.passive.is_empty()));
    }
    let n_programs = entries.len();
    println!(
        "{n_programs} programs parsed, {n_programs} formatted idempotently, {n_programs} lowered, {n_programs} run"
    );
    println!("{n_steps} steps, with passive copies in {n_passive} programs");
    assert_eq!(n_programs, 383);
    assert!(n_passive > 0);
}

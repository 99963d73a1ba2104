//! Programs with known verdicts, on every engine that supports them.

#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

use selvedge_check::{Outcome, Question, Subject};
use selvedge_driver::{Failure, Options, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_testkit::corpus::{self, Entry, Expected};
use selvedge_testkit::oracle::{Budget, within};

/// Returns the driver's outcome. An error says why there is none.
fn outcome(entry: &Entry, question: &Question, engine: Option<EngineKind>, states: usize) -> Result<Outcome, String> {
    let labels = question.label.iter().cloned().collect();
    let loaded = load(&entry.text, &LoadOptions { labels, ..LoadOptions::default() });
    let Some(program) = &loaded.program else { return Err(format!("{:?}", loaded.diagnostics)) };
    let subject = Subject { program, map: &loaded.source_map, text: &entry.text };
    let mut options = Options { question: question.clone(), engine: engine.map(EngineKind::row), ..Options::default() };
    options.engine_options.bmc.steps = 40;
    options.engine_options.induction.bound = 12;
    match within(Budget::states(states), |run| check(subject, &options, run)) {
        Ok(report) => Ok(report.outcome),
        Err(Failure::Usage(usage)) => Err(usage.to_string()),
        Err(failure) => panic!("{}: {failure}", entry.name),
    }
}

/// Returns the verdict, or the reason why there is none.
fn answer(entry: &Entry, question: &Question, engine: Option<EngineKind>) -> Result<Expected, String> {
    match outcome(entry, question, engine, 30_000)? {
        Outcome::Safe(_) => Ok(Expected::Safe),
        Outcome::Unsafe(_) => Ok(Expected::Unsafe),
        Outcome::Unknown(reason) => Err(reason.to_string()),
    }
}

/// An engine may stop at a bound. It must not contradict the header, and few programs may stay undecided.
#[test]
fn our_own_programs_have_the_verdicts_of_their_headers() {
    let entries = corpus::own().expect("headers are readable");
    assert!(entries.len() > 100, "only {} programs", entries.len());
    let mut undecided = Vec::new();
    for entry in &entries {
        let expected = entry.verdict.unwrap_or_else(|| panic!("{} has no verdict", entry.name));
        let engines = EngineKind::ALL.iter().copied().map(Some).chain([None]);
        let answers: Vec<_> = engines.map(|engine| answer(entry, &entry.question, engine)).collect();
        for found in answers.iter().flatten() {
            assert_eq!(*found, expected, "{}", entry.name);
        }
        if let Some(Err(reason)) = answers.last() {
            undecided.push(format!("{} ({reason})", entry.name));
        }
    }
    println!("{} programs, {} undecided: {}", entries.len(), undecided.len(), undecided.join(", "));
    assert!(undecided.len() * 20 < entries.len());
}

#[test]
fn regressions_have_a_number_and_a_story() {
    let mut numbers = std::collections::BTreeSet::new();
    for entry in corpus::own().expect("headers are readable") {
        if let Some(name) = entry.name.strip_prefix("tests/regress/") {
            assert!(entry.story.is_some(), "{} has no story", entry.name);
            assert!(numbers.insert(name[..4].to_string()), "the number of {} is taken", entry.name);
        }
    }
}

/// Programs that start threads are checked with a bound; the verdict shows whether it is enough for the error.
#[test]
fn the_boppo_suite_has_its_verdicts() {
    let entries = corpus::boppo().expect("the corpus is readable");
    let mut bounded = Vec::new();
    for entry in &entries {
        let found = answer(entry, &entry.question, None).or_else(|_| {
            bounded.push(entry.name.as_str());
            answer(entry, &Question { threads: Some(3), ..entry.question.clone() }, None)
        });
        assert_eq!(found.as_ref().ok(), entry.verdict.as_ref(), "{}: {found:?}", entry.name);
    }
    println!("{} programs, {} of them within 3 threads: {}", entries.len(), bounded.len(), bounded.join(", "));
}

/// The table counts the threads of a whole run, we those that live at a time. So if it says safe, an error takes more
/// threads than it counted.
#[test]
fn refined_programs_have_their_verdicts() {
    let entries = corpus::refined().expect("the corpus is readable");
    for entry in &entries {
        match (outcome(entry, &entry.question, None, 1_000_000), entry.verdict) {
            (Ok(Outcome::Safe(_)), Some(expected)) => assert_eq!(expected, Expected::Safe, "{}", entry.name),
            (Ok(Outcome::Unsafe(found)), Some(Expected::Safe)) => {
                let last = found.replay.states.last().unwrap_or(&found.replay.start);
                assert!(Some(last.next_thread) > entry.question.threads, "{}", entry.name);
            }
            (Ok(Outcome::Unsafe(_)), Some(Expected::Unsafe)) => {}
            (Ok(Outcome::Unknown(_)), Some(_)) => panic!("{} is undecided", entry.name),
            (Err(reason), _) => panic!("{}: {reason}", entry.name),
            (Ok(_), None) => panic!("{} has no verdict", entry.name),
        }
    }
}

/// An error that a program's twin has for one initial thread shows with at most three threads; a twin without error has
/// none with any number.
#[test]
fn programs_of_ijit_have_the_verdicts_of_their_twins() {
    let entries = corpus::ijit().expect("the corpus is readable");
    let mut undecided = Vec::new();
    for entry in &entries {
        match (outcome(entry, &entry.question, None, 100_000), entry.verdict) {
            (Ok(Outcome::Safe(_)), Some(expected)) => assert_eq!(expected, Expected::Safe, "{}", entry.name),
            (Ok(Outcome::Unsafe(_)), Some(expected)) => assert_eq!(expected, Expected::Unsafe, "{}", entry.name),
            (Ok(Outcome::Unknown(_)), Some(_)) => undecided.push(entry.name.as_str()),
            (Err(reason), _) => panic!("{}: {reason}", entry.name),
            (Ok(_), None) => panic!("{} has no verdict", entry.name),
        }
    }
    println!("{} programs, {} undecided: {}", entries.len(), undecided.len(), undecided.join(", "));
    assert!(undecided.len() * 10 <= entries.len());
}

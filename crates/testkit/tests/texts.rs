//! The reader and the formatter on texts of all kinds.

#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

use selvedge_testkit::campaign::item;
use selvedge_testkit::corpus;
use selvedge_testkit::texts::{self, Reading, read};
use selvedge_testkit::workers::Items;

/// One in fifty of the long run, which is `cargo run --release -p selvedge-testkit --bin fuzz -- parser --count 100000`.
#[test]
fn mutated_texts_are_read_without_panic() {
    let sources = texts::sources().expect("the corpora are readable");
    let tally = texts::run(sources, 1, Items { first: 0, count: 2_000, jobs: 2 }, |_, _| {}).expect("no text hangs");
    println!("{} texts: {} broken, {} parsed, {} lowered", tally.total(), tally.broken, tally.parsed, tally.lowered);
    for (number, text, fault) in &tally.findings {
        println!("mutant {number}: {fault}\n{}\n{text:?}\n", String::from_utf8_lossy(text));
    }
    assert!(tally.findings.is_empty());
    let enough = tally.broken > 1_000 && tally.parsed > 50 && tally.lowered > 100;
    assert!(enough, "the mutations are too kind or too cruel");
}

#[test]
fn generated_programs_are_read_and_formatted() {
    for number in 0..400 {
        let text = item(4, number).1.to_string();
        assert_eq!(read(text.as_bytes()), Ok(Reading::Lowered), "{text}");
    }
}

#[test]
fn other_peoples_programs_are_read_and_formatted() {
    let entries = corpus::all_foreign().expect("the corpus is readable");
    if entries.is_empty() {
        println!("the corpus is not here: nothing was read");
    }
    for entry in &entries {
        assert_eq!(read(entry.text.as_bytes()), Ok(Reading::Lowered), "{}", entry.name);
    }
    println!("{} programs read", entries.len());
}

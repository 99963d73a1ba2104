//! The playground in a real browser, and the book with it. `playground/build` makes the page; without it, or if the
//! sources have changed since, there is nothing to try.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};

use super::{root, scratch, selvedge};

/// Returns the page; nothing if it is not there or older than its sources. Where `SELVEDGE_PLAYGROUND` is set, that is
/// a failure.
#[expect(clippy::print_stderr, reason = "a test that has nothing to try says so")]
fn page() -> Option<PathBuf> {
    let page = root().join("target/playground/index.html");
    let mut command = Command::new("node");
    let told = command.arg(root().join("playground/fresh.mjs")).arg(&page).status().expect("node is installed");
    let problem = match told.code() {
        Some(0) => return Some(page),
        Some(3) => "is not there",
        Some(1) => "is older than its sources",
        code => panic!("playground/fresh.mjs ends with {code:?}"),
    };
    assert!(std::env::var_os("SELVEDGE_PLAYGROUND").is_none(), "{} {problem}", page.display());
    eprintln!("the playground is not tried: {} {problem}; playground/build makes it", page.display());
    None
}

/// Runs a script in node that drives the browser. Returns what it writes.
fn drive(script: &str, arguments: &[&Path]) -> Json {
    let tools = root().join(".tools");
    let mut command = Command::new("node");
    command.arg(root().join("crates/cli/tests/suite/browser").join(script));
    command.arg(tools.join("chromium/run")).arg(tools.join("node/node_modules")).args(arguments);
    let output = command.output().expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the script writes JSON")
}

/// Lets a visitor use the page.
fn visit(page: &Path) -> Json {
    let proof = scratch("lock_fixed.json");
    assert_eq!(selvedge(&["check", "--quiet", "examples/lock_fixed.bp", "--certificate", &proof]), 0);
    drive("play.mjs", &[page, Path::new(env!("CARGO_TARGET_TMPDIR")), Path::new(&proof)])
}

#[test]
fn a_visitor_checks_steps_shares_and_verifies() {
    let Some(page) = page() else { return };
    let seen = visit(&page);
    let says =
        |key: &str, words: &str| assert!(seen[key].as_str().is_some_and(|said| said.contains(words)), "{seen:#}");
    says("broken", "unsafe");
    assert_eq!(seen["steps"], json!([0, 1, 2, 1]), "{seen:#}");
    says("replayed", "The execution was replayed");
    says("right", "safe");
    says("judged", "The certificate was accepted");
    says("forged", "Rejected: ");
    says("mistake", "mistake");
    assert_eq!(seen["marked"], json!([2]), "{seen:#}");
    assert_eq!(seen["shared"], "mine.bp", "{seen:#}");
    says("there", "safe");
    assert_eq!(seen["stopped"], true, "{seen:#}");
    says("again", "safe");
    assert!(seen["lateness"].as_u64().is_some_and(|milliseconds| milliseconds < 20_000), "{seen:#}");
    assert_eq!(seen["chosen"], "lock_fixed.json", "{seen:#}");
    assert_eq!(seen["problems"], json!([]), "the page has errors or asks for other files");
}

#[test]
fn its_program_finds_the_verdicts_of_programs_and_accepts_their_evidence() {
    let Some(page) = page() else { return };
    let mut command = Command::new("node");
    command.arg("playground/trial.mjs").arg(page).arg("20").current_dir(root());
    command.args(["tests/programs/threads", "tests/programs/passive"]);
    let output = command.output().expect("node is installed");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("\"wrong\":0,\"undecided\":0,\"stopped\":0"), "{told}");
}

/// Without mdBook there is no book.
#[test]
fn the_book_opens_examples_in_the_playground() {
    if page().is_none() {
        return;
    }
    let folder = PathBuf::from(scratch("book-with-playground"));
    let made = Command::new(root().join("playground/book")).arg(&folder).output().expect("it is a script");
    if made.status.code() == Some(3) {
        return;
    }
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let seen = drive("book.mjs", &[&folder, Path::new(env!("CARGO_TARGET_TMPDIR"))]);
    let example = std::fs::read_to_string(root().join("examples/lock.bp")).expect("it is there");
    assert_eq!(seen["opened"], example);
    assert!(seen["said"].as_str().is_some_and(|said| said.contains("unsafe")), "{seen:#}");
    assert!(seen["links"].as_u64().is_some_and(|links| links > 10), "{seen:#}");
    assert_eq!(seen["dead"], json!([]), "links to examples that there are not");
    assert_eq!(seen["problems"], json!([]), "a page has errors or asks for other files");
}

//! The playground in a real browser. `playground/build` makes its page, which takes minutes, so that these tests use
//! the page that is there.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};

use super::{root, scratch, selvedge};

/// Returns the page; nothing if it is not there.
#[expect(clippy::print_stderr, reason = "a test that has nothing to try says so")]
fn page() -> Option<PathBuf> {
    let page = root().join("target/playground/index.html");
    if page.exists() {
        return Some(page);
    }
    eprintln!("the playground is not tried: playground/build makes {}", page.display());
    None
}

/// Lets a visitor use the page.
fn visit(page: &Path) -> Json {
    let (tools, proof) = (root().join(".tools"), scratch("lock_fixed.json"));
    assert_eq!(selvedge(&["check", "--quiet", "examples/lock_fixed.bp", "--certificate", &proof]), 0);
    let mut command = Command::new("node");
    command.arg(root().join("crates/cli/tests/suite/browser/play.mjs")).arg(tools.join("chromium/run"));
    command.arg(tools.join("node/node_modules")).arg(page).arg(env!("CARGO_TARGET_TMPDIR")).arg(proof);
    let output = command.output().expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the script writes JSON")
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
    if page().is_none() {
        return;
    }
    let mut command = Command::new("node");
    command.args(["playground/trial.mjs", "tests/programs/threads", "tests/programs/passive"]).current_dir(root());
    let output = command.output().expect("node is installed");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("\"wrong\":0,\"undecided\":0,\"stopped\":0"), "{told}");
}

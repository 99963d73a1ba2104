//! The playground in a real browser. `playground/build` makes its page, which takes minutes, so that these tests use
//! the page that is there.

use std::process::Command;

use serde_json::{Value as Json, json};

use super::{root, scratch, selvedge};

/// Lets a visitor use the page; nothing if there is no page.
#[expect(clippy::print_stderr, reason = "a test that has nothing to try says so")]
fn visit() -> Option<Json> {
    let page = root().join("target/playground/index.html");
    if !page.exists() {
        eprintln!("the playground is not tried: playground/build makes {}", page.display());
        return None;
    }
    let (tools, proof) = (root().join(".tools"), scratch("lock_fixed.json"));
    assert_eq!(selvedge(&["check", "--quiet", "examples/lock_fixed.bp", "--certificate", &proof]), 0);
    let mut command = Command::new("node");
    command.arg(root().join("crates/cli/tests/suite/browser/play.mjs")).arg(tools.join("chromium/run"));
    command.arg(tools.join("node/node_modules")).arg(page).arg(env!("CARGO_TARGET_TMPDIR")).arg(proof);
    let output = command.output().expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("the script writes JSON"))
}

#[test]
fn a_visitor_checks_steps_shares_and_verifies() {
    let Some(seen) = visit() else { return };
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
    assert_eq!(seen["chosen"], "lock_fixed.json", "{seen:#}");
    assert_eq!(seen["problems"], json!([]), "the page has errors or asks for other files");
}

//! The language server and the debug adapter, driven by the protocols' own client libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the project is there")
}

/// Runs a script of this folder.
fn session(script: &str) {
    let root = root();
    let modules = root.join(".tools/node/node_modules");
    assert!(modules.exists(), "packages are missing: ./setup installs them into .tools/node");
    let mut command = Command::new("node");
    command.arg(root.join("crates/cli/tests/suite/editor").join(script));
    let output =
        command.arg(env!("CARGO_BIN_EXE_selvedge")).arg(modules).arg(&root).output().expect("node is installed");
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
}

#[test]
fn the_debug_adapter_steps_both_ways_to_breakpoints_and_explains_the_error() {
    session("dap.mjs");
}

#[test]
fn the_language_server_follows_edits_finds_names_formats_and_checks() {
    session("lsp.mjs");
}

#[test]
fn the_packed_extension_starts_its_servers_and_shows_reports() {
    session("extension.mjs");
}

#[test]
fn what_code_scanning_reads_fits_the_schema_of_sarif() {
    session("sarif.mjs");
}

#[test]
fn the_grammars_name_the_parts_of_programs() {
    let root = root();
    let tool = root.join(".tools/node/node_modules/.bin/vscode-tmgrammar-test");
    let mut command = Command::new(tool);
    command.args(["-g", "syntaxes/bp.tmLanguage.json", "-g", "syntaxes/gcl.tmLanguage.json", "tests/*"]);
    let output = command.current_dir(root.join("editors/vscode")).output().expect("./setup installs the tool");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

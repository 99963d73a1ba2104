//! The pages of reports in a real browser: what keys lead to is what `replay` computes.
//!
//! The browser is Chromium, driven by the package `puppeteer-core`; `./setup` puts both into `.tools/` where they are
//! missing.

mod page;
mod playground;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selvedge_check::Task;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::Value;
use selvedge_replay::{Replay, State, replay};
use selvedge_report::json::read_trace;
use serde_json::{Value as Json, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the project is there")
}

fn scratch(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

fn selvedge(args: &[&str]) -> i32 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    let output = command.args(args).current_dir(root()).output().expect("the program was built");
    output.status.code().expect("the program ends by itself")
}

/// Gives tasks to the browser.
fn browse(tasks: &Json) -> Vec<Json> {
    let (root, tools) = (root(), root().join(".tools"));
    let script = root.join("crates/cli/tests/suite/browser/walk.mjs");
    let browser = tools.join("chromium/run");
    assert!(browser.exists(), "Chromium is missing: ./setup installs it into .tools/chromium");
    let mut command = Command::new("node");
    command.arg(script).arg(browser).arg(tools.join("node/node_modules"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node is installed");
    child.stdin.take().expect("it was piped").write_all(tasks.to_string().as_bytes()).expect("node reads it");
    let output = child.wait_with_output().expect("node ends");
    assert!(output.status.success(), "the browser cannot be driven");
    let results: Vec<Json> = serde_json::from_slice(&output.stdout).expect("the script writes JSON");
    for result in &results {
        assert_eq!(result["problems"], json!([]), "the page has errors or asks for other files");
    }
    results
}

/// The execution of a trace file.
fn replayed(program: &str, trace: &str) -> Replay {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let (text, file) = (read(program), read_trace(&read(trace)).expect("it is a trace"));
    let loaded = load(&text, &LoadOptions::default());
    let original = loaded.program.expect("the program has no errors");
    let subject = selvedge_check::Subject { program: &original, map: &loaded.source_map, text: &text };
    let (program, target, threads) = file.question.question().pose(subject).expect("the question fits");
    let trace = file.trace(&program).expect("the trace belongs to the program").written_out();
    replay(&Task { program: &program, target: &target, threads }, &trace).expect("the trace replays")
}

/// The values of a state by the keys of the page. Per-thread variables do not occur in these programs.
fn values(state: &State) -> BTreeMap<String, String> {
    let text = |value: &Value| value.number().to_string();
    let mut found = BTreeMap::new();
    found.extend(state.shared.iter().enumerate().map(|(slot, value)| (format!("s.{slot}"), text(value))));
    for thread in &state.threads {
        for (number, frame) in thread.stack.iter().enumerate() {
            let local = |(slot, value)| (format!("l{}.{number}.{slot}", thread.id.0), text(value));
            found.extend(frame.locals.iter().enumerate().map(local));
        }
    }
    found
}

/// Makes the page and the trace of a program, walks to its end and back, and compares all values.
fn walk_through(program: &str, options: &[&str]) {
    let name = program.rsplit('/').next().expect("a path has a last part");
    let (page, trace) = (scratch(&format!("{name}.html")), scratch(&format!("{name}.json")));
    let args = [&["check", program, "--html", &page, "--trace-out", &trace], options].concat();
    assert_eq!(selvedge(&args), 10);
    let executed = replayed(program, &trace);
    let mut states = vec![executed.start];
    states.extend(executed.states);
    let n_steps = read_trace(&std::fs::read_to_string(&trace).expect("it was written")).expect("it is a trace");
    let n_steps = n_steps.steps.len().max(states.len() - 1);
    let keys: Vec<&str> = [vec!["Home"], vec!["ArrowRight"; n_steps], vec!["ArrowLeft"; n_steps]].concat();
    let result = &browse(&json!([{ "page": page, "keys": keys }]))[0];
    let positions: Vec<usize> = (0..=n_steps).chain((0..n_steps).rev()).collect();
    for (seen, position) in result["walk"].as_array().expect("it is a list").iter().zip(positions) {
        assert_eq!(seen["at"], json!(position));
        let state = &states[position.min(states.len() - 1)];
        let shown: BTreeMap<String, String> = serde_json::from_value(seen["values"].clone()).expect("values are texts");
        assert_eq!(shown, values(state), "{program}, position {position}");
    }
    assert!(result["first"]["ending"].as_str().is_some_and(|text| text.contains("fails")), "the error is explained");
}

#[test]
fn keys_walk_through_the_bluetooth_bug_as_replay_executes_it() {
    walk_through("examples/bluetooth.bp", &["--threads", "3"]);
}

#[test]
fn keys_walk_through_recursive_calls_as_replay_executes_them() {
    walk_through("examples/recursion.bp", &[]);
}

#[test]
fn keys_find_switches_changes_and_steps_of_a_thread() {
    let page = scratch("moves.html");
    assert_eq!(selvedge(&["check", "examples/bluetooth.bp", "--threads", "3", "--html", &page]), 10);
    let keys = ["Home", "s", "s", "S", "t", "T", "c", "C", "End", "d"];
    let tasks = json!([{ "page": page, "hash": "#step=4", "keys": keys, "query":
        "[run.length, run.steps.map((step) => step[0]), chosen, \
          run.steps.map((_, number) => run.changes(number + 1).some((change) => change[0] === chosen))]" }]);
    let result = &browse(&tasks)[0];
    assert_eq!(result["first"]["at"], json!(4), "#step=4 addresses a state");
    assert_eq!(result["first"]["now"], json!("4"));
    let query = &result["query"];
    let threads: Vec<u64> = serde_json::from_value(query[1].clone()).expect("threads are numbers");
    let changes: Vec<bool> = serde_json::from_value(query[3].clone()).expect("changes are truth values");
    let thread = |position: usize| position.checked_sub(1).map(|number| threads[number]);
    let n_steps = threads.len();
    let forward =
        |from: usize, wanted: &dyn Fn(usize) -> bool| (from + 1..=n_steps).find(|at| wanted(*at)).unwrap_or(from);
    let backward = |from: usize, wanted: &dyn Fn(usize) -> bool| (0..from).rev().find(|at| wanted(*at)).unwrap_or(from);
    let mut at = 0;
    let mut expected = vec![0];
    for key in &keys[1..] {
        let here = thread(at);
        at = match *key {
            "s" => forward(at, &|next| thread(next) != here),
            "S" => backward(at, &|next| thread(next) != here),
            "t" => forward(at, &|next| thread(next) == here),
            "T" => backward(at, &|next| thread(next) == here),
            "c" => forward(at, &|next| next > 0 && changes[next - 1]),
            "C" => backward(at, &|next| next > 0 && changes[next - 1]),
            "End" => n_steps,
            _ => at,
        };
        expected.push(at);
    }
    let seen: Vec<usize> = result["walk"]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|seen| seen["at"].as_u64().expect("positions are numbers") as usize)
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(result["walk"][8]["theme"], json!("light"));
    assert_eq!(result["walk"][9]["theme"], json!("dark"), "the key d turns the lights off");
}

#[test]
fn ten_thousand_steps_stay_small_and_fluid() {
    let page = scratch("long.html");
    let program = "crates/cli/tests/programs/long.bp";
    let args = ["simulate", "--steps", "10000", "--seed", "1", "--threads", "2", "--html", &page, program];
    assert_eq!(selvedge(&args), 5);
    let size = std::fs::metadata(&page).expect("the page was written").len();
    assert!(size < 10_000_000, "{size} bytes");
    let result = &browse(&json!([{ "page": page, "hash": "#step=0", "race": 1000, "query": "at" }]))[0];
    assert_eq!(result["query"], json!(1000));
    let rows = result["first"]["rows"].as_u64().expect("it is a number");
    assert!(rows < 200, "{rows} of 10,000 rows are in the page at once");
    let race = &result["race"];
    let layouts = race["layouts"].as_f64().expect("it is a number");
    assert!(layouts <= 1010.0, "1,000 steps lay the page out {layouts} times");
    let milliseconds = race["milliseconds"].as_f64().expect("it is a number");
    assert!(milliseconds < 10_000.0, "1,000 steps keep a busy machine for {milliseconds} ms");
}

#[test]
fn a_proof_is_shown_and_printed_without_script() {
    let page = scratch("safe.html");
    assert_eq!(selvedge(&["check", "examples/lock_fixed.bp", "--html", &page]), 0);
    let text = std::fs::read_to_string(&page).expect("the page was written");
    for part in ["Checked by", "<h2 id=\"proof-title\">Proof</h2>", "<th scope=\"col\">Holds</th>", "Statistics"] {
        assert!(text.contains(part), "{part}");
    }
    let query = "[document.querySelectorAll('#proof tbody tr').length, \
                 getComputedStyle(document.getElementById('bar')).display]";
    let result = &browse(&json!([{ "page": page, "query": query, "pdf": true, "scheme": "dark" }]))[0];
    assert!(result["query"][0].as_u64().is_some_and(|rows| rows > 3), "a row per location");
    assert_eq!(result["query"][1], json!("none"), "there is nothing to walk through");
    assert!(result["pdf"].as_u64().is_some_and(|bytes| bytes > 10_000));
}

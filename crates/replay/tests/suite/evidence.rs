//! Recorded evidence: the judge says today what it said when the records were made.
//!
//! `tests/evidence.jsonl` has a generated program in each line, certificates and executions that engines found, and
//! changes to them. A record does not say that an answer is right: other tests compare the judge with searches. It says
//! that no part of the judge can change without notice, which is what mutation testing asks for. Two commands write it:
//!
//! ```text
//! cargo run -p selvedge-testkit --bin fuzz -- evidence --count 400 > crates/replay/tests/evidence.jsonl
//! UPDATE_EVIDENCE=1 cargo test -p selvedge-replay evidence
//! ```
//!
//! `EVIDENCE=3,17` in the environment judges only these lines, from 0, in this order; `EVIDENCE_FILE` names another
//! file.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use selvedge_check::{CancelToken, Certificate, Limits, Question, Run, Subject, Task};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_replay::certificate::{Accepted, verify, verify_with_solvers};
use selvedge_replay::replay::{reached, replay};
use selvedge_replay::{Interpreter, Outcome};
use selvedge_report::json::{QuestionView, digest, read_certificate, read_trace};
use serde_json::{Value, json};

/// The greatest number of states of a program that are visited.
const STATES: usize = 60;

/// Returns a result in a few words: its debug text, or its first word and a digest if it is long.
fn words(result: &impl Debug) -> String {
    let text = format!("{result:?}");
    if text.len() <= 100 { text } else { format!("{} {}", text.split('(').next().unwrap_or(""), digest(&text)) }
}

/// Judges a certificate or an execution, and returns the answer in a few words. A judge that needs long is stopped.
/// Proofs about several threads are judged in both ways, state by state and with solvers.
fn judged(task: &Task<'_>, file: &Value) -> String {
    let text = file.to_string();
    if file["format"] == "selvedge-trace" {
        let trace = match read_trace(&text).and_then(|file| file.trace(task.program)) {
            Ok(trace) => trace,
            Err(_) => return "unreadable".to_string(),
        };
        return words(&replay(task, &trace));
    }
    let certificate = match read_certificate(&text).and_then(|file| file.certificate(task.program)) {
        Ok(certificate) => certificate,
        Err(_) => return "unreadable".to_string(),
    };
    let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
    let run = Run::new(CancelToken::default(), limits, &());
    let answer = words(&verify(task, &certificate, &run));
    let Certificate::Shapes(proof) = &certificate else { return answer };
    let by_solvers = words(&verify_with_solvers(task, proof, &run).map(|()| Accepted::Certified));
    if answer == by_solvers { answer } else { format!("{answer}; with solvers {by_solvers}") }
}

/// Visits the first states of a program, breadth-first; returns a digest of all that the interpreter says about them.
fn visited(task: &Task<'_>) -> String {
    let interpreter = Interpreter::new(task.program, task.threads);
    if let Err(reason) = interpreter.enumerable() {
        return words(&reason);
    }
    let mut told = Vec::new();
    let (mut seen, mut open) = (BTreeSet::new(), VecDeque::new());
    for start in interpreter.starts(3).take(8) {
        let state = interpreter.start(&start);
        told.push(words(&(&start, &state)));
        open.extend(state);
    }
    while let Some(state) = open.pop_front().filter(|_| seen.len() < STATES) {
        if !seen.insert(format!("{state:?}")) {
            continue;
        }
        told.push(words(&reached(task, &state)));
        for position in 0..state.threads.len() {
            let edges = interpreter.edges(&state, &state.threads[position]).to_vec();
            for step in edges.into_iter().flat_map(|edge| interpreter.steps(&state, position, edge)) {
                let outcome = interpreter.step(&state, &step);
                told.push(words(&(&step, &outcome)));
                if let Ok(Outcome::Next(next)) = outcome {
                    open.push_back(next);
                }
            }
        }
    }
    digest(&told.join("\n"))
}

/// Makes a change: the place, what is done there, and with what.
fn apply(change: &Value, file: &mut Value) {
    let place = file.pointer_mut(change[0].as_str().expect("a place")).expect("it is there");
    let [at, other] = [&change[2], &change[3]].map(|number| number.as_u64().unwrap_or(0) as usize);
    match (change[1].as_str(), place) {
        (Some("set"), place) => *place = change[2].clone(),
        (Some("copy"), Value::Array(items)) => items.insert(at, items[at].clone()),
        (Some("swap"), Value::Array(items)) => items.swap(at, other),
        (Some("remove"), Value::Array(items)) => drop(items.remove(at)),
        _ => panic!("{change} is no change"),
    }
}

/// Reads a Boolean program, or one with machine integers, in the text form of the representation.
fn read(text: &str, view: &QuestionView) -> (Program, SourceMap) {
    if let Ok(program) = selvedge_ir::text::parse(text) {
        let map = SourceMap::without_positions(&program);
        return (program, map);
    }
    let loaded = load(text, &LoadOptions { entry: view.entry.clone(), ..LoadOptions::default() });
    (loaded.program.expect("recorded programs are read"), loaded.source_map)
}

/// Returns what the judge says about a record: about the first states, each piece of evidence, and each change to it.
fn answers(record: &Value) -> Value {
    let text = record["program"].as_str().expect("a text");
    let view: QuestionView = serde_json::from_value(record["question"].clone()).expect("a question");
    let question: Question = view.question();
    let (program, map) = read(text, &view);
    let posed = question.pose(Subject { program: &program, map: &map, text });
    let (asked, target, threads) = posed.expect("the question fits");
    let task = Task { program: &asked, target: &target, threads };
    let pieces = record["pieces"].as_array().expect("a list").iter().map(|piece| {
        let changes = piece["changes"].as_array().expect("a list").iter().map(|change| {
            let mut changed = piece["file"].clone();
            apply(change, &mut changed);
            judged(&task, &changed)
        });
        let changes: Vec<String> = changes.collect();
        json!({ "itself": judged(&task, &piece["file"]), "changed": changes })
    });
    let pieces: Vec<Value> = pieces.collect();
    json!({ "visited": visited(&task), "pieces": pieces })
}

#[test]
fn recorded_evidence_is_judged_as_it_was() {
    let recorded = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence.jsonl");
    let file = std::env::var_os("EVIDENCE_FILE").map_or_else(recorded, PathBuf::from);
    let text = std::fs::read_to_string(&file).expect("the records are part of the project");
    let lines: Vec<&str> = text.lines().collect();
    let only = std::env::var("EVIDENCE").ok();
    let chosen: Vec<&str> = match &only {
        Some(only) => only.split(',').map(|number| lines[number.parse::<usize>().expect("a number")]).collect(),
        None => lines,
    };
    let records = chosen.into_iter().map(|line| serde_json::from_str(line).expect("a line is JSON"));
    if std::env::var_os("UPDATE_EVIDENCE").is_some() {
        let updated = records.map(|mut record: Value| {
            record["answers"] = answers(&record);
            record.to_string() + "\n"
        });
        let updated: String = updated.collect();
        std::fs::write(&file, updated).expect("the records can be written");
        return;
    }
    let (mut accepted, mut rejected) = (0, 0);
    for (number, record) in records.enumerate() {
        let found = answers(&record);
        let program = record["program"].as_str().unwrap_or("");
        assert_eq!(found, record["answers"], "record {number}, about the program\n{program}");
        for piece in found["pieces"].as_array().expect("a list") {
            let is = |answer: &Value, word: &str| answer.as_str().is_some_and(|answer| answer.starts_with(word));
            accepted += usize::from(is(&piece["itself"], "Ok"));
            let changed = piece["changed"].as_array().expect("a list");
            rejected += changed.iter().filter(|answer| is(answer, "Err")).count();
        }
    }
    assert!(only.is_some() || accepted > 100 && rejected > 300, "{accepted} accepted, {rejected} rejected");
}

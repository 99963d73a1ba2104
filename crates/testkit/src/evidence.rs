//! Evidence for the tests of the judge: small programs with what the engines say about them, and changes to it.
//!
//! [`records`] writes what `crates/replay/tests/evidence.jsonl` has: a line for each program, with its certificates and
//! executions as JSON, and for each of them a few changes at random places. What the judge says about each is added by
//! its own test (`UPDATE_EVIDENCE=1`), which needs no engine and is therefore fast enough for mutation testing.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Outcome, Question, Subject};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::{Context, Source};
use selvedge_ir::span::SourceMap;
use selvedge_report::json::{CertificateFile, QuestionView, TraceFile};
use serde_json::{Value, json};

use crate::differ::{Posed, pose};
use crate::generate::{Weights, generate_with};
use crate::machine;
use crate::oracle::{Budget, within};
use crate::rng::Rng;

/// The longest text of a program, and the longest piece of evidence, in bytes.
const LONGEST: (usize, usize) = (700, 6_000);

/// The number of changes to each piece of evidence.
const CHANGES: usize = 14;

/// Writes the records of `count` generated programs, a line of JSON each.
pub fn records(seed: u64, count: u64) -> String {
    let mut lines = String::new();
    let mut seen = BTreeMap::new();
    for number in 0..count {
        if let Some(record) = record(seed, number, &mut seen) {
            lines += &record.to_string();
            lines.push('\n');
        }
    }
    lines
}

/// Returns the record of one program; `None` if it is long, or has no evidence of a kind that is rare so far.
fn record(seed: u64, number: u64, seen: &mut BTreeMap<([bool; 3], String), usize>) -> Option<Value> {
    let mut rng = Rng::for_item(seed, number);
    let (posed, question) = subject(&mut rng, number)?;
    if posed.text.len() > LONGEST.0 {
        return None;
    }
    let has = |word: &str| posed.text.contains(word);
    let class = [has("L0 -> "), has("enforce"), question.deadlock];
    let pieces: Vec<Value> = pieces(&posed, &question)
        .into_iter()
        .filter(|(kind, piece)| {
            let rare = seen.entry((class, kind.clone())).or_default();
            *rare += 1;
            piece.to_string().len() <= LONGEST.1 && *rare <= 30
        })
        .map(|(_, piece)| {
            let changes: Vec<Value> = (0..CHANGES).filter_map(|_| change(&mut rng, &piece)).collect();
            json!({ "file": piece, "changes": changes })
        })
        .collect();
    let question = QuestionView::new(&question, None);
    (!pieces.is_empty()).then(|| json!({ "program": posed.text, "question": question, "pieces": pieces }))
}

/// Returns a program with a question: every fifth has machine integers, and of the others a quarter is asked about any
/// number of threads and a quarter about deadlocks.
fn subject(rng: &mut Rng, number: u64) -> Option<(Posed, Question)> {
    if number % 5 == 4 {
        let question = Question { threads: Some(3), ..Question::default() };
        return Some((pose_ir(machine::program(rng), &question)?, question));
    }
    let sequential = [("sequential", Weights::sequential()), ("recursive", Weights::recursive())];
    let weights: Vec<_> = Weights::presets().into_iter().chain(sequential).chain(Weights::concurrent()).collect();
    let mut model = generate_with(rng, &weights[number as usize % weights.len()].1);
    match number % 4 {
        1 => model.question.threads = None,
        3 => (model.question.label, model.question.assertion, model.question.deadlock) = (None, None, true),
        _ => {}
    }
    Some((pose(&model).ok()?, model.question))
}

/// Poses a question about a program in the text form of the representation, whose parts have no positions.
pub(crate) fn pose_ir(text: String, question: &Question) -> Option<Posed> {
    let program = selvedge_ir::text::parse(&text).ok()?;
    let map = SourceMap::without_positions(&program);
    let (asked, target, threads) = question.pose(Subject { program: &program, map: &map, text: &text }).ok()?;
    Some(Posed { program, map, text, asked, target, threads })
}

/// Returns the different certificates and executions that engines find, each with its kind.
pub(crate) fn pieces(posed: &Posed, question: &Question) -> Vec<(String, Value)> {
    let source = Source::new("program.bp", posed.text.clone());
    let context = Context { program: &posed.asked, map: &posed.map, source: &source };
    let view = QuestionView::new(question, None);
    let (mut texts, mut found) = (BTreeSet::new(), Vec::new());
    for engine in EngineKind::ALL {
        let mut options = Options { engine: Some(engine.row()), question: question.clone(), ..Options::default() };
        options.engine_options.induction.bound = 6;
        let budget = Budget { patience: Some(std::time::Duration::from_secs(1)), ..Budget::states(300) };
        let Ok(answer) = within(budget, |run| check(posed.subject(), &options, run)) else { continue };
        let piece = match answer.outcome {
            Outcome::Safe(Some(certificate)) => {
                let file = CertificateFile::new(context, view.clone(), &certificate);
                serde_json::to_value(file).expect("certificates are JSON")
            }
            Outcome::Unsafe(counterexample) => {
                let file = TraceFile::new(context, view.clone(), &counterexample);
                serde_json::to_value(file).expect("executions are JSON")
            }
            _ => continue,
        };
        let kind = piece["proof"]["kind"].as_str().unwrap_or("trace");
        let kind = format!("{kind} {}", piece["proof"]["claim"]["kind"].as_str().unwrap_or_default());
        if texts.insert(piece.to_string()) {
            found.push((kind, piece));
        }
    }
    found
}

/// Returns a change at a random place of a piece of evidence: the place, what is done there, and with what.
fn change(rng: &mut Rng, piece: &Value) -> Option<Value> {
    let mut places = Vec::new();
    for part in ["proof", "start", "steps", "bodies"] {
        collect(&piece[part], format!("/{part}"), &mut places);
    }
    let place = rng.pick(&places)?;
    let value = piece.pointer(place)?;
    let new: Value = match value {
        Value::Bool(value) => (!value).into(),
        Value::Number(number) => {
            let number = number.as_i64()?;
            [number + 1, number - 1, 0, 1, 2, 1_000][rng.below(6)].max(0).into()
        }
        Value::Array(items) if items.is_empty() => return None,
        Value::Array(items) => {
            let at = rng.below(items.len());
            let word = ["copy", "swap", "remove", "remove"][rng.below(4)];
            return Some(json!([place, word, at, rng.below(items.len())]));
        }
        Value::String(_) => {
            let words = ["and", "or", "not", "true", "false", "now", "entry", "of", "any", "main"];
            (*rng.pick(&words)?).into()
        }
        Value::Null | Value::Object(_) => return None,
    };
    (*value != new).then(|| json!([place, "set", new]))
}

/// Collects the places of all parts of a value that a change can concern.
pub(crate) fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !["line", "text", "changes", "variable", "procedure", "kind"].contains(&name.as_str()))
            .for_each(|(name, value)| collect(value, format!("{place}/{name}"), places)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{place}/{at}"), places));
            places.push(place);
        }
        Value::Null => {}
        _ => places.push(place),
    }
}

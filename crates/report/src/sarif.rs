//! Results in the Static Analysis Results Interchange Format, version 2.1.0, as code-scanning services take it.
//!
//! A violation is a result with one code flow: a thread flow for each thread of the program, whose locations carry the
//! numbers of the steps, so that a viewer can interleave them. Diagnostics are results as well.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::Counterexample;
use selvedge_frontend::diagnostic::{Diagnostic, Severity};
use selvedge_ir::span::Span;
use selvedge_ir::trace::ThreadId;
use serde_json::{Value, json};

use crate::annotated_trace::{AnnotatedStep, AnnotatedTrace, Context, Execution, ReachedError};
use crate::source::Source;
use crate::text;

/// Services refuse flows that are longer than this: then the first and the last steps are kept.
const MAX_STEPS: usize = 8000;

/// The rules of violations: number and what they mean.
const RULES: [(&str, &str); 4] = [
    ("assertion", "An assertion can fail."),
    ("label", "An error label can be reached."),
    ("meeting", "Threads can be at places at once at which they must not be together."),
    ("deadlock", "A state can be reached in which no thread can move."),
];

/// A result.
#[derive(Clone, Debug)]
pub struct Finding {
    rule: String,
    value: Value,
}

/// The findings in a text.
pub fn diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Finding> {
    let finding = |diagnostic: &Diagnostic| {
        let rule = diagnostic.code.as_str().to_string();
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let related = diagnostic.secondary.iter().enumerate().map(|(number, annotation)| {
            json!({
                "id": number + 1, "message": { "text": annotation.label },
                "physicalLocation": place(source, annotation.span),
            })
        });
        let value = json!({
            "ruleId": rule, "level": level, "message": { "text": sentence(&diagnostic.message) },
            "locations": [{ "physicalLocation": place(source, diagnostic.primary.span) }],
            "relatedLocations": related.collect::<Vec<_>>(),
        });
        Finding { rule, value }
    };
    diagnostics.iter().map(finding).collect()
}

/// An execution to an error.
pub fn violation(context: Context<'_>, found: &Counterexample) -> Finding {
    let annotated = AnnotatedTrace::by_statements(context, Execution::of(found));
    let ending = annotated.ending.as_ref().expect("a counterexample ends in an error");
    let (rule, what) = match &ending.error {
        ReachedError::Assertion { operands, .. } => {
            let values: Vec<String> = operands
                .iter()
                .map(|one| format!("{} = {}", one.name, crate::names::shown(one.value, one.word.as_ref())))
                .collect();
            let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
            let what = ending.note.as_ref().map_or("fails".to_string(), |note| format!("fails: {note}"));
            ("assertion", format!("`{}` {what}{with}, after {} steps", ending.text, annotated.steps.len()))
        }
        ReachedError::Location { labels } => ("label", format!("label {} is reached", labels.join(", "))),
        ReachedError::Together(stands) => ("meeting", format!("{} threads meet", stands.len())),
        ReachedError::Deadlock(waits) => {
            let waits: Vec<String> = waits.iter().map(crate::waits::Wait::sentence).collect();
            ("deadlock", format!("no thread can move: {}", waits.join("; ")))
        }
    };
    let value = json!({
        "ruleId": rule, "level": "error", "message": { "text": sentence(&what) },
        "locations": [{ "physicalLocation": place(context.source, ending.span) }],
        "codeFlows": [{
            "message": { "text": "An execution to the error." },
            "threadFlows": flows(context, &annotated),
        }],
    });
    Finding { rule: rule.to_string(), value }
}

/// The file of all findings.
pub fn file(findings: &[Finding]) -> String {
    let used: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    let rule = |id: &str| {
        let known = RULES.iter().find(|(rule, _)| *rule == id).map(|(_, meaning)| (*meaning).to_string());
        let meaning = known.unwrap_or_else(|| format!("See `selvedge explain {id}`."));
        json!({ "id": id, "shortDescription": { "text": meaning }, "fullDescription": { "text": meaning } })
    };
    let rules: Vec<Value> = used.iter().map(|id| rule(id)).collect();
    let results: Vec<&Value> = findings.iter().map(|finding| &finding.value).collect();
    crate::json::to_text(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "selvedge", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// One flow for each thread that moves.
fn flows(context: Context<'_>, annotated: &AnnotatedTrace) -> Vec<Value> {
    let n_steps = annotated.steps.len();
    let is_kept = |number: usize| n_steps <= MAX_STEPS || number < MAX_STEPS / 2 || number >= n_steps - MAX_STEPS / 2;
    let mut flows: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for (number, told) in annotated.steps.iter().enumerate().filter(|(number, _)| is_kept(*number)) {
        flows.entry(told.thread.0).or_default().push(step(context, number + 1, told));
    }
    let name = |thread| annotated.names.of(ThreadId(thread));
    flows.into_iter().map(|(thread, steps)| json!({ "id": name(thread), "locations": steps })).collect()
}

fn step(context: Context<'_>, number: usize, told: &AnnotatedStep) -> Value {
    let span = context.map.edges[told.edge].span;
    let events = told.events.iter().map(|event| text::event_text(&told.name, event));
    let effects: Vec<String> = events.chain(told.changes.iter().map(text::change_text)).collect();
    let effects = if effects.is_empty() { String::new() } else { format!(" — {}", effects.join(", ")) };
    json!({
        "executionOrder": number,
        "nestingLevel": told.depth,
        "location": {
            "physicalLocation": place(context.source, span),
            "message": { "text": format!("step {number}, {}: {}{effects}", told.name, told.text) },
        },
    })
}

fn place(source: &Source, span: Span) -> Value {
    let (file, first) = source.part(span.start as usize);
    let (start, end) = (file.position(span.start as usize - first), file.position(span.end as usize - first));
    json!({
        "artifactLocation": { "uri": uri(&file.path) },
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    })
}

/// Returns the address of a file: what must not be in one is encoded.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str().trim_end_matches('.'))
}

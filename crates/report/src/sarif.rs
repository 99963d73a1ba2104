//! Results in the Static Analysis Results Interchange Format, version 2.1.0, as code-scanning services take it.
//!
//! A violation is a result with one code flow: a thread flow for each thread of the program, whose locations carry the
//! numbers of the steps, so that a viewer can interleave them. Diagnostics are results as well.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::Counterexample;
use selvedge_frontend::diagnostic::{Code, Diagnostic, Severity};
use selvedge_ir::span::Span;
use selvedge_ir::trace::ThreadId;
use serde_json::{Value, json};

use crate::annotated_trace::{AnnotatedStep, AnnotatedTrace, Context, Execution};
use crate::json::digest;
use crate::source::Source;
use crate::text;

/// Services refuse flows that are longer than this: then the first and the last steps are kept.
const MAX_STEPS: usize = 8000;

/// A rule that violations break.
struct Rule {
    id: &'static str,
    name: &'static str,
    meaning: &'static str,
    help: &'static str,
}

/// The rules of violations.
const RULES: [Rule; 4] = [
    Rule {
        id: "assertion",
        name: "AssertionCanFail",
        meaning: "An assertion can fail.",
        help: "An execution of the program reaches this assertion with values for which its condition is false. The \
               code flow is such an execution, and has been executed step by step: follow it to the step that gives \
               a variable of the condition its value. `selvedge debug FILE` steps through it.",
    },
    Rule {
        id: "label",
        name: "LabelCanBeReached",
        meaning: "A label can be reached that is an error, or that was asked about.",
        help: "An execution of the program reaches this label. The code flow is such an execution, and has been \
               executed step by step. `selvedge debug --label LABEL FILE` steps through it.",
    },
    Rule {
        id: "meeting",
        name: "ThreadsCanMeet",
        meaning: "Threads can be at places at once at which they must not be together.",
        help: "An execution of the program leads several threads to these labels at the same time. The code flow has \
               one part for each thread, in the order of the steps. `selvedge debug --together LABELS FILE` steps \
               through it.",
    },
    Rule {
        id: "deadlock",
        name: "Deadlock",
        meaning: "A state can be reached in which no thread can move.",
        help: "An execution of the program leads to a state in which every thread waits: the message says where, and \
               for which condition. `selvedge debug --deadlock FILE` steps through it.",
    },
];

/// A result.
#[derive(Clone, Debug)]
pub struct Finding {
    rule: String,
    /// The path of the file and the text that the finding is about: they stay the same when lines are added elsewhere.
    about: [String; 2],
    value: Value,
}

/// How a check went.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The words of the command line behind the name of the program.
    pub arguments: Vec<String>,
    pub exit_code: u8,
    /// The last line of the output.
    pub last_line: String,
    /// Whether each file has an answer, even if it is that nothing can be said.
    pub is_complete: bool,
    /// The files that have no verdict, and why.
    pub open: Vec<(String, String)>,
}

/// Returns the findings in a text.
pub fn diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Finding> {
    diagnostics.iter().map(|diagnostic| finding(source, diagnostic)).collect()
}

fn finding(source: &Source, diagnostic: &Diagnostic) -> Finding {
    let rule = diagnostic.code.as_str().to_string();
    let related = diagnostic.secondary.iter().enumerate().map(|(number, annotation)| {
        json!({
            "id": number + 1, "message": { "text": annotation.label },
            "physicalLocation": place(source, annotation.span),
        })
    });
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" {}", sentence(help)));
    let mut value = json!({
        "ruleId": rule, "level": level(diagnostic.severity),
        "message": { "text": format!("{}{help}", sentence(&diagnostic.message)) },
        "locations": [{ "physicalLocation": place(source, diagnostic.primary.span) }],
        "relatedLocations": related.collect::<Vec<_>>(),
    });
    if let Some(fix) = diagnostic.fix_in(source.text()) {
        let location = place(source, fix.span);
        value["fixes"] = json!([{
            "description": { "text": diagnostic.help.as_deref().map_or("Mend it.".to_string(), sentence) },
            "artifactChanges": [{
                "artifactLocation": location["artifactLocation"],
                "replacements": [{ "deletedRegion": location["region"], "insertedContent": { "text": fix.text } }],
            }],
        }]);
    }
    Finding { rule, about: about(source, diagnostic.primary.span), value }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Returns the path of the file of a span, and the line that the span begins in.
fn about(source: &Source, span: Span) -> [String; 2] {
    let (file, first) = source.part(span.start as usize);
    let line = file.line(span.start as usize - first);
    let text = file.text().get(file.lines(line..line + 1)).unwrap_or("");
    [file.path.clone(), text.split_whitespace().collect::<Vec<_>>().join(" ")]
}

/// Returns an execution to an error.
pub fn violation(context: Context<'_>, found: &Counterexample) -> Finding {
    let annotated = AnnotatedTrace::by_statements(context, Execution::of(found));
    let ending = annotated.ending.as_ref().expect("a counterexample ends in an error");
    let rule = ending.rule().to_string();
    let value = json!({
        "ruleId": rule, "level": "error", "message": { "text": ending.sentence(annotated.steps.len()) },
        "locations": [{ "physicalLocation": place(context.source, ending.span) }],
        "codeFlows": [{
            "message": { "text": "An execution to the error." },
            "threadFlows": flows(context, &annotated),
        }],
    });
    Finding { rule, about: about(context.source, ending.span), value }
}

/// Returns the file of all findings.
pub fn file(findings: &[Finding], invocation: &Invocation) -> String {
    let used: Vec<&str> =
        findings.iter().map(|finding| finding.rule.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    let rules: Vec<Value> = used.iter().map(|id| rule(id)).collect();
    let mut seen: BTreeMap<(&str, &[String; 2]), usize> = BTreeMap::new();
    let result = |finding: &'_ Finding, number: usize| {
        let [path, text] = &finding.about;
        let mut value = finding.value.clone();
        value["ruleIndex"] = json!(used.iter().position(|id| *id == finding.rule));
        let print = digest(&[finding.rule.as_str(), path, text, &number.to_string()].join("\n"));
        value["partialFingerprints"] = json!({ "selvedgeLine/v1": print });
        value
    };
    let mut results = Vec::with_capacity(findings.len());
    for finding in findings {
        // Findings of one rule about equal lines differ in their order.
        let number = seen.entry((&finding.rule, &finding.about)).or_insert(0);
        results.push(result(finding, *number));
        *number += 1;
    }
    let driver = json!({
        "name": "selvedge", "version": env!("CARGO_PKG_VERSION"), "semanticVersion": env!("CARGO_PKG_VERSION"),
        "shortDescription": { "text": "A model checker for programs with threads." },
        "rules": rules,
    });
    crate::json::to_text(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "invocations": [invoked(invocation)],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// Returns what a rule says: for codes of diagnostics what `selvedge explain` prints.
fn rule(id: &str) -> Value {
    if let Some(rule) = RULES.iter().find(|rule| rule.id == id) {
        let tags = ["correctness", "concurrency"];
        return json!({
            "id": id, "name": rule.name,
            "shortDescription": { "text": rule.meaning }, "fullDescription": { "text": rule.meaning },
            "help": { "text": rule.help, "markdown": rule.help },
            "defaultConfiguration": { "level": "error" },
            "properties": { "precision": "very-high", "problem.severity": "error", "tags": tags },
        });
    }
    let code = Code::ALL.iter().find(|code| code.as_str() == id).expect("the other rules are codes");
    let explanation = code.explain();
    let prose = explanation.split_once("\n\n").map_or("", |(_, rest)| rest);
    let prose = prose.split_once("\n\nIncorrect:").map_or(prose, |(prose, _)| prose);
    let prose = prose.split_whitespace().collect::<Vec<_>>().join(" ");
    let severity = if code.severity() == Severity::Note { "recommendation" } else { level(code.severity()) };
    json!({
        "id": id,
        "shortDescription": { "text": sentence(code.title()) }, "fullDescription": { "text": prose },
        "help": { "text": explanation, "markdown": explanation },
        "defaultConfiguration": { "level": level(code.severity()) },
        "properties": { "precision": "very-high", "problem.severity": severity },
    })
}

fn invoked(invocation: &Invocation) -> Value {
    let notification = |(path, reason): &(String, String)| {
        json!({
            "level": if invocation.is_complete { "note" } else { "warning" },
            "message": { "text": sentence(reason) },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }],
        })
    };
    json!({
        "commandLine": format!("selvedge {}", invocation.arguments.join(" ")),
        "arguments": invocation.arguments,
        "executionSuccessful": invocation.is_complete,
        "exitCode": invocation.exit_code,
        "exitCodeDescription": invocation.last_line,
        "toolExecutionNotifications": invocation.open.iter().map(notification).collect::<Vec<_>>(),
    })
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
pub fn uri(path: &str) -> String {
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
    let rest = chars.as_str().trim_end_matches('.');
    let stop = if rest.ends_with('?') { "" } else { "." };
    format!("{first}{rest}{stop}")
}

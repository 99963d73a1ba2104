//! What a check has found, in the forms in which editors show it: a diagnostic, values beside the lines of the program,
//! and words for a lens.

use std::collections::BTreeMap;

use selvedge_check::{Answer, Outcome};
use selvedge_frontend::Context;
use selvedge_ir::span::Span;
use selvedge_report::annotated_trace::{AnnotatedStep, Ending, Operand, ReachedError};
use selvedge_report::session::Session;
use selvedge_report::text::{change_text, event_text};
use serde_json::{Value, json};

use super::places::Places;

/// Maximum number of steps that explain an error.
const MAX_REMARKS: usize = 10;

/// The most characters of the values beside a line.
const MAX_HINT: usize = 80;

/// The result of a check.
pub(super) struct Checked {
    /// The line of the assertion that was asked about; `None` for the whole program.
    pub(super) asked: Option<u64>,
    /// `safe`, `unsafe` or `unknown`.
    pub(super) verdict: &'static str,
    pub(super) failure: Option<Failure>,
}

/// An execution to an error.
pub(super) struct Failure {
    /// The kind of error, and its place.
    rule: &'static str,
    range: Value,
    /// The line of the error, from 0.
    pub(super) line: u64,
    message: String,
    /// The steps that explain it: places and sentences.
    remarks: Vec<(Value, String)>,
    /// The values of the last step on each line, by the numbers of lines from 0, with the whole text for a tooltip.
    pub(super) hints: BTreeMap<usize, (String, String)>,
}

impl Checked {
    /// Returns what is kept of an answer.
    pub(super) fn new(asked: Option<u64>, answer: &Answer, context: Context<'_>) -> Checked {
        let failure = match &answer.outcome {
            Outcome::Unsafe(found) => {
                let session = Session::of(context, &answer.model.task(), found);
                session.ending().map(|ending| Failure::new(&session, ending))
            }
            Outcome::Safe(_) | Outcome::Unknown(_) => None,
        };
        Checked { asked, verdict: answer.outcome.name(), failure }
    }
}

impl Failure {
    fn new(session: &Session<'_>, ending: &Ending) -> Failure {
        let source = session.context.source;
        let main = source.part(0).0;
        let places = Places::new(main.text());
        // An error in a header is shown at the beginning of the file that includes it.
        let inside = |span: Span| if (span.end as usize) <= main.text().len() { span } else { Span::default() };
        let remarks = causes(session, ending).into_iter().map(|step| {
            let span = session.context.map.edges[step.1.edge].span;
            let sentence = format!("step {}, {}: {}", step.0, step.1.name, effects(step.1));
            (places.range(inside(span)), sentence)
        });
        Failure {
            rule: ending.rule(),
            range: places.range(inside(ending.span)),
            line: places.position(inside(ending.span).start as usize)["line"].as_u64().unwrap_or(0),
            message: ending.sentence(session.len()),
            remarks: remarks.collect(),
            hints: hints(session, ending),
        }
    }

    /// Returns the diagnostic at the place of the error.
    pub(super) fn diagnostic(&self, uri: &str) -> Value {
        let remark = |(range, message): &(Value, String)| {
            let location = json!({ "uri": uri, "range": range });
            json!({ "location": location, "message": message })
        };
        json!({
            "range": self.range,
            "severity": 1,
            "code": self.rule,
            "source": "selvedge",
            "message": self.message,
            "relatedInformation": self.remarks.iter().map(remark).collect::<Vec<_>>(),
        })
    }
}

/// Returns the steps that gave the variables of a failed assertion their values, with their numbers; for other errors
/// the last step of each thread.
fn causes<'s>(session: &'s Session<'_>, ending: &Ending) -> Vec<(usize, &'s AnnotatedStep)> {
    let steps = || session.annotated().iter().enumerate().map(|(number, step)| (number + 1, step));
    let mut last = BTreeMap::new();
    match &ending.error {
        ReachedError::Assertion { operands, .. } => {
            for (number, step) in steps() {
                let changed = step.changes.iter().map(|change| &change.name);
                let read = changed.filter(|name| operands.iter().any(|operand: &Operand| operand.name == **name));
                last.extend(read.map(|name| (name.clone(), (number, step))));
            }
        }
        _ => last.extend(steps().map(|(number, step)| (step.name.clone(), (number, step)))),
    }
    let mut causes: Vec<(usize, &AnnotatedStep)> = last.into_values().collect();
    causes.sort_by_key(|(number, _)| *number);
    causes.dedup_by_key(|(number, _)| *number);
    let skipped = causes.len().saturating_sub(MAX_REMARKS);
    causes.split_off(skipped)
}

/// Returns what a step does, in words.
fn effects(step: &AnnotatedStep) -> String {
    let effects: Vec<String> = effect_list(step);
    if effects.is_empty() { step.text.clone() } else { format!("{} — {}", step.text, effects.join(", ")) }
}

fn effect_list(step: &AnnotatedStep) -> Vec<String> {
    let events = step.events.iter().map(|event| event_text(&step.name, event));
    events.chain(step.changes.iter().map(change_text)).collect()
}

/// Returns what the last step on each line did: lines of the main file, from 0.
fn hints(session: &Session<'_>, ending: &Ending) -> BTreeMap<usize, (String, String)> {
    let source = session.context.source;
    let mut hints = BTreeMap::new();
    for (number, step) in session.annotated().iter().enumerate() {
        let start = session.context.map.edges[step.edge].span.start as usize;
        let effects = effect_list(step);
        if source.part(start).1 == 0 && !effects.is_empty() {
            let line = source.line(start) - 1;
            let tooltip = format!("The last execution of this line: step {}, {}", number + 1, step.name);
            hints.insert(line, (shortened(&format!("{}: {}", step.name, effects.join(", "))), tooltip));
        }
    }
    if let ReachedError::Assertion { operands, .. } = &ending.error
        && source.part(ending.span.start as usize).1 == 0
        && !operands.is_empty()
    {
        let values: Vec<String> = operands.iter().map(Operand::text).collect();
        let line = source.line(ending.span.start as usize) - 1;
        let tooltip = format!("Step {}: the assertion fails with these values", session.len());
        hints.insert(line, (shortened(&format!("{}: {}", ending.name, values.join(", "))), tooltip));
    }
    hints
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_HINT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

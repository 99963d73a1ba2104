//! What is wrong with a text, as the protocol has it, and the edits that mend it.

use std::path::Path;

use selvedge_frontend::diagnostic::{Annotation, Code, Diagnostic, Fix, Severity};
use selvedge_frontend::{FileOptions, Loaded};
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use super::path_of;
use super::places::Places;
use crate::found::{SessionOptions, Wanted};

/// The protocol's tag for code that could be removed.
const UNNECESSARY: u32 = 1;

/// Reads the text of a file with the options of the session and its own.
fn loaded(uri: &str, text: &str, given: SessionOptions) -> Loaded {
    let wanted = Wanted { program: path_of(uri), ..Wanted::default() };
    // Without a configuration there are no mistakes in one.
    let options = wanted.asked(text, given).map(|asked| asked.options).unwrap_or_default();
    selvedge_frontend::load(Path::new(&path_of(uri)), text, &options)
}

/// Returns the diagnostics of a text.
pub(super) fn of_text(uri: &str, text: &str, given: SessionOptions) -> Vec<Value> {
    let places = Places::new(text);
    loaded(uri, text, given).diagnostics.iter().map(|found| view(uri, &places, text, found)).collect()
}

/// Returns the number of errors in a text.
pub(super) fn n_errors(uri: &str, text: &str, given: SessionOptions) -> usize {
    loaded(uri, text, given).diagnostics.iter().filter(|found| found.is_error()).count()
}

fn view(uri: &str, places: &Places<'_>, text: &str, found: &Diagnostic) -> Value {
    // Places in headers are behind the text.
    let is_inside = |span: Span| span.end as usize <= text.len();
    let shown = if is_inside(found.primary.span) { found.primary.span } else { Span::default() };
    let remark = |annotation: &Annotation| {
        json!({
            "location": { "uri": uri, "range": places.range(annotation.span) },
            "message": annotation.label,
        })
    };
    let remarks: Vec<Value> = found.secondary.iter().filter(|also| is_inside(also.span)).map(remark).collect();
    let help = found.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    let is_unused =
        matches!(found.code, Code::UnusedVariable | Code::UnusedLabel | Code::UnusedProcedure | Code::Unreachable);
    json!({
        "range": places.range(shown),
        "severity": match found.severity { Severity::Error => 1, Severity::Warning => 2, Severity::Note => 3 },
        "code": found.code.as_str(),
        "source": "selvedge",
        "message": format!("{}{help}", found.message),
        "relatedInformation": remarks,
        "tags": if is_unused { vec![UNNECESSARY] } else { Vec::new() },
    })
}

/// Returns the quick fixes in a range: one for each edit that a diagnostic suggests.
pub(super) fn fixes(uri: &str, text: &str, given: SessionOptions, params: &Value) -> Value {
    let places = Places::new(text);
    let (first, last) = (places.offset(&params["range"]["start"]), places.offset(&params["range"]["end"]));
    let only = params["context"]["only"].as_array();
    let is_wanted = |kind: &Value| matches!(kind.as_str(), Some("" | "quickfix"));
    if only.is_some_and(|kinds| !kinds.iter().any(is_wanted)) {
        return json!([]);
    }
    let touches = |span: Span| span.start as usize <= last && first <= span.end as usize;
    let loaded = loaded(uri, text, given);
    let found = loaded.diagnostics.iter().filter(|found| touches(found.primary.span));
    let fix = |found: &Diagnostic| Some(action(uri, &places, text, found, &found.fix_in(text)?));
    json!(found.filter_map(fix).collect::<Vec<_>>())
}

fn action(uri: &str, places: &Places<'_>, text: &str, found: &Diagnostic, fix: &Fix) -> Value {
    let title = match fix.span.of(text) {
        "" => format!("Insert `{}`", fix.text),
        old => format!("Replace `{old}` with `{}`", fix.text),
    };
    let edit = json!({ "range": places.range(fix.span), "newText": fix.text });
    json!({
        "title": title,
        "kind": "quickfix",
        "diagnostics": [view(uri, places, text, found)],
        "isPreferred": true,
        "edit": { "changes": { uri: [edit] } },
    })
}

/// Returns the names of the options that the comment at the beginning of a file can have.
pub(super) fn file_options() -> &'static [&'static str] {
    FileOptions::names()
}

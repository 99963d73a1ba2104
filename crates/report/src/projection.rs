//! Which statements an error can involve: for people beside the text of the program, for programs as a list.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use selvedge_check::{Involved, Projection};
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use crate::annotated_trace::Context;
use crate::json::list;
use crate::names::count;
use crate::palette::{Palette, paint};

/// Returns the projection, for programs.
pub(crate) fn view(context: Context<'_>, projection: &Projection) -> Value {
    let statement = |(span, involved): (Span, Involved)| {
        let position = context.source.position(span.start as usize);
        json!({
            "line": position.line,
            "column": position.column,
            "text": context.source.flat(span),
            "involved": word(involved),
        })
    };
    json!({
        "executions": projection.executions,
        "reason": projection.stopped.as_ref().map(ToString::to_string),
        "statements": list(statements(context, projection), statement),
    })
}

fn word(involved: Involved) -> &'static str {
    match involved {
        Involved::Yes => "yes",
        Involved::No => "no",
        Involved::Open => "open",
    }
}

/// The statements in the order of the text. One that has several steps is involved if one of them is.
fn statements(context: Context<'_>, projection: &Projection) -> BTreeMap<Span, Involved> {
    let mut statements = BTreeMap::new();
    for (edge, involved) in projection.steps.iter_enumerated() {
        let span = context.map.edges[edge].span;
        if span.start < span.end {
            let known = statements.entry(span).or_insert(*involved);
            *known = more(*known, *involved);
        }
    }
    statements
}

fn more(left: Involved, right: Involved) -> Involved {
    match (left, right) {
        (Involved::Yes, _) | (_, Involved::Yes) => Involved::Yes,
        (Involved::Open, _) | (_, Involved::Open) => Involved::Open,
        (Involved::No, Involved::No) => Involved::No,
    }
}

/// The text of the program with a mark at each line on which a statement begins that an error can involve.
pub(crate) fn listing(context: Context<'_>, projection: &Projection, palette: &Palette) -> String {
    let statements = statements(context, projection);
    let mut lines: BTreeMap<usize, Involved> = BTreeMap::new();
    for (span, involved) in &statements {
        let line = context.source.position(span.start as usize).line;
        let known = lines.entry(line).or_insert(*involved);
        *known = more(*known, *involved);
    }
    let mut out = format!("  {}\n", summary(&statements, projection));
    let texts: Vec<&str> = context.source.text().lines().collect();
    let width = texts.len().to_string().len();
    for (number, text) in texts.iter().enumerate() {
        let (mark, text) = match lines.get(&(number + 1)) {
            Some(Involved::Yes) => ('!', paint(palette.bad, text)),
            Some(Involved::Open) => ('?', paint(palette.open, text)),
            Some(Involved::No) | None => (' ', (*text).to_string()),
        };
        let _ = writeln!(out, "{}", format!("  {:>width$} {mark} {text}", number + 1).trim_end());
    }
    out
}

fn summary(statements: &BTreeMap<Span, Involved>, projection: &Projection) -> String {
    let is = |wanted: Involved| statements.values().filter(|involved| **involved == wanted).count();
    let open = match (is(Involved::Open), &projection.stopped) {
        (0, _) => String::new(),
        (open, Some(reason)) => format!(", {open} open (?): {reason}"),
        (open, None) => format!(", {open} open (?)"),
    };
    format!(
        "on executions to an error (!): {} of {}, seen in {}{open}",
        is(Involved::Yes),
        count(statements.len(), "statement"),
        count(projection.executions, "execution"),
    )
}

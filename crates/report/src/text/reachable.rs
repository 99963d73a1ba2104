//! Everything that can be reached: the numbers, and what becomes of each assertion.

use std::fmt::Write as _;
use std::time::Duration;

use selvedge_driver::{Reachable, Status};

use super::layout::{cut, fill};
use super::result::{self, Style, reason_text, scope, seconds};
use crate::names::count;
use crate::palette::paint;
use crate::story::Context;

/// The widest statement that is not cut.
const MAX_STATEMENT: usize = 60;

/// `violated`, `holds` or `unreachable`.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Violated => "violated",
        Status::Holds => "holds",
        Status::Unreachable => "unreachable",
    }
}

/// Why not everything was seen, if so.
pub fn reachable_reason(reachable: &Reachable) -> Option<String> {
    match &reachable.outcome {
        Ok(seen) if seen.truncated => Some("a bound of the engine was reached".to_string()),
        Ok(_) => None,
        Err(reason) => Some(reason_text(reason)),
    }
}

/// The last line.
pub fn reachable_line(reachable: &Reachable) -> String {
    match reachable_reason(reachable) {
        _ if reachable.has_error() => "VERIFICATION FAILED".to_string(),
        Some(reason) => format!("VERIFICATION UNKNOWN ({reason})"),
        None => "VERIFICATION SUCCESSFUL".to_string(),
    }
}

/// The numbers and the table.
pub fn reachable(context: Context<'_>, reachable: &Reachable, load: Duration, style: Style) -> String {
    let palette = &style.palette;
    let asked = result::Asked { program: &reachable.program, target: &reachable.target, threads: reachable.threads };
    let found = match &reachable.outcome {
        Ok(seen) => {
            format!("{}, {}", count(seen.thread_states.len(), "reachable thread state"), count(seen.n_states, "state"))
        }
        Err(reason) => format!("unknown: {}", reason_text(reason)),
    };
    let mut text = format!("{}: {found}\n", paint(palette.strong, &context.source.name));
    let _ = writeln!(text, "  scope:       {}", scope(asked));
    let _ = writeln!(text, "  engine:      {}, {}", reachable.engine, seconds(load + reachable.time));
    let rows: Vec<(usize, String, Status)> = reachable
        .assertions()
        .into_iter()
        .map(|(edge, status)| {
            let span = context.map.edges[edge].span;
            let line = context.source.line(span.start as usize);
            (line, cut(&context.source.flat(span), MAX_STATEMENT), status)
        })
        .collect();
    let width = rows.iter().map(|(_, statement, _)| statement.chars().count()).max().unwrap_or(0);
    for (line, statement, status) in &rows {
        let colour = if *status == Status::Violated { palette.bad } else { palette.good };
        let word = paint(colour, status_word(*status));
        let _ = writeln!(text, "  {line:>6}  {statement}{}  {word}", fill(statement, width));
    }
    text
}

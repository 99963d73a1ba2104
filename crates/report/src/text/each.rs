//! The answers for each assertion and error location: a table, and the traces.

use std::fmt::Write as _;

use selvedge_check::{Asked, Status};

use super::layout::{cut, fill};
use super::result::Style;
use super::trace::trace;
use crate::annotated_trace::{Context, Execution};
use crate::palette::{Tone, paint};
use crate::source::Position;

/// The widest statement that is not cut.
const MAX_STATEMENT: usize = 60;

/// Returns the position of an assertion or location in the source, and its text.
pub fn place_of(context: Context<'_>, asked: Asked) -> (Option<Position>, String) {
    let edges = &context.program.edges;
    let edge = match asked {
        Asked::Assert(edge) => Some(edge),
        Asked::Loc(loc) => edges.iter_enumerated().find(|(_, edge)| edge.from == loc).map(|(id, _)| id),
    };
    let span = edge.map(|edge| context.map.edges[edge].span);
    let text = match asked {
        Asked::Assert(_) => span.map_or(String::new(), |span| context.source.flat(span)),
        Asked::Loc(loc) => {
            let labels = context.program.labels.iter().filter(|label| label.loc == loc);
            format!("label {}", labels.map(|label| label.name.as_str()).collect::<Vec<_>>().join(", "))
        }
    };
    (span.map(|span| context.source.position(span.start as usize)), text)
}

/// Renders the table, and a trace to each violation.
pub(super) fn table(context: Context<'_>, each: &[(Asked, Status)], style: Style) -> String {
    let palette = &style.palette;
    let mut text = "\n".to_string();
    let rows: Vec<(String, String, &Status)> = each
        .iter()
        .map(|(asked, status)| {
            let (position, statement) = place_of(context, *asked);
            (position.map_or(String::new(), |at| at.line.to_string()), cut(&statement, MAX_STATEMENT), status)
        })
        .collect();
    let width = rows.iter().map(|(_, statement, _)| statement.chars().count()).max().unwrap_or(0);
    for (line, statement, status) in &rows {
        let remark = match (status, status.unchecked()) {
            (Status::Unknown(reason), _) => format!(": {reason}"),
            (_, Some(reason)) => format!(": certificate not checked: {reason}"),
            (_, None) => status.own_judge().map_or(String::new(), |solver| format!(": by {solver} alone")),
        };
        let word = paint(palette.tone(Tone::of_status(status)), status.word());
        let _ = writeln!(text, "  {line:>6}  {statement}{}  {word}{remark}", fill(statement, width));
    }
    for (line, _, status) in &rows {
        if let Status::Violated(counterexample) = status {
            let execution = Execution::of(counterexample);
            text.push('\n');
            text.push_str(&trace(context, execution, &format!("counterexample for line {line}"), style));
        }
    }
    text
}

/// Counts the answers: `1 violated, 2 holds`.
pub(super) fn tally(each: &[(Asked, Status)]) -> String {
    let words = ["violated", "holds", "unreachable", "unknown"];
    let count = |word: &str| each.iter().filter(|(_, status)| status.name() == word).count();
    let parts = words.iter().map(|word| (count(word), word)).filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { "no assertions or error labels".to_string() } else { parts.join(", ") }
}

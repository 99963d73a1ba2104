//! The answers for each assertion and error location: a table, and the traces.

use std::fmt::Write as _;
use std::time::Duration;

use selvedge_driver::{Answer, Asked, Each, Evidence};

use super::layout::{cut, fill};
use super::result::{self, Style, scope, seconds};
use super::trace::trace;
use crate::palette::paint;
use crate::source::Position;
use crate::story::{Context, Execution};

/// The widest statement that is not cut.
const MAX_STATEMENT: usize = 60;

/// `violated`, `holds`, `unreachable` or `unknown`, with `(uncertified)` where there was no certificate.
pub fn answer_word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Violated(_) => "violated",
        Answer::Holds(Evidence::Certified) => "holds",
        Answer::Holds(Evidence::Uncertified) => "holds (uncertified)",
        Answer::Unreachable(Evidence::Certified) => "unreachable",
        Answer::Unreachable(Evidence::Uncertified) => "unreachable (uncertified)",
        Answer::Unknown(_) => "unknown",
    }
}

/// Where an assertion or location stands in the source, and its text.
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

/// The last line.
pub fn each_line(each: &Each) -> String {
    let is = |wanted: fn(&Answer) -> bool| each.answers.iter().filter(|(_, answer)| wanted(answer)).count();
    let unknown = is(|answer| matches!(answer, Answer::Unknown(_)));
    if is(|answer| matches!(answer, Answer::Violated(_))) > 0 {
        "VERIFICATION FAILED".to_string()
    } else if unknown > 0 {
        format!("VERIFICATION UNKNOWN ({unknown} of {} not decided)", each.answers.len())
    } else {
        "VERIFICATION SUCCESSFUL".to_string()
    }
}

/// The table, and a trace to each violation.
pub fn each(context: Context<'_>, each: &Each, load: Duration, style: Style) -> String {
    let palette = &style.palette;
    let asked = result::Asked { program: &each.program, target: &each.target, threads: each.threads };
    let mut text = format!("{}: {}\n", paint(palette.strong, &context.source.name), tally(each));
    let _ = writeln!(text, "  scope:       {}", scope(asked));
    let _ = writeln!(text, "  engine:      {}, {}\n", each.engine, seconds(load + each.time));
    let rows: Vec<(String, String, &Answer)> = each
        .answers
        .iter()
        .map(|(asked, answer)| {
            let (position, statement) = place_of(context, *asked);
            (position.map_or(String::new(), |at| at.line.to_string()), cut(&statement, MAX_STATEMENT), answer)
        })
        .collect();
    let width = rows.iter().map(|(_, statement, _)| statement.chars().count()).max().unwrap_or(0);
    for (line, statement, answer) in &rows {
        let colour = match answer {
            Answer::Violated(_) => palette.bad,
            Answer::Holds(_) | Answer::Unreachable(_) => palette.good,
            Answer::Unknown(_) => palette.open,
        };
        let remark = match answer {
            Answer::Unknown(reason) => format!(": {}", result::reason_text(reason)),
            _ => String::new(),
        };
        let word = paint(colour, answer_word(answer));
        let _ = writeln!(text, "  {line:>6}  {statement}{}  {word}{remark}", fill(statement, width));
    }
    for (line, _, answer) in &rows {
        if let Answer::Violated(counterexample) = answer {
            let execution = Execution::of(counterexample);
            text.push('\n');
            text.push_str(&trace(context, execution, &format!("counterexample for line {line}"), style));
        }
    }
    text
}

/// `1 violated, 2 hold`.
fn tally(each: &Each) -> String {
    let words = ["violated", "holds", "unreachable", "unknown"];
    let count = |word: &str| {
        let answers = each.answers.iter();
        answers.filter(|(_, answer)| answer_word(answer).split(' ').next() == Some(word)).count()
    };
    let parts = words.iter().map(|word| (count(word), word)).filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { "no error location in the program".to_string() } else { parts.join(", ") }
}

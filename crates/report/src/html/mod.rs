//! A result as one HTML file that needs no network: the program, the execution to an error to be walked through, or the
//! proof.
//!
//! All that does not depend on a position is written here as plain HTML, so that it can be read, searched and printed
//! without script; the execution goes in as data (`data`), and the scripts in `assets` show it: `execution` computes
//! the states, `watch` the values of expressions, `graph` moves in the control-flow graph, and `report` puts them
//! together.

mod colours;
mod data;
mod parts;

use selvedge_check::{Answer, Asked, Outcome, Status, Task};
use selvedge_ir::span::Role;
use selvedge_ir::{LocId, Target};
use serde_json::{Value, json};

use crate::Reading;
use crate::annotated_trace::{Annotator, Context};
use crate::invariant::Invariant;
use crate::palette::Tone;
use crate::session::Session;
use crate::{svg, text};
use parts::Section;

const PAGE: &str = include_str!("assets/report.html");
const STYLE: &str = include_str!("assets/report.css");
/// The page works through these in this order: they share their names.
const SCRIPTS: [&str; 4] = [
    include_str!("assets/execution.js"),
    include_str!("assets/watch.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/report.js"),
];

/// The limit on the edges of a control-flow graph that is drawn; larger ones are illegible.
const MAX_DRAWN: usize = 1500;

/// Renders the page of an answer.
pub fn report(context: Context<'_>, answer: &Answer, reading: Reading<'_>) -> String {
    let task = answer.model.task();
    let sessions: Vec<(String, Session<'_>)> = match (&answer.each, &answer.outcome) {
        (Some(each), _) => each.iter().filter_map(|one| violation(context, &task, one)).collect(),
        (None, Outcome::Unsafe(found)) => {
            vec![("Counterexample".to_string(), Session::of(context, &task, found))]
        }
        (None, _) => Vec::new(),
    };
    let errors = match &answer.each {
        Some(each) => parts::each_table(context, each),
        None => parts::assertions(context, answer),
    };
    let body = [parts::facts(context, answer, reading), errors, parts::proof(context, answer)];
    let tail = [parts::runs(answer), parts::statistics(answer, reading.time)];
    let traces: Vec<Value> = sessions.iter().map(|(title, session)| data::trace(session, title)).collect();
    let known = parts::known(context, answer);
    page(context, &task, (Tone::of(&answer.outcome), answer.word()), &traces, (&body, &tail, &known))
}

/// Returns the session of an error that can happen, with a title.
fn violation<'a>(
    context: Context<'a>,
    task: &Task<'_>,
    (asked, status): &(Asked, Status),
) -> Option<(String, Session<'a>)> {
    let Status::Violated(found) = status else { return None };
    let (position, statement) = text::place_of(context, *asked);
    let line = position.map_or(String::new(), |at| format!("line {}: ", at.line));
    Some((format!("{line}{statement}"), Session::of(context, task, found)))
}

/// The page of an execution alone, as `simulate` makes it or a file holds it.
pub fn execution(session: &Session<'_>, task: &Task<'_>, title: &str) -> String {
    let tone = if session.ending().is_some() { Tone::Bad } else { Tone::Open };
    page(session.context, task, (tone, tone.class()), &[data::trace(session, title)], (&[], &[], &[]))
}

/// Puts the parts into the page.
fn page(
    context: Context<'_>,
    task: &Task<'_>,
    (tone, word): (Tone, &str),
    traces: &[Value],
    (body, tail, invariants): (&[Option<Section>], &[Option<Section>], &[Invariant]),
) -> String {
    let json = json!({ "program": data::program(context), "traces": traces }).to_string();
    let html = |list: &[Option<Section>]| list.iter().flatten().map(Section::html).collect::<String>();
    let (walk, before, body) = match traces.is_empty() {
        true => ("alone", html(body), String::new()),
        false => ("", String::new(), html(body)),
    };
    let markers = [
        ("title", format!("{}: {word}", svg::escape(&context.source.name))),
        ("file", svg::escape(&context.source.name)),
        ("verdict", svg::escape(word)),
        ("tone", tone.class().to_string()),
        ("scope", svg::escape(&text::scope(context, task))),
        ("style", STYLE.to_string()),
        ("before", before),
        ("walk", walk.to_string()),
        ("body", body),
        ("source", parts::source(context, invariants)),
        ("graph", graph(context, task.target)),
        ("tail", html(tail)),
        // The data is inside a script element: no text in it may close that.
        ("data", crate::json::escape_hidden(json).replace('<', "\\u003c")),
        ("script", SCRIPTS.concat()),
        ("generator", crate::json::GENERATOR.to_string()),
    ];
    substitute(PAGE, &markers)
}

/// Replaces each `{{name}}` by its text. The texts are not looked through, whatever they contain.
fn substitute(template: &str, markers: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes its markers");
        let marker = markers.iter().find(|(marker, _)| *marker == name);
        page.push_str(before);
        page.push_str(&marker.expect("the template uses known markers").1);
        rest = after;
    }
    page + rest
}

/// The control-flow graph, with statements as in the source. The two outcomes of a condition are told apart.
fn graph(context: Context<'_>, target: &Target) -> String {
    let program = context.program;
    if program.edges.len() > MAX_DRAWN {
        return format!("<p>The graph has {} edges and is not drawn.</p>", program.edges.len());
    }
    let annotator = Annotator::new(context);
    let edge = |edge| {
        let text = annotator.text(edge);
        match context.map.edges[edge].role {
            Role::Holds => format!("{text}: yes"),
            Role::Fails => format!("{text}: no"),
            _ => text,
        }
    };
    let labels = svg::labels(program);
    let loc = |loc: LocId| labels[loc].trim_start().to_string();
    svg::render_with(program, target, &svg::Texts { edge: &edge, loc: &loc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_replaced_once_and_their_texts_are_left_alone() {
        let markers = [("a", "{{b}}".to_string()), ("b", "<x>".to_string())];
        assert_eq!(substitute("1 {{a}} 2 {{b}} 3", &markers), "1 {{b}} 2 <x> 3");
    }
}

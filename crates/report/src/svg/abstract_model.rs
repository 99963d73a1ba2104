//! The abstract model of a program with integers as a picture: exact steps are solid lines, others dotted ones, and
//! first states have a thick border.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use selvedge_check::AbstractModel;
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;

use super::layout::{Graph, Placed, Point, place};
use super::{MARGIN, begun, curve, escape, text_width};
use crate::abstract_model::{lines, named};

/// The height of a line of text.
const LINE: f64 = 14.0;
/// The least room between two layers: for the names of commands.
const ROOM: f64 = 42.0;
/// The distance of lines that lead up.
const ASIDE: f64 = 32.0;

/// A line from one state to another, for all steps between them that are exact, or all that are not.
type Ends = (usize, usize, bool);

/// The picture.
pub fn render(program: &Program, map: &SourceMap, model: &AbstractModel) -> String {
    let mut edges: BTreeMap<Ends, Vec<String>> = BTreeMap::new();
    for edge in &model.edges {
        edges.entry((edge.from, edge.to, edge.is_exact)).or_default().push(named(map, edge.edge));
    }
    let texts = model.states.iter().enumerate().map(|(number, state)| {
        let title = format!("a{number}");
        [title].into_iter().chain(lines(program, map, model, state)).collect::<Vec<String>>()
    });
    let texts: Vec<Vec<String>> = texts.collect();
    let edges: Vec<(Ends, String)> = edges.into_iter().map(|(ends, names)| (ends, names.join(", "))).collect();
    let width = |text: &Vec<String>| text.iter().map(|line| text_width(line)).fold(0.0, f64::max) + 14.0;
    let height = texts.iter().map(Vec::len).max().unwrap_or(1) as f64 * LINE + 8.0;
    let graph = Graph {
        widths: texts.iter().map(width).collect(),
        heights: vec![height; texts.len()],
        room: ROOM,
        edges: edges.iter().map(|((from, to, _), _)| (*from, *to)).collect(),
        labels: edges.iter().map(|(_, names)| text_width(names)).collect(),
        root: model.states.iter().position(|state| state.is_initial).unwrap_or(0),
    };
    let placed = place(&graph);
    let mut out = begun(placed.width + 2.0 * MARGIN, placed.height + 2.0 * MARGIN);
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {MARGIN})\">");
    let paths: Vec<Vec<Point>> = placed.paths.iter().map(|path| beside(path)).collect();
    for ((ends, names), path) in edges.iter().zip(&paths) {
        draw_edge(*ends, names, path, &mut out);
    }
    for (number, text) in texts.iter().enumerate() {
        let class = if model.states[number].is_initial { "loc entry" } else { "loc" };
        draw_state(number, text, class, (&placed, height), &mut out);
    }
    for ((_, names), path) in edges.iter().zip(&paths) {
        draw_name(names, path, &mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Lines that lead up run beside those that lead down between the same states.
fn beside(path: &[Point]) -> Vec<Point> {
    let leads_up = path[0].y > path[path.len() - 1].y;
    let aside = if leads_up { ASIDE } else { 0.0 };
    path.iter().map(|point| Point { x: point.x + aside, y: point.y }).collect()
}

fn draw_state(number: usize, text: &[String], class: &str, (placed, height): (&Placed, f64), out: &mut String) {
    let (at, width) = (placed.nodes[number], placed.widths[number]);
    let (left, top) = (at.x - width / 2.0, at.y - height / 2.0);
    let _ = writeln!(
        out,
        "<rect data-state=\"{number}\" class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"6\"/>"
    );
    for (line, text) in text.iter().enumerate() {
        let y = top + (line as f64 + 1.0) * LINE;
        let weight = if line == 0 { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\"{weight}>{}</text>",
            at.x,
            escape(text)
        );
    }
}

fn draw_edge((from, to, is_exact): Ends, names: &str, path: &[Point], out: &mut String) {
    let class = if is_exact { "edge" } else { "edge inexact" };
    let title = if is_exact { "exact" } else { "not exact" };
    let _ = writeln!(
        out,
        "<g><title>a{from} to a{to}: {0}, {title}</title><path class=\"{class}\" d=\"{1}\"/></g>",
        escape(names),
        curve(path)
    );
}

fn draw_name(names: &str, path: &[Point], out: &mut String) {
    let (first, next) = (path[0], path[1.min(path.len() - 1)]);
    let (x, y) = (first.x + 0.6 * (next.x - first.x), first.y + 0.6 * (next.y - first.y));
    let _ = writeln!(
        out,
        "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
        escape(names)
    );
}

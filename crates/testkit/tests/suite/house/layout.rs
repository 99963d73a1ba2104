//! A picture of the crates: one row for each length of the longest chain of dependencies, the command line at the top.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::graph::Graph;

const CHARACTER: f64 = 6.2;
const LINE: f64 = 13.0;
const GAP: f64 = 18.0;
const ROW_GAP: f64 = 46.0;
/// The greatest number of characters in a line of modules.
const TEXT: usize = 30;

/// A crate in the picture.
struct CrateBox {
    name: String,
    /// Its modules, in lines.
    text: Vec<String>,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Draws the crates with those dependencies that no others imply.
pub(super) fn draw(graph: &Graph) -> String {
    let boxes = arranged(graph);
    let width = boxes.values().map(|one| one.left + one.width).fold(0.0, f64::max) + GAP;
    let height = boxes.values().map(|one| one.top + one.height).fold(0.0, f64::max) + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>The crates of Selvedge</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (name, upper) in &boxes {
        for below in graph.reduced(name) {
            line(&mut svg, upper, &boxes[below]);
        }
    }
    boxes.values().for_each(|one| rectangle(&mut svg, one));
    svg.push_str("</svg>\n");
    svg
}

/// Places the crates: rows from the top, each in alphabetical order and centred.
fn arranged(graph: &Graph) -> BTreeMap<&str, CrateBox> {
    let mut rows: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    graph.names().for_each(|name| rows.entry(graph.depth(name)).or_default().push(name));
    let mut sized: BTreeMap<&str, CrateBox> = graph.names().map(|name| (name, sized(graph, name))).collect();
    let row_width =
        |row: &[&str], sized: &BTreeMap<&str, CrateBox>| row.iter().map(|name| sized[name].width + GAP).sum::<f64>();
    let widest = rows.values().map(|row| row_width(row, &sized)).fold(0.0, f64::max);
    let mut top = GAP;
    for row in rows.values().rev() {
        let mut left = GAP + (widest - row_width(row, &sized)) / 2.0;
        let height = row.iter().map(|name| sized[name].height).fold(0.0, f64::max);
        for name in row {
            let one = sized.get_mut(name).expect("every crate has a size");
            (one.left, one.top) = (left, top);
            left += one.width + GAP;
        }
        top += height + ROW_GAP;
    }
    sized
}

fn sized(graph: &Graph, name: &str) -> CrateBox {
    let mut text = vec![String::new()];
    for module in graph.modules(name) {
        let last = text.last_mut().expect("there is a line");
        if last.len() + module.len() + 2 > TEXT && !last.is_empty() {
            text.push(module.clone());
        } else {
            last.push_str(if last.is_empty() { "" } else { ", " });
            last.push_str(module);
        }
    }
    text.retain(|line| !line.is_empty());
    let columns = text.iter().map(String::len).max().unwrap_or(0).max(name.len() + 3);
    #[expect(clippy::cast_precision_loss, reason = "a few lines of text")]
    let (columns, lines) = (columns as f64, text.len() as f64);
    let (width, height) = (columns * CHARACTER + 16.0, (lines + 1.0) * LINE + 14.0);
    CrateBox { name: name.to_string(), text, left: 0.0, top: 0.0, width, height }
}

fn line(svg: &mut String, upper: &CrateBox, lower: &CrateBox) {
    let (x1, y1) = (upper.left + upper.width / 2.0, upper.top + upper.height);
    let (x2, y2) = (lower.left + lower.width / 2.0, lower.top);
    let middle = (y1 + y2) / 2.0;
    let path = format!("M{x1:.0} {y1:.0} C{x1:.0} {middle:.0} {x2:.0} {middle:.0} {x2:.0} {y2:.0}");
    writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"#888\"/>").expect("a string can be written to");
}

fn rectangle(svg: &mut String, one: &CrateBox) {
    let CrateBox { name, text, left, top, width, height } = one;
    let fill = if name.starts_with("engines") { "#e8f0fe" } else { "#f6f6f2" };
    writeln!(
        svg,
        "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"4\" fill=\"{fill}\" \
         stroke=\"#444\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" font-weight=\"bold\">{name}</text>",
        left + 8.0,
        top + LINE + 3.0,
    )
    .expect("a string can be written to");
    let mut y = top + LINE + 3.0;
    for line in text {
        y += LINE;
        writeln!(svg, "<text x=\"{:.0}\" y=\"{y:.0}\" fill=\"#555\" font-size=\"10\">{line}</text>", left + 8.0)
            .expect("a string can be written to");
    }
}

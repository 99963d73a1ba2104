//! Control-flow graphs as pictures, without any other program: one column per procedure, control from top to bottom.
//! Statements are boxes, locations are dots or boxes between them.

mod abstract_model;
mod layout;

use std::fmt::Write as _;

use index_vec::IndexVec;
use selvedge_frontend::visible::visible;
use selvedge_ir::text::{Names, op_with};
use selvedge_ir::{Edge, EdgeId, LocId, Op, ProcId, Program, Target};

pub use abstract_model::render as render_abstract_model;
use layout::{Graph, Placed, Point, place};

use crate::text::cut;

/// The longest text of a statement, in characters; the whole text is shown when the pointer rests on it.
const MAX_LABEL: usize = 48;
/// The size of a location without text.
const DOT: f64 = 10.0;
/// The least room between two layers.
const ROOM: f64 = 20.0;
/// The width of a character.
const CHAR: f64 = 6.7;
/// The empty space around a procedure.
const MARGIN: f64 = 24.0;
/// The height of a procedure's title.
const TITLE: f64 = 28.0;

const STYLE: &str = "text{font:11px monospace;fill:#222}.title{font-weight:bold;font-size:13px}\
    .frame{fill:#fafafa;stroke:#bbb}.loc{fill:#fff;stroke:#555}.entry{stroke-width:2.5}.exit{stroke-dasharray:3 2}\
    .edge{fill:none;stroke:#777;marker-end:url(#arrow)}.step{fill:#fff;stroke:#bbb}rect.bad,path.bad{stroke:#c22}\
    rect.call{stroke:#36c}path.inexact{stroke-dasharray:2 3}\
    text.label{fill:#444;paint-order:stroke;stroke:#fafafa;stroke-width:3px}text.bad{fill:#c22}";

/// The texts in a picture.
pub struct Texts<'t> {
    /// Returns the text of a statement; empty where there is nothing to say.
    pub edge: &'t dyn Fn(EdgeId) -> String,
    /// Returns the text of a location; empty for a dot.
    pub loc: &'t dyn Fn(LocId) -> String,
}

/// Draws the control-flow graphs of all procedures, with the names of the representation; errors in red.
pub fn render(program: &Program, target: &Target) -> String {
    let names = Names::unique(program);
    let edge = |id: EdgeId| match &program.edges[id].op {
        op if *op == Op::skip() => String::new(),
        op => op_with(&names, op),
    };
    let labels = labels(program);
    let loc = |loc: LocId| format!("L{}{}", loc.index(), labels[loc]);
    render_with(program, target, &Texts { edge: &edge, loc: &loc })
}

/// Returns the labels of each location, each after a space.
pub fn labels(program: &Program) -> IndexVec<LocId, String> {
    let mut labels: IndexVec<LocId, String> = program.locs.iter().map(|_| String::new()).collect();
    for label in &program.labels {
        let _ = write!(labels[label.loc], " {}", label.name);
    }
    labels
}

/// Draws the same with other texts.
pub fn render_with(program: &Program, target: &Target, texts: &Texts<'_>) -> String {
    let drawing = Drawing {
        program,
        target,
        edges: program.edges.indices().map(texts.edge).collect(),
        locs: program.locs.indices().map(texts.loc).collect(),
    };
    let columns: Vec<Column> = drawing.columns();
    let height = columns.iter().map(|column| column.placed.height).fold(0.0, f64::max) + TITLE + 3.0 * MARGIN;
    let width: f64 = columns.iter().map(|column| drawing.width(column) + MARGIN).sum::<f64>() + MARGIN;
    let mut out = begun(width, height);
    let mut x = MARGIN;
    for column in &columns {
        drawing.column(column, x, &mut out);
        x += drawing.width(column) + MARGIN;
    }
    out.push_str("</svg>\n");
    out
}

/// The beginning of a picture of this size.
fn begun(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n<defs><marker id=\"arrow\" \
         viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#777\"/></marker></defs>\n"
    )
}

struct Drawing<'p> {
    program: &'p Program,
    target: &'p Target,
    /// The text of each statement, and of each location.
    edges: IndexVec<EdgeId, String>,
    locs: IndexVec<LocId, String>,
}

/// A procedure with the places of its parts: first the locations, then the statements. Two lines belong to a statement,
/// one from its location and one to the next.
struct Column {
    proc: ProcId,
    locs: Vec<LocId>,
    edges: Vec<EdgeId>,
    placed: Placed,
}

impl Drawing<'_> {
    fn columns(&self) -> Vec<Column> {
        // Locations without steps, which no control path passes, are left out.
        let mut is_drawn = vec![false; self.program.locs.len()];
        self.program.procs.iter().for_each(|proc| is_drawn[proc.entry.index()] = true);
        for edge in &self.program.edges {
            is_drawn[edge.from.index()] = true;
            is_drawn[edge.to.index()] = true;
        }
        let mut locs: Vec<Vec<LocId>> = vec![Vec::new(); self.program.procs.len()];
        // The number of each location among those of its procedure.
        let mut numbers = vec![0; self.program.locs.len()];
        for (id, loc) in self.program.locs.iter_enumerated().filter(|(id, _)| is_drawn[id.index()]) {
            numbers[id.index()] = locs[loc.proc.index()].len();
            locs[loc.proc.index()].push(id);
        }
        let mut edges: Vec<Vec<EdgeId>> = vec![Vec::new(); self.program.procs.len()];
        for (id, edge) in self.program.edges.iter_enumerated() {
            edges[self.program.locs[edge.from].proc.index()].push(id);
        }
        let procs = self.program.procs.indices().zip(locs.into_iter().zip(edges));
        procs.map(|(proc, (locs, edges))| self.place(proc, locs, edges, &numbers)).collect()
    }

    fn place(&self, proc: ProcId, locs: Vec<LocId>, edges: Vec<EdgeId>, numbers: &[usize]) -> Column {
        let n_locs = locs.len();
        let size = |text: &str, empty: (f64, f64)| {
            if text.is_empty() { empty } else { (text_width(text) + 14.0, layout::NODE) }
        };
        let sizes = locs.iter().map(|loc| size(&self.locs[*loc], (DOT, DOT)));
        let sizes = sizes.chain(edges.iter().map(|id| size(&self.label(*id), (0.0, 0.0))));
        let (widths, heights): (Vec<f64>, Vec<f64>) = sizes.unzip();
        let ends = |(number, id): (usize, &EdgeId)| {
            let edge = &self.program.edges[*id];
            let step = n_locs + number;
            [(numbers[edge.from.index()], step), (step, numbers[edge.to.index()])]
        };
        let graph = Graph {
            widths,
            heights,
            room: ROOM,
            edges: edges.iter().enumerate().flat_map(ends).collect(),
            labels: vec![0.0; 2 * edges.len()],
            root: numbers[self.program.procs[proc].entry.index()],
        };
        Column { proc, placed: place(&graph), locs, edges }
    }

    /// Returns the width of a column. The title may be wider than the graph.
    fn width(&self, column: &Column) -> f64 {
        let title = text_width(&self.program.procs[column.proc].name) * 1.2;
        column.placed.width.max(title) + 2.0 * MARGIN
    }

    fn column(&self, column: &Column, x: f64, out: &mut String) {
        let proc = &self.program.procs[column.proc];
        let (width, height) = (self.width(column), column.placed.height + TITLE + MARGIN);
        let _ = writeln!(out, "<g transform=\"translate({x:.1} {MARGIN})\">");
        let _ = writeln!(out, "<rect class=\"frame\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>");
        let _ = writeln!(out, "<text class=\"title\" x=\"12\" y=\"19\">{}</text>", escape(&proc.name));
        let left = (width - column.placed.width) / 2.0;
        let _ = writeln!(out, "<g transform=\"translate({left:.1} {TITLE})\">");
        let (paths, nodes) = (&column.placed.paths, &column.placed.nodes);
        for (number, edge) in column.edges.iter().enumerate() {
            let at = nodes[column.locs.len() + number];
            self.edge(*edge, (&paths[2 * number], &paths[2 * number + 1]), at, out);
        }
        for ((loc, at), width) in column.locs.iter().zip(nodes).zip(&column.placed.widths) {
            self.loc(*loc, *at, *width, out);
        }
        out.push_str("</g></g>\n");
    }

    fn loc(&self, loc: LocId, at: Point, width: f64, out: &mut String) {
        let proc = &self.program.procs[self.program.locs[loc].proc];
        let class = match loc {
            _ if self.target.watches(loc) => "loc bad",
            _ if loc == proc.entry => "loc entry",
            _ if loc == proc.exit => "loc exit",
            _ => "loc",
        };
        let text = &self.locs[loc];
        let height = if text.is_empty() { DOT } else { layout::NODE };
        rectangle(&format!("data-loc=\"{}\" class=\"{class}\"", loc.index()), at, (width, height), out);
        if !text.is_empty() {
            centred("", at, text, out);
        }
        out.push('\n');
    }

    /// Draws a statement, with the line that leads to it and the one that leads on.
    fn edge(&self, id: EdgeId, (to, on): (&[Point], &[Point]), at: Point, out: &mut String) {
        let class = match &self.program.edges[id] {
            _ if self.target.has_assert(id) => " bad",
            Edge { op: Op::Call(_) | Op::Spawn(_) | Op::Fork(_), .. } => " call",
            _ => "",
        };
        let (number, title) = (id.index(), escape(&self.edges[id]));
        let _ = write!(out, "<g data-edge=\"{number}\"><title>{title}</title>");
        let text = self.label(id);
        if text.is_empty() {
            let whole: Vec<Point> = to.iter().chain(on).copied().collect();
            let _ = writeln!(out, "<path class=\"edge{class}\" d=\"{}\"/></g>", curve(&whole));
            return;
        }
        for path in [to, on] {
            let _ = write!(out, "<path class=\"edge{class}\" d=\"{}\"/>", curve(path));
        }
        rectangle(&format!("class=\"step{class}\""), at, (text_width(&text) + 14.0, layout::NODE), out);
        centred(&format!(" class=\"label{class}\""), at, &text, out);
        out.push_str("</g>\n");
    }

    /// The text of a statement, cut where it is long.
    fn label(&self, id: EdgeId) -> String {
        cut(&self.edges[id], MAX_LABEL)
    }
}

fn rectangle(attributes: &str, at: Point, (width, height): (f64, f64), out: &mut String) {
    let (left, top, round) = (at.x - width / 2.0, at.y - height / 2.0, height.min(14.0) / 2.0);
    let _ = write!(
        out,
        "<rect {attributes} x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" rx=\"{round}\"/>"
    );
}

fn centred(attributes: &str, at: Point, text: &str, out: &mut String) {
    let (x, y) = (at.x, at.y + 4.0);
    let _ = write!(out, "<text{attributes} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", escape(text));
}

/// A smooth line through points, upright at each of them.
fn curve(path: &[Point]) -> String {
    let mut text = format!("M{:.1} {:.1}", path[0].x, path[0].y);
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let bend = (to.y - from.y) / 2.0;
        let _ =
            write!(text, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", from.x, from.y + bend, to.x, to.y - bend, to.x, to.y);
    }
    text
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR
}

/// Escapes a text inside of SVG or HTML, and hidden characters in it.
pub(crate) fn escape(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use selvedge_ir::text::parse_with_target;

    use super::*;

    const LOOP: &str = "shared x: bool\nproc main() from L0 to L3\ne0 L0 -> L1: x := ?0\ne1 L1 -> L0: assume !x\n\
        e2 L1 -> L1: skip\ne3 L1 -> L2: assert x\ne4 L0 -> L2: skip\ne5 L2 -> L3: return\nstart main\ntarget e3";

    #[test]
    fn each_location_and_edge_is_drawn_once() {
        let (program, target) = parse_with_target(LOOP).expect("the program is well-formed");
        let svg = render(&program, &target);
        assert_eq!(svg.matches(" class=\"loc").count(), 4);
        assert_eq!(svg.matches("<g data-edge").count(), 6);
        assert_eq!(svg.matches("<path class=\"edge").count(), 10, "an edge without text is one line");
        assert_eq!(svg.matches("class=\"step bad\"").count(), 1, "the assertion is red");
        assert!(svg.contains("<title>assume !x</title>"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    /// The boxes of a picture: left, top, width and height.
    fn boxes(svg: &str) -> Vec<[f64; 4]> {
        let value = |rect: &str, name: &str| -> f64 {
            let text = rect.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            text.expect("it has the attribute").parse().expect("it is a number")
        };
        let rects = svg.split("<rect ").skip(1).filter(|rect| !rect.starts_with("class=\"frame"));
        rects.map(|rect| ["x", "y", "width", "height"].map(|name| value(rect, name))).collect()
    }

    #[test]
    fn boxes_do_not_overlap() {
        let (program, target) = parse_with_target(LOOP).expect("the program is well-formed");
        let found = boxes(&render(&program, &target));
        assert_eq!(found.len(), 4 + 4, "locations, and edges with texts");
        for (number, one) in found.iter().enumerate() {
            for other in &found[number + 1..] {
                let apart = |at: usize| one[at] + one[at + 2] <= other[at] || other[at] + other[at + 2] <= one[at];
                assert!(apart(0) || apart(1), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a & b < \"c\""), "a &amp; b &lt; &quot;c&quot;");
        assert_eq!(escape("\u{202E}<\u{1B}"), "\\u{202e}&lt;\\u{1b}");
    }
}

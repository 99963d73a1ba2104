//! Control-flow graphs as pictures, without any other program: one column per procedure, control from top to bottom.

mod abstract_model;
mod layout;

use std::fmt::Write as _;

use index_vec::IndexVec;
use selvedge_frontend::visible::visible;
use selvedge_ir::flow::Flow;
use selvedge_ir::text::{Names, op_with};
use selvedge_ir::{Edge, EdgeId, LocId, Op, ProcId, Program, Target};

pub use abstract_model::render as render_abstract_model;
use layout::{Graph, Placed, Point, place};

use crate::text::cut;

/// The longest text at an edge, in characters, and at a loop; the whole text is shown when the pointer rests on it.
const MAX_LABEL: usize = 36;
const MAX_LOOP_LABEL: usize = 80;
/// The width of a character.
const CHAR: f64 = 6.7;
/// The empty space around a procedure.
const MARGIN: f64 = 24.0;
/// The height of a procedure's title.
const TITLE: f64 = 28.0;

const STYLE: &str = "text{font:11px monospace;fill:#222}.title{font-weight:bold;font-size:13px}\
    .frame{fill:#fafafa;stroke:#bbb}.loc{fill:#fff;stroke:#555}.entry{stroke-width:2.5}.exit{stroke-dasharray:3 2}\
    .edge{fill:none;stroke:#777;marker-end:url(#arrow)}rect.bad,path.bad{stroke:#c22}\
    path.call{stroke:#36c}path.inexact{stroke-dasharray:2 3}\
    text.label{fill:#444;paint-order:stroke;stroke:#fafafa;stroke-width:3px}text.bad{fill:#c22}";

/// The control-flow graphs of all procedures; errors in red.
pub fn render(program: &Program, target: &Target) -> String {
    let names = Names::unique(program);
    render_with(program, target, &|id| match &program.edges[id].op {
        op if *op == Op::skip() => String::new(),
        op => op_with(&names, op),
    })
}

/// The same with these texts at the edges.
pub fn render_with(program: &Program, target: &Target, edge_text: &dyn Fn(EdgeId) -> String) -> String {
    let drawing = Drawing { program, target, edge_text, texts: loc_texts(program), flow: Flow::new(program) };
    let columns: Vec<Column> = drawing.columns();
    let height = columns.iter().map(|column| column.placed.height).fold(0.0, f64::max) + TITLE + 3.0 * MARGIN;
    let width: f64 = columns.iter().map(|column| column.width() + MARGIN).sum::<f64>() + MARGIN;
    let mut out = begun(width, height);
    let mut x = MARGIN;
    for column in &columns {
        drawing.column(column, x, &mut out);
        x += column.width() + MARGIN;
    }
    out.push_str("</svg>\n");
    out
}

/// The beginning of a picture of this size.
fn begun(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n<defs><marker id=\"arrow\" \
         viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#777\"/></marker></defs>\n"
    )
}

struct Drawing<'p> {
    program: &'p Program,
    target: &'p Target,
    edge_text: &'p dyn Fn(EdgeId) -> String,
    /// The text in each location.
    texts: IndexVec<LocId, String>,
    flow: Flow,
}

/// A procedure with the places of its parts.
struct Column {
    proc: ProcId,
    locs: Vec<LocId>,
    edges: Vec<EdgeId>,
    placed: Placed,
}

impl Column {
    fn width(&self) -> f64 {
        self.placed.width + 2.0 * MARGIN
    }
}

impl Drawing<'_> {
    fn columns(&self) -> Vec<Column> {
        let mut locs: Vec<Vec<LocId>> = vec![Vec::new(); self.program.procs.len()];
        // The number of each location among those of its procedure.
        let mut numbers = vec![0; self.program.locs.len()];
        for (id, loc) in self.program.locs.iter_enumerated() {
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
        let ends = |id: &EdgeId| {
            let edge = &self.program.edges[*id];
            (numbers[edge.from.index()], numbers[edge.to.index()])
        };
        let graph = Graph {
            widths: locs.iter().map(|loc| text_width(&self.texts[*loc]) + 14.0).collect(),
            height: layout::NODE,
            edges: edges.iter().map(ends).collect(),
            labels: edges.iter().map(|id| text_width(&self.label(*id))).collect(),
            root: numbers[self.program.procs[proc].entry.index()],
        };
        Column { proc, placed: place(&graph), locs, edges }
    }

    fn column(&self, column: &Column, x: f64, out: &mut String) {
        let proc = &self.program.procs[column.proc];
        let (width, height) = (column.width(), column.placed.height + TITLE + MARGIN);
        let _ = writeln!(out, "<g transform=\"translate({x:.1} {MARGIN})\">");
        let _ = writeln!(out, "<rect class=\"frame\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>");
        let _ = writeln!(out, "<text class=\"title\" x=\"12\" y=\"19\">{}</text>", escape(&proc.name));
        let _ = writeln!(out, "<g transform=\"translate({MARGIN} {TITLE})\">");
        for (edge, path) in column.edges.iter().zip(&column.placed.paths) {
            self.edge(*edge, path, out);
        }
        for ((loc, at), width) in column.locs.iter().zip(&column.placed.nodes).zip(&column.placed.widths) {
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
        let (left, top) = (at.x - width / 2.0, at.y - layout::NODE / 2.0);
        let height = layout::NODE;
        let _ = writeln!(
            out,
            "<rect data-loc=\"{}\" class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height}\" rx=\"9\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            loc.index(),
            at.x,
            at.y + 4.0,
            escape(&self.texts[loc])
        );
    }

    fn edge(&self, id: EdgeId, path: &[Point], out: &mut String) {
        let text = (self.edge_text)(id);
        let class = match &self.program.edges[id] {
            _ if self.target.has_assert(id) => " bad",
            Edge { op: Op::Call(_) | Op::Spawn(_) | Op::Fork(_), .. } => " call",
            _ => "",
        };
        let _ = writeln!(
            out,
            "<g data-edge=\"{0}\"><title>e{0}: {1}</title><path class=\"edge{class}\" d=\"{2}\"/>",
            id.index(),
            escape(&text),
            curve(path)
        );
        let (from, to) = (path[0], path[1.min(path.len() - 1)]);
        if self.is_loop(id) {
            let _ = writeln!(
                out,
                "<text class=\"label{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                to.x + 6.0,
                to.y + 4.0,
                escape(&self.label(id))
            );
            return;
        }
        // The texts of diverging edges are apart near their ends, those of edges that meet near their beginnings.
        let part = if self.flow.out(self.program.edges[id].from).len() > 1 { 0.8 } else { 0.45 };
        let (x, y) = (from.x + part * (to.x - from.x), from.y + part * (to.y - from.y));
        let _ = writeln!(
            out,
            "<text class=\"label{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text></g>",
            escape(&self.label(id))
        );
    }

    fn is_loop(&self, id: EdgeId) -> bool {
        let edge = &self.program.edges[id];
        edge.from == edge.to
    }

    /// The text of an edge, cut where it is long.
    fn label(&self, id: EdgeId) -> String {
        cut(&(self.edge_text)(id), if self.is_loop(id) { MAX_LOOP_LABEL } else { MAX_LABEL })
    }
}

/// The number of each location and its labels.
fn loc_texts(program: &Program) -> IndexVec<LocId, String> {
    let mut texts: IndexVec<LocId, String> = program.locs.indices().map(|loc| format!("L{}", loc.index())).collect();
    for label in &program.labels {
        let _ = write!(texts[label.loc], " {}", label.name);
    }
    texts
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
pub fn escape(text: &str) -> String {
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
        assert_eq!(svg.matches("<path class=\"edge").count(), 6);
        assert_eq!(svg.matches("class=\"edge bad\"").count(), 1, "the assertion is red");
        assert!(svg.contains("<title>e1: assume !x</title>"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a & b < \"c\""), "a &amp; b &lt; &quot;c&quot;");
        assert_eq!(escape("\u{202E}<\u{1B}"), "\\u{202e}&lt;\\u{1b}");
    }
}

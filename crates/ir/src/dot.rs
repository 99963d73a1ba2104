//! Control-flow graphs as text for Graphviz: one cluster per procedure, errors in red.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::syntax::{Edge, EdgeId, LocId, Op, Proc, ProcId, Program};
use crate::target::Target;
use crate::text;

/// The longest label of an edge, in characters; longer ones are cut.
const MAX_LABEL: usize = 60;

/// Returns the control-flow graphs of all procedures, in the language of Graphviz.
pub fn render(program: &Program, target: &Target) -> String {
    let mut names: FxHashMap<LocId, Vec<&str>> = FxHashMap::default();
    for label in &program.labels {
        names.entry(label.loc).or_default().push(&label.name);
    }
    let mut locs: Vec<Vec<LocId>> = vec![Vec::new(); program.procs.len()];
    for (id, loc) in program.locs.iter_enumerated() {
        locs[loc.proc.index()].push(id);
    }
    let drawing = Drawing { program, target, names };
    let mut out = String::from("digraph program {\n  graph [fontname=\"monospace\"];\n");
    out.push_str("  node [shape=ellipse, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n");
    for (id, proc) in program.procs.iter_enumerated() {
        drawing.proc(&mut out, id, proc, &locs[id.index()]);
    }
    for (id, edge) in program.edges.iter_enumerated() {
        drawing.edge(&mut out, id, edge);
    }
    out.push_str("}\n");
    out
}

struct Drawing<'p> {
    program: &'p Program,
    target: &'p Target,
    /// The labels of each location.
    names: FxHashMap<LocId, Vec<&'p str>>,
}

/// Appends a line. Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => { writeln!($out, $($arg)*).expect("a string takes everything") };
}

impl Drawing<'_> {
    fn proc(&self, out: &mut String, id: ProcId, proc: &Proc, locs: &[LocId]) {
        let params: Vec<&str> = proc.params.iter().map(|param| self.program.vars[*param].name.as_str()).collect();
        let head = format!("{}({})", proc.name, params.join(", "));
        line!(out, "  subgraph cluster_{} {{\n    label=\"{}\";", id.index(), escape(&cut(&head)));
        for loc in locs {
            self.loc(out, proc, *loc);
        }
        out.push_str("  }\n");
    }

    fn loc(&self, out: &mut String, proc: &Proc, loc: LocId) {
        let mut lines = vec![format!("L{}", loc.index())];
        lines.extend(self.names.get(&loc).into_iter().flatten().map(|name| cut(name)));
        let label: Vec<String> = lines.iter().map(|line| escape(line)).collect();
        let shape = match loc {
            loc if loc == proc.entry => ", shape=box",
            loc if loc == proc.exit => ", shape=doublecircle",
            _ => "",
        };
        let colour = if self.target.watches(loc) { ", color=red, style=filled, fillcolor=mistyrose" } else { "" };
        line!(out, "    L{} [label=\"{}\"{shape}{colour}];", loc.index(), label.join("\\n"));
    }

    fn edge(&self, out: &mut String, id: EdgeId, edge: &Edge) {
        let (from, to) = (edge.from.index(), edge.to.index());
        let label = escape(&cut(&text::op(self.program, &edge.op)));
        let colour = if self.target.has_assert(id) { ", color=red, fontcolor=red" } else { "" };
        line!(out, "  L{from} -> L{to} [label=\"{label}\"{colour}];");
        if let Op::Fork(begin) = edge.op {
            line!(out, "  L{from} -> L{} [style=dashed];", begin.index());
        }
    }
}

/// Cuts off the end of a text that is too long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LABEL) {
        None => text.to_owned(),
        Some(_) => text.chars().take(MAX_LABEL - 1).chain(['…']).collect(),
    }
}

/// Escapes a text for double quotes. Control characters, which Graphviz cannot show, become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '"' | '\\' => escaped.extend(['\\', char]),
            char if char.is_control() => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_with_target;

    fn drawn(text: &str) -> String {
        let (program, target) = parse_with_target(text).unwrap();
        render(&program, &target)
    }

    #[test]
    fn procedures_are_clusters_and_errors_are_red() {
        let text = "shared x: bool\nproc f(p: bool) from L0 to L2\nlabel ERROR: L1\nL0 -> L1: fork L1\n\
                    L1 -> L2: return\nL1 -> L1: assert x\nproc g() from L3 to L4\ntarget e2, L1";
        let expected = "\
digraph program {
  graph [fontname=\"monospace\"];
  node [shape=ellipse, fontname=\"monospace\"];
  edge [fontname=\"monospace\"];
  subgraph cluster_0 {
    label=\"f(p)\";
    L0 [label=\"L0\", shape=box];
    L1 [label=\"L1\\nERROR\", color=red, style=filled, fillcolor=mistyrose];
    L2 [label=\"L2\", shape=doublecircle];
  }
  subgraph cluster_1 {
    label=\"g()\";
    L3 [label=\"L3\", shape=box];
    L4 [label=\"L4\", shape=doublecircle];
  }
  L0 -> L1 [label=\"fork L1\"];
  L0 -> L1 [style=dashed];
  L1 -> L2 [label=\"return\"];
  L1 -> L1 [label=\"assert x\", color=red, fontcolor=red];
}
";
        assert_eq!(drawn(text), expected);
    }

    #[test]
    fn names_are_escaped_and_long_labels_cut() {
        let text = format!(
            "shared `{{\"\\\\\\u{{a}}ä}}`: bool\nproc f() from L0 to L1\nL0 -> L0: assume `{{\"\\\\\\u{{a}}ä}}`\n\
             L0 -> L0: assume {}T",
            "T & ".repeat(40)
        );
        let drawn = drawn(&text);
        assert!(drawn.contains("[label=\"assume {\\\"\\\\ ä}\"]"), "{drawn}");
        assert!(drawn.contains("…\"]"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() < 120));
    }
}

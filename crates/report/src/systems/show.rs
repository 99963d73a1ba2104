//! A pushdown system in numbers and as a picture.

use std::fmt::Write as _;

use selvedge_ir::pds::{Pds, SymbolId};

use crate::names::count;

/// A line per number.
pub fn stats(pds: &Pds) -> String {
    let of_length = |length: usize| pds.rules.iter().filter(|rule| rule.push.len() == length).count();
    let deepest = pds.initial.iter().map(|config| config.stack.len()).max().unwrap_or(0);
    let kinds = format!("{} pop, {} replace, {} push", of_length(0), of_length(1), of_length(2));
    let rows = [
        ("states", pds.states.len().to_string()),
        ("symbols", pds.symbols.len().to_string()),
        ("rules", format!("{} ({kinds})", pds.rules.len())),
        (
            "start",
            format!("{}, stacks of up to {}", count(pds.initial.len(), "configuration"), count(deepest, "symbol")),
        ),
        ("targets", count(pds.targets.len(), "head")),
    ];
    let mut out = String::new();
    for (name, value) in rows {
        let _ = writeln!(out, "{:<16} {value}", format!("{name}:"));
    }
    out
}

/// A graph for Graphviz: control states, and an edge `g / w` for each rule. States with a target are red, and those of
/// an initial configuration boxes.
pub fn dot(pds: &Pds) -> String {
    let mut out = String::from("digraph system {\n  node [shape=ellipse, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"monospace\"];\n");
    for (id, name) in pds.states.iter_enumerated() {
        let is_initial = pds.initial.iter().any(|config| config.state == id);
        let is_target = pds.targets.iter().any(|head| head.state == id);
        let shape = if is_initial { ", shape=box" } else { "" };
        let colour = if is_target { ", color=red, style=filled, fillcolor=mistyrose" } else { "" };
        let _ = writeln!(out, "  p{} [label=\"{}\"{shape}{colour}];", id.index(), escape(name));
    }
    for rule in &pds.rules {
        let label = format!("{} / {}", word(pds, &[rule.top]), word(pds, &rule.push));
        let _ = writeln!(out, "  p{} -> p{} [label=\"{}\"];", rule.from.index(), rule.to.index(), escape(&label));
    }
    out.push_str("}\n");
    out
}

fn word(pds: &Pds, word: &[SymbolId]) -> String {
    let names: Vec<&str> = word.iter().map(|symbol| pds.symbols[*symbol].as_str()).collect();
    if names.is_empty() { "-".to_string() } else { names.join(" ") }
}

/// Escapes a text inside of double quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

//! The abstract model of a program with integers, for Graphviz: exact steps are solid lines, others dotted ones.

use std::fmt::Write as _;

use selvedge_driver::AbstractModel;
use selvedge_ir::span::SourceMap;
use selvedge_ir::{EdgeId, Program, Value, VarId, text};

/// The picture.
pub fn dot(program: &Program, map: &SourceMap, model: &AbstractModel) -> String {
    let mut out =
        "digraph abstract {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n".to_string();
    let written = "writing to a string succeeds";
    for (number, state) in model.states.iter().enumerate() {
        let control = model.control.iter().zip(&state.control).map(|(var, value)| valued(program, map, *var, *value));
        let predicates = model.predicates.iter().zip(&state.bits).map(|(predicate, bit)| {
            let predicate = text::expr(program, predicate);
            if *bit { predicate } else { format!("!({predicate})") }
        });
        let lines: Vec<String> = control.chain(predicates).map(|line| escaped(&line)).collect();
        let style = if state.is_initial { ", penwidth=2" } else { "" };
        writeln!(out, "  a{number} [label=\"a{number}\\n{}\"{style}];", lines.join("\\n")).expect(written);
    }
    for edge in &model.edges {
        let name = escaped(&named(map, edge.edge));
        let style = if edge.is_exact { "solid" } else { "dotted" };
        writeln!(out, "  a{} -> a{} [label=\"{name}\", style={style}];", edge.from, edge.to).expect(written);
    }
    out.push_str("}\n");
    out
}

fn valued(program: &Program, map: &SourceMap, var: VarId, value: Value) -> String {
    let names = map.values.get(&var);
    let word = match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => {
            let name = usize::try_from(value).ok().and_then(|value| names?.get(value));
            name.cloned().unwrap_or_else(|| value.to_string())
        }
    };
    format!("{} = {word}", program.vars[var].name)
}

fn named(map: &SourceMap, edge: EdgeId) -> String {
    map.commands.get(&edge).cloned().unwrap_or_else(|| format!("e{}", edge.index()))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

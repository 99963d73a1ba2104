//! The abstract model of a program with integers, for Graphviz: exact steps are solid lines, others dotted ones.

use std::fmt::Write as _;

use selvedge_check::{AbstractModel, AbstractState};
use selvedge_ir::span::SourceMap;
use selvedge_ir::{BinaryOp, EdgeId, Expr, Program, Value, VarId, text};

use crate::systems::escape;

/// The picture.
pub fn dot(program: &Program, map: &SourceMap, model: &AbstractModel) -> String {
    let mut out =
        "digraph abstract {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n".to_string();
    let written = "writing to a string succeeds";
    for (number, state) in model.states.iter().enumerate() {
        let lines: Vec<String> = lines(program, map, model, state).iter().map(|line| escape(line)).collect();
        let style = if state.is_initial { ", penwidth=2" } else { "" };
        writeln!(out, "  a{number} [label=\"a{number}\\n{}\"{style}];", lines.join("\\n")).expect(written);
    }
    for edge in &model.edges {
        let name = escape(&named(map, edge.edge));
        let style = if edge.is_exact { "solid" } else { "dotted" };
        writeln!(out, "  a{} -> a{} [label=\"{name}\", style={style}];", edge.from, edge.to).expect(written);
    }
    out.push_str("}\n");
    out
}

/// Returns what holds in an abstract state: the values of control variables, and each predicate or its negation.
pub(crate) fn lines(program: &Program, map: &SourceMap, model: &AbstractModel, state: &AbstractState) -> Vec<String> {
    let control = model.control.iter().zip(&state.control).map(|(var, value)| valued(program, map, *var, *value));
    let predicates = model.predicates.iter().zip(&state.bits).map(|(predicate, bit)| literal(program, predicate, *bit));
    control.chain(predicates).collect()
}

/// A predicate or its negation. Comparisons of sums are written without negative factors.
fn literal(program: &Program, predicate: &Expr, bit: bool) -> String {
    if let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Le), sides) = predicate
        && let Some(terms) = terms(&sides.0)
        && let Expr::Int(bound) = sides.1
        && !terms.is_empty()
    {
        let sign = match (op, bit) {
            (BinaryOp::Eq, true) => "==",
            (BinaryOp::Eq, false) => "!=",
            (_, true) => "<=",
            (_, false) => ">",
        };
        let (left, right): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(factor, _)| *factor > 0);
        let mut words = right.iter().map(|(factor, var)| product(program, *factor, *var)).collect::<Vec<_>>();
        if bound != 0 || words.is_empty() {
            words.push(bound.to_string());
        }
        let left: Vec<String> = left.iter().map(|(factor, var)| product(program, *factor, *var)).collect();
        let left = if left.is_empty() { "0".to_string() } else { left.join(" + ") };
        return format!("{left} {sign} {}", words.join(" + ").replace("+ -", "- "));
    }
    let written = text::expr(program, predicate);
    match (bit, predicate) {
        (true, _) => written,
        (false, Expr::Var(_)) => format!("!{written}"),
        (false, _) => format!("!({written})"),
    }
}

fn product(program: &Program, factor: i64, var: VarId) -> String {
    let name = &program.vars[var].name;
    if factor.abs() == 1 { name.clone() } else { format!("{} * {name}", factor.unsigned_abs()) }
}

/// A sum of multiples of variables; `None` if it is something else.
fn terms(sum: &Expr) -> Option<Vec<(i64, VarId)>> {
    match sum {
        Expr::Var(var) => Some(vec![(1, *var)]),
        Expr::Binary(BinaryOp::Add, parts) => Some([terms(&parts.0)?, terms(&parts.1)?].concat()),
        Expr::Binary(BinaryOp::Mul, parts) => match (&parts.0, &parts.1) {
            (Expr::Int(factor), Expr::Var(var)) => Some(vec![(*factor, *var)]),
            _ => None,
        },
        _ => None,
    }
}

fn valued(program: &Program, map: &SourceMap, var: VarId, value: Value) -> String {
    let names = map.values.get(&var);
    let word = match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => {
            let name = usize::try_from(value).ok().and_then(|value| names?.get(value));
            name.cloned().unwrap_or_else(|| value.to_string())
        }
        machine @ Value::Machine(..) => machine.number().to_string(),
    };
    format!("{} = {word}", program.vars[var].name)
}

pub(crate) fn named(map: &SourceMap, edge: EdgeId) -> String {
    map.commands.get(&edge).cloned().unwrap_or_else(|| format!("e{}", edge.index()))
}

//! A program in numbers.

use std::fmt::Write as _;

use selvedge_ir::callgraph::{CallGraph, is_sequential};
use selvedge_ir::{Op, Program, Scope, Target};

use crate::names::count;
use crate::text;

/// A line per number.
pub fn render(program: &Program, target: &Target) -> String {
    let mut out = String::new();
    for (name, value) in rows(program, target) {
        let _ = writeln!(out, "{:<16} {value}", format!("{name}:"));
    }
    out
}

fn rows(program: &Program, target: &Target) -> Vec<(&'static str, String)> {
    let graph = CallGraph::new(program);
    let in_scope = |wanted: fn(Scope) -> bool| program.vars.iter().filter(|var| wanted(var.scope)).count();
    let recursive = program.procs.indices().filter(|proc| graph.is_recursive(*proc)).count();
    vec![
        ("procedures", format!("{} ({recursive} recursive)", program.procs.len())),
        ("shared", count(in_scope(|scope| scope == Scope::Shared), "variable")),
        ("per thread", count(in_scope(|scope| scope == Scope::Thread), "variable")),
        ("local", count(in_scope(|scope| matches!(scope, Scope::Local(_))), "variable")),
        ("locations", program.locs.len().to_string()),
        ("edges", format!("{} ({})", program.edges.len(), kinds(program))),
        ("choices", program.edges.iter().map(|edge| edge.op.choices().len()).sum::<usize>().to_string()),
        ("labels", program.labels.len().to_string()),
        ("errors", errors(target)),
        ("threads", if is_sequential(program) { "one".to_string() } else { "several".to_string() }),
        ("start", text::initial_threads(program)),
    ]
}

fn errors(target: &Target) -> String {
    format!("{}, {}", count(target.asserts.len(), "assertion"), count(target.watched().len(), "labelled location"))
}

/// Returns how many edges of which kind there are, for those kinds that occur.
fn kinds(program: &Program) -> String {
    let mut counts = [0_usize; KINDS.len()];
    for edge in &program.edges {
        counts[kind(&edge.op)] += 1;
    }
    let occurring = KINDS.iter().zip(counts).filter(|(_, n)| *n > 0);
    occurring.map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

const KINDS: [&str; 8] = ["skip", "assume", "assign", "assert", "call", "return or end", "start", "atomic"];

fn kind(op: &Op) -> usize {
    match op {
        Op::Assign(assign) if *op == Op::skip() || assign.active.is_empty() && assign.passive.is_empty() => {
            usize::from(*op != Op::skip())
        }
        Op::Assign(_) => 2,
        Op::Assert(_) => 3,
        Op::Call(_) => 4,
        Op::Return(_) | Op::End => 5,
        Op::Spawn(_) | Op::Fork(_) => 6,
        Op::AtomicBegin | Op::AtomicEnd => 7,
    }
}

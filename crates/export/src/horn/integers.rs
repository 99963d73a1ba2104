//! Guarded commands as Horn clauses, with one predicate over all variables for the reachable states. `sat` means safe
//! and `unsat` unsafe, as for other programs.

use std::fmt::Write as _;

use selvedge_frontend::Context;
use selvedge_ir::{Assign, EdgeId, Expr, LocId, Op, Program, Target, Ty, VarId};

use super::clause;
use crate::smtlib::{sort, term, word};

/// Returns the clauses, or the reason why there are none, without a full stop.
pub(super) fn render(context: Context<'_>, target: &Target) -> Result<String, String> {
    let program = context.program;
    let entry = program.entries.first().map(|entry| program.procs[entry.proc].entry);
    let of_commands = |op: &Op| match op {
        Op::Assign(assign) => !assign.is_passive(),
        Op::Assert(_) => true,
        _ => false,
    };
    let Some(head) = program.edges.iter().find(|edge| Some(edge.from) == entry).map(|edge| edge.to) else {
        return Err("Horn clauses over integers only support guarded commands".to_string());
    };
    let is_plain = program.edges.iter().all(|edge| edge.to == head && of_commands(&edge.op));
    if !is_plain || !program.init.is_empty() || program.procs.len() != 1 || !target.locs.is_empty() {
        return Err("Horn clauses over integers only support guarded commands".to_string());
    }
    let mut text = format!(
        "; {}: sat means that no error can be reached, unsat that one can.\n; The columns of P: {}.\n\
         (set-logic HORN)\n",
        context.source.name.replace('\n', " "),
        program.vars.iter().map(|var| var.name.as_str()).collect::<Vec<_>>().join(", ")
    );
    let sorts: Vec<String> = program.vars.iter().map(|var| sort(var.ty)).collect();
    let _ = writeln!(text, "(declare-fun P ({}) Bool)", sorts.join(" "));
    for id in program.edges.indices() {
        if let Some(clause) = edge(program, target, id, entry) {
            let _ = writeln!(text, "(assert {clause})");
        }
    }
    text.push_str("(check-sat)\n");
    Ok(text)
}

/// Returns the clause of an edge: a command extends the reachable states, and an assertion of the target must hold.
fn edge(program: &Program, target: &Target, id: EdgeId, entry: Option<LocId>) -> Option<String> {
    let here = fact(program, &clause::now);
    let edge = &program.edges[id];
    match &edge.op {
        Op::Assign(assign) => {
            let before = if Some(edge.from) == entry { "true" } else { here.as_str() };
            let there = fact(program, &|var| after(assign, var));
            let body = format!("(=> (and {before} {}) {there})", write(&assign.constrain));
            Some(closed(program, &assign.choices(), &body))
        }
        Op::Assert(condition) if target.has_assert(id) => {
            let body = format!("(=> (and {here} (not {})) false)", write(condition));
            Some(closed(program, &[], &body))
        }
        _ => None,
    }
}

fn after(assign: &Assign, var: VarId) -> String {
    match assign.active.iter().find(|(assigned, _)| *assigned == var) {
        Some((_, rhs)) => write(rhs),
        None => clause::now(var),
    }
}

fn fact(program: &Program, value: &dyn Fn(VarId) -> String) -> String {
    let values: Vec<String> = program.vars.indices().map(value).collect();
    if values.is_empty() { "P".to_string() } else { format!("(P {})", values.join(" ")) }
}

/// Returns the clause for all values of the variables and choices.
fn closed(program: &Program, choices: &[Ty], body: &str) -> String {
    let vars = program.vars.iter_enumerated().map(|(id, var)| format!("(v{} {})", id.index(), sort(var.ty)));
    let choices = choices.iter().enumerate().map(|(number, ty)| format!("(c{number} {})", sort(*ty)));
    let names: Vec<String> = vars.chain(choices).collect();
    if names.is_empty() { body.to_string() } else { format!("(forall ({}) {body})", names.join(" ")) }
}

fn write(expr: &Expr) -> String {
    term(expr, word, &|leaf| match leaf {
        Expr::Var(var) => clause::now(*var),
        Expr::Choice(number, _) => format!("c{number}"),
        _ => unreachable!("guarded commands have no other leaves"),
    })
}

//! Programs with integers: one thread, no calls, linear arithmetic.
//!
//! In the order of reading: `model` is the program as a transition system over terms, `linear` and `atoms` are the
//! normal form of predicates, `prover` the solver, `control` finds the variables that act like a program counter, and
//! `trace` turns a solution into an execution. The engines: [`ase`], [`ur`], [`induction`], and for guarded commands
//! [`horn`] and [`cegar`].

pub mod abstraction;
pub mod ase;
mod atoms;
pub mod cegar;
mod control;
pub mod horn;
pub mod induction;
mod linear;
mod model;
mod prover;
mod terms;
mod trace;
pub mod ur;

use selvedge_check::{Task, Unsupported};
use selvedge_ir::{BinaryOp, Count, Expr, Op, Program, Ty};

/// Returns whether a program meets the requirements of all engines here. The reason begins with the engine's name.
pub fn supports(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    task.refuse_deadlock(name)?;
    let program = task.program;
    let refuse = |reason: &str| Err(Unsupported::new(format!("`{name}` {reason}")));
    let one_thread = matches!(program.entries.as_raw_slice(), [entry] if entry.count == Count::Exactly(1));
    if !one_thread || program.prelude.is_some() || !task.target.together.is_empty() {
        return refuse("only supports programs with one thread");
    }
    if !has_integers(program) {
        return refuse("only supports programs with integers");
    }
    if program.has_machine_integers() || program.shares_parts() {
        return refuse("does not support machine integers");
    }
    let first = program.entries[0].proc;
    for (id, edge) in program.edges.iter_enumerated().filter(|(_, edge)| program.locs[edge.from].proc == first) {
        let at = |reason: &str| Err(Unsupported::at(id, format!("`{name}` {reason}")));
        match &edge.op {
            Op::Call(_) | Op::Spawn(_) | Op::Fork(_) => return at("only supports programs without calls and spawns"),
            Op::Assign(assign) if assign.is_passive() => return at("does not support passive variables"),
            _ if edge.ensures != Expr::TRUE => return at("does not support `enforce`"),
            op if !op.exprs().all(is_linear) => return at("only supports linear arithmetic"),
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether a program has integers.
pub fn has_integers(program: &Program) -> bool {
    program.vars.iter().any(|var| var.ty == Ty::Int)
}

/// Returns whether all products have a constant operand.
fn is_linear(expr: &Expr) -> bool {
    let is_constant = |expr: &Expr| !expr.any_leaf(|leaf| !matches!(leaf, Expr::Int(_) | Expr::Bool(_)));
    match expr {
        Expr::Binary(BinaryOp::Mul, pair) if !is_constant(&pair.0) && !is_constant(&pair.1) => false,
        _ => expr.operands().all(is_linear),
    }
}

/// Returns the variables that the only thread of a program can access.
fn visible(program: &Program) -> impl Iterator<Item = selvedge_ir::VarId> {
    let entry = &program.entries[0];
    program.vars.iter_enumerated().filter_map(move |(id, var)| match var.scope {
        selvedge_ir::Scope::Shared => Some(id),
        selvedge_ir::Scope::Thread => entry.thread_vars.contains(&id).then_some(id),
        selvedge_ir::Scope::Local(proc) => (proc == entry.proc).then_some(id),
    })
}

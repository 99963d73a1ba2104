//! The atomic flag as a variable of each thread.
//!
//! Only its holder runs while the flag is taken, and no context ends then, so each thread needs to know only whether it
//! has the flag itself. Edges and choices keep their numbers, so an execution of the result is one of the program.

use selvedge_ir::{Assign, Expr, Op, Program, Scope, Ty, Var, VarId};

/// The program with a per-thread variable in the place of the flag, and that variable; none if nobody takes the flag.
pub(super) fn with_flag(program: &Program) -> (Program, Option<VarId>) {
    let mut program = program.clone();
    if !program.edges.iter().any(|edge| edge.op == Op::AtomicBegin) {
        return (program, None);
    }
    let flag = program.vars.push(Var { name: "atomic".to_owned(), scope: Scope::Thread, ty: Ty::Bool });
    let set = |value: bool| Op::Assign(Assign { active: vec![(flag, Expr::Bool(value))], ..Assign::skip() });
    for edge in &mut program.edges {
        match edge.op {
            Op::AtomicBegin => edge.op = set(true),
            Op::AtomicEnd => edge.op = set(false),
            _ => {}
        }
    }
    for entry in &mut program.entries {
        entry.thread_vars.push(flag);
        entry.init.push((flag, Expr::Bool(false)));
    }
    (program, Some(flag))
}

//! Concrete states with abstract matching, and refinement, for programs with one start and no input.
//!
//! After Pasareanu, Pelánek and Visser, "Predicate abstraction with under-approximation refinement" (2007), with which
//! the paper behind [`super::ase`] compares itself. The search is depth-first over concrete states, and continues from
//! a state only if no other state of the same abstract state was seen, on any path. An error found on the way is real.
//! If the steps from all abstract states that were seen are exact, these are closed under all steps, and the program is
//! safe. Otherwise the atoms of the preimages of inexact steps become predicates, and the next round begins. It need
//! not end.

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::{BinaryOp, Expr, Op, Program, UnaryOp, VarId};

use super::ase::{Matching, Options, refine};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Ur {
    /// Its options.
    pub options: Options,
}

impl Engine for Ur {
    fn name(&self) -> &'static str {
        "ur"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        super::supports(task, "ur")?;
        let program = task.program;
        if let Some((id, _)) = program.edges.iter_enumerated().find(|(_, edge)| !edge.op.choices().is_empty()) {
            return Err(Unsupported::at(id, "`ur` only supports programs without input"));
        }
        if !super::visible(program).all(|var| is_fixed(program, var)) {
            return Err(Unsupported::new("`ur` only supports programs with one initial state"));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        refine(task, self.options.iterations, Matching::Everywhere, (run, explanation))
    }
}

/// Returns whether the program text determines the initial value of a variable.
fn is_fixed(program: &Program, var: VarId) -> bool {
    let entry = &program.entries[0];
    let initial = program.init.iter().chain(&entry.init).find(|(initialised, _)| *initialised == var);
    let first = program.procs[entry.proc].entry;
    let mut steps = program.edges.iter().filter(|edge| edge.from == first).peekable();
    let is_assumed = steps.peek().is_some()
        && steps.all(|edge| matches!(&edge.op, Op::Assign(assign) if fixes(&assign.constrain, var)));
    initial.is_some_and(|(_, rhs)| matches!(rhs, Expr::Int(_) | Expr::Bool(_))) || is_assumed
}

/// Returns whether a conjunct of a condition determines the value of a variable.
fn fixes(condition: &Expr, var: VarId) -> bool {
    let is_var = |expr: &Expr| *expr == Expr::Var(var);
    let is_constant = |expr: &Expr| match expr {
        Expr::Int(_) | Expr::Bool(_) => true,
        Expr::Unary(UnaryOp::Neg, operand) => matches!(**operand, Expr::Int(_)),
        _ => false,
    };
    match condition {
        Expr::Binary(BinaryOp::And, pair) => fixes(&pair.0, var) || fixes(&pair.1, var),
        Expr::Binary(BinaryOp::Eq, pair) => {
            is_var(&pair.0) && is_constant(&pair.1) || is_var(&pair.1) && is_constant(&pair.0)
        }
        Expr::Unary(UnaryOp::Not, operand) => is_var(operand),
        other => is_var(other),
    }
}

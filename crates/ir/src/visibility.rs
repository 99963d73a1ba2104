//! Which steps of a thread the other threads can notice.
//!
//! A variable is *shown* if another thread can read or write it: shared variables, and those with a passive copy
//! somewhere. A step is *invisible* if it reads and writes nothing shown and starts and ends no thread: it commutes with
//! every step of every other thread, and none of these enables or disables it.

use fixedbitset::FixedBitSet;

use crate::syntax::{Assign, Expr, Op, Program, Scope, VarId};

/// The shown variables of a program.
#[derive(Clone, Debug)]
pub struct Visibility {
    shown: FixedBitSet,
}

impl Visibility {
    /// Looks through a program.
    pub fn new(program: &Program) -> Visibility {
        let shared = program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared);
        let mut shown = FixedBitSet::with_capacity(program.vars.len());
        shown.extend(shared.map(|(id, _)| id.index()));
        for edge in &program.edges {
            if let Op::Assign(assign) = &edge.op {
                shown.extend(assign.passive.iter().map(|(var, _)| var.index()));
            }
            for expr in edge.op.exprs() {
                expr.for_each_leaf(|leaf| {
                    if let Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                        shown.insert(var.index());
                    }
                });
            }
        }
        Visibility { shown }
    }

    /// Whether another thread can read or write a variable.
    pub fn is_shown(&self, var: VarId) -> bool {
        self.shown.contains(var.index())
    }

    /// Whether an expression reads something shown, or another thread.
    pub fn reads_shown(&self, expr: &Expr) -> bool {
        expr.any_leaf(|leaf| match leaf {
            Expr::Var(var) | Expr::Next(var) => self.is_shown(*var),
            Expr::Passive(_) | Expr::PassiveNext(_) => true,
            _ => false,
        })
    }

    /// Whether an assignment is invisible.
    pub fn is_invisible(&self, assign: &Assign) -> bool {
        let writes = assign.active.iter().any(|(var, rhs)| self.is_shown(*var) || self.reads_shown(rhs));
        !writes && assign.passive.is_empty() && !self.reads_shown(&assign.constrain)
    }

    /// Whether a step of a thread that runs a single procedure is invisible. A failed assertion is an error, which ends
    /// the execution, so that nobody else has a chance to notice it. Calls and returns never count as invisible.
    pub fn is_invisible_op(&self, op: &Op) -> bool {
        match op {
            Op::Assign(assign) => self.is_invisible(assign),
            Op::Assert(condition) => !self.reads_shown(condition),
            Op::Call(_) | Op::Return(_) | Op::Spawn(_) | Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => {
                false
            }
        }
    }
}

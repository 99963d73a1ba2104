//! Visibility of steps: which steps of a thread the other threads can notice.
//!
//! A variable is *shown* if another thread can read or write it: shared variables, and those with a passive copy
//! somewhere on a control path. A step is *invisible* if it reads and writes nothing shown and starts and ends no
//! thread: it commutes with every step of every other thread, and none of these enables or disables it.

use fixedbitset::FixedBitSet;

use crate::flow::reached;
use crate::syntax::{Assign, Edge, Expr, Op, Program, Scope, VarId};

/// The shown variables of a program.
#[derive(Clone, Debug)]
pub struct Visibility {
    shown: FixedBitSet,
}

impl Visibility {
    /// Finds the shown variables of a program.
    pub fn new(program: &Program) -> Visibility {
        let shared = program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared);
        let mut shown = FixedBitSet::with_capacity(program.vars.len());
        shown.extend(shared.map(|(id, _)| id.index()));
        let reached = reached(program, |_| true);
        for edge in program.edges.iter().filter(|edge| reached.contains(edge.from.index())) {
            edge.op.for_each_passive(|var| shown.insert(var.index()));
        }
        Visibility { shown }
    }

    /// Returns whether another thread can read or write a variable.
    pub fn is_shown(&self, var: VarId) -> bool {
        self.shown.contains(var.index())
    }

    /// Returns whether an expression reads something shown, or another thread.
    pub fn reads_shown(&self, expr: &Expr) -> bool {
        expr.any_leaf(|leaf| match leaf {
            Expr::Var(var) | Expr::Next(var) => self.is_shown(*var),
            Expr::Passive(_) | Expr::PassiveNext(_) => true,
            _ => false,
        })
    }

    /// Returns whether an assignment is invisible.
    pub fn is_invisible(&self, assign: &Assign) -> bool {
        let writes = assign.active.iter().any(|(var, rhs)| self.is_shown(*var) || self.reads_shown(rhs));
        !writes && assign.passive.is_empty() && !self.reads_shown(&assign.constrain)
    }

    /// Returns whether a step of a thread that runs a single procedure is invisible. A failed assertion is an error,
    /// which ends the execution, so that no other thread can notice it. Calls and returns never count as invisible.
    pub fn is_invisible_step(&self, edge: &Edge) -> bool {
        match &edge.op {
            Op::Assign(assign) => self.is_invisible(assign),
            Op::Assert(condition) => !self.reads_shown(condition) && !self.reads_shown(&edge.ensures),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    #[test]
    fn what_no_thread_runs_shows_nothing() {
        let text = |called: &str| {
            format!(
                "thread t: bool
                proc main() from L0 to L1
                  e0 L0 -> L1: {called}
                proc f() from L2 to L3
                  e1 L2 -> L3: assume t$
                proc g() from L4 to L5
                  e2 L4 -> L4: skip
                start main: main any with t"
            )
        };
        let is_shown = |called: &str| {
            let program = parse(&text(called)).expect("it reads");
            Visibility::new(&program).is_shown(VarId::from_usize(0))
        };
        assert!(is_shown("call f()") && is_shown("spawn f()"));
        assert!(!is_shown("skip") && !is_shown("call g()"));
    }
}

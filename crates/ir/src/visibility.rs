//! Visibility of steps: which steps of a thread the other threads can notice.
//!
//! A variable is *shown* if another thread can read or write it: shared variables, and those with a passive copy
//! somewhere on a control path. A step is *invisible* if it reads and writes nothing shown and starts and ends no
//! thread: it commutes with every step of every other thread, and none of these enables or disables it.

use fixedbitset::FixedBitSet;

use crate::flow::Flow;
use crate::syntax::{Assign, Expr, LocId, Op, Program, Scope, VarId};

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
        let reached = reached(program);
        for edge in program.edges.iter().filter(|edge| reached.contains(edge.from.index())) {
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

/// Returns the locations on control paths of threads. A call leads to what follows it if the callee has a path to its
/// exit.
fn reached(program: &Program) -> FixedBitSet {
    let flow = Flow::new(program);
    let mut reached = FixedBitSet::with_capacity(program.locs.len());
    let entries = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let mut waiting: Vec<LocId> = entries.map(|proc| program.procs[proc].entry).collect();
    // The locations after the calls of each callee, by its exit.
    let mut after_calls: Vec<(LocId, LocId)> = Vec::new();
    while let Some(loc) = waiting.pop() {
        if reached.put(loc.index()) {
            continue;
        }
        waiting.extend(after_calls.iter().filter(|(exit, _)| *exit == loc).map(|(_, after)| *after));
        for edge in flow.out(loc).iter().map(|id| &program.edges[*id]) {
            match &edge.op {
                Op::Call(call) => {
                    let callee = &program.procs[call.callee];
                    waiting.push(callee.entry);
                    after_calls.push((callee.exit, edge.to));
                    waiting.extend(reached.contains(callee.exit.index()).then_some(edge.to));
                }
                Op::Spawn(spawn) => waiting.extend([program.procs[spawn.callee].entry, edge.to]),
                Op::Fork(child) => waiting.extend([*child, edge.to]),
                // It leads to the exit of the procedure, but not to its callers.
                Op::End => {}
                _ => waiting.push(edge.to),
            }
        }
    }
    reached
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

//! Which steps of a thread the other threads cannot notice: the judge's own rule.
//!
//! A variable is *shown* if another thread can read or write it: shared variables, and those of which an operation on
//! some control path mentions another thread's copy. A step is *invisible* if it reads and writes nothing shown, and
//! neither starts nor ends a thread, nor touches the atomic flag. A call or a return to a caller must also leave alone
//! whether the thread has a shown variable: the frame that comes or goes has none. A value that the caller discards is
//! not read; what the call ensures is read by the return. The failure of an assertion is an error, which ends the
//! execution: no other thread can notice it.
//!
//! An invisible step commutes with every step of every other thread, and none of these enables or disables it.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::{Edge, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, VarId};

use crate::program::{exprs, leaves, leaving};
use crate::semantics::{call_of, of_scope};

/// The shown variables of a program.
#[derive(Clone, Debug)]
pub struct Commutation<'p> {
    program: &'p Program,
    shown: BTreeSet<VarId>,
}

impl<'p> Commutation<'p> {
    /// Looks through the operations on control paths of a program.
    pub fn new(program: &'p Program) -> Commutation<'p> {
        let mut shown: BTreeSet<VarId> = of_scope(program, Scope::Shared).collect();
        let reached = reached(program, |_| true);
        for edge in program.edges.iter().filter(|edge| reached.contains(&edge.from)) {
            if let Op::Assign(assign) = &edge.op {
                shown.extend(assign.passive.iter().map(|(var, _)| *var));
            }
            shown.extend(exprs(&edge.op).into_iter().flat_map(leaves).filter_map(|leaf| match leaf {
                Expr::Passive(var) | Expr::PassiveNext(var) => Some(*var),
                _ => None,
            }));
        }
        Commutation { program, shown }
    }

    /// Returns whether another thread can read or write a variable.
    pub fn is_shown(&self, var: VarId) -> bool {
        self.shown.contains(&var)
    }

    /// Returns whether a step is invisible, of a thread whose running frame was called by `caller`.
    pub fn is_invisible(&self, edge: &Edge, caller: Option<EdgeId>) -> bool {
        match (&edge.op, caller) {
            (Op::Assign(assign), _) => {
                assign.passive.is_empty()
                    && assign.active.iter().all(|(var, rhs)| !self.is_shown(*var) && self.is_own(rhs))
                    && self.is_own(&assign.constrain)
            }
            (Op::Assert(condition), _) => self.is_own(condition) && self.is_own(&edge.ensures),
            (Op::Call(call), _) => self.hides_frame(call.callee) && call.args.iter().all(|arg| self.is_own(arg)),
            (Op::Return(values), Some(id)) => {
                let call = call_of(self.program, id);
                let mut taken = values.iter().zip(&call.results).filter_map(|(value, var)| Some((value, (*var)?)));
                self.hides_frame(call.callee)
                    && taken.all(|(value, var)| !self.is_shown(var) && self.is_own(value))
                    && self.is_own(&self.program.edges[id].ensures)
            }
            (Op::Return(_), None) => false,
            (Op::Spawn(_) | Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd, _) => false,
        }
    }

    /// Returns whether an expression reads nothing but variables of the thread that are not shown.
    fn is_own(&self, expr: &Expr) -> bool {
        leaves(expr).all(|leaf| match leaf {
            Expr::Var(var) | Expr::Next(var) => !self.is_shown(*var),
            Expr::Passive(_) | Expr::PassiveNext(_) => false,
            _ => true,
        })
    }

    /// Returns whether no variable of a procedure's frame is shown.
    fn hides_frame(&self, proc: ProcId) -> bool {
        !self.program.procs[proc].locals.iter().any(|local| self.is_shown(*local))
    }
}

/// The locations on control paths of threads, over edges that pass a test. A call leads to what follows it if the
/// callee can return.
pub(crate) fn reached(program: &Program, passes: impl Fn(&Edge) -> bool) -> BTreeSet<LocId> {
    let leaving = leaving(program);
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let mut waiting: Vec<LocId> = starts.map(|proc| program.procs[proc].entry).collect();
    let (mut reached, mut returning) = (BTreeSet::new(), BTreeSet::new());
    let mut behind: BTreeMap<ProcId, Vec<LocId>> = BTreeMap::new();
    while let Some(loc) = waiting.pop() {
        if !reached.insert(loc) {
            continue;
        }
        for edge in leaving[loc].iter().map(|id| &program.edges[*id]).filter(|edge| passes(edge)) {
            match &edge.op {
                Op::Call(call) => {
                    waiting.push(program.procs[call.callee].entry);
                    behind.entry(call.callee).or_default().push(edge.to);
                    waiting.extend(returning.contains(&call.callee).then_some(edge.to));
                }
                Op::Return(_) => {
                    let proc = program.locs[loc].proc;
                    returning.insert(proc);
                    waiting.extend(behind.get(&proc).into_iter().flatten());
                }
                Op::End => {}
                Op::Spawn(spawn) => waiting.extend([program.procs[spawn.callee].entry, edge.to]),
                Op::Fork(at) => waiting.extend([*at, edge.to]),
                Op::Assign(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd => waiting.push(edge.to),
            }
        }
    }
    reached
}

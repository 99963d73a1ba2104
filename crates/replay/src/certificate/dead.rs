//! The locals whose values no later step reads before it overwrites them: the judge's own rule.
//!
//! Two states that differ in such values only have the same steps, and the states after a step differ in such values
//! only. So a search may keep one of them, and a new frame may begin with one value of such a local instead of all.
//! Every occurrence in an operation counts as a read, and locals that other threads mention are always read.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use selvedge_check::execution::State;
use selvedge_ir::{Edge, Expr, LocId, Op, Program, Scope, VarId};

use crate::program::{default_value, exprs, leaves};

/// The locals that are read later.
pub(super) struct Dead<'p> {
    program: &'p Program,
    /// Those of the procedure of a location, for a running frame that is there.
    live: IndexVec<LocId, BTreeSet<VarId>>,
}

impl<'p> Dead<'p> {
    /// Finds the least sets that are closed under going back along an edge.
    pub(super) fn new(program: &'p Program) -> Dead<'p> {
        let mut always: BTreeSet<VarId> = BTreeSet::new();
        for edge in &program.edges {
            if let Op::Assign(assign) = &edge.op {
                always.extend(assign.passive.iter().map(|(var, _)| *var));
            }
            always.extend(mentioned(edge).filter(|(_, is_own)| !is_own).map(|(var, _)| var));
        }
        let mut dead = Dead { program, live: program.locs.iter().map(|_| always.clone()).collect() };
        let mut grows = true;
        while grows {
            grows = false;
            for edge in program.edges.iter().rev() {
                let before = dead.before(edge);
                grows |= !before.is_subset(&dead.live[edge.from]);
                dead.live[edge.from].extend(before);
            }
        }
        dead
    }

    /// Returns the locals that are read in a step along an edge or later. Those that a call reads when it returns, and
    /// those of its caller that are read later, are read while it runs.
    fn before(&self, edge: &Edge) -> BTreeSet<VarId> {
        let mut before = match &edge.op {
            Op::Return(_) | Op::End => BTreeSet::new(),
            Op::Fork(at) => &self.live[edge.to] | &self.live[*at],
            _ => self.live[edge.to].clone(),
        };
        let written: Vec<VarId> = match &edge.op {
            Op::Assign(assign) => assign.active.iter().map(|(var, _)| *var).collect(),
            Op::Call(call) => call.results.iter().flatten().copied().collect(),
            _ => Vec::new(),
        };
        before.retain(|var| !written.contains(var));
        before.extend(mentioned(edge).map(|(var, _)| var));
        before
    }

    /// The locals of procedures that need no value at their beginning.
    pub(super) fn at_beginnings(&self) -> BTreeSet<VarId> {
        let is_dead = |(id, local): &(VarId, Scope)| match local {
            Scope::Local(proc) => !self.live[self.program.procs[*proc].entry].contains(id),
            Scope::Shared | Scope::Thread => false,
        };
        let vars = self.program.vars.iter_enumerated().map(|(id, var)| (id, var.scope));
        vars.filter(is_dead).map(|(id, _)| id).collect()
    }

    /// Gives the locals that are not read later their default values. A frame with a call that has not returned is at
    /// the location before it.
    pub(super) fn forget(&self, mut state: State) -> State {
        for frame in state.threads.iter_mut().flat_map(|thread| &mut thread.stack) {
            for (var, value) in self.program.procs[frame.proc].locals.iter().zip(&mut frame.locals) {
                if !self.live[frame.loc].contains(var) {
                    *value = default_value(self.program.vars[*var].ty);
                }
            }
        }
        state
    }
}

/// The variables that an edge mentions in expressions, and whether as those of the thread that moves.
fn mentioned(edge: &Edge) -> impl Iterator<Item = (VarId, bool)> {
    exprs(&edge.op).into_iter().chain([&edge.ensures]).flat_map(leaves).filter_map(|leaf| match leaf {
        Expr::Var(var) | Expr::Next(var) => Some((*var, true)),
        Expr::Passive(var) | Expr::PassiveNext(var) => Some((*var, false)),
        _ => None,
    })
}

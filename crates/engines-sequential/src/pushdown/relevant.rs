//! The variables that are relevant at each location. The others are kept at one value, so that they do not multiply
//! states.
//!
//! A variable is relevant where some path through the control-flow graph reads it before assigning it; calls and
//! returns are jumps that need not match. This is coarser than [`selvedge_ir::liveness`] on purpose: a variable that is
//! relevant at the entry of a procedure is relevant at all calls of it, and one that is relevant after a call is
//! relevant at the procedure's exit. So the formulas of a certificate, which only mention relevant variables, are
//! closed under calls and returns.
//!
//! The least solution is computed by sweeps over all edges until nothing changes; it ends because sets only grow.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use selvedge_ir::visit::{for_each_old_read, reads};
use selvedge_ir::{LocId, Program, Scope, VarId};
use selvedge_transition::step::control::{Control, control};

/// The relevant variables by location. At a procedure's exit: those that outlive it.
pub(super) struct Relevant {
    at: IndexVec<LocId, FixedBitSet>,
}

impl Relevant {
    /// Makes all variables relevant everywhere, for comparisons of whole states.
    pub(super) fn everything(program: &Program) -> Relevant {
        let mut all = FixedBitSet::with_capacity(program.vars.len());
        all.insert_range(..);
        Relevant { at: program.locs.iter().map(|_| all.clone()).collect() }
    }

    /// Computes the variables that may be read before they are assigned.
    pub(super) fn new(program: &Program) -> Relevant {
        let nothing = FixedBitSet::with_capacity(program.vars.len());
        let mut relevant = Relevant { at: program.locs.iter().map(|_| nothing.clone()).collect() };
        while relevant.sweep(program) {}
        relevant
    }

    /// Returns whether a variable is relevant at a location.
    pub(super) fn has(&self, loc: LocId, var: VarId) -> bool {
        self.at[loc].contains(var.index())
    }

    fn sweep(&mut self, program: &Program) -> bool {
        let mut changed = false;
        for edge in program.edges.iter().rev() {
            let control = control(program, edge);
            // What a call ensures is read where it has returned to.
            let ensured: FixedBitSet = reads(edge.ensures_by_return()).into_iter().map(VarId::index).collect();
            changed |= self.grow(edge.to, &ensured);
            let mut relevant = match control {
                Control::End => FixedBitSet::with_capacity(program.vars.len()),
                _ => self.at[edge.to].clone(),
            };
            edge.op.assigned().for_each(|var| relevant.remove(var.index()));
            if let Control::Call(call) = control {
                let callee = &program.procs[call.callee];
                changed |= self.grow(callee.exit, &globals(program, &relevant));
                relevant.union_with(&globals(program, &self.at[callee.entry]));
            }
            for_each_old_read(edge, |var| relevant.insert(var.index()));
            changed |= self.grow(edge.from, &relevant);
        }
        if let Some(prelude) = program.prelude {
            let first = self.at_thread_start(program);
            changed |= self.grow(program.procs[prelude].exit, &first);
        }
        changed
    }

    fn grow(&mut self, loc: LocId, more: &FixedBitSet) -> bool {
        let grows = !more.is_subset(&self.at[loc]);
        self.at[loc].union_with(more);
        grows
    }

    /// Returns the shared variables that are relevant when the initial thread starts.
    pub(super) fn at_thread_start(&self, program: &Program) -> FixedBitSet {
        let mut live = FixedBitSet::with_capacity(program.vars.len());
        for kind in &program.entries {
            live.union_with(&globals(program, &self.at[program.procs[kind.proc].entry]));
            kind.init.iter().flat_map(|(_, rhs)| reads(rhs)).for_each(|var| live.insert(var.index()));
        }
        live
    }
}

/// Returns the variables of a set that are shared or per-thread.
fn globals(program: &Program, vars: &FixedBitSet) -> FixedBitSet {
    let mut globals = vars.clone();
    let is_local = |var: &usize| matches!(program.vars[VarId::new(*var)].scope, Scope::Local(_));
    vars.ones().filter(is_local).for_each(|var| globals.remove(var));
    globals
}

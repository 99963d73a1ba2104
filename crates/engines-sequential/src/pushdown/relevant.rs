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
use selvedge_ir::{Edge, LocId, Op, ProcId, Program, Scope, VarId};

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
            let before = self.before(program, edge);
            changed |= self.grow(edge.from, &before);
            if let Op::Call(call) = &edge.op {
                let mut outlives = self.after_call(edge);
                self.keep_globals(program, &mut outlives);
                changed |= self.grow(program.procs[call.callee].exit, &outlives);
            }
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

    fn before(&self, program: &Program, edge: &Edge) -> FixedBitSet {
        let mut live = match &edge.op {
            Op::Call(call) => {
                let mut live = self.after_call(edge);
                live.union_with(&self.inputs(program, call.callee));
                live
            }
            Op::End => FixedBitSet::with_capacity(program.vars.len()),
            Op::Assign(assign) => {
                let mut live = self.at[edge.to].clone();
                assign.active.iter().for_each(|(var, _)| live.remove(var.index()));
                live
            }
            _ => self.at[edge.to].clone(),
        };
        for_each_old_read(&edge.op, |var| live.insert(var.index()));
        live
    }

    /// Returns the variables that are relevant after a call and are not results of it.
    fn after_call(&self, edge: &Edge) -> FixedBitSet {
        let mut live = self.at[edge.to].clone();
        if let Op::Call(call) = &edge.op {
            call.results.iter().flatten().for_each(|var| live.remove(var.index()));
        }
        live
    }

    /// Returns the shared and per-thread variables that are relevant at a procedure's entry.
    fn inputs(&self, program: &Program, proc: ProcId) -> FixedBitSet {
        let mut live = self.at[program.procs[proc].entry].clone();
        self.keep_globals(program, &mut live);
        live
    }

    fn keep_globals(&self, program: &Program, live: &mut FixedBitSet) {
        let is_local = |slot: &usize| matches!(program.vars[VarId::new(*slot)].scope, Scope::Local(_));
        let locals: Vec<usize> = live.ones().filter(is_local).collect();
        locals.into_iter().for_each(|slot| live.remove(slot));
    }

    /// Returns the shared variables that are relevant when the initial thread starts.
    pub(super) fn at_thread_start(&self, program: &Program) -> FixedBitSet {
        let mut live = FixedBitSet::with_capacity(program.vars.len());
        for kind in &program.entries {
            live.union_with(&self.inputs(program, kind.proc));
            kind.init.iter().flat_map(|(_, rhs)| reads(rhs)).for_each(|var| live.insert(var.index()));
        }
        live
    }
}

//! Static facts about a program: the variables that each procedure touches, liveness, and the order of work.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::dataflow::Arrows;
use selvedge_ir::flow::Flow;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::mod_ref::ModRef;
use selvedge_ir::slots::Slots;
use selvedge_ir::{LocId, Op, ProcId, Program, Scope, VarId};
use selvedge_logic::aig::Lit;
use selvedge_transition::step::circuit::Valuation;

/// Static facts about a program, computed before the search.
pub(super) struct ProgramFacts {
    pub(super) flow: Flow,
    pub(super) calls: CallGraph,
    /// The shared and per-thread variables that a procedure or its callees touch, then those that may be modified.
    touched: IndexVec<ProcId, BTreeSet<VarId>>,
    modified: IndexVec<ProcId, BTreeSet<VarId>>,
    liveness: Liveness,
    /// The position of a location in the order of work: that of its procedure's component, callees first, then its own
    /// in reverse postorder. Calls wait for their callees, and a location for all that lead to it on a path without
    /// loops, so that as much as possible is merged. Algorithm 10.1 of the thesis orders by the size of the subtree of
    /// a depth-first search instead, which can put a join before one of its branches.
    pub(super) rank: IndexVec<LocId, (u32, u32)>,
    /// The locations at which an arriving state may repeat an earlier one.
    joins: FixedBitSet,
}

impl ProgramFacts {
    pub(super) fn new(program: &Program) -> ProgramFacts {
        let (calls, flow, slots) = (CallGraph::new(program), Flow::new(program), Slots::new(program));
        let effects = ModRef::new(program, &slots, &calls, &Arrows::new(program, &calls));
        let set = |bits: &mut dyn Iterator<Item = usize>| bits.map(|slot| slots.globals()[slot]).collect();
        let touched = |proc| set(&mut effects.of(proc).refs.union(&effects.of(proc).mods));
        let modified = |proc| set(&mut effects.of(proc).mods.ones());
        let is_call =
            |loc: &LocId| Flow::into(&flow, *loc).iter().any(|id| matches!(program.edges[*id].op, Op::Call(_)));
        let exits: BTreeSet<LocId> = program.procs.iter().map(|proc| proc.exit).collect();
        let entries: BTreeSet<LocId> = program.procs.iter().map(|proc| proc.entry).collect();
        let is_join = |loc: &LocId| {
            let n_ways = Flow::into(&flow, *loc).len() + usize::from(entries.contains(loc));
            n_ways > 1 || is_call(loc) || exits.contains(loc)
        };
        ProgramFacts {
            touched: program.procs.indices().map(touched).collect(),
            modified: program.procs.indices().map(modified).collect(),
            liveness: Liveness::new(program),
            rank: ranks(program, &flow, &calls),
            joins: program.locs.indices().filter(is_join).map(LocId::index).collect(),
            flow,
            calls,
        }
    }

    /// Returns whether a state that arrives at a location may repeat an earlier one. Elsewhere it is as new as its
    /// predecessor.
    pub(super) fn is_join(&self, loc: LocId) -> bool {
        self.joins.contains(loc.index())
    }

    /// Returns the variables on whose entry values a procedure depends, in ascending order.
    pub(super) fn inputs(&self, program: &Program, proc: ProcId) -> Vec<VarId> {
        let entry = program.procs[proc].entry;
        let all = self.touched[proc].iter().chain(&program.procs[proc].params).copied();
        let live: BTreeSet<VarId> = all.filter(|var| self.liveness.is_live(entry, *var)).collect();
        live.into_iter().collect()
    }

    /// Trims a valuation at a location of a procedure: dead variables become false, untouched ones are left out. At the
    /// exit only variables remain that may have been modified.
    pub(super) fn trim(&self, program: &Program, loc: LocId, values: &Valuation) -> Valuation {
        let proc = program.locs[loc].proc;
        let at_exit = loc == program.procs[proc].exit;
        let keep = |var: VarId| match program.vars[var].scope {
            Scope::Local(owner) => owner == proc && !at_exit,
            _ if at_exit => self.modified[proc].contains(&var),
            _ => self.touched[proc].contains(&var),
        };
        let live = |var: VarId, lit: Lit| if self.liveness.is_live(loc, var) { lit } else { Lit::FALSE };
        values.restrict(keep).map(live)
    }

    /// Returns the shared and per-thread variables that a procedure or its callees may modify.
    pub(super) fn modified(&self, proc: ProcId) -> impl Iterator<Item = VarId> + '_ {
        self.modified[proc].iter().copied()
    }
}

/// Computes the order of work, in which the exit of a procedure comes last.
fn ranks(program: &Program, flow: &Flow, calls: &CallGraph) -> IndexVec<LocId, (u32, u32)> {
    let mut ranks = calls.ranks(program, flow);
    for proc in &program.procs {
        ranks[proc.exit] = (ranks[proc.entry].0, u32::MAX);
    }
    ranks
}

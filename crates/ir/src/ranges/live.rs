//! The locals whose values at a location are read later.
//!
//! Every occurrence on a right-hand side counts as a read, even if what is assigned is never read: so a local that is
//! not live has no influence on the value of any variable.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use crate::syntax::{LocId, Op, Program, VarId};
use crate::visit::for_each_old_read;

/// Returns the variables that are read from each location on before they are assigned, within the procedure. What a
/// callee reads of its caller's locals, passively, is not counted.
pub(super) fn live(program: &Program) -> IndexVec<LocId, FixedBitSet> {
    let n_vars = program.vars.len();
    let mut live: IndexVec<LocId, FixedBitSet> =
        program.locs.iter().map(|_| FixedBitSet::with_capacity(n_vars)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for edge in program.edges.iter().rev() {
            let mut before = live[edge.to].clone();
            if let Op::Fork(loc) = edge.op {
                before.union_with(&live[loc]);
            }
            edge.op.assigned().for_each(|var| before.remove(var.index()));
            for_each_old_read(edge, |var: VarId| before.insert(var.index()));
            if !before.is_subset(&live[edge.from]) {
                live[edge.from].union_with(&before);
                changed = true;
            }
        }
    }
    live
}

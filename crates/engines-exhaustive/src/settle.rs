//! Variables whose initial value does not matter.

use std::collections::BTreeSet;

use selvedge_ir::liveness::Liveness;
use selvedge_ir::visit::reads;
use selvedge_ir::{LocId, ProcId, Program, Scope, VarId};

/// Returns the variables that are never read before they are written. One initial value represents all: a search for
/// errors loses nothing by trying only one, and programs with fifty uninitialised variables become feasible.
pub(super) fn settled(program: &Program) -> BTreeSet<VarId> {
    let liveness = Liveness::new(program);
    let entry = |proc: ProcId| program.procs[proc].entry;
    let first: Vec<LocId> = match program.prelude {
        Some(prelude) => vec![entry(prelude)],
        None => program.entries.iter().map(|kind| entry(kind.proc)).collect(),
    };
    let starts: Vec<LocId> = program.entries.iter().map(|kind| entry(kind.proc)).collect();
    let initial_reads: BTreeSet<VarId> =
        program.entries.iter().flat_map(|kind| kind.init.iter().flat_map(|(_, rhs)| reads(rhs))).collect();
    let live_at = |locs: &[LocId], var: VarId| locs.iter().any(|loc| liveness.is_live(*loc, var));
    let is_dead = |var: &VarId| match program.vars[*var].scope {
        Scope::Shared => !live_at(&first, *var) && !initial_reads.contains(var),
        Scope::Thread => !live_at(&starts, *var),
        Scope::Local(proc) => !liveness.is_live(entry(proc), *var),
    };
    program.vars.indices().filter(is_dead).collect()
}

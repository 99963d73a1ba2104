//! Lists all reachable states, for comparisons with other engines.

use std::collections::BTreeSet;

use selvedge_check::Stop;
use selvedge_ir::{LocId, Scope, VarId};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::layout::When;
use selvedge_transition::sequential::Values;

use super::solve::Solver;

/// For each location, the valuations that the thread can have there, over the variables that the location's procedure
/// or its callees touch: others do not change while they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Location, and the values of the variables in the order of [`Reached::vars`].
    pub states: BTreeSet<(LocId, Vec<bool>)>,
    /// The variables of the valuations, by location, in ascending order.
    pub vars: Vec<(LocId, Vec<VarId>)>,
}

impl Solver<'_> {
    /// Lists the path edges without their entries.
    pub(super) fn reached(&self) -> Result<Reached, Stop> {
        let mut reached = Reached::default();
        for (loc, edges) in self.edges.iter_enumerated() {
            if edges.is_false() {
                continue;
            }
            let proc = self.program.locs[loc].proc;
            let mut vars: Vec<VarId> = self.layout.visible(self.program, proc);
            vars.sort();
            let now = self.layout.vars(vars.iter().copied(), When::Now);
            let entry = self.layout.vars(self.layout.scopes[proc].with_entry_copy(), When::Entry);
            let forget = self.layout.manager.var_set(&entry).map_err(out_of_nodes)?;
            let states = edges.exists(&forget).map_err(out_of_nodes)?;
            for values in states.assignments(&now) {
                self.tick()?;
                reached.states.insert((loc, values));
            }
            debug_assert!(vars.iter().all(|var| self.program.vars[*var].scope != Scope::Local(proc)
                || self.program.procs[proc].locals.contains(var)));
            reached.vars.push((loc, vars));
        }
        Ok(reached)
    }
}

impl Solver<'_> {
    /// Returns the values that variables of a location's procedure have there.
    pub(super) fn values(&self, loc: LocId, vars: &[VarId]) -> Result<Values, Stop> {
        let proc = self.program.locs[loc].proc;
        let others = self.layout.visible(self.program, proc).into_iter().filter(|var| !vars.contains(var));
        let mut forgotten = self.layout.vars(others, When::Now);
        forgotten.extend(self.layout.vars(self.layout.scopes[proc].with_entry_copy(), When::Entry));
        let forget = self.layout.manager.var_set(&forgotten).map_err(out_of_nodes)?;
        let states = self.edges[loc].exists(&forget).map_err(out_of_nodes)?;
        Ok(Values { states, vars: self.layout.vars(vars.iter().copied(), When::Now) })
    }
}

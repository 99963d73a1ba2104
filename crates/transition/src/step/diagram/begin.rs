//! How threads begin, as sets of valuations: at the start of a run, and from one that starts another.

use selvedge_ir::{EntryId, LocId, Program, Spawn, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::layout::{Layout, When, Who};

impl Layout {
    /// The shared valuations at the start.
    pub fn start(&self, program: &Program) -> Result<Bdd, OutOfNodes> {
        let mut start = self.manager.top();
        for (var, rhs) in &program.init {
            start = start.and(&self.bdd(*var, Who::Mover, When::Now)?.iff(&self.expr(rhs)?)?)?;
        }
        start.exists(&self.all_choices)?.exists(&self.manager.var_set(&self.nows(self.dead_shared()))?)
    }

    /// The valuations of the prelude's thread at its beginning.
    pub fn prelude(&self, loc: LocId) -> Result<Bdd, OutOfNodes> {
        let kept = self.thread_vars().iter().filter(|var| self.kept(loc).contains(var));
        let all_false: Vec<_> = kept.map(|var| (self.var(*var, Who::Mover, When::Now), false)).collect();
        self.manager.cube(&all_false)
    }

    /// The valuations of an initial thread, by the shared valuation at its start.
    pub fn entry(&self, program: &Program, id: EntryId) -> Result<Bdd, OutOfNodes> {
        let entry = &program.entries[id];
        let loc = program.procs[entry.proc].entry;
        let mut relation = self.manager.top();
        for (var, rhs) in &entry.init {
            relation = relation.and(&self.bdd(*var, Who::Mover, When::Now)?.iff(&self.expr(rhs)?)?)?;
        }
        for var in self.thread_vars().iter().filter(|var| !entry.thread_vars.contains(var)) {
            relation = relation.minus(&self.bdd(*var, Who::Mover, When::Now)?)?;
        }
        relation.exists(&self.all_choices)?.exists(&self.manager.var_set(&self.nows(self.dead(loc)))?)
    }

    fn nows(&self, vars: &[VarId]) -> Vec<selvedge_logic::bdd::Var> {
        vars.iter().map(|var| self.var(*var, Who::Mover, When::Now)).collect()
    }

    /// States of the moving thread together with a copy of it at a location, as far as its variables are kept there.
    pub fn forked(&self, set: &Bdd, at: LocId) -> Result<Bdd, OutOfNodes> {
        self.kept(at).iter().try_fold(set.clone(), |joint, var| joint.and(&self.copied(*var)?))
    }

    /// States of the moving thread together with a new one that runs a procedure. Locals that are no parameters have
    /// any value.
    pub fn spawned(&self, program: &Program, set: &Bdd, spawn: &Spawn) -> Result<Bdd, OutOfNodes> {
        let callee = &program.procs[spawn.callee];
        let is_kept = |var: &VarId| self.kept(callee.entry).contains(var);
        let mut joint = set.clone();
        for (param, arg) in callee.params.iter().zip(&spawn.args).filter(|(param, _)| is_kept(param)) {
            joint = joint.and(&self.bdd(*param, Who::Peer, When::Now)?.iff(&self.expr(arg)?)?)?;
        }
        let joint = joint.exists(&self.all_choices)?;
        let inherited = self.thread_vars().iter().filter(|var| is_kept(var));
        inherited.into_iter().try_fold(joint, |joint, var| joint.and(&self.copied(*var)?))
    }

    /// A variable has the same value in the moving and in the new thread.
    fn copied(&self, var: VarId) -> Result<Bdd, OutOfNodes> {
        self.bdd(var, Who::Peer, When::Now)?.iff(&self.bdd(var, Who::Mover, When::Now)?)
    }
}

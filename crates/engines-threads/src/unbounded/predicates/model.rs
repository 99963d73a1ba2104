//! The program over all bits of its numbers: what its steps do, as circuits.

use selvedge_ir::liveness::Liveness;
use selvedge_ir::passes::blast::{Blasted, run_wide};
use selvedge_ir::{EdgeId, Expr, LocId, Op, Program, Scope, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::step::circuit::{self, Effect, Valuation};

/// A program, and the same program over bits.
pub(super) struct Model<'t> {
    pub(super) program: &'t Program,
    pub(super) blasted: Blasted,
    live: Liveness,
}

/// A step along an edge, of one of at least two threads.
pub(super) struct StepCircuit {
    pub(super) aig: Aig,
    /// The shared variables and those of the thread that moves.
    pub(super) now: Valuation,
    /// The shared variables and those of another thread, whatever it runs.
    pub(super) other: Valuation,
    /// The condition without which there is no such step.
    pub(super) condition: Lit,
    /// The condition that is asserted.
    pub(super) asserted: Option<Lit>,
    pub(super) after: Valuation,
    pub(super) other_after: Valuation,
    /// The shared variables and those of the thread that the step starts.
    pub(super) child: Option<Valuation>,
}

impl<'t> Model<'t> {
    /// Writes a program over bits, or says why that cannot be done.
    pub(super) fn new(program: &'t Program) -> Result<Model<'t>, String> {
        Ok(Model { program, blasted: run_wide(program)?, live: Liveness::new(program) })
    }

    /// Returns whether a variable has a value that may matter, where a thread is at a location.
    pub(super) fn is_live(&self, var: VarId, at: LocId) -> bool {
        match self.program.vars[var].scope {
            Scope::Local(owner) => owner == self.program.locs[at].proc && self.live.is_live(at, var),
            Scope::Shared | Scope::Thread => true,
        }
    }

    /// Returns the shared variables that a step along an edge assigns.
    pub(super) fn shared_writes(&self, edge: EdgeId) -> Vec<VarId> {
        let assigned = self.program.edges[edge].op.assigned();
        assigned.filter(|var| self.program.vars[*var].scope == Scope::Shared).collect()
    }

    /// Returns a step along an edge as circuits.
    pub(super) fn step(&self, edge: EdgeId) -> StepCircuit {
        let program = &self.blasted.program;
        let owner = program.locs[program.edges[edge].from].proc;
        let mut aig = Aig::new();
        let is_seen = |scope: Scope| matches!(scope, Scope::Shared) || scope == Scope::Local(owner);
        let seen = program.vars.iter_enumerated().filter(|(_, var)| is_seen(var.scope));
        let now: Valuation = seen.map(|(var, _)| (var, circuit::any_value(&mut aig))).collect();
        let locals = program.vars.iter_enumerated().filter(|(_, var)| matches!(var.scope, Scope::Local(_)));
        let mut other: Valuation = locals.map(|(var, _)| (var, circuit::any_value(&mut aig))).collect();
        let own = other.clone();
        let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
        other.update(&now.restrict(is_shared));
        let (mut condition, mut asserted, mut after, mut child) = (Lit::TRUE, None, now.clone(), None);
        if program.edges[edge].op.starts_thread() {
            child = circuit::starts(&mut aig, program, edge, &now).map(|begun| begun.valuation);
        } else {
            match circuit::step(&mut aig, program, edge, &now).0 {
                Effect::Next(guard, next) => (condition, after) = (guard, next),
                Effect::Assert(guard, holds) => (condition, asserted) = (guard, Some(holds)),
                Effect::Call(..) | Effect::Return(_) | Effect::End => {}
            }
        }
        let mut other_after = own;
        other_after.update(&after.restrict(is_shared));
        StepCircuit { aig, now, other, condition, asserted, after, other_after, child }
    }

    /// Returns the expressions that a condition on a step consists of, and the failure that it asks about otherwise.
    pub(super) fn conditions(&self, edge: EdgeId) -> Vec<Expr> {
        match &self.program.edges[edge].op {
            Op::Assign(assign) => {
                let next = |leaf: &Expr| match leaf {
                    Expr::Next(var) => {
                        let written = assign.active.iter().find(|(assigned, _)| assigned == var);
                        written.map_or(Expr::Var(*var), |(_, rhs)| rhs.clone())
                    }
                    leaf => leaf.clone(),
                };
                assign.constrain.conjuncts().into_iter().map(|part| part.map_leaves(&mut |leaf| next(leaf))).collect()
            }
            Op::Assert(condition) => vec![condition.clone()],
            _ => Vec::new(),
        }
    }
}

//! The predicates of an abstraction: conditions on shared variables, on variables of one thread, or on both.

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::visit::reads;
use selvedge_ir::{Expr, LocId, ProcId, Scope, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::step::circuit::{self, Valuation};

use super::atoms::atoms;
use super::model::Model;

/// A condition on the shared variables and those of one thread.
pub(super) struct Predicate {
    pub(super) expr: Expr,
    /// The condition over bits.
    pub(super) bits: Expr,
    /// The variables that it reads.
    pub(super) vars: Vec<VarId>,
    /// The procedure of the thread whose variables it reads; `None` if it reads shared ones only.
    pub(super) owner: Option<ProcId>,
    /// Where its value is known: where all its variables have values that may matter.
    tracked: IndexVec<LocId, bool>,
}

impl Predicate {
    /// Returns whether the value is known where a thread is at a location.
    pub(super) fn is_tracked(&self, at: LocId) -> bool {
        self.owner.is_none() || self.tracked[at]
    }

    /// Returns whether a step that assigns these shared variables may change the value for other threads.
    pub(super) fn reads_any(&self, vars: &[VarId]) -> bool {
        vars.iter().any(|var| self.vars.contains(var))
    }

    /// Returns the literal of the predicate.
    pub(super) fn lit(&self, aig: &mut Aig, values: &Valuation) -> Lit {
        circuit::holds(aig, &self.bits, &|var| values.get(var))
    }
}

/// Some predicates of a program, no two of which say the same by the form of their circuits.
pub(super) struct Predicates<'m> {
    model: &'m Model<'m>,
    pub(super) all: Vec<Predicate>,
    aig: Aig,
    values: Valuation,
    known: FxHashMap<Lit, usize>,
}

impl<'m> Predicates<'m> {
    pub(super) fn new(model: &'m Model<'m>) -> Predicates<'m> {
        let mut aig = Aig::new();
        let vars = model.blasted.program.vars.indices();
        let values = vars.map(|var| (var, circuit::any_value(&mut aig))).collect();
        Predicates { model, all: Vec::new(), aig, values, known: FxHashMap::default() }
    }

    /// Adds the comparisons of a condition. Returns whether there are new ones.
    pub(super) fn add_atoms(&mut self, condition: &Expr) -> bool {
        let mut found = Vec::new();
        atoms(condition, &|var| self.model.program.vars[var].ty, &mut found);
        let before = self.all.len();
        found.into_iter().for_each(|atom| self.add(atom));
        self.all.len() > before
    }

    /// Adds a predicate, unless it is known, a constant, or one on variables of several procedures, or makes a choice.
    fn add(&mut self, expr: Expr) {
        let program = self.model.program;
        if expr.any_leaf(|leaf| matches!(leaf, Expr::Choice(..))) {
            return;
        }
        let vars = reads(&expr);
        let mut owner = None;
        for var in &vars {
            match (program.vars[*var].scope, owner) {
                (Scope::Local(proc), Some(known)) if proc != known => return,
                (Scope::Local(proc), _) => owner = Some(proc),
                (Scope::Shared | Scope::Thread, _) => {}
            }
        }
        let bits = self.model.blasted.condition(&expr);
        let lit = circuit::holds(&mut self.aig, &bits, &|var| self.values.get(var));
        let number = self.all.len();
        if lit.as_constant().is_some() || self.known.contains_key(&lit) || self.known.contains_key(&!lit) {
            return;
        }
        self.known.insert(lit, number);
        let is_tracked =
            |at: LocId| owner == Some(program.locs[at].proc) && vars.iter().all(|var| self.model.is_live(*var, at));
        let tracked = program.locs.indices().map(is_tracked).collect();
        self.all.push(Predicate { expr, bits, vars, owner, tracked });
    }
}

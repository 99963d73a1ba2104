//! A thin wrapper of a SAT solver: gates and one question.
//!
//! The engines use another solver, so that no proof is found and checked by the same code.

use batsat::{Callbacks, Solver, SolverInterface, lbool};
use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop};

use super::Refused;

pub(super) use batsat::Lit;

/// Stops the solver when the run must stop.
struct Watch<'r>(&'r Run<'r>);

impl Callbacks for Watch<'_> {
    fn stop(&self) -> bool {
        self.0.check_limits().is_err()
    }
}

/// A set of clauses that grows.
pub(super) struct Sat<'r> {
    solver: Solver<Watch<'r>>,
    run: &'r Run<'r>,
    truth: Lit,
    /// The conjunctions and choices that were written, by their parts: each is written once.
    ands: FxHashMap<(Lit, Lit), Lit>,
    ites: FxHashMap<(Lit, Lit, Lit), Lit>,
    /// A clause that is being added.
    buffer: Vec<Lit>,
}

impl<'r> Sat<'r> {
    pub(super) fn new(run: &'r Run<'r>) -> Sat<'r> {
        let mut solver = Solver::new(Default::default(), Watch(run));
        let truth = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![truth]);
        let (ands, ites) = (FxHashMap::default(), FxHashMap::default());
        Sat { solver, run, truth, ands, ites, buffer: Vec::new() }
    }

    pub(super) fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    /// The value of a literal, if it is that of the constants.
    pub(super) fn known(&self, lit: Lit) -> Option<bool> {
        (lit.var() == self.truth.var()).then_some(lit == self.truth)
    }

    pub(super) fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    pub(super) fn require(&mut self, lit: Lit) {
        self.clause(&[lit]);
    }

    pub(super) fn clause(&mut self, lits: &[Lit]) {
        self.buffer.clear();
        self.buffer.extend_from_slice(lits);
        self.solver.add_clause_reuse(&mut self.buffer);
    }

    /// The conjunction as a literal.
    pub(super) fn and(&mut self, left: Lit, right: Lit) -> Lit {
        if left == !self.truth || right == !self.truth || left == !right {
            return !self.truth;
        }
        if left == self.truth || left == right {
            return right;
        }
        if right == self.truth {
            return left;
        }
        let key = if left < right { (left, right) } else { (right, left) };
        if let Some(known) = self.ands.get(&key) {
            return *known;
        }
        let gate = self.fresh();
        self.clause(&[!gate, left]);
        self.clause(&[!gate, right]);
        self.clause(&[gate, !left, !right]);
        self.ands.insert(key, gate);
        gate
    }

    pub(super) fn or(&mut self, left: Lit, right: Lit) -> Lit {
        !self.and(!left, !right)
    }

    pub(super) fn equal(&mut self, left: Lit, right: Lit) -> Lit {
        self.ite(left, right, !right)
    }

    pub(super) fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if then == otherwise || condition == self.truth {
            return then;
        }
        if condition == !self.truth {
            return otherwise;
        }
        let (truth, falsehood) = (self.truth, !self.truth);
        match (then, otherwise) {
            (then, _) if then == truth => return self.or(condition, otherwise),
            (then, _) if then == falsehood => return self.and(!condition, otherwise),
            (_, otherwise) if otherwise == truth => return self.or(!condition, then),
            (_, otherwise) if otherwise == falsehood => return self.and(condition, then),
            _ => {}
        }
        let key = (condition, then, otherwise);
        if let Some(known) = self.ites.get(&key) {
            return *known;
        }
        let gate = self.fresh();
        self.clause(&[!condition, !then, gate]);
        self.clause(&[!condition, then, !gate]);
        self.clause(&[condition, !otherwise, gate]);
        self.clause(&[condition, otherwise, !gate]);
        self.ites.insert(key, gate);
        gate
    }

    /// Whether all clauses can hold at once.
    pub(super) fn satisfiable(&mut self) -> Result<bool, Refused> {
        self.satisfiable_with(self.truth)
    }

    /// Whether all clauses can hold at once together with a literal.
    pub(super) fn satisfiable_with(&mut self, lit: Lit) -> Result<bool, Refused> {
        self.satisfiable_under(&[lit])
    }

    /// Whether all clauses can hold at once together with these literals.
    pub(super) fn satisfiable_under(&mut self, lits: &[Lit]) -> Result<bool, Refused> {
        match self.solver.solve_limited(lits) {
            result if result == lbool::TRUE => Ok(true),
            result if result == lbool::FALSE => Ok(false),
            _ => Err(self.run.check_limits().err().unwrap_or(Stop::Cancelled).into()),
        }
    }

    /// Whether a literal holds in the solution that was found last.
    pub(super) fn holds(&self, lit: Lit) -> bool {
        self.solver.value_lit(lit) == lbool::TRUE
    }
}

//! Questions about clauses: gates, and answers that need no trust in a solver.
//!
//! The solver ([`selvedge_cdcl`]) is not trusted: "unsatisfiable" is its answer here only if the [`Checker`] has
//! derived it once more, and [`Flaw::SatProof`] otherwise. A wrong answer "satisfiable" cannot make a certificate
//! acceptable: callers reject the certificate then. Its solution is not read.

use std::ops::Not;

use rustc_hash::FxHashMap;
use selvedge_cdcl::{Answer, Solver};
use selvedge_check::Run;

use super::bits::{Bits, Sum};
use super::lrat::Checker;
use super::{Flaw, Refused};

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Lit(i32);

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(-self.0)
    }
}

/// A set of clauses that grows.
pub(super) struct Sat<'r> {
    run: &'r Run<'r>,
    solver: Solver,
    checker: Checker,
    truth: Lit,
    /// The gates of conjunctions and choices, by their inputs: each gate is written once.
    ands: FxHashMap<(Lit, Lit), Lit>,
    ites: FxHashMap<(Lit, Lit, Lit), Lit>,
    /// The numbers that are sums of others.
    pub(super) sums: FxHashMap<Bits, Sum>,
    /// The literals of the clause that is being added, or of the assumptions.
    buffer: Vec<i32>,
}

impl<'r> Sat<'r> {
    pub(super) fn new(run: &'r Run<'r>) -> Sat<'r> {
        let (solver, checker) = (Solver::new(), Checker::default());
        let (ands, ites, sums) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        // The first variable has this number; it is made and required below.
        let mut sat = Sat { run, solver, checker, truth: Lit(1), ands, ites, sums, buffer: Vec::new() };
        sat.truth = sat.fresh();
        sat.require(sat.truth);
        sat
    }

    pub(super) fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    /// Returns the value of a literal that is a constant.
    pub(super) fn known(&self, lit: Lit) -> Option<bool> {
        (lit == self.truth || lit == !self.truth).then_some(lit == self.truth)
    }

    /// Creates a variable.
    pub(super) fn fresh(&mut self) -> Lit {
        self.solver.add_var();
        Lit(self.checker.add_var())
    }

    pub(super) fn require(&mut self, lit: Lit) {
        self.clause(&[lit]);
    }

    pub(super) fn clause(&mut self, lits: &[Lit]) {
        self.buffer.clear();
        self.buffer.extend(lits.iter().map(|lit| lit.0));
        let id = self.checker.add(&self.buffer);
        self.solver.add_clause(id, &self.buffer, &mut self.checker);
    }

    /// Returns the conjunction as a literal.
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
        match (self.known(then), self.known(otherwise)) {
            (Some(true), _) => return self.or(condition, otherwise),
            (Some(false), _) => return self.and(!condition, otherwise),
            (_, Some(true)) => return self.or(!condition, then),
            (_, Some(false)) => return self.and(condition, then),
            (None, None) => {}
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

    /// Checks that the clauses cannot hold together with these literals: if they can, that is a flaw.
    pub(super) fn refute(&mut self, lits: &[Lit], flaw: Flaw) -> Result<(), Refused> {
        if self.satisfiable(lits)? { Err(flaw.into()) } else { Ok(()) }
    }

    /// Returns whether all clauses can hold at once together with these literals.
    pub(super) fn satisfiable(&mut self, lits: &[Lit]) -> Result<bool, Refused> {
        self.buffer.clear();
        self.buffer.extend(lits.iter().map(|lit| lit.0));
        match self.solver.solve(&self.buffer, &mut self.checker, || self.run.check_limits())? {
            Answer::Satisfiable => Ok(true),
            Answer::Unsatisfiable(id) if self.checker.refutes(id, &self.buffer) => Ok(false),
            Answer::Unsatisfiable(_) => Err(Flaw::SatProof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The solver gets a clause that nobody required, so that it calls a question unsatisfiable that is not.
    #[test]
    fn an_answer_that_the_checker_cannot_derive_is_not_believed() {
        let run = Run::unlimited();
        let mut sat = Sat::new(&run);
        let (left, right) = (sat.fresh(), sat.fresh());
        sat.clause(&[left, right]);
        assert_eq!(sat.satisfiable(&[left]), Ok(true));
        sat.solver.add_clause(1_000, &[-left.0, right.0], &mut sat.checker);
        sat.solver.add_clause(1_001, &[-left.0, -right.0], &mut sat.checker);
        assert_eq!(sat.satisfiable(&[left]), Err(Flaw::SatProof.into()));
    }
}

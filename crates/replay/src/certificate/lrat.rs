//! Checks the proofs of a SAT solver: every answer "unsatisfiable" that the judge relies on is derived here once more.
//!
//! # Format
//!
//! The judge adds the clauses of a question. The solver reports each clause that it derives when it derives it, as a
//! step of an LRAT proof: the literals (numbers of variables, negative if negated) and *hints*, the numbers of
//! earlier clauses. Clauses are numbered here. A clause that is no longer needed may be deleted. Only those steps of
//! LRAT are accepted that derive consequences ("RUP"); steps that merely preserve satisfiability ("RAT") would be
//! wrong where clauses are added between two answers, and fail the check.
//!
//! # The check of a step
//!
//! Assume that all literals of the clause are false, and read the hints in their order. In each hint, all literals but
//! one must be false by then; this one is true from now on. A hint with no literal left contradicts the assumption, and
//! the clause holds.
//!
//! # Why it is right
//!
//! *Invariant.* Each stored clause is a consequence of the clauses that the judge has added. This is clear for these
//! clauses themselves. For a step, take an assignment that satisfies the judge's clauses and, for contradiction,
//! makes the new clause false. It satisfies the hints, as they are stored; so it makes each literal true that the
//! check makes true, and it cannot make all literals of a hint false. Deleting a clause preserves the invariant.
//!
//! *Answer.* Assumptions are refuted by a stored clause whose literals are negations of assumptions: an assignment
//! that satisfies the judge's clauses satisfies one of these literals, and so violates an assumption. The empty
//! clause refutes any assumptions.
//!
//! # What is trusted
//!
//! This file, and that [`super::sat`] passes each clause of a question to [`Checker::add`] and reports
//! "unsatisfiable" only after [`Checker::refutes`]. The solver is not trusted. A step that does not check, uses a
//! clause that is not stored or contains a variable that is not the judge's is not stored, so that nothing that rests
//! on it checks either. An answer "satisfiable" that is wrong can make the judge reject a certificate, never accept
//! one.

use selvedge_cdcl::{ClauseId, Proof};
use smallvec::SmallVec;

/// The clauses that are known to follow from those of the judge.
#[derive(Debug, Default)]
pub(super) struct Checker {
    /// By number, the literals; `None` for a clause that was deleted, or whose derivation does not check.
    clauses: Vec<Option<SmallVec<[i32; 4]>>>,
    /// By literal ([`index`]), the last step in whose check it was true.
    true_in: Vec<u64>,
    /// The number of the step that is being checked.
    step: u64,
}

impl Checker {
    /// Adds a variable. Returns its number; the first one is 1.
    pub(super) fn add_var(&mut self) -> i32 {
        self.true_in.extend([0, 0]);
        i32::try_from(self.true_in.len() / 2).expect("a question has fewer than 2^31 variables")
    }

    /// Adds a clause of the judge. Returns its number.
    pub(super) fn add(&mut self, clause: &[i32]) -> ClauseId {
        assert!(clause.iter().all(|lit| self.knows(*lit)), "a clause has a variable of another question");
        self.push(Some(clause))
    }

    fn push(&mut self, clause: Option<&[i32]>) -> ClauseId {
        let id = ClauseId::try_from(self.clauses.len()).expect("a proof has fewer than 2^32 clauses");
        self.clauses.push(clause.map(SmallVec::from_slice));
        id
    }

    fn get(&self, id: ClauseId) -> Option<&[i32]> {
        self.clauses.get(id as usize)?.as_deref()
    }

    /// Returns whether a stored clause shows that the assumptions cannot hold together.
    pub(super) fn refutes(&self, id: ClauseId, assumptions: &[i32]) -> bool {
        self.get(id).is_some_and(|clause| clause.iter().all(|lit| assumptions.contains(&-lit)))
    }

    /// Returns whether propagation along the hints refutes the negation of the clause.
    fn follows(&mut self, clause: &[i32], hints: &[ClauseId]) -> bool {
        if !clause.iter().all(|lit| self.knows(*lit)) {
            return false;
        }
        self.step += 1;
        for lit in clause {
            self.set_true(-lit);
        }
        if clause.iter().any(|lit| self.is_true(*lit)) {
            // The clause has a literal and its negation.
            return true;
        }
        for hint in hints {
            let Some(clause) = self.get(*hint) else { return false };
            let mut open = clause.iter().copied().filter(|lit| !self.is_true(-lit));
            // If no literal is left, this contradicts the assumption.
            let Some(lit) = open.next() else { return true };
            if open.any(|other| other != lit) {
                return false;
            }
            self.set_true(lit);
        }
        false
    }

    /// Returns whether this is a literal of a variable of the judge. All literals of stored clauses are.
    fn knows(&self, lit: i32) -> bool {
        lit != 0 && lit.unsigned_abs() as usize <= self.true_in.len() / 2
    }

    fn set_true(&mut self, lit: i32) {
        self.true_in[index(lit)] = self.step;
    }

    fn is_true(&self, lit: i32) -> bool {
        self.true_in[index(lit)] == self.step
    }
}

impl Proof for Checker {
    /// Stores a clause if the hints show that it follows from stored clauses.
    fn derive(&mut self, clause: &[i32], hints: &[ClauseId]) -> ClauseId {
        let follows = self.follows(clause, hints);
        self.push(follows.then_some(clause))
    }

    fn delete(&mut self, id: ClauseId) {
        drop(self.clauses.get_mut(id as usize).and_then(Option::take));
    }
}

/// The place of a literal in lists by literal. There is one for each that is not 0.
fn index(lit: i32) -> usize {
    2 * (lit.unsigned_abs() as usize - 1) + usize::from(lit < 0)
}

#[cfg(test)]
mod tests;

//! Dropping clauses that are not worth their keep, at level 0.

use crate::{ClauseRef, HEADER, Proof, Solver};

impl Solver {
    /// Clauses with literals of so few levels are kept for good.
    const KEPT_GLUE: u32 = 2;

    /// Drops satisfied clauses and the worse half of the learnt ones: those with literals of many levels. The trail
    /// has level 0 only, whose literals need no reasons, so that clauses can be numbered anew.
    pub(crate) fn reduce(&mut self, proof: &mut impl Proof) {
        let mut worth: Vec<(u32, u32)> = self.clauses.iter().map(|clause| self.worth(*clause)).collect();
        worth.retain(|(glue, _)| *glue > 0);
        worth.sort_unstable();
        let bound = worth[worth.len() / 2].max((Solver::KEPT_GLUE, u32::MAX));
        let (clauses, lits) = (std::mem::take(&mut self.clauses), std::mem::take(&mut self.lits));
        self.watches.iter_mut().for_each(Vec::clear);
        self.n_learnt = 0;
        for clause in clauses {
            let start = clause as usize;
            let [id, glue, len] = [lits[start - HEADER], lits[start - 2], lits[start - 1]];
            let codes = &lits[start..start + len as usize];
            if (glue, len) > bound || codes.iter().any(|code| self.truth(*code) > 0) {
                proof.delete(id);
                continue;
            }
            self.attach(codes, id, glue);
            self.n_learnt += usize::from(glue > 0);
        }
    }

    /// Returns the glue and the length of a clause: learnt clauses with small ones are worth keeping.
    fn worth(&self, clause: ClauseRef) -> (u32, u32) {
        (self.lits[clause as usize - 2], self.lits[clause as usize - 1])
    }
}

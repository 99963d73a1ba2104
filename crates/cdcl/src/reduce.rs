//! Dropping clauses that are not worth their keep, at level 0.

use crate::{Clause, Proof, Solver};

impl Solver {
    /// Clauses with literals of so few levels are kept for good.
    const KEPT_GLUE: u32 = 2;

    /// Drops satisfied clauses and the worse half of the learnt ones: those with literals of many levels. The trail has level 0
    /// only, whose literals need no reasons, so that clauses can be numbered anew.
    pub(crate) fn reduce(&mut self, proof: &mut impl Proof) {
        let mut worst: Vec<(u32, u32)> =
            self.clauses.iter().filter(|clause| clause.glue > 0).map(|clause| (clause.glue, clause.len)).collect();
        worst.sort_unstable();
        let bound = worst[worst.len() / 2].max((Solver::KEPT_GLUE, u32::MAX));
        let (clauses, lits) = (std::mem::take(&mut self.clauses), std::mem::take(&mut self.lits));
        self.watches.iter_mut().for_each(Vec::clear);
        self.n_learnt = 0;
        for Clause { start, len, id, glue } in clauses {
            let codes = &lits[start as usize..(start + len) as usize];
            if (glue, len) > bound || codes.iter().any(|code| self.values[*code as usize] > 0) {
                proof.delete(id);
                continue;
            }
            self.attach(codes, id, glue);
            self.n_learnt += usize::from(glue > 0);
        }
    }
}

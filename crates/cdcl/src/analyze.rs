//! From a conflict to a clause and its hints.
//!
//! A proof takes the reasons of some variables in the order in which the variables were assigned. It is right if each
//! literal of these reasons, and of the conflict, is in the clause, or belongs to level 0, where a unit clause says
//! so, or belongs to a variable whose reason is taken too. [`Analysis`] keeps these sets.

use crate::{ClauseId, ClauseRef, Code, NO_CLAUSE, Proof, Solver, lit, var};

/// The part of a variable in the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    /// Not met yet.
    #[default]
    None,
    /// Its literal is in the clause, unless it is resolved away later.
    Clause,
    /// Its reason is one of the hints, or its unit clause at level 0.
    Hint,
    /// Its literal does not follow from other literals of the clause.
    Needed,
}

/// The sets of the conflict that is being analysed.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    marks: Vec<Mark>,
    /// The variables with a mark.
    marked: Vec<usize>,
    /// Hints: unit clauses.
    units: Vec<ClauseId>,
    /// Hints: the reasons of these variables, as places in the trail.
    reasons: Vec<u32>,
}

impl Analysis {
    pub(crate) fn add_var(&mut self) {
        self.marks.push(Mark::None);
    }

    fn mark(&mut self, var: usize, mark: Mark) {
        if self.marks[var] == Mark::None {
            self.marked.push(var);
        }
        self.marks[var] = mark;
    }
}

/// The depth to which reasons are followed to find out that a literal is not needed.
const MOST_DEPTH: u32 = 200;

impl Solver {
    /// Proves the unit clause of a literal that was implied at level 0.
    pub(crate) fn prove_unit(&mut self, code: Code, proof: &mut impl Proof) {
        let reason = self.vars[var(code)].reason;
        if reason == NO_CLAUSE {
            return;
        }
        let mut hints = std::mem::take(&mut self.analysis.units);
        let others = self.clause(reason).iter().filter(|other| **other != code);
        hints.extend(others.map(|other| self.vars[var(*other)].unit));
        hints.push(self.id(reason));
        self.vars[var(code)].unit = proof.derive(&[lit(code)], &hints);
        self.vars[var(code)].reason = NO_CLAUSE;
        hints.clear();
        self.analysis.units = hints;
    }

    /// Proves the empty clause from a conflict at level 0.
    pub(crate) fn prove_empty(&mut self, conflict: ClauseRef, proof: &mut impl Proof) -> ClauseId {
        let mut hints: Vec<ClauseId> = self.clause(conflict).iter().map(|code| self.vars[var(*code)].unit).collect();
        hints.push(self.id(conflict));
        proof.derive(&[], &hints)
    }

    /// Learns a clause with one literal of the last level, goes back to where it implies this literal, and adds it.
    pub(crate) fn learn(&mut self, conflict: ClauseRef, proof: &mut impl Proof) {
        let mut clause = self.first_uip(conflict);
        self.minimize(&mut clause);
        let id = self.prove(&clause, Some(conflict), proof);
        self.order.decay();
        if let [unit] = clause.as_slice() {
            self.backtrack(0);
            self.assign_unit(*unit, id);
            return;
        }
        let level = |code: &Code| self.vars[var(*code)].level;
        let second = (1..clause.len()).max_by_key(|at| level(&clause[*at])).expect("the clause has two literals");
        clause.swap(1, second);
        let mut levels: Vec<u32> = clause.iter().map(level).collect();
        levels.sort_unstable();
        levels.dedup();
        let (back, glue) = (level(&clause[1]) as usize, levels.len() as u32);
        self.backtrack(back);
        let learnt = self.attach(&clause, id, glue);
        self.n_learnt += 1;
        self.assign(clause[0], learnt);
    }

    /// Resolves the conflict with the reasons of literals of the last level, last assigned first, until one of this
    /// level is left. It is the first literal of the result.
    fn first_uip(&mut self, conflict: ClauseRef) -> Vec<Code> {
        let mut clause = vec![0];
        let level = self.levels.len() as u32;
        let mut n_open = self.meet(conflict, None, level, &mut clause);
        let mut place = self.trail.len();
        loop {
            place -= 1;
            let code = self.trail[place];
            if self.analysis.marks[var(code)] != Mark::Clause {
                continue;
            }
            n_open -= 1;
            if n_open == 0 {
                clause[0] = code ^ 1;
                return clause;
            }
            self.analysis.mark(var(code), Mark::Hint);
            self.analysis.reasons.push(place as u32);
            n_open += self.meet(self.vars[var(code)].reason, Some(code), level, &mut clause);
        }
    }

    /// Marks the literals of a clause, but for the one that it implies. Returns how many of the given level are new;
    /// others are added to `clause`.
    fn meet(&mut self, from: ClauseRef, implied: Option<Code>, level: u32, clause: &mut Vec<Code>) -> usize {
        let mut n_new = 0;
        for at in self.places(from) {
            let code = self.lits[at];
            if Some(code) == implied || self.analysis.marks[var(code)] != Mark::None {
                continue;
            }
            let variable = self.vars[var(code)];
            if variable.level == 0 {
                self.use_unit(code);
                continue;
            }
            self.order.bump(code / 2);
            self.analysis.mark(var(code), Mark::Clause);
            if variable.level == level {
                n_new += 1;
            } else {
                clause.push(code);
            }
        }
        n_new
    }

    fn use_unit(&mut self, code: Code) {
        self.analysis.mark(var(code), Mark::Hint);
        self.analysis.units.push(self.vars[var(code)].unit);
    }

    /// Drops literals that follow from others of the clause.
    fn minimize(&mut self, clause: &mut Vec<Code>) {
        let first = clause[0];
        clause.retain(|code| *code == first || !self.follows_from_rest(*code));
    }

    /// Returns whether the literals of the reason are in the clause or follow from it, and adds the reason to the
    /// hints.
    fn follows_from_rest(&mut self, code: Code) -> bool {
        let reason = self.vars[var(code)].reason;
        let follows = reason != NO_CLAUSE && self.reason_follows(reason, code, MOST_DEPTH);
        if follows {
            self.analysis.mark(var(code), Mark::Hint);
            self.analysis.reasons.push(self.vars[var(code)].place);
        }
        follows
    }

    fn reason_follows(&mut self, reason: ClauseRef, implied: Code, depth: u32) -> bool {
        self.places(reason).all(|at| {
            let code = self.lits[at];
            var(code) == var(implied) || self.follows(code, depth)
        })
    }

    fn follows(&mut self, code: Code, depth: u32) -> bool {
        let variable = self.vars[var(code)];
        match self.analysis.marks[var(code)] {
            Mark::Clause | Mark::Hint => return true,
            Mark::Needed => return false,
            Mark::None if variable.level == 0 => {
                self.use_unit(code);
                return true;
            }
            Mark::None => {}
        }
        let follows =
            depth > 0 && variable.reason != NO_CLAUSE && self.reason_follows(variable.reason, code, depth - 1);
        self.analysis.mark(var(code), if follows { Mark::Hint } else { Mark::Needed });
        if follows {
            self.analysis.reasons.push(variable.place);
        }
        follows
    }

    /// Hands a clause to the proof and ends the analysis. The hints are unit clauses, reasons in the order of the
    /// trail, and the conflict, if the last reason is not in conflict with the negation of the clause itself.
    fn prove(&mut self, clause: &[Code], conflict: Option<ClauseRef>, proof: &mut impl Proof) -> ClauseId {
        self.analysis.reasons.sort_unstable();
        let mut hints = std::mem::take(&mut self.analysis.units);
        let reason = |place: &u32| self.vars[var(self.trail[*place as usize])].reason;
        hints.extend(self.analysis.reasons.iter().map(|place| self.id(reason(place))));
        hints.extend(conflict.map(|conflict| self.id(conflict)));
        let lits: Vec<i32> = clause.iter().map(|code| lit(*code)).collect();
        let id = proof.derive(&lits, &hints);
        hints.clear();
        self.analysis.units = hints;
        self.analysis.reasons.clear();
        for var in self.analysis.marked.drain(..) {
            self.analysis.marks[var] = Mark::None;
        }
        id
    }

    /// Proves a clause with the negation of an assumption that is false and of assumptions before it that imply this.
    pub(crate) fn prove_failure(&mut self, assumption: Code, proof: &mut impl Proof) -> ClauseId {
        if self.vars[var(assumption)].level == 0 {
            return self.vars[var(assumption)].unit;
        }
        let mut clause = vec![assumption ^ 1];
        self.analysis.mark(var(assumption), Mark::Clause);
        for place in (self.levels[0]..self.trail.len()).rev() {
            let code = self.trail[place];
            if self.analysis.marks[var(code)] != Mark::Clause {
                continue;
            }
            match self.vars[var(code)].reason {
                NO_CLAUSE => clause.push(code ^ 1),
                reason => {
                    self.analysis.reasons.push(place as u32);
                    self.meet(reason, Some(code), 0, &mut Vec::new());
                }
            }
        }
        self.prove(&clause, None, proof)
    }
}

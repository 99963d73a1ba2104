//! Clauses over formulas and over literals of the solver.

use selvedge_check::{Run, Stop};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, SatLit, Solver};

/// The conflicts that are few.
const FEW_CONFLICTS: u32 = 2_000;

/// The solver, and the part of the formulas that it knows.
pub(super) struct Clauses {
    solver: Solver,
    encoder: Encoder,
    truth: SatLit,
}

impl Clauses {
    pub(super) fn new() -> Clauses {
        let mut solver = Solver::new();
        let truth = solver.new_var();
        solver.add_clause(&[truth]);
        Clauses { solver, encoder: Encoder::new(), truth }
    }

    /// Returns the literal of a constant.
    pub(super) fn constant(&self, value: bool) -> SatLit {
        if value { self.truth } else { !self.truth }
    }

    pub(super) fn fresh(&mut self) -> SatLit {
        self.solver.new_var()
    }

    /// Returns the literal of a formula.
    pub(super) fn lit(&mut self, aig: &Aig, lit: Lit) -> SatLit {
        match lit.as_constant() {
            Some(value) => self.constant(value),
            None => self.encoder.encode(aig, lit, &mut self.solver),
        }
    }

    /// Adds a clause, without literals that are constants.
    pub(super) fn add(&mut self, clause: &[SatLit]) {
        if !clause.contains(&self.truth) {
            let open: Vec<SatLit> = clause.iter().copied().filter(|lit| *lit != !self.truth).collect();
            self.solver.add_clause(&open);
        }
    }

    /// Returns a literal that holds only where one of some does.
    pub(super) fn any(&mut self, lits: impl Iterator<Item = SatLit>) -> SatLit {
        let any = self.fresh();
        let clause: Vec<SatLit> = lits.chain([!any]).collect();
        self.add(&clause);
        any
    }

    /// Requires two literals to be equal where a condition holds.
    pub(super) fn equal_where(&mut self, condition: SatLit, left: SatLit, right: SatLit) {
        if left != right {
            self.add(&[!condition, left, !right]);
            self.add(&[!condition, !left, right]);
        }
    }

    pub(super) fn solve(&mut self, assumptions: &[SatLit], run: &Run<'_>) -> Result<Answer, Stop> {
        self.solver.solve(assumptions, |conflicts| run.check_search(conflicts))
    }

    /// Decides a question if few conflicts suffice.
    pub(super) fn solve_briefly(&mut self, assumptions: &[SatLit], run: &Run<'_>) -> Result<Option<Answer>, Stop> {
        let answer = self.solver.solve_within(assumptions, FEW_CONFLICTS);
        run.check_search(if answer.is_none() { FEW_CONFLICTS } else { 0 })?;
        Ok(answer)
    }

    /// Returns the value of a literal in the assignment found.
    pub(super) fn value(&self, lit: SatLit) -> bool {
        self.solver.value(lit)
    }

    /// Returns the value of an input in the assignment found; one that does not matter is false.
    pub(super) fn input(&self, aig: &Aig, input: Input) -> bool {
        self.encoder.find(aig.input(input)).is_some_and(|lit| self.solver.value(lit))
    }
}

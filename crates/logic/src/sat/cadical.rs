//! CaDiCaL.

/// The solver. Literals are numbers of variables, from 1, negative if negated.
pub(super) struct Inner(cadical::Solver);

impl Inner {
    pub(super) fn new() -> Inner {
        Inner(cadical::Solver::new())
    }

    pub(super) fn add_clause(&mut self, clause: &[i32]) {
        self.0.add_clause(clause.iter().copied());
    }

    /// Returns whether there is a solution; `None` if that many conflicts do not suffice.
    pub(super) fn solve(&mut self, assumptions: &[i32], conflicts: u32) -> Option<bool> {
        let conflicts = i32::try_from(conflicts).unwrap_or(i32::MAX);
        self.0.set_limit("conflicts", conflicts).expect("the solver knows this limit");
        self.0.solve_with(assumptions.iter().copied())
    }

    /// Returns the last answer, if no clause was added since.
    pub(super) fn status(&self) -> Option<bool> {
        self.0.status()
    }

    /// Returns the value of a variable in the solution, if it has one.
    pub(super) fn value(&self, var: i32) -> Option<bool> {
        // A variable that the solver has never seen has no value there.
        if var > self.0.max_variable() { None } else { self.0.value(var) }
    }

    /// Returns whether an assumption is responsible that there is no solution.
    pub(super) fn failed(&self, assumption: i32) -> bool {
        self.0.failed(assumption)
    }
}

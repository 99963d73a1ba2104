//! The SMT solvers that a check may use.

use std::path::Path;
use std::sync::Arc;

/// The paths of the SMT solvers. Engines and the judge never look for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solvers {
    /// Z3.
    pub z3: Option<Arc<Path>>,
    /// cvc5.
    pub cvc5: Option<Arc<Path>>,
}

impl Solvers {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.z3.is_none() && self.cvc5.is_none()
    }

    /// Returns the name of the one that engines use, if there is one.
    pub fn of_engines(&self) -> Option<&'static str> {
        self.z3.as_ref().map(|_| "z3").or(self.cvc5.as_ref().map(|_| "cvc5"))
    }
}

/// A failure of an SMT solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SolverFailure {
    /// It could not be started.
    #[error("the SMT solver could not be started")]
    NotStarted,
    /// It ended in the middle of a question.
    #[error("the SMT solver exited in the middle of a question")]
    Died,
    /// It refused a command or wrote something that we do not understand.
    #[error("the SMT solver gave an answer that Selvedge cannot read")]
    Strange,
    /// It does not know the answer.
    #[error("the SMT solver does not know the answer")]
    Undecided,
    /// Numbers of its solution are beyond 64 bits.
    #[error("there are numbers beyond 64 bits")]
    TooLarge,
    /// Two solvers contradict each other about a step of a proof, so that one of them is wrong.
    #[error("the SMT solvers disagree about the proof: {unsat} says `unsat`, {sat} says `sat`; one of them is wrong")]
    Disagree {
        /// The solver that found a counterexample to the step.
        sat: &'static str,
        /// The solver that accepted the step.
        unsat: &'static str,
    },
}

//! Satisfiability modulo linear integer arithmetic: an SMT-LIB process that stays alive.
//!
//! Reading order: [`Term`] represents formulas; [`Sexp`] and [`read_term`] parse the output of a solver; `process` runs
//! the solver and waits for its answers; [`Smt`] is the façade: declarations, assertions on a stack, questions under
//! assumptions, models, cores, all solutions over predicates, and elimination of quantifiers.
//!
//! While waiting for an answer, the caller's callback is called repeatedly; its error kills the solver. A solver that
//! dies is restarted once with all previous commands. Any unexpected answer, in particular an error message, is a
//! [`SmtError`]: it is never read as `sat` or `unsat`.

mod process;
mod read;
mod sexp;
mod solver;
mod term;

use std::path::PathBuf;

pub use read::{read_term, read_value};
pub use sexp::Sexp;
pub use solver::Smt;
pub use term::{Node, Sort, Symbol, Term};

/// A solver program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path of the program.
    pub path: PathBuf,
    /// The kind of solver.
    pub dialect: Dialect,
    /// Limit on memory in megabytes, if the solver supports one.
    pub memory: Option<u64>,
    /// Limit on work in the solver's own units, which do not depend on the machine. Only supported by Z3.
    pub work: Option<u64>,
}

/// The supported solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Z3.
    Z3,
    /// cvc5.
    Cvc5,
}

/// A value of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SmtValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
}

/// The reason why a question ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted<E> {
    /// The callback ended it.
    Caller(E),
    /// The solver failed.
    Solver(SmtError),
}

/// A failure of a solver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SmtError {
    /// It could not be started: the reason.
    #[error("the SMT solver could not be started: {0}")]
    NotStarted(String),
    /// The system refused a thread that talks to it.
    #[error("the system refused a thread that talks to the SMT solver")]
    NoThread,
    /// It exited during a question, twice.
    #[error("the SMT solver exited during a question")]
    Died,
    /// It rejected a command: its message.
    #[error("the SMT solver rejected a command: {0}")]
    Rejected(String),
    /// It gave an answer that could not be parsed.
    #[error("the SMT solver gave an unexpected answer: {0}")]
    Strange(String),
    /// It does not know the answer.
    #[error("the SMT solver does not know the answer")]
    Undecided,
    /// It reached its limit on work.
    #[error("the SMT solver reached its limit on work")]
    Exhausted,
    /// The solver does not support the request.
    #[error("the SMT solver does not support this: {0}")]
    Incapable(&'static str),
}

impl<E> From<SmtError> for Interrupted<E> {
    fn from(trouble: SmtError) -> Interrupted<E> {
        Interrupted::Solver(trouble)
    }
}

//! Satisfiability modulo linear integer arithmetic: an SMT-LIB process that stays alive.
//!
//! In the order of reading: [`Term`] is what is asked about; [`Sexp`] and [`read_term`] read what a solver writes;
//! `process` runs the solver and waits for its answers; [`Smt`] is the façade: declarations, assertions on a stack,
//! questions under assumptions, models, cores, all solutions over predicates, and elimination of quantifiers.
//!
//! While an answer is awaited, the caller's callback is asked again and again whether to go on; its error kills the
//! solver. A solver that dies is started once more with all that it had been told. Whatever is not an expected answer,
//! above all an error message, is a [`SmtError`]: it is never read as `sat` or `unsat`.

mod process;
mod read;
mod sexp;
mod solver;
mod term;

use std::fmt;
use std::path::PathBuf;

pub use read::{read_term, read_value};
pub use sexp::Sexp;
pub use solver::Smt;
pub use term::{Node, Sort, Symbol, Term};

/// A solver program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Which one it is.
    pub dialect: Dialect,
    /// How many megabytes it may use, where it can be told.
    pub memory: Option<u64>,
    /// How much work it may do, in its own units, which do not depend on the machine. Only Z3 counts them.
    pub work: Option<u64>,
}

/// The solvers that we know how to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Z3.
    Z3,
    /// cvc5.
    Cvc5,
}

/// What a solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// There is a solution.
    Sat,
    /// There is none.
    Unsat,
    /// The solver does not know.
    Unknown,
}

/// A value of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SmtValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
}

/// Why a question ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted<E> {
    /// The callback said so.
    Caller(E),
    /// The solver failed.
    Solver(SmtError),
}

/// What can go wrong with a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmtError {
    /// It could not be started: the reason.
    NotStarted(String),
    /// It ended in the middle of a question, twice.
    Died,
    /// It refused a command: its message.
    Rejected(String),
    /// It answered something that we do not understand.
    Strange(String),
    /// It does not know the answer.
    Undecided,
    /// It has done the work that it may do.
    Exhausted,
    /// This solver cannot do what was asked.
    Incapable(&'static str),
}

impl fmt::Display for SmtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SmtError::NotStarted(reason) => write!(f, "the SMT solver could not be started: {reason}"),
            SmtError::Died => write!(f, "the SMT solver ended in the middle of a question"),
            SmtError::Rejected(message) => write!(f, "the SMT solver refused a command: {message}"),
            SmtError::Strange(answer) => write!(f, "the SMT solver answered something unexpected: {answer}"),
            SmtError::Undecided => write!(f, "the SMT solver does not know the answer"),
            SmtError::Exhausted => write!(f, "the SMT solver has done the work that it may do"),
            SmtError::Incapable(what) => write!(f, "the SMT solver cannot do this: {what}"),
        }
    }
}

impl<E> From<SmtError> for Interrupted<E> {
    fn from(trouble: SmtError) -> Interrupted<E> {
        Interrupted::Solver(trouble)
    }
}

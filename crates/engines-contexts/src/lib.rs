//! A bounded number of execution contexts per thread, with recursion (Lal and Reps, 2009).
//!
//! The threads of a program are a fixed list ([`selvedge_ir::passes::fix_threads`]); they take turns in its order, and each has
//! at most K turns, in which it makes any number of steps. That is enough for many errors, and it can be decided for
//! recursive threads, which the question without a bound cannot.

pub mod calculus;
pub mod eager;
pub mod lazy;
pub mod rounds;
mod thread_paths;
pub mod threads;

use selvedge_check::ContextBound;

/// The options of the engines here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How many contexts each thread may have: the numbers that are tried, smallest first.
    ///
    /// Default: none; without a bound the engines here take no task.
    pub bound: Option<ContextBound>,
    /// What the histories of `contexts` are made of.
    ///
    /// Default: what suits the number of shared variables.
    pub histories: Option<Histories>,
}

/// What the history of a thread is made of: the shared states with which its contexts began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Histories {
    /// The values of all shared variables, all copies of a variable next to each other. Suits many states, where a context
    /// changes few variables.
    Values,
    /// The same, those of one context next to each other. Suits few variables: a history is a sequence of states.
    Blocks,
    /// Numbers of shared states. Suits few states of many variables.
    Numbers,
}

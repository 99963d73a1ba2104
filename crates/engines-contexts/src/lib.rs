//! A bounded number of execution contexts per thread, with recursion (Lal and Reps, 2009).
//!
//! The threads of a program are a fixed list ([`selvedge_ir::passes::fix_threads`]); they take turns in its order, and
//! each has at most K turns, in which it makes any number of steps. That suffices for many errors, and it is decidable
//! for recursive threads, which reachability without a bound is not.

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
    /// The numbers of contexts per thread to try, smallest first.
    ///
    /// Default: none; without a bound these engines support no task.
    pub bound: Option<ContextBound>,
    /// The representation of the histories of `contexts`.
    ///
    /// Default: chosen by the number of shared variables.
    pub histories: Option<Histories>,
}

/// The representation of the history of a thread: of the shared states with which its contexts began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Histories {
    /// The values of all shared variables, with all copies of a variable adjacent. Suits many states, if a context
    /// changes few variables.
    Values,
    /// The values of all shared variables, with those of one context adjacent. Suits few variables: a history is a
    /// sequence of states.
    Blocks,
    /// Numbers of shared states. Suits few states of many variables.
    Numbers,
}

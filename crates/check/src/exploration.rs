//! The reachable states of a program, as far as each thread shows them.

use std::collections::BTreeSet;

use selvedge_ir::{EdgeId, LocId, Value};

/// The result of an engine that visited all states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of reachable states of the whole program, as the engine counts them: those that differ only in the
    /// numbers of their threads are one state.
    pub n_states: usize,
    /// Set if a bound of the engine cut something off.
    pub truncated: bool,
    /// The states in which a thread can be seen.
    pub thread_states: BTreeSet<ThreadState>,
    /// The assertions that can fail, in the target or not.
    pub failing: BTreeSet<EdgeId>,
}

/// The state of one thread: its location, and the variables that are visible there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadState {
    /// Its location.
    pub loc: LocId,
    /// The shared variables, in the order of their declaration.
    pub shared: Vec<Value>,
    /// The per-thread variables, in the order of their declaration.
    pub vars: Vec<Value>,
    /// The locals of the running procedure.
    pub locals: Vec<Value>,
}

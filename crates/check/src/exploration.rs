//! What can be seen of the reachable states of a program.

use std::collections::BTreeSet;

use selvedge_ir::{EdgeId, LocId, Value};

/// What an engine saw that visited everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of reachable states of the whole program, as the engine counts them: those that differ only in the
    /// numbers of their threads are one state.
    pub n_states: usize,
    /// Whether a bound of the engine cut something off.
    pub truncated: bool,
    /// The states in which a thread can be seen.
    pub thread_states: BTreeSet<ThreadState>,
    /// The assertions that can fail, in the target or not.
    pub failing: BTreeSet<EdgeId>,
}

/// What can be seen of one thread: where it stands, and the variables that it sees there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadState {
    /// Where it stands.
    pub loc: LocId,
    /// The shared variables, in the order of their declaration.
    pub shared: Vec<Value>,
    /// The per-thread variables, in the order of their declaration.
    pub vars: Vec<Value>,
    /// The locals of the running procedure.
    pub locals: Vec<Value>,
}

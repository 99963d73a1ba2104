//! The reachable states of a program, as far as each thread shows them.

use std::collections::BTreeSet;

use selvedge_ir::{EdgeId, LocId, Value, VarId};

/// Tells for a location and a variable that is visible there whether its value is asked for.
pub type ValuesAsked<'a> = &'a dyn Fn(LocId, VarId) -> bool;

/// The result of an engine that visited all states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of states of the whole program that the engine visited. Those that differ only in the numbers of
    /// their threads are one state, and there may be others between two that it visited.
    pub n_states: usize,
    /// Set if a bound of the engine cut something off.
    pub truncated: bool,
    /// The states in which a thread can be seen.
    pub thread_states: BTreeSet<ThreadState>,
    /// The assertions that can fail, in the target or not.
    pub failing: BTreeSet<EdgeId>,
    /// The variables whose values were not asked for, and the locations where that is so: their values in
    /// `thread_states` say nothing.
    pub any: BTreeSet<(LocId, VarId)>,
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

//! The reachable states of a program, as far as each thread shows them.

use std::collections::BTreeSet;

use selvedge_ir::{EdgeId, LocId, Program, Ty, Value, VarId};

/// Tells for a location and a variable that is visible there whether its value is asked for.
pub type ValuesAsked<'a> = &'a dyn Fn(LocId, VarId) -> bool;

/// The result of an engine that visited all states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of states of the whole program that the engine visited. Those that differ only in the numbers of
    /// their threads are one state, and there may be others between two that it visited. With decision diagrams it is
    /// the number of sets of states.
    pub n_states: usize,
    /// Set if `n_states` counts sets of states.
    pub in_sets: bool,
    /// Set if a bound of the engine cut something off.
    pub truncated: bool,
    /// Set if some states belong to several of `thread_states`.
    pub overlaps: bool,
    /// The states in which a thread can be seen, each once.
    pub thread_states: BTreeSet<ThreadState>,
    /// The assertions that can fail, in the target or not.
    pub failing: BTreeSet<EdgeId>,
    /// The variables whose values were not asked for, and the locations where that is so: their values in
    /// `thread_states` say nothing.
    pub any: BTreeSet<(LocId, VarId)>,
}

/// The state of one thread: its location, and the variables that are visible there. It stands for several states if
/// some variables may have any value.
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
    /// The variables that have every value of their types in these states, in every combination, in ascending order;
    /// their values above say nothing.
    pub free: Vec<VarId>,
}

impl Exploration {
    /// Returns the number of states in which a thread can be seen, as far as values were asked for; `None` if it is
    /// too large or not known.
    pub fn n_thread_states(&self, program: &Program) -> Option<u128> {
        if self.overlaps {
            return None;
        }
        let count = |state: &ThreadState| {
            let mut sizes = state.free.iter().map(|var| n_values(program.vars[*var].ty));
            sizes.try_fold(1, |product: u128, size| product.checked_mul(size?))
        };
        self.thread_states.iter().try_fold(0, |sum: u128, state| sum.checked_add(count(state)?))
    }
}

/// Returns the number of values of a type, if there is one.
fn n_values(ty: Ty) -> Option<u128> {
    match ty {
        Ty::Bool => Some(2),
        Ty::Machine(ty) => 1_u128.checked_shl(u32::from(ty.bits)),
        Ty::Int => None,
    }
}

//! Evidence about any number of threads, over states that are listed one by one.

use index_vec::IndexVec;
use selvedge_ir::VarId;
use selvedge_ir::tts::{Cover, LocalId, SharedId};

use crate::{AdequacyClaim, Place};

/// For programs without recursion and any number of threads: all shared states and all states of a thread that may
/// occur, and a set of configurations of them that contains the initial ones, is closed under the steps of all threads,
/// and allows no error.
///
/// A thread is seen at the places, as in a [`crate::ShapeProof`]: what it does between two of them counts as one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverProof {
    /// The shared variables that shared states speak of, each once. The others may hold anything.
    pub shared_vars: Vec<VarId>,
    /// The shared states, each once.
    pub shareds: IndexVec<SharedId, SharedState>,
    /// The places, each once.
    pub places: Vec<Place>,
    /// The states of a thread, each once.
    pub locals: IndexVec<LocalId, LocalState>,
    /// The set of configurations.
    pub claim: CoverClaim,
}

/// A shared state of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedState {
    /// The values of [`CoverProof::shared_vars`].
    pub values: Vec<bool>,
    /// True if a thread holds the atomic flag.
    pub held: bool,
}

/// A state of a thread of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalState {
    /// The place, by its number in [`CoverProof::places`].
    pub place: u32,
    /// The values of the place's variables. The others may hold anything.
    pub values: Vec<bool>,
}

/// Which configurations of a thread-transition system there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverClaim {
    /// The configurations all of whose views are in a table.
    Views(ViewTable),
    /// The configurations below one of these vectors.
    Vectors(Vec<OmegaVector>),
    /// The configurations all of whose views are in a table, whose weights are not too great, and that are not above
    /// one of the forbidden ones.
    Basis {
        /// The table.
        within: ViewTable,
        /// The weights.
        weights: Vec<Weighting>,
        /// The forbidden ones.
        forbidden: Vec<Cover>,
    },
    /// The configurations that a number of rounds reaches. It is about threads of certain kinds, so it holds of
    /// programs only, and all variables that are read must be listed.
    Adequacy(AdequacyClaim),
}

/// The views of k threads: what up to k threads of a configuration look like at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewTable {
    /// The number of threads, at least 1.
    pub k: u32,
    /// The shared states of configurations, in which no thread is looked at.
    pub shareds: Vec<SharedId>,
    /// The views with threads.
    pub rows: Vec<ViewRow>,
}

/// Views that differ in one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewRow {
    /// The shared state.
    pub shared: SharedId,
    /// The other threads, up to k - 1, in ascending order.
    pub threads: Vec<LocalId>,
    /// The states that the one thread can have: none of them less than the last of the others.
    pub last: Vec<LocalId>,
}

/// Weights of states, such that no step makes the sum of the weights in a configuration greater: that of the shared
/// state and, for each thread, that of its state. So no sum is greater than those of the starts. States that are not
/// listed have the weight 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighting {
    /// The weights of shared states, in ascending order of the states.
    pub shareds: Vec<(SharedId, i64)>,
    /// The weights of the states of a thread, at least 0, in ascending order of the states.
    pub locals: Vec<(LocalId, i64)>,
    /// The greatest sum of a start.
    pub most: i64,
}

/// A shared state with numbers of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmegaVector {
    /// The shared state.
    pub shared: SharedId,
    /// For the states that have any, in ascending order, how many threads; `None` is any number.
    pub counts: Vec<(LocalId, Option<u32>)>,
}

//! The figures of a loop of abstraction and refinement.

/// The figures of an engine that refines an abstraction. They explain and are no evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refinement {
    /// The number of abstractions.
    pub iterations: usize,
    /// The number of queries to the prover.
    pub queries: usize,
    /// The predicates of the last abstraction.
    pub predicates: usize,
    /// The symbolic or concrete states that were visited with the last abstraction.
    pub states: usize,
    /// The abstract states that they belong to.
    pub abstract_states: usize,
}

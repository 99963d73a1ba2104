//! In how many rounds threads have their turns.

use crate::ContextBound;

/// The numbers of rounds that are looked at, one after the other. Adequacy is checked from the first one on.
///
/// In a round each thread has one turn, in an order that is any for a run and the same in all its rounds; there may
/// be any number of threads. In its turn a thread makes any number of steps, or none. So within `k` rounds there are
/// at most `k` execution contexts per thread, but of any number of threads in any order, unlike with contexts.
pub type RoundBound = ContextBound;

/// The results for growing numbers of rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// For numbers of rounds, in ascending order: how many valuations of the shared variables are reachable at points
    /// where a turn may end.
    pub reached: Vec<(u32, u128)>,
    /// The number of rounds within which an error was found. It is the least.
    pub error: Option<u32>,
    /// The number of rounds that was found to be enough: later rounds reach no further states.
    pub enough: Option<u32>,
    /// The numbers of rounds for which adequacy could not be decided.
    pub open: Vec<u32>,
    /// Why the last of them is open: the threads that Eve names in the adequacy game, one after the other, until Adam
    /// has no answer.
    pub play: Vec<EveMove>,
}

/// A thread that Eve names: how it is left at the end of the last round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveMove {
    /// Its template.
    pub template: String,
    /// Set if it has ended.
    pub ended: bool,
    /// The shared variables when its last turn ends.
    pub shared: Vec<(String, bool)>,
}

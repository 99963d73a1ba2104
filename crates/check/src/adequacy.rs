//! Evidence that a number of rounds is enough.

use selvedge_ir::tts::{LocalId, SharedId};

/// The claim that every configuration which threads reach in `k + 1` rounds is one that the same threads reach in `k`,
/// and that these have no error (La Torre, Madhusudan and Parlato, 2010, §5). It follows that later rounds reach
/// nothing new.
///
/// In a round each thread has one turn, in an order that is the same in all rounds. The first two parts say at least
/// what threads can do in `k + 1` rounds; Eve names a configuration of theirs thread by thread, and Adam answers within
/// the last part. Of his answers nothing may be made up (`adam_needs_reality`): each state of a turn comes with one
/// before it from which it follows, so that its number in the list is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdequacyClaim {
    /// The number of rounds that is enough, at least 1.
    pub k: u32,
    /// The turns of single threads. A turn comes behind the turn of the thread before it.
    pub turns: Vec<Turn>,
    /// For 1 to `k + 1` rounds the blocks of threads at the left end of the order (WRLI): `begins` are the shared
    /// states that they leave to their right neighbour in each round; `ends` those with which all rounds but the last
    /// end.
    pub left: Vec<Vec<Block>>,
    /// For 1 to `k` rounds the blocks at the right end of the order (RLI): they lead from `begins` to `ends`.
    pub right: Vec<Vec<Block>>,
    /// The positions of the game after an answer of Adam. An answer that leads to one of them is his strategy.
    pub positions: Vec<Position>,
}

/// One turn of a thread with a certain past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The kind of the thread, by its number among the program's entries.
    pub kind: u32,
    /// The turn before, by its number, and the shared state in which that ended; none in the first round.
    pub before: Option<(u32, SharedId)>,
    /// The shared state in which the turn begins.
    pub begun: SharedId,
    /// All states in this turn, each once.
    pub states: Vec<TurnState>,
}

/// The shared state and the state of the thread during its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnState {
    /// The shared state.
    pub shared: SharedId,
    /// The state of the thread; none if it has ended.
    pub local: Option<LocalId>,
    /// The number of an earlier state of the turn from which a step leads here; none if the turn begins so.
    pub from: Option<u32>,
}

/// Threads that are next to each other in the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// The number of threads of each kind of which a run has a limited number, in the order of the entries.
    pub used: Vec<u32>,
    /// Shared states, one for each round.
    pub begins: Vec<SharedId>,
    /// Shared states, one for each round, or for each but the last.
    pub ends: Vec<SharedId>,
}

/// The threads that both have named so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The number of threads of each kind, as in a [`Block`].
    pub used: Vec<u32>,
    /// The `k + 1` shared states that Eve's threads leave to their right neighbour, and the `k` with which her rounds
    /// end.
    pub eve: [Vec<SharedId>; 2],
    /// The `k` that Adam's threads leave, and the `k - 1` with which his rounds end.
    pub adam: [Vec<SharedId>; 2],
}

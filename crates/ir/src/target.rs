//! What counts as an error.

use crate::syntax::{EdgeId, LocId, Op, Program};

/// What counts as an error: assertions that fail, and locations that a thread reaches.
///
/// Both lists are sorted and without repetition. An assertion that is not in the target is no error; it still stops
/// the thread where it does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Edges with [`Op::Assert`].
    pub asserts: Vec<EdgeId>,
    /// Locations: an error as soon as a thread stands there.
    pub locs: Vec<LocId>,
}

impl Target {
    /// The target with these parts, in any order.
    pub fn new(mut asserts: Vec<EdgeId>, mut locs: Vec<LocId>) -> Target {
        asserts.sort_unstable();
        asserts.dedup();
        locs.sort_unstable();
        locs.dedup();
        Target { asserts, locs }
    }

    /// All assertions of a program.
    pub fn all_asserts(program: &Program) -> Target {
        let is_assert = |edge: &EdgeId| matches!(program.edges[*edge].op, Op::Assert(_));
        Target::new(program.edges.indices().filter(is_assert).collect(), Vec::new())
    }

    /// Whether nothing counts as an error.
    pub fn is_empty(&self) -> bool {
        self.asserts.is_empty() && self.locs.is_empty()
    }

    /// Whether the failure of this assertion counts.
    pub fn has_assert(&self, edge: EdgeId) -> bool {
        self.asserts.binary_search(&edge).is_ok()
    }

    /// Whether reaching this location counts.
    pub fn has_loc(&self, loc: LocId) -> bool {
        self.locs.binary_search(&loc).is_ok()
    }
}

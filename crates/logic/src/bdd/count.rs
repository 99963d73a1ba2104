//! Counting of satisfying assignments, exactly or rounded.

use oxidd::NodeID;
use rustc_hash::FxHashMap;

use super::Var;
use super::node::{Edge, Store, View, view};

/// A type of numbers for counting assignments.
pub(super) trait Number: Copy {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    /// Returns the number times a power of two.
    fn doubled(self, times: u32) -> Self;
}

/// A count in 128 bits; `None` if it does not fit.
#[derive(Clone, Copy)]
pub(super) struct Exact(pub Option<u128>);

impl Number for Exact {
    const ZERO: Self = Exact(Some(0));
    const ONE: Self = Exact(Some(1));

    fn plus(self, other: Self) -> Self {
        Exact(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }

    fn doubled(self, times: u32) -> Self {
        Exact(match self.0 {
            Some(0) => Some(0),
            n => n.zip(2u128.checked_pow(times)).and_then(|(n, power)| n.checked_mul(power)),
        })
    }
}

/// A count in floating point; infinite beyond its range.
#[derive(Clone, Copy)]
pub(super) struct Rounded(pub f64);

impl Number for Rounded {
    const ZERO: Self = Rounded(0.0);
    const ONE: Self = Rounded(1.0);

    fn plus(self, other: Self) -> Self {
        Rounded(self.0 + other.0)
    }

    fn doubled(self, times: u32) -> Self {
        Rounded(if self.0 == 0.0 { 0.0 } else { self.0 * 2f64.powf(f64::from(times)) })
    }
}

/// Returns the number of satisfying assignments of the given variables, which are distinct and include the support.
pub(super) fn assignments<'id, N: Number>(store: &Store<'id>, edge: Edge<'_, 'id>, vars: &[Var]) -> N {
    let mut sorted = vars.to_vec();
    sorted.sort();
    let rank: FxHashMap<u32, u32> = sorted.iter().zip(0..).map(|(var, place)| (var.0, place)).collect();
    assert!(rank.len() == vars.len(), "a variable is counted twice");
    let counter = Counter { rank, constants: vars.len() as u32 };
    let (count, place): (N, u32) = counter.count(store, edge, &mut FxHashMap::default());
    count.doubled(place)
}

struct Counter {
    /// The rank of each level among the counted variables.
    rank: FxHashMap<u32, u32>,
    /// The rank of the constants: after all variables.
    constants: u32,
}

impl Counter {
    /// Returns the number of satisfying assignments of the counted variables from the node's own on, and the rank of
    /// that one.
    fn count<'id, N: Number>(
        &self,
        store: &Store<'id>,
        edge: Edge<'_, 'id>,
        memo: &mut FxHashMap<NodeID, N>,
    ) -> (N, u32) {
        let (level, high, low) = match view(store, edge) {
            View::Constant(value) => return (if value { N::ONE } else { N::ZERO }, self.constants),
            View::Decision(level, high, low) => (level, high, low),
        };
        let place = *self.rank.get(&level).expect("the counted variables include the support");
        if let Some(&known) = memo.get(&edge.node_id()) {
            return (known, place);
        }
        let mut count = N::ZERO;
        for branch in [high, low] {
            let (part, below) = self.count(store, branch, memo);
            count = count.plus(part.doubled(below - place - 1));
        }
        memo.insert(edge.node_id(), count);
        (count, place)
    }
}

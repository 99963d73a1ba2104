//! Counting of satisfying assignments.

use rustc_hash::FxHashMap;

use super::{Bdd, Var};

/// A count; `None` if it does not fit into 128 bits.
type Count = Option<u128>;

/// Returns the number of satisfying assignments of the given variables, which are distinct and include the support.
pub(super) fn assignments(function: &Bdd, vars: &[Var]) -> Count {
    let mut sorted = vars.to_vec();
    sorted.sort();
    let rank: FxHashMap<u32, u32> = sorted.iter().zip(0..).map(|(var, place)| (var.0, place)).collect();
    assert!(rank.len() == vars.len(), "a variable is counted twice");
    let counter = Counter { rank, constants: vars.len() as u32 };
    let (count, place) = counter.count(function, &mut FxHashMap::default());
    doubled(count, place)
}

/// Returns a count times a power of two.
fn doubled(count: Count, times: u32) -> Count {
    match count {
        Some(0) => count,
        _ => count?.checked_mul(2u128.checked_pow(times)?),
    }
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
    #[expect(clippy::mutable_key_type, reason = "a diagram is compared and hashed by the function that it denotes")]
    fn count(&self, function: &Bdd, memo: &mut FxHashMap<Bdd, Count>) -> (Count, u32) {
        let Some((var, high, low)) = function.decision() else {
            return (Some(u128::from(function.is_true())), self.constants);
        };
        let place = *self.rank.get(&var.0).expect("the counted variables include the support");
        if let Some(&known) = memo.get(function) {
            return (known, place);
        }
        let [high, low] = [high, low].map(|branch| {
            let (part, below) = self.count(&branch, memo);
            doubled(part, below - place - 1)
        });
        let count = high.zip(low).and_then(|(high, low)| high.checked_add(low));
        memo.insert(function.clone(), count);
        (count, place)
    }
}

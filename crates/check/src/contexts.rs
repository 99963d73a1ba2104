//! Bounds on the execution contexts of each thread.

/// The numbers of execution contexts per thread that are looked at, one after the other.
///
/// Threads take turns in a fixed order, again and again; a thread's turn is a context, in which it may make any
/// number of steps, or none. Within `k` contexts per thread all threads have had `k` turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContextBound {
    /// The least, at least 1.
    pub first: u32,
    /// The greatest, at least `first`.
    pub last: u32,
}

impl ContextBound {
    /// Only this number.
    pub fn exactly(k: u32) -> ContextBound {
        ContextBound { first: k, last: k }
    }

    /// The numbers, in ascending order.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        self.first..=self.last
    }
}

/// The results for growing numbers of contexts per thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// For numbers of contexts, in ascending order: how many valuations of the shared variables are reachable at points
    /// where a context may end.
    pub reached: Vec<(u32, u128)>,
    /// The number of contexts within which an error was found. If all smaller ones were looked at, it is the least.
    pub error: Option<u32>,
    /// The greatest number of contexts for which a proof about the threads as one thread was judged: within them there
    /// is no error.
    pub proved: Option<u32>,
}

//! Binary decision diagrams: the façade over the store of their nodes. The store is the library OxiDD, or, with the
//! feature `plain` and in WebAssembly, one of our own that needs no threads.
//!
//! A [`Manager`] owns the nodes of one set of variables; a [`Bdd`] is a handle on a function, cheap to clone, and equal
//! handles denote equal functions. Variables are ordered as they were added and never move, so a variable is its level.
//! Every operation that may create nodes returns `Result<_, OutOfNodes>`: when the store is full, garbage is collected
//! and the operation is retried before the error is returned (`Bdd::retried`).
//!
//! The operations recurse as deep as there are variables in the order. Eight megabytes of stack were enough for forty
//! thousand levels; callers with large orders must run on a thread with a large stack.

mod assignments;
mod count;
mod function;
#[cfg(any(feature = "plain", target_family = "wasm"))]
mod plain;
#[cfg(not(any(feature = "plain", target_family = "wasm")))]
mod stored;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use assignments::Assignments;
#[cfg(any(feature = "plain", target_family = "wasm"))]
pub use plain::Bdd;
#[cfg(any(feature = "plain", target_family = "wasm"))]
use plain::Store;
#[cfg(any(feature = "plain", target_family = "wasm"))]
pub use plain::set_deadline;
#[cfg(not(any(feature = "plain", target_family = "wasm")))]
pub use stored::Bdd;
#[cfg(not(any(feature = "plain", target_family = "wasm")))]
use stored::Store;

/// Sets the moment from which operations give up, as if they had run out of nodes. Only the store of plain Rust looks
/// at it: with threads, the caller leaves an operation behind that takes too long.
#[cfg(not(any(feature = "plain", target_family = "wasm")))]
pub fn set_deadline(_: Option<std::time::Instant>) {}

/// The resources of a manager. Both sizes are fixed at its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of inner nodes alive or not yet collected. At least 2 and less than 2^32.
    pub nodes: usize,
    /// Entries of the cache of results, rounded up to a power of two. The memory is claimed at once, about 20 bytes for
    /// each entry, so small problems should use less than the default.
    pub cache: usize,
}

impl Limits {
    /// The size that was best for image computations in measurements: 2^20 entries.
    const DEFAULT_CACHE: usize = 1 << 20;
    /// Bytes for one node: the node itself and its share of a table at most half empty.
    const NODE_BYTES: u64 = 32;
    /// Bytes for one entry of the cache.
    const CACHE_BYTES: u64 = 20;

    /// Returns limits that fit into the given number of bytes, including the cache, which takes the default size or, if
    /// the memory is scarce, at most a quarter of it.
    pub fn memory(bytes: u64) -> Limits {
        let cache = (bytes / 4 / Limits::CACHE_BYTES).clamp(1 << 10, Limits::DEFAULT_CACHE as u64);
        let cache = if cache.is_power_of_two() { cache } else { cache.next_power_of_two() / 2 };
        let nodes = bytes.saturating_sub(cache * Limits::CACHE_BYTES) / Limits::NODE_BYTES;
        Limits { nodes: nodes.clamp(1 << 10, u64::from(u32::MAX - 8)) as usize, cache: cache as usize }
    }
}

impl Default for Limits {
    /// 2^25 nodes (about one gigabyte when all are used) and the default cache.
    fn default() -> Self {
        Limits { nodes: 1 << 25, cache: Limits::DEFAULT_CACHE }
    }
}

/// The error of an operation that needed more nodes than the manager may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision diagrams need more than {limit} nodes")]
pub struct OutOfNodes {
    /// The limit that was reached.
    pub limit: usize,
}

/// A variable of a manager. Variables compare by their position in the order, the topmost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(u32);

impl Var {
    /// Returns the position in the order, counted from the top.
    pub fn level(self) -> usize {
        self.0 as usize
    }
}

/// The store of the nodes over one order of variables. Clones are handles on the same store.
#[derive(Clone)]
pub struct Manager {
    store: Store,
    limit: usize,
    /// The number of nodes that the last collection by [`Manager::tidy`] left.
    survivors: Arc<AtomicUsize>,
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Manager {
    /// Returns an empty store without variables.
    pub fn new(limits: Limits) -> Manager {
        assert!((2..u32::MAX as usize).contains(&limits.nodes), "a limit of {} nodes is out of range", limits.nodes);
        Manager { store: Store::new(limits), limit: limits.nodes, survivors: Arc::default() }
    }

    /// Adds variables below all present ones. Costs a pass over the cache: add them in few portions.
    pub fn add_vars(&self, count: usize) -> Vec<Var> {
        let count = u32::try_from(count).expect("there are fewer than 2^32 variables");
        self.store.add_vars(count).map(Var).collect()
    }

    /// Returns the number of variables.
    pub fn var_count(&self) -> usize {
        self.store.var_count()
    }

    /// Returns the function that is always true.
    pub fn top(&self) -> Bdd {
        self.store.constant(true)
    }

    /// Returns the function that is always false.
    pub fn bottom(&self) -> Bdd {
        self.store.constant(false)
    }

    /// Returns a constant.
    pub fn constant(&self, value: bool) -> Bdd {
        self.store.constant(value)
    }

    /// Returns the function that is true where the variable is.
    pub fn var(&self, var: Var) -> Result<Bdd, OutOfNodes> {
        self.literal(var, true)
    }

    /// Returns the function that is true where the variable has the given value.
    pub fn literal(&self, var: Var, value: bool) -> Result<Bdd, OutOfNodes> {
        self.store.literal(var, value)
    }

    /// Returns the conjunction of literals. No variable may occur twice.
    pub fn cube(&self, literals: &[(Var, bool)]) -> Result<Bdd, OutOfNodes> {
        let mut literals = literals.to_vec();
        // From the bottom up, each step puts one node on top of the conjunction so far.
        literals.sort_by(|a, b| b.cmp(a));
        assert!(literals.windows(2).all(|w| w[0].0 != w[1].0), "a variable occurs twice in a cube");
        let mut cube = self.top();
        for (var, value) in literals {
            cube = self.literal(var, value)?.and(&cube)?;
        }
        Ok(cube)
    }

    /// Returns the function that is true if the variables, lowest bit first, are a number in binary.
    pub fn number(&self, bits: &[Var], number: usize) -> Result<Bdd, OutOfNodes> {
        let is_set = |place: u32| number.checked_shr(place).is_some_and(|rest| rest & 1 == 1);
        self.cube(&bits.iter().zip(0..).map(|(&var, place)| (var, is_set(place))).collect::<Vec<_>>())
    }

    /// Returns the disjunction of all.
    pub fn any(&self, parts: impl IntoIterator<Item = Result<Bdd, OutOfNodes>>) -> Result<Bdd, OutOfNodes> {
        parts.into_iter().try_fold(self.bottom(), |all, part| all.or(&part?))
    }

    /// Returns the function that is true if the variables of each pair are equal.
    pub fn equal(&self, pairs: &[(Var, Var)]) -> Result<Bdd, OutOfNodes> {
        let mut pairs = pairs.to_vec();
        pairs.sort_by_key(|&(a, b)| std::cmp::Reverse(a.min(b)));
        let mut all = self.top();
        for (a, b) in pairs {
            all = self.var(a)?.iff(&self.var(b)?)?.and(&all)?;
        }
        Ok(all)
    }

    /// Prepares a set of variables for quantification.
    pub fn var_set(&self, vars: &[Var]) -> Result<VarSet, OutOfNodes> {
        let mut vars = vars.to_vec();
        vars.sort();
        vars.dedup();
        let literals: Vec<(Var, bool)> = vars.iter().map(|&v| (v, true)).collect();
        Ok(VarSet { cube: self.cube(&literals)?, vars: vars.into() })
    }

    /// Prepares the renaming that puts, for each pair, the second variable where the first was, all at once. So a swap
    /// is two pairs. The first variables must be distinct; the second need not.
    pub fn renaming(&self, pairs: &[(Var, Var)]) -> Renaming {
        let mut targets: Vec<u32> = (0..self.var_count() as u32).collect();
        for &(from, to) in pairs {
            assert!(targets[from.level()] == from.0, "a variable is renamed twice");
            assert!(to.level() < targets.len(), "a variable is renamed to one of another manager");
            targets[from.level()] = to.0;
        }
        // Levels below the last renamed one need not be visited.
        let moved = targets.iter().enumerate().rposition(|(i, &t)| i as u32 != t).map_or(0, |i| i + 1);
        targets.truncate(moved);
        Renaming { targets: targets.into(), id: Store::renaming_id() }
    }

    /// Returns the number of nodes in the store, with garbage that has not been collected.
    pub fn node_count(&self) -> usize {
        self.store.node_count()
    }

    /// Returns the limit given at creation.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Collects garbage now and returns the number of freed nodes. Empties the cache.
    pub fn collect(&self) -> usize {
        self.store.collect()
    }

    /// Collects garbage if the store is three quarters full and twice as large as the last call left it. Meant for the
    /// heads of loops: the library itself collects only when nearly nothing is left, and while it does so operations
    /// run without a cache.
    pub fn tidy(&self) {
        let now = self.node_count();
        let due = now >= self.limit / 4 * 3 && now / 2 >= self.survivors.load(Ordering::Relaxed);
        if due {
            self.collect();
            self.survivors.store(self.node_count(), Ordering::Relaxed);
        }
    }
}

/// One of the parts of [`Bdd::split_at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPart {
    /// The condition on the variables above the cut.
    pub above: Bdd,
    /// The rest of the function under that condition: a function of the variables from the cut on, not constant false.
    pub below: Bdd,
}

/// A prepared set of variables.
#[derive(Clone, Debug)]
pub struct VarSet {
    cube: Bdd,
    vars: Arc<[Var]>,
}

impl VarSet {
    /// Returns the variables from the top of the order down.
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }
}

/// A prepared simultaneous renaming of variables.
#[derive(Clone, Debug)]
pub struct Renaming {
    /// The new variable for each level; levels from the end on stay.
    targets: Arc<[u32]>,
    /// Distinguishes this renaming in the cache of results.
    id: u32,
}

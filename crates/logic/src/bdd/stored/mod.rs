//! Functions in the store of OxiDD.

mod node;

use std::ops::Range;
use std::time::Duration;

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::util::AllocResult;
use oxidd::{BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, Manager as _, ManagerRef};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_faults::{self as faults, Point};

use super::{CutPart, Limits, OutOfNodes, Renaming, Var, VarSet};
use node::{Edge, Nodes, View, view};

/// The nodes over one order of variables. Clones are handles on the same nodes.
#[derive(Clone)]
pub(super) struct Store {
    manager: BDDManagerRef,
    limit: usize,
}

impl Store {
    pub(super) fn new(limits: Limits) -> Store {
        // One worker thread: operations run on the calling thread, the pool is never used.
        let manager = oxidd::bdd::new_manager(limits.nodes, limits.cache.max(1), 1);
        Store { manager, limit: limits.nodes }
    }

    /// Adds variables below all present ones. Costs a pass over the cache. Returns their levels.
    pub(super) fn add_vars(&self, count: u32) -> Range<u32> {
        self.manager.with_manager_exclusive(|m| m.add_vars(count))
    }

    pub(super) fn var_count(&self) -> usize {
        self.manager.with_manager_shared(|m| m.num_vars()) as usize
    }

    pub(super) fn constant(&self, value: bool) -> Bdd {
        let function = self.manager.with_manager_shared(|m| if value { BDDFunction::t(m) } else { BDDFunction::f(m) });
        Bdd { function, limit: self.limit }
    }

    /// Returns the function that is true where the variable has the given value.
    pub(super) fn literal(&self, var: Var, value: bool) -> Result<Bdd, OutOfNodes> {
        self.constant(true).retried(|_| {
            self.manager.with_manager_shared(|m| {
                if value { BDDFunction::var(m, var.0) } else { BDDFunction::not_var(m, var.0) }
            })
        })
    }

    /// Returns the number of nodes, with garbage that has not been collected.
    pub(super) fn node_count(&self) -> usize {
        self.manager.with_manager_shared(|m| m.approx_num_inner_nodes())
    }

    /// Collects garbage and returns the number of freed nodes. Empties the cache.
    pub(super) fn collect(&self) -> usize {
        self.manager.with_manager_exclusive(|m| m.gc())
    }

    /// Returns a number that tells a renaming from others in the cache of results.
    pub(super) fn renaming_id() -> u32 {
        oxidd_core::util::new_substitution_id()
    }
}

/// A Boolean function over the variables of one manager. Equality and hashing refer to the function and take constant
/// time. Operations on functions of different managers are bugs; the library panics on them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bdd {
    function: BDDFunction,
    limit: usize,
}

impl Bdd {
    fn with(&self, function: BDDFunction) -> Bdd {
        Bdd { function, limit: self.limit }
    }

    /// Runs an operation; if it runs out of nodes, collects garbage under the exclusive lock and runs it again.
    ///
    /// The library also collects on its own thread when the store is nearly full, and makes the last part of the freed
    /// nodes, up to 2^16, available only after it has released its lock. In a small store that may be everything, so
    /// the attempt is repeated after a pause.
    fn retried(&self, op: impl Fn(&BDDFunction) -> AllocResult<BDDFunction>) -> Result<Bdd, OutOfNodes> {
        if faults::fails(Point::Diagrams) {
            return Err(OutOfNodes { limit: self.limit });
        }
        if let Ok(result) = op(&self.function) {
            return Ok(self.with(result));
        }
        let pauses: &[u64] = if self.limit < 1 << 20 { &[0, 5, 50] } else { &[0] };
        for &pause in pauses {
            std::thread::sleep(Duration::from_millis(pause));
            self.function.manager_ref().with_manager_exclusive(|m| m.gc());
            if let Ok(result) = op(&self.function) {
                return Ok(self.with(result));
            }
        }
        Err(OutOfNodes { limit: self.limit })
    }

    /// Returns the negation.
    pub fn not(&self) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.not())
    }

    /// Returns the conjunction.
    pub fn and(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.and(&other.function))
    }

    /// Returns the disjunction.
    pub fn or(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.or(&other.function))
    }

    /// Returns the exclusive disjunction.
    pub fn xor(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.xor(&other.function))
    }

    /// Returns the equivalence.
    pub fn iff(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.equiv(&other.function))
    }

    /// Returns the implication.
    pub fn implies(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.imp(&other.function))
    }

    /// Returns the conjunction of this and the negation of the other.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| other.function.imp_strict(f))
    }

    /// Returns the function that equals the first where this one is true, and the second elsewhere.
    pub fn ite(&self, then: &Bdd, otherwise: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.ite(&then.function, &otherwise.function))
    }

    /// Quantifies variables existentially.
    pub fn exists(&self, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.exists(&vars.cube.function))
    }

    /// Computes `self.and(other)?.exists(vars)` in one pass, without building the conjunction.
    pub fn and_exists(&self, other: &Bdd, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.apply_exists(BooleanOperator::And, &other.function, &vars.cube.function))
    }

    /// Renames variables. Linear in the diagram where the renaming keeps the order of the variables that occur.
    pub fn rename(&self, renaming: &Renaming) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| {
            f.with_manager_shared(|store, edge| {
                let result = node::rename(store, edge, &renaming.targets, renaming.id)?;
                Ok(BDDFunction::from_edge(store, result))
            })
        })
    }

    /// Returns a function that equals this one wherever the care set holds and is chosen to be small elsewhere (Coudert
    /// and Madre's restrict). It depends on no further variables, but the diagram may still be larger. For an empty
    /// care set the result is false.
    pub fn restrict(&self, care: &Bdd) -> Result<Bdd, OutOfNodes> {
        if care.is_false() {
            return Ok(care.clone());
        }
        self.retried(|f| {
            f.with_manager_shared(|store, edge| {
                let result = node::restrict(store, edge, care.function.as_edge(store))?;
                Ok(BDDFunction::from_edge(store, result))
            })
        })
    }

    /// Returns whether this implies the other. Creates no nodes.
    pub fn is_subset(&self, other: &Bdd) -> bool {
        self.function.with_manager_shared(|store, edge| node::subset(store, edge, other.function.as_edge(store)))
    }

    /// Returns whether no assignment makes both true. Creates no nodes.
    pub fn is_disjoint(&self, other: &Bdd) -> bool {
        self.function.with_manager_shared(|store, edge| node::disjoint(store, edge, other.function.as_edge(store)))
    }

    /// Returns the value, if it does not depend on any variable.
    pub fn as_constant(&self) -> Option<bool> {
        self.look(|store, edge| match view(store, edge) {
            View::Constant(value) => Some(value),
            View::Decision(..) => None,
        })
    }

    /// Returns the topmost variable with the functions that remain if it is true and if it is false, in this order;
    /// `None` for a constant. This is how to read a diagram: equal handles are equal nodes.
    pub fn decision(&self) -> Option<(Var, Bdd, Bdd)> {
        self.look(|store, edge| {
            let View::Decision(level, high, low) = view(store, edge) else { return None };
            let function = |e| self.with(BDDFunction::from_edge_ref(store, e));
            Some((Var(level), function(high), function(low)))
        })
    }

    /// Returns the value under an assignment, which is called only for the variables on the path.
    pub fn eval(&self, mut value: impl FnMut(Var) -> bool) -> bool {
        self.look(|store, mut edge| {
            loop {
                match view(store, edge) {
                    View::Constant(result) => return result,
                    View::Decision(level, high, low) => edge = if value(Var(level)) { high } else { low },
                }
            }
        })
    }

    /// Returns the number of decisions in the diagram.
    pub fn node_count(&self) -> usize {
        self.visit(|_| {})
    }

    /// Returns the first satisfying assignment, as the values of the given variables in the given order. Assignments
    /// are compared from the top of the order, with false before true; variables that do not matter are false.
    pub fn pick(&self, vars: &[Var]) -> Option<Vec<bool>> {
        self.look(|store, mut edge| {
            let mut chosen = FxHashSet::default();
            loop {
                match view(store, edge) {
                    View::Constant(false) => return None,
                    View::Constant(true) => return Some(vars.iter().map(|v| chosen.contains(&v.0)).collect()),
                    View::Decision(level, high, low) if node::is_false(store, low) => {
                        chosen.insert(level);
                        edge = high;
                    }
                    View::Decision(_, _, low) => edge = low,
                }
            }
        })
    }

    /// Cuts the diagram above a variable: the distinct functions of the variables from there on, each with the
    /// condition on the variables above under which it remains. The conditions exclude each other; the parts put
    /// together, each conjoined with its condition, are this function. The order of the parts depends on nothing but
    /// the function. Linear in the upper part of the diagram for each part.
    pub fn split_at(&self, cut: Var) -> Result<Vec<CutPart>, OutOfNodes> {
        let parts = self.look(|store, edge| node::parts_below(store, edge, cut.0));
        let mut result = Vec::with_capacity(parts.len());
        for (id, below) in parts {
            let above = self.retried(|f| {
                f.with_manager_shared(|store, edge| {
                    let edge = node::leads_to(store, edge, cut.0, id, &mut FxHashMap::default())?;
                    Ok(BDDFunction::from_edge(store, edge))
                })
            })?;
            result.push(CutPart { above, below: self.with(below) });
        }
        Ok(result)
    }

    /// Inspects the nodes under the shared lock. The closure must not call operations on diagrams: waiting for the lock
    /// a second time can block if the collector wants it in between.
    fn look<T>(&self, f: impl for<'a, 'id> FnOnce(&'a Nodes<'id>, Edge<'a, 'id>) -> T) -> T {
        self.function.with_manager_shared(|store, _| f(store, self.function.as_edge(store)))
    }

    /// Calls the closure with the level of each node, once for each, and returns their number.
    pub(super) fn visit(&self, mut each: impl FnMut(u32)) -> usize {
        self.look(|store, edge| {
            let mut seen = FxHashSet::default();
            let mut open = vec![edge];
            while let Some(edge) = open.pop() {
                if let View::Decision(level, high, low) = view(store, edge)
                    && seen.insert(edge.node_id())
                {
                    each(level);
                    open.extend([high, low]);
                }
            }
            seen.len()
        })
    }
}

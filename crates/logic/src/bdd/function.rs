//! A Boolean function and what can be done with it.

use std::fmt;
use std::time::Duration;

use oxidd::bdd::BDDFunction;
use oxidd::util::AllocResult;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager as _, ManagerRef,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::assignments::Assignments;
use super::count::{self, Exact, Rounded};
use super::node::{self, Edge, Store, View, view};
use super::{OutOfNodes, Renaming, Substitution, Var, VarSet};

/// A Boolean function over the variables of one manager. Equality and hashing are by the function denoted and cost
/// nothing. Operations on functions of different managers are bugs; the library panics on them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bdd {
    function: BDDFunction,
    limit: usize,
}

/// One of the parts that [`Bdd::split_at`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPart {
    /// For which values of the variables above the cut.
    pub above: Bdd,
    /// What remains of the function there: a function of the variables from the cut on, not constant false.
    pub below: Bdd,
}

impl fmt::Debug for Bdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "Bdd({value})"),
            None => write!(f, "Bdd({} nodes)", self.node_count()),
        }
    }
}

impl Bdd {
    pub(super) fn new(function: BDDFunction, limit: usize) -> Bdd {
        Bdd { function, limit }
    }

    pub(super) fn function(&self) -> &BDDFunction {
        &self.function
    }

    fn with(&self, function: BDDFunction) -> Bdd {
        Bdd { function, limit: self.limit }
    }

    /// Runs an operation; if it runs out of nodes, collects garbage under the exclusive lock and runs it again.
    ///
    /// The library also collects on a thread of its own when the store is nearly full, and hands the last part of what
    /// it freed, up to 2^16 nodes, to the others only after it has released its lock. In a small store that may be
    /// everything, so there the attempt is repeated after a pause.
    pub(super) fn retried(&self, op: impl Fn(&BDDFunction) -> AllocResult<BDDFunction>) -> Result<Bdd, OutOfNodes> {
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

    /// Negation.
    pub fn not(&self) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.not())
    }

    /// Conjunction.
    pub fn and(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.and(&other.function))
    }

    /// Disjunction.
    pub fn or(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.or(&other.function))
    }

    /// Exclusive disjunction.
    pub fn xor(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.xor(&other.function))
    }

    /// Equivalence.
    pub fn iff(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.equiv(&other.function))
    }

    /// Implication.
    pub fn implies(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.imp(&other.function))
    }

    /// This and not the other.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| other.function.imp_strict(f))
    }

    /// Returns the first function where this one is true, the second where it is false.
    pub fn ite(&self, then: &Bdd, otherwise: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.ite(&then.function, &otherwise.function))
    }

    /// Whether some values of the variables make this true.
    pub fn exists(&self, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.exists(&vars.cube.function))
    }

    /// Whether all values of the variables make this true.
    pub fn forall(&self, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.forall(&vars.cube.function))
    }

    /// `self.and(other)?.exists(vars)` in one pass, without the conjunction in between.
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

    /// Replaces variables by functions.
    pub fn substitute(&self, substitution: &Substitution) -> Result<Bdd, OutOfNodes> {
        self.retried(|f| f.substitute(&*substitution.inner))
    }

    /// Returns a function that equals this one wherever the care set holds and is chosen to be small elsewhere (Coudert
    /// and Madre's restrict). It depends on no further variables, but may be the larger diagram all the same. For an
    /// empty care set the result is false.
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

    /// Returns whether this is constant false.
    pub fn is_false(&self) -> bool {
        self.as_constant() == Some(false)
    }

    /// Returns whether this is constant true.
    pub fn is_true(&self) -> bool {
        self.as_constant() == Some(true)
    }

    /// Returns the value, if it does not depend on any variable.
    pub fn as_constant(&self) -> Option<bool> {
        self.look(|store, edge| match view(store, edge) {
            View::Constant(value) => Some(value),
            View::Decision(..) => None,
        })
    }

    /// Returns the topmost variable with the functions that remain if it is true and if it is false, in this order;
    /// none for a constant. This is how a diagram is read off: equal handles are equal nodes.
    pub fn decision(&self) -> Option<(Var, Bdd, Bdd)> {
        self.look(|store, edge| {
            let View::Decision(level, high, low) = view(store, edge) else { return None };
            let function = |e| self.with(BDDFunction::from_edge_ref(store, e));
            Some((Var(level), function(high), function(low)))
        })
    }

    /// Returns the value under an assignment, which is asked only for the variables on the path.
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

    /// Returns the variables that the function depends on, from the top of the order down.
    pub fn support(&self) -> Vec<Var> {
        let mut levels = FxHashSet::default();
        self.visit(|level| {
            levels.insert(level);
        });
        let mut vars: Vec<Var> = levels.into_iter().map(Var).collect();
        vars.sort();
        vars
    }

    /// One satisfying assignment, as the values of the given variables in the given order; none if there is none. Among
    /// all assignments the choice is the one that is first when false goes before true and variables are compared from
    /// the top of the order; variables that do not matter are false.
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

    /// Returns all satisfying assignments of the given variables, which must include the support. The order is that of
    /// [`Bdd::pick`]; nothing is locked between two of them.
    pub fn assignments(&self, vars: &[Var]) -> Assignments {
        Assignments::new(self.clone(), vars)
    }

    /// Returns the number of satisfying assignments of distinct variables that include the support; none if 128 bits do
    /// not hold it.
    pub fn count(&self, vars: &[Var]) -> Option<u128> {
        self.look(|store, edge| count::assignments::<Exact>(store, edge, vars)).0
    }

    /// As [`Bdd::count`], rounded; infinite beyond the range of the type.
    pub fn count_rounded(&self, vars: &[Var]) -> f64 {
        self.look(|store, edge| count::assignments::<Rounded>(store, edge, vars)).0
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

    /// Looks at the nodes under the shared lock. The closure must not call operations on diagrams: waiting for the lock
    /// a second time can block if the collector wants it in between.
    fn look<T>(&self, f: impl for<'a, 'id> FnOnce(&'a Store<'id>, Edge<'a, 'id>) -> T) -> T {
        self.function.with_manager_shared(|store, _| f(store, self.function.as_edge(store)))
    }

    /// Calls the closure with the level of each node, once for each, and returns how many there are.
    fn visit(&self, mut each: impl FnMut(u32)) -> usize {
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

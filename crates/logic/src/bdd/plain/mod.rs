//! Functions in a store of plain Rust, for one thread at a time: for WebAssembly, which has neither threads nor much
//! memory. It does what the store of OxiDD does, and passes the same tests (`cargo test -p selvedge-logic --features
//! plain`).

mod nodes;

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nodes::{BOTTOM, FALSE, Id, Node, Nodes, TRUE};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_faults::{self as faults, Point};

use super::{CutPart, Limits, OutOfNodes, Renaming, Var, VarSet};

thread_local! {
    /// The moment from which operations of this thread give up.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the moment from which operations of this thread give up, as if they had run out of nodes. They would not notice
/// otherwise that the caller has no more time, and nobody can leave them behind where there is one thread.
pub fn set_deadline(deadline: Option<Instant>) {
    DEADLINE.set(deadline);
}

/// The nodes over one order of variables. Clones are handles on the same nodes.
#[derive(Clone)]
pub(super) struct Store(Arc<Mutex<Nodes>>);

impl Store {
    pub(super) fn new(limits: Limits) -> Store {
        Store(Arc::new(Mutex::new(Nodes::new(limits))))
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a handle on a node.
    fn handle(&self, id: Id) -> Bdd {
        self.nodes().hold(id);
        Bdd { store: self.clone(), id }
    }

    /// Runs an operation; if it runs out of nodes, collects garbage and runs it again.
    fn retried(&self, op: impl Fn(&mut Nodes) -> nodes::Result) -> Result<Bdd, OutOfNodes> {
        let mut nodes = self.nodes();
        if faults::fails(Point::Diagrams) {
            return Err(OutOfNodes { limit: nodes.limit() });
        }
        nodes.deadline = DEADLINE.get();
        let first = op(&mut nodes);
        let id = first.or_else(|_| {
            nodes.collect();
            op(&mut nodes)
        })?;
        nodes.hold(id);
        Ok(Bdd { store: self.clone(), id })
    }

    /// Adds variables below all present ones. Returns their levels.
    pub(super) fn add_vars(&self, count: u32) -> Range<u32> {
        let mut nodes = self.nodes();
        let first = nodes.vars;
        nodes.vars = first.checked_add(count).expect("there are fewer than 2^32 variables");
        first..nodes.vars
    }

    pub(super) fn var_count(&self) -> usize {
        self.nodes().vars as usize
    }

    pub(super) fn constant(&self, value: bool) -> Bdd {
        self.handle(Id::from(value))
    }

    /// Returns the function that is true where the variable has the given value.
    pub(super) fn literal(&self, var: Var, value: bool) -> Result<Bdd, OutOfNodes> {
        self.retried(|nodes| nodes.decision(var.0, Id::from(value), Id::from(!value)))
    }

    /// Returns the number of nodes, with garbage that has not been collected.
    pub(super) fn node_count(&self) -> usize {
        self.nodes().len()
    }

    /// Collects garbage and returns the number of freed nodes. Empties the cache.
    pub(super) fn collect(&self) -> usize {
        self.nodes().collect()
    }

    /// Returns a number that tells a renaming from others in the cache of results.
    pub(super) fn renaming_id() -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

/// A Boolean function over the variables of one manager. Equality and hashing refer to the function and take constant
/// time. Operations on functions of different managers are bugs.
pub struct Bdd {
    store: Store,
    id: Id,
}

impl Clone for Bdd {
    fn clone(&self) -> Bdd {
        self.store.handle(self.id)
    }
}

impl Drop for Bdd {
    fn drop(&mut self) {
        self.store.nodes().release(self.id);
    }
}

impl PartialEq for Bdd {
    fn eq(&self, other: &Bdd) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.store.0, &other.store.0)
    }
}

impl Eq for Bdd {}

impl Hash for Bdd {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl Bdd {
    /// Returns the number of a function of the same manager.
    fn of(&self, other: &Bdd) -> Id {
        assert!(Arc::ptr_eq(&self.store.0, &other.store.0), "a function is of another manager");
        other.id
    }

    /// Returns the negation.
    pub fn not(&self) -> Result<Bdd, OutOfNodes> {
        self.store.retried(|nodes| nodes.not(self.id))
    }

    /// Returns the conjunction.
    pub fn and(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| nodes.and(self.id, other))
    }

    /// Returns the disjunction.
    pub fn or(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| nodes.or(self.id, other))
    }

    /// Returns the exclusive disjunction.
    pub fn xor(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| nodes.xor(self.id, other))
    }

    /// Returns the equivalence.
    pub fn iff(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| {
            let differ = nodes.xor(self.id, other)?;
            nodes.not(differ)
        })
    }

    /// Returns the implication.
    pub fn implies(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| nodes.ite(self.id, other, TRUE))
    }

    /// Returns the conjunction of this and the negation of the other.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, OutOfNodes> {
        let other = self.of(other);
        self.store.retried(|nodes| nodes.ite(other, FALSE, self.id))
    }

    /// Returns the function that equals the first where this one is true, and the second elsewhere.
    pub fn ite(&self, then: &Bdd, otherwise: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (then, otherwise) = (self.of(then), self.of(otherwise));
        self.store.retried(|nodes| nodes.ite(self.id, then, otherwise))
    }

    /// Quantifies variables existentially.
    pub fn exists(&self, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        let cube = self.of(&vars.cube);
        self.store.retried(|nodes| nodes.exists(self.id, cube))
    }

    /// Computes `self.and(other)?.exists(vars)` in one pass, without building the conjunction.
    pub fn and_exists(&self, other: &Bdd, vars: &VarSet) -> Result<Bdd, OutOfNodes> {
        let (other, cube) = (self.of(other), self.of(&vars.cube));
        self.store.retried(|nodes| nodes.and_exists(self.id, other, cube))
    }

    /// Renames variables.
    pub fn rename(&self, renaming: &Renaming) -> Result<Bdd, OutOfNodes> {
        self.store.retried(|nodes| nodes.rename(self.id, &renaming.targets, renaming.id))
    }

    /// Returns a function that equals this one wherever the care set holds and is chosen to be small elsewhere (Coudert
    /// and Madre's restrict). It depends on no further variables, but the diagram may still be larger. For an empty
    /// care set the result is false.
    pub fn restrict(&self, care: &Bdd) -> Result<Bdd, OutOfNodes> {
        if care.is_false() {
            return Ok(care.clone());
        }
        let care = self.of(care);
        self.store.retried(|nodes| nodes.restrict(self.id, care))
    }

    /// Returns whether this implies the other. Creates no nodes.
    pub fn is_subset(&self, other: &Bdd) -> bool {
        let other = self.of(other);
        !self.store.nodes().meets(self.id, other, false)
    }

    /// Returns whether no assignment makes both true. Creates no nodes.
    pub fn is_disjoint(&self, other: &Bdd) -> bool {
        let other = self.of(other);
        !self.store.nodes().meets(self.id, other, true)
    }

    /// Returns the value, if it does not depend on any variable.
    pub fn as_constant(&self) -> Option<bool> {
        (self.id <= TRUE).then_some(self.id == TRUE)
    }

    fn node(&self) -> Node {
        self.store.nodes().node(self.id)
    }

    /// Returns the topmost variable with the functions that remain if it is true and if it is false, in this order;
    /// `None` for a constant. This is how to read a diagram: equal handles are equal nodes.
    pub fn decision(&self) -> Option<(Var, Bdd, Bdd)> {
        let Node { level, high, low } = self.node();
        (level != BOTTOM).then(|| (Var(level), self.store.handle(high), self.store.handle(low)))
    }

    /// Returns the value under an assignment, which is called only for the variables on the path.
    pub fn eval(&self, mut value: impl FnMut(Var) -> bool) -> bool {
        let mut id = self.id;
        while id > TRUE {
            let node = self.store.nodes().node(id);
            id = if value(Var(node.level)) { node.high } else { node.low };
        }
        id == TRUE
    }

    /// Returns the number of decisions in the diagram.
    pub fn node_count(&self) -> usize {
        self.visit(|_| {})
    }

    /// Calls `each` with the level of every inner node, in no particular order; returns their number.
    pub(super) fn visit(&self, each: impl FnMut(u32)) -> usize {
        self.store.nodes().visit(self.id, each)
    }

    /// Returns the first satisfying assignment, as the values of the given variables in the given order. Assignments
    /// are compared from the top of the order, with false before true; variables that do not matter are false.
    pub fn pick(&self, vars: &[Var]) -> Option<Vec<bool>> {
        if self.is_false() {
            return None;
        }
        let (nodes, mut id, mut chosen) = (self.store.nodes(), self.id, FxHashSet::default());
        while id > TRUE {
            let Node { level, high, low } = nodes.node(id);
            if low == FALSE {
                chosen.insert(level);
            }
            id = if low == FALSE { high } else { low };
        }
        Some(vars.iter().map(|var| chosen.contains(&var.0)).collect())
    }

    /// Cuts the diagram above a variable: the distinct functions of the variables from there on, each with the
    /// condition on the variables above under which it remains. The conditions exclude each other; the parts put
    /// together, each conjoined with its condition, are this function. The order of the parts depends on nothing but
    /// the function. Linear in the upper part of the diagram for each part.
    pub fn split_at(&self, cut: Var) -> Result<Vec<CutPart>, OutOfNodes> {
        let parts = self.store.nodes().parts_below(self.id, cut.0);
        let part = |part: &Id| {
            let above = self.store.retried(|nodes| nodes.leads_to(self.id, cut.0, *part, &mut FxHashMap::default()))?;
            Ok(CutPart { above, below: self.store.handle(*part) })
        };
        parts.iter().map(part).collect()
    }
}

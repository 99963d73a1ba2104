//! What functions do alike in both stores, in terms of what each store does in its own way.

use std::fmt;

use rustc_hash::FxHashSet;

use super::assignments::Assignments;
use super::{Bdd, Var, count};

impl fmt::Debug for Bdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "Bdd({value})"),
            None => write!(f, "Bdd({} nodes)", self.node_count()),
        }
    }
}

impl Bdd {
    /// Returns whether this is constant false.
    pub fn is_false(&self) -> bool {
        self.as_constant() == Some(false)
    }

    /// Returns whether this is constant true.
    pub fn is_true(&self) -> bool {
        self.as_constant() == Some(true)
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

    /// Returns all satisfying assignments of the given variables, which must include the support. The order is that of
    /// [`Bdd::pick`]; nothing is locked between two of them.
    pub fn assignments(&self, vars: &[Var]) -> Assignments {
        Assignments::new(self.clone(), vars)
    }

    /// Returns the number of satisfying assignments of distinct variables that include the support; `None` if it does
    /// not fit into 128 bits.
    pub fn count(&self, vars: &[Var]) -> Option<u128> {
        count::assignments(self, vars)
    }
}

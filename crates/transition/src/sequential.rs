//! The interface of engines for a single thread, to which engines for several threads reduce their question.

use std::collections::BTreeSet;

use selvedge_check::{Engine, Run, Stop};
use selvedge_ir::{LocId, Program, VarId};
use selvedge_logic::bdd::{Bdd, Var};

/// An engine for programs with one thread that can also list values.
pub trait SequentialEngine: Engine {
    /// Computes the values that some variables can have at a location, errors or not. The variables must be among those
    /// that the location's procedure or its callees touch.
    fn values_at(&self, program: &Program, loc: LocId, vars: &[VarId], run: &Run<'_>) -> Result<Values, Stop>;
}

/// Builds a sequential engine. It keeps the variables in the order of their declaration if `declared` holds.
pub type BuildSequential = fn(declared: bool) -> Box<dyn SequentialEngine>;

/// Valuations of some variables.
#[derive(Clone)]
pub struct Values {
    /// The set of valuations.
    pub states: Bdd,
    /// The variables of the diagram, one for each variable of the program.
    pub vars: Vec<Var>,
}

impl Values {
    /// Returns the number of valuations; `None` beyond 128 bits.
    pub fn count(&self) -> Option<u128> {
        self.states.count(&self.vars)
    }

    /// Returns all valuations, each with a value for each variable.
    pub fn list(&self) -> BTreeSet<Vec<bool>> {
        self.states.assignments(&self.vars).collect()
    }
}

//! Evidence about programs with machine integers, by predicates.

use index_vec::IndexVec;
use selvedge_ir::{EdgeId, Expr, LocId, Program, VarId};

use crate::Certificate;

/// A Boolean program over predicates that can do whatever a program with machine integers can, and a certificate about
/// it. Neither has recursion, and the Boolean program has no calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateProof {
    /// The Boolean program.
    pub program: Program,
    /// For each of its variables the condition on variables of the program whose truth value it has: on shared
    /// variables and, if it is a local, on those of its thread.
    pub predicates: IndexVec<VarId, Expr>,
    /// For each of its locations where threads are seen there; `None` where no thread ever is.
    pub places: IndexVec<LocId, Option<PredicatePlace>>,
    /// For each of its edges the step that it stands for.
    pub steps: IndexVec<EdgeId, PredicateStep>,
    /// The certificate about the Boolean program.
    pub certificate: Certificate,
}

/// A place of the program for which a location of the Boolean program stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicatePlace {
    /// The calls that have not returned, the first one first.
    pub calls: Vec<EdgeId>,
    /// The location in the running procedure.
    pub loc: LocId,
    /// The locals of the Boolean program that have the values of their predicates there, in ascending order. The
    /// others have any values.
    pub tracked: Vec<VarId>,
}

/// A step of the program for which one of the Boolean program stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateStep {
    /// The edge of the program.
    pub edge: EdgeId,
    /// For each choice of the Boolean program's edge the variable whose predicate it guesses, after the step: of the
    /// thread that moves, of another one if the choice is made for each of these, or of one that starts. `None` guesses
    /// the condition of an assertion.
    pub choices: Vec<Option<VarId>>,
}

impl PredicateProof {
    /// Returns the predicates that say something, with the variables that have their values.
    pub fn stated(&self) -> impl Iterator<Item = (VarId, &Expr)> {
        self.predicates.iter_enumerated().filter(|(_, predicate)| **predicate != Expr::TRUE)
    }
}

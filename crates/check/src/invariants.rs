//! Evidence about programs with machine integers.

use selvedge_ir::{EdgeId, Expr, LocId};

/// For programs with one thread and without recursion: what holds at some of the places that the thread may be at.
/// Every execution that goes round passes a place with a formula.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvariantProof {
    /// All places that may be reached, each once. One without a formula is behind those from which a step leads to it.
    pub places: Vec<InvariantPlace>,
}

/// A place, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantPlace {
    /// The calls that have not returned, the first one first.
    pub calls: Vec<EdgeId>,
    /// The location in the running procedure.
    pub loc: LocId,
    /// What holds of the variables that exist there, over [`Expr::Var`]; `None` where nothing needs to be said.
    pub formula: Option<Expr>,
}

impl InvariantProof {
    /// Returns the places with formulas.
    pub fn stated(&self) -> impl Iterator<Item = (&InvariantPlace, &Expr)> {
        self.places.iter().filter_map(|place| Some((place, place.formula.as_ref()?)))
    }
}

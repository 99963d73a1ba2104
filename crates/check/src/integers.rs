//! Evidence about programs with integers.

use selvedge_ir::{Expr, LocId, Value, VarId};

/// For programs with one thread and without calls: what holds of the variables at each control point that may be
/// reached. The states that it allows contain the starts, are closed under all steps, and hold no error.
///
/// Control points are locations together with the values of some variables that act as program counters; if a program's
/// locations suffice, there are no such variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerProof {
    /// The variables whose values belong to a control point, each once.
    pub control: Vec<VarId>,
    /// The control points, each once.
    pub points: Vec<ControlPoint>,
}

/// A location, values of the control variables, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPoint {
    /// The location.
    pub loc: LocId,
    /// The values of [`IntegerProof::control`], or none where they may have any.
    pub values: Vec<Value>,
    /// The formula that holds of all variables, over [`Expr::Var`].
    pub formula: Expr,
}

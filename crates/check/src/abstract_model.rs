//! The abstract model of a program with integers, for pictures.

use selvedge_ir::{EdgeId, Expr, LocId, Value, VarId};

/// The abstract model under the atoms of guards and assertions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractModel {
    /// The control variables.
    pub control: Vec<VarId>,
    /// The predicates.
    pub predicates: Vec<Expr>,
    /// The abstract states.
    pub states: Vec<AbstractState>,
    /// The steps between them.
    pub edges: Vec<AbstractEdge>,
    /// The visited symbolic states: for each, the number of its abstract state, and the condition that holds in it.
    pub visited: Vec<(usize, Expr)>,
    /// Set if the steps from all abstract states on and behind loops are exact.
    pub is_safe_fragment: bool,
    /// Set if all abstract states together are closed under all steps.
    pub is_inductive: bool,
}

/// An abstract state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractState {
    /// The location.
    pub loc: LocId,
    /// The values of the control variables.
    pub control: Vec<Value>,
    /// The truth of each predicate.
    pub bits: Vec<bool>,
    /// Set if a run may begin in it.
    pub is_initial: bool,
}

/// A step from one abstract state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbstractEdge {
    /// From where, by number.
    pub from: usize,
    /// The step of the program.
    pub edge: EdgeId,
    /// To where, by number.
    pub to: usize,
    /// Set if all successors of all states of `from` by the step are in what its edges lead to.
    pub is_exact: bool,
}

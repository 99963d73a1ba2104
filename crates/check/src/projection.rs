//! Which steps of a program an error can involve.

use index_vec::IndexVec;
use selvedge_ir::EdgeId;

use crate::Reason;

/// The steps that lie on some execution to an error.
#[derive(Clone, Debug)]
pub struct Projection {
    /// For each step of the program whether an execution to an error makes it.
    pub steps: IndexVec<EdgeId, Involved>,
    /// The number of executions that showed it.
    pub executions: usize,
    /// Why some are open, if some are.
    pub stopped: Option<Reason>,
}

/// The answer to whether some execution to an error makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Involved {
    /// One does, and was replayed.
    Yes,
    /// None does, within the bounds of the question.
    No,
    /// Not decided.
    Open,
}

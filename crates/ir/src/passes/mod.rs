//! Transformations of programs that preserve the answer, one file for each.
//!
//! A pass takes a program and a target and returns a [`Passed`]. It obeys a law: the target can be reached in the
//! result if and only if it can be reached in the input, and [`Lift::trace`] turns each execution of the result that
//! ends in an error into one of the input that does.

pub mod blast;
pub mod bound_created;
mod cells;
pub mod compress;
pub mod drop_dead;
mod edit;
pub mod fix_threads;
pub mod fold;
pub mod inline;
mod lift;
mod pass;
pub mod require_step;
pub mod sequentialize;
pub mod slice;

pub use lift::{Copies, Lift, LiftStep, Source, StepPart};
pub use pass::Pass;

use crate::syntax::Program;
use crate::target::Target;

/// The result of a pass.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The changed program.
    pub program: Program,
    /// The same errors, in the changed program.
    pub target: Target,
    /// The map from evidence about the result to evidence about the input.
    pub lift: Lift,
}

#[cfg(test)]
mod testing;

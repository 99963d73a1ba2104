//! Macro steps: the steps of a thread from one visible point to the next.
//!
//! - [`visible_points`]: the locations at which a thread must be visible.
//! - [`place`], [`ranks`]: the places of threads, and the order in which those between visible points are processed.
//! - [`dependence`]: independence of steps.
//! - [`explicit`]: macro steps over explicit valuations.
//! - [`sets`]: macro steps over sets of states in decision diagrams.
//! - [`reductions`]: the reductions that a search can make.

pub mod dependence;
pub mod explicit;
pub mod place;
pub mod ranks;
pub mod reductions;
pub mod sets;
pub mod visible_points;

//! Macro steps: what a thread does from one visible point to the next.
//!
//! - [`visible_points`]: where a thread must be seen at all.
//! - [`place`], [`ranks`]: where it is between two of them, and in which order such places are followed.
//! - [`dependence`]: which steps commute.
//! - [`explicit`]: macro steps over explicit valuations.
//! - [`reductions`]: which reductions a search makes.

pub mod dependence;
pub mod explicit;
pub mod place;
pub mod ranks;
pub mod reductions;
pub mod visible_points;

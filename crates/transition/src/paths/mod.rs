//! Path edges in decision diagrams: their variables, what steps do to them, and the way back along steps.
//!
//! For each location of a procedure, a *path edge* is a pair of a valuation at the procedure's entry and one at the
//! location that the former leads to. What is here knows nothing of the order of work: engines that saturate sets of
//! path edges share it.

pub mod back;
pub mod layout;
pub mod prepare;
pub mod rings;
pub mod step;

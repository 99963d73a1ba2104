//! Path edges in decision diagrams: their variables, the effect of steps on them, and the way back along steps.
//!
//! For each location of a procedure, a *path edge* is a pair of a valuation at the procedure's entry and one at the
//! location that the former leads to. This module does not fix an order of work: it is shared by engines that saturate
//! sets of path edges.

pub mod back;
pub mod layout;
pub mod prepare;
pub mod rings;
pub mod step;

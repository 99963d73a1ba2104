//! Development only: programs to try the checker on, and harnesses that try it.
//!
//! [`generate`] makes programs as [`model`]s, [`shrink`] makes them smaller while they still show a fault.

pub mod edit;
pub mod generate;
pub mod literate;
pub mod model;
pub mod mutate;
pub mod print;
pub mod rng;
pub mod shrink;
pub mod walk;

//! Any number of threads, without recursion: chapters 8 and 9 of the thesis behind Boom.
//!
//! Threads never ask for the absence of another, so what some threads can do, more threads can do. The question whether
//! an error can be reached is one of coverability, which is decidable.
//!
//! - [`karp_miller`]: all that can be covered, on decision diagrams.
//! - [`coverability`]: what a thread-transition system can cover.
//! - [`views`]: what a few threads can look like together, on the program itself, in decision diagrams.

pub mod coverability;
pub mod karp_miller;
pub mod views;

pub use selvedge_transition::support::supports_unbounded as supports;

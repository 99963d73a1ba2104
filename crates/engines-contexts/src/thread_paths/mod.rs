//! The path edges of threads that are interrupted and go on: what the engines with a bound on contexts or rounds share.
//!
//! A thread is analysed on its own, like a program with one thread; with which shared states its contexts begin is told
//! from outside, and what it does to the shared state in each of them can be asked for.

pub(super) mod columns;
pub(super) mod numbers;
pub(super) mod shared_model;
pub(super) mod start;
pub(super) mod template_paths;
pub(crate) mod track;
pub(super) mod walk;

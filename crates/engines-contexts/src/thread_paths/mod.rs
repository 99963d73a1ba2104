//! The path edges of threads that are interrupted and resumed, shared by the engines with a bound on contexts or
//! rounds.
//!
//! A thread is analysed on its own, like a program with one thread; its callers provide the shared states with which
//! its contexts begin, and query its effect on the shared state in each of them.

pub(super) mod columns;
pub(super) mod numbers;
pub(super) mod shared_model;
pub(super) mod start;
pub(super) mod template_paths;
pub(crate) mod track;
pub(super) mod walk;

//! Engines for programs with one thread, one folder each.

pub mod bmc;
pub mod control_flow;
pub mod horn;
pub mod induction;
pub mod invariants;
pub mod pushdown;
pub mod sat;
pub mod summaries;

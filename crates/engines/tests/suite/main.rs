//! Tests of single engines on small programs with known answers.

mod bmc;
mod bmc_threads;
mod exhaustive;
mod horn;
mod induction;
mod integers;
mod invariants;
mod summaries;
mod table;
mod threads;

//! The solvers, behind façades that engines can read and that a better solver can replace.
//!
//! In the order of reading: [`bdd`] holds decision diagrams, [`relation`] gives them named columns, [`fixpoint`] solves
//! equations between relations, [`order`] finds a static order of the variables. [`aig`] holds formulas as and-inverter
//! graphs and translates them to clauses, [`sat`] decides clauses, [`qbf`] decides formulas with one alternation.
//! [`smt`] speaks with a process that decides linear integer arithmetic.
//!
//! Nothing here knows programs, prints, or reads a clock. Whatever may take long either takes a callback that can stop
//! it or is one operation on diagrams with a bound on the number of nodes.

#![warn(missing_docs)]

pub mod aig;
pub mod bdd;
pub mod fixpoint;
pub mod order;
pub mod qbf;
pub mod relation;
pub mod sat;
pub mod smt;

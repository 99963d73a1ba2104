//! Solvers behind façades: engines use the façade, and the solver can be replaced.
//!
//! Reading order: [`bdd`] holds decision diagrams, [`relation`] gives them named columns, [`fixpoint`] solves equations
//! between relations, [`order`] finds a static order of the variables. [`aig`] holds formulas as and-inverter graphs
//! and translates them to clauses, [`sat`] decides clauses, [`qbf`] decides formulas with one alternation. [`smt`]
//! communicates with a process that decides linear integer arithmetic.
//!
//! Nothing here knows programs, prints, or reads a clock. Every operation that may take long either takes a callback
//! that can stop it, or is one operation on diagrams with a limit on the number of nodes.

#![warn(missing_docs)]

pub mod aig;
pub mod bdd;
pub mod fixpoint;
pub mod order;
pub mod qbf;
pub mod relation;
pub mod sat;
pub mod smt;

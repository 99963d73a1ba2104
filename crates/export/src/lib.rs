//! Exporters: programs written in the languages of other tools.
//!
//! Every exporter is a pure function from a program to a `String`, or to the reason why the format cannot express it.
//! [`smtlib`] also reads formulas back, and [`witness`] witnesses.

pub mod bp;
pub mod harness;
pub mod horn;
pub mod promela;
pub mod sequential;
pub mod smtlib;
pub mod witness;

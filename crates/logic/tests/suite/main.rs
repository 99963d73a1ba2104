//! Tests of the façades, each against something slow and plain.

mod circuits;
mod clauses;
mod diagrams;
mod fixpoints;
mod numbers;
mod quantifiers;
mod relations;
mod smt;

//! One step of a program.
//!
//! - [`diagram`]: as a relation in decision diagrams, for states of several threads.
//! - [`circuit`]: as formulas over and-inverter graphs, for programs with one thread.
//! - [`explicit`]: on valuations, one by one.
//! - [`control`]: where control goes, whatever the values of the variables.
//! - [`passive`]: the parts of a step that concern other threads.
//! - [`vars`]: the places of variables in valuations.

pub mod circuit;
pub mod control;
pub mod diagram;
pub mod explicit;
pub mod passive;
pub mod vars;

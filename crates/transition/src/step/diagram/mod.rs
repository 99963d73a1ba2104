//! Steps as relations in decision diagrams.
//!
//! - [`relation`]: the meaning of expressions and assignments, for every layout of the variables.
//! - [`threads`]: threads that begin, start others and reach given values, for layouts of several threads.
//! - [`layout`]: the layout for a thread that moves and another one that takes part.
//! - [`step`]: the relations of edges in it.

pub mod expr;
pub mod layout;
pub mod relation;
pub mod step;
pub mod threads;

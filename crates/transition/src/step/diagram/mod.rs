//! Steps as relations in decision diagrams.
//!
//! - [`relation`]: what expressions and assignments mean, for every layout of the variables.
//! - [`threads`]: how threads begin, start others and end up with given values, for layouts of several threads.
//! - [`layout`]: the layout for a thread that moves and another one that takes part.
//! - [`step`]: the relations of edges in it.

pub mod expr;
pub mod layout;
pub mod relation;
pub mod step;
pub mod threads;

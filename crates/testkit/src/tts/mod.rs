//! Thread-transition systems to try things on: a naive search, and smaller systems that still show a fault.

mod search;
mod shrink;

pub use search::{AtBound, Found, reach};
pub use shrink::shrink;

//! Thread-transition systems for tests: a naive search, and shrinking to smaller systems that still show a fault.

mod search;
mod shrink;

pub use search::{AtBound, Found, reach};
pub use shrink::shrink;

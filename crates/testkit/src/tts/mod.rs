//! Thread-transition systems for tests: naive searches, and shrinking to smaller systems that still show a fault.

mod backwards;
mod search;
mod shrink;

pub use backwards::coverable;
pub use search::{AtBound, Found, reach};
pub use shrink::shrink;

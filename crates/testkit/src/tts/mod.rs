//! Thread-transition systems to try things on: a naive search.

mod search;

pub use search::{AtBound, Found, reach};

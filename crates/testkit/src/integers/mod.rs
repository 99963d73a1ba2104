//! Guarded commands over integers: programs of the literature, random programs, and a search over a box as oracle.

pub mod boxed;
pub mod compare;
pub mod families;
pub mod generate;

pub use boxed::{Bounds, Found, search};
pub use families::{Row, rows};

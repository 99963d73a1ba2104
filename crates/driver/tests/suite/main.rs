//! Tests of the driver with engines that no table knows.

mod machine;
mod toy;

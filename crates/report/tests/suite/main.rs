//! Tests of reports by their text.

mod bodies;
mod cover;
mod threads;

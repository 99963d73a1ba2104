//! Tests of reports and exported models by their text.

mod bodies;
mod cover;
mod promela;
mod threads;

//! Engines for threads without recursion: for a [`bounded`] number of threads, and for an [`unbounded`] one.

pub mod bounded;
mod rows;
pub mod unbounded;

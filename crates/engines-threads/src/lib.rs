//! Engines for threads without recursion: [`bounded`] numbers of them, and [`unbounded`] ones.

pub mod bounded;
pub mod unbounded;

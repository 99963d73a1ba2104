//! What is asked.

use selvedge_ir::{Program, Target};

/// The question: can an error be reached?
#[derive(Clone, Copy, Debug)]
pub struct Task<'p> {
    /// In which program. Its entries say which threads a run starts with.
    pub program: &'p Program,
    /// Which errors.
    pub target: &'p Target,
    /// With how many threads.
    pub threads: ThreadScope,
}

/// How many threads may live at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadScope {
    /// This many; a spawn beyond them does nothing. The prelude's thread does not count.
    AtMost(u32),
    /// Any number.
    Unbounded,
}

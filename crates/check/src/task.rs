//! The question that an engine decides.

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

/// A limit on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadScope {
    /// This many at one time; a spawn beyond them does nothing. The prelude's thread does not count.
    AtMost(u32),
    /// This many in the whole run, ended ones included; a spawn beyond them does nothing. The prelude's thread does not
    /// count. Engines need not know this one: the driver turns it into [`ThreadScope::AtMost`] for those that do not.
    Created(u32),
    /// Any number.
    Unbounded,
}

//! The question that an engine decides.

use selvedge_ir::{Program, Target};

use crate::Unsupported;

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

impl Task<'_> {
    /// Refuses a question about deadlocks, for engines that cannot answer it.
    pub fn refuse_deadlock(&self, engine: &str) -> Result<(), Unsupported> {
        if self.target.deadlock {
            return Err(Unsupported::new(format!("`{engine}` does not look for deadlocks: leave --engine out")));
        }
        Ok(())
    }
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

//! Evidence for safety.

use selvedge_ir::{LocId, ProcId};

use crate::formula::{FormulaId, Formulas};

/// Evidence for safety that a small checker can verify without the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// No error can be reached whatever the variables hold. The locations (sorted) contain the beginnings of the
    /// initial threads, are closed under all steps that are not blocked by a constant condition, and hold no error: no
    /// target location, and no target assertion except those of a constant true.
    ControlFlow(Vec<LocId>),
    /// For programs with one thread, recursive or not.
    Summaries(SummaryProof),
    /// For programs with one thread and without recursion: no error within `k` steps of the start, and none in the step
    /// after `k + 1` states without error that follow one another.
    Induction {
        /// The length.
        k: u32,
        /// Which sequences of states the second part speaks of.
        paths: Paths,
    },
}

/// Sequences of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paths {
    /// All.
    All,
    /// Those in which no state occurs twice. A shortest way to an error is such a one.
    LoopFree,
}

/// What holds at each location of a procedure that was entered in some way, and how each procedure can return.
///
/// The formulas need not be exact: they may allow more than what can happen, as long as they are closed under all steps
/// and allow no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryProof {
    /// The formulas that the lists refer to.
    pub formulas: Formulas,
    /// For each location that may be reached, in ascending order: how the variables now may relate to those at the
    /// procedure's entry.
    pub locs: Vec<(LocId, FormulaId)>,
    /// For each procedure that may return, in ascending order: how the shared and per-thread variables at the return
    /// and the returned values may relate to the entry.
    pub procs: Vec<(ProcId, FormulaId)>,
}

impl SummaryProof {
    /// What holds at a location; `None` if it is never reached.
    pub fn loc(&self, loc: LocId) -> Option<FormulaId> {
        let place = self.locs.binary_search_by_key(&loc, |(loc, _)| *loc).ok()?;
        Some(self.locs[place].1)
    }

    /// How a procedure returns; `None` if it never does.
    pub fn proc(&self, proc: ProcId) -> Option<FormulaId> {
        let place = self.procs.binary_search_by_key(&proc, |(proc, _)| *proc).ok()?;
        Some(self.procs[place].1)
    }
}

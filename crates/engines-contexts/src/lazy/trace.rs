//! Reconstructs an execution from an error, in which the threads take turns.
//!
//! First the boundaries of all contexts are found (`boundaries`), then the steps of each thread (`walk`). Every step
//! has its context; the execution consists of the steps of all threads, sorted by context.

use selvedge_check::Stop;
use selvedge_ir::EntryId;
use selvedge_ir::trace::Trace;
use selvedge_transition::out_of_nodes;

use super::rounds::{FoundError, RoundSearch};
use crate::thread_paths::template_paths::PathError;
use crate::thread_paths::walk::Boundaries;

impl RoundSearch<'_, '_> {
    /// Returns an execution that ends in an error before the threads start.
    pub(super) fn trace_before(&self, error: &PathError) -> Result<Trace, Stop> {
        self.paths.trace_before(error, &self.entries())
    }

    /// Returns an execution that ends in the error.
    pub(super) fn trace(&self, met: &FoundError) -> Result<Trace, Stop> {
        let entries = self.entries();
        let walker = |thread: usize| self.paths.walker(entries[thread], thread);
        let failing = walker(met.thread).to_error(&met.error)?;
        let own = failing.boundaries(self.model, self.count());
        let boundaries = self.boundaries(met.thread, own).map_err(out_of_nodes)?;
        let mut failing = Some(failing);
        let part = |(thread, boundaries): (usize, &Boundaries)| match failing.take_if(|_| thread == met.thread) {
            Some(part) => Ok(part),
            None => walker(thread).to_effect(boundaries),
        };
        let parts = boundaries.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        let first = self.model.state(&boundaries[0].begun[..self.model.width()]);
        self.paths.trace(first, &entries, parts)
    }

    /// Returns the entries of all threads: each has one of its own.
    fn entries(&self) -> Vec<EntryId> {
        self.model.program.entries.indices().collect()
    }
}

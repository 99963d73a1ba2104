//! Reconstructs an execution from an error, in which the threads take turns.
//!
//! First the boundaries of all contexts are found (`boundaries`), then the steps of each thread (`walk`). Every step
//! has its context; the execution consists of the steps of all threads, sorted by context.

use selvedge_check::Stop;
use selvedge_ir::EntryId;
use selvedge_ir::trace::Trace;
use selvedge_logic::bdd::OutOfNodes;
use selvedge_transition::out_of_nodes;

use super::rounds::{FoundError, RoundSearch};
use crate::thread_paths::columns::Side;
use crate::thread_paths::start::ExecutionParts;
use crate::thread_paths::walk::{Boundaries, StateVector, ThreadRun, Walker};

impl RoundSearch<'_, '_> {
    /// Returns an execution that ends in the error.
    pub(super) fn trace(&self, met: &FoundError) -> Result<Trace, Stop> {
        match met {
            FoundError::Alone(error) => {
                let prelude = self.prelude.as_ref().expect("only a prelude fails before the threads");
                let part = Walker::new(prelude, 0).to_error(error)?;
                self.assembled(None, part, Vec::new()).map_err(out_of_nodes)
            }
            FoundError::In { thread, error } => {
                let failing = self.walker(*thread).to_error(error)?;
                let boundaries = self.boundaries(*thread, self.own(&failing)).map_err(out_of_nodes)?;
                let parts = self.parts(*thread, failing, &boundaries)?;
                let columns = &self.model.columns;
                let first = columns.state(&boundaries[0].begun[..columns.width()]);
                let before = match &self.prelude {
                    Some(prelude) => Walker::new(prelude, 0).to_finished(&first)?,
                    None => ThreadRun::default(),
                };
                self.assembled(Some(first), before, parts).map_err(out_of_nodes)
            }
        }
    }

    fn walker(&self, thread: usize) -> Walker<'_, '_> {
        Walker::new(&self.templates[self.threads[thread]], usize::from(self.prelude.is_some()) + thread)
    }

    /// Returns the boundaries of the thread that fails.
    fn own(&self, failing: &ThreadRun) -> Boundaries {
        let (layout, columns) = (&self.model.layout, &self.model.columns);
        let vector = |side: Side, last: u32| -> StateVector {
            columns.columns(layout, side, 1, last).iter().map(|var| failing.history[var]).collect()
        };
        Boundaries { begun: vector(Side::In, self.count()), ended: vector(Side::Out, self.count() - 1) }
    }

    fn parts(&self, thread: usize, failing: ThreadRun, boundaries: &[Boundaries]) -> Result<Vec<ThreadRun>, Stop> {
        let mut failing = Some(failing);
        let part = |(other, boundaries): (usize, &Boundaries)| match failing.take_if(|_| other == thread) {
            Some(part) => Ok(part),
            None => self.walker(other).to_effect(boundaries),
        };
        boundaries.iter().enumerate().map(part).collect()
    }

    /// Returns the whole execution, from the runs of all threads; `shared` are the values when the threads start.
    fn assembled(
        &self,
        shared: Option<StateVector>,
        before: ThreadRun,
        parts: Vec<ThreadRun>,
    ) -> Result<Trace, OutOfNodes> {
        let templates = self.threads.iter().enumerate();
        let threads =
            templates.map(|(place, template)| (EntryId::new(place), &self.templates[*template].root)).collect();
        ExecutionParts { model: self.model, prelude: self.prelude.as_ref(), before, shared, threads, parts }.assembled()
    }
}

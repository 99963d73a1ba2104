//! k-induction by SAT, for programs with one thread and without recursion.
//!
//! After Sheeran, Singh and Stålmarck (2000), as presented in §2.5 of the thesis behind Boom, whose equation (2.6) has
//! the property the wrong way round and leaves the last state unconnected. For k = 0, 1, 2, ..:
//!
//! - *base*: is there an error within k steps of the start? The unwinding of [`crate::bmc`] decides this and gives a
//!   trace.
//! - *step*: are there k + 1 consecutive states without error, starting anywhere, that are followed by an error
//!   (`backward`)? If not, the program is safe: a shortest path to an error would have more than k steps, and its last
//!   k + 2 states would be such a sequence.
//!
//! On a shortest path no state occurs twice, so the states of *step* may be required to be distinct. Then the search
//! ends even without the bound: at the latest when k is the length of the longest path without repetition.
//!
//! The certificate only has k and whether distinctness was needed; the judge repeats both checks.

mod backward;
pub(crate) mod inlined_graph;

use selvedge_check::{Bound, Certificate, Engine, Explanation, Paths, Run, Stop, Task, Unsupported, Verdict};
use selvedge_transition::support::supports_one_thread;

use crate::bmc::Unwinding;
use backward::BackwardUnrolling;
use inlined_graph::InlinedGraph;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Induction {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The greatest k.
    ///
    /// Default: 200. Range: all.
    pub bound: u32,
    /// The paths of the induction step: any, or those with distinct states (Sheeran, Singh and Stålmarck, 2000, §3.2).
    /// Distinctness is required only where it makes a difference.
    ///
    /// Default: [`Paths::LoopFree`].
    pub paths: Paths,
}

impl Default for Options {
    fn default() -> Options {
        Options { bound: 200, paths: Paths::LoopFree }
    }
}

impl Engine for Induction {
    fn name(&self) -> &'static str {
        "induction"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_one_thread(task, self.name())?;
        InlinedGraph::new(task).map(|_| ()).map_err(|reason| Unsupported::new(format!("`induction` {reason}")))
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let bound = Stop::BoundReached(Bound::Steps(self.options.bound));
        let places = InlinedGraph::new(task).map_err(|_| bound)?;
        let mut base = Unwinding::new(*task);
        let mut step = BackwardUnrolling::new(*task, &places, self.options.paths);
        for k in 0..=self.options.bound {
            if let Some(trace) = base.error(run)? {
                return Ok(Verdict::Unsafe(trace));
            }
            if let Some(paths) = step.closes(run)? {
                return Ok(Verdict::Safe(Some(Certificate::Induction { k, paths })));
            }
            base.extend(run)?;
        }
        Err(bound)
    }
}

//! The set of all that can be covered, on decision diagrams: the engine `karp-miller`.
//!
//! Algorithms 8.1 to 8.3 of the thesis behind Boom, as corrected. A node is ⟨S, (pc, L₁, n₁), .., (pc, L_k, n_k)⟩ with
//! a set S of shared valuations and, of nᵢ threads each, numbers or ω, that all have a local valuation in Lᵢ
//! (`omega_marking`). Threads move by the blocks of [`crate::bounded::symbolic`], whose images are split so that this
//! form is exact.
//!
//! The order of work, the invariant and the end are those of the tree (`tree`). If the tree covers an error, an
//! execution is looked for with 1, 2, 3, .. threads, which ends because there is one. If it covers none, its maximal
//! nodes are the proof (`certificate`), written out one valuation at a time where these are not too many.

mod certificate;
mod omega_marking;
mod tree;

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};

use self::tree::Tree;
use crate::bounded::symbolic::Within;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct KarpMiller;

impl Engine for KarpMiller {
    fn name(&self) -> &'static str {
        "karp-miller"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        selvedge_transition::support::supports_unbounded(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let mut tree = Tree::new(task, run)?;
        if tree.build()? { loop_over_threads(task, run) } else { Ok(Verdict::Safe(tree.certificate()?)) }
    }
}

/// Finds an execution to an error that is known to exist, with as few moving threads as possible.
fn loop_over_threads(task: &Task<'_>, run: &Run<'_>) -> Result<Verdict, Stop> {
    for k in 1.. {
        if let Within::Error(trace) = crate::unbounded::views::find(task, k, run)? {
            return Ok(Verdict::Unsafe(trace));
        }
    }
    unreachable!("an error that can be covered is reached with some number of threads")
}

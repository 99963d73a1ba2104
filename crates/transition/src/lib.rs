//! The transition layer: the steps of a program and their effects, shared by the engines.
//!
//! - [`step`]: one step, as a relation in decision diagrams, on valuations, or as a circuit.
//! - [`paths`]: path edges of procedures in decision diagrams.
//! - [`macro_step`]: the steps of a thread from one visible point to the next.
//! - [`tts_extract`]: a program as a thread-transition system.
//! - [`trace_builder`]: from the steps of a search to an execution.
//! - [`formula_writer`]: the formulas of certificates.
//! - [`bitvectors`]: expressions in the language of SMT solvers.
//! - [`thread_proof`]: proofs about threads, before calls were replaced by bodies.
//! - [`sequential`]: the interface of engines for a single thread that engines for several threads build on.
//! - [`support`]: the tasks that engines support.
//!
//! Families of engines depend on this crate and not on each other.

pub mod bitvectors;
pub mod formula_writer;
pub mod macro_step;
pub mod paths;
pub mod sequential;
pub mod step;
pub mod support;
pub mod thread_proof;
pub mod trace_builder;
pub mod tts_extract;

use selvedge_check::Stop;
use selvedge_logic::bdd::OutOfNodes;

/// Turns running out of nodes into a stop like that of any other limit.
pub fn out_of_nodes(error: OutOfNodes) -> Stop {
    Stop::NodeLimit(error.limit)
}

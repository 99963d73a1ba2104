//! The transition layer: what a step of a program is and does, as the engines share it.
//!
//! - [`step`]: one step, as a relation in decision diagrams or as a circuit.
//! - [`paths`]: path edges of procedures in decision diagrams.
//! - [`macro_step`]: what a thread does from one visible point to the next.
//! - [`tts_extract`]: a program as a thread-transition system.
//! - [`trace_builder`]: from the steps that a search went to an execution.
//! - [`sequential`]: what an engine for several threads asks of one for a single thread.
//! - [`support`]: which tasks the engines for threads take.
//!
//! Families of engines depend on this crate and not on each other.

pub mod macro_step;
pub mod paths;
pub mod sequential;
pub mod step;
pub mod support;
pub mod trace_builder;
pub mod tts_extract;

use selvedge_check::Stop;
use selvedge_logic::bdd::OutOfNodes;

/// Running out of nodes ends a check like any other limit.
pub fn out_of_nodes(error: OutOfNodes) -> Stop {
    Stop::NodeLimit(error.limit)
}

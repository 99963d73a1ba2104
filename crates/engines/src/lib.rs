//! The registry of engines: their names, their options, and how they are built.
//!
//! The engines are in a crate per family, which depend on [`selvedge_transition`] and not on each other. Where one
//! engine uses another, it is handed over here. Engines never print, never read the environment and never see a file
//! name.

pub mod horn;
pub mod induction;
pub mod table;

use selvedge_check::Engine;
use selvedge_transition::sequential::SequentialEngine;

pub use selvedge_engines_contexts::{self as contexts, calculus};
pub use selvedge_engines_exhaustive as exhaustive;
pub use selvedge_engines_integers::{self as integers, abstraction, cegar};
pub use selvedge_engines_sequential::{bmc, control_flow, invariants, pushdown, sat, summaries};
pub use selvedge_engines_threads::{bounded as threads, unbounded};
pub use selvedge_transition::tts_extract;
pub use table::EngineKind;

/// The options of all engines. Each takes its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// The options of [`summaries`].
    pub summaries: summaries::Options,
    /// The options of [`sat`].
    pub sat: sat::Options,
    /// The options of [`bmc`].
    pub bmc: bmc::Options,
    /// The options of [`threads::bmc`].
    pub bmc_threads: threads::bmc::Options,
    /// The options of [`induction`].
    pub induction: induction::Options,
    /// The options of [`threads::symbolic`].
    pub threads: threads::symbolic::Options,
    /// The options of [`threads::plain`].
    pub threads_plain: threads::plain::Options,
    /// The options of [`threads::explicit`].
    pub threads_explicit: threads::explicit::Options,
    /// The options of [`unbounded::coverability`].
    pub coverability: unbounded::coverability::Options,
    /// The options of [`unbounded::views`].
    pub views: unbounded::views::Options,
    /// The options of [`unbounded::predicates`].
    pub predicates: unbounded::predicates::Options,
    /// The options of [`mod@cegar`].
    pub cegar: cegar::Options,
    /// The options of [`contexts`].
    pub contexts: contexts::Options,
    /// The options of [`contexts::rounds`].
    pub rounds: contexts::rounds::Options,
    /// The options of [`integers::ase`] and [`integers::ur`].
    pub ase: integers::ase::Options,
    /// The options of [`exhaustive`].
    pub exhaustive: exhaustive::Options,
}

/// Builds the engine of a kind.
pub fn build(kind: EngineKind, options: &EngineOptions) -> Box<dyn Engine> {
    (kind.row().build)(options)
}

/// Returns the engine `cegar`, which decides its Boolean programs by `summaries`.
pub fn cegar(options: cegar::Options) -> cegar::Cegar {
    cegar::Cegar { options, boolean: Box::new(summaries::Summaries::default()) }
}

/// Returns the engine `contexts-eager`, which decides its sequential programs by `summaries`.
pub fn contexts_eager(options: contexts::Options) -> contexts::eager::ContextsEager {
    contexts::eager::ContextsEager { options, sequential: summaries_in_order }
}

fn summaries_in_order(declared: bool) -> Box<dyn SequentialEngine> {
    Box::new(summaries::Summaries { options: summaries::Options { declared, ..Default::default() } })
}

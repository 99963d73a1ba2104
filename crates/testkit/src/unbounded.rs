//! Generated programs with threads, for the engines that answer for any number of them.

use std::ops::Range;

use selvedge_check::{Task, ThreadScope};
use selvedge_driver::{Pass, Simplified, simplify};
use selvedge_engines::unbounded::supports;

use crate::differ::{Posed, pose};
use crate::generate::{Weights, generate};

/// A generated program, as it is and without calls.
pub struct Generated {
    /// What it is called: the weights by which it was made, and the seed.
    pub name: String,
    /// As it is.
    pub posed: Posed,
    /// With bodies in the places of calls.
    pub inlined: Simplified,
}

impl Generated {
    /// The question about any number of threads.
    pub fn original(&self) -> Task<'_> {
        Task { threads: ThreadScope::Unbounded, ..self.posed.task() }
    }

    /// The same about the program without calls.
    pub fn task(&self) -> Task<'_> {
        self.inlined.task(ThreadScope::Unbounded)
    }
}

/// For all weights of programs with threads one program for each seed, but for those that the engines do not take.
pub fn generated(seeds: Range<u64>) -> impl Iterator<Item = Generated> {
    Weights::concurrent().into_iter().enumerate().flat_map(move |(at, (name, weights))| {
        let one = move |seed: u64| {
            let posed = pose(&generate(seed * 100 + at as u64, &weights)).expect("generated programs are fine");
            let inlined = simplify(&posed.task(), &[Pass::Inline]);
            let generated = Generated { name: format!("{name}, seed {seed}"), posed, inlined };
            supports(&generated.task(), "test").is_ok().then_some(generated)
        };
        seeds.clone().filter_map(one)
    })
}

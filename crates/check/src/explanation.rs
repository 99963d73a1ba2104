//! The explanation that an engine gives besides its verdict.

use std::collections::BTreeSet;

use crate::{Argument, Contexts, Cutoff, Event, Refinement, Rounds, Run};

/// An engine's account of its search, whether it came to a verdict or stopped. It explains an answer and is not
/// evidence: nothing relies on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// For safe answers: the arguments that closed the search.
    pub arguments: BTreeSet<Argument>,
    /// The number of threads that are enough.
    pub cutoff: Option<Cutoff>,
    /// The results for growing numbers of contexts per thread, from engines that bound them.
    pub contexts: Option<Contexts>,
    /// The results for growing numbers of rounds, from engines that bound them.
    pub rounds: Option<Rounds>,
    /// The figures of the refinement, from engines that refine abstractions of integers.
    pub refinement: Option<Refinement>,
}

impl Explanation {
    /// Notes that this argument closed a part of the search, and tells the observer.
    pub fn close(&mut self, argument: Argument, run: &Run<'_>) {
        self.arguments.insert(argument);
        run.event(Event::Closed(argument));
    }

    /// Notes the figures of a refinement, and tells the observer.
    pub fn refine(&mut self, refinement: Refinement, run: &Run<'_>) {
        self.refinement = Some(refinement);
        run.event(Event::Refined(refinement));
    }
}

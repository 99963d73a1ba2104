//! A bounded number of threads by counter abstraction on decision diagrams: the engine `threads`.
//!
//! After chapter 7 of the thesis behind Boom: a state is ⟨S, (pc, L₁, n₁), .., (pc, L_k, n_k)⟩ with sets S of shared
//! and Lᵢ of local valuations, and nᵢ threads with local valuations in Lᵢ (`state`). Edges are translated when they are
//! first needed (`step`). A thread moves by whole blocks (`block`). The image of a block is split where the shared and
//! the local part depend on each other: shared variables are above local ones in the order, so that the distinct
//! functions below the cut are the distinct sets of local valuations (errata: `splice_on_image`). The order of work,
//! the invariant and the end are those of the breadth-first search (`search`). It is right because no step over- or
//! under-approximates: a state of the abstraction represents a set of states, each of which can be reached, except for
//! the values of variables that are not read any more.

mod back;
pub(crate) mod block;
mod certificate;
mod explore;
pub(crate) mod machine;
mod order;
mod passive;
mod search;
pub(crate) mod state;
mod trace;

use selvedge_check::{
    Certificate, Engine, Explanation, Exploration, Findings, Run, Stop, Task, Unsupported, ValuesAsked, Verdict,
};
use selvedge_ir::{EdgeId, Trace};
use selvedge_transition::macro_step::explicit::Error;

pub(crate) use self::machine::Full;

use self::search::SymbolicSearch;
use super::{Closing, PartialOrder, Reductions, Visit};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The reductions.
    pub reductions: Reductions,
    /// Merges states of one frontier that differ in the local valuations of one thread (thesis, §7.5.1).
    ///
    /// Default: on.
    pub merge: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { reductions: Reductions::default(), merge: true }
    }
}

impl Engine for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        super::supports(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let mut search = SymbolicSearch::new(task, run, &self.options, Visit::UntilError)?;
        match search.run()? {
            Some(found) => Ok(Verdict::Unsafe(search.trace(&found)?)),
            None => {
                let closing = search.close()?;
                let in_every_order = |explanation: &mut _| self.in_every_order().decide(task, run, explanation);
                closing.verdict((run, explanation), || search.certificate(), in_every_order)
            }
        }
    }

    fn check_each(&self, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Findings, Stop>> {
        self.supports(task).is_ok().then(|| self.findings(task, run))
    }

    fn reachable(&self, task: &Task<'_>, asked: ValuesAsked<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
        self.supports(task).is_ok().then(|| self.observe(task, asked, run))
    }
}

impl Threads {
    /// Returns the same engine without partial order.
    fn in_every_order(&self) -> Threads {
        let reductions = Reductions { partial_order: PartialOrder::Off, ..self.options.reductions };
        Threads { options: Options { reductions, ..self.options.clone() } }
    }

    fn findings(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Findings, Stop> {
        let mut search = SymbolicSearch::new(task, run, &self.options, Visit::Each)?;
        search.run()?;
        let trace = |search: &mut SymbolicSearch<'_>, error: Error| {
            search.met.get(&error).cloned().map(|found| search.trace(&found)).transpose()
        };
        let is_reached = |search: &SymbolicSearch<'_>, edge: EdgeId| {
            search.machine.locs.contains(task.program.edges[edge].from.index())
        };
        let mut findings = super::findings(task, &mut search, trace, is_reached)?;
        findings.certificate = closed_certificate(&mut search)?;
        Ok(findings)
    }
}

fn closed_certificate(search: &mut SymbolicSearch<'_>) -> Result<Option<Certificate>, Stop> {
    if search.close()? == Closing::Closed { search.certificate() } else { Ok(None) }
}

/// The result of a search within a bound, for a program without bound.
pub(crate) enum Within {
    /// An error is reached by this execution within the bound.
    Error(Trace),
    /// No error is reached, and the bound never mattered: without a bound there is no error, either.
    Everything(Option<Certificate>),
    /// No error is reached within the bound.
    Nothing,
}

impl Threads {
    /// Looks for an error within a bound. The program may have more threads.
    pub(crate) fn find(&self, task: &Task<'_>, full: Full, run: &Run<'_>) -> Result<Within, Stop> {
        let mut search = SymbolicSearch::new(task, run, &self.options, Visit::UntilError)?;
        search.machine.full = full;
        if let Some(found) = search.run()? {
            return search.trace(&found).map(Within::Error);
        }
        let starts_within = crate::bounded::most_initial(task.program) <= search.machine.bound;
        if starts_within && !search.machine.was_full {
            return closed_certificate(&mut search).map(Within::Everything);
        }
        Ok(Within::Nothing)
    }
}

//! `threads-explicit`: counter abstraction over explicit valuations (thesis, chapter 7).
//!
//! A state is a shared valuation and a multiset of thread states, so that the numbers of threads do not matter. Both
//! parts are stored once and identified by numbers; the block of a thread state under a shared valuation is computed
//! once and looked up from then on. The engine suits small data and many threads.
//!
//! - `packed`: the same over packed states, wherever that is possible.
//! - `store`: the states.
//! - `start`: the initial states.
//! - `search`: breadth first over whole states.
//! - `order`: interleavings that are left out.
//! - `explore`: the states in which threads can be.
//! - `trace`, `certificate`: the evidence.

mod certificate;
mod explore;
mod order;
mod packed;
mod search;
mod start;
mod store;
mod trace;

use selvedge_check::Exploration;
use selvedge_check::{Engine, Explanation, Findings, Run, Seen, Stop, Task, Unsupported, ValuesAsked, Verdict};
use selvedge_transition::macro_step::explicit::{Error, Model};

use super::{Closing, PartialOrder, Reductions, Visit};
use explore::ThreadStates;
use packed::Packing;
use search::ExplicitSearch;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct ThreadsExplicit {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The reductions of the search.
    pub reductions: Reductions,
    /// With more states than this, a certificate names the first ones only, and the judge finds the others again.
    ///
    /// Default: 10,000, so that small certificates say what holds at each location.
    pub most_listed: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { reductions: Reductions::default(), most_listed: 10_000 }
    }
}

impl Engine for ThreadsExplicit {
    fn name(&self) -> &'static str {
        "threads-explicit"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        super::supports(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let model = Model::new(*task, self.options.reductions);
        if let Some(packing) = self.packing(&model) {
            let mut search = packing.search(&model, run);
            return match search.run(Visit::UntilError)? {
                Some(error) => Ok(Verdict::Unsafe(search.first_trace(error)?)),
                None => Closing::Closed.verdict(
                    (run, explanation),
                    || search.certificate(self.options.most_listed),
                    |_| unreachable!("nothing was left out"),
                ),
            };
        }
        let mut search = ExplicitSearch::new(&model, self.options.reductions.partial_order, run);
        match search.run(Visit::UntilError)? {
            Some(error) => Ok(Verdict::Unsafe(search.first_trace(error)?)),
            None => {
                let closing = search.close()?;
                let in_every_order = |explanation: &mut _| self.in_every_order().decide(task, run, explanation);
                closing.verdict((run, explanation), || certificate::certificate(&search, Seen::All), in_every_order)
            }
        }
    }

    fn check_each(&self, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Findings, Stop>> {
        self.supports(task).is_ok().then(|| self.findings(task, run))
    }

    fn reachable(&self, task: &Task<'_>, asked: ValuesAsked<'_>, run: &Run<'_>) -> Option<Result<Exploration, Stop>> {
        let model = || Model::observed(*task, self.options.reductions.compress, asked);
        self.supports(task).is_ok().then(|| visit(&model(), run))
    }
}

impl ThreadsExplicit {
    /// Returns the same engine without partial order.
    fn in_every_order(&self) -> ThreadsExplicit {
        let reductions = Reductions { partial_order: PartialOrder::Off, ..self.options.reductions };
        ThreadsExplicit { options: Options { reductions, ..self.options } }
    }

    /// Returns the places of packed states, if no interleaving is to be left out and states can be packed.
    fn packing(&self, model: &Model<'_>) -> Option<Packing> {
        if self.options.reductions.partial_order == PartialOrder::Off { Packing::new(model) } else { None }
    }

    fn findings(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Findings, Stop> {
        let model = Model::new(*task, self.options.reductions);
        if let Some(packing) = self.packing(&model) {
            let mut search = packing.search(&model, run);
            search.run(Visit::Each)?;
            let mut findings = search.findings()?;
            findings.certificate = search.certificate(self.options.most_listed)?;
            return Ok(findings);
        }
        let mut search = ExplicitSearch::new(&model, self.options.reductions.partial_order, run);
        search.run(Visit::Each)?;
        search.note_stops()?;
        let trace = |search: &mut ExplicitSearch<'_>, error: Error| {
            search.met.contains_key(&error).then(|| search.trace(error)).transpose()
        };
        let mut findings = super::findings(task, &mut search, trace, |search, edge| search.asserts[edge.index()])?;
        if search.close()? == Closing::Closed {
            findings.certificate = certificate::certificate(&search, Seen::All)?;
        }
        Ok(findings)
    }

    /// Visits all states, errors or not and without reductions, and returns the visible states of their threads.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let model = Model::new(*task, Reductions::NONE);
        visit(&model, run)
    }
}

/// Visits all states of a model, errors or not, and returns the visible states of their threads.
fn visit(model: &Model<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
    if let Some(packing) = Packing::new(model) {
        let mut search = packing.search(model, run);
        search.run(Visit::All)?;
        return search.exploration();
    }
    let mut search = ExplicitSearch::new(model, PartialOrder::Off, run);
    search.run(Visit::All)?;
    let mut seen = ThreadStates::new(model, run);
    for number in 0..search.store.len() {
        let state = search.store.get(number);
        let locals = state.threads.iter().chain(&state.holder).map(|local| &search.parts.locals[*local as usize]);
        seen.add(search.parts.shared[state.shared as usize].clone(), locals.cloned())?;
    }
    Ok(seen.exploration(search.store.len(), search.met.keys()))
}

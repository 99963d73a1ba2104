//! The same search over packed states, for programs without steps in which other threads take part.
//!
//! A state is a few words, without numbers of parts that would have to be looked up. What a thread does is looked up by
//! the values that determine it, which are few, while whole shared valuations may never recur. An execution is found
//! again by the search without tables, which is given the states on the way to the error.
//!
//! - `layout`: where the parts of a state are in its words.
//! - `rules`: what threads do, in tables.
//! - `set`: the states.
//! - `search`: breadth first.

mod layout;
mod rules;
mod search;
mod set;

use rustc_hash::FxHashMap;
use selvedge_check::{Certificate, Exploration, Findings, Run, Seen, Stop};
use selvedge_ir::{EdgeId, LocId, Trace};
use selvedge_transition::macro_step::explicit::{Error, Model};
use selvedge_transition::support::is_passive;

use super::certificate;
use super::explore::ThreadStates;
use super::search::{ExplicitSearch, Met as MetBefore};
use super::store::State;
use crate::bounded::{PartialOrder, Visit};
use layout::{Layout, PRELUDE};
use search::{Met, PackedSearch};

/// The most values of a state that the judge reads off a proof one by one, and of a thread of other states.
const MOST_BITS: usize = 128;

/// A search over packed states, whatever their size.
pub(super) struct Search<'a> {
    model: &'a Model<'a>,
    run: &'a Run<'a>,
    layout: &'a Layout,
    states: Box<dyn Searches + 'a>,
}

/// The places of a program's states.
pub(super) struct Packing(Layout);

impl Packing {
    /// Returns the places of the states of a program; `None` if they cannot be packed.
    pub(super) fn new(model: &Model<'_>) -> Option<Packing> {
        if is_passive(model.program()) { None } else { Layout::new(model).map(Packing) }
    }

    /// Returns a search that has not begun.
    pub(super) fn search<'a>(&'a self, model: &'a Model<'a>, run: &'a Run<'a>) -> Search<'a> {
        fn of<'a, const W: usize>(
            model: &'a Model<'a>,
            layout: &'a Layout,
            run: &'a Run<'a>,
        ) -> Box<dyn Searches + 'a> {
            Box::new(PackedSearch::<W>::new(model, layout, run))
        }
        let layout = &self.0;
        let states = match layout.n_words {
            0..=1 => of::<1>(model, layout, run),
            2 => of::<2>(model, layout, run),
            3 => of::<3>(model, layout, run),
            4 => of::<4>(model, layout, run),
            5..=6 => of::<6>(model, layout, run),
            7..=8 => of::<8>(model, layout, run),
            _ => of::<{ layout::MOST_WORDS }>(model, layout, run),
        };
        Search { model, run, layout, states }
    }
}

/// What a search over states of any size can do.
trait Searches {
    fn run(&mut self, visit: Visit) -> Result<Option<Error>, Stop>;
    fn note_stops(&mut self) -> Result<(), Stop>;
    fn len(&self) -> usize;
    /// Copies the words of a state.
    fn read(&self, number: usize, words: &mut Vec<u64>);
    fn path(&self, number: usize) -> Vec<usize>;
    /// The states with the initial threads.
    fn starts(&self) -> &[usize];
    fn met(&self) -> &FxHashMap<Error, Met>;
    fn is_reached(&self, edge: EdgeId) -> bool;
}

impl<const W: usize> Searches for PackedSearch<'_, W> {
    fn run(&mut self, visit: Visit) -> Result<Option<Error>, Stop> {
        PackedSearch::run(self, visit)
    }

    fn note_stops(&mut self) -> Result<(), Stop> {
        PackedSearch::note_stops(self)
    }

    fn len(&self) -> usize {
        self.set.len()
    }

    fn read(&self, number: usize, words: &mut Vec<u64>) {
        words.clear();
        words.extend(self.set.get(number));
    }

    fn path(&self, number: usize) -> Vec<usize> {
        self.set.path(number)
    }

    fn starts(&self) -> &[usize] {
        &self.starts
    }

    fn met(&self) -> &FxHashMap<Error, Met> {
        &self.met
    }

    fn is_reached(&self, edge: EdgeId) -> bool {
        self.asserts[edge.index()]
    }
}

impl<'a> Search<'a> {
    /// Finds all states, or those up to an error of the target.
    pub(super) fn run(&mut self, visit: Visit) -> Result<Option<Error>, Stop> {
        self.states.run(visit)
    }

    /// Returns an execution that ends in an error, the first one of the target on its way.
    pub(super) fn first_trace(&self, error: Error) -> Result<Trace, Stop> {
        self.before(error)?.first_trace(error)
    }

    /// Returns the errors, each with its execution, and the assertions that are not reached.
    pub(super) fn findings(&mut self) -> Result<Findings, Stop> {
        self.states.note_stops()?;
        let task = self.model.task;
        let trace = |search: &mut Self, error: Error| {
            search.states.met().contains_key(&error).then(|| search.before(error)?.trace(error)).transpose()
        };
        crate::bounded::findings(&task, self, trace, |search, edge| search.states.is_reached(edge))
    }

    /// Returns a search that knows the states on the way to an error.
    fn before(&self, error: Error) -> Result<ExplicitSearch<'a>, Stop> {
        let Met { state, by } = &self.states.met()[&error];
        let path = self.states.path(*state);
        let mut search = self.search_with(path.iter().copied())?;
        let by = by.clone().map(|local| search.parts.local(local));
        search.met.insert(error, MetBefore { state: path.len() - 1, by });
        Ok(search)
    }

    /// Returns a search that has found some states, each from the one before.
    fn search_with(&self, numbers: impl Iterator<Item = usize>) -> Result<ExplicitSearch<'a>, Stop> {
        let mut search = ExplicitSearch::new(self.model, PartialOrder::Off, self.run);
        let mut words = Vec::new();
        for (at, number) in numbers.enumerate() {
            self.run.tick()?;
            self.states.read(number, &mut words);
            let mut state = State { created: self.layout.created(&words), ..State::default() };
            state.shared = search.parts.shared(self.layout.shared(self.model, &words));
            for (holds, local) in self.layout.locals(self.model, &words) {
                let local = search.parts.local(local);
                if holds { state.holder = Some(local) } else { state.threads.push(local) }
            }
            state.threads.sort_unstable();
            search.store.add(&state).expect("the states are different");
            search.parents.push(at.saturating_sub(1) as u32);
        }
        Ok(search)
    }

    /// Returns the certificate of a search without errors; `None` if it would be too large. With more states than
    /// `most_listed` it names the first ones only.
    pub(super) fn certificate(&self, most_listed: usize) -> Result<Option<Certificate>, Stop> {
        if self.states.len() > most_listed {
            let first = self.first()?;
            if self.fits(&first) {
                return certificate::certificate(&self.search_with(first.into_iter())?, Seen::Reached);
            }
        }
        certificate::certificate(&self.search_with(0..self.states.len())?, Seen::All)
    }

    /// Returns the states that a proof has to name: those of the prelude, and those with the initial threads.
    fn first(&self) -> Result<Vec<usize>, Stop> {
        let mut words = Vec::new();
        let mut first = self.states.starts().to_vec();
        let n_searched = if self.model.program().prelude.is_some() { self.states.len() } else { 0 };
        for number in 0..n_searched {
            self.run.tick()?;
            self.states.read(number, &mut words);
            if words[0] & PRELUDE != 0 {
                first.push(number);
            }
        }
        first.sort_unstable();
        first.dedup();
        Ok(first)
    }

    /// Returns whether the judge has room for the values of some states, those of the shared variables and of all
    /// threads, and for the values of each thread.
    fn fits(&self, first: &[usize]) -> bool {
        let n_shared = self.model.proof_shared().len();
        let widths: FxHashMap<LocId, usize> =
            self.model.places().iter().map(|place| (place.loc, place.vars.len())).collect();
        let mut words = Vec::new();
        let is_narrow = |number: &usize| {
            self.states.read(*number, &mut words);
            let locals = self.layout.locals(self.model, &words);
            n_shared + locals.iter().map(|(_, local)| widths[&local.loc]).sum::<usize>() <= MOST_BITS
        };
        widths.values().all(|width| *width <= MOST_BITS) && first.iter().all(is_narrow)
    }

    /// Returns the visible states of threads.
    pub(super) fn exploration(&self) -> Result<Exploration, Stop> {
        let mut seen = ThreadStates::new(self.model, self.run);
        let mut words = Vec::new();
        for number in 0..self.states.len() {
            self.states.read(number, &mut words);
            let locals = self.layout.locals(self.model, &words).into_iter().map(|(_, local)| local);
            seen.add(self.layout.shared(self.model, &words), locals)?;
        }
        Ok(seen.exploration(self.states.len(), self.states.met().keys()))
    }
}

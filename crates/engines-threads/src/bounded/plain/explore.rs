//! The set of all reachable states, for comparisons.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Exploration, ThreadState};
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::LocId;
use selvedge_logic::bdd::{Bdd, Var};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::relation::{Layout, When};
use selvedge_transition::step::vars::Keep;

use super::ThreadsPlain;
use super::search::{PlainSearch, ThreadPlaces};
use crate::bounded::{Visit, thread_state};

impl ThreadsPlain {
    /// Visits all states, errors or not, and returns the visible states of their threads. States that differ only in
    /// the order of their threads are counted once.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let mut search = PlainSearch::new(task, run, Keep::All, Visit::All)?;
        search.run()?;
        let mut seen: BTreeMap<LocId, BTreeSet<ThreadState>> = BTreeMap::new();
        let mut states = BTreeSet::new();
        for (key, set) in &search.reached {
            run.tick()?;
            for (thread, place) in key.iter().enumerate() {
                if let Some(place) = place {
                    let here = seen.entry(place.loc).or_default();
                    here.extend(search.thread_states(key, set, thread, place.loc)?);
                }
            }
            states.extend(search.states(key, set));
        }
        let thread_states = seen.into_values().flatten().collect();
        let failing = search.failing.clone();
        Ok(Exploration { n_states: states.len(), thread_states, failing, ..Exploration::default() })
    }
}

/// A state of the whole program: the shared valuation, and the threads in order.
type Whole = (Vec<bool>, Vec<(Place, Vec<bool>)>);

impl PlainSearch<'_> {
    fn thread_states(
        &self,
        key: &ThreadPlaces,
        set: &Bdd,
        thread: usize,
        loc: LocId,
    ) -> Result<Vec<ThreadState>, Stop> {
        let others = (0..key.len()).filter(|other| *other != thread).flat_map(|other| self.layout.locals_now(other));
        let others = self.layout.manager.var_set(&others.collect::<Vec<_>>()).map_err(out_of_nodes)?;
        let set = set.exists(&others).map_err(out_of_nodes)?;
        let shared = self.layout.shared_now();
        let vars: Vec<Var> = shared.iter().copied().chain(self.visible(thread, loc)).collect();
        let n_thread_vars = self.layout.slots.thread_vars.len();
        Ok(set.assignments(&vars).map(|values| thread_state(loc, shared.len(), n_thread_vars, values)).collect())
    }

    fn visible(&self, thread: usize, loc: LocId) -> Vec<Var> {
        let visible = self.layout.slots.visible(self.program, loc);
        visible.into_iter().map(|var| self.layout.position(var, thread, When::Now)).collect()
    }

    /// Returns all states of a set, their threads sorted.
    fn states(&self, key: &ThreadPlaces, set: &Bdd) -> Vec<Whole> {
        let shared = self.layout.shared_now();
        let live: Vec<(usize, Place)> =
            key.iter().enumerate().filter_map(|(thread, place)| place.map(|place| (thread, place))).collect();
        let locals: Vec<Vec<Var>> = live.iter().map(|(thread, place)| self.visible(*thread, place.loc)).collect();
        let vars: Vec<Var> = shared.iter().chain(locals.iter().flatten()).copied().collect();
        let state = |values: Vec<bool>| {
            let mut values = values.into_iter();
            let shared: Vec<bool> = values.by_ref().take(shared.len()).collect();
            let thread = |((_, place), vars): (&(usize, Place), &Vec<Var>)| {
                (*place, values.by_ref().take(vars.len()).collect::<Vec<bool>>())
            };
            let mut threads: Vec<(Place, Vec<bool>)> = live.iter().zip(&locals).map(thread).collect();
            threads.sort();
            (shared, threads)
        };
        set.assignments(&vars).map(state).collect()
    }
}

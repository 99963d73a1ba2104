//! The set of all reachable states, for comparisons.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Exploration, ThreadState};
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::LocId;
use selvedge_logic::bdd::Bdd;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;

use super::search::SymbolicSearch;
use super::state::places;
use super::{Options, Reductions, Threads};
use crate::bounded::{Visit, thread_state};

impl Threads {
    /// Visits all states, errors or not, without reductions, and returns the visible states of their threads. States
    /// are merged if the options say so.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let options = Options { reductions: Reductions::NONE, ..self.options.clone() };
        let mut search = SymbolicSearch::new(task, run, &options, Visit::All)?;
        search.run()?;
        let n_states = search.states(run)?.len();
        let failing = search.machine.failing.clone();
        Ok(Exploration { n_states, thread_states: search.thread_states(run)?, failing, ..Exploration::default() })
    }
}

/// A state of the whole program: the shared valuation, and the threads in order.
type Whole = (Vec<bool>, Vec<(Place, Vec<bool>)>);

impl SymbolicSearch<'_> {
    fn thread_states(&self, run: &Run<'_>) -> Result<BTreeSet<ThreadState>, Stop> {
        let mut seen: BTreeMap<LocId, Bdd> = BTreeMap::new();
        for node in &self.nodes {
            for pair in &node.marking.pairs {
                run.tick()?;
                let set = node.shared.and(self.machine.sets.get(pair.set)).map_err(out_of_nodes)?;
                let known = seen.entry(pair.place.loc).or_insert_with(|| self.machine.layout.manager.bottom());
                *known = known.or(&set).map_err(out_of_nodes)?;
            }
        }
        let mut states = BTreeSet::new();
        for (loc, set) in seen {
            states.extend(self.states_at(loc, &set));
        }
        Ok(states)
    }

    fn states_at(&self, loc: LocId, set: &Bdd) -> Vec<ThreadState> {
        let (layout, program) = (&self.machine.layout, self.machine.program);
        let (shared, locals) = layout.now(Who::Mover);
        let visible = layout.visible(program, loc);
        let vars: Vec<_> = shared.iter().copied().chain(visible.iter().map(|var| locals[layout.slot(*var)])).collect();
        let n_thread_vars = layout.thread_vars().len();
        set.assignments(&vars).map(|values| thread_state(loc, shared.len(), n_thread_vars, values)).collect()
    }

    /// Returns all states of the whole program.
    fn states(&self, run: &Run<'_>) -> Result<BTreeSet<Whole>, Stop> {
        let layout = &self.machine.layout;
        let (shared_vars, local_vars) = layout.now(Who::Mover);
        let mut states = BTreeSet::new();
        for node in &self.nodes {
            let mut markings: Vec<Vec<(Place, Vec<bool>)>> = vec![Vec::new()];
            let sets = node.marking.pairs.iter().flat_map(|pair| std::iter::repeat_n(pair.set, pair.count as usize));
            for (place, set) in places(&node.marking.pairs).into_iter().zip(sets) {
                run.tick()?;
                let visible = layout.visible(self.machine.program, place.loc);
                let vars: Vec<_> = visible.iter().map(|var| local_vars[layout.slot(*var)]).collect();
                let values: Vec<Vec<bool>> = self.machine.sets.get(set).assignments(&vars).collect();
                let with = |marking: &Vec<_>| {
                    values.iter().map(|own| [&marking[..], &[(place, own.clone())]].concat()).collect::<Vec<_>>()
                };
                markings = markings.iter().flat_map(with).collect();
            }
            for shared in node.shared.assignments(&shared_vars) {
                for marking in &markings {
                    let mut marking = marking.clone();
                    marking.sort();
                    states.insert((shared.clone(), marking));
                }
            }
        }
        Ok(states)
    }
}

//! The set of all reachable states: one by one, for comparisons, or as sets.
//!
//! [`Threads::observe`] merges steps that other threads cannot observe, and keeps only the values that are asked for.
//! *Order of work.* The search; then, for each location where threads are visible, the set of their states; from there
//! along the steps that others cannot observe, each location after those that lead to it; then the paths of each
//! diagram. *End.* There is no cycle of such steps without a visible point. *Right.* See
//! [`observed`](selvedge_transition::macro_step::visible_points::VisiblePoints::observed): what a thread can be inside
//! of a block depends on the state before it alone. Each path of a diagram is a set of states of its own, and all
//! paths together are all states.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Exploration, Role, Run, Stop, Task, ThreadState, ValuesAsked};
use selvedge_ir::{LocId, VarId};
use selvedge_logic::bdd::{Bdd, Var};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::sets::Followed;
use selvedge_transition::macro_step::visible_points::invisible;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::machine::Machine;
use super::search::SymbolicSearch;
use super::state::places;
use super::{Options, PartialOrder, Reductions, Threads};
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

    /// Visits all states, errors or not, and returns the visible states of their threads as far as values are asked
    /// for.
    pub(super) fn observe(&self, task: &Task<'_>, asked: ValuesAsked<'_>, run: &Run<'_>) -> Result<Exploration, Stop> {
        let machine = Machine::observing(task, run, self.options.reductions.compress, asked)?;
        let mut search = SymbolicSearch::on(machine, PartialOrder::Off, self.options.merge);
        search.run()?;
        let (n_states, failing) = (search.nodes.len(), search.machine.failing.clone());
        let mut thread_states = BTreeSet::new();
        for (loc, set) in search.observed()? {
            search.paths_at(loc, &set, asked, &mut thread_states)?;
        }
        Ok(Exploration { n_states, in_sets: true, thread_states, failing, ..Exploration::default() })
    }
}

/// A state of the whole program: the shared valuation, and the threads in order.
type Whole = (Vec<bool>, Vec<(Place, Vec<bool>)>);

impl SymbolicSearch<'_> {
    /// Returns the states of the threads at visible points, by location.
    fn visible_states(&self, run: &Run<'_>) -> Result<BTreeMap<LocId, Bdd>, Stop> {
        let mut seen: BTreeMap<LocId, Bdd> = BTreeMap::new();
        for node in &self.nodes {
            for pair in &node.marking.pairs {
                run.tick()?;
                self.machine.layout.manager.tidy();
                let set = node.shared.and(self.machine.sets.get(pair.set)).map_err(out_of_nodes)?;
                let known = seen.entry(pair.place.loc).or_insert_with(|| self.machine.layout.manager.bottom());
                *known = known.or(&set).map_err(out_of_nodes)?;
            }
        }
        Ok(seen)
    }

    /// Returns the states of the threads by location, also inside of blocks.
    fn observed(&mut self) -> Result<BTreeMap<LocId, Bdd>, Stop> {
        let (program, run) = (self.machine.program, self.machine.run);
        let mut seen = self.visible_states(run)?;
        let invisible = invisible(program);
        let rank = |machine: &Machine<'_>, loc: LocId| {
            machine.ranks.get(Place { role: Role::Prelude, loc }).map_or(0, |rank| rank + 1)
        };
        let mut waiting: BTreeSet<(usize, LocId)> = seen.keys().map(|loc| (0, *loc)).collect();
        while let Some((_, loc)) = waiting.pop_first() {
            for id in self.machine.flow.out(loc).to_vec() {
                run.tick()?;
                self.machine.layout.manager.tidy();
                let to = program.edges[id].to;
                let ends = to == program.procs[program.locs[loc].proc].exit;
                if ends || !invisible.contains(id.index()) || self.machine.visible_points.is_stop(to) {
                    continue;
                }
                let (from, place) = (seen[&loc].clone(), Place { role: Role::Prelude, loc });
                let Machine { steps, layout, .. } = &mut self.machine;
                let followed = steps.follow((program, layout), id, (place, &from), false).map_err(out_of_nodes)?;
                let Followed::Moved(image, _) = followed else { continue };
                let known = seen.entry(to).or_insert_with(|| layout.manager.bottom());
                *known = known.or(&image).map_err(out_of_nodes)?;
                waiting.insert((rank(&self.machine, to), to));
            }
        }
        Ok(seen)
    }

    /// Adds the states of a set at a location: for each path of its diagram one, as far as values are asked for.
    fn paths_at(
        &self,
        loc: LocId,
        set: &Bdd,
        asked: ValuesAsked<'_>,
        states: &mut BTreeSet<ThreadState>,
    ) -> Result<(), Stop> {
        let (layout, program) = (&self.machine.layout, self.machine.program);
        let (shared, locals) = layout.now(Who::Mover);
        let shared_vars = layout.slots().shared.iter().copied().zip(shared.iter().copied());
        let own = layout.visible(program, loc).into_iter().map(|var| (var, locals[layout.slot(var)]));
        let vars: Vec<(VarId, Var)> = shared_vars.chain(own).collect();
        let (wanted, others): (Vec<_>, Vec<_>) = vars.iter().copied().partition(|(var, _)| asked(loc, *var));
        let others: Vec<Var> = others.into_iter().map(|(_, var)| var).collect();
        let set = set.exists(&layout.manager.var_set(&others).map_err(out_of_nodes)?).map_err(out_of_nodes)?;
        let n_thread_vars = layout.thread_vars().len();
        let mut waiting: Vec<(Bdd, Vec<(Var, bool)>)> = vec![(set, Vec::new())];
        while let Some((set, path)) = waiting.pop() {
            self.machine.run.tick()?;
            if set.is_false() {
                continue;
            }
            if let Some((var, high, low)) = set.decision() {
                waiting.push((high, path.iter().copied().chain([(var, true)]).collect()));
                waiting.push((low, path.into_iter().chain([(var, false)]).collect()));
                continue;
            }
            let value = |var: Var| path.iter().find(|(other, _)| *other == var).map(|(_, value)| *value);
            let values = vars.iter().map(|(_, var)| value(*var).unwrap_or(false)).collect();
            let is_free = |(_, var): &&(VarId, Var)| value(*var).is_none();
            let mut free: Vec<VarId> = wanted.iter().filter(is_free).map(|(var, _)| *var).collect();
            free.sort_unstable();
            states.insert(ThreadState { free, ..thread_state(loc, shared.len(), n_thread_vars, values) });
        }
        Ok(())
    }

    fn thread_states(&self, run: &Run<'_>) -> Result<BTreeSet<ThreadState>, Stop> {
        let mut states = BTreeSet::new();
        for (loc, set) in self.visible_states(run)? {
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

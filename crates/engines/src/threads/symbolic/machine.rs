//! What the search knows of the program: relations, stops, sets; and how a run begins.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use selvedge_check::{Role, Run, Stop, Task, ThreadScope};
use selvedge_ir::flow::Flow;
use selvedge_ir::{EdgeId, EntryId, LocId, Op, Program, Target};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};

use super::layout::{Layout, When, Who};
use super::state::{SetId, Sets};
use super::step::Steps;
use crate::threads::Reductions;
use crate::threads::place::Place;
use crate::threads::stops::Stops;
use crate::threads::vars::{Keep, crews};

/// How far to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// To the first error.
    UntilError,
    /// Everything, also behind errors.
    All,
}

/// The program, and all that is derived from it.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) run: &'a Run<'a>,
    pub(super) visit: Visit,
    pub(super) bound: u32,
    /// Whether threads that have ended count for the bound.
    pub(super) counts_ended: bool,
    pub(super) layout: Layout,
    pub(super) steps: Steps,
    pub(super) stops: Stops,
    pub(super) flow: Flow,
    pub(super) sets: Sets,
    /// The assertions that were seen to fail.
    pub(super) failing: BTreeSet<EdgeId>,
    /// For locations that are no stops, of threads that are alone or not: the later, the further inside a block.
    ranks: FxHashMap<(bool, LocId), usize>,
    /// See [`Machine::concerns_others`].
    concerning: FxHashMap<Place, bool>,
    /// The initial threads of each kind as a relation between shared and local variables.
    entries: FxHashMap<EntryId, Bdd>,
}

/// A way in which a run begins: shared valuations, and threads.
pub(super) struct Beginning {
    pub(super) shared: Bdd,
    pub(super) threads: Vec<(Place, SetId)>,
}

/// Running out of nodes ends a check like any other limit.
pub(super) fn out_of_nodes(error: OutOfNodes) -> Stop {
    Stop::NodeLimit(error.limit)
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        task: &Task<'a>,
        run: &'a Run<'a>,
        reductions: Reductions,
        visit: Visit,
    ) -> Result<Machine<'a>, Stop> {
        let program = task.program;
        let keep = if reductions.dead { Keep::Live } else { Keep::All };
        let limits = run.memory_limit().map_or(Limits::default(), Limits::memory);
        let stops = if reductions.compress { Stops::few(program, task.target) } else { Stops::everywhere(program) };
        let flow = Flow::new(program);
        Ok(Machine {
            layout: Layout::new(program, keep, limits).map_err(out_of_nodes)?,
            steps: Steps::new(program),
            ranks: ranks(program, &flow, &stops),
            bound: crate::threads::bound(task),
            counts_ended: matches!(task.threads, ThreadScope::Created(_)),
            target: task.target,
            sets: Sets::default(),
            failing: BTreeSet::new(),
            entries: FxHashMap::default(),
            concerning: FxHashMap::default(),
            program,
            run,
            visit,
            stops,
            flow,
        })
    }

    /// Whether a thread is seen at a place.
    pub(super) fn is_stop(&self, place: Place) -> bool {
        if place.is_alone() { self.stops.is_stop_alone(place.loc) } else { self.stops.is_stop(place.loc) }
    }

    /// When a location inside a block is looked at: after all that lead to it.
    pub(super) fn rank(&self, place: Place) -> usize {
        self.ranks.get(&(place.is_alone(), place.loc)).copied().unwrap_or(0)
    }

    /// Whether a block that begins at a place may have a step with passive parts, so that it depends on the other
    /// threads.
    pub(super) fn concerns_others(&mut self, begin: Place) -> bool {
        if let Some(known) = self.concerning.get(&begin) {
            return *known;
        }
        let (mut seen, mut waiting, mut concerns) = (BTreeSet::from([begin]), vec![begin], false);
        while let Some(place) = waiting.pop() {
            for id in self.flow.out(place.loc) {
                let op = &self.program.edges[*id].op;
                concerns |= matches!(op, Op::Assign(assign) if assign.is_passive());
                let next = self.next(place, *id);
                if !self.is_stop(next) && seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        self.concerning.insert(begin, concerns);
        concerns
    }

    /// The shared valuations at the start.
    pub(super) fn start(&self) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let mut start = layout.manager.verum();
        for (var, rhs) in &self.program.init {
            start = start.and(&layout.bdd(*var, Who::Mover, When::Now)?.iff(&layout.expr(rhs)?)?)?;
        }
        let start = start.exists(&layout.all_choices)?;
        let dead: Vec<_> = layout.dead_shared().iter().map(|var| layout.var(*var, Who::Mover, When::Now)).collect();
        start.exists(&layout.manager.var_set(&dead)?)
    }

    /// The place and the valuations of the prelude's thread, if there is one.
    pub(super) fn prelude(&mut self) -> Result<Option<(Place, SetId)>, OutOfNodes> {
        let Some(proc) = self.program.prelude else { return Ok(None) };
        let place = Place { role: Role::Prelude, loc: self.program.procs[proc].entry };
        let layout = &self.layout;
        let kept = layout.thread_vars().iter().filter(|var| layout.kept(place.loc).contains(var));
        let all_false: Vec<_> = kept.map(|var| (layout.var(*var, Who::Mover, When::Now), false)).collect();
        let set = layout.manager.cube(&all_false)?;
        Ok(Some((place, self.sets.id(&set))))
    }

    /// The initial threads come to life: for each crew that the program and the bound allow, the shared valuations are
    /// split so that the valuations of the threads do not depend on them.
    pub(super) fn begin(&mut self, shared: &Bdd) -> Result<Vec<Beginning>, Stop> {
        let mut beginnings = Vec::new();
        for crew in crews(self.program, self.bound) {
            let mut parts = vec![Beginning { shared: shared.clone(), threads: Vec::new() }];
            for (entry, count) in crew.into_iter().filter(|(_, count)| *count > 0) {
                self.run.tick()?;
                parts = self.with_threads(parts, entry, count).map_err(out_of_nodes)?;
            }
            beginnings.append(&mut parts);
        }
        Ok(beginnings)
    }

    fn with_threads(
        &mut self,
        parts: Vec<Beginning>,
        entry: EntryId,
        count: u32,
    ) -> Result<Vec<Beginning>, OutOfNodes> {
        let relation = self.entry(entry)?;
        let loc = self.program.procs[self.program.entries[entry].proc].entry;
        let place = Place { role: Role::Free(entry), loc };
        let mut split = Vec::new();
        for part in parts {
            for row in part.shared.and(&relation)?.split_at(self.layout.local_cut)? {
                let set = self.sets.id(&row.below);
                let mut threads = part.threads.clone();
                threads.extend(std::iter::repeat_n((place, set), count as usize));
                split.push(Beginning { shared: row.above, threads });
            }
        }
        Ok(split)
    }

    /// The valuations of an initial thread, by the shared valuation at its start.
    fn entry(&mut self, id: EntryId) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.entries.get(&id) {
            return Ok(known.clone());
        }
        let (layout, entry) = (&self.layout, &self.program.entries[id]);
        let loc = self.program.procs[entry.proc].entry;
        let mut relation = layout.manager.verum();
        for (var, rhs) in &entry.init {
            relation = relation.and(&layout.bdd(*var, Who::Mover, When::Now)?.iff(&layout.expr(rhs)?)?)?;
        }
        for var in layout.thread_vars().iter().filter(|var| !entry.thread_vars.contains(var)) {
            relation = relation.minus(&layout.bdd(*var, Who::Mover, When::Now)?)?;
        }
        let dead: Vec<_> = layout.dead(loc).iter().map(|var| layout.var(*var, Who::Mover, When::Now)).collect();
        let relation = relation.exists(&layout.all_choices)?.exists(&layout.manager.var_set(&dead)?)?;
        self.entries.insert(id, relation.clone());
        Ok(relation)
    }
}

/// A topological order of the locations that are no stops, for threads that are alone or not: the reverse of the order
/// in which a depth-first search leaves them. Between two of them there is no cycle, since each cycle has a stop.
fn ranks(program: &Program, flow: &Flow, stops: &Stops) -> FxHashMap<(bool, LocId), usize> {
    let is_stop = |(alone, loc): (bool, LocId)| if alone { stops.is_stop_alone(loc) } else { stops.is_stop(loc) };
    let next = |(alone, loc): (bool, LocId)| -> Vec<(bool, LocId)> {
        let mut next = Vec::new();
        for edge in flow.out(loc).iter().map(|edge| &program.edges[*edge]) {
            next.push((alone || edge.op == Op::AtomicBegin, edge.to));
            if alone && edge.op == Op::AtomicEnd {
                next.push((false, edge.to));
            }
        }
        next
    };
    let mut entered: BTreeSet<(bool, LocId)> = BTreeSet::new();
    let mut left: Vec<(bool, LocId)> = Vec::new();
    for root in [false, true].into_iter().flat_map(|alone| program.locs.indices().map(move |loc| (alone, loc))) {
        if is_stop(root) || !entered.insert(root) {
            continue;
        }
        let mut path = vec![(root, next(root))];
        while let Some((node, rest)) = path.last_mut() {
            match rest.pop() {
                Some(to) if is_stop(to) || !entered.insert(to) => {}
                Some(to) => path.push((to, next(to))),
                None => {
                    left.push(*node);
                    path.pop();
                }
            }
        }
    }
    left.into_iter().rev().enumerate().map(|(rank, node)| (node, rank)).collect()
}

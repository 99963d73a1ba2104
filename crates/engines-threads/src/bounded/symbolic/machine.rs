//! The program as the search uses it: relations, visible points, sets; and the beginnings of runs.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_check::{Role, Run, Stop, Task, ThreadScope, ValuesAsked};
use selvedge_ir::flow::Flow;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::{EdgeId, EntryId, LocId, Op, Program, Target, VarId};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::VisiblePoints;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::PairLayout;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::step::Steps;
use selvedge_transition::step::diagram::threads::ThreadLayout;
use selvedge_transition::step::vars::{Keep, initial_counts};

use super::block::Outcome;
use super::state::{SetId, Sets};
use crate::bounded::{Reductions, Visit};

/// The meaning of a step that would start a thread beyond the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Full {
    /// The step starts no thread.
    #[default]
    Skips,
    /// The step cannot be made: then every execution is one of the program without bound.
    Blocks,
}

/// The program, and all data derived from it.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) target: &'a Target,
    pub(crate) run: &'a Run<'a>,
    pub(super) visit: Visit,
    pub(super) bound: u32,
    pub(super) full: Full,
    /// True if a step would have started a thread beyond the bound.
    pub(super) was_full: bool,
    /// True if threads that have ended count for the bound.
    pub(super) counts_ended: bool,
    pub(crate) layout: PairLayout,
    pub(super) steps: Steps,
    pub(super) visible_points: VisiblePoints,
    pub(super) flow: Flow,
    pub(crate) sets: Sets,
    /// The assertions that were seen to fail.
    pub(super) failing: BTreeSet<EdgeId>,
    /// The locations at which a thread was.
    pub(super) locs: FixedBitSet,
    pub(super) ranks: Ranks,
    /// See [`Machine::concerns_others`].
    concerning: FxHashMap<Place, bool>,
}

fn limits(run: &Run<'_>) -> Limits {
    run.memory_limit().map_or(Limits::default(), Limits::memory)
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        task: &Task<'a>,
        run: &'a Run<'a>,
        reductions: Reductions,
        visit: Visit,
    ) -> Result<Machine<'a>, Stop> {
        let program = task.program;
        let keep = if reductions.dead { Keep::Live } else { Keep::All };
        let layout = PairLayout::new(program, keep, limits(run)).map_err(out_of_nodes)?;
        let visible_points = if reductions.compress {
            VisiblePoints::few(program, task.target)
        } else {
            VisiblePoints::everywhere(program)
        };
        Ok(Machine::with(task, run, layout, visible_points, visit))
    }

    /// Creates the machine for a visit of everything that keeps the values that are asked for.
    pub(super) fn observing(
        task: &Task<'a>,
        run: &'a Run<'a>,
        compress: bool,
        asked: ValuesAsked<'_>,
    ) -> Result<Machine<'a>, Stop> {
        let program = task.program;
        let liveness = Liveness::among_threads(program);
        let is_kept = |loc: LocId, var: VarId| asked(loc, var) || liveness.is_live(loc, var);
        let layout = PairLayout::keeping(program, &is_kept, limits(run)).map_err(out_of_nodes)?;
        let visible_points =
            if compress { VisiblePoints::observed(program) } else { VisiblePoints::everywhere(program) };
        Ok(Machine::with(task, run, layout, visible_points, Visit::All))
    }

    fn with(
        task: &Task<'a>,
        run: &'a Run<'a>,
        layout: PairLayout,
        visible_points: VisiblePoints,
        visit: Visit,
    ) -> Machine<'a> {
        let program = task.program;
        let flow = Flow::new(program);
        Machine {
            layout,
            steps: Steps::new(program),
            ranks: Ranks::new(program, &flow, &visible_points),
            bound: selvedge_transition::support::bound(task),
            full: Full::default(),
            was_full: false,
            counts_ended: matches!(task.threads, ThreadScope::Created(_)),
            target: task.target,
            sets: Sets::default(),
            failing: BTreeSet::new(),
            locs: FixedBitSet::with_capacity(program.locs.len()),
            concerning: FxHashMap::default(),
            program,
            run,
            visit,
            visible_points,
            flow,
        }
    }

    /// Returns whether a block that begins at a place may have a step with passive parts, so that it depends on the
    /// other threads.
    pub(super) fn concerns_others(&mut self, begin: Place) -> bool {
        if let Some(known) = self.concerning.get(&begin) {
            return *known;
        }
        let edges = self.ranks.block_edges(self.program, &self.flow, begin).into_iter();
        let mut ops = edges.map(|edge| &self.program.edges[edge].op);
        let concerns = ops.any(|op| matches!(op, Op::Assign(assign) if assign.is_passive()));
        self.concerning.insert(begin, concerns);
        concerns
    }

    /// Returns the place and the valuations of the prelude's thread, if there is one.
    pub(crate) fn prelude(&mut self) -> Result<Option<(Place, SetId)>, OutOfNodes> {
        let Some(proc) = self.program.prelude else { return Ok(None) };
        let place = Place { role: Role::Prelude, loc: self.program.procs[proc].entry };
        let set = self.layout.prelude(Who::Mover, place.loc)?;
        Ok(Some((place, self.sets.id(&set))))
    }

    /// Returns the beginnings with the initial threads: for each marking that the program and the bound allow, the
    /// shared valuations are split so that the valuations of the threads do not depend on them.
    pub(super) fn begin(&mut self, shared: &Bdd) -> Result<Vec<Outcome>, Stop> {
        let relations = self.initial_relations().map_err(out_of_nodes)?;
        let mut beginnings = Vec::new();
        for marking in initial_counts(self.program, self.bound) {
            let mut parts = vec![Outcome::nothing(shared.clone())];
            for (entry, count) in marking.into_iter().filter(|(_, count)| *count > 0) {
                self.run.tick()?;
                parts = self.with_threads(parts, entry, &relations[entry], count).map_err(out_of_nodes)?;
            }
            beginnings.append(&mut parts);
        }
        Ok(beginnings)
    }

    /// Returns the valuations of initial threads, by the shared valuation at their start.
    pub(crate) fn initial_relations(&self) -> Result<IndexVec<EntryId, Bdd>, OutOfNodes> {
        self.program.entries.indices().map(|id| self.layout.entry(self.program, Who::Mover, id)).collect()
    }

    /// Adds a number of initial threads to some beginnings.
    pub(crate) fn with_threads(
        &mut self,
        parts: Vec<Outcome>,
        entry: EntryId,
        relation: &Bdd,
        count: u32,
    ) -> Result<Vec<Outcome>, OutOfNodes> {
        let loc = self.program.procs[self.program.entries[entry].proc].entry;
        let place = Place { role: Role::Free(entry), loc };
        let mut split = Vec::new();
        for part in parts {
            for row in part.shared.and(relation)?.split_at(self.layout.local_cut)? {
                let set = self.sets.id(&row.below);
                let mut children = part.children.clone();
                children.extend(std::iter::repeat_n((place, set), count as usize));
                split.push(Outcome { children, ..Outcome::nothing(row.above) });
            }
        }
        Ok(split)
    }
}

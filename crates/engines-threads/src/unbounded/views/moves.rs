//! The moves of a thread from a place to the next ones, as relations.
//!
//! The block of a place ([`selvedge_transition::macro_step::visible_points`]) is followed once, from all valuations at
//! the same time: the variables of the moving thread and the shared ones that the block assigns occur twice, as they
//! are at its beginning and as they are now. The result of the block is then a relation between the two, for each place
//! that it can end at. Locations inside are processed after all that lead to them, hence once. It ends because each
//! cycle has a visible point.
//!
//! A block starts at most one thread, and has at most one step with passive parts, since both are followed by a visible
//! point. The latter is its last step and depends on the other threads; the relation ends before it.

use std::collections::{BTreeSet, VecDeque};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use selvedge_check::Role;
use selvedge_ir::{EdgeId, Op, Scope, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, Var, VarSet};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::model::ViewModel;

/// All ways of a thread from a place to the next visible points.
pub(super) struct Moves {
    pub(super) outcomes: Vec<MoveOutcome>,
    /// The effects on other threads, each with whether the atomic flag is held afterwards: relations between the
    /// thread, the shared variables, and the new values of the latter. Outcomes that other threads cannot observe and
    /// steps with passive parts are left out.
    pub(super) effects: Vec<(bool, Bdd)>,
    /// The states of the thread in which it can come to an error on the way.
    pub(super) error: Bdd,
    /// The variables that an outcome replaces: the moving thread's, and the shared ones that the block assigns.
    pub(super) forget: VarSet,
    /// The shared variables among them.
    pub(super) forget_shared: VarSet,
    /// Renames new values to present ones.
    pub(super) rename: Renaming,
}

/// One way to a next visible point.
pub(super) struct MoveOutcome {
    /// The place of the thread afterwards, unless it has ended.
    pub(super) to: Option<Place>,
    /// The place of a thread that it has started.
    pub(super) child: Option<Place>,
    /// Relates the values at the beginning to the new ones, and to those of the started thread.
    pub(super) relation: Bdd,
    /// A last step with passive parts, which comes after the relation.
    pub(super) passive: Option<EdgeId>,
}

impl Moves {
    /// Returns whether other threads can observe the outcome.
    pub(super) fn is_observable(&self) -> bool {
        !self.effects.is_empty() || self.outcomes.iter().any(|outcome| outcome.passive.is_some())
    }
}

/// The places of the moving thread and of a started one.
type BlockPlace = (Option<Place>, Option<Place>);

/// A block that is being followed.
struct OpenBlock {
    items: IndexMap<BlockPlace, Bdd, FxBuildHasher>,
    waiting: BTreeSet<(usize, usize)>,
    ends: Vec<usize>,
    passive: Vec<(Place, EdgeId, Bdd)>,
    /// The states of items that are errors.
    errors: Bdd,
}

impl ViewModel<'_> {
    /// Computes the moves from a place.
    pub(super) fn follow(&mut self, begin: Place) -> Result<Moves, OutOfNodes> {
        let assigned = self.assigned_shared(begin);
        let block = self.block(begin, &assigned)?;
        let mut present: Vec<Var> = assigned.iter().map(|var| self.layout.shared_moments(*var)[1]).collect();
        let forget_shared = self.layout.manager.var_set(&present)?;
        present.extend(self.layout.mover_moments().map(|[_, now, _]| now));
        let moments: Vec<[Var; 3]> = self.moments(&assigned);
        let back: Vec<(Var, Var)> = moments.iter().map(|[_, now, next]| (*next, *now)).collect();
        let on: Vec<(Var, Var)> =
            moments.iter().flat_map(|[begin, now, next]| [(*begin, *now), (*now, *next)]).collect();
        let on = self.layout.manager.renaming(&on);
        let mut outcomes = Vec::new();
        for end in &block.ends {
            let ((to, child), set) = block.items.get_index(*end).expect("ends are items");
            outcomes.push(MoveOutcome { to: *to, child: *child, relation: set.rename(&on)?, passive: None });
        }
        for (to, edge, set) in &block.passive {
            outcomes.push(MoveOutcome { to: Some(*to), child: None, relation: set.rename(&on)?, passive: Some(*edge) });
        }
        Ok(Moves {
            effects: self.effects(begin, &assigned, &outcomes)?,
            outcomes,
            error: block.errors.rename(&on)?,
            forget: self.layout.manager.var_set(&present)?,
            forget_shared,
            rename: self.layout.manager.renaming(&back),
        })
    }

    /// Returns the moments of assigned shared variables, and of all of the moving thread.
    fn moments(&self, assigned: &[VarId]) -> Vec<[Var; 3]> {
        let shared = assigned.iter().map(|var| self.layout.shared_moments(*var));
        shared.chain(self.layout.mover_moments()).collect()
    }

    /// Returns the shared variables that steps of a block assign, as far as they are kept.
    fn assigned_shared(&self, begin: Place) -> Vec<VarId> {
        let (mut seen, mut waiting) = (BTreeSet::from([begin]), VecDeque::from([begin]));
        let mut assigned = BTreeSet::new();
        while let Some(place) = waiting.pop_front() {
            for edge in self.flow.out(place.loc).iter().map(|id| &self.program.edges[*id]) {
                if let Op::Assign(assign) = &edge.op {
                    let targets = assign.active.iter().map(|(var, _)| *var);
                    assigned.extend(targets.filter(|var| self.program.vars[*var].scope == Scope::Shared));
                }
                let next = place.after(edge);
                if !next.is_stop(&self.visible_points) && seen.insert(next) {
                    waiting.push_back(next);
                }
            }
        }
        assigned.into_iter().filter(|var| self.layout.kept_shared().contains(var)).collect()
    }

    fn block(&mut self, begin: Place, assigned: &[VarId]) -> Result<OpenBlock, OutOfNodes> {
        let shared = assigned.iter().map(|var| self.layout.shared_moments(*var));
        let own = self.layout.kept(begin.loc).iter().map(|var| self.layout.own_moments(*var));
        let equal: Vec<(Var, Var)> = shared.chain(own).map(|[begin, now, _]| (begin, now)).collect();
        let first = self.layout.manager.equal(&equal)?;
        let mut block = OpenBlock {
            items: IndexMap::default(),
            waiting: BTreeSet::new(),
            ends: Vec::new(),
            passive: Vec::new(),
            errors: self.layout.manager.bottom(),
        };
        // The beginning is not an item: the block may end at the same place.
        self.steps_from(&mut block, (begin, None), &first)?;
        while let Some((_, item)) = block.waiting.pop_first() {
            let (places, set) = block.items.get_index(item).expect("waiting numbers are those of items");
            let ((Some(place), child), set) = (*places, set.clone()) else {
                unreachable!("threads that have ended do not wait")
            };
            self.steps_from(&mut block, (place, child), &set)?;
        }
        let mut now: Vec<Var> = self.moments(assigned).iter().map(|[_, now, _]| *now).collect();
        now.extend(self.layout.now(Who::Peer).1);
        now.extend(&self.layout.choices);
        block.errors = block.errors.exists(&self.layout.manager.var_set(&now)?)?;
        Ok(block)
    }

    /// Follows all edges from a set of states.
    fn steps_from(&mut self, block: &mut OpenBlock, at: (Place, Option<Place>), set: &Bdd) -> Result<(), OutOfNodes> {
        self.flow.out(at.0.loc).to_vec().into_iter().try_for_each(|edge| self.step(block, at, set, edge))
    }

    /// Follows an edge from a set of states.
    fn step(
        &mut self,
        block: &mut OpenBlock,
        (place, child): (Place, Option<Place>),
        set: &Bdd,
        id: EdgeId,
    ) -> Result<(), OutOfNodes> {
        let program = self.program;
        let edge = &program.edges[id];
        let to = place.after(edge);
        let (joint, child) = match &edge.op {
            Op::Return(_) | Op::End => {
                let ended = set.exists(&self.layout.all_locals)?;
                return self.arrive(block, (None, child), ended);
            }
            Op::Assign(assign) if assign.is_passive() => {
                block.passive.push((to, id, set.clone()));
                return Ok(());
            }
            Op::Assert(condition) => {
                if self.target.has_assert(id) {
                    let failing = self.steps.failing(&self.layout, id, condition)?;
                    block.errors = block.errors.or(&set.and(&failing)?)?;
                }
                (set.clone(), child)
            }
            Op::Fork(at) => (self.layout.forked(set, [Who::Mover, Who::Peer], *at)?, self.started(place, *at)),
            Op::Spawn(spawn) => {
                let at = program.procs[spawn.callee].entry;
                (self.layout.spawned(program, set, [Who::Mover, Who::Peer], spawn)?, self.started(place, at))
            }
            Op::Assign(_) | Op::AtomicBegin | Op::AtomicEnd => (set.clone(), child),
            Op::Call(_) => unreachable!("the engine supports programs without calls only"),
        };
        let step = self.steps.get(program, &self.layout, id)?;
        self.arrive(block, (Some(to), child), step.image(&joint)?)
    }

    fn started(&self, by: Place, at: selvedge_ir::LocId) -> Option<Place> {
        by.entry().map(|entry| Place { role: Role::Free(entry), loc: at })
    }

    fn arrive(&self, block: &mut OpenBlock, places: BlockPlace, set: Bdd) -> Result<(), OutOfNodes> {
        if set.is_false() {
            return Ok(());
        }
        let at_target = |place: Option<Place>| place.is_some_and(|place| self.target.has_loc(place.loc));
        if at_target(places.0) || at_target(places.1) {
            block.errors = block.errors.or(&set)?;
        }
        if let Some(known) = block.items.get_mut(&places) {
            *known = known.or(&set)?;
            return Ok(());
        }
        let (number, _) = block.items.insert_full(places, set);
        match places.0 {
            Some(place) if !place.is_stop(&self.visible_points) => {
                block.waiting.insert((self.ranks.get(place), number));
            }
            _ => block.ends.push(number),
        }
        Ok(())
    }

    /// Computes the effects of outcomes on other threads.
    fn effects(
        &self,
        begin: Place,
        assigned: &[VarId],
        outcomes: &[MoveOutcome],
    ) -> Result<Vec<(bool, Bdd)>, OutOfNodes> {
        let mut hidden: Vec<Var> = self.layout.mover_moments().map(|[_, _, next]| next).collect();
        hidden.extend(self.layout.now(Who::Peer).1);
        let hidden = self.layout.manager.var_set(&hidden)?;
        let same: Vec<(Var, Var)> =
            assigned.iter().map(|var| self.layout.shared_moments(*var)).map(|[_, now, next]| (now, next)).collect();
        let same = self.layout.manager.equal(&same)?;
        let mut effects: Vec<(bool, Bdd)> = Vec::new();
        for outcome in outcomes.iter().filter(|outcome| outcome.passive.is_none()) {
            let held = outcome.to.is_some_and(Place::is_alone);
            let mut effect = outcome.relation.exists(&hidden)?;
            if held == begin.is_alone() {
                effect = effect.minus(&same)?;
            }
            if effect.is_false() {
                continue;
            }
            match effects.iter_mut().find(|(known, _)| *known == held) {
                Some((_, known)) => *known = known.or(&effect)?,
                None => effects.push((held, effect)),
            }
        }
        Ok(effects)
    }
}

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

use std::collections::BTreeSet;

use selvedge_ir::{EdgeId, Op, Scope, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, Var, VarSet};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::sets::{Followed, Item, MacroStep};
use selvedge_transition::step::diagram::layout::Who;

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

/// A last step with passive parts: where it leads, its edge, and the states before it.
type PassiveStep = (Place, EdgeId, Bdd);

/// A block that is being followed, and the states of its items that are errors.
type OpenBlock = MacroStep<BlockPlace, Bdd>;

impl ViewModel<'_> {
    /// Computes the moves from a place.
    pub(super) fn follow(&mut self, begin: Place) -> Result<Moves, OutOfNodes> {
        let assigned = self.assigned_shared(begin);
        let (block, passive) = self.block(begin, &assigned)?;
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
            let Item { key: (to, child), set, .. } = &block.items[*end];
            outcomes.push(MoveOutcome { to: *to, child: *child, relation: set.rename(&on)?, passive: None });
        }
        for (to, edge, set) in &passive {
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
        let mut assigned = BTreeSet::new();
        for edge in self.ranks.block_edges(self.program, &self.flow, begin) {
            if let Op::Assign(assign) = &self.program.edges[edge].op {
                let targets = assign.active.iter().map(|(var, _)| *var);
                assigned.extend(targets.filter(|var| self.program.vars[*var].scope == Scope::Shared));
            }
        }
        assigned.into_iter().filter(|var| self.layout.kept_shared().contains(var)).collect()
    }

    /// Follows all steps from a place. Those with passive parts, which come last, are returned apart.
    fn block(&mut self, begin: Place, assigned: &[VarId]) -> Result<(OpenBlock, Vec<PassiveStep>), OutOfNodes> {
        let shared = assigned.iter().map(|var| self.layout.shared_moments(*var));
        let own = self.layout.kept(begin.loc).iter().map(|var| self.layout.own_moments(*var));
        let equal: Vec<(Var, Var)> = shared.chain(own).map(|[begin, now, _]| (begin, now)).collect();
        let first = self.layout.manager.equal(&equal)?;
        let mut block = OpenBlock::new((Some(begin), None), first, self.layout.manager.bottom());
        let mut passive = Vec::new();
        while let Some(item) = block.pop_waiting() {
            let place = block.items[item].key.0.expect("threads that have ended do not wait");
            for edge in self.flow.out(place.loc).to_vec() {
                match &self.program.edges[edge].op {
                    Op::Assign(assign) if assign.is_passive() => {
                        let to = place.after(&self.program.edges[edge]);
                        passive.push((to, edge, block.items[item].set.clone()));
                    }
                    _ => self.step(&mut block, item, place, edge)?,
                }
            }
        }
        let mut now: Vec<Var> = self.moments(assigned).iter().map(|[_, now, _]| *now).collect();
        now.extend(self.layout.now(Who::Peer).1);
        now.extend(&self.layout.choices);
        block.errors = block.errors.exists(&self.layout.manager.var_set(&now)?)?;
        Ok((block, passive))
    }

    /// Follows an edge from an item.
    fn step(&mut self, block: &mut OpenBlock, item: usize, place: Place, id: EdgeId) -> Result<(), OutOfNodes> {
        let Item { key: (_, child), set, .. } = &block.items[item];
        let child = *child;
        let edge = &self.program.edges[id];
        if let Some(failure) = edge.failure()
            && self.target.has_assert(id)
        {
            let failing = self.steps.failing(&self.layout, id, &failure)?;
            block.errors = block.errors.or(&set.and(&failing)?)?;
        }
        match self.steps.follow((self.program, &self.layout), id, (place, set), true)? {
            Followed::Ended(set) => self.arrive(block, (None, child), set, (item, id)),
            Followed::Moved(set, started) => {
                self.arrive(block, (Some(place.after(edge)), started.or(child)), set, (item, id))
            }
        }
    }

    fn arrive(&self, block: &mut OpenBlock, key: BlockPlace, set: Bdd, arc: (usize, EdgeId)) -> Result<(), OutOfNodes> {
        let at_target = |place: Option<Place>| place.is_some_and(|place| self.target.has_loc(place.loc));
        if at_target(key.0) || at_target(key.1) {
            block.errors = block.errors.or(&set)?;
        }
        let inside = key.0.and_then(|place| self.ranks.get(place));
        block.add(key, set, arc, inside).map(drop)
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

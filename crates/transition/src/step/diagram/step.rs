//! Edges as relations, translated when they are first needed.

use std::rc::Rc;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::{Assign, EdgeId, EntryId, Expr, LocId, ProcId, Program, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, VarSet};

use super::layout::{PairLayout, When, Who};
use super::relation::{Assignment, Layout};
use crate::step::passive::{Part, in_passive_parts, is_common};

pub use super::relation::Step;

impl PairLayout {
    /// Returns the states in which a step can be made, for some new values.
    pub fn domain(&self, step: &Step) -> Result<Bdd, OutOfNodes> {
        let next: Vec<_> = step.relation.support().into_iter().filter(|var| self.is_next(*var)).collect();
        step.relation.exists(&self.manager.var_set(&next)?)
    }
}

/// The relations of the edges that were met so far.
pub struct Steps {
    known: IndexVec<EdgeId, Option<Rc<Step>>>,
    failing: IndexVec<EdgeId, Option<Bdd>>,
    /// For assignments with passive parts: the relations for the moving thread, and those for others, by kind and
    /// procedure.
    active: FxHashMap<EdgeId, Bdd>,
    peers: FxHashMap<(EdgeId, Option<EntryId>, ProcId), Bdd>,
}

impl Steps {
    pub fn new(program: &Program) -> Steps {
        Steps {
            known: program.edges.iter().map(|_| None).collect(),
            failing: program.edges.iter().map(|_| None).collect(),
            active: FxHashMap::default(),
            peers: FxHashMap::default(),
        }
    }

    /// Returns the effect of a step along an edge on the thread that makes it, as far as no other thread takes part.
    pub fn get(&mut self, program: &Program, layout: &PairLayout, id: EdgeId) -> Result<Rc<Step>, OutOfNodes> {
        if let Some(step) = &self.known[id] {
            return Ok(Rc::clone(step));
        }
        let edge = &program.edges[id];
        let step = Rc::new(layout.assignment(&edge.as_assignment(), edge.to)?);
        self.known[id] = Some(Rc::clone(&step));
        Ok(step)
    }

    /// Returns the part of an assignment with passive parts that concerns the moving thread.
    pub fn active(
        &mut self,
        (program, layout): (&Program, &PairLayout),
        id: EdgeId,
        assign: &Assign,
    ) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.active.get(&id) {
            return Ok(known.clone());
        }
        let keeps = |number: u32| is_common(assign, number) && in_passive_parts(assign, number);
        let needs = layout.value(Who::Mover, program.edges[id].needs())?;
        let relation = layout.moved(Who::Mover, assign, &keeps)?.and(&needs)?;
        self.active.insert(id, relation.clone());
        Ok(relation)
    }

    /// Returns the part of such an assignment that concerns another thread of a kind in a procedure.
    pub fn peer(
        &mut self,
        layout: &PairLayout,
        (id, entry, proc): (EdgeId, Option<EntryId>, ProcId),
        assign: &Assign,
        part: &Part<'_>,
    ) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.peers.get(&(id, entry, proc)) {
            return Ok(known.clone());
        }
        let relation = layout.took_part(&Assignment { assign, mover: Who::Mover, peer: Some((Who::Peer, part)) })?;
        self.peers.insert((id, entry, proc), relation.clone());
        Ok(relation)
    }

    /// Returns the states in which a condition of an assertion's failure can hold.
    pub fn failing(&mut self, layout: &PairLayout, id: EdgeId, failure: &Expr) -> Result<Bdd, OutOfNodes> {
        if let Some(failing) = &self.failing[id] {
            return Ok(failing.clone());
        }
        let failing = layout.value(Who::Mover, failure)?.exists(&layout.all_choices)?;
        self.failing[id] = Some(failing.clone());
        Ok(failing)
    }
}

impl PairLayout {
    /// Returns the step of an assignment in which no other thread takes part.
    fn assignment(&self, assign: &Assign, to: LocId) -> Result<Step, OutOfNodes> {
        let relation = self.moved(Who::Mover, assign, &|_| false)?;
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        self.step(relation, &targets, to)
    }

    /// Returns the step with a relation between the old values and the new ones of some variables, which leads to a
    /// location.
    pub fn step(&self, relation: Bdd, targets: &[VarId], to: LocId) -> Result<Step, OutOfNodes> {
        let (forget, pairs) = self.after(targets, to);
        Ok(Step { relation, forget: self.manager.var_set(&forget)?, rename: self.manager.renaming(&pairs) })
    }

    /// Returns the variables to forget and those to rename after new values of some variables: old values, and
    /// variables that are not kept at the location.
    pub fn after(&self, targets: &[VarId], to: LocId) -> (Vec<Bvar>, Vec<(Bvar, Bvar)>) {
        let is_dead = |var: &VarId| self.dead(to).contains(var) || self.dead_shared().contains(var);
        let now = |var: &VarId| self.var(*var, Who::Mover, When::Now);
        let next = |var: &VarId| self.var(*var, Who::Mover, When::Next);
        let mut forget: Vec<Bvar> = self.dead(to).iter().chain(self.dead_shared()).map(now).collect();
        forget.extend(targets.iter().map(now));
        forget.extend(targets.iter().filter(|var| is_dead(var)).map(next));
        let pairs = targets.iter().filter(|var| !is_dead(var)).map(|var| (next(var), now(var))).collect();
        (forget, pairs)
    }

    /// Returns the variables of another thread at a location to forget after a step that concerns it, and those to
    /// rename.
    pub fn peer_after(&self, part: &Part<'_>, loc: LocId) -> Result<(VarSet, Renaming), OutOfNodes> {
        let peer = |var: &VarId, when| self.var(*var, Who::Peer, when);
        let (assigned, dead): (Vec<VarId>, _) = (part.assigned.iter().map(|(var, _)| *var).collect(), self.dead(loc));
        let mut forget: Vec<_> = assigned.iter().chain(dead).map(|var| peer(var, When::Now)).collect();
        forget.extend(assigned.iter().filter(|var| dead.contains(var)).map(|var| peer(var, When::Next)));
        let kept = assigned.iter().filter(|var| !dead.contains(var));
        let pairs: Vec<_> = kept.map(|var| (peer(var, When::Next), peer(var, When::Now))).collect();
        Ok((self.manager.var_set(&forget)?, self.manager.renaming(&pairs)))
    }
}

type Bvar = selvedge_logic::bdd::Var;

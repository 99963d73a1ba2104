//! One step back inside a block: values before an edge that lead to given ones after it.

use selvedge_ir::{Assign, EdgeId, LocId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::step::diagram::layout::{Picked, Who};
use selvedge_transition::step::diagram::relation::{Assignment, Layout};
use selvedge_transition::step::diagram::threads::{Live, ThreadLayout, Values};
use selvedge_transition::step::passive::is_common;
use selvedge_transition::trace_builder::BackStep;

use super::block::{At, Block, Item};
use super::machine::Machine;
use super::state::Pair;
use super::trace::Scene;

/// A step back from an item of a block.
pub(super) struct Back<'b, 'a> {
    pub(super) machine: &'b mut Machine<'a>,
    pub(super) block: &'b Block,
    /// The other pairs before the block.
    pub(super) rest: &'b [Pair],
    pub(super) item: usize,
}

impl Back<'_, '_> {
    /// Returns the item before, the step between, and the state there.
    pub(super) fn step(&mut self, scene: Scene) -> Result<(usize, BackStep, Scene), OutOfNodes> {
        for (from, edge) in &self.block.items[self.item].arcs {
            let before = self.before(&self.block.items[*from], *edge, &scene)?;
            if let Some(picked) = self.machine.layout.pick(&before) {
                let (made, scene) = self.made(*from, *edge, picked, scene)?;
                return Ok((*from, made, scene));
            }
        }
        unreachable!("each state of an item comes from one before it")
    }

    /// Returns the states of an item, with choices, in which a step along an edge leads to the given one.
    fn before(&self, from: &Item, id: EdgeId, scene: &Scene) -> Result<Bdd, OutOfNodes> {
        let layout = &self.machine.layout;
        let op = &self.machine.program.edges[id].op;
        let mover = scene.mover.as_ref().expect("a moving thread was put there");
        if let (Op::Assign(assign), At::Place(place)) = (op, self.block.items[self.item].key.at) {
            return self.before_assign(from, assign, place.loc, scene);
        }
        let mut before = from.set.and(&layout.fixed(Who::Mover, layout.kept_shared(), &scene.shared)?)?;
        if let At::Place(place) = self.block.items[self.item].key.at {
            before = before.and(&layout.fixed(Who::Mover, layout.kept(place.loc), &mover.locals)?)?;
        }
        match op {
            Op::Assert(condition) => before.and(&layout.value(Who::Mover, condition)?),
            Op::Fork(_) | Op::Spawn(_) if self.has_started(from) => {
                let child = scene.children.last().expect("a started thread was put there");
                before.and(&layout.before_start(self.machine.program, Who::Mover, op, &child.locals)?)
            }
            _ => Ok(before),
        }
    }

    fn has_started(&self, from: &Item) -> bool {
        self.block.items[self.item].key.children.len() > from.key.children.len()
    }

    fn before_assign(&self, from: &Item, assign: &Assign, loc: LocId, scene: &Scene) -> Result<Bdd, OutOfNodes> {
        let layout = &self.machine.layout;
        let mover = scene.mover.as_ref().expect("a moving thread was put there");
        let values = Values { shared: &scene.shared, locals: &mover.locals };
        let mut before = from.set.and(&layout.before_assign(Who::Mover, assign, loc, values)?)?;
        for (pair, live) in &scene.others {
            if let Some((condition, own)) = self.condition_on(assign, *pair, live)? {
                let (_, peer) = layout.now(Who::Peer);
                let forget = own.into_iter().map(|number| layout.choices[number as usize]).chain(peer);
                let forget = layout.manager.var_set(&forget.collect::<Vec<_>>())?;
                before = before.and(&condition.exists(&forget)?)?;
            }
        }
        Ok(before)
    }

    /// Returns the condition under which another thread gets the values that it has, in terms of the moving thread
    /// before the step, its own values before, and choices; and the choices that are its own. Returns `None` if it does
    /// not take part.
    fn condition_on(&self, assign: &Assign, pair: usize, live: &Live) -> Result<Option<(Bdd, Vec<u32>)>, OutOfNodes> {
        let layout = &self.machine.layout;
        let Some(part) = self.machine.part(assign, live.place) else { return Ok(None) };
        let step = Assignment { assign, mover: Who::Mover, peer: Some((Who::Peer, &part)) };
        let before = self.machine.sets.get(self.rest[pair].set).rename(&layout.to_peer)?;
        let condition = before.and(&layout.before_part(&step, live.place.loc, &live.locals)?)?;
        let own = (0..layout.choices.len() as u32).filter(|number| !is_common(assign, *number)).collect();
        Ok(Some((condition, own)))
    }

    /// Builds the step and the state before it, from the picked values.
    fn made(&self, from: usize, id: EdgeId, picked: Picked, scene: Scene) -> Result<(BackStep, Scene), OutOfNodes> {
        let edge = &self.machine.program.edges[id];
        let from = &self.block.items[from];
        let At::Place(place) = from.key.at else { unreachable!("threads that are gone do not move") };
        let mut scene = scene;
        let mover = scene.mover.take().expect("a moving thread was put there");
        let child = if self.has_started(from) { scene.children.pop() } else { None };
        let mut passive = Vec::new();
        if let Op::Assign(assign) = &edge.op
            && assign.is_passive()
        {
            for (pair, live) in &mut scene.others {
                if let Some(choices) = self.peer_before(assign, *pair, live, &picked)? {
                    passive.push((live.name, self.machine.choices_of(id, &choices)));
                }
            }
        }
        let layout = &self.machine.layout;
        let started = |child: &Live| layout.fresh_of_started(self.machine.program, &edge.op, &child.locals);
        let fresh = child.as_ref().map(started).unwrap_or_default();
        let choices = self.machine.choices_of(id, &picked.choices);
        let child = child.map(|child| child.name);
        let made = BackStep { mover: mover.name, edge: id, choices, passive, child, fresh };
        scene.shared = picked.shared;
        scene.mover = Some(Live { name: mover.name, place, locals: picked.locals });
        Ok((made, scene))
    }

    /// Restores the state of another thread before the step, and returns its choices; `None` if it does not take part.
    fn peer_before(
        &self,
        assign: &Assign,
        pair: usize,
        live: &mut Live,
        picked: &Picked,
    ) -> Result<Option<Vec<bool>>, OutOfNodes> {
        let layout = &self.machine.layout;
        let Some((condition, own)) = self.condition_on(assign, pair, live)? else { return Ok(None) };
        let (shared, locals) = layout.now(Who::Mover);
        let mut known: Vec<_> = shared.into_iter().zip(picked.shared.iter().copied()).collect();
        known.extend(locals.into_iter().zip(picked.locals.iter().copied()));
        let common = (0..layout.choices.len() as u32).filter(|number| !own.contains(number)).map(|at| at as usize);
        known.extend(common.map(|number| (layout.choices[number], picked.choices[number])));
        let (_, peer) = layout.now(Who::Peer);
        let vars: Vec<_> = peer.iter().chain(&layout.choices).copied().collect();
        let values = condition.and(&layout.manager.cube(&known)?)?.pick(&vars);
        let mut values = values.expect("the moving thread's values satisfy the condition on each peer");
        let choices = values.split_off(peer.len());
        live.locals = values;
        Ok(Some(choices))
    }
}

impl Machine<'_> {
    /// Returns as many choices as an edge makes.
    pub(super) fn choices_of(&self, edge: EdgeId, choices: &[bool]) -> Vec<bool> {
        choices[..self.program.edges[edge].op.choices().len()].to_vec()
    }
}

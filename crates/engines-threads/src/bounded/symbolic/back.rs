//! One step back inside a block: values before an edge that lead to given ones after it.

use selvedge_ir::{Assign, EdgeId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::step::diagram::layout::{Picked, Who};
use selvedge_transition::step::diagram::relation::Assignment;
use selvedge_transition::step::diagram::threads::{Live, ThreadLayout};
use selvedge_transition::step::passive::part;
use selvedge_transition::trace_builder::{BackStep, before_step, choices_of, own_choices, pick_with};

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
        let Machine { layout, program, .. } = &*self.machine;
        let edge = &program.edges[id];
        let mover = scene.mover.as_ref().expect("a moving thread was put there");
        let own = match self.block.items[self.item].key.at {
            At::Place(place) => Some((place.loc, mover.locals.as_slice())),
            At::Gone => None,
        };
        let child = scene.children.last().filter(|_| self.has_started(from)).map(|child| child.locals.as_slice());
        let step = before_step(layout, program, (Who::Mover, edge), &scene.shared, own, child)?;
        let mut before = from.set.and(&step)?;
        let Op::Assign(assign) = &edge.op else { return Ok(before) };
        let (_, peer) = layout.now(Who::Peer);
        let forget: Vec<_> = own_choices(layout, assign).into_iter().chain(peer).collect();
        let forget = layout.manager.var_set(&forget)?;
        for (pair, live) in &scene.others {
            if let Some(condition) = self.condition_on(assign, *pair, live)? {
                before = before.and(&condition.exists(&forget)?)?;
            }
        }
        Ok(before)
    }

    fn has_started(&self, from: &Item) -> bool {
        self.block.items[self.item].key.children.len() > from.key.children.len()
    }

    /// Returns the condition under which another thread gets the values that it has, in terms of the moving thread
    /// before the step, its own values before, and choices. Returns `None` if it does not take part.
    fn condition_on(&self, assign: &Assign, pair: usize, live: &Live) -> Result<Option<Bdd>, OutOfNodes> {
        let Machine { layout, program, .. } = &*self.machine;
        let Some(part) = part(program, assign, live.place.entry(), live.place.loc) else { return Ok(None) };
        let step = Assignment { assign, mover: Who::Mover, peer: Some((Who::Peer, &part)) };
        let before = self.machine.sets.get(self.rest[pair].set).rename(&layout.to_peer)?;
        before.and(&layout.before_part(&step, live.place.loc, &live.locals)?).map(Some)
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
                    passive.push((live.name, choices_of(self.machine.program, id, &choices)));
                }
            }
        }
        let Machine { layout, program, .. } = &*self.machine;
        let started = |child: &Live| layout.fresh_of_started(program, &edge.op, &child.locals);
        let fresh = child.as_ref().map(started).unwrap_or_default();
        let child = child.map(|child| child.name);
        let made = BackStep { passive, child, fresh, ..BackStep::new(program, mover.name, id, &picked.choices) };
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
        let Some(condition) = self.condition_on(assign, pair, live)? else { return Ok(None) };
        let own = own_choices(layout, assign);
        let (shared, locals) = layout.now(Who::Mover);
        let vars = shared.iter().chain(&locals).chain(&layout.choices);
        let values = picked.shared.iter().chain(&picked.locals).chain(&picked.choices);
        let known: Vec<_> = vars.copied().zip(values.copied()).filter(|(var, _)| !own.contains(var)).collect();
        let (_, peer) = layout.now(Who::Peer);
        let vars: Vec<_> = peer.iter().chain(&layout.choices).copied().collect();
        let mut values = pick_with(layout, &condition, &known, &vars)?;
        let choices = values.split_off(peer.len());
        live.locals = values;
        Ok(Some(choices))
    }
}

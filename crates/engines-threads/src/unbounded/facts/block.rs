//! The macro steps of a thread from a place, as circuits.
//!
//! *Order of work.* The locations inside a macro step, by their ranks, each after all that lead to it, so that each is
//! left once. States that come to one location are joined: at most one of their guards holds, since fresh inputs
//! choose between the edges that leave a location. *End.* There is no cycle without a visible point.

use std::collections::BTreeMap;

use selvedge_check::Role;
use selvedge_ir::flow::Flow;
use selvedge_ir::{EdgeId, LocId, Op, Program, Scope, Target, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::VisiblePoints;
use selvedge_transition::step::circuit::{self, Begun, Effect, Valuation};

/// The macro steps from a place.
pub(super) struct Block {
    pub(super) outcomes: Vec<Outcome>,
    /// True where an error is on the way.
    pub(super) error: Lit,
}

/// The end of macro steps.
pub(super) struct Outcome {
    /// True where the thread comes there.
    pub(super) guard: Lit,
    /// The place to which the thread comes; `None` if it has ended.
    pub(super) to: Option<Place>,
    /// The shared variables and those of the thread.
    pub(super) after: Valuation,
    /// The thread that was started, and its variables.
    pub(super) child: Option<(Place, Valuation)>,
}

/// A program and the order of its locations inside of macro steps.
pub(super) struct Graph<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    flow: Flow,
    ranks: Ranks,
    /// All places, in ascending order.
    pub(super) places: Vec<Place>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(program: &'a Program, target: &'a Target) -> Graph<'a> {
        let visible_points = VisiblePoints::few(program, target);
        let flow = Flow::new(program);
        let ranks = Ranks::new(program, &flow, &visible_points);
        let places = Place::all(program, &visible_points);
        Graph { program, target, flow, ranks, places }
    }

    /// Returns the variables that a thread at a location has.
    pub(super) fn own(&self, loc: LocId) -> impl Iterator<Item = VarId> + '_ {
        let of_thread = self.program.vars.indices().filter(|var| self.program.vars[*var].scope == Scope::Thread);
        of_thread.chain(self.program.procs[self.program.locs[loc].proc].locals.iter().copied())
    }

    /// Follows all ways from a place, where the thread and the shared variables have these values.
    pub(super) fn block(&self, aig: &mut Aig, place: Place, now: Valuation) -> Block {
        let mut walk =
            Walk { graph: self, block: Block { outcomes: Vec::new(), error: Lit::FALSE }, inner: BTreeMap::new() };
        walk.inner.insert((0, place), (Lit::TRUE, now));
        while let Some(((_, place), (guard, now))) = walk.inner.pop_first() {
            walk.leave(aig, place, guard, &now);
        }
        walk.block
    }
}

struct Walk<'g> {
    graph: &'g Graph<'g>,
    block: Block,
    /// The states inside, by rank and place.
    inner: BTreeMap<(usize, Place), (Lit, Valuation)>,
}

impl Walk<'_> {
    fn leave(&mut self, aig: &mut Aig, place: Place, mut guard: Lit, now: &Valuation) {
        let edges = self.graph.flow.out(place.loc);
        for (left, edge) in (0..edges.len()).rev().zip(edges) {
            let taken = if left == 0 { Lit::TRUE } else { circuit::any_value(aig) };
            let taken_here = aig.and(guard, taken);
            self.follow(aig, place, *edge, taken_here, now);
            guard = aig.and(guard, !taken);
        }
    }

    fn follow(&mut self, aig: &mut Aig, place: Place, id: EdgeId, guard: Lit, now: &Valuation) {
        let program = self.graph.program;
        let edge = &program.edges[id];
        let next = place.after(edge);
        if let Some(Begun { condition: passes, valuation: begun, .. }) = circuit::starts(aig, program, id, now) {
            let loc = match &edge.op {
                Op::Fork(at) => *at,
                Op::Spawn(spawn) => program.procs[spawn.callee].entry,
                _ => unreachable!("only these start threads"),
            };
            let child = place.entry().map(|kind| (Place { role: Role::Free(kind), loc }, begun));
            let guard = aig.and(guard, passes);
            if self.graph.target.has_loc(loc) {
                self.block.error = aig.or(self.block.error, guard);
            }
            return self.arrive(aig, next, guard, now.clone(), child);
        }
        match circuit::step(aig, program, id, now).0 {
            Effect::Next(passes, after) => {
                let guard = aig.and(guard, passes);
                self.arrive(aig, next, guard, after, None);
            }
            Effect::Assert(needs, holds) => {
                let guard = aig.and(guard, needs);
                if self.graph.target.has_assert(id) {
                    let fails = aig.and(guard, !holds);
                    self.block.error = aig.or(self.block.error, fails);
                }
                let guard = aig.and(guard, holds);
                self.arrive(aig, next, guard, now.clone(), None);
            }
            Effect::Return(_) | Effect::End => {
                let outcome = Outcome { guard, to: None, after: now.clone(), child: None };
                self.end(aig, outcome);
            }
            Effect::Call(..) => unreachable!("the engine supports programs without calls only"),
        }
    }

    fn arrive(&mut self, aig: &mut Aig, next: Place, guard: Lit, after: Valuation, child: Option<(Place, Valuation)>) {
        if guard == Lit::FALSE {
            return;
        }
        if self.graph.target.has_loc(next.loc) {
            self.block.error = aig.or(self.block.error, guard);
            return;
        }
        match self.graph.ranks.get(next) {
            Some(rank) => {
                debug_assert!(child.is_none(), "a thread is visible where it has started another");
                match self.inner.get_mut(&(rank + 1, next)) {
                    Some((known, values)) => {
                        *values = mux(aig, guard, &after, values);
                        *known = aig.or(*known, guard);
                    }
                    None => drop(self.inner.insert((rank + 1, next), (guard, after))),
                }
            }
            None => self.end(aig, Outcome { guard, to: Some(next), after, child }),
        }
    }

    /// Notes an end; those at one place become one.
    fn end(&mut self, aig: &mut Aig, outcome: Outcome) {
        let alike = |known: &&mut Outcome| known.to == outcome.to && known.child.is_none() && outcome.child.is_none();
        match self.block.outcomes.iter_mut().find(alike) {
            Some(known) => {
                known.after = mux(aig, outcome.guard, &outcome.after, &known.after);
                known.guard = aig.or(known.guard, outcome.guard);
            }
            None => self.block.outcomes.push(outcome),
        }
    }
}

/// The first values where a condition holds, the second ones elsewhere; both are of the same variables.
fn mux(aig: &mut Aig, condition: Lit, then: &Valuation, otherwise: &Valuation) -> Valuation {
    otherwise.map(|var, lit| aig.ite(condition, then.get(var), lit))
}

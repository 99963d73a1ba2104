//! Universal summaries by unrolling (thesis, §4.2): a procedure without recursion is followed from all entry values
//! until no longer path without repetition exists.
//!
//! The work goes in rounds. Within a round each location is taken up once, in an order in which only back edges lead
//! back; what they lead to belongs to the next round. States at one location are merged; alternatives exclude each
//! other, so that an assignment of the inputs is one execution and passes a location at most once per round.
//!
//! *End.* A state at the target of a back edge is followed only if some execution that leads to it has not been there
//! with the same values in a former round: the recurrence diameter, asked of a SAT solver. There are finitely many
//! values.
//!
//! *Why it is right.* An execution that comes twice to one location with the same values can be shortened. So each
//! effect and each error of the procedure has an execution that repeats nothing, and that one is never dropped.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use selvedge_check::Stop;
use selvedge_ir::{LocId, Op, ProcId};
use selvedge_logic::aig::Lit;

use super::known::{Known, separate};
use super::queries::equal;
use super::simulate::{Outcome, Overlap, Simulation, StateId};

/// The universal summary of a procedure that is not recursive, by those of its callees.
pub(super) fn unroll(
    sim: &mut Simulation<'_>,
    known: &IndexVec<ProcId, Option<Known>>,
    proc: ProcId,
) -> Result<Known, Stop> {
    let heads = heads(sim, proc);
    let frame = sim.frame(proc, None);
    let entry = sim.entry(frame);
    let mut unrolling = Unrolling {
        sim,
        known,
        heads,
        now: BTreeMap::new(),
        next: BTreeMap::new(),
        visits: BTreeMap::new(),
        distinct: Lit::TRUE,
        exits: Vec::new(),
        failures: Vec::new(),
    };
    unrolling.now.insert(unrolling.place(entry), entry);
    unrolling.run()?;
    let Unrolling { exits, failures, .. } = unrolling;
    let exits = fold(sim, exits, Overlap::None);
    let failures = fold(sim, failures, Overlap::Possible);
    Ok(Known::Universal { exits, failures })
}

fn fold(sim: &mut Simulation<'_>, states: Vec<StateId>, overlap: Overlap) -> Vec<StateId> {
    states.into_iter().reduce(|left, right| sim.merge(left, right, overlap)).into_iter().collect()
}

/// The locations that back edges lead to.
fn heads(sim: &Simulation<'_>, proc: ProcId) -> BTreeSet<LocId> {
    let edges = sim.program.edges.iter().filter(|edge| sim.program.locs[edge.from].proc == proc);
    edges.filter(|edge| sim.plan.rank[edge.to] <= sim.plan.rank[edge.from]).map(|edge| edge.to).collect()
}

type Place = ((u32, u32), LocId);

struct Unrolling<'s, 'a> {
    sim: &'s mut Simulation<'a>,
    known: &'s IndexVec<ProcId, Option<Known>>,
    heads: BTreeSet<LocId>,
    now: BTreeMap<Place, StateId>,
    next: BTreeMap<Place, StateId>,
    /// The states at the heads, one per round.
    visits: BTreeMap<LocId, Vec<StateId>>,
    /// The execution has not come twice to a head with the same values.
    distinct: Lit,
    exits: Vec<StateId>,
    failures: Vec<StateId>,
}

impl Unrolling<'_, '_> {
    fn place(&self, state: StateId) -> Place {
        let loc = self.sim.states[state].loc;
        (self.sim.plan.rank[loc], loc)
    }

    fn run(&mut self) -> Result<(), Stop> {
        while !self.now.is_empty() {
            while let Some(((_, loc), state)) = self.now.pop_first() {
                self.sim.run.check_limits()?;
                if self.is_worth_following(loc, state)? {
                    self.follow(loc, state)?;
                }
            }
            self.now = std::mem::take(&mut self.next);
        }
        Ok(())
    }

    fn is_worth_following(&mut self, loc: LocId, state: StateId) -> Result<bool, Stop> {
        if !self.heads.contains(&loc) {
            return if self.sim.plan.is_join(loc) { self.sim.is_feasible(state, Lit::TRUE) } else { Ok(true) };
        }
        let visits = self.visits.entry(loc).or_default();
        let here = self.sim.image(state);
        let aig = &mut self.sim.aig;
        let mut distinct = self.distinct;
        for former in visits.iter() {
            let former = &self.sim.states[*former];
            let values: Vec<Lit> = former.values.iter().map(|(_, lit)| lit).collect();
            let same = equal(aig, &values, &here.tuple);
            let both = aig.and(former.guard, here.guard);
            let again = aig.and(both, same);
            distinct = aig.and(distinct, !again);
        }
        visits.push(state);
        if !self.sim.is_feasible(state, distinct)? {
            return Ok(false);
        }
        self.distinct = distinct;
        Ok(true)
    }

    fn follow(&mut self, loc: LocId, state: StateId) -> Result<(), Stop> {
        let program = self.sim.program;
        if self.sim.target.has_loc(loc) {
            let error = self.sim.error_here(state);
            self.failures.push(error);
            return Ok(());
        }
        if loc == program.procs[program.locs[loc].proc].exit {
            self.exits.push(state);
            return Ok(());
        }
        let mut nexts = Vec::new();
        for edge in self.sim.plan.flow.out(loc).to_vec() {
            let outcomes = match &program.edges[edge].op {
                Op::Call(call) => {
                    let site = self.sim.site(state, edge);
                    let callee = self.known[call.callee].as_ref().expect("callees are summarised first");
                    callee.outcomes(self.sim, &site)
                }
                _ => self.sim.step(state, edge),
            };
            for outcome in outcomes {
                match outcome {
                    Outcome::Next(next) => nexts.push(next),
                    Outcome::Error(error) if self.sim.is_feasible(error, Lit::TRUE)? => self.failures.push(error),
                    Outcome::Error(_) => {}
                }
            }
        }
        separate(self.sim, &nexts);
        nexts.into_iter().for_each(|next| self.arrive(loc, next));
        Ok(())
    }

    fn arrive(&mut self, from: LocId, state: StateId) {
        let place = self.place(state);
        let forward = place.0 > self.sim.plan.rank[from];
        let waiting = if forward { &mut self.now } else { &mut self.next };
        let merged = match waiting.get(&place) {
            Some(other) => self.sim.merge(*other, state, Overlap::None),
            None => state,
        };
        waiting.insert(place, merged);
    }
}

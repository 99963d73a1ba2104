//! Universal summaries by unrolling (thesis, §4.2): a procedure without recursion is followed from all entry values
//! until no longer path without repetition exists, or nothing new is reached.
//!
//! The work proceeds in rounds. Within a round each location is taken up once, in an order in which only back edges
//! lead back; their targets belong to the next round. States at one location are merged; alternatives exclude each
//! other, so that an assignment of the inputs is one execution and passes a location at most once per round.
//!
//! *End.* A state at the target of a back edge, a *head*, is followed only if some execution that leads to it has not
//! been at a head twice with the same values: the recurrence diameter, decided by a SAT solver. There are finitely many
//! values. That diameter can be exponential although the procedure converges at once (`while * do x := *; od`);
//! therefore it is also checked whether the states of earlier rounds at the head cover this one, for the same entry
//! values: a formula with one quantifier alternation ([`Closure::Either`]). That check is given up after some effort,
//! and made less and less often.
//!
//! *Why it is right.* In both cases an execution that is dropped has the same effects and errors as one that takes
//! fewer back edges: without the part between the repetitions, or with the part up to the head replaced by that of an
//! earlier round, which was followed. So each has an equivalent execution that is not dropped.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use selvedge_check::{Argument, Event, Stop};
use selvedge_ir::{LocId, ProcId};
use selvedge_logic::aig::Lit;

use super::call_effects::{CallEffects, separate};
use super::queries::{CopiedImage, equal};
use super::simulate::{Overlap, ProcedureEnds, Simulation, StateId, StateOutcome};

/// The arguments that may close an unrolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closure {
    /// The recurrence diameter only: all executions that repeat nothing are kept.
    Diameter,
    /// The recurrence diameter or coverage: all effects are kept.
    Either,
}

/// The number of slices of search after which a coverage query is given up.
const EFFORT: u32 = 100;

/// Computes the universal summary of a procedure that is not recursive, from those of its callees.
pub(super) fn unroll(
    sim: &mut Simulation<'_>,
    known: &IndexVec<ProcId, Option<CallEffects>>,
    proc: ProcId,
    closure: Closure,
) -> Result<ProcedureEnds, Stop> {
    let heads = heads(sim, proc);
    let frame = sim.frame(proc, None);
    let entry = sim.entry(frame);
    let mut unrolling = ProcedureUnrolling {
        sim,
        known,
        heads,
        closure,
        now: BTreeMap::new(),
        next: BTreeMap::new(),
        visits: BTreeMap::new(),
        distinct: Lit::TRUE,
        ends: ProcedureEnds::default(),
    };
    unrolling.now.insert(unrolling.place(entry), entry);
    unrolling.run()?;
    let ProcedureEnds { exits, failures } = unrolling.ends;
    let exits = fold(sim, exits, Overlap::None);
    let failures = fold(sim, failures, Overlap::Possible);
    Ok(ProcedureEnds { exits, failures })
}

fn fold(sim: &mut Simulation<'_>, states: Vec<StateId>, overlap: Overlap) -> Vec<StateId> {
    states.into_iter().reduce(|left, right| sim.merge(left, right, overlap)).into_iter().collect()
}

/// Returns the targets of back edges.
fn heads(sim: &Simulation<'_>, proc: ProcId) -> BTreeSet<LocId> {
    let edges = sim.program.edges.iter().filter(|edge| sim.program.locs[edge.from].proc == proc);
    edges.filter(|edge| sim.facts.rank[edge.to] <= sim.facts.rank[edge.from]).map(|edge| edge.to).collect()
}

type RankedLoc = ((u32, u32), LocId);

struct ProcedureUnrolling<'s, 'a> {
    sim: &'s mut Simulation<'a>,
    known: &'s IndexVec<ProcId, Option<CallEffects>>,
    heads: BTreeSet<LocId>,
    closure: Closure,
    now: BTreeMap<RankedLoc, StateId>,
    next: BTreeMap<RankedLoc, StateId>,
    /// The states at the heads that were followed, at most one per round.
    visits: BTreeMap<LocId, Vec<StateId>>,
    /// The condition that the execution has not come to a head twice with the same values.
    distinct: Lit,
    ends: ProcedureEnds,
}

impl ProcedureUnrolling<'_, '_> {
    fn place(&self, state: StateId) -> RankedLoc {
        let loc = self.sim.states[state].loc;
        (self.sim.facts.rank[loc], loc)
    }

    fn run(&mut self) -> Result<(), Stop> {
        let mut n_rounds = 0;
        while !self.now.is_empty() {
            n_rounds += 1;
            self.sim.run.event(Event::Unwound { steps: n_rounds, nodes: self.sim.aig.node_count() });
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
            return if self.sim.facts.is_join(loc) { self.sim.is_feasible(state, Lit::TRUE) } else { Ok(true) };
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
        if !self.sim.is_feasible(state, distinct)? {
            self.sim.close(Argument::RecurrenceDiameter);
            return Ok(false);
        }
        if self.closure == Closure::Either && self.is_covered(loc, state)? {
            self.sim.close(Argument::FixedPoint);
            return Ok(false);
        }
        self.visits.entry(loc).or_default().push(state);
        self.distinct = distinct;
        Ok(true)
    }

    /// Returns whether the states followed at a head cover this one. This is checked in the first rounds, then in those
    /// whose number is a power of two, since each check copies the states of earlier rounds; a positive answer can be
    /// late, but not wrong.
    fn is_covered(&mut self, loc: LocId, state: StateId) -> Result<bool, Stop> {
        let former = self.visits.get(&loc).cloned().unwrap_or_default();
        if former.is_empty() || former.len() > 4 && !former.len().is_power_of_two() {
            return Ok(false);
        }
        let by: Vec<CopiedImage> = former.into_iter().map(|state| self.sim.copied_image(state)).collect();
        let image = self.sim.image(state);
        Ok(self.sim.is_covered(&image, &by.iter().collect::<Vec<_>>(), EFFORT)? == Some(true))
    }

    fn follow(&mut self, loc: LocId, state: StateId) -> Result<(), Stop> {
        let program = self.sim.program;
        if self.sim.target.has_loc(loc) {
            let error = self.sim.error_here(state);
            self.ends.failures.push(error);
            return Ok(());
        }
        if loc == program.procs[program.locs[loc].proc].exit {
            self.ends.exits.push(state);
            return Ok(());
        }
        let mut nexts = Vec::new();
        for edge in self.sim.facts.flow.out(loc).to_vec() {
            let known = self.known;
            let outcomes = self.sim.step(state, edge).into_iter().flat_map(|outcome| match outcome {
                StateOutcome::Call(site) => {
                    let callee = known[site.callee].as_ref().expect("callees are summarised first");
                    callee.outcomes(self.sim, &site)
                }
                outcome => vec![outcome],
            });
            for outcome in outcomes.collect::<Vec<_>>() {
                match outcome {
                    StateOutcome::Next(next) => nexts.push(next),
                    StateOutcome::Error(error) => {
                        if self.sim.is_feasible(error, Lit::TRUE)? {
                            self.ends.failures.push(error);
                        }
                    }
                    StateOutcome::Call(_) => unreachable!("the effects of calls are known"),
                }
            }
        }
        separate(self.sim, &nexts);
        nexts.into_iter().for_each(|next| self.arrive(loc, next));
        Ok(())
    }

    fn arrive(&mut self, from: LocId, state: StateId) {
        let place = self.place(state);
        let forward = place.0 > self.sim.facts.rank[from];
        let waiting = if forward { &mut self.now } else { &mut self.next };
        let merged = match waiting.get(&place) {
            Some(other) => self.sim.merge(*other, state, Overlap::None),
            None => state,
        };
        waiting.insert(place, merged);
    }
}

//! Universal summaries of recursive procedures by unrolling nested summaries (thesis, Theorem 4.5).
//!
//! At depth 0 calls inside the component are blocked; at each further depth they have the effects of the previous
//! depth. An *ending* is one end of a procedure at a depth, its exit or an error, for all entry values.
//!
//! *End.* A depth is the last one if no execution of the next one has calls nested to that depth, no two of which have
//! the same procedure, the same entry values and the same end: equal exit values, or both lead into the error. A SAT
//! solver decides this. There are finitely many such pairs.
//!
//! *Why it is right.* Take a shortest execution of its procedure with its entry values and end. If two of its nested
//! calls agreed in all of these, it would be longer than necessary: the inner one could replace the outer one. The
//! parts of a shortest execution are shortest too. So if one had calls nested deeper than the last depth, its innermost
//! part would be an execution of the next depth of the excluded form. For the same reason its procedures repeat no
//! state between two calls, so their unrolling up to the recurrence diameter, and not by coverage, keeps it.
//!
//! The query is about a chain of executions, each of which calls the next, instead of one execution with everything
//! that it calls: an execution with the same entry and end can replace a call. So the formula has one copy of each
//! depth.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_check::{Argument, Stop};
use selvedge_ir::ProcId;
use selvedge_logic::aig::{Input, Lit};
use selvedge_transition::step::circuit::any_value;

use super::call_effects::CallEffects;
use super::modes::KnownEffects;
use super::queries::equal;
use super::simulate::{ProcedureEnds, Simulation, StateId, StateOrigin};
use super::unroll::{Closure, unroll};

/// One end of a procedure.
#[derive(Clone, Debug)]
struct ProcedureEnding {
    proc: ProcId,
    is_exit: bool,
    guard: Lit,
    pair: EntryExit,
    calls: Vec<NestedCall>,
}

/// The values at the entry and at the exit; an error has no exit values.
#[derive(Clone, Debug)]
struct EntryExit {
    entry: Vec<Lit>,
    exit: Vec<Lit>,
}

/// A call of the component, and its position.
#[derive(Clone, Debug)]
struct NestedCall {
    made: Lit,
    proc: ProcId,
    is_exit: bool,
    pair: EntryExit,
}

/// Computes universal summaries of a recursive component.
pub(super) fn nest(sim: &mut Simulation<'_>, known: &mut KnownEffects, component: &[ProcId]) -> Result<(), Stop> {
    for proc in component {
        known[*proc] = Some(CallEffects::Universal(ProcedureEnds::default()));
    }
    let mut depths: Vec<Vec<ProcedureEnding>> = Vec::new();
    loop {
        let mut summaries = Vec::new();
        for proc in component {
            summaries.push(unroll(sim, known, *proc, Closure::Diameter)?);
        }
        depths.push(endings(sim, &summaries, component));
        if depths.len() > 1 && !can_nest(sim, &depths)? {
            sim.close(Argument::NestedSummaries);
            return Ok(());
        }
        for (proc, summary) in component.iter().zip(summaries) {
            known[*proc] = Some(CallEffects::Universal(summary));
        }
    }
}

/// Returns the endings in summaries, with the calls that lead to them.
fn endings(sim: &mut Simulation<'_>, summaries: &[ProcedureEnds], component: &[ProcId]) -> Vec<ProcedureEnding> {
    let mut ending = |state: StateId| ProcedureEnding {
        proc: sim.frames[sim.states[state].frame].proc,
        is_exit: sim.is_exit(state),
        guard: sim.states[state].guard,
        pair: pair(sim, state),
        calls: calls(sim, state, component),
    };
    summaries.iter().flat_map(ProcedureEnds::all).map(&mut ending).collect()
}

fn pair(sim: &Simulation<'_>, state: StateId) -> EntryExit {
    let entry = sim.frames[sim.states[state].frame].entry.iter().map(|(_, lit)| lit).collect();
    EntryExit { entry, exit: sim.image(state).tuple }
}

/// Returns the calls of the component on the paths to a state. An assignment of the inputs is one execution: where two
/// states are merged, it determines the one that was taken. States are older than their successors, so the condition of
/// the open state with the greatest number is complete.
fn calls(sim: &mut Simulation<'_>, state: StateId, component: &[ProcId]) -> Vec<NestedCall> {
    let mut calls = Vec::new();
    let mut open = BTreeMap::from([(state, Lit::TRUE)]);
    while let Some((at, made)) = open.pop_last() {
        let before = match sim.states[at].via.clone() {
            StateOrigin::Entry => continue,
            StateOrigin::Step { from, .. } | StateOrigin::Guess { from, .. } => vec![(from, made)],
            StateOrigin::Merge { condition, then, otherwise } => {
                vec![(then, sim.aig.and(made, condition)), (otherwise, sim.aig.and(made, !condition))]
            }
            StateOrigin::Call { from, callee, renaming, .. } => {
                let proc = sim.frames[sim.states[callee].frame].proc;
                if component.contains(&proc) {
                    let is_exit = sim.is_exit(callee);
                    let new: FxHashMap<Input, Lit> = renaming.into_iter().collect();
                    let pair = pair(sim, callee).map(sim, |input| new.get(&input).copied());
                    calls.push(NestedCall { made, proc, is_exit, pair });
                }
                vec![(from, made)]
            }
        };
        for (state, made) in before {
            let known = open.get(&state).copied().unwrap_or(Lit::FALSE);
            open.insert(state, sim.aig.or(known, made));
        }
    }
    calls
}

/// Returns whether some execution of the last depth has calls nested to that depth of which no two are equal.
fn can_nest(sim: &mut Simulation<'_>, depths: &[Vec<ProcedureEnding>]) -> Result<bool, Stop> {
    let mut chain: Vec<Vec<(Lit, ProcedureEnding)>> = Vec::new();
    for depth in depths.iter().rev() {
        let copies = depth.iter().map(|ending| (any_value(&mut sim.aig), ending.copy(sim))).collect();
        chain.push(copies);
    }
    let mut conditions = Vec::new();
    for (place, endings) in chain.iter().enumerate() {
        let taken: Vec<Lit> = endings.iter().map(|(taken, _)| *taken).collect();
        conditions.push(sim.aig.or_all(&taken));
        for (taken, ending) in endings {
            let link = chain.get(place + 1).map_or(Lit::TRUE, |next| links(sim, ending, next));
            let is_possible = sim.aig.and(ending.guard, link);
            conditions.push(sim.aig.implies(*taken, is_possible));
            for (other_taken, other) in chain[..place].iter().flatten().filter(|(_, other)| ending.is_like(other)) {
                let both = sim.aig.and(*taken, *other_taken);
                let same = ending.pair.equal(sim, &other.pair);
                conditions.push(!sim.aig.and(both, same));
            }
        }
    }
    let formula = sim.aig.and_all(&conditions);
    sim.queries.is_satisfiable(&sim.aig, formula, sim.run)
}

/// Requires that one of the calls on the path is the next one of the chain.
fn links(sim: &mut Simulation<'_>, ending: &ProcedureEnding, next: &[(Lit, ProcedureEnding)]) -> Lit {
    let mut links = Vec::new();
    for call in &ending.calls {
        for (taken, callee) in
            next.iter().filter(|(_, callee)| (callee.proc, callee.is_exit) == (call.proc, call.is_exit))
        {
            let same = call.pair.equal(sim, &callee.pair);
            links.push(sim.aig.and_all(&[call.made, *taken, same]));
        }
    }
    sim.aig.or_all(&links)
}

impl ProcedureEnding {
    /// Returns a copy with inputs of its own.
    fn copy(&self, sim: &mut Simulation<'_>) -> ProcedureEnding {
        let pairs = || self.calls.iter().map(|call| &call.pair).chain([&self.pair]);
        let values = pairs().flat_map(|pair| pair.entry.iter().chain(&pair.exit)).copied();
        let roots: Vec<Lit> = values.chain(self.calls.iter().map(|call| call.made)).chain([self.guard]).collect();
        let support = sim.aig.support(&roots);
        let new: FxHashMap<Input, Lit> = support.into_iter().map(|old| (old, any_value(&mut sim.aig))).collect();
        let rename = |input: Input| new.get(&input).copied();
        let call = |call: &NestedCall, sim: &mut Simulation<'_>| NestedCall {
            made: sim.aig.substitute(&[call.made], rename)[0],
            pair: call.pair.map(sim, rename),
            ..call.clone()
        };
        ProcedureEnding {
            guard: sim.aig.substitute(&[self.guard], rename)[0],
            pair: self.pair.map(sim, rename),
            calls: self.calls.iter().map(|nested| call(nested, sim)).collect(),
            ..*self
        }
    }

    /// Returns whether both are the same end of the same procedure.
    fn is_like(&self, other: &ProcedureEnding) -> bool {
        (self.proc, self.is_exit) == (other.proc, other.is_exit)
    }
}

impl EntryExit {
    fn map(&self, sim: &mut Simulation<'_>, new: impl Fn(Input) -> Option<Lit> + Copy) -> EntryExit {
        EntryExit { entry: sim.aig.substitute(&self.entry, new), exit: sim.aig.substitute(&self.exit, new) }
    }

    fn equal(&self, sim: &mut Simulation<'_>, other: &EntryExit) -> Lit {
        let entries = equal(&mut sim.aig, &self.entry, &other.entry);
        let exits = equal(&mut sim.aig, &self.exit, &other.exit);
        sim.aig.and(entries, exits)
    }
}

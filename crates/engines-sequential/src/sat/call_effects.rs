//! The known effects of calls of a procedure.

use selvedge_logic::aig::Lit;
use selvedge_transition::step::circuit::any_value;

use super::simulate::{CallSite, ProcedureEnds, Simulation, StateId, StateOrigin, StateOutcome};

/// The known effects of calls of a procedure.
#[derive(Clone, Debug)]
pub(super) enum CallEffects {
    /// A universal summary: states at the exit and at errors of frames for all entry values.
    Universal(ProcedureEnds),
    /// Nothing is known except which variables may change, and whether there are errors at all.
    Nondeterministic { may_fail: bool },
}

impl CallEffects {
    /// Returns the outcomes of a call.
    pub(super) fn outcomes(&self, sim: &mut Simulation<'_>, site: &CallSite) -> Vec<StateOutcome> {
        match self {
            CallEffects::Universal(ends) => ends.all().filter_map(|end| sim.apply(site, end)).collect(),
            CallEffects::Nondeterministic { may_fail } => {
                let mut outcomes = vec![StateOutcome::Next(sim.guess(site))];
                if *may_fail {
                    let caller = sim.states[site.from].clone();
                    let via = StateOrigin::Guess { edge: site.edge, from: site.from };
                    outcomes.push(StateOutcome::Error(sim.error(caller.frame, caller.loc, caller.guard, via)));
                }
                outcomes
            }
        }
    }
}

/// Makes states exclude each other by fresh inputs, so that each assignment of the inputs is one execution.
pub(super) fn separate(sim: &mut Simulation<'_>, states: &[StateId]) {
    let guards: Vec<Lit> = states.iter().map(|state| sim.states[*state].guard).collect();
    let pairs =
        || guards.iter().enumerate().flat_map(|(at, left)| guards[at + 1..].iter().map(move |right| (left, right)));
    if pairs().all(|(left, right)| sim.aig.and(*left, *right) == Lit::FALSE) {
        return;
    }
    let mut open = Lit::TRUE;
    for (number, state) in states.iter().enumerate() {
        let last = number + 1 == states.len();
        let here = if last { Lit::TRUE } else { any_value(&mut sim.aig) };
        let chosen = sim.aig.and(open, here);
        open = sim.aig.and(open, !chosen);
        sim.states[*state].guard = sim.aig.and(sim.states[*state].guard, chosen);
    }
}

//! States as gates, in the middle of a macro step.

use std::rc::Rc;

use super::super::sat::{Lit, Sat};

/// The states that one way of a macro step leads to.
#[derive(Clone)]
pub(super) struct State {
    /// True if this way is taken.
    pub(super) guard: Lit,
    /// The values of the variables as the moving thread sees them, by number; `false` where it has none.
    pub(super) now: Vec<Lit>,
    /// The other threads: those of the shape in their order, then those that the macro step has started.
    pub(super) others: Vec<Seen>,
    /// The number of those, the first ones, that are known to be in order at each place: the values of those of the
    /// shape are still theirs.
    pub(super) n_sorted: usize,
    /// The number of those that were there before the macro step.
    pub(super) n_old: usize,
}

/// A thread at a place.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) place: u32,
    /// The values of its variables, by number; shared ones are not here.
    pub(super) vars: Rc<Vec<Lit>>,
}

impl Seen {
    pub(super) fn new(place: u32, vars: Vec<Lit>) -> Seen {
        Seen { place, vars: Rc::new(vars) }
    }
}

impl State {
    /// Returns whether the other threads are at the same places.
    fn resembles(&self, other: &State) -> bool {
        let places = |state: &State| -> Vec<u32> { state.others.iter().map(|thread| thread.place).collect() };
        places(self) == places(other)
    }

    /// The states of both: where the other's guard holds, the other's values. At most one of the guards holds.
    fn join(&mut self, sat: &mut Sat<'_>, other: State) {
        self.guard = sat.or(self.guard, other.guard);
        self.n_sorted = self.n_sorted.min(other.n_sorted);
        mux(sat, other.guard, &other.now, &mut self.now);
        for (mine, its) in self.others.iter_mut().zip(other.others) {
            if !Rc::ptr_eq(&mine.vars, &its.vars) {
                let values: &mut Vec<Lit> = Rc::make_mut(&mut mine.vars);
                mux(sat, other.guard, &its.vars, values);
            }
        }
    }
}

fn mux(sat: &mut Sat<'_>, condition: Lit, then: &[Lit], otherwise: &mut [Lit]) {
    for (then, otherwise) in then.iter().zip(otherwise) {
        *otherwise = sat.ite(condition, *then, *otherwise);
    }
}

/// Adds states to those at a location. Those with other threads at the same places become one.
pub(super) fn add(sat: &mut Sat<'_>, states: &mut Vec<State>, state: State) {
    match states.iter_mut().find(|known| known.resembles(&state)) {
        Some(known) => known.join(sat, state),
        None => states.push(state),
    }
}

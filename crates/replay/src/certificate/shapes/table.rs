//! The shapes of a proof, looked up by the places of their threads; and whether the proof is well-formed.

use rustc_hash::FxHashMap;
use selvedge_check::formula::FormulaId;
use selvedge_check::{Role, Seen, Shape, ShapeProof, Task, ThreadScope};

use super::super::place_table::PlaceTable;
use super::super::{Flaw, MOST_SEEN, MOST_STEPS, Refused, at_most};
use super::order::choose;

/// A proof beside the question that it answers.
pub(super) struct Table<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) proof: &'a ShapeProof,
    pub(super) places: PlaceTable<'a>,
    /// The numbers of the shapes, by [`Shape::key`].
    numbers: FxHashMap<(&'a [u32], bool, u32), usize>,
    /// The greatest number of threads that a shape speaks of.
    pub(super) longest: usize,
}

/// Some of several threads, by their numbers, and the formula that they satisfy.
pub(super) type View = (Vec<usize>, FormulaId);

/// The rest of a state beside the threads that are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Environment {
    /// True if the atomic flag is held by another thread.
    pub(super) held: bool,
    /// The number of threads that have ended, where that matters.
    pub(super) ended: u32,
}

impl<'a> Table<'a> {
    /// Looks through a proof: all lists are in order, and all numbers are those of something that fits.
    pub(super) fn new(task: &'a Task<'a>, proof: &'a ShapeProof) -> Result<Table<'a>, Refused> {
        let places = PlaceTable::new(task, &proof.places, true)?;
        let in_order = proof.shapes.is_sorted_by(|left, right| left.key() < right.key())
            && proof.places.is_sorted_by_key(|place| (place.role, &place.calls, place.loc));
        if !in_order || proof.seen == Seen::Any(0) || !proof.shapes.iter().all(|shape| fits(task, proof, shape)) {
            return Err(Flaw::Malformed(None).into());
        }
        let longest = match proof.seen {
            Seen::All | Seen::Reached => proof.shapes.iter().map(|shape| shape.threads.len()).max().unwrap_or(0),
            Seen::Any(k) => k as usize,
        };
        at_most(longest, if proof.seen.is_all() { MOST_STEPS } else { MOST_SEEN })?;
        let numbers = proof.shapes.iter().map(Shape::key).zip(0..).collect();
        Ok(Table { task, proof, places, numbers, longest })
    }

    /// The number of the shape of threads at these places, which are in order.
    pub(super) fn find(&self, places: &[u32], Environment { held, ended }: Environment) -> Option<usize> {
        self.numbers.get(&(places, held, ended)).copied()
    }

    /// The formula of threads at these places, which are in order.
    pub(super) fn listed(&self, places: &[u32], environment: Environment) -> Option<FormulaId> {
        Some(self.proof.shapes[self.find(places, environment)?].formula)
    }

    /// The lists of threads at these places, which are in order, that the proof speaks of, where another thread holds
    /// the atomic flag or not; `None` if it does not allow one of them, so that there is no such state.
    pub(super) fn views(&self, places: &[u32], held_elsewhere: bool) -> Option<Vec<View>> {
        let holders: Vec<usize> = (0..places.len()).filter(|number| self.places.is_holder(places[*number])).collect();
        if holders.len() + usize::from(held_elsewhere) > 1 {
            return None;
        }
        let formula = |chosen: Vec<usize>| {
            let held = held_elsewhere || holders.iter().any(|holder| !chosen.contains(holder));
            let places: Vec<u32> = chosen.iter().map(|number| places[*number]).collect();
            Some((chosen, self.listed(&places, Environment { held, ended: 0 })?))
        };
        choose(places.len(), self.together(places.len())).map(formula).collect()
    }

    /// Returns whether a state without threads belongs to the set without being listed.
    pub(super) fn allows_empty(&self) -> bool {
        !self.proof.seen.is_all()
    }

    /// Returns whether the proof may allow a state with threads at these places, which are in order.
    pub(super) fn speaks_of(&self, places: &[u32]) -> bool {
        !self.proof.seen.is_all() || self.listed(places, Environment::default()).is_some()
    }

    /// The number of threads, of a given number, that a shape speaks of.
    pub(super) fn together(&self, n_threads: usize) -> usize {
        match self.proof.seen {
            Seen::All | Seen::Reached => n_threads,
            Seen::Any(k) => n_threads.min(k as usize),
        }
    }
}

/// Returns whether the threads of a shape are in order and at places, one of them at most with the atomic flag, and the
/// prelude's alone; and whether it says no more than fits the question.
fn fits(task: &Task<'_>, proof: &ShapeProof, shape: &Shape) -> bool {
    let places = shape.threads.iter().map(|place| proof.places.get(*place as usize));
    let Some(roles) = places.map(|place| place.map(|place| place.role)).collect::<Option<Vec<Role>>>() else {
        return false;
    };
    let n_holders = usize::from(shape.held) + roles.iter().filter(|role| matches!(role, Role::Holder(_))).count();
    let is_prelude = roles.contains(&Role::Prelude);
    let most_ended = if let ThreadScope::Created(bound) = task.threads { bound } else { 0 };
    let fits = match proof.seen {
        Seen::All | Seen::Reached => !shape.held && shape.ended <= most_ended,
        Seen::Any(k) => (1..=k as usize).contains(&roles.len()) && shape.ended == 0 && !(shape.held && is_prelude),
    };
    fits && shape.threads.is_sorted() && n_holders <= 1 && (roles.len() <= 1 || !is_prelude)
}

//! The errors that are searched for.

use crate::syntax::{EdgeId, LocId, Op, Program};

/// The errors that are searched for: assertions that fail, locations that a thread reaches, sets of locations that
/// several threads reach together, and deadlocks.
///
/// The lists are sorted and without repetition. An assertion that is not in the target is not an error; it still stops
/// the thread if it does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Edges with [`Op::Assert`].
    pub asserts: Vec<EdgeId>,
    /// Locations; each is an error as soon as a thread is there.
    pub locs: Vec<LocId>,
    /// Meetings; each is an error as soon as different threads are at all its locations. They are sorted; a location
    /// that occurs twice needs two threads. Each has at least two locations.
    pub together: Vec<Vec<LocId>>,
    /// Set if deadlocks are errors: states in which a thread is alive and no thread has a step. The failure of an
    /// assertion is a step.
    pub deadlock: bool,
}

impl Target {
    /// Returns the target with these parts, in any order.
    pub fn new(asserts: Vec<EdgeId>, locs: Vec<LocId>) -> Target {
        Target { asserts: sorted(asserts), locs: sorted(locs), together: Vec::new(), deadlock: false }
    }

    /// Returns the same target with deadlocks as errors, or without.
    #[must_use]
    pub fn with_deadlock(self, deadlock: bool) -> Target {
        Target { deadlock, ..self }
    }

    /// Returns the target with these meetings as well. A meeting of a single location is added as that location; an
    /// empty meeting is dropped.
    #[must_use]
    pub fn with_together(self, meetings: impl IntoIterator<Item = Vec<LocId>>) -> Target {
        let Target { asserts, mut locs, mut together, deadlock } = self;
        for mut meeting in meetings {
            meeting.sort_unstable();
            match meeting.as_slice() {
                [] => {}
                [loc] => locs.push(*loc),
                _ => together.push(meeting),
            }
        }
        Target { together: sorted(together), deadlock, ..Target::new(asserts, locs) }
    }

    /// Returns all assertions of a program.
    pub fn all_asserts(program: &Program) -> Target {
        let is_assert = |edge: &EdgeId| matches!(program.edges[*edge].op, Op::Assert(_));
        Target::new(program.edges.indices().filter(is_assert).collect(), Vec::new())
    }

    /// Returns whether nothing counts as an error.
    pub fn is_empty(&self) -> bool {
        self.asserts.is_empty() && self.locs.is_empty() && self.together.is_empty() && !self.deadlock
    }

    /// Returns whether the failure of this assertion counts.
    pub fn has_assert(&self, edge: EdgeId) -> bool {
        self.asserts.binary_search(&edge).is_ok()
    }

    /// Returns whether reaching this location counts, independently of other threads.
    pub fn has_loc(&self, loc: LocId) -> bool {
        self.locs.binary_search(&loc).is_ok()
    }

    /// Returns whether it matters that a thread is at this location, alone or with others. Passes keep such locations.
    pub fn watches(&self, loc: LocId) -> bool {
        self.has_loc(loc) || self.together.iter().any(|meeting| meeting.contains(&loc))
    }

    /// Returns all locations for which [`Target::watches`] holds, in ascending order.
    pub fn watched(&self) -> Vec<LocId> {
        sorted(self.together.iter().flatten().chain(&self.locs).copied().collect())
    }

    /// Returns the same meetings over new locations, given the new locations that each old one has become; any of them
    /// counts.
    pub fn moved_together<'t>(
        &'t self,
        places: impl Fn(LocId) -> Vec<LocId> + 't,
    ) -> impl Iterator<Item = Vec<LocId>> + 't {
        self.together.iter().flat_map(move |meeting| {
            meeting.iter().fold(vec![Vec::new()], |partial: Vec<Vec<LocId>>, loc| {
                let places = places(*loc);
                let longer = |partial: &Vec<LocId>| -> Vec<Vec<LocId>> {
                    places.iter().map(|place| partial.iter().copied().chain([*place]).collect()).collect()
                };
                partial.iter().flat_map(longer).collect()
            })
        })
    }
}

/// Returns the items in ascending order, each once.
pub(crate) fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

/// Returns the first of some meetings that takes place, where `count` gives the number of threads at a location.
pub fn met(together: &[Vec<LocId>], count: impl Fn(LocId) -> usize) -> Option<&[LocId]> {
    let takes_place = |meeting: &&Vec<LocId>| {
        meeting.chunk_by(|one, other| one == other).all(|threads| count(threads[0]) >= threads.len())
    };
    together.iter().find(takes_place).map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locs(numbers: &[usize]) -> Vec<LocId> {
        numbers.iter().copied().map(LocId::new).collect()
    }

    #[test]
    fn a_meeting_of_one_is_a_location_and_of_none_nothing() {
        let target = Target::default().with_together([locs(&[3]), locs(&[]), locs(&[2, 1]), locs(&[1, 2])]);
        assert_eq!(target, Target { locs: locs(&[3]), together: vec![locs(&[1, 2])], ..Target::default() });
        assert_eq!(target.watched(), locs(&[1, 2, 3]));
        assert!(target.watches(1.into()) && !target.has_loc(1.into()));
    }

    #[test]
    fn a_location_twice_needs_two_threads() {
        let target = Target::default().with_together([locs(&[4, 4, 5])]);
        let with = |fours: usize, fives: usize| {
            met(&target.together, |loc| if loc == LocId::new(4) { fours } else { fives }).is_some()
        };
        assert!(with(2, 1) && with(3, 2));
        assert!(!with(1, 1) && !with(2, 0));
    }

    #[test]
    fn a_meeting_moves_to_all_copies_of_its_locations() {
        let target = Target::default().with_together([locs(&[1, 1])]);
        let moved = target.moved_together(|loc| locs(&[loc.index() * 10, loc.index() * 10 + 1]));
        let moved = Target::default().with_together(moved);
        assert_eq!(moved.together, [locs(&[10, 10]), locs(&[10, 11]), locs(&[11, 11])]);
        let gone = Target::default().with_together(target.moved_together(|_| Vec::new()));
        assert!(gone.is_empty());
    }
}

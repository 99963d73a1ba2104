//! Numbers of threads by place and set, up to ω, and the covering order between such lists.

use fixedbitset::FixedBitSet;
use selvedge_ir::LocId;
use selvedge_transition::macro_step::place::Place;

use crate::bounded::symbolic::state::{SetId, Sets, matching};

/// A number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Count {
    Finite(u32),
    /// Any number.
    Omega,
}

impl Count {
    fn plus(self, other: Count) -> Count {
        match (self, other) {
            (Count::Finite(one), Count::Finite(other)) => Count::Finite(one + other),
            _ => Count::Omega,
        }
    }
}

/// A number of threads at a place with valuations in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group {
    pub(super) place: Place,
    pub(super) set: SetId,
    pub(super) count: Count,
}

/// Groups, sorted, no two with the same place and set, none empty; and the locations at which there are threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct OmegaMarking {
    groups: Vec<Group>,
    locs: FixedBitSet,
}

impl OmegaMarking {
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Adds some threads.
    pub(super) fn add(&mut self, new: Group) {
        if new.count == Count::Finite(0) {
            return;
        }
        match self.groups.binary_search_by_key(&(new.place, new.set), |group| (group.place, group.set)) {
            Ok(known) => self.groups[known].count = self.groups[known].count.plus(new.count),
            Err(at) => self.groups.insert(at, new),
        }
        self.locs.grow_and_insert(new.place.loc.index());
    }

    /// Returns the marking with one thread of a group fewer. From ω, ω is left (errata: `counters_self_loop`: further
    /// threads are added to the result).
    pub(super) fn without(&self, gone: usize) -> OmegaMarking {
        let mut rest = OmegaMarking::default();
        for (number, group) in self.groups.iter().enumerate() {
            let count = match group.count {
                Count::Finite(count) if number == gone => Count::Finite(count - 1),
                count => count,
            };
            rest.add(Group { count, ..*group });
        }
        rest
    }

    /// Returns the number of threads at a location, with `enough` for ω.
    pub(super) fn at(&self, loc: LocId, enough: usize) -> usize {
        let here = self.groups.iter().filter(|group| group.place.loc == loc);
        here.map(|group| match group.count {
            Count::Finite(count) => count as usize,
            Count::Omega => enough,
        })
        .sum()
    }

    /// Returns whether a thread runs alone: the holder of the atomic flag, or the prelude's thread. The flag is part of
    /// the shared state: a further thread that holds it would stop all others (errata: `omega_not_atomic`).
    pub(super) fn is_held(&self) -> bool {
        self.groups.iter().any(|group| group.place.is_alone())
    }

    /// Returns whether the flag is the same, and there are threads everywhere where the other has some: a quick test
    /// before the exact ones (thesis, §10.7).
    fn may_cover(&self, other: &OmegaMarking) -> bool {
        self.is_held() == other.is_held() && other.locs.is_subset(&self.locs)
    }

    /// Returns whether each thread of the other can be matched to a thread of this, at the same place with a set that
    /// contains its own. Then every state of the other is covered by one of this. A thread that fits into a group with
    /// ω uses up nothing; the others are matched one by one.
    pub(super) fn covers(&self, other: &OmegaMarking, sets: &mut Sets) -> bool {
        if !self.may_cover(other) {
            return false;
        }
        let mut rest: Vec<&Group> = Vec::new();
        for group in &other.groups {
            let mut omegas = self.groups.iter().filter(|large| large.count == Count::Omega);
            if !omegas.any(|large| large.place == group.place && sets.includes(large.set, group.set)) {
                match group.count {
                    Count::Omega => return false,
                    Count::Finite(count) => rest.extend(std::iter::repeat_n(group, count as usize)),
                }
            }
        }
        let finite: Vec<&Group> = self
            .groups
            .iter()
            .flat_map(|group| match group.count {
                Count::Finite(count) => std::iter::repeat_n(group, count as usize),
                Count::Omega => std::iter::repeat_n(group, 0),
            })
            .collect();
        let mut fits = |small: usize, large: usize| {
            rest[small].place == finite[large].place && sets.includes(finite[large].set, rest[small].set)
        };
        matching(rest.len(), finite.len(), &mut fits).is_some()
    }

    /// Puts ω where there are more threads than in an ancestor, if each group of the ancestor can be matched to a group
    /// of this with at least as many threads and a set that contains its own (errata: `km_cover_order`). Returns
    /// whether that changed anything.
    ///
    /// It is right because then every state of the ancestor, with any further threads as in the groups that have grown,
    /// is one of this; so the steps since the ancestor can be made once more with these further threads waiting, and so
    /// on.
    pub(super) fn accelerate(&mut self, ancestor: &OmegaMarking, sets: &mut Sets) -> bool {
        if !self.may_cover(ancestor) {
            return false;
        }
        let (old, new) = (&ancestor.groups, &self.groups);
        let mut fits = |small: usize, large: usize| {
            old[small].place == new[large].place
                && old[small].count <= new[large].count
                && sets.includes(new[large].set, old[small].set)
        };
        let Some(partners) = matching(old.len(), new.len(), &mut fits) else { return false };
        let mut before = vec![Count::Finite(0); new.len()];
        partners.iter().zip(old).for_each(|(partner, group)| before[*partner] = group.count);
        let mut changed = false;
        for (group, before) in self.groups.iter_mut().zip(before) {
            if group.count > before && group.count != Count::Omega {
                group.count = Count::Omega;
                changed = true;
            }
        }
        changed
    }
}

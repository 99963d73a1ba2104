//! States ⟨S, (place, L₁, n₁), .., (place, L_k, n_k)⟩ of the counter abstraction, and inclusion between them.
//!
//! Such a state represents all states in which the shared valuation is in S and, of nᵢ threads each, all are at the
//! place and have a valuation in Lᵢ, independently of each other and of the shared part. Thread sets are numbered in
//! the order in which they are found, so that states are short, equal ones are equal lists, and their order depends on
//! nothing but the program.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use selvedge_check::Role;
use selvedge_logic::bdd::Bdd;
use selvedge_transition::macro_step::place::Place;

/// The number of a set of valuations of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SetId(pub(crate) u32);

/// A number of threads at a place with valuations in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(super) place: Place,
    pub(super) set: SetId,
    pub(super) count: u32,
}

/// The pairs of a state, sorted, no two with the same place and set.
pub(super) type Pairs = Vec<Pair>;

/// Returns the pairs with one thread fewer in one of them.
pub(super) fn without(pairs: &[Pair], place: usize) -> Pairs {
    let mut rest = pairs.to_vec();
    rest[place].count -= 1;
    rest.retain(|pair| pair.count > 0);
    rest
}

/// Adds threads. The list stays sorted and without duplicates.
pub(super) fn add(pairs: &mut Pairs, new: Pair) {
    match pairs.binary_search_by_key(&(new.place, new.set), |pair| (pair.place, pair.set)) {
        Ok(known) => pairs[known].count += new.count,
        Err(at) => pairs.insert(at, new),
    }
}

/// Returns the number of threads that count for the bound.
pub(super) fn n_threads(pairs: &[Pair]) -> u32 {
    pairs.iter().filter(|pair| pair.place.role != Role::Prelude).map(|pair| pair.count).sum()
}

/// Returns the places of all threads, in ascending order.
pub(super) fn places(pairs: &[Pair]) -> Vec<Place> {
    pairs.iter().flat_map(|pair| std::iter::repeat_n(pair.place, pair.count as usize)).collect()
}

/// The sets of valuations found so far, and the known inclusions between them.
#[derive(Default)]
pub(crate) struct Sets {
    sets: IndexSet<Bdd, FxBuildHasher>,
    inclusions: FxHashMap<(SetId, SetId), bool>,
}

impl Sets {
    pub(crate) fn id(&mut self, set: &Bdd) -> SetId {
        match self.sets.get_index_of(set) {
            Some(known) => SetId(known as u32),
            None => SetId(self.sets.insert_full(set.clone()).0 as u32),
        }
    }

    pub(crate) fn get(&self, id: SetId) -> &Bdd {
        &self.sets[id.0 as usize]
    }

    pub(crate) fn includes(&mut self, large: SetId, small: SetId) -> bool {
        if large == small {
            return true;
        }
        let sets = &self.sets;
        let test = || sets[small.0 as usize].is_subset(&sets[large.0 as usize]);
        *self.inclusions.entry((large, small)).or_insert_with(test)
    }

    /// Returns whether the threads of the second list can be matched to those of the first, each to one at the same
    /// place with a set that contains its own. Then every state of the second list is one of the first; the converse
    /// need not be true, so this is a test by which states may be dropped (errata: `subsumption_direction`). Both lists
    /// have the same places.
    pub(super) fn dominates(&mut self, large: &[Pair], small: &[Pair]) -> bool {
        let by_place = |list: &[Pair], begin: usize| {
            let same = list[begin..].iter().take_while(|pair| pair.place == list[begin].place).count();
            begin + same
        };
        let (mut at, mut of) = (0, 0);
        while at < small.len() {
            let (end, of_end) = (by_place(small, at), by_place(large, of));
            if !self.dominates_at_place(&large[of..of_end], &small[at..end]) {
                return false;
            }
            (at, of) = (end, of_end);
        }
        true
    }

    /// Returns whether one list dominates the other, for threads at one place.
    fn dominates_at_place(&mut self, large: &[Pair], small: &[Pair]) -> bool {
        if large == small {
            return true;
        }
        if let [only] = large {
            return small.iter().all(|pair| self.includes(only.set, pair.set));
        }
        let expand = |list: &[Pair]| -> Vec<SetId> {
            list.iter().flat_map(|pair| std::iter::repeat_n(pair.set, pair.count as usize)).collect()
        };
        let (large, small) = (expand(large), expand(small));
        matching(small.len(), large.len(), &mut |i, j| self.includes(large[j], small[i])).is_some()
    }
}

/// Returns a way to give each of the first `n` numbers a partner of its own among the first `m`, where `fits` tells
/// which numbers fit: augmenting paths after Kuhn. The result lists the partners.
pub(crate) fn matching(n: usize, m: usize, fits: &mut dyn FnMut(usize, usize) -> bool) -> Option<Vec<usize>> {
    let mut owner: Vec<Option<usize>> = vec![None; m];
    for item in 0..n {
        if !augment(item, &mut owner, &mut vec![false; m], fits) {
            return None;
        }
    }
    let mut partners = vec![0; n];
    for (partner, item) in owner.iter().enumerate() {
        if let Some(item) = item {
            partners[*item] = partner;
        }
    }
    Some(partners)
}

fn augment(
    item: usize,
    owner: &mut [Option<usize>],
    tried: &mut [bool],
    fits: &mut dyn FnMut(usize, usize) -> bool,
) -> bool {
    for partner in 0..owner.len() {
        if tried[partner] || !fits(item, partner) {
            continue;
        }
        tried[partner] = true;
        let is_free = match owner[partner] {
            None => true,
            Some(other) => augment(other, owner, tried, fits),
        };
        if is_free {
            owner[partner] = Some(item);
            return true;
        }
    }
    false
}

//! The set of the states found so far, numbered in the order in which they were added.
//!
//! States follow one another in pieces of memory that do not move when the set grows. A table with open addressing has
//! for each state its number and half of its hash: the upper bits of that half are the place from which the state was
//! put, so that the table grows without a look at the states, and all of it tells most states apart without one. It is
//! at most 4/5 full.

use super::layout::Packed;
use super::rules::hash;

/// The number of states in a piece.
const PIECE: usize = 1 << 14;

/// The least logarithm of the number of places, and the greatest: as many bits has half of a hash.
const LEAST_LOG: u32 = 10;
const MOST_LOG: u32 = 32;

/// The states, each with the one from which it was found.
#[derive(Debug)]
pub(super) struct StateSet<const W: usize> {
    states: Vec<Vec<Packed<W>>>,
    parents: Vec<Vec<u32>>,
    len: usize,
    /// Half of the hash of a state in the upper half, and its number plus one; 0 where there is none.
    places: Vec<u64>,
    log: u32,
}

impl<const W: usize> StateSet<W> {
    pub(super) fn new() -> StateSet<W> {
        let places = vec![0; 1 << LEAST_LOG];
        StateSet { states: Vec::new(), parents: Vec::new(), len: 0, places, log: LEAST_LOG }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, number: usize) -> Packed<W> {
        self.states[number / PIECE][number % PIECE]
    }

    /// Returns the state from which a state was found; an initial one was found from itself.
    pub(super) fn parent(&self, number: usize) -> usize {
        self.parents[number / PIECE][number % PIECE] as usize
    }

    /// Returns whether there is room for the number of one more state.
    pub(super) fn has_room(&self) -> bool {
        self.len < u32::MAX as usize
    }

    /// Returns the place of a state, or the free place where it would be, with half of its hash.
    fn place(&self, state: &Packed<W>) -> (usize, u64) {
        let half = hash(*state) >> 32 << 32;
        let mut place = self.first_place(half);
        loop {
            let found = self.places[place];
            let is_here = || (found ^ half) >> 32 == 0 && self.get((found as u32 - 1) as usize) == *state;
            if found == 0 || is_here() {
                return (place, half);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Returns the number of a state that is known.
    pub(super) fn number(&self, state: &Packed<W>) -> Option<usize> {
        let found = self.places[self.place(state).0];
        (found != 0).then(|| (found as u32 - 1) as usize)
    }

    /// Adds a state that was found from another one, or is initial; returns its number unless it is known.
    pub(super) fn add(&mut self, state: &Packed<W>, parent: Option<usize>) -> Option<usize> {
        let (place, half) = self.place(state);
        if self.places[place] != 0 {
            return None;
        }
        let number = self.len;
        self.places[place] = half | (number as u64 + 1);
        self.push(*state, parent.unwrap_or(number) as u32);
        if self.len * 5 > self.places.len() * 4 && self.log < MOST_LOG {
            self.grow();
        }
        Some(number)
    }

    fn push(&mut self, state: Packed<W>, parent: u32) {
        if self.len.is_multiple_of(PIECE) {
            self.states.push(Vec::with_capacity(PIECE));
            self.parents.push(Vec::with_capacity(PIECE));
        }
        let last = self.len / PIECE;
        self.states[last].push(state);
        self.parents[last].push(parent);
        self.len += 1;
    }

    fn first_place(&self, half: u64) -> usize {
        (half >> (u64::BITS - self.log)) as usize
    }

    fn grow(&mut self) {
        self.log += 1;
        let old = std::mem::replace(&mut self.places, vec![0; 1 << self.log]);
        for found in old.into_iter().filter(|found| *found != 0) {
            let mut place = self.first_place(found >> 32 << 32);
            while self.places[place] != 0 {
                place = (place + 1) & (self.places.len() - 1);
            }
            self.places[place] = found;
        }
    }

    /// Returns the states from the start to a state.
    pub(super) fn path(&self, state: usize) -> Vec<usize> {
        let mut path = vec![state];
        let mut number = state;
        while self.parent(number) != number {
            number = self.parent(number);
            path.push(number);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_added_once_and_keeps_its_number() {
        let mut set: StateSet<2> = StateSet::new();
        let state = |number: u64| [number.wrapping_mul(0x9e37_79b9_7f4a_7c15), number / 3];
        for number in 0..50_000 {
            assert_eq!(set.add(&state(number), (number > 0).then_some(0)), Some(number as usize));
        }
        assert!((0..50_000).all(|number| set.add(&state(number), None).is_none()));
        assert!((0..50_000).all(|number| set.get(number) == state(number as u64)));
        assert_eq!((set.len(), set.path(49_999)), (50_000, vec![0, 49_999]));
    }

    #[test]
    fn states_with_one_half_of_a_hash_are_told_apart() {
        let mut set: StateSet<1> = StateSet::new();
        let mut by_half = std::collections::HashMap::new();
        let pair = (0u64..).find_map(|word| by_half.insert(hash([word]) >> 32, word).map(|other| (word, other)));
        let (one, other) = pair.expect("some hashes have one half");
        assert!(set.add(&[one], None).is_some() && set.add(&[other], None).is_some());
        assert!(set.add(&[one], None).is_none() && set.add(&[other], None).is_none());
    }
}

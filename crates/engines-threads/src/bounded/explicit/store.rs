//! The whole states found so far, each stored once and identified by a number.
//!
//! A whole state is a short list of numbers: the shared valuation, the thread that holds the atomic flag, and the other
//! threads in ascending order. The lists follow one another in one block of memory.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use selvedge_transition::macro_step::explicit::parts::{LocalId, SharedId};

type Hasher = BuildHasherDefault<FxHasher>;

/// A whole state.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct State {
    pub(super) shared: SharedId,
    /// The thread that holds the atomic flag.
    pub(super) holder: Option<LocalId>,
    /// The number of created threads, where it is bounded; else 0.
    pub(super) created: u32,
    /// The other threads, in ascending order.
    pub(super) threads: Vec<LocalId>,
}

impl State {
    pub(super) fn n_threads(&self) -> usize {
        self.threads.len() + usize::from(self.holder.is_some())
    }

    /// Adds a thread that does not hold the flag.
    pub(super) fn insert(&mut self, local: LocalId) {
        let at = self.threads.partition_point(|other| *other < local);
        self.threads.insert(at, local);
    }
}

/// Whole states. They are numbered in the order in which they were added.
#[derive(Default)]
pub(super) struct Store {
    words: Vec<u32>,
    /// The end of each state in the list.
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: Hasher,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn words(&self, number: usize) -> &[u32] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.words[start..self.ends[number]]
    }

    /// Reads a state into `state`.
    pub(super) fn read(&self, number: usize, state: &mut State) {
        let words = self.words(number);
        state.shared = words[0];
        state.holder = words[1].checked_sub(1);
        state.threads.clear();
        state.created = words[2];
        state.threads.extend_from_slice(&words[3..]);
    }

    pub(super) fn get(&self, number: usize) -> State {
        let mut state = State::default();
        self.read(number, &mut state);
        state
    }

    /// Adds a state; returns `None` if it is known.
    pub(super) fn add(&mut self, state: &State) -> Option<usize> {
        let start = self.words.len();
        self.words.extend([state.shared, state.holder.map_or(0, |holder| holder + 1), state.created]);
        self.words.extend_from_slice(&state.threads);
        let (words, ends, hasher) = (&self.words, &self.ends, &self.hasher);
        let of = |number: u32| {
            let start = if number == 0 { 0 } else { ends[number as usize - 1] };
            &words[start..ends[number as usize]]
        };
        let new = &words[start..];
        let hash = hasher.hash_one(new);
        if self.table.find(hash, |other| of(*other) == new).is_some() {
            self.words.truncate(start);
            return None;
        }
        let number = self.ends.len();
        let with_new = |other: &u32| {
            let words = if *other as usize == number { new } else { of(*other) };
            hasher.hash_one(words)
        };
        self.table.insert_unique(hash, number as u32, with_new);
        self.ends.push(self.words.len());
        Some(number)
    }
}

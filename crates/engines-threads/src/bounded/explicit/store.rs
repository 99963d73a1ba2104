//! The whole states found so far, each stored once and identified by a number.
//!
//! A whole state is a short list of numbers: the shared valuation, the thread that holds the atomic flag, the number of
//! created threads, and the other threads in ascending order.

use selvedge_transition::macro_step::explicit::parts::{LocalId, SharedId};

use crate::rows::Rows;

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
pub(super) struct Store(Rows);

impl Store {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Reads a state into `state`.
    pub(super) fn read(&self, number: usize, state: &mut State) {
        let words = self.0.get(number);
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
        let head = [state.shared, state.holder.map_or(0, |holder| holder + 1), state.created];
        self.0.add(&head, &state.threads)
    }
}

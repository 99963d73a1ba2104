//! The order of events: each execution is one, and each order that satisfies the clauses can be executed.
//!
//! Two events of different threads have a literal that says which one comes first, unless the start of a thread says
//! so. The clauses make the relation transitive: along each thread, and for events of three threads. Together with the
//! order of each thread it is total.

use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop};
use selvedge_logic::sat::SatLit;

use super::clauses::Clauses;

/// An event, by its number.
pub(super) type EventId = usize;

/// The events of all threads, and their order.
#[derive(Default)]
pub(super) struct Order {
    /// The thread of each event, and its number there.
    events: Vec<(usize, usize)>,
    /// The events of each thread.
    threads: Vec<Vec<EventId>>,
    /// The event that starts each thread; `None` for initial ones.
    parents: Vec<Option<EventId>>,
    /// For two events, the smaller number first: the first one comes first.
    before: FxHashMap<(EventId, EventId), SatLit>,
}

impl Order {
    pub(super) fn add_thread(&mut self, parent: Option<EventId>) {
        self.threads.push(Vec::new());
        self.parents.push(parent);
    }

    /// Returns the events of a thread.
    pub(super) fn of_thread(&self, thread: usize) -> &[EventId] {
        &self.threads[thread]
    }

    /// Returns whether one event comes before another in every execution that has both, as far as that is known
    /// beforehand.
    pub(super) fn known(&self, first: EventId, second: EventId) -> Option<bool> {
        if first == second {
            return Some(false);
        }
        if self.precedes(first, second) {
            return Some(true);
        }
        self.precedes(second, first).then_some(false)
    }

    /// Returns whether the first event leads to the second, along threads and their starts.
    fn precedes(&self, first: EventId, second: EventId) -> bool {
        let (thread, number) = self.events[first];
        let mut at = Some(second);
        while let Some(event) = at {
            let (of, place) = self.events[event];
            if of == thread {
                return number < place || event == first;
            }
            at = self.parents[of];
        }
        false
    }

    /// Returns the literal that says whether one event comes before another.
    pub(super) fn before(&self, first: EventId, second: EventId, clauses: &Clauses) -> SatLit {
        match self.known(first, second) {
            Some(known) => clauses.constant(known),
            None if first < second => self.before[&(first, second)],
            None => !self.before[&(second, first)],
        }
    }

    /// Adds the next event of a thread.
    pub(super) fn add(&mut self, thread: usize, clauses: &mut Clauses, run: &Run<'_>) -> Result<EventId, Stop> {
        let event = self.events.len();
        self.events.push((thread, self.threads[thread].len()));
        let last = self.threads[thread].last().copied();
        self.threads[thread].push(event);
        for other in (0..event).filter(|other| self.known(*other, event).is_none()).collect::<Vec<_>>() {
            let lit = clauses.fresh();
            self.before.insert((other, event), lit);
        }
        self.along_threads(event, last, clauses);
        self.across_threads(event, clauses, run)?;
        Ok(event)
    }

    /// What comes before an event comes before the next one of the same thread.
    fn along_threads(&self, event: EventId, last: Option<EventId>, clauses: &mut Clauses) {
        let thread = self.events[event].0;
        for others in (0..self.threads.len()).filter(|other| *other != thread).map(|other| &self.threads[other]) {
            for pair in others.windows(2) {
                let clause = [!self.before(pair[1], event, clauses), self.before(pair[0], event, clauses)];
                clauses.add(&clause);
            }
            for (last, other) in last.iter().flat_map(|last| others.iter().map(move |other| (*last, *other))) {
                let clause = [!self.before(event, other, clauses), self.before(last, other, clauses)];
                clauses.add(&clause);
            }
        }
    }

    /// Events of three threads do not come before each other in a circle.
    fn across_threads(&self, event: EventId, clauses: &mut Clauses, run: &Run<'_>) -> Result<(), Stop> {
        let thread = self.events[event].0;
        for one in 0..event {
            run.tick()?;
            let from_one = self.before(event, one, clauses);
            if self.events[one].0 == thread {
                continue;
            }
            for other in 0..one {
                if self.events[other].0 == thread || self.events[other].0 == self.events[one].0 {
                    continue;
                }
                let (between, to_other) = (self.before(one, other, clauses), self.before(event, other, clauses));
                clauses.add(&[!from_one, !between, to_other]);
                clauses.add(&[from_one, between, !to_other]);
            }
        }
        Ok(())
    }
}

//! Errors that are several threads at certain locations at the same time.

use selvedge_ir::LocId;
use selvedge_logic::sat::SatLit;

use super::order::EventId;
use super::unwinding::Unwinding;

/// A thread at a location, where the literal holds.
struct Stay {
    lit: SatLit,
    thread: usize,
    /// The event with which the thread came there, or that started it; `None` for the start of a run.
    came: Option<EventId>,
    /// The next event of the thread, if it is known.
    leaves: Option<EventId>,
}

/// The condition that threads meet, and the events with which they came.
pub(super) struct Meeting {
    pub(super) lit: SatLit,
    /// With the literals under which they did.
    pub(super) came: Vec<(SatLit, EventId)>,
}

impl Unwinding<'_> {
    /// Returns the conditions of the meetings that the target names.
    pub(super) fn meetings(&mut self) -> Vec<Meeting> {
        let together = self.layout.task.target.together.clone();
        together.iter().map(|locs| self.meeting(locs)).collect()
    }

    /// The locations are those of different threads, each of which leaves only after all have come.
    fn meeting(&mut self, locs: &[LocId]) -> Meeting {
        let lit = self.clauses.fresh();
        let stays: Vec<Vec<Stay>> = locs.iter().map(|loc| self.stays(*loc)).collect();
        for stays in &stays {
            let clause: Vec<SatLit> = stays.iter().map(|stay| stay.lit).chain([!lit]).collect();
            self.clauses.add(&clause);
        }
        for (number, first) in stays.iter().enumerate() {
            for (one, other) in stays[..number].iter().flatten().flat_map(|one| first.iter().map(move |o| (one, o))) {
                if one.thread == other.thread {
                    self.clauses.add(&[!one.lit, !other.lit]);
                } else {
                    self.require_before(one, other);
                    self.require_before(other, one);
                }
            }
        }
        let came = stays.iter().flatten().filter_map(|stay| Some((stay.lit, stay.came?))).collect();
        Meeting { lit, came }
    }

    /// Requires of two threads that stay that the first comes before the second leaves.
    fn require_before(&mut self, first: &Stay, second: &Stay) {
        if let (Some(came), Some(leaves)) = (first.came, second.leaves) {
            let happens = self.clauses.lit(&self.aig, self.events[leaves].happens);
            let before = self.order.before(came, leaves, &self.clauses);
            self.clauses.add(&[!first.lit, !second.lit, !happens, before]);
        }
    }

    fn stays(&mut self, loc: LocId) -> Vec<Stay> {
        let mut stays = Vec::new();
        for (number, thread) in self.threads.iter().enumerate() {
            let events = self.order.of_thread(number);
            for (depth, meets) in thread.meets.iter().enumerate() {
                let Some(guard) = meets.get(&loc) else { continue };
                let came = if depth == 0 { thread.parent } else { Some(events[depth - 1]) };
                let leaves = events.get(depth).copied();
                let (lit, is_there) = (self.clauses.fresh(), self.clauses.lit(&self.aig, *guard));
                self.clauses.add(&[!lit, is_there]);
                stays.push(Stay { lit, thread: number, came, leaves });
            }
        }
        stays
    }
}

//! Targets with several threads at the same time.

use selvedge_ir::LocId;
use selvedge_ir::target::met;
use selvedge_logic::bdd::OutOfNodes;

use super::model::{PlaceId, ViewSlot};
use super::search::ViewSearch;
use super::table::ViewKey;

impl ViewSearch<'_> {
    /// Returns whether some threads of a view meet.
    pub(super) fn is_meeting(&self, key: &ViewKey) -> bool {
        let count = |loc| key.threads.iter().filter(|place| self.model.place(**place).loc == loc).count();
        met(&self.model.target.together, count).is_some()
    }

    /// Returns whether the table allows a meeting of more than `k` threads: whether it has all views of `k` of them.
    pub(super) fn large_meeting(&mut self) -> Result<bool, OutOfNodes> {
        let (target, k) = (self.model.target, self.k);
        for meeting in target.together.iter().filter(|meeting| meeting.len() > k) {
            if self.allows(meeting, Vec::new())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the table allows threads at these places, in any order, and at further locations.
    fn allows(&mut self, rest: &[LocId], places: Vec<PlaceId>) -> Result<bool, OutOfNodes> {
        let Some((loc, rest)) = rest.split_first() else { return self.all_seen(places) };
        let here: Vec<PlaceId> =
            self.table.met.iter().copied().filter(|at| self.model.place(*at).loc == *loc).collect();
        for place in here {
            let with: Vec<PlaceId> = places.iter().copied().chain([place]).collect();
            if self.allows(rest, with)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether for some values of the variables all views of `k` of these threads are in the table, for any
    /// holder of the atomic flag: one of them, another thread, or none.
    fn all_seen(&mut self, mut places: Vec<PlaceId>) -> Result<bool, OutOfNodes> {
        places.sort_unstable();
        match places.iter().filter(|place| self.model.is_alone(**place)).count() {
            0 => Ok(self.all_seen_where(&places, false)? || self.all_seen_where(&places, true)?),
            1 => self.all_seen_where(&places, false),
            _ => Ok(false),
        }
    }

    fn all_seen_where(&mut self, places: &[PlaceId], held_elsewhere: bool) -> Result<bool, OutOfNodes> {
        let holder = places.iter().position(|place| self.model.is_alone(*place));
        let mut all = self.model.layout.manager.top();
        for chosen in choose(places.len(), self.k) {
            let threads: Vec<PlaceId> = chosen.iter().map(|number| places[*number]).collect();
            let held = held_elsewhere || holder.is_some_and(|holder| !chosen.contains(&holder));
            let Some(views) = self.table.get(&ViewKey { held, threads }) else { return Ok(false) };
            let changes = chosen
                .iter()
                .enumerate()
                .map(|(number, view_slot)| (ViewSlot::Copy(number), ViewSlot::Copy(*view_slot)));
            all = all.and(&self.model.in_slots(views, changes.collect())?)?;
        }
        Ok(!all.is_false())
    }
}

/// Returns all ascending lists of `k` of the first `n` numbers.
pub(super) fn choose(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for length in 0..k.min(n) {
        let from = |list: &Vec<usize>| list.last().map_or(0, |last| last + 1);
        let longer = |list: Vec<usize>| {
            let begin = from(&list);
            (begin..=n - (k.min(n) - length))
                .map(move |next| list.iter().copied().chain([next]).collect::<Vec<usize>>())
        };
        chosen = chosen.into_iter().flat_map(longer).collect();
    }
    chosen
}

//! The views: for each list of places the possible values of the variables of threads that are there at the same time.
//!
//! A view is the part of a state that concerns some threads, at most `k`: the shared variables, the places of the
//! threads in ascending order, their variables, and whether the atomic flag is held by a thread that is not among them.
//! The table is closed under forgetting threads, and under exchanging threads at the same place.

use std::collections::VecDeque;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::model::{PlaceId, ViewModel, ViewSlot};

/// The key that distinguishes views.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ViewKey {
    /// True if a thread that is not in the view holds the atomic flag.
    pub(super) held: bool,
    /// The places of the threads, in ascending order.
    pub(super) threads: Vec<PlaceId>,
}

/// The views with one key.
struct KeyViews {
    all: Bdd,
    /// The views whose steps have not been made.
    new: Bdd,
}

/// A table of views, see above.
pub(super) struct ViewTable {
    entries: IndexMap<ViewKey, KeyViews, FxBuildHasher>,
    /// The keys that have new views, each once.
    waiting: VecDeque<usize>,
    /// The places of the threads of views, except the prelude's, in the order in which they were found.
    pub(super) met: Vec<PlaceId>,
    /// The keys of one thread whose views have grown since the last call of `take_grown`.
    grown: Vec<usize>,
}

impl ViewTable {
    pub(super) fn new() -> ViewTable {
        ViewTable { entries: IndexMap::default(), waiting: VecDeque::new(), met: Vec::new(), grown: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the views with a key, if there are any.
    pub(super) fn get(&self, key: &ViewKey) -> Option<&Bdd> {
        self.entries.get(key).map(|entry| &entry.all)
    }

    /// Returns all views.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ViewKey, &Bdd)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.all))
    }

    /// Takes the new views of a key that has some.
    pub(super) fn pop(&mut self, bottom: &Bdd) -> Option<(ViewKey, Bdd)> {
        let number = self.waiting.pop_front()?;
        let (key, entry) = self.entries.get_index_mut(number).expect("keys are never removed");
        Some((key.clone(), std::mem::replace(&mut entry.new, bottom.clone())))
    }

    /// Returns the keys of one thread whose views have grown since the last call.
    pub(super) fn take_grown(&mut self) -> Vec<ViewKey> {
        let key = |number: usize| self.entries.get_index(number).expect("keys are never removed").0.clone();
        std::mem::take(&mut self.grown).into_iter().map(key).collect()
    }

    /// Adds views, of threads in view slots by number. Returns whether some were new.
    pub(super) fn add(&mut self, model: &mut ViewModel<'_>, key: ViewKey, set: &Bdd) -> Result<bool, OutOfNodes> {
        self.insert(model, key, set, true)
    }

    /// Adds views; `is_open` says whether their steps must be made, and are not made in views of more threads.
    fn insert(
        &mut self,
        model: &mut ViewModel<'_>,
        key: ViewKey,
        set: &Bdd,
        is_open: bool,
    ) -> Result<bool, OutOfNodes> {
        if set.is_false() {
            return Ok(false);
        }
        let fresh = match self.get(&key) {
            Some(known) => set.minus(known)?,
            None => set.clone(),
        };
        if fresh.is_false() {
            return Ok(false);
        }
        let fresh = symmetric(model, &key, fresh)?;
        let number = self.number(model, &key);
        let entry = &mut self.entries[number];
        entry.all = entry.all.or(&fresh)?;
        if is_open {
            if entry.new.is_false() {
                self.waiting.push_back(number);
            }
            entry.new = entry.new.or(&fresh)?;
        }
        if key.threads.len() == 1 {
            self.grown.push(number);
        }
        self.insert_smaller(model, &key, &fresh)?;
        Ok(true)
    }

    fn number(&mut self, model: &ViewModel<'_>, key: &ViewKey) -> usize {
        if let Some(number) = self.entries.get_index_of(key) {
            return number;
        }
        if let [only] = key.threads.as_slice()
            && model.place(*only).entry().is_some()
            && !self.met.contains(only)
        {
            self.met.push(*only);
        }
        let bottom = model.layout.manager.bottom();
        self.entries.insert_full(key.clone(), KeyViews { all: bottom.clone(), new: bottom }).0
    }

    /// Adds the views without each thread in turn. The steps of the remaining threads are seen in the views of all;
    /// with passive parts, though, they may be possible only without the thread that is forgotten.
    fn insert_smaller(&mut self, model: &mut ViewModel<'_>, key: &ViewKey, set: &Bdd) -> Result<(), OutOfNodes> {
        let n_threads = key.threads.len();
        for gone in (0..n_threads).filter(|_| n_threads > 1) {
            // Of several threads at one place it is enough to forget the first.
            if gone > 0 && key.threads[gone - 1] == key.threads[gone] {
                continue;
            }
            let smaller = key.without(model, gone);
            let set = model.without(set, vec![ViewSlot::Copy(gone)])?;
            let closer = (gone + 1..n_threads)
                .map(|view_slot| (ViewSlot::Copy(view_slot), ViewSlot::Copy(view_slot - 1)))
                .collect();
            let set = model.in_slots(&set, closer)?;
            self.insert(model, smaller, &set, model.is_passive)?;
        }
        Ok(())
    }
}

impl ViewKey {
    /// Returns the key without a thread.
    pub(super) fn without(&self, model: &ViewModel<'_>, thread: usize) -> ViewKey {
        let mut threads = self.threads.clone();
        let place = threads.remove(thread);
        ViewKey { held: self.held || model.is_alone(place), threads }
    }
}

/// Returns the views with all exchanges of threads at the same place. Exchanges of neighbours, repeated until nothing
/// is new, generate all others.
fn symmetric(model: &mut ViewModel<'_>, key: &ViewKey, set: Bdd) -> Result<Bdd, OutOfNodes> {
    let equal: Vec<usize> = (1..key.threads.len()).filter(|at| key.threads[at - 1] == key.threads[*at]).collect();
    let mut all = set;
    loop {
        let before = all.clone();
        for at in &equal {
            let (left, right) = (ViewSlot::Copy(at - 1), ViewSlot::Copy(*at));
            all = all.or(&model.in_slots(&all, vec![(left, right), (right, left)])?)?;
        }
        if all == before || equal.len() < 2 {
            return Ok(all);
        }
    }
}

//! The views: for each list of places what the variables of threads that stand there at the same time can be.
//!
//! A view is what can be seen of some threads of a state, at most `k`: the shared variables, the places of the threads in
//! ascending order, their variables, and whether the atomic flag is held by a thread that is not among them. The table
//! is closed under forgetting threads, and under exchanging threads that stand at the same place.

use std::collections::VecDeque;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::model::{Model, PlaceId, ViewSlot};

/// What distinguishes views.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    /// Whether a thread that is not seen holds the atomic flag.
    pub(super) held: bool,
    /// The places of the threads, in ascending order.
    pub(super) threads: Vec<PlaceId>,
}

/// The views with one key.
struct Entry {
    all: Bdd,
    /// Those whose steps have not been looked at.
    new: Bdd,
}

/// See above.
pub(super) struct Table {
    entries: IndexMap<Key, Entry, FxBuildHasher>,
    /// The keys that have new views, each once.
    waiting: VecDeque<usize>,
    /// The places of the threads of views, except the prelude's, in the order in which they were met.
    pub(super) met: Vec<PlaceId>,
    /// The keys of one thread whose views have grown since somebody asked.
    grown: Vec<usize>,
}

/// Whether the steps of new views must be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    /// They must.
    Open,
    /// They are seen in views of more threads.
    SeenElsewhere,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { entries: IndexMap::default(), waiting: VecDeque::new(), met: Vec::new(), grown: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The views with a key, if there are any.
    pub(super) fn get(&self, key: &Key) -> Option<&Bdd> {
        self.entries.get(key).map(|entry| &entry.all)
    }

    /// All views.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &Bdd)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.all))
    }

    /// Takes the new views of a key that has some.
    pub(super) fn pop(&mut self, bottom: &Bdd) -> Option<(Key, Bdd)> {
        let number = self.waiting.pop_front()?;
        let (key, entry) = self.entries.get_index_mut(number).expect("keys stay");
        Some((key.clone(), std::mem::replace(&mut entry.new, bottom.clone())))
    }

    /// The keys of one thread whose views have grown since the last call.
    pub(super) fn take_grown(&mut self) -> Vec<Key> {
        let key = |number: usize| self.entries.get_index(number).expect("keys stay").0.clone();
        std::mem::take(&mut self.grown).into_iter().map(key).collect()
    }

    /// Adds views, of threads in view slots by number. Says whether some were new.
    pub(super) fn add(&mut self, model: &mut Model<'_>, key: Key, set: &Bdd) -> Result<bool, OutOfNodes> {
        self.insert(model, key, set, Steps::Open)
    }

    fn insert(&mut self, model: &mut Model<'_>, key: Key, set: &Bdd, steps: Steps) -> Result<bool, OutOfNodes> {
        if set.is_false() {
            return Ok(false);
        }
        let known = self.entries.get(&key).map(|entry| entry.all.clone());
        let fresh = match &known {
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
        if steps == Steps::Open {
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

    fn number(&mut self, model: &Model<'_>, key: &Key) -> usize {
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
        self.entries.insert_full(key.clone(), Entry { all: bottom.clone(), new: bottom }).0
    }

    /// Each thread in turn is forgotten. The steps of those that are left are seen in the views of all; with passive
    /// parts, though, they may be possible only without the thread that is forgotten.
    fn insert_smaller(&mut self, model: &mut Model<'_>, key: &Key, set: &Bdd) -> Result<(), OutOfNodes> {
        let n_threads = key.threads.len();
        let steps = if model.is_passive { Steps::Open } else { Steps::SeenElsewhere };
        for gone in (0..n_threads).filter(|_| n_threads > 1) {
            // Of threads at one place the first is as good as another.
            if gone > 0 && key.threads[gone - 1] == key.threads[gone] {
                continue;
            }
            let smaller = key.without(model, gone);
            let set = model.without(set, vec![ViewSlot::Copy(gone)])?;
            let closer = (gone + 1..n_threads)
                .map(|view_slot| (ViewSlot::Copy(view_slot), ViewSlot::Copy(view_slot - 1)))
                .collect();
            let set = model.in_slots(&set, closer)?;
            self.insert(model, smaller, &set, steps)?;
        }
        Ok(())
    }
}

impl Key {
    /// The key when a thread is not looked at.
    pub(super) fn without(&self, model: &Model<'_>, thread: usize) -> Key {
        let mut threads = self.threads.clone();
        let place = threads.remove(thread);
        Key { held: self.held || model.is_alone(place), threads }
    }
}

/// The views with all exchanges of threads at the same place. Exchanges of neighbours, again and again until nothing is
/// new, make all others.
fn symmetric(model: &mut Model<'_>, key: &Key, set: Bdd) -> Result<Bdd, OutOfNodes> {
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

//! The least table of views that is closed under the steps of all threads.
//!
//! *Order of work.* The keys whose views have grown, first in, first out; of each the views that are new. Their threads
//! make steps, and so do threads that are not among them: with one more thread, all views of `k` of the `k + 1` threads
//! must be in the table. The successors are added, for each `k` of the threads that are there then. *Invariant.*
//! Between two keys, every view has all its successors in the table or is new. *End.* There are finitely many views and
//! the table only grows. *Right.* The table has the views of each initial state, and with those of a state those of its
//! successors: a view of the successor is one of threads that did not move and perhaps of the moving thread and of one
//! that it started. If those that did not move are fewer than `k`, they are seen together with the moving one before
//! the step; otherwise all of them are, and the moving one as one more thread.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Event, Role, Stop};
use selvedge_ir::Count;
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::Who;
use selvedge_transition::step::diagram::threads::ThreadLayout;

use super::model::{PlaceId, ViewModel, ViewSlot};
use super::moves::Moves;
use super::table::{ViewKey, ViewTable};

pub(super) struct ViewSearch<'a> {
    pub(super) model: ViewModel<'a>,
    pub(super) table: ViewTable,
    pub(super) k: usize,
    /// True if a view shows an error.
    has_error: bool,
}

/// A thread that is being put into a view: its place, and its view slot.
pub(super) type InSlot = (PlaceId, ViewSlot);

impl<'a> ViewSearch<'a> {
    pub(super) fn new(model: ViewModel<'a>, k: usize) -> ViewSearch<'a> {
        ViewSearch { model, table: ViewTable::new(), k, has_error: false }
    }

    /// Closes the table, or stops at the first error. Returns whether some view shows an error, or the beginning of a
    /// block that leads to one.
    pub(super) fn run(&mut self) -> Result<bool, Stop> {
        self.start().map_err(out_of_nodes)?;
        let bottom = self.model.layout.manager.bottom();
        let mut n_keys = 0;
        loop {
            if self.has_error().map_err(out_of_nodes)? {
                return Ok(true);
            }
            let Some((key, new)) = self.table.pop(&bottom) else { break };
            self.model.run.check_limits()?;
            self.model.layout.manager.tidy();
            self.expand(&key, &new)?;
            n_keys += 1;
            if n_keys % 64 == 0 {
                let (views, waiting) = (self.table.len(), self.table.n_waiting());
                self.model.run.event(Event::Views { k: self.k, views, waiting });
            }
        }
        self.large_meeting().map_err(out_of_nodes)
    }

    /// Adds the initial views: those of the prelude's thread, or of initial threads.
    fn start(&mut self) -> Result<(), OutOfNodes> {
        let program = self.model.program;
        let shared = self.model.layout.start(program, Who::Mover)?;
        let Some(proc) = program.prelude else { return self.begin(&shared) };
        let place = Place { role: Role::Prelude, loc: program.procs[proc].entry };
        let set = shared.and(&self.model.layout.prelude(Who::Mover, place.loc)?)?;
        let number = self.model.number(place);
        self.add_views(&[(number, ViewSlot::Mover)], false, &set)
    }

    /// Adds the views of the initial threads, for all numbers of them that the program allows, the largest first.
    fn begin(&mut self, shared: &Bdd) -> Result<(), OutOfNodes> {
        let program = self.model.program;
        let mut initial_counts: Vec<(Vec<PlaceId>, Bdd)> = vec![(Vec::new(), shared.clone())];
        for (id, entry) in program.entries.iter_enumerated() {
            let loc = program.procs[entry.proc].entry;
            let place = self.model.number(Place { role: Role::Free(id), loc });
            let relation = self.model.layout.entry(program, Who::Mover, id)?;
            let most = match entry.count {
                Count::Exactly(most) | Count::AtMost(most) => most as usize,
                Count::Any => self.k,
            };
            let mut longer = Vec::new();
            for (threads, set) in initial_counts {
                let (mut threads, mut set) = (threads, set);
                let room = most.min(self.k - threads.len());
                longer.push((threads.clone(), set.clone()));
                for _ in 0..room {
                    let view_slot = ViewSlot::Copy(threads.len());
                    set = set.and(&self.model.in_slots(&relation, vec![(ViewSlot::Mover, view_slot)])?)?;
                    threads.push(place);
                    longer.push((threads.clone(), set.clone()));
                }
            }
            initial_counts = longer;
        }
        initial_counts.sort_by_key(|(threads, _)| std::cmp::Reverse(threads.len()));
        for (threads, set) in initial_counts.into_iter().filter(|(threads, _)| !threads.is_empty()) {
            self.add_views(&slots_of(&threads), false, &set)?;
        }
        Ok(())
    }

    /// Adds the views of threads on any view slots, for each `k` of them. `held` says whether another thread holds the
    /// flag.
    fn add_views(&mut self, threads: &[InSlot], held: bool, set: &Bdd) -> Result<(), OutOfNodes> {
        if set.is_false() || threads.is_empty() {
            return Ok(());
        }
        if threads.len() > self.k {
            for gone in 0..threads.len() {
                let mut rest = threads.to_vec();
                let (place, view_slot) = rest.remove(gone);
                let set = self.model.without(set, vec![view_slot])?;
                self.add_views(&rest, held || self.model.is_alone(place), &set)?;
            }
            return Ok(());
        }
        let mut threads = threads.to_vec();
        threads.sort_unstable();
        let changes =
            threads.iter().enumerate().map(|(number, (_, view_slot))| (*view_slot, ViewSlot::Copy(number))).collect();
        let set = self.model.in_slots(set, changes)?;
        self.add(ViewKey { held, threads: threads.iter().map(|(place, _)| *place).collect() }, &set)
    }

    /// Returns whether a view shows an error: one of a single thread, among the keys that have grown, or a meeting.
    fn has_error(&mut self) -> Result<bool, OutOfNodes> {
        for key in self.table.take_grown() {
            let place = key.threads[0];
            let reached = self.model.target.has_loc(self.model.place(place).loc);
            let moves = self.model.moves(place)?;
            let can_move = !key.held;
            let set = self.table.get(&key).expect("keys that have grown have views");
            let set = self.model.in_slots(set, vec![(ViewSlot::Copy(0), ViewSlot::Mover)])?;
            self.has_error |= reached || (can_move && !set.is_disjoint(&moves.error));
        }
        Ok(self.has_error)
    }

    /// Makes the steps of new views.
    fn expand(&mut self, key: &ViewKey, new: &Bdd) -> Result<(), Stop> {
        let holder = key.threads.iter().position(|place| self.model.is_alone(*place));
        for mover in 0..key.threads.len() {
            let is_first = mover == 0 || key.threads[mover - 1] != key.threads[mover];
            if !key.held && is_first && holder.is_none_or(|holder| holder == mover) {
                self.model.run.tick()?;
                self.member(key, new, mover).map_err(out_of_nodes)?;
                if key.threads.len() == self.k {
                    self.outsider_of_others(key, new, mover)?;
                }
            }
        }
        if key.threads.len() == self.k && holder.is_none() {
            self.outsiders(key, new)?;
        }
        Ok(())
    }

    /// Moves a thread of the views.
    fn member(&mut self, key: &ViewKey, new: &Bdd, mover: usize) -> Result<(), OutOfNodes> {
        let place = key.threads[mover];
        let moves = self.model.moves(place)?;
        let others: Vec<PlaceId> =
            key.threads.iter().enumerate().filter(|(at, _)| *at != mover).map(|(_, p)| *p).collect();
        let mut changes = vec![(ViewSlot::Copy(mover), ViewSlot::Mover)];
        changes.extend(
            (mover + 1..key.threads.len()).map(|view_slot| (ViewSlot::Copy(view_slot), ViewSlot::Copy(view_slot - 1))),
        );
        let set = self.model.in_slots(new, changes)?;
        let is_prelude = self.model.place(place).entry().is_none();
        for outcome in &moves.outcomes {
            let mut after = set.and_exists(&outcome.relation, &moves.forget)?.rename(&moves.rename)?;
            if after.is_false() {
                continue;
            }
            if is_prelude && outcome.to.is_none() {
                self.begin(&after)?;
                continue;
            }
            let mut threads: Vec<InSlot> = slots_of(&others);
            if let (Some(edge), Some(to)) = (outcome.passive, outcome.to) {
                after = self.model.passive(&after, edge, to, &threads)?;
            }
            threads.extend(outcome.to.map(|to| (self.model.number(to), ViewSlot::Mover)));
            threads.extend(outcome.child.map(|child| (self.model.number(child), ViewSlot::Peer)));
            self.add_views(&threads, false, &after)?;
        }
        Ok(())
    }

    /// Moves threads that are not in the new views.
    fn outsiders(&mut self, key: &ViewKey, new: &Bdd) -> Result<(), Stop> {
        for mover in self.table.met.clone() {
            if self.model.is_alone(mover) != key.held {
                continue;
            }
            let moves = self.model.moves(mover).map_err(out_of_nodes)?;
            if !moves.is_observable() {
                continue;
            }
            let Some(beside) = self.beside(key, mover, None).map_err(out_of_nodes)? else { continue };
            self.model.run.tick()?;
            self.join(key, new, &moves, beside).map_err(out_of_nodes)?;
        }
        Ok(())
    }

    /// Moves a thread of the new views, seen by others that are in views together with the rest of them.
    fn outsider_of_others(&mut self, key: &ViewKey, new: &Bdd, mover: usize) -> Result<(), Stop> {
        let place = key.threads[mover];
        let moves = self.model.moves(place).map_err(out_of_nodes)?;
        if !moves.is_observable() || self.model.place(place).entry().is_none() {
            return Ok(());
        }
        let mut rest = key.threads.clone();
        rest.remove(mover);
        // The new views, by the view slots of the rest.
        let mut in_slots: FxHashMap<usize, Bdd> = FxHashMap::default();
        for other in self.table.met.clone() {
            if self.model.is_alone(other) {
                continue;
            }
            let at = rest.partition_point(|place| *place < other);
            let mut threads = rest.clone();
            threads.insert(at, other);
            let base = ViewKey { held: self.model.is_alone(place), threads };
            let Some(views) = self.table.get(&base).cloned() else { continue };
            let Some(mut beside) = self.beside(&base, place, Some(at)).map_err(out_of_nodes)? else { continue };
            self.model.run.tick()?;
            let new = match in_slots.get(&at) {
                Some(known) => known.clone(),
                None => {
                    let set = self.model.in_slots(new, with_gap(self.k, mover, at)).map_err(out_of_nodes)?;
                    in_slots.insert(at, set.clone());
                    set
                }
            };
            beside.insert(0, new);
            self.join(&base, &views, &moves, beside).map_err(out_of_nodes)?;
        }
        Ok(())
    }

    /// Returns the views of the moving thread beside all but one of the others, for each of them (except that with the
    /// number `known`), on their view slots; `None` if the table lacks some.
    fn beside(&mut self, base: &ViewKey, mover: PlaceId, known: Option<usize>) -> Result<Option<Vec<Bdd>>, OutOfNodes> {
        let keys: Vec<(ViewKey, Vec<(ViewSlot, ViewSlot)>)> = (0..base.threads.len())
            .filter(|gone| known != Some(*gone))
            .map(|gone| beside_key(base, mover, gone))
            .collect();
        if !keys.iter().all(|(key, _)| self.table.get(key).is_some()) {
            return Ok(None);
        }
        let mut sets = Vec::new();
        for (key, changes) in keys {
            let views = self.table.get(&key).expect("all these views were found in the table").clone();
            sets.push(self.model.in_slots(&views, changes)?);
        }
        Ok(Some(sets))
    }

    /// Moves a thread that is seen in views together with the others, and adds the new views of the others.
    fn join(&mut self, base: &ViewKey, views: &Bdd, moves: &Rc<Moves>, beside: Vec<Bdd>) -> Result<(), OutOfNodes> {
        let mover = self.model.leaving(vec![ViewSlot::Mover])?;
        for (held, effect) in &moves.effects {
            let mut relation = effect.clone();
            let (last, first) = beside.split_last().expect("there is at least one thread beside the moving one");
            for views in first {
                relation = relation.and(views)?;
            }
            let relation = relation.and_exists(last, &mover)?;
            if relation.is_false() {
                continue;
            }
            let after = relation.and_exists(views, &moves.forget_shared)?.rename(&moves.rename)?;
            self.add(ViewKey { held: *held, threads: base.threads.clone() }, &after)?;
        }
        self.join_passive(base, views, moves, &beside)
    }

    /// Makes the same moves for steps with passive parts, which change the others.
    fn join_passive(&mut self, base: &ViewKey, views: &Bdd, moves: &Moves, beside: &[Bdd]) -> Result<(), OutOfNodes> {
        for outcome in &moves.outcomes {
            let (Some(edge), Some(to)) = (outcome.passive, outcome.to) else { continue };
            let mut all = views.clone();
            for views in beside {
                all = all.and(views)?;
            }
            let before = all.and_exists(&outcome.relation, &moves.forget)?.rename(&moves.rename)?;
            let after = self.model.passive(&before, edge, to, &slots_of(&base.threads))?;
            let after = self.model.without(&after, vec![ViewSlot::Mover])?;
            self.add(ViewKey { held: to.is_alone(), threads: base.threads.clone() }, &after)?;
        }
        Ok(())
    }

    /// Adds views of threads in view slots by number.
    fn add(&mut self, key: ViewKey, set: &Bdd) -> Result<(), OutOfNodes> {
        let is_meeting = self.is_meeting(&key);
        if self.table.add(&mut self.model, key, set)? {
            self.has_error |= is_meeting;
        }
        Ok(())
    }
}

/// Returns threads at these places, in view slots by number.
fn slots_of(places: &[PlaceId]) -> Vec<InSlot> {
    places.iter().enumerate().map(|(view_slot, place)| (*place, ViewSlot::Copy(view_slot))).collect()
}

/// Returns the changes of view slots that move one of `k` threads to the slot of the moving one, and leave the slot
/// `at` free among the others.
fn with_gap(k: usize, mover: usize, at: usize) -> Vec<(ViewSlot, ViewSlot)> {
    let others = (0..k).filter(|view_slot| *view_slot != mover).zip(0..);
    let others = others.map(|(view_slot, to)| (ViewSlot::Copy(view_slot), ViewSlot::Copy(to + usize::from(to >= at))));
    others.chain([(ViewSlot::Copy(mover), ViewSlot::Mover)]).collect()
}

/// Returns the key of the views of a moving thread and the others but one, and the view slots that these have as a part
/// of all.
pub(super) fn beside_key(base: &ViewKey, mover: PlaceId, gone: usize) -> (ViewKey, Vec<(ViewSlot, ViewSlot)>) {
    let others: Vec<(PlaceId, usize)> =
        base.threads.iter().copied().zip(0..).filter(|(_, number)| *number != gone).collect();
    let at = others.partition_point(|(place, _)| *place < mover);
    let mut threads: Vec<PlaceId> = others.iter().map(|(place, _)| *place).collect();
    threads.insert(at, mover);
    let mut changes: Vec<(ViewSlot, ViewSlot)> = others
        .iter()
        .enumerate()
        .map(|(number, (_, view_slot))| {
            (ViewSlot::Copy(number + usize::from(number >= at)), ViewSlot::Copy(*view_slot))
        })
        .collect();
    changes.push((ViewSlot::Copy(at), ViewSlot::Mover));
    (ViewKey { held: false, threads }, changes)
}

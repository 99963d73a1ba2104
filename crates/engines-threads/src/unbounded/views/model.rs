//! The program as the closure uses it: places, relations, and the variables of the threads of a view.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::{Program, Target};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes, Renaming, Var, VarSet};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::VisiblePoints;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::{PairLayout, Who};
use selvedge_transition::step::diagram::step::Steps;
use selvedge_transition::step::vars::Keep;

use super::moves::Moves;

/// The number of a place.
pub(super) type PlaceId = u32;

/// The variables of the diagrams that a thread has while views are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ViewSlot {
    /// The variables of a thread that looks on. In tables the thread with number `i` of a view has view slot `Copy(i)`.
    Copy(usize),
    /// The variables of the thread that moves.
    Mover,
    /// The variables of a thread that it has started.
    Peer,
}

/// The program, and all data derived from it.
pub(super) struct ViewModel<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) run: &'a Run<'a>,
    pub(super) layout: PairLayout,
    pub(super) steps: Steps,
    pub(super) flow: Flow,
    pub(super) ranks: Ranks,
    /// True if there are steps with passive parts.
    pub(super) is_passive: bool,
    /// All places, in ascending order.
    pub(super) places: Vec<Place>,
    moves: Vec<Option<Rc<Moves>>>,
    slot_changes: FxHashMap<Vec<(ViewSlot, ViewSlot)>, Renaming>,
    leavings: FxHashMap<Vec<ViewSlot>, VarSet>,
}

impl<'a> ViewModel<'a> {
    /// Creates the model for views of `k` threads.
    pub(super) fn new(task: &Task<'a>, run: &'a Run<'a>, k: usize) -> Result<ViewModel<'a>, Stop> {
        let program = task.program;
        let limits = run.memory_limit().map_or(Limits::default(), Limits::memory);
        let visible_points = VisiblePoints::few(program, task.target);
        let flow = Flow::new(program);
        let places = Place::all(program, &visible_points);
        let n_copies = task.target.together.iter().map(Vec::len).max().unwrap_or(0).max(k);
        Ok(ViewModel {
            layout: PairLayout::with_copies(program, Keep::Live, limits, n_copies).map_err(out_of_nodes)?,
            steps: Steps::new(program),
            ranks: Ranks::new(program, &flow, &visible_points),
            target: task.target,
            is_passive: selvedge_transition::support::is_passive(program),
            moves: places.iter().map(|_| None).collect(),
            slot_changes: FxHashMap::default(),
            leavings: FxHashMap::default(),
            program,
            run,
            flow,
            places,
        })
    }

    /// Returns the number of a place.
    pub(super) fn number(&self, place: Place) -> PlaceId {
        self.places.binary_search(&place).expect("threads are seen at places only") as PlaceId
    }

    pub(super) fn place(&self, id: PlaceId) -> Place {
        self.places[id as usize]
    }

    /// Returns whether a thread at the place holds the atomic flag, or is the prelude's.
    pub(super) fn is_alone(&self, id: PlaceId) -> bool {
        self.place(id).is_alone()
    }

    /// Returns the moves of a thread from a place.
    pub(super) fn moves(&mut self, id: PlaceId) -> Result<Rc<Moves>, OutOfNodes> {
        if let Some(known) = &self.moves[id as usize] {
            return Ok(Rc::clone(known));
        }
        let moves = Rc::new(self.follow(self.place(id))?);
        self.moves[id as usize] = Some(Rc::clone(&moves));
        Ok(moves)
    }

    /// Returns the variables of a view slot, by place of the program's variables.
    pub(super) fn vars(&self, view_slot: ViewSlot) -> Vec<Var> {
        match view_slot {
            ViewSlot::Copy(number) => self.layout.copies[number].clone(),
            ViewSlot::Mover => self.layout.now(Who::Mover).1,
            ViewSlot::Peer => self.layout.now(Who::Peer).1,
        }
    }

    /// Moves threads, each from one view slot to another. Threads that are not named stay; no two may come to one view
    /// slot.
    pub(super) fn in_slots(&mut self, set: &Bdd, mut changes: Vec<(ViewSlot, ViewSlot)>) -> Result<Bdd, OutOfNodes> {
        changes.retain(|(from, to)| from != to);
        if changes.is_empty() {
            return Ok(set.clone());
        }
        if !self.slot_changes.contains_key(&changes) {
            let pairs: Vec<(Var, Var)> =
                changes.iter().flat_map(|(from, to)| self.vars(*from).into_iter().zip(self.vars(*to))).collect();
            self.slot_changes.insert(changes.clone(), self.layout.manager.renaming(&pairs));
        }
        set.rename(&self.slot_changes[&changes])
    }

    /// Forgets the threads of these view slots.
    pub(super) fn without(&mut self, set: &Bdd, view_slots: Vec<ViewSlot>) -> Result<Bdd, OutOfNodes> {
        if view_slots.is_empty() {
            return Ok(set.clone());
        }
        set.exists(&self.leaving(view_slots)?)
    }

    /// Returns the set of the variables of some view slots.
    pub(super) fn leaving(&mut self, view_slots: Vec<ViewSlot>) -> Result<VarSet, OutOfNodes> {
        if let Some(known) = self.leavings.get(&view_slots) {
            return Ok(known.clone());
        }
        let vars: Vec<Var> = view_slots.iter().flat_map(|view_slot| self.vars(*view_slot)).collect();
        let set = self.layout.manager.var_set(&vars)?;
        self.leavings.insert(view_slots, set.clone());
        Ok(set)
    }
}

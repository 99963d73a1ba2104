//! What the closure knows of the program: places, relations, and the variables of the threads of a view.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::{Program, Target};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes, Renaming, Var, VarSet};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::Stops;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::layout::{Layout, Who};
use selvedge_transition::step::diagram::step::Steps;
use selvedge_transition::step::vars::Keep;

use super::moves::Moves;

/// The number of a place.
pub(super) type PlaceId = u32;

/// Which variables of the diagrams a thread has while views are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Seat {
    /// Those of a thread that looks on. In tables the thread with number `i` of a view has seat `Copy(i)`.
    Copy(usize),
    /// Those of the thread that moves.
    Mover,
    /// Those of a thread that it has started.
    Peer,
}

/// The program, and all that is derived from it.
pub(super) struct Model<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) run: &'a Run<'a>,
    pub(super) layout: Layout,
    pub(super) steps: Steps,
    pub(super) stops: Stops,
    pub(super) flow: Flow,
    pub(super) ranks: Ranks,
    /// Whether there are steps with passive parts.
    pub(super) is_passive: bool,
    /// All places, in ascending order.
    pub(super) places: Vec<Place>,
    moves: Vec<Option<Rc<Moves>>>,
    seatings: FxHashMap<Vec<(Seat, Seat)>, Renaming>,
    leavings: FxHashMap<Vec<Seat>, VarSet>,
}

impl<'a> Model<'a> {
    /// For views of so many threads.
    pub(super) fn new(task: &Task<'a>, run: &'a Run<'a>, k: usize) -> Result<Model<'a>, Stop> {
        let program = task.program;
        let limits = run.memory_limit().map_or(Limits::default(), Limits::memory);
        let stops = Stops::few(program, task.target);
        let flow = Flow::new(program);
        let places = Place::all(program, &stops);
        let n_copies = task.target.together.iter().map(Vec::len).max().unwrap_or(0).max(k);
        Ok(Model {
            layout: Layout::with_copies(program, Keep::Live, limits, n_copies).map_err(out_of_nodes)?,
            steps: Steps::new(program),
            ranks: Ranks::new(program, &flow, &stops),
            target: task.target,
            is_passive: selvedge_transition::support::is_passive(program),
            moves: places.iter().map(|_| None).collect(),
            seatings: FxHashMap::default(),
            leavings: FxHashMap::default(),
            program,
            run,
            stops,
            flow,
            places,
        })
    }

    /// The number of a place.
    pub(super) fn number(&self, place: Place) -> PlaceId {
        self.places.binary_search(&place).expect("threads are seen at places only") as PlaceId
    }

    pub(super) fn place(&self, id: PlaceId) -> Place {
        self.places[id as usize]
    }

    /// Whether the thread there holds the atomic flag, or is the prelude's.
    pub(super) fn is_alone(&self, id: PlaceId) -> bool {
        self.place(id).is_alone()
    }

    /// What a thread can do from a place.
    pub(super) fn moves(&mut self, id: PlaceId) -> Result<Rc<Moves>, OutOfNodes> {
        if let Some(known) = &self.moves[id as usize] {
            return Ok(Rc::clone(known));
        }
        let moves = Rc::new(self.follow(self.place(id))?);
        self.moves[id as usize] = Some(Rc::clone(&moves));
        Ok(moves)
    }

    /// The variables of a seat, by place of the program's variables.
    pub(super) fn vars(&self, seat: Seat) -> Vec<Var> {
        match seat {
            Seat::Copy(number) => self.layout.copies[number].clone(),
            Seat::Mover => self.layout.now(Who::Mover).1,
            Seat::Peer => self.layout.now(Who::Peer).1,
        }
    }

    /// Puts threads, each from one seat to another. Threads that are not named stay; no two may come to one seat.
    pub(super) fn seated(&mut self, set: &Bdd, mut changes: Vec<(Seat, Seat)>) -> Result<Bdd, OutOfNodes> {
        changes.retain(|(from, to)| from != to);
        if changes.is_empty() {
            return Ok(set.clone());
        }
        if !self.seatings.contains_key(&changes) {
            let pairs: Vec<(Var, Var)> =
                changes.iter().flat_map(|(from, to)| self.vars(*from).into_iter().zip(self.vars(*to))).collect();
            self.seatings.insert(changes.clone(), self.layout.manager.renaming(&pairs));
        }
        set.rename(&self.seatings[&changes])
    }

    /// The threads of these seats are forgotten.
    pub(super) fn without(&mut self, set: &Bdd, seats: Vec<Seat>) -> Result<Bdd, OutOfNodes> {
        if seats.is_empty() {
            return Ok(set.clone());
        }
        set.exists(&self.leaving(seats)?)
    }

    /// The variables of some seats, prepared.
    pub(super) fn leaving(&mut self, seats: Vec<Seat>) -> Result<VarSet, OutOfNodes> {
        if let Some(known) = self.leavings.get(&seats) {
            return Ok(known.clone());
        }
        let vars: Vec<Var> = seats.iter().flat_map(|seat| self.vars(*seat)).collect();
        let set = self.layout.manager.var_set(&vars)?;
        self.leavings.insert(seats, set.clone());
        Ok(set)
    }
}

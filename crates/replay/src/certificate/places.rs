//! The places of the one thread of a program without recursion, its callers included, and its moves.
//!
//! Errors are places without moves: a target location, and *failed*, where the failure of a target assertion leads.

use std::collections::BTreeMap;

use selvedge_check::Task;
use selvedge_ir::{EdgeId, EntryId, Program};

use super::{Flaw, Refused, Unjudged};
use crate::position::Position;
use crate::program::Leaving;

/// More places than this are not listed.
const LIMIT: usize = 20_000;

/// The part of a run that a thread belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Prelude,
    Thread,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A thread is somewhere.
    At(Phase, Position),
    /// A target assertion has failed.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A step along the edge to the next location of this thread.
    Step,
    /// The failure of the assertion of the edge.
    Fail,
    /// The end of the prelude, which starts the thread.
    Start,
}

pub(super) struct Move {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) edge: EdgeId,
    pub(super) kind: Kind,
}

/// The first place has the number 0.
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    pub(super) moves: Vec<Move>,
    numbers: BTreeMap<Place, usize>,
}

impl Places {
    /// All places that control flow can reach. Each is looked at once.
    pub(super) fn new(task: &Task<'_>) -> Result<Places, Refused> {
        let leaving = Leaving::new(task.program);
        let mut places = Places { all: Vec::new(), moves: Vec::new(), numbers: BTreeMap::new() };
        places.number(first(task.program));
        let mut from = 0;
        while from < places.all.len() {
            if let Place::At(phase, position) = places.all[from].clone()
                && !task.target.has_loc(position.loc)
            {
                for edge in leaving.of(position.loc) {
                    places.follow(task, from, (phase, &position), *edge)?;
                }
            }
            if places.all.len() > LIMIT {
                return Err(Unjudged::Beyond("its calls can be nested in too many ways").into());
            }
            from += 1;
        }
        Ok(places)
    }

    fn number(&mut self, place: Place) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.all.push(place);
        }
        number
    }

    fn add(&mut self, from: usize, edge: EdgeId, kind: Kind, place: Place) {
        let to = self.number(place);
        self.moves.push(Move { from, to, edge, kind });
    }

    /// The moves along an edge.
    fn follow(
        &mut self,
        task: &Task<'_>,
        from: usize,
        (phase, position): (Phase, &Position),
        id: EdgeId,
    ) -> Result<(), Flaw> {
        let op = &task.program.edges[id].op;
        if position.recurs(task.program, op) {
            return Err(Flaw::OutOfScope("it is recursive"));
        }
        if task.target.has_assert(id) {
            self.add(from, id, Kind::Fail, Place::Failed);
        }
        match (position.after(task.program, id), phase) {
            (Some(after), _) => self.add(from, id, Kind::Step, Place::At(phase, after)),
            (None, Phase::Prelude) => self.add(from, id, Kind::Start, thread(task.program)),
            (None, Phase::Thread) => {}
        }
        Ok(())
    }

    /// Returns whether a place is an error.
    pub(super) fn is_error(&self, task: &Task<'_>, number: usize) -> bool {
        match &self.all[number] {
            Place::At(_, position) => task.target.has_loc(position.loc),
            Place::Failed => true,
        }
    }

    /// The control of the thread at a place that has moves.
    pub(super) fn position(&self, number: usize) -> &Position {
        match &self.all[number] {
            Place::At(_, position) => position,
            Place::Failed => unreachable!("nothing leaves an error"),
        }
    }
}

fn first(program: &Program) -> Place {
    match program.prelude {
        Some(prelude) => Place::At(Phase::Prelude, Position::entry(program, prelude)),
        None => thread(program),
    }
}

/// The place where the thread begins.
fn thread(program: &Program) -> Place {
    Place::At(Phase::Thread, Position::entry(program, program.entries[EntryId::new(0)].proc))
}

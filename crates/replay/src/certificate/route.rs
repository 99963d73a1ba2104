//! Macro steps: how a thread comes from one place to the next. One route for all proofs about several threads.
//!
//! A *route* lists the inner locations on the ways from a place, as far as control alone says, with the moves between
//! them. Between two places a thread makes invisible steps, or any steps while it holds the atomic flag or is the
//! prelude's ([`Mode`]). [`travel`] follows a route with values: literals of a solver, or values that are known or
//! open.
//!
//! # Cycles
//!
//! If states on the way are not distinguished, the inner locations must be in topological order, the place itself first
//! ([`Route::in_order`]), so that [`travel`], which takes the first location that has states, meets each location after
//! everything that leads to it. A move that would close a cycle counts as one to a location that should be listed: it
//! must not be possible. Then every path of the thread is covered, since one that goes round would take such a move,
//! for the first time behind a path that is covered. If states on the way are distinguished, all of them are looked at,
//! and going round is not a flaw: an execution up to an error goes round only a number of times.

use std::collections::BTreeMap;

use selvedge_check::{Role, Run};
use selvedge_ir::{Edge, EdgeId, EntryId, LocId, ProcId};

use super::place_table::{PlaceTable, kind};
use super::{Flaw, Refused, Unjudged};
use crate::position::Position;
use crate::semantics::flag;

/// More inner locations than this are not listed.
const LIMIT: usize = 1_000_000;

/// The steps that a thread may make without being seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    /// Invisible steps.
    Quiet,
    /// Any steps, since it holds the atomic flag.
    Held,
    /// Any steps, since it is alone.
    Alone,
}

/// The ways from a place.
pub(super) struct Route {
    /// The moves from each inner location; the place itself comes first.
    pub(super) nodes: Vec<Vec<Move>>,
}

/// A step along an edge.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) edge: EdgeId,
    /// The call of the running frame.
    pub(super) caller: Option<EdgeId>,
    pub(super) to: To,
    /// The beginning of a thread that the step may start.
    pub(super) child: Option<To>,
}

/// The end of a move.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// The inner location with this number, which may not be the end.
    Inner(usize),
    /// The place with this number, the end of the macro step.
    Place(u32),
    /// A target location.
    Error(LocId),
    /// A location that should be listed: it is not the end, or threads must not meet there, or it closes a cycle.
    Unlisted,
    /// Nowhere: it ended.
    Gone,
    /// Nowhere: a thread that was alone ended. After the prelude, the initial threads begin.
    Start,
}

impl Route {
    /// All ways from a place.
    pub(super) fn new(table: &PlaceTable<'_>, place: u32, run: &Run<'_>) -> Result<Route, Refused> {
        let at = table.at(place);
        let mode = match at.role {
            Role::Prelude => Mode::Alone,
            Role::Holder(_) => Mode::Held,
            Role::Free(_) => Mode::Quiet,
        };
        let position = Position { calls: at.calls.clone(), loc: at.loc };
        Search::new(table, kind(at.role), (mode, position)).explore(run)
    }

    /// All ways of a thread that is alone, like the prelude's, from the beginning of a procedure to its end; with the
    /// control of the thread at each inner location.
    pub(super) fn alone(
        table: &PlaceTable<'_>,
        proc: ProcId,
        run: &Run<'_>,
    ) -> Result<(Route, impl Iterator<Item = Position>), Refused> {
        let mut search = Search::new(table, None, (Mode::Alone, Position::entry(table.task.program, proc)));
        let route = search.explore(run)?;
        Ok((route, search.spots.into_iter().map(|(_, position)| position)))
    }

    /// The same route with its inner locations in topological order. A depth-first search finds the moves that lead
    /// back to a location that it has not finished: they are not to be taken. Without them there is no cycle, and the
    /// locations in the opposite of the order in which they are finished are in topological order.
    pub(super) fn in_order(mut self) -> Route {
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut finished = Vec::new();
        // The locations that are not finished, each with its next move.
        let mut open = vec![(0, 0)];
        marks[0] = Mark::Open;
        while let Some((node, next)) = open.last_mut() {
            let (node, number) = (*node, *next);
            *next += 1;
            match self.nodes[node].get_mut(number) {
                None => {
                    marks[node] = Mark::Finished;
                    finished.push(node);
                    open.pop();
                }
                Some(step) => {
                    let To::Inner(to) = step.to else { continue };
                    match marks[to] {
                        Mark::New => {
                            marks[to] = Mark::Open;
                            open.push((to, 0));
                        }
                        Mark::Open => step.to = To::Unlisted,
                        Mark::Finished => {}
                    }
                }
            }
        }
        let mut numbers = vec![0; self.nodes.len()];
        finished.iter().rev().enumerate().for_each(|(number, node)| numbers[*node] = number);
        for step in self.nodes.iter_mut().flatten() {
            if let To::Inner(to) = &mut step.to {
                *to = numbers[*to];
            }
        }
        Route { nodes: finished.into_iter().rev().map(|node| std::mem::take(&mut self.nodes[node])).collect() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Finished,
}

struct Search<'a> {
    table: &'a PlaceTable<'a>,
    kind: Option<EntryId>,
    /// The place itself, and the inner locations.
    spots: Vec<(Mode, Position)>,
    numbers: BTreeMap<(Mode, Position), usize>,
}

impl<'a> Search<'a> {
    fn new(table: &'a PlaceTable<'a>, kind: Option<EntryId>, first: (Mode, Position)) -> Search<'a> {
        Search { table, kind, numbers: BTreeMap::from([(first.clone(), 0)]), spots: vec![first] }
    }

    /// Looks at each inner location once.
    fn explore(&mut self, run: &Run<'_>) -> Result<Route, Refused> {
        let mut nodes = Vec::new();
        while nodes.len() < self.spots.len() {
            run.tick()?;
            let (mode, position) = self.spots[nodes.len()].clone();
            let leaving = self.table.leaving[position.loc].iter();
            nodes.push(leaving.map(|edge| self.follow(mode, &position, *edge)).collect::<Result<Vec<Move>, Flaw>>()?);
            if self.spots.len() > LIMIT {
                return Err(Unjudged::Beyond("too many steps may follow one another without being seen").into());
            }
        }
        Ok(Route { nodes })
    }

    fn follow(&mut self, mode: Mode, position: &Position, id: EdgeId) -> Result<Move, Flaw> {
        let program = self.table.task.program;
        let edge = &program.edges[id];
        if position.recurs(program, &edge.op) {
            return Err(Flaw::OutOfScope("it is recursive"));
        }
        let begun = position.child(program, &edge.op);
        // Where threads must not meet, others may be already when one begins there: they must be looked at before the
        // macro step goes on, as it may never end.
        let begins_watched = begun.as_ref().is_some_and(|begun| self.table.watches(begun.loc));
        let to = match position.after(program, id) {
            None if mode == Mode::Alone => To::Start,
            None => To::Gone,
            Some(after) => match self.arrive(mode, position, edge, after) {
                To::Inner(_) if begins_watched => To::Unlisted,
                to => to,
            },
        };
        let child = begun.map(|begun| self.child(&begun)).transpose()?;
        Ok(Move { edge: id, caller: position.caller(), to, child })
    }

    /// Computes where a thread comes to that is somewhere after a step.
    fn arrive(&mut self, mode: Mode, from: &Position, edge: &Edge, after: Position) -> To {
        let (role, mode) = self.after(mode, from, edge);
        if self.table.task.target.has_loc(after.loc) {
            return To::Error(after.loc);
        }
        if let Some(place) = self.table.place(role, &after) {
            return To::Place(place);
        }
        match mode {
            // A thread that is alone meets no other.
            Some(mode) if mode == Mode::Alone || !self.table.watches(after.loc) => self.inner((mode, after)),
            _ => To::Unlisted,
        }
    }

    fn inner(&mut self, spot: (Mode, Position)) -> To {
        let next = self.spots.len();
        let number = *self.numbers.entry(spot.clone()).or_insert(next);
        if number == next {
            self.spots.push(spot);
        }
        To::Inner(number)
    }

    /// The role of the thread after a step, and what it may then do without being seen.
    fn after(&self, mode: Mode, from: &Position, edge: &Edge) -> (Role, Option<Mode>) {
        let Some(kind) = self.kind else { return (Role::Prelude, Some(Mode::Alone)) };
        match (flag(&edge.op), mode) {
            (Some(true), _) | (None, Mode::Held) => (Role::Holder(kind), Some(Mode::Held)),
            (Some(false), _) => (Role::Free(kind), None),
            (None, _) => {
                let quiet = self.table.commutation.is_invisible(edge, from.caller());
                (Role::Free(kind), quiet.then_some(Mode::Quiet))
            }
        }
    }

    /// Computes where a thread comes to that begins.
    fn child(&self, begun: &Position) -> Result<To, Flaw> {
        let Some(kind) = self.kind else {
            return Err(Flaw::OutOfScope("a thread may start before the initial ones"));
        };
        if self.table.task.target.has_loc(begun.loc) {
            return Ok(To::Error(begun.loc));
        }
        Ok(self.table.place(Role::Free(kind), begun).map_or(To::Unlisted, To::Place))
    }
}

/// Follows a route with states of some kind.
pub(super) trait Traveller {
    type State;

    /// Divides a state among the moves that leave a location.
    fn split(&mut self, state: Self::State, n_moves: usize) -> Vec<Self::State>;

    /// Makes a move. Returns the states that it leads to on the way, and keeps those that end it.
    fn step(&mut self, step: &Move, state: Self::State, run: &Run<'_>) -> Result<Vec<Self::State>, Refused>;

    /// Adds a state to those that wait at an inner location.
    fn wait(&mut self, node: usize, waiting: &mut Vec<Self::State>, state: Self::State) -> Result<(), Refused>;
}

/// Follows a route from its place, with all states on the way. It ends when no states wait: in a route without cycles
/// after its last location, otherwise because no state waits at a location twice.
pub(super) fn travel<T: Traveller>(
    route: &Route,
    first: T::State,
    traveller: &mut T,
    run: &Run<'_>,
) -> Result<(), Refused> {
    let mut waiting = BTreeMap::from([(0, vec![first])]);
    while let Some((node, states)) = waiting.pop_first() {
        for state in states {
            run.tick()?;
            let moves = &route.nodes[node];
            for (step, state) in moves.iter().zip(traveller.split(state, moves.len())) {
                for after in traveller.step(step, state, run)? {
                    if let To::Inner(next) = step.to {
                        traveller.wait(next, waiting.entry(next).or_default(), after)?;
                    }
                }
            }
        }
    }
    Ok(())
}

//! Certificates for several threads: a closed set of states, each seen with its threads at listed places.
//!
//! # The set
//!
//! A state is *seen* if each thread is at a listed place ([`super::place_table`]), which says the role of the thread
//! (its kind, and whether it holds the atomic flag), which calls have not returned, and the location. The proof has a
//! formula for each list of places that may occur, its *shape*. A seen state belongs to the set if its threads, put in
//! order ([`order`]), satisfy the formula of their shape, whatever the variables hold that the places do not list.
//!
//! # The steps
//!
//! A *macro step* ([`super::route`]) takes one thread from its place to the next one: any number of invisible steps
//! ([`crate::commutation`]) through locations that are not listed; then, unless the last of these came to a listed
//! place, one visible step, which must come to a listed place or end the thread. A visible step that takes the atomic
//! flag may instead be followed by any steps of the thread, as long as it holds the flag and comes to no listed place;
//! so may the steps of the prelude, which has no other thread beside it. Only the holder of the flag moves if there is
//! one.
//!
//! # The questions
//!
//! All must have no solution:
//!
//! 1. an initial state that is not in the set;
//! 2. a macro step from a state of the set to a state that is not in it, or that stops nowhere (a visible step to a
//!    location that is not listed, or a way round a cycle of such locations);
//! 3. on the way of a macro step, its unfinished beginnings included, a target assertion that fails or a thread at a
//!    target location; and a state of the set with a thread at a target location, or with threads that must not meet.
//!
//! # Why it is right
//!
//! Take an execution that ends in an error, as short as possible. Cut the steps of each thread into blocks that are
//! macro steps, the last block of a thread possibly unfinished. Call and return count as invisible only if they touch
//! nothing shown and no frame with a shown variable comes or goes, so that an invisible step commutes with all steps of
//! other threads and is not enabled or disabled by them. So the invisible steps at the beginning of a block can be
//! moved back in time to just before its visible step, or just before its last step if it has none; the steps of a
//! block under the atomic flag or in the prelude have no steps of others between them as they are. Unfinished blocks
//! consist of invisible steps, or of steps of the holder or of the prelude: the thread that commits the error is the
//! last to move, and the unfinished blocks of the others, which no thread notices, are left out. What remains is a
//! sequence of macro steps with an error on the way of the last one. By 1 and 2 all states between them belong to the
//! set; then 3 says that there is no error. The numbers of threads do not matter to their steps, hence states may be
//! put in order at any time.
//!
//! Unlisted locations may form a cycle only if no thread can go round in it. Locations at which several threads must
//! not meet are never inner ones, so that the threads that meet are all at listed places; unless one of these locations
//! is neither listed nor reached by control, so that no thread is ever there.
//!
//! # The first states
//!
//! A proof may name the first states of its set only: the set is then the least one that contains them and what macro
//! steps lead to. It is found state by state ([`explicit`]), and the argument is the same.
//!
//! # Bounds
//!
//! A spawn does nothing at the thread bound; the shape says how many threads live, and, if the bound is one on the
//! threads of a whole run, how many have ended. The thread of the prelude counts for neither.

mod explicit;
mod listing;
mod order;
mod rows;
mod state;
mod table;
mod views;
mod walk;

use selvedge_check::{Run, Seen, ShapeProof, Task, ThreadScope};
use selvedge_ir::Count;

use super::route::{Move, Route};
use super::{Flaw, Refused, Unjudged};
use crate::semantics::child;
use explicit::{Explicit, is_prelude};
use table::Table;
use walk::Walk;

/// Checks the certificate: the start, then the shapes one by one, state by state if there are few states and few open
/// values in their steps, each with a solver of its own otherwise.
pub(super) fn verify(task: &Task<'_>, proof: &ShapeProof, run: &Run<'_>) -> Result<(), Refused> {
    match proof.seen {
        Seen::All | Seen::Reached => check(task, proof, run, true),
        Seen::Any(_) => views::verify(task, proof, run),
    }
}

/// Checks a certificate about all threads with solvers only, so that the two ways can be compared.
pub fn verify_with_solvers(task: &Task<'_>, proof: &ShapeProof, run: &Run<'_>) -> Result<(), Refused> {
    check(task, proof, run, false)
}

fn check(task: &Task<'_>, proof: &ShapeProof, run: &Run<'_>, may_list: bool) -> Result<(), Refused> {
    let program = task.program;
    if task.threads == ThreadScope::Unbounded && program.entries.iter().any(|entry| entry.count == Count::Any) {
        return Err(Flaw::OutOfScope("any number of threads may start").into());
    }
    let table = Table::new(task, proof)?;
    let mut routes = Routes::new(&table);
    Walk::new(&table, run).start()?;
    let mut explicit = if may_list { Explicit::new(&table, proof, run)? } else { None };
    if proof.seen == Seen::Reached && explicit.is_none() {
        return Err(Unjudged::Beyond("its states are not listed one by one").into());
    }
    for (number, shape) in proof.shapes.iter().enumerate() {
        run.tick()?;
        routes.find(&shape.threads, run)?;
        if let Some(states) = explicit.as_mut().filter(|_| !is_prelude(&table, &shape.threads)) {
            match states.shape(number, &mut routes) {
                Err(Refused::Unjudged(Unjudged::Beyond(_))) if proof.seen == Seen::All => explicit = None,
                judged => {
                    judged?;
                    continue;
                }
            }
        }
        Walk::new(&table, run).all_threads(&shape.threads, shape.ended, shape.formula, &routes)?;
    }
    match explicit.filter(|_| proof.seen == Seen::Reached) {
        Some(mut states) => states.grow(&mut routes),
        None => Ok(()),
    }
}

/// The routes from the places that were asked for.
struct Routes<'a> {
    table: &'a Table<'a>,
    /// Each with whether a thread may be started on it.
    known: Vec<Option<(Route, bool)>>,
}

impl<'a> Routes<'a> {
    fn new(table: &'a Table<'a>) -> Routes<'a> {
        Routes { table, known: table.proof.places.iter().map(|_| None).collect() }
    }

    /// Finds the routes from some places.
    fn find<'p>(&mut self, places: impl IntoIterator<Item = &'p u32>, run: &Run<'_>) -> Result<(), Refused> {
        for place in places {
            let known = &mut self.known[*place as usize];
            if known.is_none() {
                let route = Route::new(&self.table.places, *place, run)?.in_order();
                let spawns = |step: &Move| child(&self.table.task.program.edges[step.edge].op).is_some();
                let may_spawn = route.nodes.iter().flatten().any(spawns);
                *known = Some((route, may_spawn));
            }
        }
        Ok(())
    }

    fn at(&self, place: u32) -> &(Route, bool) {
        self.known[place as usize].as_ref().expect("the routes of the shape's places are there")
    }

    fn of(&self, place: u32) -> &Route {
        &self.at(place).0
    }

    fn spawns(&self, place: u32) -> bool {
        self.at(place).1
    }
}

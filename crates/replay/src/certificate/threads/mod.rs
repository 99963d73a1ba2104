//! Certificates for several threads: a closed set of states, each seen with its threads at listed places.
//!
//! # The set
//!
//! A state is *seen* if each thread stands at a listed place ([`table`]), which says who the thread is (its kind, and
//! whether it holds the atomic flag), which calls have not returned, and where it stands. The proof has a formula for
//! each list of places that may occur, its *shape*. A seen state belongs to the set if its threads, put in order
//! ([`order`]), satisfy the formula of their shape, whatever the variables hold that the places do not list.
//!
//! # The steps
//!
//! A *macro step* ([`route`], [`walk`]) takes one thread from its place to the next one: any number of invisible steps
//! ([`selvedge_ir::visibility`]) through locations that are not listed; then, unless the last of these came to a listed
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
//! other threads and is not enabled or disabled by them. So the invisible steps at the beginning of a block can be moved
//! back in time to just before its visible step, or just before its last step if it has none; the steps of a block
//! under the atomic flag or in the prelude have no steps of others between them as they are. Unfinished blocks
//! consist of invisible steps, or of steps of the holder or of the prelude: the thread that commits the error is the
//! last to move, and the unfinished blocks of the others, which nobody notices, are left out. What remains is a sequence
//! of macro steps with an error on the way of the last one. By 1 and 2 all states between them belong to the set; then
//! 3 says that there is no error. The numbers of threads do not matter to their steps, hence states may be put in order
//! at any time.
//!
//! Unlisted locations may form a cycle only if nobody can go round in it. Locations at which several threads must not
//! meet are never inner ones, so that the threads that meet are all at listed places; unless one of these locations is
//! neither listed nor reached by control, so that nobody is ever there.
//!
//! # Bounds
//!
//! A spawn does nothing at the thread bound; the shape says how many threads live. A bound on the threads created in a
//! run is treated like one on the threads that live. This gives a thread to some spawns that do nothing, only
//! after the bound has been reached for good, hence none that the run lacks; these threads need never move, and
//! without passive parts nobody notices them.

mod order;
pub(super) mod route;
pub(super) mod state;
mod step;
pub(super) mod table;
pub(super) mod walk;

use selvedge_check::{Run, Task, ThreadProof, ThreadScope};
use selvedge_ir::{Count, Op};

use super::Flaw;
use route::Route;
pub(super) use route::is_invisible;
use table::Table;
pub(super) use table::well_formed as stack_of;
use walk::Walk;

/// Checks the certificate: the start, then the shapes one by one, each with a solver of its own.
pub(super) fn verify(task: &Task<'_>, proof: &ThreadProof, run: &Run<'_>) -> Result<(), Flaw> {
    let program = task.program;
    match task.threads {
        ThreadScope::Unbounded if program.entries.iter().any(|entry| entry.count == Count::Any) => {
            return Err(Flaw::OutOfScope("any number of threads may start"));
        }
        ThreadScope::Created(_) if program.edges.iter().any(|edge| has_passive_parts(&edge.op)) => {
            return Err(Flaw::OutOfScope("threads that it does not count can stop others"));
        }
        _ => {}
    }
    let table = Table::of_shapes(task, proof)?;
    let mut routes: Vec<Option<Route>> = proof.places.iter().map(|_| None).collect();
    Walk::new(&table, run).start()?;
    for shape in &proof.shapes {
        run.tick()?;
        for place in &shape.threads {
            let route = &mut routes[*place as usize];
            if route.is_none() {
                *route = Some(Route::new(&table, *place, run)?);
            }
        }
        let route = |place: u32| routes[place as usize].as_ref().expect("the routes of the shape's places are there");
        Walk::new(&table, run).all_threads(&shape.threads, shape.formula, &route)?;
    }
    Ok(())
}

fn has_passive_parts(op: &Op) -> bool {
    matches!(op, Op::Assign(assign) if assign.is_passive())
}

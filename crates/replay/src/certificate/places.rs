//! The places of the one thread of a program without recursion, its callers included, and its moves.
//!
//! The thread is alone, as the prelude's is: both are followed on the routes of threads that are alone ([`Route`]), one
//! after the other. Errors are one place without moves, where a step to a target location and the failure of a target
//! assertion lead.

use selvedge_check::{Run, Task};
use selvedge_ir::{EdgeId, EntryId, ProcId};

use super::place_table::PlaceTable;
use super::route::{self, Route, To};
use super::{Flaw, Refused, Unjudged};
use crate::position::Position;

/// More places than this are not looked at.
const LIMIT: usize = 20_000;

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
    /// The next place; `None` for an error.
    pub(super) to: Option<usize>,
    pub(super) edge: EdgeId,
    pub(super) kind: Kind,
}

/// All places that control flow can reach; the first one has the number 0.
#[derive(Default)]
pub(super) struct Places {
    /// The control of the thread at each place that is not an error.
    pub(super) all: Vec<Position>,
    pub(super) moves: Vec<Move>,
}

impl Places {
    /// Follows the prelude, if there is one, and then the thread, whose first place comes right behind those of the
    /// prelude, unless the prelude never ends.
    pub(super) fn new(task: &Task<'_>, run: &Run<'_>) -> Result<Places, Refused> {
        let (program, table) = (task.program, PlaceTable::new(task, &[], false)?);
        let thread = program.entries[EntryId::new(0)].proc;
        let is_error = |proc: ProcId| task.target.has_loc(program.procs[proc].entry);
        if is_error(program.prelude.unwrap_or(thread)) {
            return Err(Flaw::Base(0).into());
        }
        let mut places = Places::default();
        let procs = program.prelude.into_iter().map(|prelude| (prelude, true)).chain([(thread, false)]);
        for (proc, is_prelude) in procs.filter(|(proc, _)| !is_error(*proc)) {
            if !places.all.is_empty() && !places.moves.iter().any(|step| step.kind == Kind::Start) {
                break;
            }
            let (route, positions) = Route::alone(&table, proc, run)?;
            let n_before = places.all.len();
            places.all.extend(positions);
            let n_places = places.all.len();
            if n_places > LIMIT {
                return Err(Unjudged::Beyond("its calls can be nested in too many ways").into());
            }
            let moves = |(from, steps): (usize, Vec<route::Move>)| steps.into_iter().map(move |step| (from, step));
            for (from, step) in (n_before..).zip(route.nodes).flat_map(moves) {
                let mut add = |to, kind| places.moves.push(Move { from, to, edge: step.edge, kind });
                if task.target.has_assert(step.edge) {
                    add(None, Kind::Fail);
                }
                match step.to {
                    To::Inner(to) => add(Some(n_before + to), Kind::Step),
                    To::Error(_) => add(None, Kind::Step),
                    To::Start if is_prelude => add((!is_error(thread)).then_some(n_places), Kind::Start),
                    To::Start => {}
                    To::Place(_) | To::Unlisted | To::Gone => unreachable!("no place is listed"),
                }
            }
        }
        Ok(places)
    }
}

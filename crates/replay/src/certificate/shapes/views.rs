//! Certificates for any number of threads: what a few threads can look like at the same time.
//!
//! # The set
//!
//! A state belongs to the set if each thread is at a listed place and each list of `k` of its threads, put in
//! order, satisfies the formula of the view with its places; of a state with fewer than `k` threads, the list of all of
//! them. A view also says whether the atomic flag is held by a thread that is not in the list.
//!
//! # The steps
//!
//! Places and macro steps are those of proofs for a bounded number of threads ([`super`]), and so is the argument
//! that states between macro steps are enough.
//!
//! # The questions
//!
//! All must have no solution:
//!
//! 1. an initial state that is not in the set, whatever the number of its threads;
//! 2. a view in which the flag is free or held by one of its threads, and a macro step of a thread that may move after
//!    which some list of `k` of the threads that are there then (of all, if they are fewer) is no view;
//! 3. `k + 1` threads of which all lists of `k` are views, and a macro step of one of them after which the others are
//!    no view;
//! 4. on the way of such a macro step an error; a view with a thread at a target location, or with threads that must
//!    not meet; and as many threads as must not meet, if they are more than `k`, of which all lists of `k` are views,
//!    where one of them, another thread or no thread holds the flag.
//!
//! # Why it is right
//!
//! Take a state of the set and a macro step, and a list of `k` threads of the next state, or of all if they are fewer.
//! If the thread that moved and those that it started are not in the list, and the list has `k` threads, then these and
//! the thread that moved are `k + 1` threads of the first state: 3 says that the list is a view. Otherwise fewer than
//! `k` threads of the list were there before and did not move. They and the thread that moved are part of a list of `k`
//! threads of the first state, or the list of all, which is a view: 2 says that the given list, which is a part of what
//! becomes of that view, is one too. Where a step has passive parts, the other threads that are not looked at only
//! restrict it, and what happens to each thread depends on it and the moving one only. The number of threads does not
//! occur: a start of a thread always succeeds.
//!
//! If the number of threads is bounded, an execution is one without bound in which the threads that the bound leaves
//! out are started and never move. Other threads could only notice them in steps with passive parts.

use std::collections::BTreeSet;

use selvedge_check::{Role, Run, Shape, ShapeProof, Task, ThreadScope};
use selvedge_ir::{LocId, Op, Scope, VarId};

use super::super::route::{Route, To};
use super::super::{Flaw, Refused};
use super::Routes;
use super::explicit::is_prelude;
use super::table::Table;
use super::walk::Walk;
use crate::program::concerns_others;

/// Checks the certificate: the start, the views one by one, then one more thread beside each; each with a solver of its
/// own.
pub(super) fn verify(task: &Task<'_>, proof: &ShapeProof, run: &Run<'_>) -> Result<(), Refused> {
    if task.threads != ThreadScope::Unbounded && task.program.edges.iter().any(|edge| concerns_others(&edge.op)) {
        return Err(Flaw::OutOfScope("the number of threads is bounded").into());
    }
    let task = &Task { threads: ThreadScope::Unbounded, ..*task };
    let table = Table::new(task, proof)?;
    Walk::new(&table, run).start()?;
    let checker = Checker::new(&table, proof, run)?;
    for view in &proof.shapes {
        run.tick()?;
        if !view.held {
            Walk::new(&table, run).all_threads(&view.threads, 0, view.formula, &checker.routes)?;
        } else if let Some(loc) = table.places.error(&view.threads) {
            return Err(Flaw::Location(loc).into());
        }
    }
    for view in proof.shapes.iter().filter(|view| view.threads.len() == table.longest && !view.held) {
        checker.one_more(view)?;
    }
    task.target.together.iter().try_for_each(|meeting| checker.meeting(meeting, &[]))
}

struct Checker<'a> {
    table: &'a Table<'a>,
    run: &'a Run<'a>,
    /// The places that occur in views, in ascending order.
    places: BTreeSet<u32>,
    /// The routes from these places.
    routes: Routes<'a>,
    /// Those of them from which others can notice a macro step.
    shows: BTreeSet<u32>,
}

impl<'a> Checker<'a> {
    fn new(table: &'a Table<'a>, proof: &'a ShapeProof, run: &'a Run<'a>) -> Result<Checker<'a>, Refused> {
        let places: BTreeSet<u32> = proof.shapes.iter().flat_map(|view| view.threads.iter().copied()).collect();
        let mut routes = Routes::new(table);
        routes.find(&places, run)?;
        let shows = places.iter().copied().filter(|place| shows(table, *place, routes.of(*place))).collect();
        Ok(Checker { table, run, places, routes, shows })
    }

    /// The steps of `k + 1` threads, of which the first `k` are those of a view, that the others can notice.
    fn one_more(&self, view: &Shape) -> Result<(), Refused> {
        let last = *view.threads.last().expect("views have threads");
        for more in self.places.range(last..) {
            let threads: Vec<u32> = view.threads.iter().copied().chain([*more]).collect();
            if is_prelude(self.table, &threads) {
                continue;
            }
            let Some(views) = self.table.views(&threads, false) else { continue };
            let holder = threads.iter().position(|place| self.table.places.is_holder(*place));
            let may_move =
                |mover: &usize| holder.is_none_or(|holder| holder == *mover) && self.shows.contains(&threads[*mover]);
            let movers: Vec<usize> = (0..threads.len()).filter(may_move).collect();
            if !movers.is_empty() {
                self.run.tick()?;
                Walk::new(self.table, self.run).others(&threads, &views, &movers, &self.routes)?;
            }
        }
        Ok(())
    }

    /// More threads than are seen together do not meet at these locations, whatever their places. Meetings of fewer are
    /// errors of views. The prelude's thread meets no other.
    fn meeting(&self, meeting: &[LocId], places: &[u32]) -> Result<(), Refused> {
        let k = self.table.longest;
        let is_at = |place: u32, loc: LocId| {
            let place = self.table.places.at(place);
            place.loc == loc && place.role != Role::Prelude
        };
        match meeting.get(places.len()) {
            _ if meeting.len() <= k => Ok(()),
            Some(loc) => self.places.iter().filter(|place| is_at(**place, *loc)).try_for_each(|place| {
                let places: Vec<u32> = places.iter().copied().chain([*place]).collect();
                self.meeting(meeting, &places)
            }),
            None => {
                self.run.tick()?;
                let mut threads = places.to_vec();
                threads.sort_unstable();
                let views = [false, true].map(|held_elsewhere| self.table.views(&threads, held_elsewhere));
                views.iter().flatten().try_for_each(|views| {
                    let flaw = Flaw::Location(meeting[0]);
                    Walk::new(self.table, self.run).never_together(&threads, views, flaw)
                })
            }
        }
    }
}

/// Returns whether others can notice what a thread may do on a route: it assigns shared variables or those of others,
/// or takes or releases the atomic flag.
fn shows(table: &Table<'_>, place: u32, route: &Route) -> bool {
    let program = table.task.program;
    let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
    route.nodes.iter().flatten().any(|step| {
        let op = &program.edges[step.edge].op;
        let writes = match op {
            Op::Assign(assign) => concerns_others(op) || assign.active.iter().any(|(var, _)| is_shared(*var)),
            Op::Return(_) => match step.caller.map(|call| &program.edges[call].op) {
                Some(Op::Call(call)) => call.results.iter().flatten().any(|var| is_shared(*var)),
                _ => false,
            },
            _ => false,
        };
        let holds = match step.to {
            To::Place(to) => table.places.is_holder(to) != table.places.is_holder(place),
            To::Gone => table.places.is_holder(place),
            _ => false,
        };
        writes || holds
    })
}

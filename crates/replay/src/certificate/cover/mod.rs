//! Certificates for any number of threads over states that are listed one by one.
//!
//! The certificate lists the shared states and the states of a thread that may occur, and claims a set of
//! configurations of them. The check has two parts:
//!
//! 1. what the program is on these states: a thread-transition system, made here. For each thread state that the claim
//!    allows, the thread is followed on its route to the next places ([`super::concrete`]); each way is a rule.
//!    [`start`] follows the prelude and lists how threads begin. A way that ends in a state that is not listed is a
//!    flaw. A way to an error makes the thread state a target; threads that must not meet are targets, too.
//! 2. whether the claim holds of this system: [`claim`], [`views`] and [`weights`].
//!
//! Places, and why what a thread does between two of them counts as one step, are as in [`super::shapes`]. A thread
//! that goes round between places for ever is no flaw here, since all states on the way are looked at: an execution up
//! to an error goes round a finite number of times.
//!
//! # What is not listed
//!
//! A variable that a place or the shared states do not list may hold anything: it is open. Where steps must be real,
//! for a claim about rounds, no step may read a variable that is not listed: then it does not matter what it holds.
//!
//! # Steps that assign variables of other threads
//!
//! They make the rule transfer threads: for each state of another thread that the claim allows with the shared state,
//! the rule lists all that such a thread can changed. The other threads choose independently of each other, and what is
//! open may differ from one to the next, so that the rule allows at least what the program does.

mod adequacy;
mod claim;
mod start;
mod state_table;
mod views;
mod weights;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use selvedge_check::{CoverClaim, CoverProof, LocalState, Role, Run, Task, ThreadScope};
use selvedge_ir::EdgeId;
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Tts};

use super::concrete::{Arrival, Others};
use super::route::Route;
use super::{Flaw, Refused, Unjudged};
pub use claim::verify_claim;
use start::{Crews, LIMIT};
use state_table::StateTable;

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &CoverProof, run: &Run<'_>) -> Result<(), Refused> {
    if task.threads != ThreadScope::Unbounded {
        return Err(Flaw::OutOfScope("the number of threads is bounded").into());
    }
    let table = StateTable::new(task, proof)?;
    let crews = Crews::new(&table, run)?;
    let mut system = System {
        routes: HashMap::new(),
        tts: Tts {
            n_shared: proof.shareds.len() as u32,
            n_local: proof.locals.len() as u32,
            starts: crews.starts(&table)?,
            ..Tts::default()
        },
        edges: Vec::new(),
        errors: Vec::new(),
    };
    let states = claim::thread_states(&proof.claim);
    for here in states.chunk_by(|left, right| left.0 == right.0) {
        let others: Vec<LocalId> = here.iter().map(|(_, local)| *local).collect();
        for local in &others {
            run.tick()?;
            system.follow(&table, (here[0].0, &others), *local, run)?;
        }
    }
    system.meetings(&table, &states, run)?;
    let checked = match &proof.claim {
        CoverClaim::Adequacy(claim) => adequacy::verify(&crews.kinds(&table, &system.tts)?, claim, run),
        claim => verify_claim(&system.tts, claim, run),
    };
    checked.map_err(|refused| match refused {
        Refused::Flawed(Flaw::Initial(_)) => Flaw::Start(crews.loc).into(),
        Refused::Flawed(Flaw::Rule(rule)) => Flaw::NotClosed(system.edges[rule]).into(),
        Refused::Flawed(Flaw::Target(number)) => system.errors[number].clone().into(),
        refused => refused,
    })
}

/// The system that a program is, with the edge that each rule ends with, and the error that each target is.
struct System {
    /// The routes from places.
    routes: HashMap<u32, Route>,
    tts: Tts,
    edges: Vec<EdgeId>,
    errors: Vec<Flaw>,
}

impl System {
    /// All rules of a thread state, beside other threads in any of some states.
    fn follow(
        &mut self,
        table: &StateTable<'_>,
        (shared, others): (SharedId, &[LocalId]),
        local: LocalId,
        run: &Run<'_>,
    ) -> Result<(), Refused> {
        let (Some(state), Some(thread)) = (table.proof.shareds.get(shared), table.proof.locals.get(local)) else {
            return Err(Flaw::Malformed(None).into());
        };
        let place = &table.proof.places[thread.place as usize];
        if table.task.target.has_loc(place.loc) {
            self.target((shared, vec![local]), Flaw::Location(place.loc));
            return Ok(());
        }
        // If a thread holds the flag, it alone moves.
        let moves = match place.role {
            Role::Prelude => false,
            Role::Holder(_) => state.held,
            Role::Free(_) => !state.held,
        };
        if !moves {
            return Ok(());
        }
        let route = match self.routes.entry(thread.place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Route::new(&table.places, thread.place, run)?),
        };
        let beside: Option<Vec<&LocalState>> = others.iter().map(|other| table.proof.locals.get(*other)).collect();
        let beside = beside.ok_or(Flaw::Malformed(None))?;
        let mut explorer = table.explorer(Some(thread.place));
        explorer.others = Some(&beside);
        let now = explorer.values(&state.values, thread.place, &thread.values);
        for (edge, arrival) in explorer.explore(route, now, run)? {
            match arrival {
                Arrival::Rule { shared: values, own, new, others: changed } => {
                    let held = own.as_ref().is_some_and(|(place, _)| table.places.is_holder(*place));
                    let shared_after = table.shared(values, held).ok_or(Flaw::NotClosed(edge))?;
                    let after = own.iter().chain(&new).map(|seen| table.local(seen)).collect::<Option<_>>();
                    let (after, goes_on) = (after.ok_or(Flaw::NotClosed(edge))?, own.is_some());
                    let transfers = transfers(table, others, &changed).ok_or(Flaw::NotClosed(edge))?;
                    self.tts.rules.push(Rule { shared, local, shared_after, after, goes_on, transfers });
                    self.edges.push(edge);
                }
                Arrival::Error(error) => self.target((shared, vec![local]), error),
                Arrival::Start(_) => unreachable!("only the prelude starts the initial threads"),
            }
        }
        Ok(())
    }

    fn target(&mut self, (shared, threads): (SharedId, Vec<LocalId>), error: Flaw) {
        self.tts.targets.push(Cover { shared, threads });
        self.errors.push(error);
    }

    /// Threads at all locations of a meeting, with every shared state.
    fn meetings(
        &mut self,
        table: &StateTable<'_>,
        states: &[(SharedId, LocalId)],
        run: &Run<'_>,
    ) -> Result<(), Refused> {
        let loc = |local: LocalId| table.proof.places[table.proof.locals[local].place as usize].loc;
        for meeting in &table.task.target.together {
            for here in states.chunk_by(|left, right| left.0 == right.0) {
                let mut lists: Vec<Vec<LocalId>> = vec![Vec::new()];
                for at in meeting {
                    run.tick()?;
                    let there: Vec<LocalId> =
                        here.iter().map(|(_, local)| *local).filter(|local| loc(*local) == *at).collect();
                    if lists.len().saturating_mul(there.len()) > LIMIT {
                        return Err(Unjudged::Beyond("its threads can meet in too many ways").into());
                    }
                    let longer = |list: &Vec<LocalId>| {
                        there.iter().map(|local| list.iter().copied().chain([*local]).collect()).collect::<Vec<_>>()
                    };
                    lists = lists.iter().flat_map(longer).collect();
                }
                for mut threads in lists {
                    threads.sort_unstable();
                    self.target((here[0].0, threads), Flaw::Location(meeting[0]));
                }
            }
        }
        Ok(())
    }
}

/// The transfers of a rule, if all that the other threads changed is listed.
fn transfers(table: &StateTable<'_>, others: &[LocalId], changed: &Others) -> Option<Vec<(LocalId, Vec<LocalId>)>> {
    let mut transfers = Vec::new();
    for (from, seen) in others.iter().zip(changed) {
        let mut to = seen.iter().map(|seen| table.local(seen)).collect::<Option<Vec<LocalId>>>()?;
        to.sort_unstable();
        if to != [*from] {
            transfers.push((*from, to));
        }
    }
    Some(transfers)
}

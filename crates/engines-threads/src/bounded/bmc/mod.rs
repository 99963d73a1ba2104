//! Bounded model checking by SAT for programs with several threads (thesis behind Boom, §10.10).
//!
//! After Alglave, Kroening and Tautschnig ("Partial orders for efficient bounded model checking of concurrent
//! software", CAV 2013): each thread is unwound on its own, to a sequence of *events*, each a block of steps up to the
//! next visible point (`block`, `unwinding`). What an event reads of shared variables is an input. Clauses say that
//! the events of all threads have an order (`order`) and that each event reads what the last event before it wrote
//! (`memory`). So the interleavings are not listed: the solver orders the events as far as it matters.
//!
//! *Order of work.* All executions with few events of each thread, then with more. Each time the solver is asked
//! for an error, then, thread by thread, whether the thread can go on behind its last event; only those that can are
//! unwound further.
//!
//! *End.* At the bound, or at the greatest number of events in all; or when no thread can go on. Each turn adds events
//! or looks at more of each thread.
//!
//! *Right.* An assignment is an execution: the blocks of the events that happen, one after the other in their order,
//! have the values that the formulas say, by induction over the order. An execution is an assignment if no thread makes
//! more blocks than are unwound (blocks of an execution up to an error need not be interrupted: see
//! [`selvedge_transition::macro_step::visible_points`]). If no thread can go on, no execution has more: the first block
//! beyond would come behind an execution that is an assignment in which its thread can go on. Then, without an error,
//! the program is safe.

mod alone;
mod block;
mod clauses;
mod layout;
mod meeting;
mod memory;
mod order;
mod trace;
mod unwinding;

use selvedge_check::{Bound, Certificate, Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_logic::sat::{Answer, SatLit};
use selvedge_transition::support::{is_passive, supports_program};

use self::unwinding::{Unwinding, is_bounded};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct BmcThreads {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The greatest number of visible steps of each thread.
    ///
    /// Default: 100. Range: all.
    pub bound: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { bound: 100 }
    }
}

/// The number of visible steps of each thread with which the search begins.
const FIRST_DEPTH: usize = 2;

/// The most events: the clauses are as many as triples of them, and the judge looks at no more.
const MOST_EVENTS: usize = 200;

/// The most events for each visible step of a thread that is looked at.
const EVENTS_PER_STEP: usize = 20;

impl Engine for BmcThreads {
    fn name(&self) -> &'static str {
        "bmc-threads"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_program(task, self.name())?;
        if !is_bounded(task) {
            let reason = "any number of threads may begin, but `bmc-threads` needs a bound: use --threads N".to_owned();
            return Err(Unsupported::new(reason));
        }
        if is_passive(task.program) {
            let reason = "some steps read or assign variables of other threads, which `bmc-threads` does not support";
            return Err(Unsupported::new(reason.to_owned()));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let bound = self.options.bound as usize;
        let mut unwinding = Unwinding::new(*task, self.options.bound, run)?;
        let mut depth = FIRST_DEPTH.min(bound);
        let mut going = unwinding.unfinished();
        loop {
            let most = MOST_EVENTS.min(EVENTS_PER_STEP * depth);
            extend(&mut unwinding, &going, (depth, most), run)?;
            let closed = unwinding.close();
            if let Some(verdict) = error(&mut unwinding, closed, run)? {
                return Ok(verdict);
            }
            going = going_on(&mut unwinding, closed, run)?;
            let Some(least) = going.iter().map(|thread| unwinding.depth(*thread)).min() else {
                return Ok(Verdict::Safe(Some(Certificate::Unwound(unwinding.visible_steps()))));
            };
            let is_full = unwinding.events.len() >= most;
            if is_full && most == MOST_EVENTS || least >= bound || is_full && depth == bound {
                return Err(Stop::BoundReached(Bound::VisibleSteps(least as u32)));
            }
            if is_full || least >= depth {
                depth = (depth + depth.div_ceil(2)).min(bound);
            }
        }
    }
}

/// Unwinds threads that can go on, and those that they start, to a number of events of each, one round of events after
/// the other, up to a number of events in all: threads may start threads for ever.
fn extend(
    unwinding: &mut Unwinding<'_>,
    going: &[usize],
    (depth, most): (usize, usize),
    run: &Run<'_>,
) -> Result<(), Stop> {
    let n_before = unwinding.threads.len();
    for round in 1..=depth {
        let mut thread = 0;
        while thread < unwinding.threads.len() {
            run.tick()?;
            let is_wanted = thread >= n_before || going.contains(&thread);
            if is_wanted && unwinding.depth(thread) < round && unwinding.is_unfinished(thread) {
                if unwinding.events.len() >= most {
                    return Ok(());
                }
                unwinding.extend(thread, run)?;
            }
            thread += 1;
        }
    }
    Ok(())
}

/// Asks for an error among the executions that are unwound.
fn error(unwinding: &mut Unwinding<'_>, closed: SatLit, run: &Run<'_>) -> Result<Option<Verdict>, Stop> {
    let error = unwinding.any_error();
    if unwinding.solve(&[closed, error], run)? == Answer::Sat {
        return Ok(Some(Verdict::Unsafe(unwinding.trace(&[]))));
    }
    for meeting in unwinding.meetings() {
        if unwinding.solve(&[closed, meeting.lit], run)? == Answer::Sat {
            return Ok(Some(Verdict::Unsafe(unwinding.trace(&[meeting]))));
        }
    }
    Ok(None)
}

/// Returns the threads that may go on behind their last event. One question about all of them has those in its answer
/// that do; then there is one about the others. As soon as some can, the others count as if they can where it is hard.
fn going_on(unwinding: &mut Unwinding<'_>, closed: SatLit, run: &Run<'_>) -> Result<Vec<usize>, Stop> {
    let mut can: Vec<usize> = Vec::new();
    let mut open: Vec<(usize, SatLit)> =
        unwinding.unfinished().into_iter().map(|thread| (thread, unwinding.goes_on(thread))).collect();
    while !open.is_empty() {
        run.check_limits()?;
        let any = unwinding.clauses.any(open.iter().map(|(_, goes_on)| *goes_on));
        let answer = match can.is_empty() {
            true => Some(unwinding.solve(&[closed, any], run)?),
            false => unwinding.clauses.solve_briefly(&[closed, any], run)?,
        };
        let goes_on = match answer {
            Some(Answer::Unsat) => break,
            Some(Answer::Sat) => open.iter().map(|(_, lit)| unwinding.clauses.value(*lit)).collect(),
            None => vec![true; open.len()],
        };
        let (found, rest): (Vec<_>, Vec<_>) = open.into_iter().zip(goes_on).partition(|(_, goes_on)| *goes_on);
        can.extend(found.into_iter().map(|((thread, _), _)| thread));
        open = rest.into_iter().map(|(thread, _)| thread).collect();
    }
    can.sort_unstable();
    Ok(can)
}

//! `contexts`: the lazy symbolic engine for a bounded number of contexts per thread.
//!
//! After Lal and Reps (2009), section 6 and Fig. 5, for any number of threads in round-robin order. A thread is
//! analysed on its own, like a program with one thread, by path edges and summaries; the effect of the others between
//! two of its contexts is a change of the shared state. The possible changes are not guessed, as in the eager
//! reduction, but taken from the computed effects of the others.
//!
//! *Order of work* (`rounds`). Round by round, and in each round thread by thread: the histories that the other threads
//! confirm for the thread's next context, the path edges of that context (`thread_paths`), and its effect on the
//! others. Nothing of an earlier round is recomputed.
//!
//! *Invariant.* Between two turns, all path edges of all contexts so far are saturated: of exactly those histories that
//! occur in executions of the whole program, up to a switch at a point from which only steps follow that no other
//! thread can see (`thread_paths::shared_model`).
//!
//! *It ends* because the rounds are bounded, and within a round path edges only grow.
//!
//! *It is right.* Path edges, summaries and effects carry the whole history of their thread: the shared states with
//! which each of its contexts began and ended. They describe the behaviour of a thread whose contexts begin so,
//! whatever the others do. A history is followed only if the others' effects match it at all boundaries, so everything
//! found happens in an execution; Fig. 5 drops the history from summaries and can apply one under a history that was
//! not confirmed (`lazy_summary_context`). And nothing is missed: the histories of all threads of an execution are
//! confirmed one after the other in the order of the turns.
//!
//! If there are few shared variables, histories are not confirmed one by one: the threads are automata that run
//! together (`automata_product`). If there are many, they may still have few states, which are then numbered
//! (`numbers`); if the numbers do not suffice, the search is repeated without them.

mod automata_product;
mod boundaries;
mod rounds;
mod trace;

use std::collections::BTreeSet;

use selvedge_check::{Bound, Contexts as Counts, Engine, Event, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::passes::fix_threads::{FixThreadsLift, FixedThreads};
use selvedge_ir::{Target, Trace, VarId};
use selvedge_transition::out_of_nodes;

use super::thread_paths::columns::Side;
use super::thread_paths::numbers::{NUMBER_BITS, StateNumbers};
use super::thread_paths::shared_model::SharedModel;
use super::thread_paths::track::{Tracked, track};
use super::threads::{fixed_threads, shared_vars, supports_fixed_threads, up_to_error};
use super::{Histories, Options};
use rounds::RoundSearch;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    /// Its options.
    pub options: Options,
}

/// The valuations of the shared variables that are reachable at points where a context may end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedStates {
    /// The shared variables, in the order of their declaration.
    pub vars: Vec<VarId>,
    /// For each number of contexts per thread, from 1 on.
    pub reached: Vec<BTreeSet<Vec<bool>>>,
}

impl Engine for Contexts {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_fixed_threads(task, &self.options, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let (bound, lists) = fixed_threads(task, &self.options, self.name()).expect("the engine supports the task");
        let lists: Vec<ThreadList> = lists.into_iter().map(ThreadList::new).collect();
        numbered_or_not(|numbering| {
            let models = lists.iter().map(|threads| threads.model(self.options.histories, numbering, bound.last, run));
            let models = models.collect::<Result<Vec<_>, _>>()?;
            unless_exhausted(&models, search(task, bound.last, (&lists, &models), run, explanation))
        })
    }
}

/// Limit on the shared variables for which histories are sequences of states.
const FEW: usize = 12;

/// The number of shared variables from which numbers of states are tried.
const MANY: usize = 4 * NUMBER_BITS;

/// The use of numbers for states of many variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    Try,
    Never,
}

/// Searches with numbered states, and without numbers if there are too many states.
fn numbered_or_not<T>(mut ask: impl FnMut(Numbering) -> Result<Option<T>, Stop>) -> Result<T, Stop> {
    match ask(Numbering::Try)? {
        Some(answer) => Ok(answer),
        None => Ok(ask(Numbering::Never)?.expect("nothing is numbered")),
    }
}

/// Returns an answer, or `None` if there were more states than numbers.
fn unless_exhausted<T>(models: &[SharedModel<'_>], answer: Result<T, Stop>) -> Result<Option<T>, Stop> {
    let is_exhausted = |model: &SharedModel<'_>| model.numbers.as_ref().is_some_and(StateNumbers::exhausted);
    match answer {
        Err(Stop::NodeLimit(_)) if models.iter().any(is_exhausted) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Advances round by round.
fn search(
    task: &Task<'_>,
    last: u32,
    (lists, models): (&[ThreadList], &[SharedModel<'_>]),
    run: &Run<'_>,
    explanation: &mut Explanation,
) -> Result<Verdict, Stop> {
    let own = shared_vars(task.program);
    let mut counts = Counts::default();
    let mut searches = Vec::new();
    for (threads, model) in lists.iter().zip(models) {
        let (search, error) = RoundSearch::begin(model)?;
        if let Some(error) = error {
            explanation.contexts = Some(Counts { error: Some(1), ..counts });
            return Ok(threads.verdict(task, search.trace_before(&error)?));
        }
        searches.push((threads, search));
    }
    for k in 1..=last {
        for (threads, search) in &mut searches {
            if let Some(error) = search.advance()? {
                explanation.contexts = Some(Counts { error: Some(k), ..counts });
                return Ok(threads.verdict(task, search.trace(&error)?));
            }
        }
        if let [(_, search)] = searches.as_slice()
            && let states = search.reached().and_then(|states| search.model.count_states(&states, &own))
            && let Some(states) = states.map_err(out_of_nodes)?
        {
            run.event(Event::SharedStates { k, states });
            counts.reached.push((k, states));
            explanation.contexts = Some(counts.clone());
        }
    }
    Err(Stop::BoundReached(Bound::Contexts(last)))
}

impl Contexts {
    /// Returns the reachable shared states for each number of contexts, errors or not, for tasks that
    /// [`Engine::supports`] accepts.
    pub fn shared_states(&self, task: &Task<'_>, run: &Run<'_>) -> Result<SharedStates, Stop> {
        let (bound, lists) = fixed_threads(task, &self.options, self.name()).expect("the engine supports the task");
        let vars = shared_vars(task.program);
        let mut reached = vec![BTreeSet::new(); bound.last as usize];
        for list in lists {
            let threads = ThreadList::new(FixedThreads { target: Target::default(), ..list });
            let found = numbered_or_not(|numbering| {
                let model = threads.model(self.options.histories, numbering, bound.last, run)?;
                unless_exhausted(std::slice::from_ref(&model), shared_states(&model, &vars, bound.last))
            })?;
            for (states, found) in reached.iter_mut().zip(found) {
                states.extend(found);
            }
        }
        Ok(SharedStates { vars, reached })
    }
}

/// Returns the valuations of some shared variables that are reached in 1, 2, .. rounds.
fn shared_states(model: &SharedModel<'_>, vars: &[VarId], last: u32) -> Result<Vec<BTreeSet<Vec<bool>>>, Stop> {
    let (mut search, _) = RoundSearch::begin(model)?;
    let mut reached = Vec::new();
    for _ in 0..last {
        search.advance()?;
        reached.push(model.list_states(&search.reached().map_err(out_of_nodes)?, vars)?);
    }
    Ok(reached)
}

/// A fixed list of threads.
struct ThreadList {
    tracked: Tracked,
    target: Target,
    lift: FixThreadsLift,
}

impl ThreadList {
    fn new(list: FixedThreads) -> ThreadList {
        ThreadList { tracked: track(&list.program), target: list.target, lift: list.lift }
    }

    fn model<'a>(
        &'a self,
        wanted: Option<Histories>,
        numbering: Numbering,
        contexts: u32,
        run: &'a Run<'a>,
    ) -> Result<SharedModel<'a>, Stop> {
        let program = &self.tracked.program;
        let suiting = match shared_vars(program).len() {
            1..=FEW => Histories::Blocks,
            MANY.. => Histories::Numbers,
            _ => Histories::Values,
        };
        let is_empty = program.entries.is_empty() || shared_vars(program).is_empty();
        let histories = match wanted.unwrap_or(suiting) {
            _ if is_empty => Histories::Values,
            Histories::Numbers if numbering == Numbering::Never => Histories::Values,
            histories => histories,
        };
        SharedModel::new(&self.tracked, &self.target, (contexts, Side::ONE, histories), run).map_err(out_of_nodes)
    }

    /// Returns the verdict for an execution of the list of threads.
    fn verdict(&self, task: &Task<'_>, trace: Trace) -> Verdict {
        Verdict::Unsafe(up_to_error(task, self.lift.trace(&self.tracked.original(trace))))
    }
}

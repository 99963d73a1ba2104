//! `rounds`: any number of threads in a bounded number of rounds, with recursion.
//!
//! After La Torre, Madhusudan and Parlato (2010), sections 3 and 4. A run has any number of threads, each a copy of one
//! of the program's templates, in any order; in each round every thread has one turn, in this order, in which it makes
//! any number of steps, or none. A *linear interface* of a block of neighbours is the pair of the shared states with
//! which their turns begin and those with which they end, one of each per round.
//!
//! *Order of work* (`blocks`). Round by round. In each, the thread linear interfaces (TLI), which are the effects of
//! path edges with histories (`thread_paths`), and the left blocks that are to be continued (WRLI) extend each other
//! until nothing is new; then the right linear interfaces (RLI) of the round are computed for the next one. Nothing of
//! an earlier round is recomputed.
//!
//! *Invariant.* After a round the path edges of all templates are saturated for exactly those histories that occur in
//! executions of this number of rounds, and the relations on blocks describe such executions only.
//!
//! *It ends* because the rounds are bounded, and within a round relations only grow.
//!
//! *It is right.* The behaviour of a thread whose turns begin with given shared states does not depend on how these
//! came about. Blocks are composed where they agree on all states between them, so a history that is confirmed is that
//! of an execution. And nothing is missed: by induction on the rounds and on the position in the order, the blocks and
//! interfaces of an execution are found. Counts of threads add up along a block (`counts`), so a template that runs
//! once is never used twice.
//!
//! A game (`adequacy`) after round `k+1` decides whether `k` rounds are enough; only then can the answer be safe.

mod adequacy;
mod blocks;
mod counts;
mod interfaces;
pub mod proof;
mod trace;

use std::collections::BTreeSet;

use selvedge_check::{
    Argument, Bound, Engine, Event, Explanation, RoundBound, Rounds as Found, Run, Stop, Task, ThreadScope,
    Unsupported, Verdict,
};
use selvedge_ir::{Op, ProcId, Program, Target, Trace};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::layout::When;

use super::Histories;
use super::lazy::SharedStates;
use super::thread_paths::columns::Side;
use super::thread_paths::shared_model::SharedModel;
use super::thread_paths::start::{initial, prelude, templates};
use super::thread_paths::template_paths::{PathError, TemplatePaths};
use super::thread_paths::track::{Tracked, track};
use super::threads::{MOST_COUNTED, shared_vars, supports_each_thread, thread_limit, up_to_error};
use adequacy::Winner;
use blocks::{BlockError, BlockRelations};
use counts::BlockCounts;

/// The options of [`Rounds`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of rounds to explore; `None` means [`Rounds::BOUND`].
    ///
    /// Default: none. Range: from 1.
    pub bound: Option<RoundBound>,
    /// The check that a number of rounds is enough. Without it the engine only looks for errors.
    ///
    /// Default: the game is played.
    pub adequacy: Adequacy,
}

/// The use of the adequacy game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adequacy {
    /// The game is played.
    #[default]
    Played,
    /// The game is not played.
    Skipped,
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Its options.
    pub options: Options,
}

impl Engine for Rounds {
    fn name(&self) -> &'static str {
        "rounds"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supported(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let last = self.bound().last;
        let templates = Templates::new(task.program, task.target);
        let model = templates.model(last, run)?;
        let mut search = match templates.begin(&model)? {
            SearchStart::Fails(search, error) => {
                explanation.rounds = Some(Found { error: Some(1), ..Found::default() });
                return Ok(Verdict::Unsafe(templates.alone(task, &search, &error)?));
            }
            SearchStart::TemplateSearch(search) => search,
        };
        let mut found = Found::default();
        for k in 1..=last {
            if let Some(met) = search.blocks.advance()? {
                found.error = Some(k);
                explanation.rounds = Some(found);
                return Ok(Verdict::Unsafe(templates.trace(task, &search, &met)?));
            }
            if let Some(states) = search.count(task.program).map_err(out_of_nodes)? {
                run.event(Event::SharedStates { k, states });
                found.reached.push((k, states));
            }
            if self.options.adequacy == Adequacy::Played && search.is_game_due(self.bound()) {
                match adequacy::play(&search.blocks)? {
                    Winner::Adam => found.enough = Some(k - 1),
                    Winner::Eve(play) => {
                        found.open.push(k - 1);
                        found.play = play;
                    }
                }
            }
            explanation.rounds = Some(found.clone());
            if found.enough.is_some() {
                explanation.close(Argument::Adequacy, run);
                return Ok(Verdict::Safe(None));
            }
        }
        Err(Stop::BoundReached(Bound::Rounds(last)))
    }
}

impl Rounds {
    /// The number of rounds unless the user gives one.
    pub const BOUND: RoundBound = RoundBound { first: 1, last: 4 };

    fn bound(&self) -> RoundBound {
        self.options.bound.unwrap_or(Rounds::BOUND)
    }

    /// Returns the reachable shared states for each number of rounds, errors or not, for tasks that
    /// [`Engine::supports`] accepts.
    pub fn shared_states(&self, task: &Task<'_>, run: &Run<'_>) -> Result<SharedStates, Stop> {
        let last = self.bound().last;
        let vars = shared_vars(task.program);
        let mut reached = Vec::new();
        let target = Target::default();
        let templates = Templates::new(task.program, &target);
        let model = templates.model(last, run)?;
        if let SearchStart::TemplateSearch(mut search) = templates.begin(&model)? {
            let now = model.layout.vars(vars.iter().copied(), When::Now);
            for _ in 1..=last {
                search.blocks.advance()?;
                let mut states = BTreeSet::new();
                for values in search.reached(task.program).map_err(out_of_nodes)?.assignments(&now) {
                    run.tick()?;
                    states.insert(values);
                }
                reached.push(states);
            }
        }
        Ok(SharedStates { vars, reached })
    }
}

/// Checks the requirements of the engine.
fn supported(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    let program = task.program;
    supports_each_thread(task, name)?;
    if task.threads != ThreadScope::Unbounded {
        return Err(Unsupported::new(format!("`{name}` analyses any number of threads: leave out --threads")));
    }
    if let Some(entry) =
        program.entries.iter().find(|entry| thread_limit(entry.count).is_some_and(|limit| limit > MOST_COUNTED))
    {
        return Err(Unsupported::new(format!(
            "`{name}` supports up to {MOST_COUNTED} threads of one template: `{}` has more",
            entry.name
        )));
    }
    for (id, edge) in program.edges.iter_enumerated() {
        match &edge.op {
            Op::Spawn(_) | Op::Fork(_) => {
                let reason =
                    format!("`{name}` only supports threads that exist from the beginning: this step starts one");
                return Err(Unsupported::at(id, reason));
            }
            Op::Assign(assign) if assign.is_passive() => {
                let reason = format!("`{name}` does not support steps that read or assign variables of other threads");
                return Err(Unsupported::at(id, reason));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A program of templates.
struct Templates<'t> {
    tracked: Tracked,
    target: &'t Target,
}

/// A search in rounds.
struct TemplateSearch<'w, 'a> {
    prelude: Option<TemplatePaths<'w, 'a>>,
    blocks: BlockRelations<'w, 'a>,
}

/// The result of the code before the first round.
enum SearchStart<'w, 'a> {
    TemplateSearch(TemplateSearch<'w, 'a>),
    /// An error, before any thread starts.
    Fails(TemplateSearch<'w, 'a>, PathError),
}

impl<'t> Templates<'t> {
    fn new(program: &Program, target: &'t Target) -> Templates<'t> {
        Templates { tracked: track(program), target }
    }

    fn model<'a>(&'a self, rounds: u32, run: &'a Run<'a>) -> Result<SharedModel<'a>, Stop> {
        let program = &self.tracked.program;
        let roots: Vec<ProcId> = program.entries.iter().map(|entry| entry.proc).chain(program.prelude).collect();
        SharedModel::new(program, self.target, self.tracked.flag, &roots, (rounds, Side::TWO, Histories::Values), run)
    }

    fn begin<'w, 'a>(&self, model: &'w SharedModel<'a>) -> Result<SearchStart<'w, 'a>, Stop> {
        let program = &self.tracked.program;
        let mut prelude = prelude(model, program);
        let found = initial(model, prelude.as_mut(), &self.tracked.kept)?;
        let (states, error) = match found {
            Ok(states) => (states, None),
            Err(error) => (model.layout.manager.bottom(), Some(error)),
        };
        let (templates, template_of) = templates(model, program);
        let counts = BlockCounts::new(&model.layout.manager, program);
        let blocks = BlockRelations { model, counts, templates, template_of, initial: states, rounds: Vec::new() };
        let search = TemplateSearch { prelude, blocks };
        Ok(match error {
            Some(error) => SearchStart::Fails(search, error),
            None => SearchStart::TemplateSearch(search),
        })
    }

    fn alone(&self, task: &Task<'_>, search: &TemplateSearch<'_, '_>, error: &PathError) -> Result<Trace, Stop> {
        let prelude = search.prelude.as_ref().expect("only a prelude fails before the threads");
        Ok(self.finished(task, trace::alone(&search.blocks, prelude, error)?))
    }

    fn trace(&self, task: &Task<'_>, search: &TemplateSearch<'_, '_>, met: &BlockError) -> Result<Trace, Stop> {
        Ok(self.finished(task, trace::trace(&search.blocks, search.prelude.as_ref(), met)?))
    }

    /// Removes the added variables from an execution, and cuts it off at its first error.
    fn finished(&self, task: &Task<'_>, mut trace: Trace) -> Trace {
        trace.start.fresh.retain(|(var, _)| !self.tracked.kept.iter().any(|(_, kept)| kept == var));
        up_to_error(task, trace)
    }
}

impl TemplateSearch<'_, '_> {
    /// Returns whether the game is played after the last round, for one round less: for ranges of numbers from the
    /// first on, for a single number at the end.
    fn is_game_due(&self, bound: RoundBound) -> bool {
        let explored = self.blocks.count();
        explored > 1 && (explored > bound.first || explored == bound.last) && adequacy::is_playable(&self.blocks)
    }

    /// Returns the shared states of the task's program that the rounds so far reach.
    fn reached(&self, program: &Program) -> Result<Bdd, OutOfNodes> {
        let own = shared_vars(program);
        let model = self.blocks.model;
        let further = shared_vars(model.program).into_iter().filter(|var| !own.contains(var));
        self.blocks.reached()?.exists(&model.layout.manager.var_set(&model.layout.vars(further, When::Now))?)
    }

    /// Returns the number of these states; `None` if it exceeds 128 bits.
    fn count(&self, program: &Program) -> Result<Option<u128>, OutOfNodes> {
        let now = self.blocks.model.layout.vars(shared_vars(program), When::Now);
        Ok(self.reached(program)?.count(&now))
    }
}

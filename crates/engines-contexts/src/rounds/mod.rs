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

use selvedge_check::{
    Argument, Bound, Engine, Event, Explanation, RoundBound, Rounds as Found, Run, Stop, Task, ThreadScope,
    Unsupported, Verdict,
};
use selvedge_ir::{Op, Target, Trace};
use selvedge_transition::out_of_nodes;

use super::Histories;
use super::lazy::SharedStates;
use super::thread_paths::columns::Side;
use super::thread_paths::shared_model::SharedModel;
use super::thread_paths::track::{Tracked, track};
use super::threads::{MOST_COUNTED, shared_vars, supports_each_thread, thread_limit, up_to_error};
use adequacy::Winner;
use blocks::BlockRelations;

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
        let own = shared_vars(task.program);
        let tracked = track(task.program);
        let model = model(&tracked, task.target, last, run)?;
        let verdict = |trace: Trace| Verdict::Unsafe(up_to_error(task, tracked.original(trace)));
        let (mut blocks, error) = BlockRelations::begin(&model)?;
        if let Some(error) = error {
            explanation.rounds = Some(Found { error: Some(1), ..Found::default() });
            return Ok(verdict(blocks.trace_before(&error)?));
        }
        let mut found = Found::default();
        for k in 1..=last {
            if let Some(error) = blocks.advance()? {
                found.error = Some(k);
                explanation.rounds = Some(found);
                return Ok(verdict(blocks.trace(&error)?));
            }
            let states = blocks.reached().and_then(|states| model.count_states(&states, &own));
            if let Some(states) = states.map_err(out_of_nodes)? {
                run.event(Event::SharedStates { k, states });
                found.reached.push((k, states));
            }
            if self.options.adequacy == Adequacy::Played && is_game_due(&blocks, self.bound()) {
                match adequacy::play(&blocks)? {
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
        let (tracked, target) = (track(task.program), Target::default());
        let model = model(&tracked, &target, last, run)?;
        let (mut blocks, _) = BlockRelations::begin(&model)?;
        let mut reached = Vec::new();
        for _ in 1..=last {
            blocks.advance()?;
            reached.push(model.list_states(&blocks.reached().map_err(out_of_nodes)?, &vars)?);
        }
        Ok(SharedStates { vars, reached })
    }
}

fn model<'a>(tracked: &'a Tracked, target: &'a Target, rounds: u32, run: &'a Run<'a>) -> Result<SharedModel<'a>, Stop> {
    SharedModel::new(tracked, target, (rounds, Side::TWO, Histories::Values), run).map_err(out_of_nodes)
}

/// Returns whether the game is played after the last round, for one round less: for ranges of numbers from the first
/// on, for a single number at the end.
fn is_game_due(blocks: &BlockRelations<'_, '_>, bound: RoundBound) -> bool {
    let explored = blocks.count();
    explored > 1 && (explored > bound.first || explored == bound.last) && adequacy::is_playable(blocks)
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

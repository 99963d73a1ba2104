//! Questions about several pushdown systems with a shared state that take turns: an engine is asked about the program
//! that does what they do, and the rules that it used are executed on the systems themselves.

use std::time::{Duration, Instant};

use selvedge_check::{ContextBound, Engine, Event, Explanation, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::{Histories, Options};
use selvedge_engines::contexts_eager;
use selvedge_ir::pds::program::question;
use selvedge_ir::pds::{Stacks, Threads};

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsEngine {
    /// `contexts`.
    Lazy,
    /// `contexts-eager`.
    Eager,
}

/// The answer about threads that take turns.
#[derive(Clone, Debug)]
pub struct TurnsReport {
    /// The threads, with what is asked for.
    pub threads: Threads,
    /// The answer.
    pub outcome: TurnsOutcome,
    /// The name of the engine.
    pub engine: &'static str,
    /// How long the search took.
    pub search: Duration,
    /// How long the execution of what was found took.
    pub judge: Duration,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub enum TurnsOutcome {
    /// A run to the target, which was executed.
    Reachable(TurnsRun),
    /// Not decided; the target is not reached within the bound at best.
    Unknown(Stop),
}

/// A run of several threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnsRun {
    /// The number of contexts per thread within which it was found: the least of those that were looked at.
    pub contexts: u32,
    /// For each step its thread, and the place of the rule among those of the thread.
    pub rules: Vec<(usize, usize)>,
    /// The configurations, the first one included.
    pub configs: Vec<Stacks>,
}

/// How the engines are asked about systems. Each rule reads and writes the shared state as a whole, and there are many of
/// them: the less a rule has to do with histories, the better.
pub fn turns_options(bound: ContextBound) -> Options {
    Options { bound: Some(bound), histories: Some(Histories::Values) }
}

/// Answers whether the target can be reached within a number of contexts; `None` if the configuration at the beginning
/// is not known. An error says why what was found is no run: we are wrong.
pub fn check_turns(
    threads: Threads,
    bound: ContextBound,
    engine: TurnsEngine,
    run: &Run<'_>,
) -> Result<Option<TurnsReport>, String> {
    run.event(Event::Phase("searching"));
    let start = Instant::now();
    let Some(question) = question(&threads) else { return Ok(None) };
    let options = turns_options(bound);
    let engine: &dyn Engine = match engine {
        TurnsEngine::Lazy => &Contexts { options },
        TurnsEngine::Eager => &contexts_eager(options),
    };
    let task = Task { program: &question.program, target: &question.target, threads: ThreadScope::Unbounded };
    let mut explanation = Explanation::default();
    let verdict = engine.decide(&task, run, &mut explanation);
    let search = start.elapsed();
    run.event(Event::Phase("judging"));
    let outcome = match verdict {
        Ok(Verdict::Unsafe(trace)) => {
            let rule = |step: &selvedge_ir::Step| question.rules.get(&step.edge).copied();
            let rules: Vec<_> = trace.written_out().steps.iter().filter_map(rule).collect();
            let configs = threads.replay(&rules).map_err(|reason| format!("the run is none: {reason:?}"))?;
            let contexts = explanation.contexts.and_then(|counts| counts.error).unwrap_or(bound.last);
            TurnsOutcome::Reachable(TurnsRun { contexts, rules, configs })
        }
        Ok(Verdict::Safe(_)) => return Err("engines with a bound prove nothing".to_string()),
        Err(stop) => TurnsOutcome::Unknown(stop),
    };
    Ok(Some(TurnsReport { threads, outcome, engine: engine.name(), search, judge: start.elapsed() - search }))
}

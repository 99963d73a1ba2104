//! The engines with a bound on contexts per thread on one program, compared with a search in which the threads take
//! turns.
//!
//! For each number of contexts: verdicts are the oracle's, executions replay and are within the bound, and the
//! reachable shared states are the oracle's, or contain them where stacks were too deep for it. The sequential program,
//! printed and read, has the same verdict for engines for one thread. Many contexts find what a search without bound
//! finds.

pub mod numbers;
pub mod search;
pub mod systems;

use std::collections::BTreeSet;
use std::time::Duration;

use selvedge_check::{Bound, ContextBound, Explanation, Question, Stop, Task, ThreadScope, Trace, Verdict};
use selvedge_engines::contexts::Histories;
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::{Options, threads::fixed_threads};
use selvedge_engines::contexts_eager;
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_export::sequential;
use selvedge_frontend::{Context, Source};
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::passes::fix_threads::FixedThreads;
use selvedge_ir::passes::sequentialize;
use selvedge_ir::{Op, Scope};
use selvedge_replay::judge;

use crate::differ::{Posed, pose, pose_text};
use crate::generate::{Weights, generate_in_turn};
use crate::harness::{COMPARISONS, Comparison, Fault, Tally, check_set, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, patient, within};
use search::{InTurns, search};

/// The comparison of all engines with a bound on contexts.
pub const IN_TURNS: Comparison =
    Comparison::new(item, |model, number, budget, tally| compare_posed(&pose(model)?, number, budget, tally));

/// The greatest number of contexts per thread that is compared with the oracle.
pub const LAST: u32 = 4;

/// A number of contexts that counts as many.
const MANY: u32 = 6;

/// Generates the program with a number: the presets for turns alternate.
pub fn item(seed: u64, number: u64) -> Model {
    generate_in_turn(&Weights::in_turns(), seed, number)
}

/// Compares the engines on one question. The number decides which engine reads the sequential program.
fn compare_posed(posed: &Posed, number: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let task = posed.task();
    let options = Options { bound: Some(ContextBound::exactly(1)), ..Options::default() };
    let lists = fixed_threads(&task, &options, "testkit").ok().map(|(_, lists)| lists);
    let Some((lists, oracle)) = lists.and_then(|lists| Some((lists, search(&task, LAST, budget)?))) else {
        tally.count("open");
        return Ok(());
    };
    let eagerly = eager_last(&lists);
    for mode in modes(number) {
        let last = if mode.kind == EngineKind::ContextsEager { eagerly } else { LAST };
        compare_verdicts(mode, &task, &oracle, last, tally)?;
        if mode.kind == EngineKind::Contexts {
            compare_lazily(mode, &task, &oracle, tally)?;
        }
    }
    for k in 1..=eagerly {
        compare_shared(&lists, &oracle, k, tally)?;
    }
    let k = (1 + (number % 3) as u32).min(eagerly);
    compare_text(posed, &lists, &oracle, k, number, budget)?;
    if !CallGraph::new(task.program).has_recursion() {
        compare_many(&task, budget)?;
    }
    tally.count(if oracle.error.is_some() { "unsafe" } else { "safe" });
    Ok(())
}

/// An engine that counts contexts, and its representation of histories.
#[derive(Clone, Copy, Debug)]
struct Mode {
    kind: EngineKind,
    histories: Option<Histories>,
}

/// Returns the engines with their defaults, and `contexts` alternately with other histories than suit small programs.
fn modes(number: u64) -> [Mode; 3] {
    let other = if number.is_multiple_of(2) { Histories::Values } else { Histories::Numbers };
    [(EngineKind::Contexts, None), (EngineKind::ContextsEager, None), (EngineKind::Contexts, Some(other))]
        .map(|(kind, histories)| Mode { kind, histories })
}

impl Mode {
    fn name(self) -> String {
        let histories = self.histories.map_or(String::new(), |histories| format!(" {histories:?}"));
        format!("{}{histories}", self.kind.name())
    }
}

/// The result of an engine within some numbers of contexts.
enum Outcome {
    /// An error, with an execution that replays, and the number at which it was found.
    Error(Trace, Option<u32>),
    /// No error.
    Nothing,
    /// The time limit was reached.
    Late,
}

/// The time limit of an engine, in seconds.
const PATIENCE: u64 = 2;

/// Runs an engine.
fn decide(Mode { kind, histories }: Mode, task: &Task<'_>, bound: ContextBound) -> Result<Outcome, Fault> {
    let contexts = Options { bound: Some(bound), histories };
    let options = EngineOptions { contexts, ..EngineOptions::default() };
    let engine = build(kind, &options);
    let (run, mut explanation) = (patient(PATIENCE), Explanation::default());
    match engine.decide(task, &run, &mut explanation) {
        Ok(verdict) => match (judge(task, &verdict, &run), verdict) {
            (Ok(_), Verdict::Unsafe(trace)) => {
                Ok(Outcome::Error(trace, explanation.contexts.and_then(|contexts| contexts.error)))
            }
            (Ok(_), Verdict::Safe(_)) => fault(kind.name(), "says safe, which it cannot know".to_string()),
            (Err(reject), _) => fault(format!("{} (judge, {bound:?}, {histories:?})", kind.name()), reject.to_string()),
        },
        Err(Stop::BoundReached(Bound::Contexts(last))) if last == bound.last => Ok(Outcome::Nothing),
        Err(Stop::TimeLimit(_)) => Ok(Outcome::Late),
        Err(stop) => fault(kind.name(), stop.to_string()),
    }
}

/// Returns the bound on contexts for the engine that tries all guesses: a program that starts threads has many shared
/// variables.
fn eager_last(lists: &[FixedThreads]) -> u32 {
    let shared = |list: &FixedThreads| list.program.vars.iter().filter(|var| var.scope == Scope::Shared).count();
    match lists.iter().map(shared).max() {
        None | Some(0..=2) => LAST,
        Some(3..=4) => 3,
        Some(_) => 2,
    }
}

fn compare_verdicts(mode: Mode, task: &Task<'_>, oracle: &InTurns, last: u32, tally: &mut Tally) -> Result<(), Fault> {
    let name = mode.name();
    for k in 1..=last {
        let found = decide(mode, task, ContextBound::exactly(k))?;
        tally.count(if matches!(found, Outcome::Late) { "undecided" } else { COMPARISONS });
        match &found {
            Outcome::Late => return Ok(()),
            Outcome::Nothing => check_verdict(&name, false, oracle, k)?,
            Outcome::Error(trace, _) => {
                check_verdict(&name, true, oracle, k)?;
                let needed = contexts_of(task, trace);
                if needed > k && !starts_threads(task) {
                    return fault(&name, format!("an execution of {needed} contexts within {k}"));
                }
            }
        }
    }
    let expected = oracle.error.filter(|error| *error <= last);
    match (decide(mode, task, ContextBound { first: 1, last })?, expected) {
        (Outcome::Error(_, Some(least)), _) => check_least(&name, least, oracle),
        (Outcome::Error(_, None), _) => fault(&name, "does not say with how many contexts".to_string()),
        (Outcome::Nothing, Some(error)) => {
            fault(&name, format!("no error in 1..{last}, but there is one within {error}"))
        }
        (Outcome::Nothing, None) | (Outcome::Late, _) => Ok(()),
    }
}

fn check_least(name: &str, least: u32, oracle: &InTurns) -> Result<(), Fault> {
    let expected = oracle.error.unwrap_or(u32::MAX);
    let wrong = least > expected || (least < expected && oracle.is_exact(least));
    if wrong { fault(name, format!("least number of contexts {least}, but {:?}", oracle.error)) } else { Ok(()) }
}

/// Checks that a verdict is the oracle's, unless the oracle could not see everything.
fn check_verdict(name: &str, is_unsafe: bool, oracle: &InTurns, k: u32) -> Result<(), Fault> {
    if oracle.has_error(k) && !is_unsafe {
        return fault(name, format!("no error within {k} contexts, but there is one within {:?}", oracle.error));
    }
    if is_unsafe && !oracle.has_error(k) && oracle.is_exact(k) {
        return fault(name, format!("an error within {k} contexts, but there is none"));
    }
    Ok(())
}

fn compare_shared(lists: &[FixedThreads], oracle: &InTurns, k: u32, tally: &mut Tally) -> Result<(), Fault> {
    let mut found: BTreeSet<Vec<bool>> = BTreeSet::new();
    for list in lists {
        match contexts_eager(Options::default()).shared_states(list, k, &patient(PATIENCE)) {
            Ok(values) => found.extend(values.list()),
            Err(Stop::TimeLimit(_)) => return Ok(()),
            Err(stop) => return fault("shared states", stop.to_string()),
        }
    }
    check_shared("contexts-eager (shared states)", &found, oracle, k, tally)
}

/// Compares the lazy engine with the oracle, for all numbers at once.
fn compare_lazily(mode: Mode, task: &Task<'_>, oracle: &InTurns, tally: &mut Tally) -> Result<(), Fault> {
    let bound = Some(ContextBound { first: 1, last: LAST });
    let engine = Contexts { options: Options { bound, histories: mode.histories } };
    let name = format!("{} (shared states)", mode.name());
    match engine.shared_states(task, &patient(PATIENCE)) {
        Ok(states) => {
            for (k, found) in (1..).zip(&states.reached) {
                check_shared(&name, found, oracle, k, tally)?;
            }
            Ok(())
        }
        Err(Stop::TimeLimit(_)) => Ok(()),
        Err(stop) => fault(name, stop.to_string()),
    }
}

fn check_shared(
    name: &str,
    found: &BTreeSet<Vec<bool>>,
    oracle: &InTurns,
    k: u32,
    tally: &mut Tally,
) -> Result<(), Fault> {
    tally.count("sets");
    tally.count(COMPARISONS);
    check_set(format!("{name} within {k} contexts"), &oracle.shared[k as usize - 1], oracle.is_exact(k), found)
}

/// Compares the printed sequential program, run by an engine for one thread.
fn compare_text(
    posed: &Posed,
    lists: &[FixedThreads],
    oracle: &InTurns,
    k: u32,
    number: u64,
    budget: Budget,
) -> Result<(), Fault> {
    let kinds = [EngineKind::Summaries, EngineKind::Sat, EngineKind::Bmc, EngineKind::Pushdown];
    let kind = kinds[(number / 3 % 4) as usize];
    // The explicit engine cannot enumerate the valuations of many guesses.
    let k = if kind == EngineKind::Pushdown { 1 } else { k };
    let source = Source::new("program.bp", &posed.text);
    let context = Context { program: &posed.asked, map: &posed.map, source: &source };
    let mut is_unsafe = false;
    for list in lists {
        let reduced = sequentialize::run(&list.program, &list.target, k);
        let text = sequential::render(context, list, &reduced, k);
        let reread = pose_text(text, &Question::default())
            .or_else(|inner| fault("sequentialize (reader)", inner.to_string()))?;
        let task = Task { threads: ThreadScope::Unbounded, ..reread.task() };
        let mut options = EngineOptions::default();
        options.bmc.steps = 12;
        let engine = build(kind, &options);
        let budget = Budget { patience: Some(Duration::from_secs(PATIENCE)), ..budget };
        match within(budget, |run| engine.check(&task, run)) {
            Ok(Verdict::Unsafe(_)) => is_unsafe = true,
            Ok(Verdict::Safe(_)) => {}
            Err(_) => return Ok(()),
        }
    }
    check_verdict(&format!("sequentialize, {}", kind.name()), is_unsafe, oracle, k)
}

/// Checks that with many contexts an error is one that a search without bound on contexts finds too, and the other way
/// round if its execution has few enough.
fn compare_many(task: &Task<'_>, budget: Budget) -> Result<(), Fault> {
    let known = ask(task, budget);
    let found = decide(Mode { kind: EngineKind::Contexts, histories: None }, task, ContextBound::exactly(MANY))?;
    match (&known, &found) {
        (Answer::Safe, Outcome::Error(..)) => fault("many contexts", "an error, but there is none".to_string()),
        (Answer::Unsafe(trace), Outcome::Nothing) if contexts_of(task, trace) <= MANY && !starts_threads(task) => {
            fault("many contexts", format!("no error, but one within {} contexts", contexts_of(task, trace)))
        }
        _ => Ok(()),
    }
}

fn starts_threads(task: &Task<'_>) -> bool {
    task.program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)))
}

/// Returns the number of contexts per thread that an execution needs, if threads take turns in the order of their
/// numbers.
pub fn contexts_of(task: &Task<'_>, trace: &Trace) -> u32 {
    let first = u32::from(task.program.prelude.is_some());
    let threads = trace.steps.iter().map(|step| step.thread.0).filter(|thread| *thread >= first);
    let mut contexts = 1;
    let mut last = None;
    for thread in threads {
        contexts += u32::from(last.is_some_and(|last| thread < last));
        last = Some(thread);
    }
    contexts
}

/// Poses a question about a text, for tests.
pub fn posed(text: &str, threads: Option<u32>) -> Posed {
    pose_text(text.to_string(), &Question { threads, ..Question::default() }).expect("the program is well-formed")
}

//! Several pushdown systems with a shared state, threads in turns: an oracle that visits configurations one by one, and
//! the comparison of all engines with it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexSet;
use selvedge_check::{CancelToken, ContextBound, Limits, Outcome, Reason, Run, Stop, Target, Task, ThreadScope};
use selvedge_driver::{Options, turns_options};
use selvedge_engines::EngineKind;
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::threads::fixed_threads;
use selvedge_engines::contexts_eager;
use selvedge_engines::pushdown::{Direction, SystemVerdict, check};
use selvedge_frontend::System;
use selvedge_frontend::pds::{load, read_view};
use selvedge_ir::pds::program::program;
use selvedge_ir::pds::turns::in_turns;
use selvedge_ir::pds::{Head, ThreadRule, Threads, View};
use selvedge_ir::validate::validate;

use super::search::InTurns;
use crate::corpus::{files, foreign};
use crate::harness::{Campaign, Fault, Tally, check_set, fault};
use crate::workers;

/// The shared state, and the stack of each thread, its top last.
type Config = (u32, Vec<Vec<u32>>);

/// Searches up to a number of contexts per thread, with stacks up to a height; `None` if there are more configurations
/// than the limit.
pub fn search(threads: &Threads, last: u32, height: usize, limit: usize) -> Option<InTurns<u32>> {
    let initial = threads.initial.as_ref()?;
    let stack = |number: usize| initial.tops.get(number).copied().flatten().into_iter().collect();
    let mut configs = vec![(initial.shared, (0..threads.threads.len()).map(stack).collect())];
    let mut found = InTurns::default();
    let mut seen: Vec<IndexSet<Config>> = threads.threads.iter().map(|_| IndexSet::new()).collect();
    let mut expanded = vec![0; threads.threads.len()];
    for k in 1..=last {
        for (number, thread) in threads.threads.iter().enumerate() {
            seen[number].extend(configs);
            while expanded[number] < seen[number].len() {
                let config = seen[number][expanded[number]].clone();
                expanded[number] += 1;
                let next = thread.rules.iter().filter_map(|rule| apply(&config, number, rule));
                let (low, high): (Vec<Config>, Vec<Config>) = next.partition(|next| next.1[number].len() <= height);
                if !high.is_empty() {
                    found.deep = found.deep.or(Some(k));
                }
                seen[number].extend(low);
                if seen[number].len() > limit {
                    return None;
                }
            }
            configs = seen[number].iter().cloned().collect();
        }
        found.shared.push(configs.iter().map(|(shared, _)| *shared).collect());
        let hits = |target: &View| configs.iter().any(|config| meets(config, target));
        if threads.target.as_ref().is_some_and(hits) {
            found.error = found.error.or(Some(k));
        }
    }
    Some(found)
}

fn apply((shared, stacks): &Config, number: usize, rule: &ThreadRule) -> Option<Config> {
    if rule.from != *shared || rule.top != stacks[number].last().copied() {
        return None;
    }
    let mut stacks = stacks.clone();
    stacks[number].pop();
    stacks[number].extend(rule.push.iter().rev());
    Some((rule.to, stacks))
}

fn meets((shared, stacks): &Config, target: &View) -> bool {
    let holds = |(stack, top): (&Vec<u32>, &Option<u32>)| top.is_none_or(|top| stack.last() == Some(&top));
    *shared == target.shared && stacks.iter().zip(&target.tops).all(holds)
}

/// Reads all systems of the corpus of CUBA with an initial configuration; none if the corpus is not installed.
pub fn corpus() -> Vec<(PathBuf, Threads)> {
    let files = foreign("cuba").map_or(Vec::new(), |folder| files(&folder, "pds"));
    files.into_iter().filter_map(|path| Some((path.clone(), read(&path)?))).collect()
}

fn read(path: &Path) -> Option<Threads> {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let Some(System::Threads(mut threads)) = load(&text).system else { return None };
    let view = |ending: &str| {
        let text = std::fs::read_to_string(path.with_extension(ending)).ok()?;
        // Two systems of the corpus have a target for another number of threads.
        read_view(&text, &threads).ok()
    };
    let (initial, target) = (Some(view("init")?), view("spec"));
    threads.initial = initial;
    threads.target = target;
    Some(threads)
}

/// The limits of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The greatest number of contexts for the lazy engine.
    pub last: u32,
    /// The greatest number for the eager one.
    pub eagerly: u32,
    /// The approximate limit on rules of the one pushdown system for all contexts.
    pub rules: usize,
    /// The greatest height of stacks in the search of configurations; less if there are too many.
    pub height: usize,
    /// The limit on configurations.
    pub configurations: usize,
    /// The time limit of an engine for one answer.
    pub patience: Option<Duration>,
}

impl Effort {
    fn run(&self) -> Run<'static> {
        let limits = Limits { time: self.patience, ..Limits::default() };
        Run::new(CancelToken::default(), limits, &())
    }
}

/// The comparison of all engines on the systems of the corpus in turns; the number of a system is its index.
pub struct InTurnsCampaign {
    /// The systems, the largest first.
    pub systems: Vec<(PathBuf, Threads)>,
    /// The limits of the comparison.
    pub effort: Effort,
}

impl InTurnsCampaign {
    /// Returns the comparison on the whole corpus.
    pub fn new(effort: Effort) -> InTurnsCampaign {
        let mut systems = corpus();
        let size = |threads: &Threads| threads.threads.iter().map(|thread| thread.rules.len()).sum::<usize>();
        systems.sort_by_key(|(_, threads)| Reverse(size(threads)));
        InTurnsCampaign { systems, effort }
    }
}

impl Campaign for InTurnsCampaign {
    type Subject = usize;

    /// A stack for the operations on large diagrams, and time for the largest system.
    const EFFORT: workers::Effort = workers::Effort { stack: 64 << 20, patience: Duration::from_secs(7_200) };

    fn subject(&self, _: u64, number: u64) -> usize {
        number as usize
    }

    fn compare(&self, place: &usize, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        compare(&self.systems[*place].1, self.effort, tally)
    }

    fn show(&self, place: &usize) -> String {
        self.systems[*place].0.display().to_string()
    }
}

/// Compares the lazy engine, the eager one, the one pushdown system and the search. If the lazy engine takes too long,
/// nothing else is run for this number of contexts or a greater one.
pub fn compare(threads: &Threads, effort: Effort, tally: &mut Tally) -> Result<(), Fault> {
    let mut heights = (1..=effort.height).rev();
    let explicit = heights.find_map(|height| search(threads, effort.last, height, effort.configurations));
    if threads.target.is_some() {
        compare_targets(threads, explicit.as_ref(), effort)?;
    }
    for k in 1..=effort.last {
        let Some(lazy) = lazily(threads, k, effort)? else {
            tally.count("late");
            break;
        };
        tally.count("sets by the lazy engine");
        if let Some(eager) = if k <= effort.eagerly { eagerly(threads, k, effort)? } else { None } {
            tally.count("sets by the eager engine");
            check_set(format!("contexts-eager at {k}"), &lazy, true, &eager)?;
        }
        let mut known = BTreeSet::new();
        if let Some(seen) = &explicit {
            known.clone_from(&seen.shared[k as usize - 1]);
            check_set(format!("contexts at {k}"), &known, seen.is_exact(k), &lazy)?;
            tally.count("sets by search");
            if seen.is_exact(k) {
                tally.count("sets by search, exactly");
            }
        }
        let Some(system) = by_system(threads, k, &lazy, &known, effort)? else { continue };
        tally.count("sets by one pushdown system");
        if let (Some(reached), Some(seen)) = (system, &explicit)
            && reached != seen.has_error(k)
            && (seen.has_error(k) || seen.is_exact(k))
        {
            return fault("one pushdown system", format!("it says of the target at {k}: {reached}"));
        }
    }
    Ok(())
}

/// Compares the least number of contexts within which the target is reached, as far as the engines get.
fn compare_targets(threads: &Threads, explicit: Option<&InTurns<u32>>, effort: Effort) -> Result<(), Fault> {
    let mut by_engines = BTreeMap::new();
    for (engine, last) in [(EngineKind::Contexts, effort.last), (EngineKind::ContextsEager, effort.eagerly)] {
        let mut options = Options { engine: Some(engine.row()), ..Options::default() };
        options.engine_options.contexts.bound = Some(ContextBound { first: 1, last });
        let answer = selvedge_driver::check(threads.clone(), &options, &effort.run());
        let answer = answer.or_else(|failure| fault(engine.name(), failure.to_string()))?;
        let found = match answer.outcome {
            Outcome::Unsafe(run) => Some(run.contexts),
            Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))) => None,
            Outcome::Safe(_) | Outcome::Unknown(_) => continue,
        };
        by_engines.insert((answer.engine, last), found);
        let Some(seen) = explicit else { continue };
        let expected = seen.error.filter(|target| *target <= last);
        // An execution that the search left out may reach the target earlier.
        let earlier = found.is_some_and(|found| !seen.is_exact(found) && expected.is_none_or(|seen| found < seen));
        if found != expected && !earlier {
            return fault(answer.engine, format!("the target at {found:?}, the search: {:?}", seen.error));
        }
    }
    let upto = |found: Option<u32>| found.filter(|found| *found <= effort.eagerly);
    let answers: BTreeSet<Option<u32>> = by_engines.values().map(|found| upto(*found)).collect();
    if answers.len() > 1 { fault("target", format!("engines differ: {by_engines:?}")) } else { Ok(()) }
}

fn numbers(states: &BTreeSet<Vec<bool>>) -> BTreeSet<u32> {
    let number = |bits: &Vec<bool>| bits.iter().rev().fold(0, |number, bit| 2 * number + u32::from(*bit));
    states.iter().map(number).collect()
}

/// Returns the shared states by an engine; `None` if it exceeds a limit.
fn by_engine(
    threads: &Threads,
    effort: Effort,
    find: impl FnOnce(&Task<'_>, &Run<'_>) -> Result<BTreeSet<Vec<bool>>, Stop>,
) -> Result<Option<BTreeSet<u32>>, Fault> {
    let program = program(threads).expect("the initial configuration is known");
    assert_eq!(validate(&program), Ok(()));
    let task = Task { program: &program, target: &Target::default(), threads: ThreadScope::Unbounded };
    match find(&task, &effort.run()) {
        Ok(states) => Ok(Some(numbers(&states))),
        Err(Stop::TimeLimit(_) | Stop::NodeLimit(_)) => Ok(None),
        Err(stop) => fault("shared states", stop.to_string()),
    }
}

fn lazily(threads: &Threads, k: u32, effort: Effort) -> Result<Option<BTreeSet<u32>>, Fault> {
    let engine = Contexts { options: turns_options(ContextBound::exactly(k)) };
    by_engine(threads, effort, |task, run| {
        let mut reached = engine.shared_states(task, run)?.reached;
        Ok(reached.pop().expect("there is one for each number"))
    })
}

fn eagerly(threads: &Threads, k: u32, effort: Effort) -> Result<Option<BTreeSet<u32>>, Fault> {
    let options = turns_options(ContextBound { first: 1, last: k });
    by_engine(threads, effort, |task, run| {
        let (_, lists) = fixed_threads(task, &options, "testkit").expect("the threads are a list");
        Ok(contexts_eager(options).shared_states(&lists[0], k, run)?.list())
    })
}

/// Returns whether the target is reached, if there is one, by one pushdown system whose shared states must be `found`,
/// of which some are known; `None` if it is too large.
fn by_system(
    threads: &Threads,
    k: u32,
    found: &BTreeSet<u32>,
    known: &BTreeSet<u32>,
    effort: Effort,
) -> Result<Option<Option<bool>>, Fault> {
    let n_rules: usize = threads.threads.iter().map(|thread| thread.rules.len()).sum();
    let size = (threads.n_shared as usize).saturating_pow(k - 1).saturating_mul(n_rules * k as usize);
    if size > effort.rules {
        return Ok(None);
    }
    let reaches = |threads: &Threads, heads: Option<Vec<u32>>| {
        let mut turns = in_turns(threads, k).expect("it is small");
        if let Some(heads) = heads {
            let head = |shared: u32| Head { state: turns.confirmed[shared as usize], top: None };
            turns.pds.targets = heads.into_iter().map(head).collect();
        }
        match check(&turns.pds, Direction::Forward, &Run::unlimited()).expect("it ends") {
            SystemVerdict::Reachable(trace) => {
                turns.pds.replay(&trace).expect("the run is one");
                true
            }
            SystemVerdict::Unreachable(_) => false,
        }
    };
    let open = Threads { target: None, ..threads.clone() };
    let others = (0..threads.n_shared).filter(|shared| !found.contains(shared)).collect();
    if reaches(&open, Some(others)) {
        return fault("one pushdown system", format!("it reaches more shared states at {k}"));
    }
    if let Some(missing) = found.difference(known).find(|shared| !reaches(&open, Some(vec![**shared]))) {
        return fault("one pushdown system", format!("it does not reach the shared state {missing} at {k}"));
    }
    Ok(Some(threads.target.is_some().then(|| reaches(threads, None))))
}

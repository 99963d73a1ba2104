//! Breadth-first search over all configurations of a thread-transition system with a bounded number of threads: slow
//! and plain, the reference for everything else.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::tts::{LocalId, Rule, RuleId, SharedId, Tts, TtsRun, TtsStep};

/// The behaviour at the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBound {
    /// A rule that leads to more threads cannot be taken.
    Blocked,
    /// The threads within the bound start, the others do not, as in a bounded program.
    Skipped,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The pairs of shared and local states that occur.
    pub pairs: BTreeSet<(SharedId, LocalId)>,
    /// A shortest run to a target. Only where rules are blocked at the bound.
    pub run: Option<TtsRun>,
    /// A target is covered.
    pub covered: bool,
    /// There were more configurations than were visited.
    pub truncated: bool,
}

/// The shared state and the threads, in ascending order.
type Configuration = (SharedId, Vec<LocalId>);

/// The origin of a configuration: the start with this number, or a rule from the configuration with this number.
#[derive(Clone, Copy)]
enum Origin {
    Start(usize),
    Rule(usize, RuleId),
}

/// Visits all configurations with up to this number of threads, but not more than `limit`.
pub fn reach(tts: &Tts, n_threads: usize, at_bound: AtBound, limit: usize) -> Found {
    let mut found = Found::default();
    let mut rules: BTreeMap<(SharedId, LocalId), Vec<RuleId>> = BTreeMap::new();
    for (id, rule) in tts.rules.iter_enumerated() {
        rules.entry((rule.shared, rule.local)).or_default().push(id);
    }
    let mut states: Vec<(Configuration, Origin)> = Vec::new();
    let mut numbers: BTreeSet<Configuration> = BTreeSet::new();
    for (configuration, start) in starts(tts, n_threads) {
        if numbers.insert(configuration.clone()) {
            states.push((configuration, Origin::Start(start)));
        }
    }
    let mut next = 0;
    while next < states.len() {
        let (shared, threads) = states[next].0.clone();
        found.pairs.extend(threads.iter().map(|local| (shared, *local)));
        if !found.covered && tts.targets.iter().any(|target| target.holds(shared, &threads)) {
            found.covered = true;
            found.run = (at_bound == AtBound::Blocked).then(|| run(tts, &states, next));
        }
        if states.len() > limit {
            found.truncated = true;
            break;
        }
        for at in 0..threads.len() {
            for rule in rules.get(&(shared, threads[at])).into_iter().flatten() {
                for after in apply(tts, &threads, at, *rule, n_threads, at_bound) {
                    if numbers.insert(after.clone()) {
                        states.push((after, Origin::Rule(next, *rule)));
                    }
                }
            }
        }
        next += 1;
    }
    found
}

/// Returns the initial configurations with up to this number of threads.
fn starts(tts: &Tts, n_threads: usize) -> Vec<(Configuration, usize)> {
    let mut found = Vec::new();
    for (number, start) in tts.starts.iter().enumerate().filter(|(_, start)| start.threads.len() <= n_threads) {
        let mut open = vec![(start.threads.clone(), 0)];
        while let Some((threads, least)) = open.pop() {
            if threads.len() < n_threads {
                for (at, local) in start.any.iter().enumerate().skip(least) {
                    open.push((threads.iter().copied().chain([*local]).collect(), at));
                }
            }
            let mut threads = threads;
            threads.sort_unstable();
            found.push(((start.shared, threads), number));
        }
    }
    found
}

fn apply(
    tts: &Tts,
    threads: &[LocalId],
    at: usize,
    rule: RuleId,
    n_threads: usize,
    at_bound: AtBound,
) -> Vec<Configuration> {
    let rule = &tts.rules[rule];
    let (own, new) = rule.parts();
    let room = n_threads - threads.len();
    if at_bound == AtBound::Blocked && new.len() > room {
        return Vec::new();
    }
    let mut others: Vec<LocalId> = threads.to_vec();
    others.remove(at);
    let with_new = |mut after: Vec<LocalId>| {
        after.extend(own);
        after.extend(new.iter().take(room));
        after.sort_unstable();
        (rule.shared_after, after)
    };
    transferred(rule, &others).into_iter().map(with_new).collect()
}

/// Returns all that threads can become beside one that takes a rule, in their order.
fn transferred(rule: &Rule, threads: &[LocalId]) -> Vec<Vec<LocalId>> {
    let Some((last, rest)) = threads.split_last() else { return vec![Vec::new()] };
    let ways = rule.transfers.iter().find(|(from, _)| from == last).map_or(vec![*last], |(_, to)| to.clone());
    let with = |list: Vec<LocalId>| {
        ways.iter().map(move |way| list.iter().copied().chain([*way]).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    transferred(rule, rest).into_iter().flat_map(with).collect()
}

/// Returns the run to a configuration. Its threads are followed from the start on, any of those in one state.
fn run(tts: &Tts, states: &[(Configuration, Origin)], last: usize) -> TtsRun {
    let mut way = Vec::new();
    let mut at = last;
    let start = loop {
        match states[at].1 {
            Origin::Start(start) => break start,
            Origin::Rule(before, rule) => {
                way.push((rule, at));
                at = before;
            }
        }
    };
    let mut threads = tts.starts[start].threads.clone();
    let mut others = states[at].0.1.clone();
    for thread in &threads {
        let place = others.iter().position(|other| other == thread).expect("the threads of a start are there");
        others.remove(place);
    }
    threads.extend(others);
    let mut now: Vec<Option<LocalId>> = threads.iter().copied().map(Some).collect();
    let mut steps = Vec::new();
    for (id, after) in way.into_iter().rev() {
        let rule = &tts.rules[id];
        let mover = now.iter().position(|thread| *thread == Some(rule.local)).expect("a thread can take the rule");
        let taken = now.iter().enumerate().filter(|(thread, _)| *thread != mover).filter_map(|(_, local)| *local);
        let moved: Vec<LocalId> = taken.filter(|local| rule.transfers.iter().any(|(from, _)| from == local)).collect();
        let leads_there = |transferred: Vec<LocalId>| {
            let step = TtsStep { thread: mover, rule: id, transferred };
            let mut next = now.clone();
            rule.apply(&mut next, &step)?;
            let mut living: Vec<LocalId> = next.iter().copied().flatten().collect();
            living.sort_unstable();
            (living == states[after].0.1).then_some((next, step))
        };
        let found = transferred(rule, &moved).into_iter().find_map(leads_there);
        let (next, step) = found.expect("some choice of the other threads leads there");
        now = next;
        steps.push(step);
    }
    TtsRun { start, threads, steps }
}

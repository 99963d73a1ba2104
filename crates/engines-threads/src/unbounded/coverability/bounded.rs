//! Runs with a bounded number of threads at a time.
//!
//! A breadth-first search over configurations with up to k threads. Where a rule would put more than k threads, those
//! beyond are forgotten: they exist and do nothing, which is a run like any other, since no rule requires the absence
//! of a thread; where it transfers threads, those that are forgotten go anywhere. So with k threads this finds at least
//! the configurations that can be reached with k threads at a time, and all that it finds can be covered. It ends since
//! there are finitely many such configurations.

use selvedge_check::{Event, Run, Stop};
use selvedge_ir::tts::{LocalId, RuleId, SharedId, Start, TtsRun, TtsStep};

use super::Rules;
use super::choices::{ThreadList, choose, repeat};
use super::transfer::{self, lists_after};
use crate::rows::Rows;

/// The parent of a first configuration.
const NONE: u32 = u32::MAX;

/// Finds the shortest run with k threads at a time to a target; `None` if there is no such run.
pub fn find(rules: &Rules<'_>, k: usize, run: &Run<'_>) -> Result<Option<TtsRun>, Stop> {
    let mut search = BoundedSearch::new(rules, k);
    let found = search.explore(run, |shared, threads| rules.is_target(shared, threads))?;
    Ok(found.map(|number| search.way_to(number)))
}

/// Returns the thread states that k threads reach, in ascending order.
pub fn thread_states(rules: &Rules<'_>, k: usize, run: &Run<'_>) -> Result<Vec<(SharedId, LocalId)>, Stop> {
    let mut search = BoundedSearch::new(rules, k);
    search.explore(run, |_, _| false)?;
    let mut states: Vec<(SharedId, LocalId)> = Vec::new();
    for number in 0..search.len() {
        let (shared, threads) = search.configuration(number);
        states.extend(threads.iter().map(|local| (shared, *local)));
        if number % 65536 == 0 {
            states.sort_unstable();
            states.dedup();
        }
    }
    states.sort_unstable();
    states.dedup();
    Ok(states)
}

/// Visits the configurations of k threads, until the visitor returns true.
pub(super) fn visit(
    rules: &Rules<'_>,
    k: usize,
    run: &Run<'_>,
    enough: impl FnMut(SharedId, &[LocalId]) -> bool,
) -> Result<(), Stop> {
    BoundedSearch::new(rules, k).explore(run, enough).map(drop)
}

/// A search over configurations: lists of the shared state, and of up to k local states in ascending order.
struct BoundedSearch<'t> {
    rules: &'t Rules<'t>,
    k: usize,
    rows: Rows,
    /// The origin of each configuration: the one before and the rule; or [`NONE`] and the number of the start.
    parents: Vec<(u32, u32)>,
}

impl<'t> BoundedSearch<'t> {
    fn new(rules: &'t Rules<'t>, k: usize) -> BoundedSearch<'t> {
        BoundedSearch { rules, k, rows: Rows::default(), parents: Vec::new() }
    }

    fn len(&self) -> usize {
        self.parents.len()
    }

    fn configuration(&self, number: usize) -> (SharedId, Vec<LocalId>) {
        let row = self.rows.get(number);
        (SharedId::from_raw(row[0]), row[1..].iter().map(|local| LocalId::from_raw(*local)).collect())
    }

    /// Adds a configuration whose threads may be in any order, unless it is known.
    fn add(&mut self, shared: SharedId, threads: &mut [u32], parent: (u32, u32)) {
        threads.sort_unstable();
        if self.rows.add(&[shared.raw()], threads).is_some() {
            self.parents.push(parent);
        }
    }

    /// Visits all configurations in the order of their distance from the starts, until one is wanted.
    fn explore(
        &mut self,
        run: &Run<'_>,
        mut wanted: impl FnMut(SharedId, &[LocalId]) -> bool,
    ) -> Result<Option<usize>, Stop> {
        self.start(run)?;
        let mut next = 0;
        while next < self.len() {
            run.tick()?;
            if next % 65536 == 65535 {
                run.event(Event::Searched { visited: self.len(), waiting: self.len() - next, depth: self.k });
            }
            let (shared, threads) = self.configuration(next);
            if wanted(shared, &threads) {
                return Ok(Some(next));
            }
            self.expand(next, shared, &threads, run)?;
            next += 1;
        }
        Ok(None)
    }

    fn start(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        let rules = self.rules;
        for (number, start) in rules.tts.starts.iter().enumerate() {
            for mut threads in first_threads(start, self.k) {
                run.tick()?;
                self.add(start.shared, &mut threads, (NONE, number as u32));
            }
        }
        Ok(())
    }

    fn expand(&mut self, number: usize, shared: SharedId, threads: &[LocalId], run: &Run<'_>) -> Result<(), Stop> {
        let mut after: Vec<u32> = Vec::with_capacity(self.k + 2);
        for (place, local) in threads.iter().enumerate() {
            if place > 0 && threads[place - 1] == *local {
                continue;
            }
            for id in self.rules.of(shared, *local) {
                let rule = self.rules.rule(*id);
                if !rule.transfers.is_empty() {
                    self.transfer((number, *id), &[&threads[..place], &threads[place + 1..]].concat(), run)?;
                    continue;
                }
                after.clear();
                after.extend(threads[..place].iter().chain(&threads[place + 1..]).map(|local| local.raw()));
                after.extend(rule.after.iter().map(|local| local.raw()).take(self.k - after.len()));
                self.add(rule.shared_after, &mut after, (number as u32, id.raw()));
            }
        }
        Ok(())
    }

    /// Adds the configurations after a rule that transfers the others of its threads.
    fn transfer(&mut self, (number, id): (usize, RuleId), others: &[LocalId], run: &Run<'_>) -> Result<(), Stop> {
        let rule = self.rules.rule(id);
        for list in lists_after(rule, others, run)? {
            let new = rule.after.iter().take(self.k - list.len());
            let mut after: Vec<u32> = list.iter().chain(new).map(|local| local.raw()).collect();
            self.add(rule.shared_after, &mut after, (number as u32, id.raw()));
        }
        Ok(())
    }

    /// Returns the run to a configuration. Any of several threads in one state may move, except that the thread must be
    /// one that was not forgotten.
    fn way_to(&self, number: usize) -> TtsRun {
        let mut way = Vec::new();
        let mut at = number;
        while self.parents[at].0 != NONE {
            way.push((RuleId::from_raw(self.parents[at].1), self.configuration(at).1));
            at = self.parents[at].0 as usize;
        }
        way.reverse();
        let start = self.parents[at].1 as usize;
        let (_, kept) = self.configuration(at);
        let threads = whole_start(&self.rules.tts.starts[start], &kept);
        let steps = schedule(self.rules, self.k, &threads, kept, &way);
        TtsRun { start, threads, steps }
    }
}

/// Chooses the thread for each rule. `kept` are the states of the threads that count, a part of `threads`; `way` has
/// the rules, each with the states of those that count after it.
fn schedule(
    rules: &Rules<'_>,
    k: usize,
    threads: &[LocalId],
    mut kept: Vec<LocalId>,
    way: &[(RuleId, Vec<LocalId>)],
) -> Vec<TtsStep> {
    let mut live: Vec<usize> = Vec::new();
    for (number, local) in threads.iter().enumerate() {
        if let Some(place) = kept.iter().position(|other| other == local) {
            kept.swap_remove(place);
            live.push(number);
        }
    }
    let mut now: Vec<Option<LocalId>> = threads.iter().copied().map(Some).collect();
    let mut steps = Vec::new();
    for (id, after) in way {
        let rule = rules.rule(*id);
        let place = live.iter().position(|thread| now[*thread] == Some(rule.local));
        let mover = live.swap_remove(place.expect("the rule applies to a thread"));
        let mut wanted = after.clone();
        for local in rule.after.iter().take(k - live.len()) {
            let place = wanted.iter().position(|other| other == local).expect("the new threads are there");
            wanted.swap_remove(place);
        }
        let step = transfer::step((*id, rule), &now, mover, &live, &wanted);
        let n_before = now.len();
        rule.apply(&mut now, &step).expect("the step is chosen so that it applies");
        live.extend(rule.goes_on.then_some(mover));
        let room = k - live.len();
        live.extend((n_before..now.len()).take(room));
        steps.push(step);
    }
    steps
}

/// Returns all threads of a start of which some are kept: the exact ones, then the others among the kept.
fn whole_start(start: &Start, kept: &[LocalId]) -> Vec<LocalId> {
    let mut others = kept.to_vec();
    for local in &start.threads {
        if let Some(place) = others.iter().position(|other| other == local) {
            others.swap_remove(place);
        }
    }
    start.threads.iter().copied().chain(others).collect()
}

/// Returns up to k threads of a start: all largest parts of its exact ones, with all choices of others.
fn first_threads(start: &Start, k: usize) -> Vec<Vec<u32>> {
    let exact: Vec<u32> = start.threads.iter().map(|local| local.raw()).collect();
    let any: Vec<u32> = start.any.iter().map(|local| local.raw()).collect();
    let mut all = Vec::new();
    choose(&exact, exact.len().min(k), &mut ThreadList::new(), &mut |part| {
        let room = k - part.len();
        for n_more in 0..=room {
            repeat(&any, n_more, &mut ThreadList::from_slice(part), &mut |threads| all.push(threads.to_vec()));
        }
    });
    all
}

//! Coverability backwards on vectors of numbers, one for each local state: slow and plain.
//!
//! For a rule and a vector of threads that are to be covered, all vectors with as many threads and one more are tried:
//! those from which some choice of the threads leads above it are before it.

use selvedge_ir::tts::{LocalId, Rule, Start, Tts};

/// A shared state, and how many threads there are in each local state.
type Element = (usize, Vec<usize>);

/// Returns whether a target can be covered; `None` if there are more than `most` elements, or some have many threads.
pub fn coverable(tts: &Tts, most: usize) -> Option<bool> {
    let n_local = tts.n_local as usize;
    let mut elements: Vec<Element> = Vec::new();
    let mut waiting: Vec<Element> =
        tts.targets.iter().map(|target| (target.shared.index(), numbers(&target.threads, n_local))).collect();
    while let Some((shared, threads)) = waiting.pop() {
        if elements.iter().any(|(other, less)| *other == shared && below(less, &threads)) {
            continue;
        }
        if tts.starts.iter().any(|start| may_start(start, shared, &threads)) {
            return Some(true);
        }
        if elements.len() == most || threads.iter().sum::<usize>() > MOST_THREADS {
            return None;
        }
        for rule in tts.rules.iter().filter(|rule| rule.shared_after.index() == shared) {
            let before = |others: Vec<usize>| {
                let mut before = others;
                before[rule.local.index()] += 1;
                (rule.shared.index(), before)
            };
            let n_others = threads.iter().sum();
            let leads_there = |others: &Vec<usize>| can_become(rule, others, &threads);
            waiting.extend(up_to(n_others, n_local).into_iter().filter(leads_there).map(before));
        }
        elements.push((shared, threads));
    }
    Some(false)
}

/// Vectors with more threads have too many vectors before them.
const MOST_THREADS: usize = 3;

fn numbers(threads: &[LocalId], n_local: usize) -> Vec<usize> {
    (0..n_local).map(|local| threads.iter().filter(|thread| thread.index() == local).count()).collect()
}

fn below(less: &[usize], more: &[usize]) -> bool {
    less.iter().zip(more).all(|(less, more)| less <= more)
}

fn may_start(start: &Start, shared: usize, threads: &[usize]) -> bool {
    let first = numbers(&start.threads, threads.len());
    let enough = |local: usize| first[local] >= threads[local] || start.any.contains(&LocalId::from(local));
    start.shared.index() == shared && (0..threads.len()).all(enough)
}

/// Returns all vectors of up to `most` threads.
fn up_to(most: usize, n_local: usize) -> Vec<Vec<usize>> {
    if n_local == 0 {
        return vec![Vec::new()];
    }
    let with = |first: usize| {
        up_to(most - first, n_local - 1).into_iter().map(move |rest| [vec![first], rest].concat()).collect::<Vec<_>>()
    };
    (0..=most).flat_map(with).collect()
}

/// Returns whether threads beside one that takes a rule can become, with those that the rule puts, at least some.
fn can_become(rule: &Rule, others: &[usize], wanted: &[usize]) -> bool {
    let Some(from) = others.iter().position(|count| *count > 0) else {
        let put = numbers(&rule.after, wanted.len());
        return below(wanted, &put);
    };
    let mut rest = others.to_vec();
    rest[from] -= 1;
    let local = LocalId::from(from);
    let ways = rule.transfers.iter().find(|(moved, _)| *moved == local).map_or(vec![local], |(_, to)| to.clone());
    ways.iter().any(|way| {
        let mut wanted = wanted.to_vec();
        wanted[way.index()] = wanted[way.index()].saturating_sub(1);
        can_become(rule, &rest, &wanted)
    })
}

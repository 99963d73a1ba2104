//! The oracle for several pushdown systems with a shared state: configurations one by one, threads in turns.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use selvedge_ir::pds::{ThreadRule, Threads, View};

/// What is reachable within 1, 2, .. contexts per thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemInTurns {
    /// For each number the shared states.
    pub shared: Vec<BTreeSet<u32>>,
    /// The least number within which the target is reached.
    pub target: Option<u32>,
    /// The least number within which a stack was higher than the bound.
    pub deep: Option<u32>,
}

/// The shared state, and the stack of each thread, its top last.
type Config = (u32, Vec<Vec<u32>>);

/// Searches up to so many contexts per thread, with stacks of at most so many symbols; `None` beyond so many
/// configurations.
pub fn search(threads: &Threads, last: u32, height: usize, limit: usize) -> Option<SystemInTurns> {
    let initial = threads.initial.as_ref()?;
    let stack = |number: usize| initial.tops.get(number).copied().flatten().into_iter().collect();
    let mut configs = vec![(initial.shared, (0..threads.threads.len()).map(stack).collect())];
    let mut found = SystemInTurns::default();
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
            found.target = found.target.or(Some(k));
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

//! A run to what a node of the tree of Karp and Miller covers: with as many rounds of each loop as it needs.
//!
//! **Order of work.** The threads that are needed at the node are followed backwards along its branch: before a rule,
//! they are those that the rule does not put, and the one that moves. Where numbers became ω because the node covers
//! an ancestor, the path from the ancestor to the node is followed backwards, again and again, as long as more threads
//! are needed in these states than there were before.
//!
//! **Invariant.** From what is needed at a point, the rules that were collected lead to what was needed at the end. In
//! states in which the node has a number, no more than that are needed, apart from those that an enclosing loop brings.
//!
//! **End.** Each round brings at least one thread in each of these states, and needs itself no more than the ancestor
//! has. Loops are in each other at most as deep as there are states; but there may be very many rounds, so that their
//! number is limited.

use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, RuleId, Tts, TtsRun, TtsStep};

use super::{OMEGA, Rules, Vector};

/// Limit on the steps of a run.
const MOST_STEPS: usize = 200_000;

/// The origin of a node, and the numbers that became ω in it.
pub(super) struct Branch {
    /// The parent and the rule that leads from there.
    pub(super) from: Option<(u32, RuleId)>,
    /// The number of the start, for a node without a parent.
    pub(super) start: usize,
    /// The accelerations, in order.
    pub(super) raised: Vec<Raised>,
}

/// Numbers that became ω because the path from an ancestor can be repeated.
pub(super) struct Raised {
    pub(super) ancestor: u32,
    /// The states, with the numbers of threads before.
    pub(super) before: Vec<(LocalId, u32)>,
}

/// Returns a run to a configuration above some threads, which a node covers; `None` if it has too many steps.
pub(super) fn run_to(
    rules: &Rules<'_>,
    branches: &[Branch],
    node: u32,
    wanted: &Vector,
    run: &Run<'_>,
) -> Result<Option<TtsRun>, Stop> {
    let mut unwinding = Unwinding { rules, branches, run, need: wanted.clone(), way: Vec::new(), is_long: false };
    let first = unwinding.back(node, branches[node as usize].raised.len(), None)?;
    if unwinding.is_long {
        return Ok(None);
    }
    unwinding.way.reverse();
    Ok(Some(forwards(rules.tts, branches[first as usize].start, unwinding.need, &unwinding.way)))
}

struct Unwinding<'u> {
    rules: &'u Rules<'u>,
    branches: &'u [Branch],
    run: &'u Run<'u>,
    /// The threads that are needed.
    need: Vector,
    /// The rules from here on, the last one first.
    way: Vec<RuleId>,
    is_long: bool,
}

impl Unwinding<'_> {
    /// Follows a branch backwards from a node, of which the first accelerations are made, to an ancestor or to its
    /// first node. Returns where it ends.
    fn back(&mut self, node: u32, n_raised: usize, ancestor: Option<u32>) -> Result<u32, Stop> {
        let (branches, mut at, mut n_raised) = (self.branches, node, n_raised);
        loop {
            for number in (0..n_raised).rev() {
                let raised = &branches[at as usize].raised[number];
                while !self.is_long && raised.before.iter().any(|(local, count)| self.need.count(*local) > *count) {
                    self.back(at, number, Some(raised.ancestor))?;
                }
            }
            let Some((parent, id)) = branches[at as usize].from.filter(|_| !self.is_long) else { return Ok(at) };
            self.run.tick()?;
            let rule = self.rules.rule(id);
            for local in &rule.after {
                self.need.remove(*local);
            }
            self.need.add(rule.local);
            self.way.push(id);
            self.is_long = self.way.len() > MOST_STEPS;
            at = parent;
            if ancestor == Some(at) {
                return Ok(at);
            }
            n_raised = branches[at as usize].raised.len();
        }
    }
}

/// Takes rules one after the other, from a start with the threads that are needed.
fn forwards(tts: &Tts, start: usize, need: Vector, way: &[RuleId]) -> TtsRun {
    let mut threads = tts.starts[start].threads.clone();
    let mut more = need;
    for local in &threads {
        more.remove(*local);
    }
    threads.extend(more.threads());
    let mut now: Vec<Option<LocalId>> = threads.iter().copied().map(Some).collect();
    let mut by_state: Vec<Vec<usize>> = vec![Vec::new(); tts.n_local as usize];
    threads.iter().enumerate().for_each(|(thread, local)| by_state[local.index()].push(thread));
    let mut steps = Vec::new();
    for id in way {
        let rule = &tts.rules[*id];
        let thread = by_state[rule.local.index()].pop().expect("the threads that are needed are there");
        let step = TtsStep { thread, rule: *id, transferred: Vec::new() };
        let n_before = now.len();
        rule.apply(&mut now, &step).expect("the thread is in the state of the rule");
        for changed in [thread].into_iter().chain(n_before..now.len()) {
            if let Some(local) = now[changed] {
                by_state[local.index()].push(changed);
            }
        }
        steps.push(step);
    }
    TtsRun { start, threads, steps }
}

/// Returns the states in which a number became ω, with the numbers before.
pub(super) fn raised(before: &Vector, after: &Vector) -> Vec<(LocalId, u32)> {
    let is_new = |(local, count): &&(LocalId, u32)| *count == OMEGA && before.count(*local) != OMEGA;
    after.counts().iter().filter(is_new).map(|(local, _)| (*local, before.count(*local))).collect()
}

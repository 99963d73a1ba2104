//! The marking equation of a net, and weights that show that a configuration cannot be covered.
//!
//! Whatever a run covers is the start and the effects of its transitions, each as often as it is taken: m₀ + C·x ≥ m.
//! Whether there are such rational numbers x ≥ 0, and how few transitions they need, is a linear program: [`Distance`].
//! Where there are none, there are weights y ≥ 0 of the states such that no transition makes the sum of a configuration
//! greater, and that of m is greater than that of m₀ (Farkas). These weights exclude many configurations besides m, and
//! can be checked step by step.
//!
//! A start has all its threads at once: an additional state stands for it, from which transitions lead to all starts.
//! Threads of which there may be any number weigh nothing. Transfers may move any number of threads: what a thread
//! becomes does not weigh more.

use fixedbitset::FixedBitSet;
use selvedge_ir::tts::{LocalId, Rule, SharedId, Tts};

use super::super::{OMEGA, Vector};
use super::contract::{Net, Transition};
use super::relaxation::{Greatest, Relaxation};

/// Limit on the numbers of a linear program.
const MOST_NUMBERS: usize = 400_000;

/// Limit on the weights: with them, sums are far from the greatest numbers.
const MOST_WEIGHT: i64 = 1 << 30;

/// The number of threads that stands for any number, where distances are estimated.
const MANY: i64 = 1 << 16;

/// Weights of the states of a system, such that no step makes the sum of a configuration greater.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The weights of the shared states.
    pub shareds: Vec<i64>,
    /// The weights of the local states, at least 0.
    pub locals: Vec<i64>,
    /// The greatest sum of a start.
    pub most: i64,
}

impl Weights {
    /// Returns whether a configuration, and all above it, have a sum that no start has.
    pub fn exclude(&self, shared: SharedId, threads: &Vector) -> bool {
        let sum = |(local, count): &(LocalId, u32)| i128::from(self.locals[local.index()]) * i128::from(*count);
        let sum: i128 = threads.counts().iter().map(sum).sum();
        sum + i128::from(self.shareds[shared.index()]) > i128::from(self.most)
    }
}

/// How far a configuration is from another, according to the marking equation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Far {
    /// At least about this many transitions.
    Steps(f64),
    /// It cannot be covered.
    Never,
    /// The linear program is too hard.
    Unknown,
}

/// The marking equation of a net.
pub(super) struct Distance<'t> {
    tts: &'t Tts,
    net: &'t Net,
    relaxation: Relaxation,
    /// For each shared and each local state its variable.
    of_shared: Vec<Option<usize>>,
    of_local: Vec<Option<usize>>,
    /// The variable of the additional state.
    first: usize,
}

impl<'t> Distance<'t> {
    /// Returns the marking equation; `None` if it is too large.
    pub(super) fn new(tts: &'t Tts, net: &'t Net) -> Option<Distance<'t>> {
        let mut kept = FixedBitSet::with_capacity(net.goal.index() + 1);
        net.transitions.iter().for_each(|one| kept.extend([one.from.index(), one.to.index()]));
        tts.starts.iter().for_each(|start| kept.insert(start.shared.index()));
        kept.insert(net.goal.index());
        let mut free = FixedBitSet::with_capacity(tts.n_local as usize);
        free.extend(tts.starts.iter().flat_map(|start| &start.any).map(|local| local.index()));
        let mut n_vars = 0;
        let mut number = |is_there: bool| {
            n_vars += usize::from(is_there);
            is_there.then(|| n_vars - 1)
        };
        let of_shared: Vec<_> = (0..=net.goal.index()).map(|shared| number(kept.contains(shared))).collect();
        let weighs = |local: usize| net.useful.contains(local) && !free.contains(local);
        let of_local: Vec<_> = (0..tts.n_local as usize).map(|local| number(weighs(local))).collect();
        let first = n_vars;
        if (n_vars + 1) * (net.transitions.len() + tts.starts.len()) > MOST_NUMBERS {
            return None;
        }
        let relaxation = Relaxation::new(0, &[]);
        let mut distance = Distance { tts, net, relaxation, of_shared, of_local, first };
        let constraints = distance.constraints();
        if (n_vars + 1) * constraints.len() > MOST_NUMBERS {
            return None;
        }
        distance.relaxation = Relaxation::new(n_vars + 1, &constraints);
        Some(distance)
    }

    fn constraints(&self) -> Vec<(Vec<(usize, i64)>, i64)> {
        let mut all: Vec<(Vec<(usize, i64)>, i64)> = Vec::new();
        for start in &self.tts.starts {
            let mut sum = self.sum(start.shared, &Vector::of(&start.threads), 1);
            sum.push((self.first, -1));
            all.push((sum, 0));
        }
        all.extend(self.net.transitions.iter().map(|transition| (self.effect(transition), 1)));
        // Also rules that are in no transition, since nothing comes after them, are to keep the weights.
        for (from, to) in self.tts.rules.iter().flat_map(|rule| &rule.transfers) {
            let weights = to.iter().filter(|to| *to != from).filter_map(|to| self.of_local[to.index()]);
            let from = self.of_local[from.index()];
            all.extend(weights.map(|to| ([(to, 1)].into_iter().chain(from.map(|from| (from, -1))).collect(), 0)));
        }
        let (mut costs, mut free): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, bound)| *bound > 0);
        [&mut costs, &mut free].into_iter().for_each(|list| {
            list.iter_mut().for_each(|(sum, _)| *sum = tidy(sum));
            list.retain(|(sum, _)| sum.iter().any(|(_, coef)| *coef > 0));
            list.sort_unstable();
            list.dedup();
        });
        [free, costs].concat()
    }

    /// Returns what a transition puts, less what it takes, rule by rule: transfers in between change nothing.
    fn effect(&self, transition: &Transition) -> Vec<(usize, i64)> {
        let mut sum = self.sum(transition.to, &Vector::default(), 1);
        sum.extend(self.sum(transition.from, &Vector::default(), -1));
        let rules = transition.rules.iter().map(|id| &self.tts.rules[*id]);
        let mut add = |local: &LocalId, coef: i64| sum.extend(self.of_local[local.index()].map(|var| (var, coef)));
        for Rule { local, after, .. } in rules {
            add(local, -1);
            after.iter().for_each(|local| add(local, 1));
        }
        if let Some(target) = transition.target {
            self.tts.targets[target].threads.iter().for_each(|local| add(local, -1));
        }
        sum
    }

    fn sum(&self, shared: SharedId, threads: &Vector, sign: i64) -> Vec<(usize, i64)> {
        let count = |(local, count): &(LocalId, u32)| {
            let count = if *count == OMEGA { MANY } else { i64::from(*count) };
            self.of_local[local.index()].map(|var| (var, sign * count))
        };
        let own = self.of_shared[shared.index()].map(|var| (var, sign));
        own.into_iter().chain(threads.counts().iter().filter_map(count)).collect()
    }

    /// Returns how far the goal is from a configuration.
    pub(super) fn of_goal(&mut self, shared: SharedId, threads: &Vector) -> Far {
        let mut sum = self.sum(shared, threads, -1);
        sum.extend(self.sum(self.net.goal, &Vector::default(), 1));
        match self.relaxation.maximize(&sum) {
            Greatest::Bounded(steps) => Far::Steps(steps),
            Greatest::Unbounded(_) => Far::Never,
            Greatest::Unknown => Far::Unknown,
        }
    }

    /// Returns weights that exclude a configuration, if the marking equation does.
    pub(super) fn excluding(&mut self, shared: SharedId, threads: &Vector) -> Option<Weights> {
        let mut sum = self.sum(shared, threads, 1);
        sum.push((self.first, -1));
        match self.relaxation.maximize(&sum) {
            Greatest::Unbounded(ray) => self.weights(&ray).filter(|weights| weights.exclude(shared, threads)),
            _ => None,
        }
    }

    /// Returns the weights of all states. A shared state that was eliminated weighs as little as the rules that lead
    /// away from it allow.
    fn weights(&self, ray: &[i64]) -> Option<Weights> {
        if ray.iter().any(|weight| *weight > MOST_WEIGHT) {
            return None;
        }
        let of = |var: &Option<usize>| var.map_or(0, |var| ray[var]);
        let mut shareds: Vec<i64> = self.of_shared.iter().map(of).collect();
        let locals: Vec<i64> = self.of_local.iter().map(of).collect();
        let sum = |threads: &[LocalId]| threads.iter().map(|local| locals[local.index()]).sum::<i64>();
        let mut least: Vec<Option<i64>> = vec![None; shareds.len()];
        let goal = shareds[self.net.goal.index()];
        for target in &self.tts.targets {
            let weight = goal - sum(&target.threads);
            let least = &mut least[target.shared.index()];
            *least = Some(least.map_or(weight, |least| least.max(weight)));
        }
        let mut leading: Vec<Vec<&Rule>> = vec![Vec::new(); shareds.len()];
        for rule in self.tts.rules.iter().filter(|rule| rule.shared != rule.shared_after) {
            leading[rule.shared.index()].push(rule);
        }
        for shared in &self.net.eliminated {
            let after =
                |rule: &&Rule| shareds[rule.shared_after.index()] + sum(&rule.after) - locals[rule.local.index()];
            let by_rules = leading[shared.index()].iter().map(after).max();
            // Where nothing leads away, nothing limits the weight.
            shareds[shared.index()] = by_rules.max(least[shared.index()]).unwrap_or(-(MOST_WEIGHT << 20));
        }
        shareds.pop();
        Some(Weights { shareds, locals, most: ray[self.first] })
    }
}

/// Adds up the numbers of each variable.
fn tidy(sum: &[(usize, i64)]) -> Vec<(usize, i64)> {
    let mut sorted = sum.to_vec();
    sorted.sort_unstable();
    let same = sorted.chunk_by(|one, other| one.0 == other.0);
    same.map(|group| (group[0].0, group.iter().map(|(_, coef)| coef).sum())).filter(|(_, coef)| *coef != 0).collect()
}

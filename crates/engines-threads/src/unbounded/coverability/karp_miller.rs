//! The set of all that can be covered: the tree of Karp and Miller over explicit states, chapter 8 of Basler's thesis,
//! as corrected.
//!
//! A node is a shared state and numbers of threads up to ω.
//!
//! **Order of work.** The newest node is expanded first. Each successor is accelerated against all its ancestors: where
//! it covers one with the same shared state, the numbers that have grown become ω, until nothing changes. The
//! accelerated node is the one that is compared and stored. If a maximal node covers it, it is dropped; else the
//! maximal nodes that it covers are no longer maximal, and those among them that were not expanded never will be.
//! Expanded nodes keep their subtrees: pruning these loses states.
//!
//! **Invariant.** All configurations of a node can be covered: the steps from an ancestor to a node that covers it can
//! be repeated. Every step from a maximal node that was expanded leads below a maximal node.
//!
//! **End.** A branch without end would have two nodes of which the later covers the earlier (Dickson); it has then more
//! ω, or is dropped.

use selvedge_check::{Event, Run, Stop};
use selvedge_ir::tts::{Cover, LocalId, SharedId};

use super::unwind::{Branch, Raised, raised, run_to};
use super::{Answer, Rules, Vector};

/// The set of all that can be covered, as finitely many vectors: none of them covers another with its shared state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverSet {
    /// The shared states with their vectors, in ascending order.
    pub vectors: Vec<(SharedId, Vector)>,
}

/// Computes all that can be covered.
pub fn cover_set(rules: &Rules<'_>, run: &Run<'_>) -> Result<CoverSet, Stop> {
    let mut tree = Tree::new(rules);
    tree.build(run, &[])?;
    Ok(tree.maximal())
}

/// Returns the vectors that show that no target can be covered; `None` as soon as one can.
pub fn prove(rules: &Rules<'_>, run: &Run<'_>) -> Result<Option<CoverSet>, Stop> {
    let mut tree = Tree::new(rules);
    Ok(tree.build(run, &rules.tts.targets)?.is_none().then(|| tree.maximal()))
}

/// Decides whether a target can be covered; `None` if one can, by a run of too many steps.
pub fn decide(rules: &Rules<'_>, run: &Run<'_>) -> Result<Option<Answer<CoverSet>>, Stop> {
    decide_within(rules, usize::MAX, run)
}

/// Decides the same with a limit on the nodes of the tree; `None` also beyond it.
pub fn decide_within(rules: &Rules<'_>, most: usize, run: &Run<'_>) -> Result<Option<Answer<CoverSet>>, Stop> {
    let mut tree = Tree { most, ..Tree::new(rules) };
    match tree.build(run, &rules.tts.targets)? {
        Some((node, wanted)) => Ok(run_to(rules, &tree.branches, node, &wanted, run)?.map(Answer::Covered)),
        None if tree.waiting.is_empty() => Ok(Some(Answer::Uncovered(tree.maximal()))),
        None => Ok(None),
    }
}

impl CoverSet {
    /// Returns whether these threads can be covered.
    pub fn covers(&self, target: &Cover) -> bool {
        let wanted = Vector::of(&target.threads);
        let first = self.vectors.partition_point(|(shared, _)| *shared < target.shared);
        let here = self.vectors[first..].iter().take_while(|(shared, _)| *shared == target.shared);
        here.into_iter().any(|(_, vector)| wanted.is_covered_by(vector))
    }

    /// Returns the thread states that can be covered, in ascending order.
    pub fn thread_states(&self) -> Vec<(SharedId, LocalId)> {
        let states = |(shared, vector): &(SharedId, Vector)| {
            vector.counts().iter().map(|(local, _)| (*shared, *local)).collect::<Vec<_>>()
        };
        let mut states: Vec<(SharedId, LocalId)> = self.vectors.iter().flat_map(states).collect();
        states.sort_unstable();
        states.dedup();
        states
    }
}

struct VectorNode {
    shared: SharedId,
    vector: Vector,
    /// True if a later node covers this one and it was not expanded before.
    dropped: bool,
}

struct Tree<'t> {
    rules: &'t Rules<'t>,
    nodes: Vec<VectorNode>,
    /// For each node its origin.
    branches: Vec<Branch>,
    /// For each shared state the maximal nodes, oldest first.
    maximal: Vec<Vec<u32>>,
    waiting: Vec<u32>,
    /// Limit on the nodes.
    most: usize,
}

impl<'t> Tree<'t> {
    fn new(rules: &'t Rules<'t>) -> Tree<'t> {
        assert!(!rules.tts.has_transfers(), "the tree is for systems whose rules transfer no threads");
        let maximal = vec![Vec::new(); rules.tts.n_shared as usize];
        Tree { rules, nodes: Vec::new(), branches: Vec::new(), maximal, waiting: Vec::new(), most: usize::MAX }
    }

    /// Builds the tree; returns a node that covers a target, with the threads of the target, as soon as there is one.
    /// It stops early if there are too many nodes: then some wait.
    fn build(&mut self, run: &Run<'_>, targets: &[Cover]) -> Result<Option<(u32, Vector)>, Stop> {
        for (number, start) in self.rules.tts.starts.iter().enumerate() {
            let mut vector = Vector::of(&start.threads);
            start.any.iter().for_each(|local| vector.add_omega(*local));
            self.add(start.shared, vector, Branch { from: None, start: number, raised: Vec::new() });
        }
        let wanted: Vec<(SharedId, Vector)> =
            targets.iter().map(|target| (target.shared, Vector::of(&target.threads))).collect();
        let mut n_done = 0;
        while self.nodes.len() <= self.most
            && let Some(number) = self.waiting.pop()
        {
            run.check_limits()?;
            let node = &self.nodes[number as usize];
            if node.dropped {
                continue;
            }
            let met =
                |(shared, vector): &&(SharedId, Vector)| *shared == node.shared && vector.is_covered_by(&node.vector);
            if let Some((_, vector)) = wanted.iter().find(met) {
                return Ok(Some((number, vector.clone())));
            }
            n_done += 1;
            if n_done % 1024 == 0 {
                let (visited, waiting) = (self.nodes.len(), self.waiting.len());
                run.event(Event::Searched { visited, waiting, depth: 0 });
            }
            self.expand(number, run)?;
        }
        Ok(None)
    }

    fn expand(&mut self, number: u32, run: &Run<'_>) -> Result<(), Stop> {
        let (shared, vector) = (self.nodes[number as usize].shared, self.nodes[number as usize].vector.clone());
        for (local, _) in vector.counts() {
            for id in self.rules.of(shared, *local) {
                run.tick()?;
                let rule = self.rules.rule(*id);
                let mut after = vector.clone();
                after.remove(rule.local);
                rule.after.iter().for_each(|local| after.add(*local));
                let raised = self.accelerate(rule.shared_after, &mut after, number);
                self.add(rule.shared_after, after, Branch { from: Some((number, *id)), start: 0, raised });
            }
        }
        Ok(())
    }

    /// Puts ω where a vector has grown since an ancestor, until nothing changes.
    fn accelerate(&self, shared: SharedId, vector: &mut Vector, parent: u32) -> Vec<Raised> {
        let mut all = Vec::new();
        loop {
            let n_before = all.len();
            let mut at = Some(parent);
            while let Some(number) = at {
                let node = &self.nodes[number as usize];
                if node.shared == shared && node.vector.is_covered_by(vector) {
                    let before = vector.clone();
                    if vector.accelerate(&node.vector) {
                        all.push(Raised { ancestor: number, before: raised(&before, vector) });
                    }
                }
                at = self.branches[number as usize].from.map(|(parent, _)| parent);
            }
            if all.len() == n_before {
                return all;
            }
        }
    }

    /// Stores a node unless a maximal one covers it.
    fn add(&mut self, shared: SharedId, vector: Vector, branch: Branch) {
        let (nodes, maximal) = (&mut self.nodes, &mut self.maximal[shared.index()]);
        if maximal.iter().rev().any(|other| vector.is_covered_by(&nodes[*other as usize].vector)) {
            return;
        }
        maximal.retain(|other| {
            let other = &mut nodes[*other as usize];
            let covered = other.vector.is_covered_by(&vector);
            // Dropping a node that was expanded changes nothing.
            other.dropped |= covered;
            !covered
        });
        let number = nodes.len() as u32;
        nodes.push(VectorNode { shared, vector, dropped: false });
        self.branches.push(branch);
        maximal.push(number);
        self.waiting.push(number);
    }

    fn maximal(&self) -> CoverSet {
        let numbers = self.maximal.iter().flatten();
        let mut vectors: Vec<(SharedId, Vector)> = numbers
            .map(|number| &self.nodes[*number as usize])
            .map(|node| (node.shared, node.vector.clone()))
            .collect();
        vectors.sort_unstable();
        CoverSet { vectors }
    }
}

//! A program's edges in a form that can be changed.

use index_vec::IndexVec;

use fixedbitset::FixedBitSet;

use crate::passes::edit::Keep;
use crate::passes::{Lift, LiftStep, Passed, StepPart};
use crate::syntax::{Edge, Expr, LocId, Op, Program};
use crate::target::Target;

/// An edge, and the old steps that it represents.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: LocId,
    pub(super) to: LocId,
    pub(super) op: Op,
    pub(super) ensures: Expr,
    pub(super) steps: Vec<LiftStep>,
}

impl Step {
    /// Returns the old steps of a skip that is fused with a step of another kind.
    pub(super) fn silent_steps(&self) -> impl Iterator<Item = LiftStep> {
        self.steps.iter().map(|step| LiftStep { part: StepPart::Silent, ..step.clone() })
    }
}

/// Edges by number and by location. Numbers are not reused. The lists of a location may hold edges that are gone or
/// have been moved, until the list is read; the counts are exact.
pub(super) struct Graph {
    steps: Vec<Option<Step>>,
    out: IndexVec<LocId, Vec<usize>>,
    into: IndexVec<LocId, Vec<usize>>,
    n_into: IndexVec<LocId, usize>,
    /// For locations that are no longer reached, since all edges into them have been redirected: the location that
    /// replaces them.
    renamed: IndexVec<LocId, Option<LocId>>,
}

impl Graph {
    pub(super) fn new(program: &Program) -> Graph {
        let n_locs = program.locs.len();
        let mut graph = Graph {
            steps: Vec::new(),
            out: IndexVec::from_vec(vec![Vec::new(); n_locs]),
            into: IndexVec::from_vec(vec![Vec::new(); n_locs]),
            n_into: IndexVec::from_vec(vec![0; n_locs]),
            renamed: IndexVec::from_vec(vec![None; n_locs]),
        };
        let lifts = Lift::identity(program).edges;
        for (Edge { from, to, op, ensures }, steps) in program.edges.iter().cloned().zip(lifts) {
            graph.add(Step { from, to, op, ensures, steps });
        }
        graph
    }

    pub(super) fn add(&mut self, step: Step) {
        let id = self.steps.len();
        self.out[step.from].push(id);
        self.into[step.to].push(id);
        self.n_into[step.to] += 1;
        self.steps.push(Some(step));
    }

    pub(super) fn remove(&mut self, id: usize) -> Step {
        let step = self.steps[id].take().expect("lists that have been read hold what exists");
        self.n_into[step.to] -= 1;
        step
    }

    pub(super) fn step(&self, id: usize) -> &Step {
        self.steps[id].as_ref().expect("lists that have been read hold what exists")
    }

    pub(super) fn out(&mut self, loc: LocId) -> &[usize] {
        self.out[loc].retain(|id| self.steps[*id].is_some());
        &self.out[loc]
    }

    pub(super) fn incoming(&mut self, loc: LocId) -> &[usize] {
        self.into[loc].retain(|id| self.steps[*id].is_some());
        &self.into[loc]
    }

    pub(super) fn n_into(&self, loc: LocId) -> usize {
        self.n_into[loc]
    }

    /// Returns whether two edges of one location do the same, so that the second is not needed. One of them may be
    /// gone.
    pub(super) fn repeats(&self, first: usize, second: usize) -> bool {
        let (Some(first), Some(second)) = (&self.steps[first], &self.steps[second]) else { return false };
        matches!(second.op, Op::Assign(_)) && first.to == second.to && first.op == second.op
    }

    /// Notes that labels of one location now belong to another.
    pub(super) fn rename(&mut self, loc: LocId, to: LocId) {
        self.renamed[loc] = Some(to);
    }

    /// Returns the program with the edges as they are now, in the order of the old steps that they represent. Locations
    /// without edges are removed, unless something else needs them.
    pub(super) fn passed(mut self, program: &Program, target: &Target, ends: &FixedBitSet) -> Passed {
        let mut steps: Vec<Step> = std::mem::take(&mut self.steps).into_iter().flatten().collect();
        steps.sort_by(|a, b| a.steps.iter().map(|step| step.edge).cmp(b.steps.iter().map(|step| step.edge)));
        let mut passed = Passed::unchanged(&Program { edges: IndexVec::new(), ..program.clone() }, target);
        let mut used = ends.clone();
        for step in steps {
            used.extend([step.from.index(), step.to.index()]);
            let id = passed.add_edge(step.from, step.to, step.op, step.steps);
            passed.program.edges[id].ensures = step.ensures;
        }
        passed.target.asserts = passed.lift.asserts(target);
        used.extend(target.watched().into_iter().map(LocId::index));
        for label in &mut passed.program.labels {
            label.loc = self.name(label.loc);
        }
        let keep = Keep { locs: used, ..Keep::all(&passed.program) };
        passed.retain(&keep)
    }

    /// Returns the current location of a label. A renamed location is never reached again, so the chain ends.
    fn name(&self, mut loc: LocId) -> LocId {
        for _ in 0..self.renamed.len() {
            match self.renamed[loc] {
                Some(to) => loc = to,
                None => break,
            }
        }
        loc
    }
}

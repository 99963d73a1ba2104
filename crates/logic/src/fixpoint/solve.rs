//! The solver. The method is explained in the documentation of the parent module.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::system::{Equation, RelId, System};
use crate::bdd::OutOfNodes;
use crate::relation::Relation;

/// The order in which differences are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The difference of the relation declared first, whenever it has one. Propagates before it spreads: good if the
    /// relations are declared along the flow. Differences may be replaced by smaller diagrams that contain old tuples.
    Priority,
    /// All differences at once, round after round. A tuple appears in the round that is the height of its lowest
    /// derivation, so that shortest derivations can be read off the changes.
    Rounds,
}

/// The growth of a relation.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The layer, from 0.
    pub layer: usize,
    /// The number of differences (by priority) or rounds of them that were propagated in this layer before.
    pub step: usize,
    /// The relation.
    pub relation: RelId,
    /// The added tuples. In rounds these are exactly the new ones; by priority there may be some old ones too.
    pub delta: &'a Relation,
    /// The value, including the added tuples.
    pub value: &'a Relation,
}

/// An observer of the solver, which may stop it.
pub trait Watch {
    /// The reason why the solver stops without an answer.
    type Stop: From<OutOfNodes>;

    /// Called before each evaluation of a term. An error ends the solution.
    fn tick(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// Called when a relation has grown. A break ends the solution early, with the values so far.
    fn grown(&mut self, change: &Change<'_>) -> Result<ControlFlow<()>, Self::Stop> {
        let _ = change;
        Ok(ControlFlow::Continue(()))
    }
}

/// The observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    type Stop = OutOfNodes;
}

/// The values of the relations of a system.
#[derive(Clone, Debug)]
pub struct Solution {
    values: Vec<Relation>,
    complete: bool,
    steps: usize,
}

impl Solution {
    /// Returns the value of a relation.
    pub fn value(&self, relation: RelId) -> &Relation {
        &self.values[relation.index()]
    }

    /// Returns whether the values are the least solution. Otherwise the observer ended it early, and the values are
    /// partial.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the number of differences (by priority) or rounds of them that were propagated in all layers.
    pub fn steps(&self) -> usize {
        self.steps
    }
}

impl System {
    /// Computes the least solution, or the values at which the observer ended it.
    pub fn solve<W: Watch>(&self, order: Order, watch: &mut W) -> Result<Solution, W::Stop> {
        let values = self.relations.iter().map(|r| self.space.empty(&r.columns)).collect();
        let mut solution = Solution { values, complete: true, steps: 0 };
        for index in 0..self.layers {
            let mut layer = Layer::new(self, index, &mut solution, watch)?;
            let flow = layer.solve(order)?;
            solution.steps += layer.step;
            if flow.is_break() {
                solution.complete = false;
                break;
            }
        }
        Ok(solution)
    }
}

/// The state of the solution of one layer.
struct Layer<'a, W> {
    index: usize,
    step: usize,
    equations: Vec<Equation>,
    /// The occurrences of each relation, as equation and index.
    uses: Vec<Vec<(usize, usize)>>,
    values: &'a mut [Relation],
    /// The differences: tuples in the values that wait to be propagated. None is empty.
    waiting: BTreeMap<RelId, Relation>,
    system: &'a System,
    watch: &'a mut W,
}

/// Propagates an early end.
macro_rules! go {
    ($flow:expr) => {
        if let ControlFlow::Break(()) = $flow {
            return Ok(ControlFlow::Break(()));
        }
    };
}

impl<'a, W: Watch> Layer<'a, W> {
    fn new(
        system: &'a System,
        index: usize,
        solution: &'a mut Solution,
        watch: &'a mut W,
    ) -> Result<Layer<'a, W>, W::Stop> {
        let live = |r: RelId| system.relations[r.index()].layer == index;
        let mut equations = Vec::new();
        let mut uses = vec![Vec::new(); system.relations.len()];
        for equation in system.equations.iter().filter(|e| live(e.head)) {
            watch.tick()?;
            let body = equation.body.settled(&live, &solution.values)?;
            for (place, relation) in body.places().into_iter().enumerate() {
                uses[relation.index()].push((equations.len(), place));
            }
            equations.push(Equation { head: equation.head, body });
        }
        let (values, waiting) = (&mut *solution.values, BTreeMap::new());
        Ok(Layer { index, step: 0, equations, uses, values, waiting, system, watch })
    }

    fn solve(&mut self, order: Order) -> Result<ControlFlow<()>, W::Stop> {
        let mut first = Vec::new();
        for equation in &self.equations {
            self.watch.tick()?;
            first.push((equation.head, equation.body.eval(self.values)?));
        }
        for (head, value) in first {
            go!(self.absorb(head, value, order)?);
        }
        match order {
            Order::Priority => self.by_priority(),
            Order::Rounds => self.in_rounds(),
        }
    }

    fn by_priority(&mut self) -> Result<ControlFlow<()>, W::Stop> {
        while let Some((relation, delta)) = self.waiting.pop_first() {
            self.system.space.manager().tidy();
            self.step += 1;
            for (equation, place) in self.uses[relation.index()].clone() {
                let derived = self.derive(equation, place, &delta)?;
                go!(self.absorb(self.equations[equation].head, derived, Order::Priority)?);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Solves in rounds. Values do not change during a round, so that nothing derived in it is used in it.
    fn in_rounds(&mut self) -> Result<ControlFlow<()>, W::Stop> {
        while !self.waiting.is_empty() {
            self.system.space.manager().tidy();
            self.step += 1;
            let mut derived: BTreeMap<RelId, Relation> = BTreeMap::new();
            for (relation, delta) in std::mem::take(&mut self.waiting) {
                for (equation, place) in self.uses[relation.index()].clone() {
                    let more = self.derive(equation, place, &delta)?;
                    add(&mut derived, self.equations[equation].head, more)?;
                }
            }
            for (relation, derived) in derived {
                go!(self.absorb(relation, derived, Order::Rounds)?);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn derive(&mut self, equation: usize, place: usize, delta: &Relation) -> Result<Relation, W::Stop> {
        self.watch.tick()?;
        Ok(self.equations[equation].body.eval_with(place, delta, self.values)?)
    }

    /// Adds new tuples to the value and to the difference.
    fn absorb(&mut self, head: RelId, derived: Relation, order: Order) -> Result<ControlFlow<()>, W::Stop> {
        let at = head.index();
        if derived.is_subset(&self.values[at]) {
            return Ok(ControlFlow::Continue(()));
        }
        let delta = news(&derived, &self.values[at], order)?;
        self.values[at] = self.values[at].union(&derived)?;
        add(&mut self.waiting, head, delta.clone())?;
        let change =
            Change { layer: self.index, step: self.step, relation: head, delta: &delta, value: &self.values[at] };
        self.watch.grown(&change)
    }
}

/// Adds tuples to a relation in a table.
fn add(table: &mut BTreeMap<RelId, Relation>, relation: RelId, more: Relation) -> Result<(), OutOfNodes> {
    let all = match table.remove(&relation) {
        Some(known) => known.union(&more)?,
        None => more,
    };
    table.insert(relation, all);
    Ok(())
}

/// Returns the tuples to propagate: the new ones, or by priority any set between these and all known tuples if its
/// diagram is smaller. No other tuples can be added: restriction to the unknown tuples changes the result for known
/// tuples only.
fn news(derived: &Relation, known: &Relation, order: Order) -> Result<Relation, OutOfNodes> {
    let new = derived.difference(known)?;
    if order == Order::Rounds {
        return Ok(new);
    }
    let slim = derived.restrict(&known.complement()?)?;
    Ok(if slim.bdd().node_count() < new.bdd().node_count() { slim } else { new })
}

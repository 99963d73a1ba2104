//! The solver. The method is explained in the documentation of the parent module.

use std::collections::BTreeMap;

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
    /// The value, including the added tuples.
    pub value: &'a Relation,
}

/// An observer of the solver, which may stop it.
pub trait Watch {
    /// The reason why the solver stops without an answer.
    type Stop: From<OutOfNodes>;

    /// Called before each evaluation of a term. An error ends the solution.
    fn tick(&mut self) -> Result<(), Self::Stop>;

    /// Called when a relation has grown.
    fn grown(&mut self, change: &Change<'_>);
}

impl System {
    /// Computes the least solution: the value of each relation, by [`RelId::index`].
    pub fn solve<W: Watch>(&self, order: Order, watch: &mut W) -> Result<Vec<Relation>, W::Stop> {
        let mut values: Vec<Relation> = self.relations.iter().map(|r| self.space.empty(&r.columns)).collect();
        for index in 0..self.layers {
            Layer::new(self, index, &mut values, watch)?.solve(order)?;
        }
        Ok(values)
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

impl<'a, W: Watch> Layer<'a, W> {
    fn new(
        system: &'a System,
        index: usize,
        values: &'a mut [Relation],
        watch: &'a mut W,
    ) -> Result<Layer<'a, W>, W::Stop> {
        let live = |r: RelId| system.relations[r.index()].layer == index;
        let mut equations = Vec::new();
        let mut uses = vec![Vec::new(); system.relations.len()];
        for equation in system.equations.iter().filter(|e| live(e.head)) {
            watch.tick()?;
            let body = equation.body.settled(&live, values)?;
            for (place, relation) in body.places().into_iter().enumerate() {
                uses[relation.index()].push((equations.len(), place));
            }
            equations.push(Equation { head: equation.head, body });
        }
        Ok(Layer { index, step: 0, equations, uses, values, waiting: BTreeMap::new(), system, watch })
    }

    fn solve(&mut self, order: Order) -> Result<(), W::Stop> {
        let mut first = Vec::new();
        for equation in &self.equations {
            self.watch.tick()?;
            first.push((equation.head, equation.body.eval(self.values, None)?));
        }
        for (head, value) in first {
            self.absorb(head, value, order)?;
        }
        match order {
            Order::Priority => self.by_priority(),
            Order::Rounds => self.in_rounds(),
        }
    }

    fn by_priority(&mut self) -> Result<(), W::Stop> {
        while let Some((relation, delta)) = self.waiting.pop_first() {
            self.system.space.manager().tidy();
            self.step += 1;
            for (equation, place) in self.uses[relation.index()].clone() {
                let derived = self.derive(equation, place, &delta)?;
                self.absorb(self.equations[equation].head, derived, Order::Priority)?;
            }
        }
        Ok(())
    }

    /// Solves in rounds. Values do not change during a round, so that nothing derived in it is used in it.
    fn in_rounds(&mut self) -> Result<(), W::Stop> {
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
                self.absorb(relation, derived, Order::Rounds)?;
            }
        }
        Ok(())
    }

    fn derive(&mut self, equation: usize, place: usize, delta: &Relation) -> Result<Relation, W::Stop> {
        self.watch.tick()?;
        Ok(self.equations[equation].body.eval(self.values, Some((place, delta)))?)
    }

    /// Adds new tuples to the value and to the difference.
    fn absorb(&mut self, head: RelId, derived: Relation, order: Order) -> Result<(), W::Stop> {
        let at = head.index();
        if derived.is_subset(&self.values[at]) {
            return Ok(());
        }
        let delta = news(&derived, &self.values[at], order)?;
        self.values[at] = self.values[at].union(&derived)?;
        add(&mut self.waiting, head, delta)?;
        let value = &self.values[at];
        self.watch.grown(&Change { layer: self.index, step: self.step, relation: head, value });
        Ok(())
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

//! Relations, layers and equations.

use super::Term;
use crate::relation::{Column, Space};

/// A relation of a [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelId(u32);

impl RelId {
    /// Returns the index in the order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A system of equations, layer by layer. A relation may have several equations; its value is then the union.
#[derive(Clone, Debug)]
pub struct System {
    pub(super) space: Space,
    pub(super) relations: Vec<Declared>,
    pub(super) equations: Vec<Equation>,
    pub(super) layers: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) layer: usize,
}

/// An equation: the relation contains the term.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) head: RelId,
    pub(super) body: Term,
}

impl System {
    /// Returns a system without relations, at its first layer.
    pub fn new(space: &Space) -> System {
        System { space: space.clone(), relations: Vec::new(), equations: Vec::new(), layers: 1 }
    }

    /// Declares a relation of the current layer. The order of declaration matters for [`super::Order::Priority`]:
    /// earlier relations go first. The name is for messages.
    pub fn relation(&mut self, name: &str, columns: &[Column]) -> RelId {
        let mut columns = columns.to_vec();
        columns.sort();
        assert!(columns.windows(2).all(|w| w[0] != w[1]), "a column occurs twice in {name}");
        self.relations.push(Declared { name: name.to_owned(), columns, layer: self.layers - 1 });
        RelId(self.relations.len() as u32 - 1)
    }

    /// Closes the current layer: relations declared from now on may use the complements of those declared so far.
    pub fn next_layer(&mut self) {
        self.layers += 1;
    }

    /// Requires the relation to contain the term, which must have its columns. Panics if the term has the complement of
    /// a relation that is not solved in an earlier layer, or a relation of a later layer.
    pub fn equation(&mut self, head: RelId, body: impl Into<Term>) {
        let body = body.into();
        let Declared { name, layer, .. } = self.declared(head);
        for (atom, negated) in body.atoms() {
            let used = self.declared(atom);
            let is_solved = used.layer < *layer || !negated && used.layer == *layer;
            assert!(is_solved, "the equation for {name} needs {}, which is not solved before", used.name);
        }
        self.equations.push(Equation { head, body });
    }

    fn declared(&self, relation: RelId) -> &Declared {
        &self.relations[relation.index()]
    }
}

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

/// The reason why an equation is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllFormed {
    /// The complement of a relation is used before its value is final.
    #[error("the equation for {head} negates {relation}, which is not solved in an earlier layer")]
    Negated {
        /// The relation under the complement.
        relation: String,
        /// The left-hand side.
        head: String,
    },
    /// A relation is used in a layer before its own.
    #[error("the equation for {head} uses {relation}, which is solved in a later layer")]
    Later {
        /// The relation of a later layer.
        relation: String,
        /// The left-hand side.
        head: String,
    },
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

    /// Requires the relation to contain the term. Panics if their columns differ.
    pub fn equation(&mut self, head: RelId, body: impl Into<Term>) -> Result<(), IllFormed> {
        let body = body.into();
        let layer = self.declared(head).layer;
        let names = |r: RelId| (self.name(r).to_owned(), self.name(head).to_owned());
        if let Some(&bad) = body.negated().iter().find(|r| self.declared(**r).layer >= layer) {
            let (relation, head) = names(bad);
            return Err(IllFormed::Negated { relation, head });
        }
        if let Some(&bad) = body.places().iter().find(|r| self.declared(**r).layer > layer) {
            let (relation, head) = names(bad);
            return Err(IllFormed::Later { relation, head });
        }
        let fits = body.columns(self) == self.columns(head);
        assert!(fits, "the equation for {} has other columns than it", self.name(head));
        self.equations.push(Equation { head, body });
        Ok(())
    }

    /// Returns the name a relation was declared with.
    pub fn name(&self, relation: RelId) -> &str {
        &self.declared(relation).name
    }

    /// Returns the columns of a relation, sorted.
    pub fn columns(&self, relation: RelId) -> &[Column] {
        &self.declared(relation).columns
    }

    fn declared(&self, relation: RelId) -> &Declared {
        &self.relations[relation.index()]
    }
}

//! Relations and their algebra.

use std::fmt;
use std::sync::Arc;

use super::space::{Column, Space};
use crate::bdd::{Bdd, OutOfNodes, Var};

/// A set of tuples over named columns. Cheap to clone; equality is by columns and tuples.
#[derive(Clone, PartialEq, Eq)]
pub struct Relation {
    space: Space,
    bdd: Bdd,
    /// The columns, sorted and without repetition. The diagram depends on their variables only.
    columns: Arc<[Column]>,
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relation({}; {:?})", self.space.listed(&self.columns), self.bdd)
    }
}

impl Relation {
    /// Checks that the diagram depends on the columns only. This takes a pass over the diagram, so it is only done for
    /// new relations; the algebra preserves it.
    pub(super) fn new(space: Space, bdd: Bdd, columns: &[Column]) -> Relation {
        let mut sorted = columns.to_vec();
        sorted.sort();
        assert!(sorted.windows(2).all(|w| w[0] != w[1]), "a column occurs twice in ({})", space.listed(columns));
        let relation = Relation { space, bdd, columns: sorted.into() };
        let mut vars = relation.vars();
        vars.sort();
        let typed = relation.bdd.support().iter().all(|v| vars.binary_search(v).is_ok());
        assert!(typed, "the diagram depends on more than the columns ({})", relation.space.listed(columns));
        relation
    }

    fn with(&self, bdd: Bdd, columns: impl Into<Arc<[Column]>>) -> Relation {
        Relation { space: self.space.clone(), bdd, columns: columns.into() }
    }

    fn same_columns(&self, other: &Relation, what: &str) {
        assert!(
            self.columns == other.columns && self.space == other.space,
            "{what} of relations with different columns: ({}) and ({})",
            self.space.listed(&self.columns),
            other.space.listed(&other.columns),
        );
    }

    /// Returns the columns, in the order of their declaration.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the diagram over the variables of the columns.
    pub fn bdd(&self) -> &Bdd {
        &self.bdd
    }

    /// Returns the natural join: the tuples over the columns of both whose projections are in both relations. For
    /// relations with the same columns this is their intersection.
    pub fn join(&self, other: &Relation) -> Result<Relation, OutOfNodes> {
        let columns = merged(&self.columns, &other.columns);
        Ok(self.with(self.bdd.and(&other.bdd)?, columns))
    }

    /// Computes `self.join(other)?.project(keep)?` in one pass, without building the join.
    pub fn join_project(&self, other: &Relation, keep: &[Column]) -> Result<Relation, OutOfNodes> {
        let (keep, lost) = self.split(&merged(&self.columns, &other.columns), keep);
        let bdd = self.bdd.and_exists(&other.bdd, &self.space.var_set(&lost)?)?;
        Ok(self.with(bdd, keep))
    }

    /// Projects the tuples to the given columns, which must be columns of the relation.
    pub fn project(&self, keep: &[Column]) -> Result<Relation, OutOfNodes> {
        let (keep, lost) = self.split(&self.columns, keep);
        if lost.is_empty() {
            return Ok(self.clone());
        }
        let bdd = self.bdd.exists(&self.space.var_set(&lost)?)?;
        Ok(self.with(bdd, keep))
    }

    /// Divides columns into those kept and those lost, both sorted.
    fn split(&self, columns: &[Column], keep: &[Column]) -> (Vec<Column>, Vec<Column>) {
        let (kept, lost): (Vec<Column>, Vec<Column>) = columns.iter().partition(|c| keep.contains(c));
        assert!(
            kept.len() == keep.len(),
            "({}) cannot be projected to ({})",
            self.space.listed(columns),
            self.space.listed(keep)
        );
        (kept, lost)
    }

    /// Renames columns, all at once, so that two can be exchanged. The new columns must have the width of the old ones
    /// and must not be among those that stay.
    pub fn rename(&self, pairs: &[(Column, Column)]) -> Result<Relation, OutOfNodes> {
        let mut pairs: Vec<(Column, Column)> = pairs.iter().copied().filter(|(from, to)| from != to).collect();
        pairs.sort();
        for &(from, to) in &pairs {
            let (old, new) = (self.space.name(from), self.space.name(to));
            assert!(
                self.columns.contains(&from),
                "{old} cannot be renamed: the columns are ({})",
                self.space.listed(&self.columns)
            );
            assert!(self.space.width(from) == self.space.width(to), "{old} and {new} have different widths");
        }
        let renamed = |c: &Column| pairs.iter().find(|(from, _)| from == c).map_or(*c, |&(_, to)| to);
        let mut columns: Vec<Column> = self.columns.iter().map(renamed).collect();
        columns.sort();
        let distinct = columns.windows(2).all(|w| w[0] != w[1]);
        assert!(distinct, "renaming makes two columns one: ({})", self.space.listed(&columns));
        if pairs.is_empty() {
            return Ok(self.clone());
        }
        Ok(self.with(self.bdd.rename(&self.space.renaming(&pairs))?, columns))
    }

    /// Returns the tuples of both. The columns must be the same.
    pub fn union(&self, other: &Relation) -> Result<Relation, OutOfNodes> {
        self.same_columns(other, "the union");
        Ok(self.with(self.bdd.or(&other.bdd)?, self.columns.clone()))
    }

    /// Returns the tuples of this that are not in the other. The columns must be the same.
    pub fn difference(&self, other: &Relation) -> Result<Relation, OutOfNodes> {
        self.same_columns(other, "the difference");
        Ok(self.with(self.bdd.minus(&other.bdd)?, self.columns.clone()))
    }

    /// Returns all tuples over the same columns that are not in this.
    pub fn complement(&self) -> Result<Relation, OutOfNodes> {
        Ok(self.with(self.bdd.not()?, self.columns.clone()))
    }

    /// Returns a relation that has the same tuples within the care set and is chosen to be small outside of it. The
    /// columns must be the same.
    pub fn restrict(&self, care: &Relation) -> Result<Relation, OutOfNodes> {
        self.same_columns(care, "the restriction");
        Ok(self.with(self.bdd.restrict(&care.bdd)?, self.columns.clone()))
    }

    /// Returns whether all tuples are in the other. The columns must be the same.
    pub fn is_subset(&self, other: &Relation) -> bool {
        self.same_columns(other, "the inclusion");
        self.bdd.is_subset(&other.bdd)
    }

    /// Returns whether the join has no tuples.
    pub fn is_disjoint(&self, other: &Relation) -> bool {
        self.bdd.is_disjoint(&other.bdd)
    }

    /// Returns whether there is no tuple.
    pub fn is_empty(&self) -> bool {
        self.bdd.is_false()
    }

    /// Returns the number of tuples; `None` if it does not fit into 128 bits.
    pub fn count(&self) -> Option<u128> {
        self.bdd.count(&self.vars())
    }

    /// Returns the variables of all columns, column by column.
    pub fn vars(&self) -> Vec<Var> {
        self.columns.iter().flat_map(|&c| self.space.vars(c)).collect()
    }
}

/// Returns the union of two sorted lists of columns.
fn merged(a: &[Column], b: &[Column]) -> Vec<Column> {
    let mut all = [a, b].concat();
    all.sort();
    all.dedup();
    all
}

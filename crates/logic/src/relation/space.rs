//! Columns, their variables, and prepared sets and renamings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::table::Relation;
use crate::bdd::{Bdd, Limits, Manager, OutOfNodes, Renaming, Var, VarSet};

/// A column of a [`Space`]. Columns are compared by the order of their declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u32);

/// The declaration of the columns of a space.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    columns: Vec<ColumnData>,
    n_vars: usize,
}

/// A column: the variable of a bit is `first + stride * bit`.
#[derive(Clone, Debug)]
struct ColumnData {
    name: String,
    width: usize,
    first: usize,
    stride: usize,
}

impl Plan {
    /// Returns a plan without columns.
    pub fn new() -> Plan {
        Plan::default()
    }

    /// Declares columns of the same width whose bits are adjacent. Groups follow each other in the order of variables.
    pub fn group<const N: usize>(&mut self, width: usize, names: [&str; N]) -> [Column; N] {
        let columns = self.columns(width, names.map(str::to_owned));
        columns.try_into().expect("there is a column for each name")
    }

    /// Declares a group of columns as [`Plan::group`] does. The names are for messages and need not be unique.
    pub fn columns(&mut self, width: usize, names: impl IntoIterator<Item = String>) -> Vec<Column> {
        let names: Vec<String> = names.into_iter().collect();
        let (begin, stride) = (self.n_vars, names.len());
        self.n_vars += width * stride;
        let columns = names.into_iter().enumerate().map(|(place, name)| {
            self.columns.push(ColumnData { name, width, first: begin + place, stride });
            Column(self.columns.len() as u32 - 1)
        });
        columns.collect()
    }

    /// Allocates the variables group by group, bit by bit.
    pub fn build(self, limits: Limits) -> Space {
        let manager = Manager::new(limits);
        let vars = manager.add_vars(self.n_vars);
        let (sets, renamings) = (Mutex::default(), Mutex::default());
        Space { inner: Arc::new(Inner { manager, vars, columns: self.columns, sets, renamings }) }
    }
}

/// The columns with their variables and the store of nodes. Clones are handles on the same space.
#[derive(Clone)]
pub struct Space {
    inner: Arc<Inner>,
}

struct Inner {
    manager: Manager,
    vars: Vec<Var>,
    columns: Vec<ColumnData>,
    /// Prepared sets of variables by the columns they cover. The tables are only looked up, never iterated over.
    sets: Mutex<FxHashMap<Vec<Column>, VarSet>>,
    renamings: Mutex<FxHashMap<Vec<(Column, Column)>, Renaming>>,
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.inner.columns.iter().map(|c| &c.name)).finish()
    }
}

impl PartialEq for Space {
    fn eq(&self, other: &Space) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Space {}

impl Space {
    /// Returns the store of nodes.
    pub fn manager(&self) -> &Manager {
        &self.inner.manager
    }

    fn column(&self, column: Column) -> &ColumnData {
        &self.inner.columns[column.0 as usize]
    }

    /// Returns the name a column was declared with.
    pub(super) fn name(&self, column: Column) -> &str {
        &self.column(column).name
    }

    /// Returns the number of bits of a column.
    pub(super) fn width(&self, column: Column) -> usize {
        self.column(column).width
    }

    /// Returns the variable of a bit of a column.
    pub fn var(&self, column: Column, bit: usize) -> Var {
        let ColumnData { width, first, stride, .. } = self.column(column);
        assert!(bit < *width, "a column has no such bit");
        self.inner.vars[first + stride * bit]
    }

    /// Returns the variables of a column, bit by bit.
    pub fn vars(&self, column: Column) -> Vec<Var> {
        (0..self.width(column)).map(|bit| self.var(column, bit)).collect()
    }

    /// Returns the relation with the given columns that a diagram over their variables denotes.
    pub fn relation(&self, bdd: Bdd, columns: &[Column]) -> Relation {
        Relation::new(self.clone(), bdd, columns)
    }

    /// Returns the relation without tuples.
    pub fn empty(&self, columns: &[Column]) -> Relation {
        self.relation(self.manager().bottom(), columns)
    }

    /// Returns the relation of all tuples.
    pub fn full(&self, columns: &[Column]) -> Relation {
        self.relation(self.manager().top(), columns)
    }

    /// Returns the pairs of equal vectors.
    pub fn equal(&self, a: Column, b: Column) -> Result<Relation, OutOfNodes> {
        assert!(a != b && self.width(a) == self.width(b), "{} and {} cannot be compared", self.name(a), self.name(b));
        let pairs: Vec<(Var, Var)> = self.vars(a).into_iter().zip(self.vars(b)).collect();
        Ok(self.relation(self.manager().equal(&pairs)?, &[a, b]))
    }

    /// Returns the prepared set of all variables of some columns, sorted and distinct.
    pub(super) fn var_set(&self, columns: &[Column]) -> Result<VarSet, OutOfNodes> {
        let mut sets = self.inner.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sets.get(columns) {
            return Ok(known.clone());
        }
        let vars: Vec<Var> = columns.iter().flat_map(|&c| self.vars(c)).collect();
        let set = self.manager().var_set(&vars)?;
        sets.insert(columns.to_vec(), set.clone());
        Ok(set)
    }

    /// Returns the prepared renaming of columns.
    pub(super) fn renaming(&self, pairs: &[(Column, Column)]) -> Renaming {
        let mut renamings = self.inner.renamings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = renamings.get(pairs) {
            return known.clone();
        }
        let vars: Vec<(Var, Var)> =
            pairs.iter().flat_map(|&(from, to)| self.vars(from).into_iter().zip(self.vars(to))).collect();
        let renaming = self.manager().renaming(&vars);
        renamings.insert(pairs.to_vec(), renaming.clone());
        renaming
    }

    /// Returns the names of columns, for messages.
    pub(super) fn listed(&self, columns: &[Column]) -> String {
        columns.iter().map(|&c| self.name(c)).collect::<Vec<_>>().join(", ")
    }
}

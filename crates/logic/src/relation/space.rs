//! Columns, their variables, and prepared sets and renamings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::table::Relation;
use crate::bdd::{Bdd, Limits, Manager, OutOfNodes, Renaming, Var, VarSet};

/// A column of a [`Space`]. Columns are compared by the order of their declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u32);

/// A group of columns of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(u32);

/// The declaration of the columns of a space.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    columns: Vec<(String, Group)>,
    widths: Vec<usize>,
}

impl Plan {
    /// Returns a plan without columns.
    pub fn new() -> Plan {
        Plan::default()
    }

    /// Declares columns of the same width whose bits are adjacent.
    pub fn group<const N: usize>(&mut self, width: usize, names: [&str; N]) -> [Column; N] {
        let group = self.add_group(width);
        names.map(|name| self.add_column(group, name))
    }

    /// Declares an empty group, for columns that are not known all at once.
    pub fn add_group(&mut self, width: usize) -> Group {
        self.widths.push(width);
        Group(self.widths.len() as u32 - 1)
    }

    /// Adds a column to a group. The name is for messages and need not be unique.
    pub fn add_column(&mut self, group: Group, name: &str) -> Column {
        self.columns.push((name.to_owned(), group));
        Column(self.columns.len() as u32 - 1)
    }

    /// Allocates the variables group by group, bit by bit.
    pub fn build(self, limits: Limits) -> Space {
        let all = self.slots();
        self.build_in_order(limits, &all)
    }

    /// Returns all bits of all groups, in the order that [`Plan::build`] takes. A permutation of this list, as found by
    /// [`crate::order::force`], is what [`Plan::build_in_order`] takes.
    pub fn slots(&self) -> Vec<(Group, usize)> {
        let groups = self.widths.iter().enumerate();
        groups.flat_map(|(g, &width)| (0..width).map(move |bit| (Group(g as u32), bit))).collect()
    }

    /// Allocates the variables in the given order of bits; the copies of one bit in the columns of its group are always
    /// adjacent, in the order of their declaration.
    pub fn build_in_order(self, limits: Limits, order: &[(Group, usize)]) -> Space {
        let mut sorted = order.to_vec();
        sorted.sort();
        assert!(sorted == self.slots(), "the order of bits is not a permutation of the plan's");
        let mut columns: Vec<ColumnData> = Vec::new();
        for (name, group) in &self.columns {
            columns.push(ColumnData { name: name.clone(), vars: vec![None; self.widths[group.0 as usize]] });
        }
        let total = self.columns.iter().map(|(_, group)| self.widths[group.0 as usize]).sum();
        let manager = Manager::new(limits);
        let mut fresh = manager.add_vars(total).into_iter();
        for &(group, bit) in order {
            for (data, _) in columns.iter_mut().zip(&self.columns).filter(|(_, (_, g))| *g == group) {
                data.vars[bit] = fresh.next();
            }
        }
        Space { inner: Arc::new(Inner { manager, columns, sets: Mutex::default(), renamings: Mutex::default() }) }
    }
}

/// The columns with their variables and the store of nodes. Clones are handles on the same space.
#[derive(Clone)]
pub struct Space {
    inner: Arc<Inner>,
}

struct Inner {
    manager: Manager,
    columns: Vec<ColumnData>,
    /// Prepared sets of variables by the columns they cover. The tables are only looked up, never iterated over.
    sets: Mutex<FxHashMap<Vec<Column>, VarSet>>,
    renamings: Mutex<FxHashMap<Vec<(Column, Column)>, Renaming>>,
}

struct ColumnData {
    name: String,
    vars: Vec<Option<Var>>,
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

    /// Returns the name a column was declared with.
    pub fn name(&self, column: Column) -> &str {
        &self.inner.columns[column.0 as usize].name
    }

    /// Returns the number of bits of a column.
    pub fn width(&self, column: Column) -> usize {
        self.inner.columns[column.0 as usize].vars.len()
    }

    /// Returns the variable of a bit of a column.
    pub fn var(&self, column: Column, bit: usize) -> Var {
        self.inner.columns[column.0 as usize].vars[bit].expect("the plan gave each bit a variable")
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

    /// Returns the relation of the one vector with the given bits.
    pub fn value(&self, column: Column, bits: &[bool]) -> Result<Relation, OutOfNodes> {
        self.tuple(&[(column, bits)])
    }

    /// Returns the relation of the one tuple with the given vectors.
    pub fn tuple(&self, values: &[(Column, &[bool])]) -> Result<Relation, OutOfNodes> {
        let mut literals = Vec::new();
        for &(column, bits) in values {
            assert!(bits.len() == self.width(column), "a value of {} has the wrong width", self.name(column));
            literals.extend(self.vars(column).into_iter().zip(bits.iter().copied()));
        }
        let columns: Vec<Column> = values.iter().map(|&(column, _)| column).collect();
        Ok(self.relation(self.manager().cube(&literals)?, &columns))
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

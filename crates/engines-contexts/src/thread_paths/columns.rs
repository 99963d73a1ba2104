//! The shared states at the boundaries of contexts, as columns of the diagrams.
//!
//! A thread has for each of its contexts the shared state with which it begins (`In`) and the one with which it ends
//! (`Out`); to compose two relations there is a column in the middle (`Mid`). To compare two executions, the second one
//! has the same three columns again. They are laid out for the largest number of contexts at once, since a level
//! without nodes costs nothing.
//!
//! A column has a copy of each shared variable, or, if the states are numbered, the bits of a number. Either the copies
//! of one variable are adjacent in the order of the diagrams, those of one context next to each other; or a context is
//! a block of variables, and the blocks are above everything else.

use selvedge_logic::bdd::{Bdd, OutOfNodes, Var, VarSet};
use selvedge_transition::paths::back::Tuple;
use selvedge_transition::paths::layout::{PathLayout, When};

use super::numbers::NUMBER_BITS;
use super::shared_model::SharedModel;

/// The role of a shared state of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    In,
    Mid,
    Out,
    OtherIn,
    OtherMid,
    OtherOut,
}

impl Side {
    /// The sides of one execution.
    pub(crate) const ONE: usize = 3;
    /// The sides of two executions.
    pub(crate) const TWO: usize = 6;
}

impl SharedModel<'_> {
    /// Returns the variables of a column; contexts are counted from 1.
    pub(crate) fn column(&self, side: Side, context: u32) -> Vec<Var> {
        let (block, side) = (context as usize - 1, side as usize);
        if self.numbers.is_some() {
            return number_column(&self.layout, self.n_sides, side, block);
        }
        self.shared.iter().map(|var| self.layout.copy(*var, self.n_sides * block + side)).collect()
    }

    /// Returns the number of variables of a column.
    pub(crate) fn width(&self) -> usize {
        if self.numbers.is_some() { NUMBER_BITS } else { self.shared.len() }
    }

    /// Returns the variables of a column in contexts from `first` to `last`.
    pub(crate) fn columns(&self, side: Side, first: u32, last: u32) -> Vec<Var> {
        (first..=last).flat_map(|context| self.column(side, context)).collect()
    }

    /// Returns the variables of the current shared state.
    pub(crate) fn now(&self) -> Vec<Var> {
        self.layout.vars(self.shared.iter().copied(), When::Now)
    }

    /// Requires that the current states are those of a column.
    pub(crate) fn is_now(&self, column: &[Var]) -> Result<Bdd, OutOfNodes> {
        match &self.numbers {
            Some(numbers) => numbers.numbered(column),
            None => self.equal(column, &self.now()),
        }
    }

    /// Moves the current shared state to a column. States without a number are dropped.
    pub(crate) fn now_to(&self, relation: &Bdd, column: &[Var]) -> Result<Bdd, OutOfNodes> {
        let now = self.now();
        match &self.numbers {
            Some(numbers) => relation.and_exists(&numbers.numbered(column)?, &self.layout.manager.var_set(&now)?),
            None => self.renamed(relation, &[(&now, column)]),
        }
    }

    /// Makes the states of a column the current ones.
    pub(crate) fn now_from(&self, relation: &Bdd, column: &[Var]) -> Result<Bdd, OutOfNodes> {
        match &self.numbers {
            Some(numbers) => relation.and_exists(&numbers.numbered(column)?, &self.layout.manager.var_set(column)?),
            None => self.renamed(relation, &[(column, &self.now())]),
        }
    }

    /// Numbers the given current states, if states are numbered.
    pub(crate) fn meet(&self, states: &Bdd) -> Result<(), OutOfNodes> {
        match &self.numbers {
            Some(numbers) => numbers.meet(states),
            None => Ok(()),
        }
    }

    /// Returns the values of the shared variables for the values of a column.
    pub(crate) fn state(&self, column: &[bool]) -> Vec<bool> {
        match &self.numbers {
            Some(numbers) => numbers.state(column),
            None => column.to_vec(),
        }
    }

    /// Returns the history of a thread in its `context`th context: all states with which its contexts began, and those
    /// with which the earlier contexts ended. There is none in context 0.
    pub(crate) fn history(&self, context: u32) -> Vec<Var> {
        let mut vars = self.columns(Side::In, 1, context);
        vars.extend(self.columns(Side::Out, 1, context.saturating_sub(1)));
        vars
    }

    /// Requires that two columns are equal.
    pub(crate) fn equal(&self, left: &[Var], right: &[Var]) -> Result<Bdd, OutOfNodes> {
        let pairs: Vec<(Var, Var)> = left.iter().copied().zip(right.iter().copied()).collect();
        self.layout.manager.equal(&pairs)
    }

    /// Renames a relation over some columns to one over others.
    pub(crate) fn renamed(&self, relation: &Bdd, pairs: &[(&[Var], &[Var])]) -> Result<Bdd, OutOfNodes> {
        let pairs: Vec<(Var, Var)> =
            pairs.iter().flat_map(|(from, to)| from.iter().copied().zip(to.iter().copied())).collect();
        relation.rename(&self.layout.manager.renaming(&pairs))
    }

    /// Requires values of variables.
    pub(crate) fn fixed(&self, vars: &[Var], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        self.cube(&vars.iter().copied().zip(values.iter().copied()).collect())
    }

    /// Requires values of variables.
    pub(crate) fn cube(&self, values: &Tuple) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = values.iter().map(|(var, value)| (*var, *value)).collect();
        self.layout.manager.cube(&literals)
    }

    /// Returns the set of the variables of several columns.
    pub(crate) fn set(&self, vars: &[&[Var]]) -> Result<VarSet, OutOfNodes> {
        self.layout.manager.var_set(&vars.concat())
    }
}

/// Returns the variables for a number in a block; the same bits of all sides are adjacent.
pub(super) fn number_column(layout: &PathLayout, n_sides: usize, side: usize, block: usize) -> Vec<Var> {
    (0..NUMBER_BITS).map(|bit| layout.above[(block * NUMBER_BITS + bit) * n_sides + side]).collect()
}

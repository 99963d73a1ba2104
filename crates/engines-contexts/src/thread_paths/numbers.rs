//! Numbers for shared states.
//!
//! A program may have many shared variables and few shared states. Each state gets a number when it is first found at a
//! point where a context may end, in the order in which they are found; a history is then a sequence of numbers.
//! Numbers are never reused, so results that were computed with them remain valid.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Var};

/// The number of bits of a number.
pub(crate) const NUMBER_BITS: usize = 8;

/// The numbers given so far.
pub(crate) struct StateNumbers {
    manager: Manager,
    /// The variables of the current shared state.
    now: Vec<Var>,
    /// The column in which the relation is kept.
    first: Vec<Var>,
    known: RefCell<NumberTable>,
    exhausted: Cell<bool>,
}

struct NumberTable {
    /// The states by number.
    states: Vec<Vec<bool>>,
    /// The current states that have a number.
    met: Bdd,
    /// Number and current state, by the first variable of the column that holds the number.
    relations: BTreeMap<Var, Bdd>,
}

impl StateNumbers {
    pub(crate) fn new(manager: &Manager, now: Vec<Var>, first: Vec<Var>) -> StateNumbers {
        let bottom = manager.bottom();
        let relations = BTreeMap::from([(first[0], bottom.clone())]);
        let known = RefCell::new(NumberTable { states: Vec::new(), met: bottom, relations });
        StateNumbers { manager: manager.clone(), now, first, known, exhausted: Cell::new(false) }
    }

    /// Returns whether there were more states than numbers.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Numbers current states. More states than numbers are an error like one of memory, which
    /// [`StateNumbers::exhausted`] distinguishes.
    pub(super) fn meet(&self, states: &Bdd) -> Result<(), OutOfNodes> {
        let mut known = self.known.borrow_mut();
        let new = states.minus(&known.met)?;
        if new.is_false() {
            return Ok(());
        }
        let free = (1 << NUMBER_BITS) - known.states.len();
        if new.count(&self.now).is_none_or(|count| count > free as u128) {
            self.exhausted.set(true);
            return Err(OutOfNodes { limit: self.manager.limit() });
        }
        let mut relation = known.relations[&self.first[0]].clone();
        for state in new.assignments(&self.now) {
            let number = known.states.len();
            let literals: Vec<(Var, bool)> = self.now.iter().copied().zip(state.iter().copied()).collect();
            let numbered = self.manager.number(&self.first, number)?.and(&self.manager.cube(&literals)?)?;
            relation = relation.or(&numbered)?;
            known.states.push(state);
        }
        known.met = known.met.or(&new)?;
        known.relations = BTreeMap::from([(self.first[0], relation)]);
        Ok(())
    }

    /// Returns the relation of numbers in a column and current states.
    pub(super) fn numbered(&self, column: &[Var]) -> Result<Bdd, OutOfNodes> {
        let mut known = self.known.borrow_mut();
        if let Some(relation) = known.relations.get(&column[0]) {
            return Ok(relation.clone());
        }
        let pairs: Vec<(Var, Var)> = self.first.iter().copied().zip(column.iter().copied()).collect();
        let relation = known.relations[&self.first[0]].rename(&self.manager.renaming(&pairs))?;
        known.relations.insert(column[0], relation.clone());
        Ok(relation)
    }

    /// Returns the state with a number.
    pub(super) fn state(&self, bits: &[bool]) -> Vec<bool> {
        let number = bits.iter().rev().fold(0, |number, bit| 2 * number + usize::from(*bit));
        self.known.borrow().states[number].clone()
    }
}

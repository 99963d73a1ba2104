//! Shared states by numbers.
//!
//! A program may have many shared variables and few shared states. Each state gets a number when it is first met at a point
//! where a context may end, in the order in which they are met; a history is a sequence of numbers then. Numbers are never
//! given anew, so what was computed with them stays true.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::paths::layout::Layout;

/// How many bits a number has.
pub(crate) const NUMBER_BITS: usize = 8;

/// The numbers given so far.
pub(crate) struct Numbers {
    /// The shared state now.
    now: Vec<Var>,
    /// The column in which the relation is kept.
    first: Vec<Var>,
    known: RefCell<Known>,
    exhausted: Cell<bool>,
}

struct Known {
    /// By number.
    states: Vec<Vec<bool>>,
    /// The states now that have a number.
    met: Bdd,
    /// Number and state now, by the first variable of the column that holds the number.
    relations: BTreeMap<Var, Bdd>,
}

impl Numbers {
    pub(crate) fn new(layout: &Layout, now: Vec<Var>, first: Vec<Var>) -> Numbers {
        let bottom = layout.manager.bottom();
        let relations = BTreeMap::from([(first[0], bottom.clone())]);
        let known = RefCell::new(Known { states: Vec::new(), met: bottom, relations });
        Numbers { now, first, known, exhausted: Cell::new(false) }
    }

    /// Whether there were more states than numbers.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Numbers states now. More states than numbers are an error like one of memory, and [`Numbers::exhausted`] tells.
    pub(super) fn meet(&self, layout: &Layout, states: &Bdd) -> Result<(), OutOfNodes> {
        let mut known = self.known.borrow_mut();
        let new = states.minus(&known.met)?;
        if new.is_false() {
            return Ok(());
        }
        let free = (1 << NUMBER_BITS) - known.states.len();
        if new.count(&self.now).is_none_or(|count| count > free as u128) {
            self.exhausted.set(true);
            return Err(OutOfNodes { limit: layout.manager.limit() });
        }
        let mut relation = known.relations[&self.first[0]].clone();
        for state in new.assignments(&self.now) {
            let number = known.states.len();
            let bits = self.first.iter().enumerate().map(|(bit, var)| (*var, number >> bit & 1 == 1));
            let literals: Vec<_> = bits.chain(self.now.iter().copied().zip(state.iter().copied())).collect();
            relation = relation.or(&layout.manager.cube(&literals)?)?;
            known.states.push(state);
        }
        known.met = known.met.or(&new)?;
        known.relations = BTreeMap::from([(self.first[0], relation)]);
        Ok(())
    }

    /// The relation of numbers in a column and states now.
    pub(super) fn numbered(&self, layout: &Layout, column: &[Var]) -> Result<Bdd, OutOfNodes> {
        let mut known = self.known.borrow_mut();
        if let Some(relation) = known.relations.get(&column[0]) {
            return Ok(relation.clone());
        }
        let pairs: Vec<(Var, Var)> = self.first.iter().copied().zip(column.iter().copied()).collect();
        let relation = known.relations[&self.first[0]].rename(&layout.manager.renaming(&pairs))?;
        known.relations.insert(column[0], relation.clone());
        Ok(relation)
    }

    /// The state with a number.
    pub(super) fn state(&self, bits: &[bool]) -> Vec<bool> {
        let number = bits.iter().rev().fold(0, |number, bit| 2 * number + usize::from(*bit));
        self.known.borrow().states[number].clone()
    }
}

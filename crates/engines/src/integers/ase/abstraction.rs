//! Predicates, and the abstract states that their truth values make.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::{LocId, Value, VarId};
use selvedge_logic::smt::{Symbol, Term};

use super::super::atoms::decided;
use super::super::control::constant;
use super::super::model::{Model, Transition};

/// The predicates, each in normal form and once, in the order in which they were found. Those about control variables
/// alone are none: their truth is a part of every abstract state anyway.
pub(super) struct Predicates {
    pub(super) all: Vec<Term>,
    symbols: Vec<BTreeSet<Symbol>>,
    index: BTreeMap<Term, usize>,
    control: BTreeSet<Symbol>,
}

/// An abstract state: a location, the values of the control variables, the truth of each predicate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Abstract {
    pub(super) loc: LocId,
    pub(super) control: Vec<Value>,
    pub(super) bits: Vec<bool>,
}

impl Predicates {
    pub(super) fn new(model: &Model<'_>, control: &[VarId]) -> Predicates {
        Predicates {
            all: Vec::new(),
            symbols: Vec::new(),
            index: BTreeMap::new(),
            control: control.iter().map(|var| model.symbol(*var).clone()).collect(),
        }
    }

    /// Adds those that are new. Returns how many.
    pub(super) fn add(&mut self, atoms: &BTreeSet<Term>) -> usize {
        let before = self.all.len();
        for atom in atoms {
            let symbols = atom.symbols();
            if !symbols.is_subset(&self.control) && !self.index.contains_key(atom) {
                self.index.insert(atom.clone(), self.all.len());
                self.all.push(atom.clone());
                self.symbols.push(symbols);
            }
        }
        self.all.len() - before
    }

    /// Whether a predicate speaks of one of these symbols.
    pub(super) fn mentions(&self, number: usize, symbols: &BTreeSet<Symbol>) -> bool {
        !self.symbols[number].is_disjoint(symbols)
    }
}

/// What all parts of the analysis need to know.
pub(super) struct World<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) control: &'a [VarId],
    pub(super) predicates: &'a Predicates,
}

impl World<'_> {
    /// The control variables' symbols with the values of an abstract state.
    pub(super) fn valuation(&self, control: &[Value]) -> BTreeMap<Symbol, Term> {
        let pairs = self.control.iter().zip(control);
        pairs.map(|(var, value)| (self.model.symbol(*var).clone(), constant(*value))).collect()
    }

    /// The truth of a condition over the variables in all states of an abstract state, if that is plain.
    pub(super) fn decided(&self, condition: &Term, state: &Abstract) -> Option<bool> {
        let valuation = self.valuation(&state.control);
        decided(condition, &|atom| match self.predicates.index.get(atom) {
            Some(number) => Some(state.bits[*number]),
            None => decided(&atom.substitute(&valuation), &|_| None),
        })
    }

    /// What holds of the variables in an abstract state, with the values of the control variables put in.
    pub(super) fn formula(&self, state: &Abstract) -> Term {
        let valuation = self.valuation(&state.control);
        let literal = |(predicate, bit): (&Term, &bool)| {
            let predicate = predicate.substitute(&valuation);
            if *bit { predicate } else { predicate.not() }
        };
        Term::and(self.predicates.all.iter().zip(&state.bits).map(literal))
    }

    /// The symbols that a step assigns.
    pub(super) fn assigned(&self, step: &Transition) -> BTreeSet<Symbol> {
        step.updates.keys().map(|var| self.model.symbol(*var).clone()).collect()
    }

    /// The predicates whose truth a step may change, by number, as conditions on the state before it.
    pub(super) fn affected(&self, step: &Transition) -> Vec<(usize, Term)> {
        let assigned = self.assigned(step);
        let updates: BTreeMap<Symbol, Term> =
            step.updates.iter().map(|(var, value)| (self.model.symbol(*var).clone(), value.clone())).collect();
        let affected = (0..self.predicates.all.len()).filter(|number| self.predicates.mentions(*number, &assigned));
        affected.map(|number| (number, self.predicates.all[number].substitute(&updates))).collect()
    }

    /// The values of the control variables after a step from a state with these.
    pub(super) fn control_after(&self, step: &Transition, control: &[Value]) -> Vec<Value> {
        let valuation = self.valuation(control);
        let after = |(var, value): (&VarId, &Value)| match step.updates.get(var) {
            Some(update) => value_of(&update.substitute(&valuation)),
            None => *value,
        };
        self.control.iter().zip(control).map(after).collect()
    }
}

/// The value of a constant term.
fn value_of(term: &Term) -> Value {
    match (term.as_bool(), term.as_int().and_then(|value| i64::try_from(value).ok())) {
        (Some(value), _) => Value::Bool(value),
        (None, Some(value)) => Value::Int(value),
        (None, None) => unreachable!("control variables are assigned constants and each other's values"),
    }
}

//! Predicates, and the abstract states that their truth values make.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use selvedge_ir::{LocId, Value, VarId};
use selvedge_logic::smt::{Node as Head, Symbol, Term};

use super::super::atoms::{decided, normal};
use super::super::control::constant;
use super::super::model::{Model, Transition};

/// The predicates, each in normal form and once, in the order in which they were found. Those about control variables
/// alone are none: their truth is a part of every abstract state anyway.
pub(super) struct Predicates {
    pub(super) all: Vec<Term>,
    symbols: Vec<BTreeSet<Symbol>>,
    index: FxHashMap<Term, usize>,
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
            index: FxHashMap::default(),
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
    /// For the steps from each location, what they do to predicates.
    effects: BTreeMap<LocId, Vec<Effect>>,
}

/// What a step does to predicates.
pub(super) struct Effect {
    /// The symbols that it assigns.
    pub(super) assigned: BTreeSet<Symbol>,
    /// The predicates whose truth it may change, by number, as conditions on the state before it.
    pub(super) affected: Vec<(usize, Term)>,
}

impl<'a> World<'a> {
    pub(super) fn new(model: &'a Model<'a>, control: &'a [VarId], predicates: &'a Predicates) -> World<'a> {
        let effects = model.steps.iter().map(|(loc, steps)| {
            (*loc, steps.iter().map(|step| effect(model, predicates, step)).collect::<Vec<Effect>>())
        });
        World { model, control, predicates, effects: effects.collect() }
    }

    /// What a step from a location does to predicates.
    pub(super) fn effect(&self, loc: LocId, number: usize) -> &Effect {
        &self.effects[&loc][number]
    }

    /// The control variables' symbols with the values of an abstract state.
    pub(super) fn valuation(&self, control: &[Value]) -> BTreeMap<Symbol, Term> {
        let pairs = self.control.iter().zip(control);
        pairs.map(|(var, value)| (self.model.symbol(*var).clone(), constant(*value))).collect()
    }

    /// The symbols that have one value in an abstract state because its control or a predicate says so.
    pub(super) fn known(&self, state: &Abstract) -> BTreeMap<Symbol, Term> {
        let mut known = self.valuation(&state.control);
        for (predicate, bit) in self.predicates.all.iter().zip(&state.bits) {
            match predicate.head() {
                Head::Symbol(symbol) => {
                    known.insert(symbol.clone(), (*bit).into());
                }
                Head::Eq(left, right) if *bit && right.as_int().is_some() => {
                    if let Head::Symbol(symbol) = left.head() {
                        known.insert(symbol.clone(), right.clone());
                    }
                }
                _ => {}
            }
        }
        known
    }

    /// The truth of a condition over the variables in all states of an abstract state, if that is plain. The caller has
    /// what is [`World::known`] in the state.
    pub(super) fn decided(&self, condition: &Term, state: &Abstract, known: &BTreeMap<Symbol, Term>) -> Option<bool> {
        let bit = |atom: &Term| self.predicates.index.get(atom).map(|number| state.bits[*number]);
        decided(condition, &|atom| {
            let here = || normal(&atom.substitute(known));
            bit(atom).or_else(|| decided(&here(), &bit))
        })
    }

    /// What holds of the variables in an abstract state, with the values of the control variables put in.
    pub(super) fn formula(&self, state: &Abstract) -> Term {
        let valuation = self.valuation(&state.control);
        Term::and(self.literals(state).map(|(_, literal)| literal.substitute(&valuation)))
    }

    /// What is true of an abstract state, for each predicate.
    fn literals(&self, state: &Abstract) -> impl Iterator<Item = (usize, Term)> {
        let literals = self.predicates.all.iter().zip(state.bits.iter().copied());
        literals.map(|(predicate, bit)| if bit { predicate.clone() } else { predicate.not() }).enumerate()
    }

    /// Whether there are states of an abstract state, and choices, for which a condition holds, is the same question as
    /// whether this can be satisfied: the condition and what the predicates say of its symbols, of symbols that these
    /// predicates speak of as well, and so on; symbols in `also` count as well. What is left out can be satisfied for itself, since an abstract state has
    /// states.
    pub(super) fn restricted(&self, condition: &Term, also: BTreeSet<Symbol>, state: &Abstract) -> Term {
        let valuation = self.valuation(&state.control);
        let condition = normal(&condition.substitute(&valuation));
        let is_open = |symbol: &Symbol| !valuation.contains_key(symbol);
        let mut about: BTreeSet<Symbol> = also.into_iter().filter(is_open).collect();
        about.extend(condition.symbols());
        let mut rest: Vec<(usize, Term)> = self.literals(state).collect();
        let mut parts = vec![condition];
        loop {
            let is_near = |number: usize| self.predicates.symbols[number].iter().any(|symbol| about.contains(symbol));
            let (near, far): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(number, _)| is_near(*number));
            if near.is_empty() {
                return Term::and(parts);
            }
            for (number, literal) in near {
                about.extend(self.predicates.symbols[number].iter().filter(|symbol| is_open(symbol)).cloned());
                parts.push(normal(&literal.substitute(&valuation)));
            }
            rest = far;
        }
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

fn effect(model: &Model<'_>, predicates: &Predicates, step: &Transition) -> Effect {
    let symbol = |var: &VarId| model.symbol(*var).clone();
    let assigned: BTreeSet<Symbol> = step.updates.keys().map(symbol).collect();
    let updates: BTreeMap<Symbol, Term> =
        step.updates.iter().map(|(var, value)| (symbol(var), value.clone())).collect();
    let affected = (0..predicates.all.len()).filter(|number| predicates.mentions(*number, &assigned));
    let affected = affected.map(|number| (number, predicates.all[number].substitute(&updates))).collect();
    Effect { assigned, affected }
}

/// The value of a constant term.
fn value_of(term: &Term) -> Value {
    match (term.as_bool(), term.as_int().and_then(|value| i64::try_from(value).ok())) {
        (Some(value), _) => Value::Bool(value),
        (None, Some(value)) => Value::Int(value),
        (None, None) => unreachable!("control variables are assigned constants and each other's values"),
    }
}

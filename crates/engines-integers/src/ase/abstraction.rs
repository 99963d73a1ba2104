//! Predicates, and the abstract states that their truth values make.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use selvedge_ir::{LocId, Value, VarId};
use selvedge_logic::smt::{Node as Head, SmtValue, Symbol, Term};

use super::super::atoms::{decided, normal};
use super::super::control::constant;
use super::super::model::{Model, Transition};
use super::bounds::strongest;
use super::plain::{self, Names, Plain, Slots};

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
    /// For the steps from each location, what they need and do.
    effects: BTreeMap<LocId, Vec<Effect>>,
    /// When the model's errors happen, in their order.
    errors: Vec<Condition>,
    /// What the predicates say.
    meanings: Vec<Plain>,
    /// The predicates of which a truth value tells the value of a variable: the number, the variable's place, and the
    /// integer that it has where the predicate holds, or nothing for a Boolean, whose value is that of the predicate.
    telling: Vec<(usize, usize, Option<i128>)>,
    /// The places of the control variables.
    slots: Vec<usize>,
}

/// A condition on the variables and choices.
pub(super) struct Condition {
    pub(super) term: Term,
    plain: Plain,
    /// The places of the variables in it.
    slots: Vec<usize>,
}

/// What a step needs, and what it does to variables and predicates.
pub(super) struct Effect {
    pub(super) guard: Condition,
    /// The new values of variables, by their place.
    pub(super) updates: Vec<(usize, Plain)>,
    /// The predicates whose truth it may change, by number, as conditions on the state before it.
    pub(super) affected: Vec<(usize, Condition)>,
}

impl<'a> World<'a> {
    pub(super) fn new(model: &'a Model<'a>, control: &'a [VarId], predicates: &'a Predicates) -> World<'a> {
        let slots = model.vars.iter().zip(0..).map(|(var, slot)| (model.symbol(*var).clone(), slot)).collect();
        let names = Names { slots, predicates: &predicates.index };
        let effects = model.steps.iter().map(|(loc, steps)| {
            (*loc, steps.iter().map(|step| effect(model, predicates, step, &names)).collect::<Vec<Effect>>())
        });
        let all = predicates.all.iter().enumerate();
        World {
            model,
            control,
            predicates,
            effects: effects.collect(),
            errors: model.errors.iter().map(|error| Condition::new(error.condition.clone(), &names)).collect(),
            meanings: predicates.all.iter().map(|predicate| Plain::new(predicate, &names)).collect(),
            telling: all.filter_map(|(number, predicate)| telling(number, predicate, &names)).collect(),
            slots: control.iter().map(|var| names.slots[model.symbol(*var)]).collect(),
        }
    }

    /// When an error of the model happens.
    pub(super) fn error(&self, number: usize) -> &Condition {
        &self.errors[number]
    }

    /// The truth of a predicate where variables have these values, if that is plain.
    pub(super) fn holds(&self, predicate: usize, slots: &[Option<SmtValue>]) -> Option<bool> {
        self.meanings[predicate].truth(slots, &[])
    }

    /// What a step from a location needs and does.
    pub(super) fn effect(&self, loc: LocId, number: usize) -> &Effect {
        &self.effects[&loc][number]
    }

    /// The control variables' symbols with the values of an abstract state.
    pub(super) fn valuation(&self, control: &[Value]) -> BTreeMap<Symbol, Term> {
        let pairs = self.control.iter().zip(control);
        pairs.map(|(var, value)| (self.model.symbol(*var).clone(), constant(*value))).collect()
    }

    /// The variables that have one value in an abstract state because its control or a predicate says so.
    pub(super) fn known(&self, state: &Abstract) -> Slots {
        let mut known = vec![None; self.model.vars.len()];
        for (slot, value) in self.slots.iter().zip(&state.control) {
            known[*slot] = Some(plain::known(*value));
        }
        for (number, slot, value) in &self.telling {
            match value {
                Some(value) if state.bits[*number] => known[*slot] = Some(SmtValue::Int(*value)),
                Some(_) => {}
                None => known[*slot] = Some(SmtValue::Bool(state.bits[*number])),
            }
        }
        known
    }

    /// The truth of a condition over the variables in all states of an abstract state, if that is plain. The caller has
    /// what is [`World::known`] in the state.
    pub(super) fn decided(&self, condition: &Condition, state: &Abstract, known: &Slots) -> Option<bool> {
        let truth = condition.plain.truth(known, &state.bits);
        if truth.is_some() || condition.slots.iter().all(|slot| known[*slot].is_none()) {
            return truth;
        }
        // Where a part of an atom is known, the rest of it may be a predicate.
        let vars = self.model.vars.iter().zip(known);
        let known: BTreeMap<Symbol, Term> =
            vars.filter_map(|(var, value)| Some((self.model.symbol(*var).clone(), plain::term((*value)?)))).collect();
        let bit = |atom: &Term| self.predicates.index.get(atom).map(|number| state.bits[*number]);
        decided(&condition.term, &|atom| {
            let here = || normal(&atom.substitute(&known));
            bit(atom).or_else(|| decided(&here(), &bit))
        })
    }

    /// What holds of the variables in an abstract state, with the values of the control variables put in.
    pub(super) fn formula(&self, state: &Abstract) -> Term {
        let valuation = self.valuation(&state.control);
        strongest(self.literals(state).map(|(_, literal)| normal(&literal.substitute(&valuation))))
    }

    /// What is true of an abstract state, for each predicate.
    fn literals(&self, state: &Abstract) -> impl Iterator<Item = (usize, Term)> {
        let literals = self.predicates.all.iter().zip(state.bits.iter().copied());
        literals.map(|(predicate, bit)| if bit { predicate.clone() } else { predicate.not() }).enumerate()
    }

    /// Whether there are states of an abstract state, and choices, for which a condition holds, is the same question as
    /// whether this can be satisfied: the condition and what the predicates say of its symbols, of symbols that these
    /// predicates speak of as well, and so on; symbols in `also` count as well. What is left out can be satisfied for
    /// itself or is implied by the rest, since an abstract state has states.
    pub(super) fn restricted(&self, condition: &Term, also: BTreeSet<Symbol>, state: &Abstract) -> Term {
        let valuation = self.valuation(&state.control);
        let condition = normal(&condition.substitute(&valuation));
        let is_open = |symbol: &Symbol| !valuation.contains_key(symbol);
        let mut about: BTreeSet<Symbol> = also.into_iter().filter(is_open).collect();
        about.extend(condition.symbols());
        let mut rest: Vec<(usize, Term)> = self.literals(state).collect();
        let mut parts = Vec::new();
        loop {
            let is_near = |number: usize| self.predicates.symbols[number].iter().any(|symbol| about.contains(symbol));
            let (near, far): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(number, _)| is_near(*number));
            if near.is_empty() {
                return Term::and([condition, strongest(parts)]);
            }
            for (number, literal) in near {
                about.extend(self.predicates.symbols[number].iter().filter(|symbol| is_open(symbol)).cloned());
                parts.push(normal(&literal.substitute(&valuation)));
            }
            rest = far;
        }
    }

    /// The values of the control variables after a step from an abstract state with this number among those from its
    /// location.
    pub(super) fn control_after(&self, number: usize, from: &Abstract) -> Vec<Value> {
        let mut known = vec![None; self.model.vars.len()];
        for (slot, value) in self.slots.iter().zip(&from.control) {
            known[*slot] = Some(plain::known(*value));
        }
        let mut control = from.control.clone();
        for (slot, update) in &self.effect(from.loc, number).updates {
            if let Some(place) = self.slots.iter().position(|control| control == slot) {
                control[place] = value_of(update.value(&known, &[]));
            }
        }
        control
    }
}

impl Condition {
    fn new(term: Term, names: &Names<'_>) -> Condition {
        let plain = Plain::new(&term, names);
        let slots = term.symbols().iter().filter_map(|symbol| names.slots.get(symbol).copied()).collect();
        Condition { term, plain, slots }
    }

    /// Its truth where variables have these values, if that is plain.
    pub(super) fn holds(&self, slots: &[Option<SmtValue>]) -> Option<bool> {
        self.plain.truth(slots, &[])
    }
}

fn effect(model: &Model<'_>, predicates: &Predicates, step: &Transition, names: &Names<'_>) -> Effect {
    let symbol = |var: &VarId| model.symbol(*var).clone();
    let assigned: BTreeSet<Symbol> = step.updates.keys().map(symbol).collect();
    let updates: BTreeMap<Symbol, Term> =
        step.updates.iter().map(|(var, value)| (symbol(var), value.clone())).collect();
    let affected = (0..predicates.all.len()).filter(|number| predicates.mentions(*number, &assigned));
    let before = |number: usize| Condition::new(predicates.all[number].substitute(&updates), names);
    Effect {
        guard: Condition::new(step.guard.clone(), names),
        affected: affected.map(|number| (number, before(number))).collect(),
        updates: updates.iter().map(|(symbol, value)| (names.slots[symbol], Plain::new(value, names))).collect(),
    }
}

/// See [`World::telling`].
fn telling(number: usize, predicate: &Term, names: &Names<'_>) -> Option<(usize, usize, Option<i128>)> {
    let slot = |symbol: &Symbol| names.slots.get(symbol).copied();
    match predicate.head() {
        Head::Symbol(symbol) => Some((number, slot(symbol)?, None)),
        Head::Eq(left, right) => match left.head() {
            Head::Symbol(symbol) => Some((number, slot(symbol)?, Some(right.as_int()?))),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a control variable.
fn value_of(value: Option<SmtValue>) -> Value {
    match value {
        Some(SmtValue::Bool(value)) => Some(Value::Bool(value)),
        Some(SmtValue::Int(value)) => i64::try_from(value).ok().map(Value::Int),
        None => None,
    }
    .expect("control variables are assigned constants and each other's values")
}

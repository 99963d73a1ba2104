//! Predicates, and the abstract states given by their truth values.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use selvedge_check::Stop;
use selvedge_ir::{LocId, Value, VarId};
use selvedge_logic::smt::{Node as Head, SmtValue, Symbol, Term};

use super::super::atoms::{atoms, decided, normal};
use super::super::model::{SymbolicStep, TransitionModel};
use super::super::prover::Prover;
use super::bounds::strongest;
use super::plain::{Evaluable, Slots, TermIndex};
use crate::terms::{constant, smt_value, value};

/// The predicates, distinct and in normal form, in the order in which they were found. Conditions on control variables
/// alone are left out: an abstract state has the values of these variables anyway.
pub(super) struct Predicates {
    pub(super) all: Vec<Term>,
    symbols: Vec<BTreeSet<Symbol>>,
    index: FxHashMap<Term, usize>,
    control: BTreeSet<Symbol>,
}

/// An abstract state: a location, the values of the control variables, and the truth value of each predicate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PredicateState {
    pub(super) loc: LocId,
    pub(super) control: Vec<Value>,
    pub(super) bits: Vec<bool>,
}

impl Predicates {
    /// Returns the atoms of guards and assertions.
    pub(super) fn first(
        model: &TransitionModel<'_>,
        control: &[VarId],
        prover: &mut Prover<'_>,
    ) -> Result<Predicates, Stop> {
        let mut predicates = Predicates {
            all: Vec::new(),
            symbols: Vec::new(),
            index: FxHashMap::default(),
            control: control.iter().map(|var| model.symbol(*var).clone()).collect(),
        };
        let guards = model.steps.values().flatten().map(|step| (&step.choices, &step.guard));
        let errors = model.errors.iter().map(|error| (&error.choices, &error.condition));
        let mut found = BTreeSet::new();
        for (choices, condition) in guards.chain(errors) {
            atoms(&prover.eliminate(choices, condition)?, &mut found);
        }
        predicates.add(&found);
        Ok(predicates)
    }

    /// Adds the new ones among some atoms and returns their number.
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
}

/// The model and the predicates, with all that is precomputed from them.
pub(super) struct AbstractionContext<'a> {
    pub(super) model: &'a TransitionModel<'a>,
    pub(super) control: &'a [VarId],
    pub(super) predicates: &'a Predicates,
    /// The effects of the steps from each location.
    effects: BTreeMap<LocId, Vec<StepEffect>>,
    /// The conditions of the model's errors, in their order.
    pub(super) errors: Vec<Condition>,
    /// The predicates in a form that can be evaluated.
    meanings: Vec<Evaluable>,
    /// The predicates that can determine the value of a variable: the number of the predicate, the slot of the
    /// variable, and the integer that it has where the predicate holds; `None` for a Boolean, whose value is that of
    /// the predicate.
    determining: Vec<(usize, usize, Option<i128>)>,
    /// The slots of the control variables.
    pub(super) slots: Vec<usize>,
}

/// A condition on the variables and choices.
pub(super) struct Condition {
    pub(super) term: Term,
    plain: Evaluable,
    /// The slots of the variables in it.
    slots: Vec<usize>,
}

/// The guard of a step, and its effect on variables and predicates.
pub(super) struct StepEffect {
    pub(super) guard: Condition,
    /// The new values of variables, by slot.
    pub(super) updates: Vec<(usize, Evaluable)>,
    /// The predicates whose truth value it may change, by number, as conditions on the state before the step.
    pub(super) affected: Vec<(usize, Condition)>,
}

impl<'a> AbstractionContext<'a> {
    pub(super) fn new(
        model: &'a TransitionModel<'a>,
        control: &'a [VarId],
        predicates: &'a Predicates,
    ) -> AbstractionContext<'a> {
        let slots = model.vars.iter().zip(0..).map(|(var, slot)| (model.symbol(*var).clone(), slot)).collect();
        let names = TermIndex { slots, predicates: &predicates.index };
        let effects = model.steps.iter().map(|(loc, steps)| {
            (*loc, steps.iter().map(|step| effect(model, predicates, step, &names)).collect::<Vec<StepEffect>>())
        });
        let all = predicates.all.iter().enumerate();
        AbstractionContext {
            model,
            control,
            predicates,
            effects: effects.collect(),
            errors: model.errors.iter().map(|error| Condition::new(error.condition.clone(), &names)).collect(),
            meanings: predicates.all.iter().map(|predicate| Evaluable::new(predicate, &names)).collect(),
            determining: all.filter_map(|(number, predicate)| determining(number, predicate, &names)).collect(),
            slots: control.iter().map(|var| names.slots[model.symbol(*var)]).collect(),
        }
    }

    /// Returns the truth value of a predicate under values of the variables, if they determine it.
    pub(super) fn holds(&self, predicate: usize, slots: &[Option<SmtValue>]) -> Option<bool> {
        self.meanings[predicate].truth(slots, &[])
    }

    /// Returns the effect of a step from a location.
    pub(super) fn effect(&self, loc: LocId, number: usize) -> &StepEffect {
        &self.effects[&loc][number]
    }

    /// Maps the symbols of the control variables to their values in an abstract state.
    pub(super) fn valuation(&self, control: &[Value]) -> BTreeMap<Symbol, Term> {
        let pairs = self.control.iter().zip(control);
        pairs.map(|(var, value)| (self.model.symbol(*var).clone(), constant(*value))).collect()
    }

    /// Returns the values of the control variables in an abstract state.
    fn known_control(&self, state: &PredicateState) -> Slots {
        let mut known = vec![None; self.model.vars.len()];
        for (slot, value) in self.slots.iter().zip(&state.control) {
            known[*slot] = Some(smt_value(*value));
        }
        known
    }

    /// Returns the values of the variables that are constant in an abstract state because its control or a predicate
    /// says so.
    pub(super) fn known(&self, state: &PredicateState) -> Slots {
        let mut known = self.known_control(state);
        for (number, slot, value) in &self.determining {
            match value {
                Some(value) if state.bits[*number] => known[*slot] = Some(SmtValue::Int(*value)),
                Some(_) => {}
                None => known[*slot] = Some(SmtValue::Bool(state.bits[*number])),
            }
        }
        known
    }

    /// Returns the truth value of a condition over the variables, if it is the same in all states of an abstract state
    /// and easy to determine. The caller passes [`AbstractionContext::known`] of the state.
    pub(super) fn decided(&self, condition: &Condition, state: &PredicateState, known: &Slots) -> Option<bool> {
        let truth = condition.plain.truth(known, &state.bits);
        if truth.is_some() || condition.slots.iter().all(|slot| known[*slot].is_none()) {
            return truth;
        }
        // Where part of an atom is known, the rest of it may be a predicate.
        let vars = self.model.vars.iter().zip(known);
        let known: BTreeMap<Symbol, Term> =
            vars.filter_map(|(var, value)| Some((self.model.symbol(*var).clone(), Term::from((*value)?)))).collect();
        let bit = |atom: &Term| self.predicates.index.get(atom).map(|number| state.bits[*number]);
        decided(&condition.term, &|atom| {
            let here = || normal(&atom.substitute(&known));
            bit(atom).or_else(|| decided(&here(), &bit))
        })
    }

    /// Returns the condition on the variables that characterises an abstract state, with the values of the control
    /// variables substituted.
    pub(super) fn formula(&self, state: &PredicateState) -> Term {
        let valuation = self.valuation(&state.control);
        strongest(self.literals(state).map(|(_, literal)| normal(&literal.substitute(&valuation))))
    }

    /// Returns the literal of each predicate in an abstract state.
    fn literals(&self, state: &PredicateState) -> impl Iterator<Item = (usize, Term)> {
        let literals = self.predicates.all.iter().zip(state.bits.iter().copied());
        literals.map(|(predicate, bit)| if bit { predicate.clone() } else { predicate.not() }).enumerate()
    }

    /// Returns a formula that is satisfiable exactly if a condition holds for some state of an abstract state and some
    /// choices: the condition, and the literals of the predicates that mention its symbols, of those that share symbols
    /// with these predicates, and so on; symbols in `also` count as symbols of the condition. The literals that are
    /// left out are satisfiable independently or implied by the rest, since an abstract state is not empty.
    pub(super) fn restricted(&self, condition: &Term, also: BTreeSet<Symbol>, state: &PredicateState) -> Term {
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

    /// Returns the values of the control variables after a step from an abstract state. The number is that of the step
    /// among those from its location.
    pub(super) fn control_after(&self, number: usize, from: &PredicateState) -> Vec<Value> {
        let known = self.known_control(from);
        let mut control = from.control.clone();
        for (slot, update) in &self.effect(from.loc, number).updates {
            if let Some(place) = self.slots.iter().position(|control| control == slot) {
                let after = update.value(&known, &[]).and_then(value);
                control[place] = after.expect("control variables are assigned constants and each other's values");
            }
        }
        control
    }
}

impl Condition {
    fn new(term: Term, names: &TermIndex<'_>) -> Condition {
        let plain = Evaluable::new(&term, names);
        let slots = term.symbols().iter().filter_map(|symbol| names.slots.get(symbol).copied()).collect();
        Condition { term, plain, slots }
    }

    /// Returns the truth value under values of the variables, if they determine it.
    pub(super) fn holds(&self, slots: &[Option<SmtValue>]) -> Option<bool> {
        self.plain.truth(slots, &[])
    }
}

fn effect(
    model: &TransitionModel<'_>,
    predicates: &Predicates,
    step: &SymbolicStep,
    names: &TermIndex<'_>,
) -> StepEffect {
    let symbol = |var: &VarId| model.symbol(*var).clone();
    let assigned: BTreeSet<Symbol> = step.updates.keys().map(symbol).collect();
    let updates: BTreeMap<Symbol, Term> =
        step.updates.iter().map(|(var, value)| (symbol(var), value.clone())).collect();
    let affected = (0..predicates.all.len()).filter(|number| !predicates.symbols[*number].is_disjoint(&assigned));
    let before = |number: usize| Condition::new(predicates.all[number].substitute(&updates), names);
    StepEffect {
        guard: Condition::new(step.guard.clone(), names),
        affected: affected.map(|number| (number, before(number))).collect(),
        updates: updates.iter().map(|(symbol, value)| (names.slots[symbol], Evaluable::new(value, names))).collect(),
    }
}

/// See [`AbstractionContext::determining`].
fn determining(number: usize, predicate: &Term, names: &TermIndex<'_>) -> Option<(usize, usize, Option<i128>)> {
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

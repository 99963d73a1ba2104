//! Terms over the variables, prepared for evaluation.
//!
//! If the initial values are fixed and there are no choices, symbolic states have no unknowns, and abstract states
//! often determine the values of variables. Then conditions are evaluated without building terms.

use rustc_hash::FxHashMap;
use selvedge_logic::smt::{Node as Head, SmtValue, Symbol, Term};

use super::super::atoms::normal;

/// The values of the model's variables, in their order, where known.
pub(super) type Slots = Vec<Option<SmtValue>>;

/// The slot of each variable, and the number of each predicate.
pub(super) struct TermIndex<'a> {
    pub(super) slots: FxHashMap<Symbol, usize>,
    pub(super) predicates: &'a FxHashMap<Term, usize>,
}

/// A term that can be evaluated.
pub(super) enum Evaluable {
    Constant(SmtValue),
    Var(usize),
    /// A choice, which is never known.
    Open,
    /// A predicate by its number, and its meaning.
    Predicate(usize, Box<Evaluable>),
    Not(Box<Evaluable>),
    And(Vec<Evaluable>),
    Or(Vec<Evaluable>),
    Eq(Box<(Evaluable, Evaluable)>),
    Le(Box<(Evaluable, Evaluable)>),
    Lt(Box<(Evaluable, Evaluable)>),
    Divisible(i128, Box<Evaluable>),
    Add(Vec<Evaluable>),
    Scale(i128, Box<Evaluable>),
    Ite(Box<(Evaluable, Evaluable, Evaluable)>),
}

impl Evaluable {
    /// Prepares a term over variables and choices.
    pub(super) fn new(term: &Term, names: &TermIndex<'_>) -> Evaluable {
        let of = |part: &Term| Evaluable::new(part, names);
        let pair = |left: &Term, right: &Term| Box::new((of(left), of(right)));
        match term.head() {
            Head::Bool(value) => Evaluable::Constant(SmtValue::Bool(*value)),
            Head::Int(value) => Evaluable::Constant(SmtValue::Int(*value)),
            Head::Symbol(symbol) => {
                let var = names.slots.get(symbol).map_or(Evaluable::Open, |slot| Evaluable::Var(*slot));
                predicate(term, var, names)
            }
            Head::Not(part) => Evaluable::Not(Box::new(of(part))),
            Head::And(parts) => Evaluable::And(parts.iter().map(of).collect()),
            Head::Or(parts) => Evaluable::Or(parts.iter().map(of).collect()),
            Head::Add(parts) => Evaluable::Add(parts.iter().map(of).collect()),
            Head::Scale(factor, part) => Evaluable::Scale(*factor, Box::new(of(part))),
            Head::Ite(condition, then, otherwise) => Evaluable::Ite(Box::new((of(condition), of(then), of(otherwise)))),
            Head::Eq(left, right) => comparison(term, Evaluable::Eq(pair(left, right)), names),
            Head::Le(left, right) => comparison(term, Evaluable::Le(pair(left, right)), names),
            Head::Lt(left, right) => comparison(term, Evaluable::Lt(pair(left, right)), names),
            Head::Divisible(divisor, part) => {
                comparison(term, Evaluable::Divisible(*divisor, Box::new(of(part))), names)
            }
        }
    }

    /// Evaluates the term under values of the variables and, unless `bits` is empty, truth values of the predicates;
    /// returns `None` if they do not determine the value.
    pub(super) fn value(&self, slots: &[Option<SmtValue>], bits: &[bool]) -> Option<SmtValue> {
        let of = |part: &Evaluable| part.value(slots, bits);
        let ints = |pair: &(Evaluable, Evaluable)| Some((int(of(&pair.0))?, int(of(&pair.1))?));
        match self {
            Evaluable::Constant(value) => Some(*value),
            Evaluable::Var(slot) => slots[*slot],
            Evaluable::Open => None,
            Evaluable::Predicate(number, meaning) => match bits.get(*number) {
                Some(bit) => Some(SmtValue::Bool(*bit)),
                None => of(meaning),
            },
            Evaluable::Not(part) => Some(SmtValue::Bool(!self::bool(of(part))?)),
            Evaluable::And(parts) => several(parts, false, &of),
            Evaluable::Or(parts) => several(parts, true, &of),
            Evaluable::Eq(pair) => Some(SmtValue::Bool(of(&pair.0)? == of(&pair.1)?)),
            Evaluable::Le(pair) => ints(pair).map(|(left, right)| SmtValue::Bool(left <= right)),
            Evaluable::Lt(pair) => ints(pair).map(|(left, right)| SmtValue::Bool(left < right)),
            Evaluable::Divisible(divisor, part) => int(of(part)).map(|value| SmtValue::Bool(value % divisor == 0)),
            Evaluable::Add(parts) => {
                let mut sum = 0i128;
                for part in parts {
                    sum = sum.checked_add(int(of(part))?)?;
                }
                Some(SmtValue::Int(sum))
            }
            Evaluable::Scale(factor, part) => int(of(part))?.checked_mul(*factor).map(SmtValue::Int),
            Evaluable::Ite(triple) => of(if self::bool(of(&triple.0))? { &triple.1 } else { &triple.2 }),
        }
    }

    /// Evaluates a condition like [`Evaluable::value`].
    pub(super) fn truth(&self, slots: &[Option<SmtValue>], bits: &[bool]) -> Option<bool> {
        self::bool(self.value(slots, bits))
    }
}

/// Evaluates a conjunction or disjunction; one part with the absorbing truth value is enough.
fn several(parts: &[Evaluable], absorbing: bool, of: &dyn Fn(&Evaluable) -> Option<SmtValue>) -> Option<SmtValue> {
    let mut all_known = true;
    for part in parts {
        match self::bool(of(part)) {
            Some(value) if value == absorbing => return Some(SmtValue::Bool(absorbing)),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(SmtValue::Bool(!absorbing))
}

/// Prepares a comparison, which may be a predicate or the negation of one.
fn comparison(term: &Term, meaning: Evaluable, names: &TermIndex<'_>) -> Evaluable {
    let normal = normal(term);
    match normal.head() {
        Head::Bool(value) => Evaluable::Constant(SmtValue::Bool(*value)),
        Head::Not(part) if names.predicates.contains_key(part) => {
            let meaning = Evaluable::Not(Box::new(meaning));
            Evaluable::Not(Box::new(predicate(part, meaning, names)))
        }
        _ => predicate(&normal, meaning, names),
    }
}

fn predicate(term: &Term, meaning: Evaluable, names: &TermIndex<'_>) -> Evaluable {
    match names.predicates.get(term) {
        Some(number) => Evaluable::Predicate(*number, Box::new(meaning)),
        None => meaning,
    }
}

fn bool(value: Option<SmtValue>) -> Option<bool> {
    if let Some(SmtValue::Bool(value)) = value { Some(value) } else { None }
}

fn int(value: Option<SmtValue>) -> Option<i128> {
    if let Some(SmtValue::Int(value)) = value { Some(value) } else { None }
}

/// Returns the values of the terms that are constants.
pub(super) fn slots(values: &[Term]) -> Slots {
    values.iter().map(Term::as_value).collect()
}

#[cfg(test)]
mod tests {
    use selvedge_logic::smt::Sort;

    use super::*;

    fn var(name: &str) -> Term {
        Symbol::new(name, Sort::Int).into()
    }

    #[test]
    fn predicates_are_found_in_other_forms_and_evaluated_without_them() {
        let (x, y) = (var("x"), var("y"));
        let symbols = [&x, &y].map(|term| term.symbols().into_iter().next().expect("it is a symbol"));
        let predicates: FxHashMap<Term, usize> = [(normal(&x.minus(&y).le(&0i64.into())), 0)].into_iter().collect();
        let names = TermIndex { slots: symbols.into_iter().zip(0..).collect(), predicates: &predicates };
        // y < x is the negation of x - y <= 0.
        let plain = Evaluable::new(&Term::and([y.lt(&x), x.le(&5i64.into())]), &names);
        assert_eq!(plain.truth(&[None, None], &[true]), Some(false));
        assert_eq!(plain.truth(&[None, None], &[false]), None);
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), None], &[false]), Some(true));
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), None], &[]), None);
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), Some(SmtValue::Int(4))], &[]), Some(true));
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), Some(SmtValue::Int(5))], &[]), Some(false));
    }
}

//! Terms over the variables, made ready for places where the variables have plain values.
//!
//! Where the first values are fixed and nothing is chosen, symbolic states have no unknowns, and abstract states often
//! say which value a variable has. There a condition is evaluated, without a term being made.

use rustc_hash::FxHashMap;
use selvedge_ir::Value;
use selvedge_logic::smt::{Node as Head, SmtValue, Symbol, Term};

use super::super::atoms::normal;

/// The values of the model's variables, in their order, where they are known.
pub(super) type Slots = Vec<Option<SmtValue>>;

/// What names mean: the place of each variable, and the number of each predicate.
pub(super) struct Names<'a> {
    pub(super) slots: FxHashMap<Symbol, usize>,
    pub(super) predicates: &'a FxHashMap<Term, usize>,
}

/// A term that can be evaluated.
pub(super) enum Plain {
    Constant(SmtValue),
    Var(usize),
    /// A choice, which is never known.
    Open,
    /// A predicate by its number, and what it says.
    Predicate(usize, Box<Plain>),
    Not(Box<Plain>),
    And(Vec<Plain>),
    Or(Vec<Plain>),
    Eq(Box<(Plain, Plain)>),
    Le(Box<(Plain, Plain)>),
    Lt(Box<(Plain, Plain)>),
    Divisible(i128, Box<Plain>),
    Add(Vec<Plain>),
    Scale(i128, Box<Plain>),
    Ite(Box<(Plain, Plain, Plain)>),
}

impl Plain {
    /// A term over variables and choices.
    pub(super) fn new(term: &Term, names: &Names<'_>) -> Plain {
        let of = |part: &Term| Plain::new(part, names);
        let pair = |left: &Term, right: &Term| Box::new((of(left), of(right)));
        match term.head() {
            Head::Bool(value) => Plain::Constant(SmtValue::Bool(*value)),
            Head::Int(value) => Plain::Constant(SmtValue::Int(*value)),
            Head::Symbol(symbol) => {
                let var = names.slots.get(symbol).map_or(Plain::Open, |slot| Plain::Var(*slot));
                predicate(term, var, names)
            }
            Head::Not(part) => Plain::Not(Box::new(of(part))),
            Head::And(parts) => Plain::And(parts.iter().map(of).collect()),
            Head::Or(parts) => Plain::Or(parts.iter().map(of).collect()),
            Head::Add(parts) => Plain::Add(parts.iter().map(of).collect()),
            Head::Scale(factor, part) => Plain::Scale(*factor, Box::new(of(part))),
            Head::Ite(condition, then, otherwise) => Plain::Ite(Box::new((of(condition), of(then), of(otherwise)))),
            Head::Eq(left, right) => comparison(term, Plain::Eq(pair(left, right)), names),
            Head::Le(left, right) => comparison(term, Plain::Le(pair(left, right)), names),
            Head::Lt(left, right) => comparison(term, Plain::Lt(pair(left, right)), names),
            Head::Divisible(divisor, part) => comparison(term, Plain::Divisible(*divisor, Box::new(of(part))), names),
        }
    }

    /// The value where these are the variables' values and, unless there are none, these the predicates' truth values;
    /// `None` if they do not tell.
    pub(super) fn value(&self, slots: &[Option<SmtValue>], bits: &[bool]) -> Option<SmtValue> {
        let of = |part: &Plain| part.value(slots, bits);
        let ints = |pair: &(Plain, Plain)| Some((int(of(&pair.0))?, int(of(&pair.1))?));
        match self {
            Plain::Constant(value) => Some(*value),
            Plain::Var(slot) => slots[*slot],
            Plain::Open => None,
            Plain::Predicate(number, meaning) => match bits.get(*number) {
                Some(bit) => Some(SmtValue::Bool(*bit)),
                None => of(meaning),
            },
            Plain::Not(part) => Some(SmtValue::Bool(!self::bool(of(part))?)),
            Plain::And(parts) => several(parts, false, &of),
            Plain::Or(parts) => several(parts, true, &of),
            Plain::Eq(pair) => Some(SmtValue::Bool(of(&pair.0)? == of(&pair.1)?)),
            Plain::Le(pair) => ints(pair).map(|(left, right)| SmtValue::Bool(left <= right)),
            Plain::Lt(pair) => ints(pair).map(|(left, right)| SmtValue::Bool(left < right)),
            Plain::Divisible(divisor, part) => int(of(part)).map(|value| SmtValue::Bool(value % divisor == 0)),
            Plain::Add(parts) => {
                let mut sum = 0i128;
                for part in parts {
                    sum = sum.checked_add(int(of(part))?)?;
                }
                Some(SmtValue::Int(sum))
            }
            Plain::Scale(factor, part) => int(of(part))?.checked_mul(*factor).map(SmtValue::Int),
            Plain::Ite(triple) => of(if self::bool(of(&triple.0))? { &triple.1 } else { &triple.2 }),
        }
    }

    /// Like [`Plain::value`], for a condition.
    pub(super) fn truth(&self, slots: &[Option<SmtValue>], bits: &[bool]) -> Option<bool> {
        self::bool(self.value(slots, bits))
    }
}

/// A conjunction or disjunction; one part of the absorbing truth value is enough.
fn several(parts: &[Plain], absorbing: bool, of: &dyn Fn(&Plain) -> Option<SmtValue>) -> Option<SmtValue> {
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

/// A comparison, which may be a predicate or the negation of one.
fn comparison(term: &Term, meaning: Plain, names: &Names<'_>) -> Plain {
    let normal = normal(term);
    match normal.head() {
        Head::Bool(value) => Plain::Constant(SmtValue::Bool(*value)),
        Head::Not(part) if names.predicates.contains_key(part) => {
            let meaning = Plain::Not(Box::new(meaning));
            Plain::Not(Box::new(predicate(part, meaning, names)))
        }
        _ => predicate(&normal, meaning, names),
    }
}

fn predicate(term: &Term, meaning: Plain, names: &Names<'_>) -> Plain {
    match names.predicates.get(term) {
        Some(number) => Plain::Predicate(*number, Box::new(meaning)),
        None => meaning,
    }
}

fn bool(value: Option<SmtValue>) -> Option<bool> {
    if let Some(SmtValue::Bool(value)) = value { Some(value) } else { None }
}

fn int(value: Option<SmtValue>) -> Option<i128> {
    if let Some(SmtValue::Int(value)) = value { Some(value) } else { None }
}

/// The values of terms that are constants.
pub(super) fn slots(values: &[Term]) -> Slots {
    let of = |term: &Term| match term.head() {
        Head::Bool(value) => Some(SmtValue::Bool(*value)),
        Head::Int(value) => Some(SmtValue::Int(*value)),
        _ => None,
    };
    values.iter().map(of).collect()
}

/// A value as a term.
pub(super) fn term(value: SmtValue) -> Term {
    match value {
        SmtValue::Bool(value) => value.into(),
        SmtValue::Int(value) => value.into(),
    }
}

/// A value of a program.
pub(super) fn known(value: Value) -> SmtValue {
    match value {
        Value::Bool(value) => SmtValue::Bool(value),
        Value::Int(value) => SmtValue::Int(i128::from(value)),
    }
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
        let names = Names { slots: symbols.into_iter().zip(0..).collect(), predicates: &predicates };
        // y < x is the negation of x - y <= 0.
        let plain = Plain::new(&Term::and([y.lt(&x), x.le(&5i64.into())]), &names);
        assert_eq!(plain.truth(&[None, None], &[true]), Some(false));
        assert_eq!(plain.truth(&[None, None], &[false]), None);
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), None], &[false]), Some(true));
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), None], &[]), None);
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), Some(SmtValue::Int(4))], &[]), Some(true));
        assert_eq!(plain.truth(&[Some(SmtValue::Int(5)), Some(SmtValue::Int(5))], &[]), Some(false));
    }
}

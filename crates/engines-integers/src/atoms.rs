//! Predicates: linear sums, and atoms in a normal form.
//!
//! Two atoms that are equivalent, or of which one is equivalent to the negation of the other, have one normal form if
//! they differ only by a factor, by the sides of their terms, or by strictness: `<` becomes `<=`, coefficients are
//! divided by their greatest common divisor, and the first coefficient is positive.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_logic::smt::{Node, Symbol, Term};

/// A sum of multiples of symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) constant: i128,
    pub(super) factors: BTreeMap<Symbol, i128>,
}

impl Linear {
    /// Returns an integer term as a sum; `None` if it contains conditions or its numbers are too large.
    pub(crate) fn of(term: &Term) -> Option<Linear> {
        match term.head() {
            Node::Int(value) => Some(Linear { constant: *value, ..Linear::default() }),
            Node::Symbol(symbol) => Some(Linear { constant: 0, factors: [(symbol.clone(), 1)].into() }),
            Node::Add(parts) => parts.iter().try_fold(Linear::default(), |sum, part| sum.plus(&Linear::of(part)?, 1)),
            Node::Scale(factor, part) => Linear::default().plus(&Linear::of(part)?, *factor),
            _ => None,
        }
    }

    fn plus(mut self, other: &Linear, times: i128) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (symbol, factor) in &other.factors {
            let sum = self.factors.entry(symbol.clone()).or_insert(0);
            *sum = sum.checked_add(factor.checked_mul(times)?)?;
        }
        self.factors.retain(|_, factor| *factor != 0);
        Some(self)
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.factors.is_empty()
    }

    /// Returns the sum without its constant.
    fn variable_part(&self) -> Term {
        Term::add(self.factors.iter().map(|(symbol, factor)| Term::from(symbol.clone()).scale(*factor)))
    }

    pub(super) fn term(&self) -> Term {
        Term::add([self.variable_part(), self.constant.into()])
    }

    fn gcd(&self) -> i128 {
        self.factors.values().fold(0, |gcd, factor| greatest_common_divisor(gcd, factor.unsigned_abs() as i128))
    }

    fn leads_negative(&self) -> bool {
        self.factors.values().next().is_some_and(|factor| *factor < 0)
    }
}

fn greatest_common_divisor(left: i128, right: i128) -> i128 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

/// Normalises a term: integer parts become ordered sums, and atoms get their normal form where they have one.
pub(super) fn normal(term: &Term) -> Term {
    match term.head() {
        Node::Bool(_) | Node::Int(_) | Node::Symbol(_) => term.clone(),
        Node::Not(part) => normal(part).not(),
        Node::And(parts) => Term::and(parts.iter().map(normal)),
        Node::Or(parts) => Term::or(parts.iter().map(normal)),
        Node::Add(_) | Node::Scale(..) => Linear::of(term).map_or_else(|| term.clone(), |sum| sum.term()),
        Node::Ite(condition, then, otherwise) => Term::ite(&normal(condition), &normal(then), &normal(otherwise)),
        Node::Eq(left, right) if is_bool(left) => normal(left).equals(&normal(right)),
        Node::Eq(..) | Node::Le(..) | Node::Lt(..) | Node::Divisible(..) => {
            normal_atom(term).unwrap_or_else(|| term.clone())
        }
    }
}

fn is_bool(term: &Term) -> bool {
    match term.head() {
        Node::Symbol(symbol) => symbol.sort == selvedge_logic::smt::Sort::Bool,
        Node::Int(_) | Node::Add(_) | Node::Scale(..) => false,
        Node::Ite(_, then, _) => is_bool(then),
        _ => true,
    }
}

/// Returns the normal form of a comparison of integers: an atom, a negated atom or a constant.
fn normal_atom(term: &Term) -> Option<Term> {
    match term.head() {
        Node::Eq(left, right) => equality(Linear::of(left)?.plus(&Linear::of(right)?, -1)?),
        Node::Le(left, right) => at_most_zero(Linear::of(left)?.plus(&Linear::of(right)?, -1)?),
        // e < 0 is e + 1 <= 0.
        Node::Lt(left, right) => {
            let difference = Linear::of(left)?.plus(&Linear::of(right)?, -1)?;
            at_most_zero(difference.plus(&Linear { constant: 1, ..Linear::default() }, 1)?)
        }
        Node::Divisible(divisor, part) => divisibility(*divisor, Linear::of(part)?),
        _ => None,
    }
}

/// Normalises e = 0.
fn equality(sum: Linear) -> Option<Term> {
    let gcd = sum.gcd();
    if gcd == 0 {
        return Some((sum.constant == 0).into());
    }
    if sum.constant % gcd != 0 {
        return Some(false.into());
    }
    let sign = if sum.leads_negative() { -1 } else { 1 };
    let factors = sum.factors.iter().map(|(symbol, factor)| (symbol.clone(), sign * factor / gcd)).collect();
    let part = Linear { constant: 0, factors }.variable_part();
    Some(part.equals(&Term::from((-sign).checked_mul(sum.constant / gcd)?)))
}

/// Normalises e <= 0. If the first factor is negative, it is the negation of -e + 1 <= 0.
fn at_most_zero(sum: Linear) -> Option<Term> {
    let gcd = sum.gcd();
    if gcd == 0 {
        return Some((sum.constant <= 0).into());
    }
    if sum.leads_negative() {
        let negated = Linear { constant: 1, ..Linear::default() }.plus(&sum, -1)?;
        return Some(at_most_zero(negated)?.not());
    }
    let factors = sum.factors.iter().map(|(symbol, factor)| (symbol.clone(), factor / gcd)).collect();
    let bound = (-sum.constant).div_euclid(gcd);
    Some(Linear { constant: 0, factors }.variable_part().le(&bound.into()))
}

/// Normalises divisibility of e. Only the remainders of factors and constant matter.
fn divisibility(divisor: i128, sum: Linear) -> Option<Term> {
    let factors: BTreeMap<Symbol, i128> = sum
        .factors
        .iter()
        .map(|(symbol, factor)| (symbol.clone(), factor.rem_euclid(divisor)))
        .filter(|(_, factor)| *factor != 0)
        .collect();
    Some(Linear { constant: sum.constant.rem_euclid(divisor), factors }.term().divisible(divisor))
}

/// Collects the atoms of a condition, in normal form and without negations. Conditions inside integer terms are
/// extracted.
pub(super) fn atoms(term: &Term, found: &mut BTreeSet<Term>) {
    match term.head() {
        Node::Bool(_) | Node::Int(_) => {}
        Node::Symbol(_) => {
            found.insert(term.clone());
        }
        Node::Not(part) => atoms(part, found),
        Node::And(parts) | Node::Or(parts) => parts.iter().for_each(|part| atoms(part, found)),
        Node::Ite(..) => term.parts().into_iter().for_each(|part| atoms(part, found)),
        Node::Eq(left, right) if is_bool(left) => [left, right].into_iter().for_each(|part| atoms(part, found)),
        _ => comparison(term, found),
    }
}

fn comparison(term: &Term, found: &mut BTreeSet<Term>) {
    if let Some((condition, then, otherwise)) = without_first_condition(term) {
        atoms(&condition, found);
        comparison(&then, found);
        comparison(&otherwise, found);
        return;
    }
    let normal = normal(term);
    match normal.head() {
        Node::Bool(_) => {}
        Node::Not(part) => {
            found.insert(part.clone());
        }
        _ => {
            found.insert(normal);
        }
    }
}

/// Finds a condition in the sums of a comparison; returns the condition, and the comparison where it holds and where it
/// does not.
fn without_first_condition(term: &Term) -> Option<(Term, Term, Term)> {
    fn first(term: &Term) -> Option<(Term, Term, Term)> {
        match term.head() {
            Node::Ite(condition, then, otherwise) => Some((condition.clone(), then.clone(), otherwise.clone())),
            Node::Add(_) | Node::Scale(..) => {
                let (place, inner) =
                    term.parts().into_iter().enumerate().find_map(|(n, part)| Some((n, first(part)?)))?;
                let with = |new: &Term| match term.head() {
                    Node::Scale(factor, _) => new.scale(*factor),
                    _ => Term::add(
                        term.parts().into_iter().enumerate().map(
                            |(n, part)| {
                                if n == place { new.clone() } else { part.clone() }
                            },
                        ),
                    ),
                };
                Some((inner.0, with(&inner.1), with(&inner.2)))
            }
            _ => None,
        }
    }
    let sides = term.parts();
    let (place, inner) = sides.iter().enumerate().find_map(|(n, part)| Some((n, first(part)?)))?;
    let with = |new: &Term| {
        let side = |n: usize| if n == place { new.clone() } else { sides[n].clone() };
        match term.head() {
            Node::Eq(..) => side(0).equals(&side(1)),
            Node::Le(..) => side(0).le(&side(1)),
            Node::Lt(..) => side(0).lt(&side(1)),
            Node::Divisible(divisor, _) => side(0).divisible(*divisor),
            _ => unreachable!("it is a comparison"),
        }
    };
    Some((inner.0.clone(), with(&inner.1), with(&inner.2)))
}

/// Returns the truth value of a condition where some atoms are known; `None` if they do not determine it.
pub(super) fn decided(term: &Term, known: &dyn Fn(&Term) -> Option<bool>) -> Option<bool> {
    match term.head() {
        Node::Bool(value) => Some(*value),
        Node::Not(part) => decided(part, known).map(|value| !value),
        Node::And(parts) => several(parts, false, known),
        Node::Or(parts) => several(parts, true, known),
        Node::Eq(left, right) if is_bool(left) => Some(decided(left, known)? == decided(right, known)?),
        Node::Ite(condition, then, otherwise) => {
            decided(if decided(condition, known)? { then } else { otherwise }, known)
        }
        Node::Symbol(_) => known(term),
        _ => {
            let normal = normal(term);
            match normal.head() {
                Node::Bool(value) => Some(*value),
                Node::Not(part) => known(part).map(|value| !value),
                _ => known(&normal),
            }
        }
    }
}

/// Evaluates a disjunction (`absorbing` is true) or a conjunction.
fn several(parts: &[Term], absorbing: bool, known: &dyn Fn(&Term) -> Option<bool>) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match decided(part, known) {
            Some(value) if value == absorbing => return Some(absorbing),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!absorbing)
}

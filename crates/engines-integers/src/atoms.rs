//! Predicates as terms: atoms in a normal form.
//!
//! Two atoms that are equivalent, or of which one is equivalent to the negation of the other, have one normal form if
//! they differ only by a factor, by the sides of their terms, or by strictness: `<` becomes `<=`, and `linear`
//! normalises the sums.

use std::collections::BTreeSet;

use selvedge_logic::smt::{Node, Sort, Symbol, Term};

use crate::linear::{Comparison, Linear};

/// Returns an integer term as a sum; `None` if it contains conditions or its numbers are too large.
pub(crate) fn sum(term: &Term) -> Option<Linear<Symbol>> {
    match term.head() {
        Node::Int(value) => Some(Linear::from(*value)),
        Node::Symbol(symbol) => Some(Linear::leaf(symbol.clone())),
        Node::Add(parts) => parts.iter().try_fold(Linear::from(0), |all, part| all.plus(&sum(part)?, 1)),
        Node::Scale(factor, part) => sum(part)?.times(*factor),
        _ => None,
    }
}

/// Returns the sum without its constant as a term.
fn variable_part(sum: &Linear<Symbol>) -> Term {
    Term::add(sum.factors.iter().map(|(symbol, factor)| Term::from(symbol.clone()).scale(*factor)))
}

/// Returns a sum as a term.
fn term_of(sum: &Linear<Symbol>) -> Term {
    Term::add([variable_part(sum), sum.constant.into()])
}

/// Normalises a term: integer parts become ordered sums, and atoms get their normal form where they have one.
pub(super) fn normal(term: &Term) -> Term {
    match term.head() {
        Node::Add(_) | Node::Scale(..) => sum(term).map_or_else(|| term.clone(), |sum| term_of(&sum)),
        Node::Eq(left, _) if left.sort() == Sort::Bool => term.map_parts(normal),
        Node::Eq(..) | Node::Le(..) | Node::Lt(..) | Node::Divisible(..) => {
            normal_atom(term).unwrap_or_else(|| term.clone())
        }
        _ => term.map_parts(normal),
    }
}

/// Returns the normal form of a comparison of integers: an atom, a negated atom or a constant.
fn normal_atom(term: &Term) -> Option<Term> {
    let difference = |left: &Term, right: &Term| sum(left)?.plus(&sum(right)?, -1);
    match term.head() {
        Node::Eq(left, right) => literal(difference(left, right)?.zero()?, Term::equals),
        Node::Le(left, right) => literal(difference(left, right)?.at_most_zero()?, Term::le),
        // e < 0 is e + 1 <= 0.
        Node::Lt(left, right) => {
            let sum = difference(left, right)?.plus(&Linear::from(1), 1)?;
            literal(sum.at_most_zero()?, Term::le)
        }
        Node::Divisible(divisor, part) => Some(term_of(&sum(part)?.modulo(*divisor)).divisible(*divisor)),
        _ => None,
    }
}

/// Writes a comparison as a term, with the constant on the right.
fn literal(comparison: Comparison<Symbol>, compare: impl Fn(&Term, &Term) -> Term) -> Option<Term> {
    let of = |sum: Linear<Symbol>| Some(compare(&variable_part(&sum), &sum.constant.checked_neg()?.into()));
    match comparison {
        Comparison::Const(value) => Some(value.into()),
        Comparison::Holds(sum) => of(sum),
        Comparison::Fails(sum) => of(sum).map(|atom| atom.not()),
    }
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
        Node::Eq(left, right) if left.sort() == Sort::Bool => {
            [left, right].into_iter().for_each(|part| atoms(part, found))
        }
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

/// Finds a condition in the sums of a comparison, or in a sum; returns the condition, and the term where it holds and
/// where it does not.
fn without_first_condition(term: &Term) -> Option<(Term, Term, Term)> {
    if let Node::Ite(condition, then, otherwise) = term.head() {
        return Some((condition.clone(), then.clone(), otherwise.clone()));
    }
    let mut parts = term.parts().into_iter().enumerate();
    let (place, (condition, then, otherwise)) =
        parts.find_map(|(number, part)| Some((number, without_first_condition(part)?)))?;
    let with = |new: Term| {
        let mut numbers = 0..;
        term.map_parts(|part| if numbers.next() == Some(place) { new.clone() } else { part.clone() })
    };
    Some((condition, with(then), with(otherwise)))
}

/// Returns the truth value of a condition where some atoms are known; `None` if they do not determine it.
pub(super) fn decided(term: &Term, known: &dyn Fn(&Term) -> Option<bool>) -> Option<bool> {
    match term.head() {
        Node::Bool(value) => Some(*value),
        Node::Not(part) => decided(part, known).map(|value| !value),
        Node::And(parts) => several(parts, false, known),
        Node::Or(parts) => several(parts, true, known),
        Node::Eq(left, right) if left.sort() == Sort::Bool => Some(decided(left, known)? == decided(right, known)?),
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

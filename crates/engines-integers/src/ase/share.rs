//! Recognition of symbolic states that represent the same states of the program.
//!
//! A key is a symbolic state up to the names of its unknowns, constant offsets of unknowns, and conditions that do not
//! restrict its values. Symbolic states with equal keys represent the same states; the converse need not hold.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::LocId;
use selvedge_logic::smt::{Symbol, Term};

use super::super::atoms::{normal, sum};

/// The location, the values, and the conditions in ascending order.
pub(super) type StateKey = (LocId, Vec<Term>, Vec<Term>);

/// Returns the key of a symbolic state whose condition is satisfiable.
pub(super) fn key(loc: LocId, values: &[Term], condition: &[Term]) -> StateKey {
    let mut unknowns: Vec<Symbol> = Vec::new();
    let mut counted: BTreeMap<Symbol, Term> = BTreeMap::new();
    for value in values {
        for symbol in value.symbols() {
            if !counted.contains_key(&symbol) {
                counted.insert(symbol.clone(), renamed(unknowns.len(), &symbol, value));
                unknowns.push(symbol);
            }
        }
    }
    if unknowns.is_empty() {
        return (loc, values.to_vec(), Vec::new());
    }
    let condition = about(&unknowns, condition);
    for symbol in condition.iter().flat_map(|part| part.symbols()) {
        if !counted.contains_key(&symbol) {
            counted.insert(symbol.clone(), fresh(counted.len(), &symbol).into());
        }
    }
    let values = values.iter().map(|value| normal(&value.substitute(&counted))).collect();
    let conditions = condition.iter().map(|part| normal(&part.substitute(&counted)));
    let conditions: BTreeSet<Term> = conditions.filter(|part| part.as_bool() != Some(true)).collect();
    (loc, values, conditions.into_iter().collect())
}

fn fresh(number: usize, symbol: &Symbol) -> Symbol {
    Symbol::new(&format!("s{number}"), symbol.sort)
}

/// Returns the replacement of an unknown. The first value in which it occurs becomes the unknown itself, if that value
/// is the unknown or its negation plus a constant: this is a bijection on the integers.
fn renamed(number: usize, symbol: &Symbol, value: &Term) -> Term {
    let fresh = Term::from(fresh(number, symbol));
    let linear = sum(value).filter(|linear| linear.factors.len() == 1);
    match linear.as_ref().and_then(|linear| Some((linear.factors.get(symbol)?, linear.constant))) {
        Some((1, constant)) if constant != i128::MIN => Term::add([fresh, (-constant).into()]),
        Some((-1, constant)) => Term::add([fresh.scale(-1), constant.into()]),
        _ => fresh,
    }
}

/// Returns the conditions that share unknowns with the given ones, directly or through other conditions. The others are
/// satisfiable independently, so they exclude nothing.
fn about<'t>(unknowns: &[Symbol], condition: &'t [Term]) -> Vec<&'t Term> {
    let mut known: BTreeSet<Symbol> = unknowns.iter().cloned().collect();
    let mut rest: Vec<(&Term, BTreeSet<Symbol>)> = condition.iter().map(|part| (part, part.symbols())).collect();
    let mut found = Vec::new();
    loop {
        let (near, far): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(_, symbols)| !symbols.is_disjoint(&known));
        if near.is_empty() {
            return found;
        }
        for (part, symbols) in near {
            known.extend(symbols);
            found.push(part);
        }
        rest = far;
    }
}

#[cfg(test)]
mod tests {
    use selvedge_logic::smt::Sort;

    use super::*;

    fn unknown(name: &str) -> Term {
        Symbol::new(name, Sort::Int).into()
    }

    fn plus(term: &Term, constant: i64) -> Term {
        Term::add([term.clone(), constant.into()])
    }

    fn key_of(values: &[Term], condition: &[Term]) -> StateKey {
        key(LocId::new(0), values, condition)
    }

    #[test]
    fn names_and_beginnings_of_unknowns_do_not_matter() {
        let (x, y) = (unknown("x"), unknown("y"));
        let one = key_of(&[plus(&x, 3), plus(&x, 2)], &[x.le(&5i64.into())]);
        assert_eq!(one, key_of(&[plus(&y, 1), y.clone()], &[y.le(&7i64.into())]));
        assert_ne!(one, key_of(&[plus(&y, 1), y.clone()], &[y.le(&6i64.into())]));
        assert_ne!(one, key_of(&[plus(&y, 2), y.clone()], &[y.le(&6i64.into())]));
    }

    #[test]
    fn conditions_about_nothing_that_is_left_do_not_matter() {
        let (x, y, z) = (unknown("x"), unknown("y"), unknown("z"));
        let plain = key_of(std::slice::from_ref(&x), &[]);
        assert_eq!(plain, key_of(std::slice::from_ref(&x), &[y.le(&z)]));
        assert_ne!(plain, key_of(std::slice::from_ref(&x), &[y.le(&z), z.le(&x)]));
    }
}

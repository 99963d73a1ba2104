//! Conjunctions of literals, without literals that others imply.
//!
//! Predicates often compare one sum with many constants, and two of their literals in an abstract state are enough: the
//! least and the greatest value of the sum. Proofs of such formulas are shorter and easier to check.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_logic::smt::{Node as Head, Term};

/// The known bounds of a sum.
#[derive(Default)]
struct Bounds {
    least: Option<i128>,
    most: Option<i128>,
    without: BTreeSet<i128>,
}

impl Bounds {
    fn at_least(&mut self, value: i128) {
        self.least = Some(self.least.map_or(value, |least| least.max(value)));
    }

    fn at_most(&mut self, value: i128) {
        self.most = Some(self.most.map_or(value, |most| most.min(value)));
    }

    fn literals(self, sum: &Term) -> Vec<Term> {
        if self.least.is_some() && self.least == self.most {
            return self.least.map(|value| sum.equals(&value.into())).into_iter().collect();
        }
        let (least, most) = (self.least, self.most);
        let is_within =
            |value: &i128| least.is_none_or(|least| least <= *value) && most.is_none_or(|most| *value <= most);
        let least = least.map(|value| sum.le(&(value - 1).into()).not());
        let most = most.map(|value| sum.le(&value.into()));
        let without = self.without.into_iter().filter(is_within).map(|value| sum.equals(&value.into()).not());
        least.into_iter().chain(most).chain(without).collect()
    }
}

/// Returns the conjunction of literals that are in normal form and jointly satisfiable.
pub(super) fn strongest(literals: impl IntoIterator<Item = Term>) -> Term {
    let mut bounds: BTreeMap<Term, Bounds> = BTreeMap::new();
    let mut others = Vec::new();
    for literal in literals {
        let (atom, holds) = match literal.head() {
            Head::Not(atom) => (atom, false),
            _ => (&literal, true),
        };
        let Some((sum, constant)) = compared(atom) else {
            others.push(literal);
            continue;
        };
        let bounds = bounds.entry(sum.clone()).or_default();
        match (atom.head(), holds) {
            (Head::Le(..), true) => bounds.at_most(constant),
            (Head::Le(..), false) => bounds.at_least(constant + 1),
            (_, true) => {
                bounds.at_least(constant);
                bounds.at_most(constant);
            }
            (_, false) => {
                bounds.without.insert(constant);
            }
        }
    }
    Term::and(bounds.into_iter().flat_map(|(sum, bounds)| bounds.literals(&sum)).chain(others))
}

/// Returns the two sides of an atom that compares a sum with a constant of a common size.
fn compared(atom: &Term) -> Option<(&Term, i128)> {
    match atom.head() {
        Head::Le(sum, constant) | Head::Eq(sum, constant) => {
            let constant = constant.as_int().filter(|value| i64::try_from(*value).is_ok())?;
            Some((sum, constant))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use selvedge_logic::smt::{Sort, Symbol};

    use super::*;

    #[test]
    fn a_least_and_a_greatest_value_are_enough() {
        let x = Term::from(Symbol::new("x", Sort::Int));
        let most = |value: i64| x.le(&value.into());
        let is = |value: i64| x.equals(&value.into());
        let some = strongest([most(7), most(1).not(), most(9), is(4).not(), is(8).not(), most(0).not(), is(1).not()]);
        assert_eq!(some, Term::and([most(1).not(), most(7), is(4).not()]));
        assert_eq!(strongest([most(5), most(4).not(), is(3).not()]), is(5));
        assert_eq!(strongest([is(5), is(3).not(), most(4).not()]), is(5));
    }
}

//! The right-hand sides of equations.

use super::RelId;
use crate::bdd::OutOfNodes;
use crate::relation::{Column, Relation};

/// A relational expression over the relations of a [`super::System`]. Built from the inside out:
/// `Term::from(path).join(step).project(&[x, z]).rename(&[(z, y)])`.
#[derive(Clone, Debug)]
pub enum Term {
    /// The value of a relation of the system.
    Atom(RelId),
    /// The complement of a relation of an earlier layer.
    Not(RelId),
    /// A constant relation.
    Constant(Relation),
    /// The natural join.
    Join(Box<Term>, Box<Term>),
    /// The union; the columns must be the same.
    Union(Box<Term>, Box<Term>),
    /// The projection to the given columns.
    Project(Box<Term>, Vec<Column>),
    /// The columns renamed, all at once.
    Rename(Box<Term>, Vec<(Column, Column)>),
}

/// A difference at an occurrence of a relation in a term, by its number in [`Term::places`].
pub(super) type Delta<'d> = (usize, &'d Relation);

impl From<RelId> for Term {
    fn from(relation: RelId) -> Term {
        Term::Atom(relation)
    }
}

impl From<Relation> for Term {
    fn from(relation: Relation) -> Term {
        Term::Constant(relation)
    }
}

impl From<&Relation> for Term {
    fn from(relation: &Relation) -> Term {
        Term::Constant(relation.clone())
    }
}

impl Term {
    /// Returns the complement of a relation of an earlier layer.
    pub fn not(relation: RelId) -> Term {
        Term::Not(relation)
    }

    /// Returns the natural join with another term.
    pub fn join(self, other: impl Into<Term>) -> Term {
        Term::Join(Box::new(self), Box::new(other.into()))
    }

    /// Returns the union with another term.
    pub fn union(self, other: impl Into<Term>) -> Term {
        Term::Union(Box::new(self), Box::new(other.into()))
    }

    /// Returns the projection to the given columns.
    pub fn project(self, keep: &[Column]) -> Term {
        Term::Project(Box::new(self), keep.to_vec())
    }

    /// Renames columns, all at once.
    pub fn rename(self, pairs: &[(Column, Column)]) -> Term {
        Term::Rename(Box::new(self), pairs.to_vec())
    }

    /// Returns the relations of the system in the term from left to right, each with whether it is its complement.
    pub(super) fn atoms(&self) -> Vec<(RelId, bool)> {
        match self {
            Term::Atom(r) => vec![(*r, false)],
            Term::Not(r) => vec![(*r, true)],
            Term::Constant(_) => Vec::new(),
            Term::Join(a, b) | Term::Union(a, b) => [a.atoms(), b.atoms()].concat(),
            Term::Project(t, _) | Term::Rename(t, _) => t.atoms(),
        }
    }

    /// Returns the relations that occur in the term without complement, from left to right.
    pub(super) fn places(&self) -> Vec<RelId> {
        self.atoms().into_iter().filter(|(_, negated)| !negated).map(|(r, _)| r).collect()
    }

    /// Returns the value for given values of the relations; with a difference, for that at one occurrence and the
    /// values at all others. Then only the side of a union with that occurrence counts.
    pub(super) fn eval(&self, values: &[Relation], delta: Option<Delta<'_>>) -> Result<Relation, OutOfNodes> {
        match self {
            Term::Atom(r) => Ok(delta.map_or(&values[r.index()], |(_, delta)| delta).clone()),
            Term::Not(r) => values[r.index()].complement(),
            Term::Constant(relation) => Ok(relation.clone()),
            Term::Join(a, b) => {
                let [left, right] = a.split(delta);
                a.eval(values, left)?.join(&b.eval(values, right)?)
            }
            Term::Union(a, b) => match a.split(delta) {
                [None, None] => a.eval(values, None)?.union(&b.eval(values, None)?),
                [None, right] => b.eval(values, right),
                [left, _] => a.eval(values, left),
            },
            Term::Project(t, keep) => match &**t {
                Term::Join(a, b) => {
                    let [left, right] = a.split(delta);
                    a.eval(values, left)?.join_project(&b.eval(values, right)?, keep)
                }
                _ => t.eval(values, delta)?.project(keep),
            },
            Term::Rename(t, pairs) => t.eval(values, delta)?.rename(pairs),
        }
    }

    /// Returns the difference for this term or for the one to its right, whichever has the occurrence.
    fn split<'d>(&self, delta: Option<Delta<'d>>) -> [Option<Delta<'d>>; 2] {
        let Some((place, relation)) = delta else { return [None, None] };
        match place.checked_sub(self.places().len()) {
            None => [delta, None],
            Some(place) => [None, Some((place, relation))],
        }
    }

    /// Returns the term with all parts without live relations replaced by their values.
    pub(super) fn settled(&self, live: &dyn Fn(RelId) -> bool, values: &[Relation]) -> Result<Term, OutOfNodes> {
        if !self.places().into_iter().any(live) {
            return Ok(Term::Constant(self.eval(values, None)?));
        }
        let settle = |t: &Term| Ok(Box::new(t.settled(live, values)?));
        Ok(match self {
            Term::Atom(_) | Term::Not(_) | Term::Constant(_) => self.clone(),
            Term::Join(a, b) => Term::Join(settle(a)?, settle(b)?),
            Term::Union(a, b) => Term::Union(settle(a)?, settle(b)?),
            Term::Project(t, keep) => Term::Project(settle(t)?, keep.clone()),
            Term::Rename(t, pairs) => Term::Rename(settle(t)?, pairs.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::System;
    use super::*;
    use crate::bdd::Limits;
    use crate::relation::Plan;

    #[test]
    fn a_difference_in_one_place_yields_only_what_depends_on_it() {
        let mut plan = Plan::new();
        let [x, y, z] = plan.group(2, ["x", "y", "z"]);
        let space = plan.build(Limits { nodes: 1 << 10, cache: 1 << 10 });
        let pair = |a: [bool; 2], b: [bool; 2]| {
            let literals: Vec<_> = [x, y].iter().flat_map(|c| space.vars(*c)).zip([a, b].concat()).collect();
            space.relation(space.manager().cube(&literals).expect("the limit is large enough"), &[x, y])
        };
        let (first, second) = (pair([false, false], [true, false]), pair([true, false], [false, true]));
        let mut system = System::new(&space);
        let path = system.relation("path", &[x, y]);
        let values = [first.union(&second).expect("the limit is large enough")];
        let composed = Term::from(path).join(Term::from(path).rename(&[(x, y), (y, z)]));
        for term in [composed.clone(), composed.project(&[x, y, z])] {
            let with = |place, delta| term.eval(&values, Some((place, delta))).expect("the limit is large enough");
            assert_eq!((with(0, &first).count(), with(1, &second).count()), (Some(1), Some(1)));
            assert!(with(0, &second).is_empty() && with(1, &first).is_empty());
        }
    }
}

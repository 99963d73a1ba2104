//! Relations against sets of tuples.

use std::collections::BTreeSet;

use selvedge_logic::bdd::Limits;
use selvedge_logic::relation::{Column, Plan, Relation, Space};

use crate::numbers::Numbers;

pub(crate) const SMALL: Limits = Limits { nodes: 1 << 16, cache: 1 << 12 };

pub(crate) fn bits(width: usize, number: usize) -> Vec<bool> {
    (0..width).map(|i| number >> i & 1 == 1).collect()
}

pub(crate) fn number(bits: &[bool]) -> usize {
    bits.iter().rev().fold(0, |n, &b| 2 * n + usize::from(b))
}

/// A relation from its tuples, given as numbers in the order of the columns.
pub(crate) fn relation(space: &Space, columns: &[Column], tuples: &BTreeSet<Vec<usize>>) -> Relation {
    let mut all = space.empty(columns);
    for tuple in tuples {
        let literals = columns.iter().zip(tuple).flat_map(|(&c, &n)| {
            let vars = space.vars(c);
            let bits = bits(vars.len(), n);
            vars.into_iter().zip(bits)
        });
        let cube = space.manager().cube(&literals.collect::<Vec<_>>()).unwrap();
        all = all.union(&space.relation(cube, columns)).unwrap();
    }
    all
}

/// The tuples of a relation as numbers, in the order of its columns.
pub(crate) fn tuples(space: &Space, relation: &Relation) -> BTreeSet<Vec<usize>> {
    let widths: Vec<usize> = relation.columns().iter().map(|&c| space.vars(c).len()).collect();
    let cut = |flat: Vec<bool>| {
        let mut flat = flat.into_iter();
        widths.iter().map(|&width| number(&flat.by_ref().take(width).collect::<Vec<_>>())).collect()
    };
    relation.bdd().assignments(&relation.vars()).map(cut).collect()
}

fn random_set(numbers: &mut Numbers, bound: usize, arity: usize) -> BTreeSet<Vec<usize>> {
    (0..numbers.below(2 * bound)).map(|_| (0..arity).map(|_| numbers.below(bound)).collect()).collect()
}

#[test]
fn the_algebra_agrees_with_sets_of_tuples() {
    let mut plan = Plan::new();
    let [x, y, z] = plan.group(3, ["x", "y", "z"]);
    let space = plan.build(SMALL);
    let mut numbers = Numbers::seeded(7);
    for _ in 0..100 {
        let (a, b) = (random_set(&mut numbers, 8, 2), random_set(&mut numbers, 8, 2));
        let (xy, other, yz) =
            (relation(&space, &[x, y], &a), relation(&space, &[x, y], &b), relation(&space, &[y, z], &b));
        assert_eq!(tuples(&space, &xy), a);
        assert_eq!(xy.count(), Some(a.len() as u128));
        assert_eq!(tuples(&space, &xy.union(&other).unwrap()), &a | &b);
        assert_eq!(tuples(&space, &xy.difference(&other).unwrap()), &a - &b);
        assert_eq!(tuples(&space, &xy.join(&other).unwrap()), &a & &b);
        assert_eq!(xy.is_subset(&other), a.is_subset(&b));
        assert_eq!(xy.is_disjoint(&other), a.is_disjoint(&b));
        assert_eq!(xy.complement().unwrap().count(), Some(64 - a.len() as u128));
        let joined: BTreeSet<Vec<usize>> =
            a.iter().flat_map(|s| b.iter().filter(|t| s[1] == t[0]).map(|t| vec![s[0], s[1], t[1]])).collect();
        assert_eq!(tuples(&space, &xy.join(&yz).unwrap()), joined);
        let composed: BTreeSet<Vec<usize>> = joined.iter().map(|t| vec![t[0], t[2]]).collect();
        assert_eq!(tuples(&space, &xy.join_project(&yz, &[z, x]).unwrap()), composed);
        assert_eq!(xy.join(&yz).unwrap().project(&[x, z]).unwrap(), xy.join_project(&yz, &[x, z]).unwrap());
        let swapped: BTreeSet<Vec<usize>> = a.iter().map(|t| vec![t[1], t[0]]).collect();
        assert_eq!(tuples(&space, &xy.rename(&[(x, y), (y, x)]).unwrap()), swapped);
        assert_eq!(tuples(&space, &xy.rename(&[(x, y), (y, z)]).unwrap()), a, "y and z in the places of x and y");
        let care = other.complement().unwrap();
        assert_eq!(xy.restrict(&care).unwrap().join(&care).unwrap(), xy.join(&care).unwrap());
    }
}

#[test]
fn the_bits_of_a_group_are_adjacent() {
    let mut plan = Plan::new();
    let [g, h] = plan.group(2, ["g", "h"]);
    let [l, m, n] = plan.group(2, ["l", "m", "n"]);
    let space = plan.build(SMALL);
    let levels = |bit| [g, h, l, m, n].map(|c| space.var(c, bit).level());
    assert_eq!((levels(0), levels(1)), ([0, 1, 4, 5, 6], [2, 3, 7, 8, 9]));
    assert_eq!(space.equal(l, n).unwrap().count(), Some(4));
}

#[test]
#[should_panic(expected = "the union of relations with different columns: (x) and (y)")]
fn the_union_of_different_columns_is_a_bug() {
    let mut plan = Plan::new();
    let [x, y] = plan.group(1, ["x", "y"]);
    let space = plan.build(SMALL);
    let _ = space.full(&[x]).union(&space.full(&[y]));
}

#[test]
#[should_panic(expected = "renaming makes two columns one")]
fn renaming_onto_a_column_that_stays_is_a_bug() {
    let mut plan = Plan::new();
    let [x, y] = plan.group(1, ["x", "y"]);
    let space = plan.build(SMALL);
    let _ = space.full(&[x, y]).rename(&[(x, y)]);
}

#[test]
#[should_panic(expected = "the diagram depends on more than the columns (x)")]
fn a_diagram_over_other_columns_is_a_bug() {
    let mut plan = Plan::new();
    let [x, y] = plan.group(1, ["x", "y"]);
    let space = plan.build(SMALL);
    space.relation(space.manager().var(space.var(y, 0)).unwrap(), &[x]);
}

//! Formulas with one alternation against brute force.

use selvedge_logic::aig::{Aig, Input, Lit};
use selvedge_logic::qbf::{Quantified, Strategy, exists_forall, forall_exists};

use crate::circuits::Circuit;
use crate::numbers::Numbers;

fn go(_: u32) -> Result<(), ()> {
    Ok(())
}

/// Outer inputs are the first ones. The values of the outer inputs for which all inner rows have the given value.
fn constant_rows(circuit: &Circuit, root: Lit, outer: usize, value: bool) -> Vec<usize> {
    let inner = circuit.inputs.len() - outer;
    let at = |row: usize| {
        circuit.aig.eval(&[root], |i| row >> circuit.inputs.iter().position(|&j| i == j).unwrap() & 1 == 1)[0]
    };
    (0..1 << outer).filter(|x| (0..1 << inner).all(|y| at(x | y << outer) == value)).collect()
}

fn check(seed: u64, outer: usize, inner: usize) {
    let mut numbers = Numbers::seeded(seed);
    let mut circuit = Circuit::without_tables(outer + inner);
    (0..6 + numbers.below(40)).for_each(|_| circuit.grow(&mut numbers));
    let matrix = circuit.lits.last().unwrap().0;
    let (x, y) = circuit.inputs.split_at(outer);
    let (x, y) = (x.to_vec(), y.to_vec());
    let formula = Quantified { matrix, outer: &x, inner: &y };
    let strategy = |numbers: &mut Numbers| -> Strategy {
        (0..inner).map(|_| circuit.aig.input(x[numbers.below(outer)])).collect()
    };
    let strategies: Vec<Strategy> = (0..numbers.below(3)).map(|_| strategy(&mut numbers)).collect();
    let row = |values: Vec<bool>| values.iter().rev().fold(0, |row, &v| 2 * row + usize::from(v));
    let good = constant_rows(&circuit, matrix, outer, true);
    let found = exists_forall(&mut circuit.aig, formula, &strategies, go).unwrap().outer.map(row);
    assert!(found.map_or(good.is_empty(), |row| good.contains(&row)), "exists-forall, seed {seed}");
    let bad = constant_rows(&circuit, matrix, outer, false);
    let found = forall_exists(&mut circuit.aig, formula, &strategies, go).unwrap().outer.map(row);
    assert!(found.map_or(bad.is_empty(), |row| bad.contains(&row)), "forall-exists, seed {seed}");
}

#[test]
fn random_formulas_are_decided_as_by_brute_force() {
    for seed in 0..400 {
        check(seed, 1 + seed as usize % 4, 1 + seed as usize / 4 % 4);
    }
}

/// The equality of two vectors.
fn copy(width: usize) -> (Aig, Vec<Input>, Vec<Input>, Lit) {
    let mut aig = Aig::new();
    let x: Vec<Input> = (0..width).map(|_| aig.new_input()).collect();
    let y: Vec<Input> = (0..width).map(|_| aig.new_input()).collect();
    let mut equal = Vec::new();
    for (&a, &b) in x.iter().zip(&y) {
        let (a, b) = (aig.input(a), aig.input(b));
        equal.push(aig.iff(a, b));
    }
    let matrix = aig.and_all(&equal);
    (aig, x, y, matrix)
}

#[test]
fn the_identity_as_a_strategy_decides_without_expansions() {
    let (mut aig, outer, inner, matrix) = copy(64);
    let identity: Strategy = outer.iter().map(|&i| aig.input(i)).collect();
    let formula = Quantified { matrix, outer: &outer, inner: &inner };
    let decision = forall_exists(&mut aig, formula, &[identity], go).unwrap();
    assert_eq!((decision.outer, decision.expansions), (None, 0));
    let decision = exists_forall(&mut aig, formula, &[], go).unwrap();
    assert_eq!(decision.outer, None);
    assert!(decision.expansions <= 2, "one value and another refute everything");
}

#[test]
fn the_search_stops_when_told_to() {
    let (mut aig, outer, inner, matrix) = copy(16);
    let mut calls = 0;
    let result = forall_exists(&mut aig, Quantified { matrix, outer: &outer, inner: &inner }, &[], |_| {
        calls += 1;
        if calls > 20 { Err(calls) } else { Ok(()) }
    });
    assert_eq!(result, Err(21));
}

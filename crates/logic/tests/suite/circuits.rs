//! And-inverter graphs against truth tables.

use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, Solver};

use crate::numbers::Numbers;

/// A random graph over some inputs, with the truth table of each literal made on the way as the bits of a number.
pub(crate) struct Circuit {
    pub(crate) aig: Aig,
    pub(crate) inputs: Vec<Input>,
    pub(crate) lits: Vec<(Lit, u64)>,
}

impl Circuit {
    /// At most six inputs.
    pub(crate) fn new(inputs: usize) -> Circuit {
        let mut aig = Aig::new();
        let names: Vec<Input> = (0..inputs).map(|_| aig.new_input()).collect();
        let table = |i: usize| (0..1 << inputs).filter(|row| row >> i & 1 == 1).fold(0, |t, row| t | 1u64 << row);
        let lits = names.iter().enumerate().map(|(i, &n)| (aig.input(n), table(i))).collect();
        Circuit { aig, inputs: names, lits }
    }

    /// Any number of inputs; the tables mean nothing.
    pub(crate) fn without_tables(inputs: usize) -> Circuit {
        let mut circuit = Circuit::new(0);
        circuit.inputs = (0..inputs).map(|_| circuit.aig.new_input()).collect();
        circuit.lits = circuit.inputs.iter().map(|&i| (circuit.aig.input(i), 0)).collect();
        circuit
    }

    fn mask(&self) -> u64 {
        let rows = 1u32 << self.inputs.len().min(6);
        u64::MAX >> (64 - rows)
    }

    fn some(&self, numbers: &mut Numbers) -> (Lit, u64) {
        let (lit, table) = self.lits[numbers.below(self.lits.len())];
        if numbers.below(2) == 0 { (lit, table) } else { (!lit, !table & self.mask()) }
    }

    pub(crate) fn grow(&mut self, numbers: &mut Numbers) {
        let ((a, ta), (b, tb), (c, tc)) = (self.some(numbers), self.some(numbers), self.some(numbers));
        let made = match numbers.below(6) {
            0 | 1 => (self.aig.and(a, b), ta & tb),
            2 => (self.aig.or(a, b), ta | tb),
            3 => (self.aig.xor(a, b), ta ^ tb),
            4 => (self.aig.implies(a, b), (!ta | tb) & self.mask()),
            _ => (self.aig.ite(a, b, c), (ta & tb) | (!ta & tc)),
        };
        self.lits.push(made);
    }

    fn table(&self, lit: Lit) -> u64 {
        let value = |row: usize| self.aig.eval(&[lit], |i| self.value(i, row))[0];
        (0..1 << self.inputs.len()).filter(|&row| value(row)).fold(0, |t, row| t | 1 << row)
    }

    fn value(&self, input: Input, row: usize) -> bool {
        row >> self.inputs.iter().position(|&i| i == input).unwrap() & 1 == 1
    }
}

fn grown(seed: u64, inputs: usize, steps: usize) -> Circuit {
    let mut numbers = Numbers::seeded(seed);
    let mut circuit = Circuit::new(inputs);
    (0..steps).for_each(|_| circuit.grow(&mut numbers));
    circuit
}

#[test]
fn every_literal_denotes_the_function_it_was_made_for() {
    for seed in 0..60 {
        let circuit = grown(seed, 2 + seed as usize % 4, 60);
        for &(lit, table) in &circuit.lits {
            assert_eq!(circuit.table(lit), table, "seed {seed}, literal {lit:?}");
            assert_eq!(circuit.table(!lit), !table & circuit.mask());
        }
    }
}

#[test]
fn functions_of_one_input_are_found_to_be_literals() {
    for seed in 0..40 {
        let circuit = grown(seed, 1, 30);
        let input = circuit.aig.input(circuit.inputs[0]);
        for (lit, _) in circuit.lits {
            assert!(lit.as_constant().is_some() || lit == input || lit == !input);
        }
    }
}

#[test]
fn two_level_rules_leave_no_node_behind() {
    let mut aig = Aig::new();
    let [x, y, z] = [(); 3].map(|()| aig.new_input()).map(|i| aig.input(i));
    let xy = aig.and(x, y);
    let before = aig.node_count();
    assert_eq!(aig.and(xy, !x), Lit::FALSE, "contradiction");
    assert_eq!(aig.and(y, xy), xy, "idempotence");
    assert_eq!(aig.and(!xy, !y), !y, "subsumption");
    assert_eq!(aig.node_count(), before);
    let x_not_y = aig.and(x, !y);
    assert_eq!(aig.and(!xy, x), x_not_y, "substitution");
    assert_eq!(aig.and(!xy, !x_not_y), !x, "resolution");
    assert_eq!(aig.and(xy, x_not_y), Lit::FALSE, "contradiction of two conjunctions");
    let nxz = aig.and(!x, z);
    assert_eq!(aig.and(!xy, nxz), nxz, "subsumption by a conjunction");
    assert_eq!(aig.ite(z, x, x), x);
    assert_eq!((aig.xor(x, !y), aig.xor(!x, y)), (!aig.xor(x, y), !aig.xor(x, y)));
}

#[test]
fn substitution_is_simultaneous_and_agrees_with_composition() {
    for seed in 0..40 {
        let mut circuit = grown(seed, 4, 40);
        let mut numbers = Numbers::seeded(seed + 1000);
        let roots: Vec<(Lit, u64)> = (0..3).map(|_| circuit.some(&mut numbers)).collect();
        let new: Vec<(Lit, u64)> = (0..2).map(|_| circuit.some(&mut numbers)).collect();
        let (a, b) = (circuit.inputs[0], circuit.inputs[1]);
        let lits: Vec<Lit> = roots.iter().map(|r| r.0).collect();
        let replaced = circuit.aig.substitute(&lits, |i| match i {
            _ if i == a => Some(new[0].0),
            _ if i == b => Some(new[1].0),
            _ => None,
        });
        for (lit, (_, table)) in replaced.into_iter().zip(roots) {
            let composed = (0..16).filter(|row| {
                let inner = (row & !3) | (new[0].1 >> row & 1) as usize | ((new[1].1 >> row & 1) as usize * 2);
                table >> inner & 1 == 1
            });
            assert_eq!(circuit.table(lit), composed.fold(0, |t, row| t | 1 << row));
        }
    }
}

#[test]
fn clauses_say_what_the_graph_says() {
    for seed in 0..20 {
        let circuit = grown(seed, 4, 30);
        let (mut solver, mut encoder) = (Solver::new(), Encoder::new());
        let inputs: Vec<_> = circuit.inputs.iter().map(|&i| encoder.input(&circuit.aig, i, &mut solver)).collect();
        for &(lit, table) in &circuit.lits {
            let root = encoder.encode(&circuit.aig, lit, &mut solver);
            let before = solver.var_count();
            assert_eq!(encoder.encode(&circuit.aig, !lit, &mut solver), !root);
            assert_eq!(solver.var_count(), before, "known nodes are not encoded again");
            for row in 0..16 {
                let mut assumptions: Vec<_> =
                    inputs.iter().enumerate().map(|(i, &l)| if row >> i & 1 == 1 { l } else { !l }).collect();
                assumptions.push(root);
                let expected = if table >> row & 1 == 1 { Answer::Sat } else { Answer::Unsat };
                assert_eq!(solver.solve(&assumptions, |_| Ok::<(), ()>(())), Ok(expected));
            }
        }
    }
}

#[test]
fn demanded_literals_hold_in_every_assignment() {
    for seed in 0..40 {
        let circuit = grown(seed, 4, 30);
        let &(lit, table) = circuit.lits.last().unwrap();
        let (mut solver, mut encoder) = (Solver::new(), Encoder::new());
        encoder.assert(&circuit.aig, lit, &mut solver);
        let inputs: Vec<_> = circuit.inputs.iter().map(|&i| encoder.input(&circuit.aig, i, &mut solver)).collect();
        let mut found = 0u64;
        while solver.solve(&[], |_| Ok::<(), ()>(())) == Ok(Answer::Sat) {
            let values: Vec<bool> = inputs.iter().map(|&l| solver.value(l)).collect();
            found |= 1 << values.iter().rev().fold(0, |row, &v| 2 * row + u32::from(v));
            let other: Vec<_> = inputs.iter().zip(&values).map(|(&l, &v)| if v { !l } else { l }).collect();
            solver.add_clause(&other);
        }
        assert_eq!(found, table);
    }
}

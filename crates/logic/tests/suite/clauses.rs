//! The satisfiability façade against brute force.

use selvedge_logic::sat::{Answer, SatLit, Solver};

use crate::numbers::Numbers;

const VARS: usize = 8;

fn go(_: u32) -> Result<(), ()> {
    Ok(())
}

fn random_clause(numbers: &mut Numbers, vars: &[SatLit]) -> Vec<SatLit> {
    let literal = |var: SatLit, value: bool| if value { var } else { !var };
    (0..3).map(|_| literal(vars[numbers.below(vars.len())], numbers.below(2) == 0)).collect()
}

fn holds(clause: &[SatLit], vars: &[SatLit], row: usize) -> bool {
    clause.iter().any(|&l| (0..vars.len()).any(|v| l == if row >> v & 1 == 1 { vars[v] } else { !vars[v] }))
}

#[test]
fn answers_models_and_cores_are_right_while_clauses_are_added() {
    for seed in 0..40 {
        let mut numbers = Numbers::seeded(seed);
        let mut solver = Solver::new();
        let vars: Vec<SatLit> = (0..VARS).map(|_| solver.new_var()).collect();
        let mut clauses: Vec<Vec<SatLit>> = Vec::new();
        for _ in 0..45 {
            clauses.push(random_clause(&mut numbers, &vars));
            solver.add_clause(clauses.last().unwrap());
            let assumptions = random_clause(&mut numbers, &vars);
            let satisfies = |row, assumed: &[SatLit]| {
                clauses.iter().all(|c| holds(c, &vars, row)) && assumed.iter().all(|&l| holds(&[l], &vars, row))
            };
            let answer = solver.solve(&assumptions, go).unwrap();
            if (0..1 << VARS).any(|row| satisfies(row, &assumptions)) {
                assert_eq!(answer, Answer::Sat);
                let row = vars.iter().rev().fold(0, |row, &v| 2 * row + usize::from(solver.value(v)));
                assert!(satisfies(row, &assumptions));
            } else {
                assert_eq!(answer, Answer::Unsat);
                let core = solver.core();
                assert!(core.iter().all(|l| assumptions.contains(l)));
                assert!(!(0..1 << VARS).any(|row| satisfies(row, &core)));
            }
        }
    }
}

/// One pigeon more than holes.
fn pigeons(holes: usize) -> Solver {
    let mut solver = Solver::new();
    let place: Vec<Vec<SatLit>> = (0..=holes).map(|_| (0..holes).map(|_| solver.new_var()).collect()).collect();
    for pigeon in &place {
        solver.add_clause(pigeon);
    }
    for (i, one) in place.iter().enumerate() {
        for other in &place[..i] {
            one.iter().zip(other).for_each(|(a, b)| solver.add_clause(&[!*a, !*b]));
        }
    }
    solver
}

#[test]
fn a_long_search_can_be_given_up_and_taken_up_again() {
    let mut solver = pigeons(8);
    assert_eq!(solver.solve_within(&[], 10), None);
    let mut calls = 0;
    let given_up = solver.solve(&[], |_| {
        calls += 1;
        if calls == 2 { Err("enough") } else { Ok(()) }
    });
    assert_eq!((given_up, calls), (Err("enough"), 2));
    assert_eq!(solver.solve(&[], go), Ok(Answer::Unsat));
    assert_eq!(solver.core(), []);
}

#[test]
fn variables_without_clauses_are_false() {
    let mut solver = Solver::new();
    let (a, b) = (solver.new_var(), solver.new_var());
    assert_eq!(solver.solve(&[a], go), Ok(Answer::Sat));
    assert_eq!((solver.value(a), solver.value(b), solver.value(!b)), (true, false, true));
    solver.add_clause(&[]);
    assert_eq!(solver.solve(&[], go), Ok(Answer::Unsat));
}

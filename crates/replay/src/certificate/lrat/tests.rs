//! The checker against proofs of the solver, proofs that were tampered with, and all assignments of small questions.

use selvedge_cdcl::{Answer, ClauseId, Proof, Solver};

use super::Checker;

/// Random numbers; the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn lits(&mut self, n_vars: usize, len: usize) -> Vec<i32> {
        (0..len).map(|_| (self.below(n_vars) as i32 + 1) * if self.below(2) == 0 { 1 } else { -1 }).collect()
    }
}

/// A solver with its checker, and a record of the proof.
#[derive(Default)]
struct Session {
    solver: Solver,
    log: Log,
    clauses: Vec<Vec<i32>>,
}

#[derive(Default)]
struct Log {
    checker: Checker,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Add(Vec<i32>),
    Derive(Vec<i32>, Vec<ClauseId>),
    Delete(ClauseId),
}

impl Proof for Log {
    fn derive(&mut self, clause: &[i32], hints: &[ClauseId]) -> ClauseId {
        self.steps.push(Step::Derive(clause.to_vec(), hints.to_vec()));
        let id = self.checker.derive(clause, hints);
        assert!(self.checker.get(id).is_some(), "{clause:?} does not follow along {hints:?}");
        id
    }

    fn delete(&mut self, id: ClauseId) {
        self.steps.push(Step::Delete(id));
        self.checker.delete(id);
    }
}

impl Session {
    fn new(n_vars: usize) -> Session {
        let mut session = Session::default();
        for _ in 0..n_vars {
            let var = session.log.checker.add_var();
            assert_eq!(session.solver.add_var(), var);
        }
        session
    }

    fn add(&mut self, clause: &[i32]) {
        self.clauses.push(clause.to_vec());
        self.log.steps.push(Step::Add(clause.to_vec()));
        let id = self.log.checker.add(clause);
        self.solver.add_clause(id, clause, &mut self.log);
    }

    /// Returns whether there is a solution, after checking what the solver says of it.
    fn solve(&mut self, assumptions: &[i32]) -> bool {
        let answer = self.solver.solve(assumptions, &mut self.log, || Ok::<(), ()>(())).unwrap();
        match answer {
            Answer::Satisfiable => {
                let holds = |lit: &i32| self.solver.value(lit.unsigned_abs()) == (*lit > 0);
                assert!(self.clauses.iter().all(|clause| clause.iter().any(holds)), "no solution of the clauses");
                assert!(assumptions.iter().all(holds), "no solution of the assumptions");
                true
            }
            Answer::Unsatisfiable(id) => {
                assert!(self.log.checker.refutes(id, assumptions), "the proof does not check");
                false
            }
        }
    }
}

/// Returns whether some assignment satisfies all clauses and assumptions.
fn by_trial(n_vars: usize, clauses: &[Vec<i32>], assumptions: &[i32]) -> bool {
    (0..1u32 << n_vars).any(|values| {
        let holds = |lit: &i32| (values >> (lit.unsigned_abs() - 1) & 1 == 1) == (*lit > 0);
        assumptions.iter().all(holds) && clauses.iter().all(|clause| clause.iter().any(holds))
    })
}

fn checker(n_vars: usize, clauses: &[&[i32]]) -> Checker {
    let mut checker = Checker::default();
    for _ in 0..n_vars {
        checker.add_var();
    }
    for clause in clauses {
        checker.add(clause);
    }
    checker
}

fn accepts(checker: &mut Checker, clause: &[i32], hints: &[ClauseId]) -> bool {
    let id = checker.derive(clause, hints);
    checker.get(id) == Some(clause)
}

#[test]
fn steps_that_follow_are_stored() {
    let mut checker = checker(3, &[&[1, 2], &[-1, 2], &[-2, 3]]);
    assert!(accepts(&mut checker, &[2], &[0, 1]));
    assert!(accepts(&mut checker, &[3], &[3, 2]));
    assert!(accepts(&mut checker, &[1, -1], &[]));
    assert!(accepts(&mut checker, &[1, 3], &[0, 2]));
}

#[test]
fn steps_that_do_not_follow_are_refused() {
    let mut checker = checker(3, &[&[1, 2], &[-1, 2], &[-2, 3]]);
    assert!(!accepts(&mut checker, &[2], &[0]), "a hint is missing");
    assert!(!accepts(&mut checker, &[2], &[0, 2]), "a wrong hint");
    assert!(!accepts(&mut checker, &[2], &[1, 2, 0]), "a hint that is not a unit");
    assert!(!accepts(&mut checker, &[1], &[0, 1]), "another literal");
    assert!(!accepts(&mut checker, &[], &[0, 1]), "a literal is missing");
    assert!(!accepts(&mut checker, &[3], &[99]), "a clause that was never added");
    assert!(!accepts(&mut checker, &[3], &[3, 2]), "a step that was refused");
    assert!(!accepts(&mut checker, &[], &[]), "nothing");
}

#[test]
fn variables_that_are_not_the_judges_are_refused() {
    let mut checker = checker(2, &[&[1, 2]]);
    for clause in [[0, 0], [3, -3], [i32::MIN, 1], [i32::MAX, -i32::MAX]] {
        assert!(!accepts(&mut checker, &clause, &[0]), "{clause:?}");
    }
}

#[test]
fn answers_rest_on_negated_assumptions() {
    let mut checker = checker(3, &[&[-1, -2]]);
    assert!(checker.refutes(0, &[1, 2]) && checker.refutes(0, &[2, 3, 1]));
    assert!(!checker.refutes(0, &[1]) && !checker.refutes(0, &[-1, -2]) && !checker.refutes(0, &[]));
    assert!(!checker.refutes(1, &[1, 2]), "there is no such clause");
    checker.delete(0);
    checker.delete(7);
    assert!(!checker.refutes(0, &[1, 2]), "the clause was deleted");
}

#[test]
fn deleted_clauses_leave_no_trace() {
    let mut checker = checker(3, &[&[1, 2], &[-1, 2], &[-2, 3], &[1, 2, 3], &[-1, -3]]);
    checker.delete(3);
    checker.delete(1);
    checker.delete(0);
    assert_eq!(
        (checker.get(2), checker.get(4), checker.get(0)),
        (Some([-2, 3].as_slice()), Some([-1, -3].as_slice()), None)
    );
    assert!(!accepts(&mut checker, &[2], &[0, 1]) && accepts(&mut checker, &[-1, -2], &[2, 4]));
}

#[test]
fn answers_agree_with_all_assignments() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut n_answers = [0; 2];
    for _ in 0..4_000 {
        let n_vars = 1 + random.below(8);
        let mut session = Session::new(n_vars);
        for _ in 0..6 {
            for _ in 0..random.below(n_vars * 2) {
                let len = [0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5][random.below(14).max(usize::from(n_vars > 1))];
                session.add(&random.lits(n_vars, len));
            }
            let n_assumptions = random.below(4);
            let assumptions = random.lits(n_vars, n_assumptions);
            let answer = session.solve(&assumptions);
            assert_eq!(answer, by_trial(n_vars, &session.clauses, &assumptions), "{:?}", session.clauses);
            n_answers[usize::from(answer)] += 1;
        }
    }
    assert!(n_answers.iter().all(|count| *count > 5_000), "{n_answers:?}");
}

/// Whatever a solver says: what is stored follows from the judge's clauses.
#[test]
fn a_solver_that_guesses_derives_only_consequences() {
    let mut random = Random(42);
    let mut n_stored = 0;
    for _ in 0..1_000 {
        let n_vars = 2 + random.below(4);
        let clauses: Vec<Vec<i32>> = (0..8).map(|_| random.lits(n_vars, 2)).collect();
        let mut checker = checker(n_vars, &clauses.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for _ in 0..100 {
            let len = random.below(3);
            let clause = random.lits(n_vars, len);
            let hints: Vec<ClauseId> = (0..1 + random.below(4)).map(|_| random.below(40) as ClauseId).collect();
            if accepts(&mut checker, &clause, &hints) {
                let negation: Vec<i32> = clause.iter().map(|lit| -lit).collect();
                assert!(!by_trial(n_vars, &clauses, &negation), "{clause:?} of {clauses:?}");
                n_stored += 1;
            }
        }
    }
    assert!(n_stored > 1_000, "{n_stored}");
}

/// Changes a step of a proof with this many clauses before it.
fn tamper(clause: &mut Vec<i32>, hints: &mut Vec<ClauseId>, n_before: usize, random: &mut Random) {
    match random.below(4) {
        0 if !clause.is_empty() => {
            clause.remove(random.below(clause.len()));
        }
        1 if !hints.is_empty() => {
            hints.remove(random.below(hints.len()));
        }
        2 if !hints.is_empty() => {
            let at = random.below(hints.len());
            hints[at] = random.below(n_before) as ClauseId;
        }
        _ => hints.clear(),
    }
}

/// Proofs of the solver for questions that lack one of the clauses and so have a solution, as they are and with one
/// more change, are never accepted.
#[test]
fn a_lying_solver_is_refused() {
    let mut random = Random(7);
    let mut n_lies = 0;
    while n_lies < 3_000 {
        let n_vars = 3 + random.below(4);
        let mut session = Session::new(n_vars);
        while session.solve(&[]) {
            let len = 2 + random.below(2);
            let clause = random.lits(n_vars, len);
            session.add(&clause);
        }
        for missing in 0..session.clauses.len() {
            let mut question = session.clauses.clone();
            let missing = question.remove(missing);
            if by_trial(n_vars, &question, &[]) {
                let changed = random.below(session.log.steps.len());
                let checker = replay_lie(&session, &missing, changed, &mut random);
                let refutes = |id: usize| checker.refutes(id as ClauseId, &[]);
                assert!(!(0..checker.clauses.len()).any(refutes), "{question:?}");
                n_lies += 1;
            }
        }
    }
}

/// A proof with a clause that the judge has not added, but which the solver claims, and a step that was changed.
fn replay_lie(session: &Session, missing: &[i32], changed: usize, random: &mut Random) -> Checker {
    let mut checker = checker(session.log.checker.true_in.len() / 2, &[]);
    for (number, step) in session.log.steps.iter().enumerate() {
        match step {
            Step::Add(clause) if clause == missing => {
                checker.derive(clause, &[]);
            }
            Step::Add(clause) => {
                checker.add(clause);
            }
            Step::Derive(clause, hints) => {
                let (mut clause, mut hints) = (clause.clone(), hints.clone());
                if number == changed {
                    tamper(&mut clause, &mut hints, number.max(1), random);
                }
                checker.derive(&clause, &hints);
            }
            Step::Delete(id) => checker.delete(*id),
        }
    }
    checker
}

/// Removing steps or hints from a proof that needs them: without them nothing is proved.
#[test]
fn a_proof_with_a_gap_is_refused() {
    let mut session = Session::new(4);
    for clause in [[1, 2, 3], [1, 2, -3], [1, -2, 4], [1, -2, -4], [-1, 3, 4], [-1, 3, -4], [-1, -3, 2], [-1, -3, -2]] {
        session.add(&clause);
    }
    assert!(!session.solve(&[]));
    for gap in 0..session.log.steps.len() {
        let mut checker = checker(4, &[]);
        let mut last = 0;
        for (number, step) in session.log.steps.iter().enumerate() {
            match step {
                _ if number == gap => last = checker.derive(&[4], &[]),
                Step::Add(clause) => last = checker.add(clause),
                Step::Derive(clause, hints) => last = checker.derive(clause, hints),
                Step::Delete(_) => {}
            }
        }
        assert!(!checker.refutes(last, &[]), "step {gap}");
    }
}

/// More pigeons than holes: enough conflicts for restarts, and for clauses that are dropped.
#[test]
fn long_proofs_check() {
    let (pigeons, holes) = (8, 7);
    let mut session = Session::new(pigeons * holes);
    let lit = |pigeon: usize, hole: usize| (pigeon * holes + hole + 1) as i32;
    for pigeon in 0..pigeons {
        session.add(&(0..holes).map(|hole| lit(pigeon, hole)).collect::<Vec<_>>());
    }
    for hole in 0..holes {
        for pigeon in 0..pigeons {
            (0..pigeon).for_each(|other| session.add(&[-lit(pigeon, hole), -lit(other, hole)]));
        }
    }
    assert!(!session.solve(&[]));
    assert!(session.log.steps.iter().any(|step| matches!(step, Step::Delete(_))), "no clause was dropped");
}

/// Questions near the threshold, with assumptions, asked one after the other.
#[test]
fn hard_questions_are_proved() {
    let mut random = Random(99);
    let mut n_answers = [0; 2];
    for _ in 0..20 {
        let mut session = Session::new(80);
        (0..300).for_each(|_| session.add(&random.lits(80, 3)));
        for _ in 0..10 {
            (0..6).for_each(|_| session.add(&random.lits(80, 3)));
            let assumptions = random.lits(80, 3);
            n_answers[usize::from(session.solve(&assumptions))] += 1;
        }
    }
    assert!(n_answers.iter().all(|count| *count > 20), "{n_answers:?}");
}

#[test]
fn the_search_can_be_stopped() {
    let mut session = Session::new(200);
    let mut random = Random(5);
    (0..900).for_each(|_| session.add(&random.lits(200, 3)));
    let mut n_calls = 0;
    let stop = || {
        n_calls += 1;
        if n_calls > 3 { Err("enough") } else { Ok(()) }
    };
    assert_eq!(session.solver.solve(&[], &mut session.log, stop), Err("enough"));
    session.add(&[1]);
    session.add(&[-1]);
    assert!(!session.solve(&[2, 3]));
}

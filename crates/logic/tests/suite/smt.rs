//! The SMT façade against evaluation by hand, and with solvers that fail.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use selvedge_logic::smt::{Dialect, Interrupted, Node, Program, Smt, SmtError, SmtValue, Sort, Symbol, Term};

/// Never stops the solver.
fn on() -> Result<(), ()> {
    Ok(())
}

fn z3() -> Program {
    let path = std::env::var_os("PATH");
    let folders = path.iter().flat_map(std::env::split_paths).collect::<Vec<PathBuf>>();
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(".tools/z3/bin"));
    let path = folders.into_iter().chain(above).map(|folder| folder.join("z3")).find(|path| path.is_file());
    let path = path.expect("z3 is needed: run ./setup, which installs it into .tools/");
    Program { path, dialect: Dialect::Z3, memory: Some(2000), work: None }
}

fn int(name: &str) -> (Symbol, Term) {
    let symbol = Symbol::new(name, Sort::Int);
    (symbol.clone(), symbol.into())
}

fn number(value: i64) -> Term {
    value.into()
}

/// The value of a term, which must have one.
fn eval(term: &Term, values: &BTreeMap<Symbol, i128>) -> i128 {
    let of = |part: &Term| eval(part, values);
    match term.head() {
        Node::Bool(value) => i128::from(*value),
        Node::Int(value) => *value,
        Node::Symbol(symbol) => values[symbol],
        Node::Not(part) => 1 - of(part),
        Node::And(parts) => parts.iter().map(of).min().unwrap_or(1),
        Node::Or(parts) => parts.iter().map(of).max().unwrap_or(0),
        Node::Eq(left, right) => i128::from(of(left) == of(right)),
        Node::Le(left, right) => i128::from(of(left) <= of(right)),
        Node::Lt(left, right) => i128::from(of(left) < of(right)),
        Node::Divisible(divisor, part) => i128::from(of(part) % divisor == 0),
        Node::Add(parts) => parts.iter().map(of).sum(),
        Node::Scale(factor, part) => factor * of(part),
        Node::Ite(condition, then, otherwise) => {
            if of(condition) == 1 {
                of(then)
            } else {
                of(otherwise)
            }
        }
    }
}

#[test]
fn levels_are_forgotten_and_assumptions_are_not_kept() {
    let mut smt = Smt::new(z3());
    let (symbol, x) = int("x y");
    smt.declare(&symbol);
    smt.assert(&number(3).lt(&x));
    let small: Term = smt.label(&x.lt(&number(5))).into();
    smt.push();
    smt.assert(&x.equals(&number(3)));
    assert_eq!(smt.is_sat(&[], on), Ok(false));
    smt.pop();
    assert_eq!(smt.is_sat(std::slice::from_ref(&small), on), Ok(true));
    assert_eq!(smt.values(&[x.clone(), small.clone()], on), Ok(vec![SmtValue::Int(4), SmtValue::Bool(true)]));
    assert_eq!(smt.is_sat(&[small.not()], on), Ok(true));
    assert_eq!(smt.questions(), 3);
}

#[test]
fn a_core_has_only_the_assumptions_to_blame() {
    let mut smt = Smt::new(z3());
    let (symbol, x) = int("x");
    smt.declare(&symbol);
    let mut label = |term: Term| Term::from(smt.label(&term));
    let (low, even, high) = (label(x.lt(&number(0))), label(x.divisible(2)), label(number(7).le(&x)));
    let all = [low.clone(), even, high.not().not()];
    assert_eq!(smt.is_sat(&all, on), Ok(false));
    let mut core = smt.core(&all, on).expect("there is a core");
    core.sort();
    let mut expected = vec![low, high];
    expected.sort();
    assert_eq!(core, expected);
}

#[test]
fn all_solutions_are_those_of_a_box() {
    let mut smt = Smt::new(z3());
    let ((a, x), (b, y)) = (int("x"), int("y"));
    smt.declare(&a);
    smt.declare(&b);
    let within = |term: &Term| Term::and([number(-4).le(term), term.le(&number(4))]);
    let context = Term::and([within(&x), within(&y), x.scale(2).lt(&y)]);
    smt.assert(&context);
    let predicates =
        [x.lt(&y), x.divisible(3), x.equals(&y.scale(-1)), Term::add([x.clone(), y.clone()]).le(&number(1))];
    let found = smt.all_solutions(&predicates, on).expect("z3 answers");
    let mut expected = Vec::new();
    for (one, other) in (-4..=4).flat_map(|one| (-4..=4).map(move |other| (one, other))) {
        let values = BTreeMap::from([(a.clone(), one), (b.clone(), other)]);
        if eval(&context, &values) == 1 {
            expected.push(predicates.iter().map(|predicate| eval(predicate, &values) == 1).collect::<Vec<_>>());
        }
    }
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(found, expected);
    assert_eq!(smt.is_sat(&[], on), Ok(true));
}

#[test]
fn elimination_keeps_the_meaning() {
    let mut smt = Smt::new(z3());
    let ((a, x), (b, y), (bound, c)) = (int("x"), int("y"), int("c"));
    let bodies = [
        Term::and([x.lt(&c.scale(2)), c.scale(3).le(&Term::add([y.clone(), number(5)]))]),
        Term::and([x.equals(&c.scale(2)), c.scale(3).le(&y)]),
        Term::and([Term::add([x.clone(), c.clone()]).divisible(3), c.divisible(2), x.le(&c), c.le(&y)]),
        Term::or([c.equals(&x).not(), Term::ite(&c.lt(&y), &x, &c).equals(&y)]),
        Term::and([x.equals(&c).not(), y.le(&c), c.le(&Term::add([y.clone(), number(1)])), c.scale(2).lt(&x)]),
    ];
    for body in bodies {
        let found = smt.eliminate(std::slice::from_ref(&bound), &body, on).expect("z3 eliminates");
        assert!(!found.symbols().contains(&bound), "{found}");
        for (one, other) in (-6..=6).flat_map(|one| (-6..=6).map(move |other| (one, other))) {
            let at = |value: i128| BTreeMap::from([(a.clone(), one), (b.clone(), other), (bound.clone(), value)]);
            let expected = (-40..=40).any(|value| eval(&body, &at(value)) == 1);
            assert_eq!(eval(&found, &at(0)) == 1, expected, "x = {one}, y = {other} in {body}");
        }
    }
}

#[test]
fn whoever_says_stop_gets_it_at_once_and_may_ask_again() {
    let mut smt = Smt::new(z3());
    let (symbol, x) = int("x");
    smt.declare(&symbol);
    smt.assert(&x.lt(&number(0)));
    assert_eq!(smt.is_sat(&[], || Err("enough")), Err(Interrupted::Caller("enough")));
    assert_eq!(smt.is_sat(&[], on), Ok(true));
}

#[test]
fn an_ill_typed_command_is_no_answer() {
    let mut smt = Smt::new(z3());
    smt.assert(&int("nobody").1.le(&number(0)));
    let answer = smt.is_sat(&[], on);
    assert!(matches!(answer, Err(Interrupted::Solver(SmtError::Rejected(_)))), "{answer:?}");
}

#[test]
fn work_is_counted_by_the_question_and_in_sum() {
    let (symbol, x) = int("x");
    let ask = |work: u64, questions: usize| {
        let mut smt = Smt::new(Program { work: Some(work), ..z3() });
        smt.declare(&symbol);
        let mut answers = (0..questions as i64).map(|value| {
            smt.assert(&x.equals(&number(value)).not());
            smt.is_sat(&[], on)
        });
        answers.find(|answer| *answer != Ok(true))
    };
    let exhausted = Some(Err(Interrupted::Solver(SmtError::Exhausted)));
    assert_eq!(ask(1_000_000, 50), None);
    assert_eq!(ask(1, 1), exhausted);
    // Each of them is easy.
    assert_eq!(ask(1_000, 1), None);
    assert_eq!(ask(1_000, 1_000), exhausted);
}

#[test]
fn an_elimination_that_is_cut_off_is_no_answer() {
    let [(x_name, x), (y_name, y), (z_name, z)] = ["x", "y", "z"].map(int);
    let body = Term::and([z.le(&x), y.le(&z.scale(2))]);
    let eliminate = |work: u64| {
        let mut smt = Smt::new(Program { work: Some(work), ..z3() });
        [&x_name, &y_name].into_iter().for_each(|symbol| smt.declare(symbol));
        smt.eliminate(std::slice::from_ref(&z_name), &body, on)
    };
    for work in [1, 10, 100] {
        assert_eq!(eliminate(work), Err(Interrupted::Solver(SmtError::Exhausted)), "{work}");
    }
    assert!(eliminate(1_000_000).is_ok_and(|term| !term.symbols().contains(&z_name)));
}

#[test]
fn a_missing_solver_is_said_to_be_missing() {
    let mut smt = Smt::new(Program { path: "/nowhere/z3".into(), dialect: Dialect::Z3, memory: None, work: None });
    let answer = smt.is_sat(&[], on);
    assert!(matches!(answer, Err(Interrupted::Solver(SmtError::NotStarted(_)))), "{answer:?}");
}

#[cfg(unix)]
mod failing {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A solver made of a few lines of shell, in a folder of its own.
    fn fake(name: &str, script: &str) -> Program {
        let folder = std::env::temp_dir().join(format!("selvedge-smt-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let path = folder.join("solver");
        std::fs::write(&path, format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.display())).expect("it can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be made executable");
        Program { path, dialect: Dialect::Z3, memory: None, work: None }
    }

    fn answer(name: &str, script: &str) -> Result<bool, Interrupted<()>> {
        let program = fake(name, script);
        let folder = program.path.parent().expect("it has a folder").to_path_buf();
        let mut answer = Smt::new(program.clone()).is_sat(&[], on);
        // While another test starts a process, that one may hold the file open for writing for a moment.
        while matches!(&answer, Err(Interrupted::Solver(SmtError::NotStarted(reason))) if reason.contains("busy")) {
            answer = Smt::new(program.clone()).is_sat(&[], on);
        }
        std::fs::remove_dir_all(folder).expect("the folder can be removed");
        answer
    }

    #[test]
    fn a_solver_that_dies_once_is_started_again() {
        let script = "[ -f once ] || { touch once; exit 1; }\n\
         while read line; do case $line in *check*) echo unsat;; esac; done";
        assert_eq!(answer("once", script), Ok(false));
    }

    #[test]
    fn a_solver_that_always_dies_gives_no_answer() {
        assert_eq!(answer("always", "exit 1"), Err(Interrupted::Solver(SmtError::Died)));
        assert_eq!(answer("half", "printf '(sat'; exit 0"), Err(Interrupted::Solver(SmtError::Died)));
        assert_eq!(answer("unfinished", "printf unsat; exit 0"), Err(Interrupted::Solver(SmtError::Died)));
    }

    #[test]
    fn nonsense_and_errors_are_no_answers() {
        let words = |text: &str| format!("read line; echo '{text}'; sleep 1");
        assert!(matches!(answer("error", &words("(error \"sat\")")), Err(Interrupted::Solver(SmtError::Rejected(_)))));
        assert!(matches!(answer("words", &words("satisfiable")), Err(Interrupted::Solver(SmtError::Strange(_)))));
        assert_eq!(answer("unknown", &words("unknown")), Err(Interrupted::Solver(SmtError::Undecided)));
    }

    #[test]
    fn a_solver_that_does_not_answer_is_killed() {
        let program = fake("silent", "exec sleep 1000");
        let folder = program.path.parent().expect("it has a folder").to_path_buf();
        let mut calls = 0;
        let answer = Smt::new(program).is_sat(&[], || {
            calls += 1;
            if calls > 3 { Err("enough") } else { Ok(()) }
        });
        std::fs::remove_dir_all(folder).expect("the folder can be removed");
        assert_eq!(answer, Err(Interrupted::Caller("enough")));
    }
}

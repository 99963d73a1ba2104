//! The engines for integers on small programs, with verdicts known beforehand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selvedge_check::{AbstractModel, Engine, Explanation, Run, Solvers, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::cegar;
use selvedge_engines::horn::Horn;
use selvedge_engines::induction::Induction;
use selvedge_engines::integers::ase::Ase;
use selvedge_engines::integers::ase::picture;
use selvedge_engines::integers::ur::Ur;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, Expr, Op};
use selvedge_replay::{Judged, judge};

pub(super) fn z3() -> Solvers {
    let path = std::env::var_os("PATH");
    let folders = path.iter().flat_map(std::env::split_paths).collect::<Vec<PathBuf>>();
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(".tools/z3/bin"));
    let path = folders.into_iter().chain(above).map(|folder| folder.join("z3")).find(|path| path.is_file());
    let path = path.expect("z3 is needed: run ./setup, which installs it into .tools/");
    Solvers { z3: Some(path.as_path().into()), cvc5: None }
}

/// The verdict in a word, after the judge has seen its evidence.
fn verdict(engine: &dyn Engine, text: &str) -> &'static str {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let run = Run::unlimited().with_solvers(z3());
    engine.supports(&task).expect("the engine takes it");
    match engine.check(&task, &run) {
        Err(Stop::BoundReached(_)) => "open",
        Err(stop) => panic!("{stop}"),
        Ok(verdict) => match judge(&task, &verdict, &run).expect("the judge agrees") {
            Judged::Certified | Judged::ByOneSolver(_) => "accepted",
            Judged::Uncertified | Judged::Unjudged(_) => "safe",
            Judged::Replayed(_) => "unsafe",
        },
    }
}

/// A program with the steps and one assertion at one location.
fn program(vars: &str, init: &str, steps: &[&str], safe: &str) -> String {
    let mut text = format!("shared {vars}\nproc main() from L0 to L2\n  e0 L0 -> L1: assume {init}\n");
    for (number, step) in steps.iter().enumerate() {
        text.push_str(&format!("  e{} L1 -> L1: {step}\n", number + 1));
    }
    let last = steps.len() + 1;
    text.push_str(&format!("  e{last} L1 -> L1: assert {safe}\nstart main\ntarget e{last}\n"));
    text
}

#[test]
fn ase_nondet_exactness() {
    let step = "x := ?0:int, y := y + 1";
    let text = program("x: int, y: int", "x = 1 & y = 0", &[step], "!(2 * x = y)");
    assert_eq!(verdict(&Ase::default(), &text), "unsafe");
    assert_eq!(verdict(&Induction::default(), &text), "unsafe");
}

#[test]
fn ase_nondet_exactness_neighbours() {
    // The choice cannot meet the other side: an odd number is not twice another.
    let odd = program("x: int, y: int", "x = 1 & y = 1", &["x := ?0:int, y := y + 2"], "!(2 * x = y)");
    let ase = Ase { options: selvedge_engines::integers::ase::Options { iterations: 6 } };
    assert!(["accepted", "open"].contains(&verdict(&ase, &odd)));
    // Two choices in one step are two values.
    let twice = program("x: int, y: int", "x = y", &["x := ?0:int, y := ?1:int"], "x = y");
    assert_eq!(verdict(&Ase::default(), &twice), "unsafe");
    let once = program("x: int, y: int", "x = y", &["x := ?0:int, y := ?0:int"], "x = y");
    assert_eq!(verdict(&Ase::default(), &once), "accepted");
    // A choice within bounds.
    let bounded =
        program("x: int, y: int", "x = 0 & y = 5", &["x := ?0:int constrain 0 <= ?0:int & ?0:int < y"], "x < 5");
    assert_eq!(verdict(&Ase::default(), &bounded), "accepted");
    let beyond =
        program("x: int, y: int", "x = 0 & y = 5", &["x := ?0:int constrain 0 <= ?0:int & ?0:int <= y"], "x < 5");
    assert_eq!(verdict(&Ase::default(), &beyond), "unsafe");
}

#[test]
fn an_engine_whose_solver_has_done_its_work_is_interrupted() {
    let text = program("x: int, y: int", "x = y", &["x := ?0:int, y := x + ?0:int"], "x <= y");
    let (program, target) = parse_with_target(&text).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let whole = Run::unlimited().with_solvers(z3());
    let engines: [&dyn Engine; 4] = [&Ase::default(), &Induction::default(), &cegar(Default::default()), &Horn];
    for engine in engines {
        assert!(matches!(engine.check(&task, &whole), Ok(Verdict::Unsafe(_))), "{}", engine.name());
        let part = whole.part().with_solver_work(1);
        assert_eq!(engine.check(&task, &part.run(&())), Err(Stop::PartStopped), "{}", engine.name());
    }
}

/// The abstract model of a program under its own predicates and some more, which are conditions of another program with
/// the same variables.
fn abstract_model(text: &str, more: &[&str]) -> AbstractModel {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    let declarations = text.lines().next().expect("it has lines");
    let condition = |condition: &&str| {
        let text =
            format!("{declarations}\nproc main() from L0 to L2\n  e0 L0 -> L1: assume {condition}\nstart main\n");
        let (program, _) = parse_with_target(&text).expect("the condition is well-formed");
        match &program.edges[EdgeId::new(0)].op {
            Op::Assign(assign) => assign.constrain.clone(),
            other => unreachable!("it is an assumption: {other:?}"),
        }
    };
    let more: Vec<Expr> = more.iter().map(condition).collect();
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    picture::abstract_model(&task, &more, &Run::unlimited().with_solvers(z3())).expect("z3 answers")
}

/// Theorem 4.2.3, for programs with one start and no input, whose visited states can be compared one by one.
#[test]
fn more_predicates_explore_no_fewer_states() {
    let steps = ["x := x + 1 constrain x < 4", "y := y + x constrain y < 5", "x := 0 constrain 3 <= y", "y := y - 1"];
    let text = program("x: int, y: int", "x = 0 & y = 0", &steps, "y < 20");
    let seen = |more: &[&str]| -> BTreeSet<String> {
        let model = abstract_model(&text, more);
        model.visited.iter().map(|(state, formula)| format!("{:?} {formula:?}", model.states[*state].control)).collect()
    };
    let mut before = seen(&[]);
    for more in
        [&["x = 2"][..], &["x = 2", "y = 1"], &["x = 2", "y = 1", "x < y"], &["x = 2", "y = 1", "x < y", "y < 0"]]
    {
        let after = seen(more);
        assert!(before.is_subset(&after), "{more:?}");
        before = after;
    }
}

/// Theorem 4.2.4.
#[test]
fn the_two_checks_are_incomparable() {
    let fragment = abstract_model(&mutex("x := ?0:int, p := 2 constrain p = 3"), &[]);
    assert!(fragment.is_safe_fragment && !fragment.is_inductive);
    // The paper's second example needs its own notion of exactness: edges that lead to both truth values are exact
    // together.
    let paper = abstract_model(&mutex("x := x + 1, p := 2 constrain p = 3"), &["b = 0", "b = 1"]);
    assert!(paper.is_safe_fragment);
    // From x < 3 only x < 3 is seen to be reached by the first step; that x = 3 is possible, too, does not matter,
    // since other steps lead there.
    let text = program("x: int", "x = 0", &["x := x + 1 constrain x < 3", "x := 0", "x := 7"], "!(x = 100)");
    let inductive = abstract_model(&text, &[]);
    assert!(!inductive.is_safe_fragment && inductive.is_inductive);
}

#[test]
fn concrete_states_with_one_table_decide_programs_without_input() {
    let counter = program("x: int", "x = 0", &["x := x + 1"], "!(x = 5)");
    assert_eq!(verdict(&Ur::default(), &counter), "unsafe");
    let bounded = program("x: int", "x = 0", &["x := x + 1 constrain x < 3"], "x <= 3");
    assert_eq!(verdict(&Ur::default(), &bounded), "accepted");
    for (text, reason) in [
        (program("x: int", "0 <= x", &["x := x + 1"], "0 <= x"), "one initial state"),
        (program("x: int", "x = 0", &["x := ?0:int"], "0 <= x"), "without input"),
    ] {
        let (program, target) = parse_with_target(&text).expect("the program is well-formed");
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        let refusal = Ur::default().supports(&task).expect_err("it is not for `ur`");
        assert!(refusal.reason.contains(reason), "{refusal}");
    }
}

/// Fig. 1.1 of the paper.
fn mutex(third: &str) -> String {
    program(
        "p: int, q: int, x: int, y: int, b: int",
        "p = 1 & q = 1 & b = 0",
        &[
            "b := b + 1, p := 2 constrain p = 1",
            "p := 3 constrain p = 2 & x <= y & b = 2",
            third,
            "b := b + 1, q := 2 constrain q = 1",
            "q := 3 constrain q = 2 & !(x <= y) & b = 2",
            "y := ?0:int, q := 2 constrain q = 3",
        ],
        "!(p = 3 & q = 3)",
    )
}

#[test]
fn the_example_of_the_paper_is_safe_in_one_iteration() {
    let (program, target) =
        parse_with_target(&mutex("x := ?0:int, p := 2 constrain p = 3")).expect("it is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let run = Run::unlimited().with_solvers(z3());
    let mut explanation = Explanation::default();
    let verdict = Ase::default().decide(&task, &run, &mut explanation).expect("it is decided");
    assert!(matches!(verdict, Verdict::Safe(Some(_))));
    assert_eq!(judge(&task, &verdict, &run), Ok(Judged::ByOneSolver("z3")));
    let figures = explanation.refinement.expect("the engine tells");
    assert_eq!((figures.iterations, figures.predicates), (1, 2));
}

#[test]
fn the_defective_example_is_unsafe() {
    let text = mutex("x := ?0:int, p := 2 constrain p = 3").replace("!(x <= y)", "x <= y");
    assert_eq!(verdict(&Ase::default(), &text), "unsafe");
    assert_eq!(verdict(&Induction::default(), &text), "unsafe");
}

#[test]
fn a_counter_is_refined_until_the_error() {
    let text = program("x: int", "x = 0", &["x := x + 1"], "!(x = 7)");
    assert_eq!(verdict(&Ase::default(), &text), "unsafe");
    assert_eq!(verdict(&Induction::default(), &text), "unsafe");
}

#[test]
fn proofs_by_induction_have_certificates() {
    let text = program("x: int, y: int", "x = y", &["x := x + 1, y := y + 1", "x := y"], "x = y");
    assert_eq!(verdict(&Induction::default(), &text), "accepted");
    let later = program("x: int, y: int", "x = 0 & y = 0", &["x := y", "y := 0 constrain x = 0"], "x = 0");
    assert_eq!(verdict(&Induction::default(), &later), "accepted");
    // Only 4 leads to 5, and nothing leads to 4: two states are needed to see that.
    let ring = ["x := 2 constrain x = 1", "x := 3 constrain x = 2", "x := 1 constrain x = 3", "x := 5 constrain x = 4"];
    let text = program("x: int", "x = 1", &ring, "!(x = 5)");
    assert_eq!(verdict(&Induction::default(), &text), "accepted");
}

#[test]
fn without_a_solver_it_says_so() {
    let (program, target) = parse_with_target(&program("x: int", "x = 0", &["x := x + 1"], "x = 0")).expect("fine");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    for engine in [&Ase::default() as &dyn Engine, &Induction::default()] {
        assert_eq!(engine.check(&task, &Run::unlimited()), Err(Stop::NoSolver));
    }
}

#[test]
fn engines_for_boolean_programs_refuse_integers() {
    use selvedge_engines::{EngineKind, EngineOptions, build};
    let (program, target) = parse_with_target(&program("x: int", "x = 0", &["x := x + 1"], "x = 0")).expect("fine");
    let boolean = [
        EngineKind::Summaries,
        EngineKind::Sat,
        EngineKind::Pushdown,
        EngineKind::Bmc,
        EngineKind::Threads,
        EngineKind::ThreadsExplicit,
        EngineKind::ThreadsPlain,
        EngineKind::ViewsExplicit,
        EngineKind::Backward,
        EngineKind::KarpMillerExplicit,
        EngineKind::Directed,
        EngineKind::Cutoff,
        EngineKind::Views,
        EngineKind::KarpMiller,
        EngineKind::Contexts,
        EngineKind::ContextsEager,
        EngineKind::Exhaustive,
    ];
    for threads in [ThreadScope::Unbounded, ThreadScope::AtMost(1)] {
        let task = Task { program: &program, target: &target, threads };
        for kind in boolean {
            assert!(build(kind, &EngineOptions::default()).supports(&task).is_err(), "{}", kind.name());
        }
    }
}

//! The engines for integers on small programs, with verdicts known beforehand.

use std::path::{Path, PathBuf};

use selvedge_check::{Engine, Run, Solvers, Stop, Task, ThreadScope, Verdict};
use selvedge_engines::induction::Induction;
use selvedge_engines::integers::ase::Ase;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::{Judged, judge};

fn z3() -> Solvers {
    let path = std::env::var_os("PATH");
    let folders = path.iter().flat_map(std::env::split_paths).collect::<Vec<PathBuf>>();
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(".tools/z3/bin"));
    let path = folders.into_iter().chain(above).map(|folder| folder.join("z3")).find(|path| path.is_file());
    let path = path.expect("z3 is needed: run ./test, which installs it into .tools/");
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
            Judged::Certified => "certified",
            Judged::Uncertified => "safe",
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
    assert!(["certified", "open"].contains(&verdict(&ase, &odd)));
    // Two choices in one step are two values.
    let twice = program("x: int, y: int", "x = y", &["x := ?0:int, y := ?1:int"], "x = y");
    assert_eq!(verdict(&Ase::default(), &twice), "unsafe");
    let once = program("x: int, y: int", "x = y", &["x := ?0:int, y := ?0:int"], "x = y");
    assert_eq!(verdict(&Ase::default(), &once), "certified");
    // A choice within bounds.
    let bounded =
        program("x: int, y: int", "x = 0 & y = 5", &["x := ?0:int constrain 0 <= ?0:int & ?0:int < y"], "x < 5");
    assert_eq!(verdict(&Ase::default(), &bounded), "certified");
    let beyond =
        program("x: int, y: int", "x = 0 & y = 5", &["x := ?0:int constrain 0 <= ?0:int & ?0:int <= y"], "x < 5");
    assert_eq!(verdict(&Ase::default(), &beyond), "unsafe");
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
    let verdict = Ase::default().check(&task, &run).expect("it is decided");
    assert!(matches!(verdict, Verdict::Safe(Some(_))));
    assert_eq!(judge(&task, &verdict, &run), Ok(Judged::Certified));
    let figures = run.take_refinement().expect("the engine tells");
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
fn an_invariant_of_one_step_has_a_certificate() {
    let text = program("x: int, y: int", "x = y", &["x := x + 1, y := y + 1", "x := y"], "x = y");
    assert_eq!(verdict(&Induction::default(), &text), "certified");
    let later = program("x: int, y: int", "x = 0 & y = 0", &["x := y", "y := 0 constrain x = 0"], "x = 0");
    assert_eq!(verdict(&Induction::default(), &later), "safe");
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

//! Threads at several labels at once: mutual exclusion, and the effect of the passes on it.

use selvedge_check::{Outcome, Question, Subject, Task};
use selvedge_driver::{Options, Pass, check};
use selvedge_engines::EngineKind;
use selvedge_ir::{LocId, Program, Target};
use selvedge_replay::Violation;
use selvedge_testkit::differ::{NamedPass, compare_passes, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Answer, Budget, ask};
use selvedge_testkit::rng::Rng;

/// A lock that is taken by a test and a set; `TAKE` is replaced by the statements.
const LOCK: &str = "
    decl lock := 0;
    void main() begin
      start_thread worker;
      start_thread worker;
      worker();
    end
    void worker() begin
      TAKE
      IN: skip;
      OUT: lock := 0;
    end
";

fn outcome(text: &str, threads: u32, together: &[&str]) -> Outcome {
    let loaded = selvedge_frontend::bp::load(text, &Default::default());
    let program = loaded.program.expect("the program has no errors");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let question = Question {
        threads: Some(threads),
        together: together.iter().map(ToString::to_string).collect(),
        ..Question::default()
    };
    let options = Options { question, engine: Some(EngineKind::Exhaustive.row()), ..Options::default() };
    check(subject, &options, &selvedge_check::Run::unlimited()).expect("the question fits").outcome
}

/// Returns the number of threads that meet; `None` if none do.
fn meeting(text: &str, threads: u32, together: &[&str]) -> Option<usize> {
    match outcome(text, threads, together) {
        Outcome::Safe(_) => None,
        Outcome::Unsafe(counterexample) => match &counterexample.replay.violation {
            Violation::Together(stands) => Some(stands.len()),
            Violation::Location { .. } => Some(1),
            violation => unreachable!("only meetings were asked for: {violation:?}"),
        },
        Outcome::Unknown(reason) => unreachable!("exhaustive decides small programs: {reason:?}"),
    }
}

#[test]
fn an_atomic_lock_keeps_two_threads_from_one_label() {
    let atomic = LOCK.replace("TAKE", "lock := 1 constrain !lock;");
    assert_eq!(meeting(&atomic, 3, &["IN", "IN"]), None);
    assert_eq!(meeting(&atomic, 3, &["IN", "OUT"]), None);
    assert_eq!(meeting(&atomic, 3, &["IN"]), Some(1));
}

#[test]
fn a_lock_in_two_steps_lets_as_many_in_as_there_are() {
    let broken = LOCK.replace("TAKE", "assume(!lock); lock := 1;");
    assert_eq!(meeting(&broken, 1, &["IN", "IN"]), None);
    assert_eq!(meeting(&broken, 2, &["IN", "IN"]), Some(2));
    assert_eq!(meeting(&broken, 2, &["IN", "OUT"]), Some(2));
    assert_eq!(meeting(&broken, 2, &["IN", "IN", "IN"]), None);
    assert_eq!(meeting(&broken, 3, &["IN", "IN", "OUT"]), Some(3));
}

#[test]
fn a_label_of_two_procedures_means_either() {
    let text = "
        void main() begin start_thread a; start_thread b; end
        void a() begin HERE: skip; end
        void b() begin HERE: skip; THERE: skip; end
    ";
    assert_eq!(meeting(text, 3, &["HERE", "HERE"]), Some(2));
    assert_eq!(meeting(text, 3, &["HERE", "THERE"]), Some(2));
    assert_eq!(meeting(text, 3, &["THERE", "THERE"]), None);
}

#[test]
fn a_label_that_nobody_has_is_refused() {
    let loaded = selvedge_frontend::bp::load("void main() begin A: skip; end", &Default::default());
    let program = loaded.program.expect("the program has no errors");
    let subject = Subject { program: &program, map: &loaded.source_map, text: "" };
    let question = Question { together: vec!["A".to_string(), "B".to_string()], ..Question::default() };
    assert!(question.pose(subject).unwrap_err().message.contains("`B`"));
}

/// Picks a target of one or two meetings of two or three locations.
fn random_target(program: &Program, rng: &mut Rng) -> Target {
    let stands: Vec<LocId> = program
        .locs
        .iter_enumerated()
        .filter(|(id, loc)| program.procs[loc.proc].exit != *id)
        .map(|(id, _)| id)
        .collect();
    let n_meetings = rng.between(1, 2);
    let meeting = |rng: &mut Rng| (0..rng.between(2, 3)).map(|_| stands[rng.below(stands.len())]).collect();
    Target::default().with_together((0..n_meetings).map(|_| meeting(rng)).collect::<Vec<_>>())
}

#[test]
fn passes_keep_meetings() {
    let budget = Budget::states(4_000);
    let runs: Vec<_> =
        Pass::ALL.iter().map(|pass| |program: &Program, target: &Target| pass.run(program, target)).collect();
    let passes: Vec<NamedPass<'_>> = Pass::ALL.iter().zip(&runs).map(|(pass, run)| (pass.name(), run as _)).collect();
    let (mut n_safe, mut n_unsafe) = (0, 0);
    for number in 0..150 {
        let model = generate(number, &Weights::threads());
        let posed = pose(&model).expect("generated programs are read");
        let target = random_target(&posed.asked, &mut Rng::new(number));
        let task = Task { target: &target, ..posed.task() };
        let answer = ask(&task, budget);
        match answer {
            Answer::Safe => n_safe += 1,
            Answer::Unsafe(_) => n_unsafe += 1,
            Answer::Deep | Answer::Large => continue,
        }
        for pass in &passes {
            let compared = compare_passes(&task, &[*pass], &answer, budget);
            assert!(compared.is_ok(), "{}: {}\n{:?}\n{model}", pass.0, compared.unwrap_err(), target.together);
        }
        let compared = compare_passes(&task, &passes, &answer, budget);
        assert!(compared.is_ok(), "{}\n{:?}\n{model}", compared.unwrap_err(), target.together);
    }
    assert!(n_safe > 30 && n_unsafe > 30, "{n_safe} safe, {n_unsafe} unsafe");
}

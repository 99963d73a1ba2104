//! Deadlocks: known programs, the passes, and all engines that look for them on generated programs.

use selvedge_check::{Certificate, Outcome, Question, Run, Stop, Subject, Target, Task, ThreadScope};
use selvedge_driver::{Options, Pass, check};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_replay::Violation;
use selvedge_testkit::deadlock::DEADLOCKS;
use selvedge_testkit::harness::sample;
use selvedge_testkit::oracle::Budget;

fn outcome(text: &str, threads: Option<u32>) -> Outcome {
    let loaded = selvedge_frontend::bp::load(text, &Default::default());
    let program = loaded.program.expect("the program has no errors");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let question = Question { threads, deadlock: true, ..Question::default() };
    let options = Options { question, jobs: 1, ..Options::default() };
    check(subject, &options, &Run::unlimited()).expect("the question fits").outcome
}

/// Returns the number of threads that wait; `None` if there is no deadlock, which is certified.
fn waiting(text: &str, threads: Option<u32>) -> Option<usize> {
    match outcome(text, threads) {
        Outcome::Safe(certificate) => {
            assert_eq!(certificate, Some(Certificate::AllStates), "{text}");
            None
        }
        Outcome::Unsafe(found) => match &found.replay.violation {
            Violation::Deadlock(waiting) => Some(waiting.len()),
            violation => panic!("deadlocks were asked for: {violation:?}"),
        },
        Outcome::Unknown(reason) => panic!("the program is small: {reason}\n{text}"),
    }
}

#[test]
fn engines_agree_about_deadlocks_of_generated_programs() {
    let tally = sample(DEADLOCKS.within(Budget::states(1_000).tight()), 1, 0, 300);
    assert!(tally["safe"] > 30 && tally["unsafe"] > 30 && tally["certified"] > 30, "{tally}");
}

#[test]
fn a_thread_alone_waits_for_ever() {
    assert_eq!(waiting("decl x := 0; void main() begin assume(x); end", None), Some(1));
    assert_eq!(waiting("decl x := 0; void main() begin x := 1; assume(x); end", None), None);
    assert_eq!(waiting("void main() begin L: goto L; end", None), None);
}

#[test]
fn threads_that_have_ended_do_not_wait() {
    let text = "decl x := 0; void main() begin start_thread other; x := 1; end void other() begin assume(x); end";
    assert_eq!(waiting(text, Some(2)), None);
    assert_eq!(waiting(&text.replace("x := 1;", "skip;"), Some(2)), Some(1));
}

#[test]
fn a_choice_that_goes_on_is_enough() {
    assert_eq!(waiting("decl x := 0; void main() begin assume(x | *); end", None), None);
    assert_eq!(waiting("decl x := 0; void main() begin x := * constrain ('x != x) & !'x; end", None), Some(1));
}

#[test]
fn the_holder_of_the_atomic_flag_stops_all_others() {
    let text = "decl x := 0; void main() begin start_thread other; atomic_begin; assume(x); atomic_end; end
        void other() begin x := 1; end";
    assert_eq!(waiting(text, Some(2)), Some(2));
    assert_eq!(waiting(&text.replace("atomic_begin;", "").replace("atomic_end;", ""), Some(2)), None);
}

#[test]
fn a_step_against_an_enforce_clause_does_not_exist() {
    let text = "decl a := 1; void main() begin enforce a; a := f(); end bool f() begin return NEW; end";
    assert_eq!(waiting(&text.replace("NEW", "0"), None), Some(1));
    assert_eq!(waiting(&text.replace("NEW", "*"), None), None);
    // The thread waits at the beginning until the other one makes the clause true.
    let entry = "decl a := 0; void main() begin start_thread other; f(); end
        void f() begin enforce a; skip; end void other() begin a := NEW; end";
    assert_eq!(waiting(&entry.replace("NEW", "1"), Some(2)), None);
    assert_eq!(waiting(&entry.replace("NEW", "0"), Some(2)), Some(1));
}

#[test]
fn a_failed_assertion_is_no_deadlock() {
    assert_eq!(waiting("decl x := 0; void main() begin assert(x); end", None), None);
}

#[test]
fn a_start_at_the_limit_of_threads_does_nothing() {
    let text = "decl x := 0; void main() begin start_thread other; assume(x); end void other() begin x := 1; end";
    assert_eq!((waiting(text, Some(1)), waiting(text, Some(2))), (Some(1), None));
}

#[test]
fn any_number_of_threads_is_searched_for_a_deadlock_and_never_called_safe() {
    let lock = "decl lock := 0; process w begin void main() begin lock := 1 constrain !lock; RELEASE end end";
    assert!(matches!(outcome(&lock.replace("RELEASE", "skip;"), None), Outcome::Unsafe(_)));
    let open = outcome(&lock.replace("RELEASE", "lock := 0;"), None);
    let is_open = |stop: &Stop| matches!(stop, Stop::BoundReached(selvedge_check::Bound::DeadlockThreads(_)));
    assert!(matches!(&open, Outcome::Unknown(selvedge_check::Reason::Stop(stop)) if is_open(stop)), "{open:?}");
    assert_eq!(waiting(&lock.replace("RELEASE", "lock := 0;"), Some(3)), None);
}

/// A deadlock with few threads that one more thread undoes is one with few threads only.
#[test]
fn one_more_thread_may_free_the_others() {
    let text = "decl a := 0; void main() begin start_thread f; start_thread g; end
        void f() begin assume(a); end void g() begin a := 1; end";
    assert_eq!((waiting(text, Some(2)), waiting(text, None)), (Some(1), None));
}

#[test]
fn engines_that_do_not_look_for_deadlocks_refuse() {
    let loaded = selvedge_frontend::bp::load("decl x := 0; void main() begin assume(x); end", &Default::default());
    let program = loaded.program.expect("the program has no errors");
    let target = Target::default().with_deadlock(true);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let mut options = EngineOptions::default();
    options.contexts.bound = Some(selvedge_check::ContextBound::exactly(2));
    let takers: Vec<&str> = EngineKind::ALL
        .iter()
        .filter(|kind| build(**kind, &options).supports(&task).is_ok())
        .map(|kind| kind.name())
        .collect();
    assert_eq!(takers, ["exhaustive"]);
}

#[test]
fn only_passes_that_keep_every_step_keep_deadlocks() {
    let keeping: Vec<&str> = Pass::ALL.iter().filter(|pass| pass.keeps_deadlocks()).map(|pass| pass.name()).collect();
    assert_eq!(keeping, ["inline"]);
}

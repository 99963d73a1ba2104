//! Executions that are minimized stay executions, and reach known minima.

use selvedge_check::{Counterexample, Outcome, Question, Run, Subject, Task};
use selvedge_driver::{Minimize, Options, Pass, check};
use selvedge_engines::EngineKind;
use selvedge_replay::replay;
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Budget, within};

fn found(text: &str, threads: u32, minimize: Minimize) -> Counterexample {
    let loaded = selvedge_frontend::bp::load(text, &Default::default());
    let program = loaded.program.expect("the program has no errors");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let question = Question { threads: Some(threads), ..Question::default() };
    // The program as it is: passes would shorten the execution first.
    let passes = Some(Vec::<Pass>::new());
    let engine = Some(EngineKind::Exhaustive.row());
    let options = Options { question, engine, passes, minimize, ..Options::default() };
    match check(subject, &options, &Run::unlimited()).expect("the question fits").outcome {
        Outcome::Unsafe(found) => *found,
        other => unreachable!("the program is unsafe: {other:?}"),
    }
}

fn switches(found: &Counterexample) -> usize {
    found.trace.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

/// The other threads do not contribute to the error.
#[test]
fn threads_that_do_not_help_are_left_out() {
    let text = "
        decl a, b;
        void main() begin
          start_thread idle;
          a := 1;
          b := a;
          assert(!b);
        end
        void idle() begin skip; skip; end
    ";
    let small = found(text, 3, Minimize::Yes);
    assert_eq!((switches(&small), small.trace.steps.len()), (0, 4));
}

/// The steps of `init` come first in any order, and the threads that start after it keep their roles.
#[test]
fn threads_behind_a_prelude_are_brought_together() {
    let text = "
        decl a, b;
        void init() begin a := 0; b := 0; end
        void thread0() begin skip; a := 1; skip; end
        void thread1() begin skip; skip; assume(a); assert(b); end
    ";
    let small = found(text, 2, Minimize::Yes);
    assert_eq!((switches(&small), small.trace.steps.len()), (2, 9));
}

/// The shortest way to an error needs a second thread, a longer one does not.
#[test]
fn an_error_that_needs_fewer_threads_is_preferred() {
    let lone = "
        decl go := 0;
        void main() begin
          if * then start_thread other; assume(go); assert(0); fi;
          skip; skip; skip; skip; skip; skip; skip; skip;
          assert(0);
        end
        void other() begin go := 1; end
    ";
    let created = |found: &Counterexample| found.replay.states.last().expect("there are steps").next_thread;
    assert_eq!(created(&found(lone, 2, Minimize::No)), 2);
    assert_eq!(created(&found(lone, 2, Minimize::Yes)), 1);
}

/// One thread must see the other's write: one switch there and one back.
#[test]
fn two_switches_are_enough_where_two_are_needed() {
    let text = "
        decl a := 0, b := 0;
        void main() begin
          start_thread other;
          a := 1;
          assume(b);
          skip;
          assert(0);
        end
        void other() begin skip; assume(a); skip; b := 1; end
    ";
    let small = found(text, 2, Minimize::Yes);
    assert_eq!(switches(&small), 2);
    assert!(small.trace.steps.len() <= found(text, 2, Minimize::No).trace.steps.len());
}

#[test]
fn values_that_do_not_matter_are_marked_and_others_are_not() {
    let text = "
        decl matters, idle;
        void main() begin
          idle := *;
          matters := *;
          assert(!matters);
        end
    ";
    let small = found(text, 1, Minimize::Yes);
    assert_eq!(small.irrelevant.choices.iter().copied().collect::<Vec<_>>(), [(0, 0)]);
    assert_eq!(small.irrelevant.shared.len(), 2, "both are assigned before they are read");
    assert!(found(text, 1, Minimize::No).irrelevant.choices.is_empty());
}

#[test]
fn smaller_executions_are_executions() {
    let (mut n_unsafe, mut n_smaller) = (0, 0);
    for number in 0..120 {
        let model = generate(number, &Weights::threads());
        let posed = pose(&model).expect("generated programs are read");
        let ask = |minimize| {
            let options = Options {
                question: model.question.clone(),
                engine: Some(EngineKind::Exhaustive.row()),
                minimize,
                ..Options::default()
            };
            within(Budget::states(3_000), |run| check(posed.subject(), &options, run))
        };
        let (Ok(small), Ok(plain)) = (ask(Minimize::Yes), ask(Minimize::No)) else { continue };
        let (Outcome::Unsafe(small), Outcome::Unsafe(plain)) = (small.outcome, plain.outcome) else { continue };
        n_unsafe += 1;
        let task: Task<'_> = posed.task();
        assert_eq!(replay(&task, &small.trace).as_ref(), Ok(&small.replay), "{model}");
        let threads = |found: &Counterexample| found.replay.states.last().map_or(0, |state| state.next_thread);
        let cost = |found: &Counterexample| (threads(found), switches(found), found.trace.steps.len());
        assert!(cost(&small) <= cost(&plain), "{model}");
        n_smaller += usize::from(cost(&small) < cost(&plain));
    }
    assert!(n_unsafe > 25 && n_smaller > 0, "{n_unsafe} unsafe, {n_smaller} of them made smaller");
}

//! Threads that take turns: the engines with a bound on contexts compared with a search in turns, and the errata of the
//! paper.

use selvedge_check::{Bound, ContextBound, Explanation, Run, Solvers, Stop, Verdict};
use selvedge_driver::external::find_solvers;
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_replay::judge;
use selvedge_testkit::contexts::numbers::NumbersInTurns;
use selvedge_testkit::contexts::search::search;
use selvedge_testkit::contexts::{IN_TURNS, LAST, contexts_of, posed};
use selvedge_testkit::harness::sample;
use selvedge_testkit::oracle::Budget;

/// Returns the least number of contexts up to 4 with an error, by each engine and by the oracle.
fn least(text: &str) -> Option<u32> {
    let posed = posed(text, None);
    let task = posed.task();
    let oracle = search(&task, LAST, Budget::default()).expect("the program is small");
    for kind in EngineKind::ALL.iter().filter(|kind| kind.name().starts_with("contexts")) {
        let mut options = EngineOptions::default();
        options.contexts.bound = Some(ContextBound { first: 1, last: LAST });
        let (run, mut explanation) = (Run::unlimited(), Explanation::default());
        let found = match build(*kind, &options).decide(&task, &run, &mut explanation) {
            Ok(verdict @ Verdict::Unsafe(_)) => {
                judge(&task, &verdict, &run).expect("the execution replays");
                explanation.contexts.and_then(|contexts| contexts.error)
            }
            Ok(Verdict::Safe(_)) => panic!("`{}` cannot know that", kind.name()),
            Err(stop) => {
                assert_eq!(stop, Stop::BoundReached(Bound::Contexts(LAST)));
                None
            }
        };
        assert_eq!(found, oracle.error, "{}", kind.name());
    }
    oracle.error
}

#[test]
fn generated_programs_have_one_answer_in_turns() {
    let budget = Budget { states: 4_000, frames: 5, ..Budget::default() };
    let tally = sample(IN_TURNS.within(budget), 11, 0, 60);
    assert!(tally["unsafe"] > 10 && tally["safe"] > 10, "{tally}");
}

#[test]
fn engines_for_one_thread_agree_on_threads_with_numbers_in_turns() {
    let tally = sample(NumbersInTurns { solvers: find_solvers(&Solvers::default()) }, 5, 0, 40);
    assert!(tally["unsafe"] > 5 && tally["safe"] > 5, "{tally}");
    let n_proved = tally["horn: proved"] + tally["invariants: proved"] + tally["summaries: proved"];
    assert!(tally["bmc: unsafe"] > 3 && tally["auto: unsafe"] > 3 && n_proved > 2, "{tally}");
}

/// The first thread does nothing in its first context, which the paper's figure does not allow.
#[test]
fn fig1_idle_context() {
    let text = "decl x := F;
        void thread0() begin assume(x); assert(F); end
        void thread1() begin x := T; end";
    assert_eq!(least(text), Some(2));
}

/// Under the guess that the other thread sets x, which it never does, the assertion fails.
#[test]
fn eager_infeasible_guess() {
    let text = "decl x := F; decl y := F;
        void thread0() begin assert(!x); y := T; assert(!x); end
        void thread1() begin if (y) then skip; fi; end";
    assert_eq!(least(text), None);
}

/// A summary of `f` from a context in which the other thread has changed g must not be used where it cannot have
/// changed it.
#[test]
fn lazy_summary_context() {
    let text = "decl g := F; decl h := F;
        void f() begin skip; end
        void thread0() begin h := g; g := F; f(); assert(g = h); end
        void thread1() begin skip; end";
    assert_eq!(least(text), None);
    let disturbed = text.replace("void thread1() begin skip; end", "void thread1() begin g := T; end");
    assert_eq!(least(&disturbed), Some(2));
}

/// Others run between the last step of a procedure and its return, which assigns a shared variable.
#[test]
fn a_context_may_end_right_before_a_return() {
    let text = "decl g := T; decl h := F;
        bool f() begin assume(g); return T; end
        void thread0() begin h := f(); end
        void thread1() begin g := F constrain !h; assume(h); assert(F); end";
    assert_eq!(least(text), Some(2));
}

/// A return exists only where the clause holds then: the second thread cannot repair what it breaks.
#[test]
fn enforce_is_part_of_a_return_in_turns() {
    let text = "decl intact := T;
        bool broken() begin return F; end
        void thread0() begin enforce intact; intact := broken(); assert(F); end
        void thread1() begin assume(!intact); intact := T; end";
    assert_eq!(least(text), None);
    let waiting = "decl open := F;
        void pass() begin skip; end
        void thread0() begin decl inside := F; enforce open | !inside; inside := T; end
        void thread1() begin pass(); end
        void thread2() begin open := T; end";
    assert_eq!(least(waiting), None);
    let late = "decl open := T; decl seen := F;
        bool pass() begin assume(!seen); return T; end
        void thread0() begin decl inside := F; enforce open | !inside; inside := pass(); assert(F); end
        void thread1() begin seen := T; open := F; open := T; end";
    assert_eq!(least(late), Some(1));
}

#[test]
fn nobody_runs_inside_the_section_of_another() {
    let text = "decl x := F; decl y := F;
        void thread0() begin atomic_begin; x := T; x := F; atomic_end; end
        void thread1() begin assert(!x); end";
    assert_eq!(least(text), None);
    assert_eq!(least(&text.replace("atomic_begin; ", "").replace("atomic_end; ", "")), Some(1));
}

#[test]
fn a_thread_that_fails_deep_inside_calls_leaves_the_others_their_contexts() {
    let text = "decl x := F; decl y := F;
        void deep() begin if (*) then deep(); fi; if (x) then y := T; assert(!y); fi; end
        void thread0() begin deep(); end
        void thread1() begin x := T; end";
    assert_eq!(least(text), Some(2));
}

/// The second thread is at the error before any thread moves: the execution to it has no steps.
#[test]
fn a_thread_that_begins_at_an_error_is_one_without_steps() {
    let text = "decl g := T;
        void thread0() begin g := F; end
        void thread1() begin ERROR: skip; end";
    assert_eq!(least(text), Some(1));
}

/// The one place for a started thread stays empty: the procedure that starts it is never called.
#[test]
fn threads_that_are_never_started_need_no_place() {
    let text = "void main() begin end
        void f() begin start_thread L; f(); L: skip; end";
    let posed = posed(text, Some(1));
    let mut options = EngineOptions::default();
    options.contexts.bound = Some(ContextBound::exactly(2));
    for kind in [EngineKind::Contexts, EngineKind::ContextsEager] {
        let answer = build(kind, &options).check(&posed.task(), &Run::unlimited());
        assert_eq!(answer.err(), Some(Stop::BoundReached(Bound::Contexts(2))), "{}", kind.name());
    }
}

#[test]
fn an_execution_counts_the_turns_in_the_order_of_the_threads() {
    let text = "decl x := F;
        void thread0() begin assume(x); assert(F); end
        void thread1() begin x := T; end";
    let posed = posed(text, None);
    let task = posed.task();
    let mut options = EngineOptions::default();
    options.contexts.bound = Some(ContextBound::exactly(2));
    let engine = build(EngineKind::ContextsEager, &options);
    let Ok(Verdict::Unsafe(trace)) = engine.check(&task, &Run::unlimited()) else { panic!("it is unsafe") };
    assert_eq!(contexts_of(&task, &trace), 2);
}

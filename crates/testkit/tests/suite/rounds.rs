//! Any number of threads in rounds: the engine compared with all schedules of a few threads, and the errata of the
//! paper.

use selvedge_check::{Bound, Engine, Explanation, Run, Stop, Verdict};
use selvedge_replay::judge;
use selvedge_testkit::contexts::{contexts_of, posed};
use selvedge_testkit::harness::sample;
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::rounds::{IN_ROUNDS, LAST, engine};

/// Returns the least number of rounds up to 3 with an error.
fn least(text: &str) -> Option<u32> {
    let posed = posed(text, None);
    let (task, run, mut explanation) = (posed.task(), Run::unlimited(), Explanation::default());
    match engine(LAST).decide(&task, &run, &mut explanation) {
        Ok(Verdict::Unsafe(trace)) => {
            let rounds = explanation.rounds.and_then(|rounds| rounds.error).expect("the engine says so");
            assert!(contexts_of(&task, &trace) <= rounds);
            judge(&task, &Verdict::Unsafe(trace), &run).expect("the execution replays");
            Some(rounds)
        }
        Ok(Verdict::Safe(_)) | Err(Stop::BoundReached(Bound::Rounds(LAST))) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn generated_templates_reach_what_their_schedules_reach() {
    let tally = sample(IN_ROUNDS.within(Budget { frames: 4, ..Budget::states(2_000) }), 7, 0, 60);
    assert!(tally["unsafe"] > 10 && tally["safe"] > 10, "{tally}");
}

/// The kernel begins inside a section and must wait for the driver, which runs in front of it or behind it; no thread
/// is left to fill the place after the last one.
#[test]
fn rounds_idle_thread() {
    let text = "shared decl go := F;
        process kernel once begin
          void main() begin atomic_begin; assume(go); assert(F); atomic_end; end
        end
        process driver once begin
          void main() begin go := T; end
        end";
    assert_eq!(least(text), Some(1));
    let alone = "shared decl go := F;
        process kernel once begin
          void main() begin atomic_begin; go := T; atomic_end; atomic_begin; assert(!go); atomic_end; end
        end";
    assert_eq!(least(alone), Some(1));
}

/// Three threads in two rounds: with the index of the rounds instead of that of the threads, the states between the
/// second and the third thread would not be connected.
#[test]
fn interface_index() {
    let chain = |last: &str| {
        format!(
            "shared decl a := F; shared decl b := F; shared decl c := F;
            process first once begin void main() begin a := T; assume(b); c := T; end end
            process second once begin void main() begin assume(a); b := T; end end
            process third once begin void main() begin assume({last}); assert(F); end end"
        )
    };
    // b comes in the first round if the second thread is behind the first, so c in the second.
    assert_eq!(least(&chain("c")), Some(2));
    assert_eq!(least(&chain("b & !a")), None);
}

/// A template that runs once is never used twice, and one that runs twice never three times.
#[test]
fn threads_of_a_template_are_counted() {
    let text = |copies: &str, n: usize| {
        let bits = ["!a & !b", "a & !b", "!a & b"];
        format!(
            "shared decl a := F; shared decl b := F; shared decl bad := F;
            process p {copies} begin
              void main() begin atomic_begin; b := b ^ a; a := !a; atomic_end; end
            end
            process q begin void main() begin assert({}); end end",
            bits[..=n.min(2)].iter().map(|bit| format!("({bit})")).collect::<Vec<_>>().join(" | ")
        )
    };
    assert_eq!(least(&text("once", 1)), None);
    assert_eq!(least(&text("", 1)), Some(1));
    assert_eq!(least(&text("[2]", 2)), None);
    assert_eq!(least(&text("[2]", 1)), Some(1));
    assert_eq!(least(&text("[3]", 2)), Some(1));
}

/// The prelude can fail, and initial values of threads read what it leaves.
#[test]
fn init_comes_first() {
    let fails = "shared decl x; init begin x := *; assert(x); end process p [2] begin void main() begin skip; end end";
    assert_eq!(least(fails), Some(1));
    let reads = "shared decl x; init begin x := T; end
        process p begin decl mine := x; void main() begin x := F; assert(mine); end end";
    assert_eq!(least(reads), None);
}

/// Returns the number of rounds that is found to be enough, and the numbers for which that stays open.
fn enough(text: &str) -> (Option<u32>, Vec<u32>, usize) {
    let posed = posed(text, None);
    let mut explanation = Explanation::default();
    let verdict = engine(LAST).decide(&posed.task(), &Run::unlimited(), &mut explanation);
    let rounds = explanation.rounds.expect("the engine says so");
    assert_eq!(rounds.enough.is_some(), matches!(verdict, Ok(Verdict::Safe(None))), "{verdict:?}");
    (rounds.enough, rounds.open, rounds.play.len())
}

/// Eve's first block begins with an initial state, and the place that she names is that of her thread after the move.
/// If the beginning were any state, she could name threads behind the assumption of the first program; if the place
/// were that before the move, Adam would never have to move the threads of the second.
#[test]
fn e_move_primes() {
    let stuck = "shared decl x := F; process p begin void main() begin assume(x); assert(F); end end";
    assert_eq!(enough(stuck), (Some(1), vec![], 0));
    // A thread that waits for another one before and after it needs two rounds.
    let waits = "shared decl x := F;
        process p once begin void main() begin x := T; assume(!x); x := T; assert(x); end end
        process q once begin void main() begin assume(x); x := F; end end";
    let (rounds, open, n_moves) = enough(waits);
    assert_eq!((rounds, open), (Some(2), vec![1]));
    assert!(n_moves > 0, "Eve's play is reported");
}

/// A thread that is first and idles sees x only in the second round, but the state in which all threads are then is one
/// of the first: Adam need not see what Eve's threads saw on the way.
#[test]
fn adam_matches_the_state_at_the_end() {
    let sets = "shared decl x := F; process p begin void main() begin x := T; assert(x); end end";
    assert_eq!(enough(sets), (Some(1), vec![], 0));
}

/// Without recursion calls are supported once they are inlined, and where a limited template matters for the proof it
/// is counted.
#[test]
fn one_kernel_is_not_two() {
    let text = |copies: &str| {
        format!(
            "shared decl on := F; shared decl twice := F;
            process kernel {copies} begin
              void main() begin atomic_begin; twice := on; on := T; atomic_end; assert(!twice); end
            end"
        )
    };
    assert_eq!(enough(&text("once")).0, Some(1));
    assert_eq!(least(&text("")), Some(1));
}

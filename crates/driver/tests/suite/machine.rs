//! Programs with machine integers through the driver: written over bits, and the evidence lifted and judged.

use selvedge_check::{Certificate, Outcome, Question, Reason, Run, Subject};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_ir::span::SourceMap;
use selvedge_ir::text::parse;
use selvedge_ir::validate::validate;

/// The outcome of a check of a program in the text form of the representation.
fn outcome(text: &str, threads: Option<u32>, engine: Option<EngineKind>) -> Outcome {
    let program = parse(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let map = SourceMap::default();
    let question = Question { threads, ..Question::default() };
    let options = Options { question, engine: engine.map(EngineKind::row), jobs: 1, ..Options::default() };
    let subject = Subject { program: &program, map: &map, text };
    check(subject, &options, &Run::unlimited()).expect("the engines and the judge agree").outcome
}

/// Two threads add to a counter, with a lock or without: then an addition can be lost.
fn counter(locks: bool) -> String {
    let (lock, unlock) = if locks { ("h := T constrain !h", "h := F") } else { ("skip", "skip") };
    format!(
        "shared n: i16, h: bool, d: u8\ninit n := 0:i16, h := F, d := 0:u8\nproc f() from L0 to L7\nlocal r: i16\n\
         L0 -> L1: {lock}\nL1 -> L2: r := n\nL2 -> L3: n := i16.add(r, 100:i16)\nL3 -> L4: {unlock}\n\
         L4 -> L5: d := u8.add(d, 1:u8) constrain u8.lt(d, 2:u8)\nL5 -> L6: assert (d != 2:u8) | (n = 200:i16)\n\
         L6 -> L7: return\n\
         start f exactly 2"
    )
}

#[test]
fn a_safe_program_has_a_certificate_over_bits() {
    for engine in [None, Some(EngineKind::Threads), Some(EngineKind::ThreadsExplicit)] {
        let outcome = outcome(&counter(true), Some(2), engine);
        assert!(matches!(outcome, Outcome::Safe(Some(Certificate::OverBits(_)))), "{engine:?}: {outcome:?}");
    }
}

#[test]
fn an_error_is_executed_on_machine_integers() {
    for engine in [None, Some(EngineKind::Threads), Some(EngineKind::Exhaustive)] {
        let outcome = outcome(&counter(false), Some(2), engine);
        assert!(matches!(outcome, Outcome::Unsafe(_)), "{engine:?}: {outcome:?}");
    }
}

/// A sum that leaves its type wraps around; a loop ends where its counter says.
#[test]
fn one_thread_is_decided_by_all_engines_for_one_thread() {
    let text = |bound: u32| {
        format!(
            "shared s: u8\ninit s := 0:u8\nproc main() from L0 to L5\nlocal i: i32\nL0 -> L1: i := 0:i32\n\
             L1 -> L2: assume i32.lt(i, 20:i32)\nL2 -> L1: s := u8.add(s, i32.u8(i)), i := i32.add(i, 1:i32)\n\
             L1 -> L3: assume !i32.lt(i, 20:i32)\nL3 -> L4: assert s = {bound}:u8\nL4 -> L5: return\nstart main"
        )
    };
    for engine in [EngineKind::Summaries, EngineKind::Sat, EngineKind::Pushdown, EngineKind::Exhaustive] {
        let (right, wrong) = (outcome(&text(190), None, Some(engine)), outcome(&text(189), None, Some(engine)));
        assert!(matches!(right, Outcome::Safe(_)), "{engine:?}: {right:?}");
        assert!(matches!(wrong, Outcome::Unsafe(_)), "{engine:?}: {wrong:?}");
    }
}

#[test]
fn too_many_bits_are_unknown_with_the_reason() {
    let vars: Vec<String> = (0..100).map(|number| format!("x{number}: u64")).collect();
    let text = format!(
        "shared {}\nproc f() from L0 to L2\nL0 -> L1: assert x0 != x1\nL1 -> L2: return\nstart f",
        vars.join(", ")
    );
    for engine in [Some(EngineKind::Summaries), Some(EngineKind::Threads)] {
        let outcome = outcome(&text, Some(1), engine);
        let Outcome::Unknown(Reason::Unsupported(unsupported)) = outcome else { panic!("{engine:?}: {outcome:?}") };
        assert!(unsupported.reason.contains("6400 Boolean variables"), "{}", unsupported.reason);
    }
}

/// No range bounds the counters of the loop, which wrap around: only an invariant over machine integers proves it.
#[test]
fn a_loop_over_all_values_is_proved_by_an_invariant() {
    let text = "shared i: u32, s: u32, n: u32\ninit i := 0:u32, s := 0:u32\nproc main() from L0 to L3\n\
                L0 -> L0: i := u32.add(i, 1:u32), s := u32.add(s, 2:u32) constrain u32.lt(i, n)\n\
                L0 -> L1: assume !u32.lt(i, n)\nL1 -> L2: assert s = u32.mul(2:u32, n)\nL2 -> L3: return\nstart main";
    let outcome = outcome(text, None, Some(EngineKind::Invariants));
    assert!(matches!(outcome, Outcome::Safe(Some(Certificate::Invariants(_)))), "{outcome:?}");
}

/// Any number of threads add one to a wide counter, in one step or in two, unless it is at its end.
fn growing(is_atomic: bool) -> String {
    let add = if is_atomic {
        "L1 -> L2: seen := x, x := u32.add(x, 1:u32) constrain x != 4294967295:u32"
    } else {
        "L1 -> L6: seen := x\nL6 -> L2: x := u32.add(seen, 1:u32) constrain seen != 4294967295:u32"
    };
    format!(
        "shared x: u32\ninit x := 0:u32\nproc main() from L0 to L5\nL0 -> L0: spawn f()\nL0 -> L5: return\n\
         proc f() from L1 to L4\nlocal seen: u32\n{add}\nL2 -> L3: assert u32.lt(seen, x)\nL3 -> L4: return\nstart main"
    )
}

#[test]
fn wide_numbers_are_related_for_any_number_of_threads() {
    let facts = Some(EngineKind::Facts);
    for engine in [facts, None] {
        let safe = outcome(&growing(true), None, engine);
        assert!(matches!(safe, Outcome::Safe(Some(Certificate::OverBits(_)))), "{engine:?}: {safe:?}");
    }
    // A late write makes the counter smaller: facts allow the error, and do not find it.
    let open = outcome(&growing(false), None, facts);
    assert!(matches!(open, Outcome::Unknown(Reason::Stop(_))), "{open:?}");
    let bounded = outcome(&growing(true), Some(4), facts);
    assert!(matches!(bounded, Outcome::Safe(Some(_))), "{bounded:?}");
}

#[test]
fn facts_about_two_threads_show_mutual_exclusion() {
    let text = "shared x: i32, held: bool\ninit x := 0:i32, held := F\nproc main() from L0 to L8\nL0 -> L0: spawn f()\n\
        L0 -> L8: return\nproc f() from L1 to L7\nlocal seen: i32\nL1 -> L2: held := T constrain !held\n\
        L2 -> L3: seen := x\nL3 -> L4: x := i32.add(seen, 1:i32)\n\
        L4 -> L5: assert x = i32.add(seen, 1:i32)\nL5 -> L6: held := F\nL6 -> L7: return\nstart main";
    let safe = outcome(text, None, Some(EngineKind::Facts));
    assert!(matches!(safe, Outcome::Safe(Some(_))), "{safe:?}");
    let open = outcome(&text.replace("constrain !held", "constrain T"), None, Some(EngineKind::Facts));
    assert!(matches!(open, Outcome::Unknown(Reason::Stop(_))), "{open:?}");
}

/// What threads add to two numbers is what they add to their total, however wide the numbers are.
fn sums(locks: bool) -> String {
    let (lock, unlock) = if locks { ("h := T constrain !h", "h := F") } else { ("skip", "skip") };
    format!(
        "shared n: u32, m: u32, h: bool\ninit n := 0:u32, m := 0:u32, h := F\nproc f(d: u32) from L0 to L7\n\
         local r: u32\nL0 -> L1: {lock}\nL1 -> L2: r := call g(n, d)\nL2 -> L3: n := r\n\
         L3 -> L4: m := u32.add(m, d)\nL4 -> L5: assert n = m\nL5 -> L6: {unlock}\nL6 -> L7: return\n\
         proc g(a: u32, b: u32) returns u32 from L8 to L9\nL8 -> L9: return u32.add(b, a)\n\
         proc main() from L10 to L11\nL10 -> L10: spawn f(?0:u32)\nstart main"
    )
}

/// The proof speaks of the program as it is, with its calls.
#[test]
fn wide_numbers_of_any_number_of_threads_have_a_certificate_over_predicates() {
    let safe = outcome(&sums(true), None, Some(EngineKind::Predicates));
    assert!(matches!(safe, Outcome::Safe(Some(Certificate::OverPredicates(_)))), "{safe:?}");
    let broken = outcome(&sums(false), None, Some(EngineKind::Predicates));
    assert!(matches!(broken, Outcome::Unsafe(_)), "{broken:?}");
}

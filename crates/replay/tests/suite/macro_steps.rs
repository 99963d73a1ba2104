//! Proofs about several threads: what happens between two places, and the order of threads and of their values.

use selvedge_check::formula::{FormulaId, Node};
use selvedge_check::{Role, Shape, ShapeProof, ThreadScope};
use selvedge_ir::{EntryId, LocId};
use selvedge_replay::certificate::Flaw;

use crate::threads::{FREE, asked, edge, literal, mutex, place, proof};

/// Two ways through an atomic section meet again, with other values and after other threads were written to.
#[test]
fn both_ways_that_meet_inside_of_a_macro_step_count() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\nproc main() from L0 to L5\n\
        e0 L0 -> L1: atomic_begin\ne1 L1 -> L2: ONE\ne2 L1 -> L2: OTHER\ne3 L2 -> L3: assert CONDITION\n\
        e4 L3 -> L4: x := F, t := F, t$ := F\ne5 L4 -> L0: atomic_end\n\
        start main: main exactly 2 with t init t := F\ntarget e3";
    let holds = |one: &str, other: &str, condition: &str| {
        let text = text.replace("ONE", one).replace("OTHER", other).replace("CONDITION", condition);
        let places = vec![place(FREE, &[], 0, &[(0, 1)])];
        let shapes: [(&[u32], &str); 1] = [(&[0, 0], "-0 -0.0 -1.0")];
        match asked(&text, ThreadScope::Unbounded).check(&proof(places, &shapes)) {
            Ok(()) => true,
            Err(Flaw::Assert(id)) if id == edge(3) => false,
            other => panic!("{other:?}"),
        }
    };
    assert!(holds("x := T", "x := T", "x"));
    assert!(holds("x := T", "skip", "x | !x"));
    for (one, other, condition) in [("x := T", "skip", "x"), ("skip", "x := T", "x"), ("x := T", "skip", "!x")] {
        assert!(!holds(one, other, condition), "{one}, {other}: {condition}");
    }
    assert!(!holds("t := T", "skip", "t") && !holds("t := T", "skip", "!t"));
    assert!(holds("t := T", "t := T", "t"));
}

/// What a step writes to another thread on one of two ways is seen by a later step on the common way.
#[test]
fn writes_to_other_threads_count_on_their_way_only() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\nproc main() from L0 to L5\n\
        e0 L0 -> L1: atomic_begin\ne1 L1 -> L2: ONE\ne2 L1 -> L2: OTHER\ne3 L2 -> L3: x := T constrain CONDITION\n\
        e4 L3 -> L4: assert F\ne5 L4 -> L0: atomic_end\n\
        start main: main exactly 2 with t init t := F\ntarget e4";
    let is_blocked = |one: &str, other: &str, condition: &str| {
        let text = text.replace("ONE", one).replace("OTHER", other).replace("CONDITION", condition);
        let places = vec![place(FREE, &[], 0, &[(0, 1)])];
        let shapes: [(&[u32], &str); 1] = [(&[0, 0], "-0 -0.0 -1.0")];
        match asked(&text, ThreadScope::Unbounded).check(&proof(places, &shapes)) {
            Ok(()) => true,
            Err(Flaw::Assert(id)) if id == edge(4) => false,
            other => panic!("{other:?}"),
        }
    };
    assert!(is_blocked("skip", "skip", "t$"));
    assert!(is_blocked("t$ := T", "t$ := T", "!t$"));
    for (one, other) in [("t$ := T", "skip"), ("skip", "t$ := T")] {
        assert!(!is_blocked(one, other, "t$"), "{one}, {other}");
        assert!(!is_blocked(one, other, "!t$"), "{one}, {other}");
    }
}

/// On one of two ways a thread was started: they do not become one.
#[test]
fn ways_with_other_threads_stay_apart() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L4\n\
        e0 L0 -> L1: atomic_begin\ne1 L1 -> L2: FIRST\ne2 L1 -> L2: SECOND\ne3 L2 -> L3: atomic_end\n\
        proc one() from L5 to L6\ne4 L5 -> L5: skip\nproc two() from L7 to L8\ne5 L7 -> L7: skip\nstart main";
    let places =
        || vec![place(FREE, &[], 0, &[]), place(FREE, &[], 3, &[]), place(FREE, &[], 5, &[]), place(FREE, &[], 7, &[])];
    let all: [(&[u32], &str); 4] = [(&[0], "-0"), (&[1], "-0"), (&[1, 2], "-0"), (&[1, 3], "-0")];
    let judged = |first: &str, second: &str, left_out: Option<usize>| {
        let shapes = all.iter().enumerate().filter(|(number, _)| Some(*number) != left_out);
        let shapes: Vec<_> = shapes.map(|(_, shape)| *shape).collect();
        let text = text.replace("FIRST", first).replace("SECOND", second);
        asked(&text, ThreadScope::Unbounded).check(&proof(places(), &shapes))
    };
    let ways = ["skip", "spawn one()", "spawn two()"];
    for first in 0..3 {
        for second in 0..3 {
            assert_eq!(judged(ways[first], ways[second], None), Ok(()));
            for left_out in 0..3 {
                let is_needed = left_out == first || left_out == second;
                let expected = if is_needed { Err(Flaw::NotClosed(edge(3))) } else { Ok(()) };
                let found = judged(ways[first], ways[second], Some(left_out + 1));
                assert_eq!(found, expected, "{first} and {second} without {left_out}");
            }
        }
    }
}

/// Threads at different places come in the order of the places, whatever their values are.
#[test]
fn values_order_threads_at_one_place_only() {
    let text = "thread t: bool\nproc main() from L0 to L1\ne0 L0 -> L0: assert !t\nproc other() from L2 to L3\n\
        e1 L2 -> L2: skip\nstart main: main exactly 1 with t init t := T\n\
        start other: other exactly 1 with t init t := F\ntarget e0";
    let other = Role::Free(EntryId::from_raw_unchecked(1));
    let places = vec![place(FREE, &[], 0, &[(0, 0)]), place(other, &[], 2, &[(0, 0)])];
    let found = asked(text, ThreadScope::Unbounded).check(&proof(places, &[(&[0, 1], "+0.0 -1.0")]));
    assert_eq!(found, Err(Flaw::Assert(edge(0))));
}

/// A constant part decides a conjunction or a disjunction only if it is the right one.
#[test]
fn constants_in_formulas_decide_what_they_decide() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L1\nlocal l: bool\ne0 L0 -> L0: assert CONDITION\n\
        start main\ntarget e0";
    let judged = |condition: &str, connective: fn(FormulaId, FormulaId) -> Node, constant: bool, is_first: bool| {
        let mut proof = ShapeProof { places: vec![place(FREE, &[], 0, &[(0, 1)])], ..ShapeProof::default() };
        let not_x = literal(&mut proof, "-0");
        let l = literal(&mut proof, "+0.0");
        let not_l = proof.formulas.add(Node::Not(l)).expect("the part is there");
        let any = proof.formulas.add(Node::Or(l, not_l)).expect("the parts are there");
        let both = proof.formulas.add(Node::And(not_x, any)).expect("the parts are there");
        let constant = proof.formulas.add(Node::Const(constant)).expect("it has no parts");
        let (left, right) = if is_first { (constant, both) } else { (both, constant) };
        let whole = proof.formulas.add(connective(left, right)).expect("the parts are there");
        proof.shapes.push(Shape::of_all(vec![0], 0, whole));
        asked(&text.replace("CONDITION", condition), ThreadScope::Unbounded).check(&proof)
    };
    for is_first in [true, false] {
        for (connective, neutral) in [(Node::And as fn(_, _) -> _, true), (Node::Or, false)] {
            assert_eq!(judged("!x", connective, neutral, is_first), Ok(()));
            assert_eq!(judged("x", connective, neutral, is_first), Err(Flaw::Assert(edge(0))));
            assert_eq!(judged("l", connective, neutral, is_first), Err(Flaw::Assert(edge(0))));
        }
        assert_eq!(judged("!x", Node::Or, true, is_first), Err(Flaw::Assert(edge(0))));
        assert_eq!(judged("!x", Node::And, false, is_first), Err(Flaw::Start(LocId::new(0))));
    }
}

/// A shape that no state has is no error, even at a target location.
#[test]
fn a_shape_without_states_is_no_error() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L2\ne0 L0 -> L0: skip\ne1 L0 -> L1: assume x\n\
        e2 L1 -> L2: return\nstart main\ntarget L1";
    let guarded = asked(text, ThreadScope::Unbounded);
    let places = || vec![place(FREE, &[], 0, &[]), place(FREE, &[], 1, &[])];
    assert_eq!(guarded.asking(&[2]).check(&proof(places(), &[(&[0], "-0"), (&[1], "+0 -0")])), Ok(()));
    let text = text.replace("e1 L0 -> L1: assume x", "e1 L1 -> L1: skip");
    let unreached = asked(&text, ThreadScope::Unbounded);
    assert_eq!(unreached.check(&proof(places(), &[(&[0], "-0"), (&[1], "+0 -0")])), Ok(()));
    assert_eq!(unreached.check(&proof(places(), &[(&[0], "-0"), (&[1], "+0")])), Err(Flaw::Location(LocId::new(1))));
}

/// States with many values, around the numbers of bits of a word, and formulas with very many parts in one another.
#[test]
fn large_states_and_deep_formulas_are_judged() {
    for (n_vars, n_threads) in [(1, 2), (42, 3), (43, 3), (63, 2), (64, 2), (65, 2), (32, 4), (33, 4)] {
        let names: Vec<String> = (0..n_vars).map(|number| format!("v{number}")).collect();
        let list = |of: &dyn Fn(&String) -> String| names.iter().map(of).collect::<Vec<_>>().join(", ");
        let text = format!(
            "thread {}\nproc main() from L0 to L1\ne0 L0 -> L0: assert !v0 & !v{}\n\
             start main: main exactly {n_threads} with {} init {}\ntarget e0",
            list(&|name| format!("{name}: bool")),
            n_vars - 1,
            list(&|name| name.clone()),
            list(&|name| format!("{name} := F")),
        );
        let vars: Vec<(u32, usize)> = (0..n_vars).map(|var| (0, var)).collect();
        let judged = |free: Option<usize>| {
            let values = (0..n_threads).flat_map(|thread| (0..n_vars).map(move |var| (thread, var)));
            let literals = values.filter(|place| Some(place.1) != free || place.0 + 1 < n_threads);
            let text_of: Vec<String> = literals.map(|(thread, var)| format!("-{thread}.{var}")).collect();
            let shapes: [(&[u32], &str); 1] = [(&vec![0; n_threads], &text_of.join(" "))];
            asked(&text, ThreadScope::Unbounded).check(&proof(vec![place(FREE, &[], 0, &vars)], &shapes))
        };
        assert_eq!(judged(None), Ok(()), "{n_vars} variables, {n_threads} threads");
        for free in [0, n_vars - 1] {
            assert_eq!(judged(Some(free)), Err(Flaw::Assert(edge(0))), "{n_vars} variables, {n_threads} threads");
        }
    }
    let (asked, mut proof) = mutex();
    let mut formula = proof.shapes[0].formula;
    for _ in 0..100_000 {
        formula = proof.formulas.add(Node::Not(formula)).expect("the part is there");
    }
    proof.shapes[0].formula = formula;
    assert_eq!(asked.check(&proof), Ok(()));
}

/// Threads that one step started are put in order with those that were there, whatever the order of their numbers.
#[test]
fn started_threads_are_put_in_order() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L6\ne0 L0 -> L1: atomic_begin\n\
        e1 L1 -> L2: spawn one()\ne2 L2 -> L3: spawn two(FIRST)\ne3 L3 -> L4: spawn two(SECOND)\n\
        e4 L4 -> L5: atomic_end\nproc one() from L7 to L8\ne5 L7 -> L7: skip\n\
        proc two(p: bool) from L9 to L10\ne6 L9 -> L9: skip\nstart main";
    let places = vec![
        place(FREE, &[], 0, &[]),
        place(FREE, &[], 5, &[]),
        place(FREE, &[], 7, &[]),
        place(FREE, &[], 9, &[(0, 1)]),
    ];
    let judged = |first: &str, second: &str, formula: &str| {
        let text = text.replace("FIRST", first).replace("SECOND", second);
        let shapes: [(&[u32], &str); 2] = [(&[0], "-0"), (&[1, 2, 3, 3], formula)];
        asked(&text, ThreadScope::Unbounded).check(&proof(places.clone(), &shapes))
    };
    for (first, second) in [("T", "F"), ("F", "T")] {
        assert_eq!(judged(first, second, "-0 -2.0 +3.0"), Ok(()), "{first}, {second}");
        assert_eq!(judged(first, second, "-0 +2.0 -3.0"), Err(Flaw::NotClosed(edge(4))), "{first}, {second}");
    }
    assert_eq!(judged("T", "T", "-0 +2.0 +3.0"), Ok(()));
    assert_eq!(judged("T", "T", "-0 -2.0 +3.0"), Err(Flaw::NotClosed(edge(4))));
}

/// The bound is one on the threads of all kinds together.
#[test]
fn kinds_share_the_bound_on_threads() {
    let text = "proc main() from L0 to L1\ne0 L0 -> L0: skip\nproc other() from L2 to L3\ne1 L2 -> L2: skip\n\
        start main: main any\nstart other: other COUNT";
    let other = Role::Free(EntryId::from_raw_unchecked(1));
    let places = || vec![place(FREE, &[], 0, &[]), place(other, &[], 2, &[])];
    let judged = |count: &str, bound: u32, shapes: &[&[u32]]| {
        let asked = asked(&text.replace("COUNT", count), ThreadScope::AtMost(bound));
        asked.check(&proof(places(), &shapes.iter().map(|threads| (*threads, "")).collect::<Vec<_>>()))
    };
    let two: [&[u32]; 6] = [&[], &[0], &[0, 0], &[0, 1], &[1], &[1, 1]];
    for count in ["any", "at most 2", "at most 7"] {
        assert_eq!(judged(count, 1, &[&[], &[0], &[1]]), Ok(()), "{count}");
        assert_eq!(judged(count, 2, &two), Ok(()), "{count}");
        assert!(judged(count, 3, &two).is_err(), "{count}");
        for missing in 0..two.len() {
            let fewer: Vec<&[u32]> = two.iter().copied().filter(|shape| *shape != two[missing]).collect();
            assert!(judged(count, 2, &fewer).is_err(), "{count} without {:?}", two[missing]);
        }
    }
    assert_eq!(judged("at most 1", 2, &[&[], &[0], &[0, 0], &[0, 1], &[1]]), Ok(()));
}

/// A condition on a variable of other threads binds those that have it: here none does, at this place.
#[test]
fn threads_without_a_variable_do_not_hold_others_up() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\nproc main() from L0 to L2\nlocal l: bool\n\
        e0 L0 -> L1: x := T constrain CONDITION\nproc other() from L3 to L4\ne1 L3 -> L3: skip\n\
        start main: main exactly 1 with t init t := F\nstart other: other exactly 1";
    let other = Role::Free(EntryId::from_raw_unchecked(1));
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 1, &[]), place(other, &[], 3, &[])];
    for condition in ["l$", "t$", "l$ & t$", "!l$ & l$"] {
        let asked = asked(&text.replace("CONDITION", condition), ThreadScope::Unbounded);
        let never = proof(places.clone(), &[(&[0, 2], "-0")]);
        assert_eq!(asked.check(&never), Err(Flaw::NotClosed(edge(0))), "{condition}");
        let taken = proof(places.clone(), &[(&[0, 2], "-0"), (&[1, 2], "+0")]);
        assert_eq!(asked.check(&taken), Ok(()), "{condition}");
    }
}

/// A copy of a thread has its values, also those that no place lists: what it does later fits what its copy has.
#[test]
fn a_copy_has_the_values_that_are_not_listed() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L6\nlocal b: bool\ne0 L0 -> L1: atomic_begin\n\
        e1 L1 -> L2: fork L5\ne2 L2 -> L3: x := b\ne3 L3 -> L4: atomic_end\ne4 L5 -> L5: skip\nstart main";
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 4, &[]), place(FREE, &[], 5, &[(0, 1)])];
    let mut both = proof(places, &[(&[0], "-0"), (&[1], "-0")]);
    let (x, b) = (literal(&mut both, "+0"), literal(&mut both, "+1.0"));
    let not_b = both.formulas.add(Node::Not(b)).expect("the part is there");
    let same = both.formulas.add(Node::Ite(x, b, not_b)).expect("the parts are there");
    both.shapes.push(Shape::of_all(vec![1, 2], 0, same));
    assert_eq!(asked(text, ThreadScope::AtMost(2)).check(&both), Ok(()));
    both.shapes[2].formula = x;
    assert_eq!(asked(text, ThreadScope::AtMost(2)).check(&both), Err(Flaw::NotClosed(edge(3))));
}

/// A thread that is started has the per-thread variables of the one that starts it, also those that no place of that
/// one lists.
#[test]
fn a_started_thread_has_the_values_that_are_not_listed() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\nproc main() from L0 to L5\ne0 L0 -> L1: atomic_begin\n\
        e1 L1 -> L2: spawn work(T)\ne2 L2 -> L3: x := t\ne3 L3 -> L4: atomic_end\n\
        proc work(p: bool) from L6 to L7\ne4 L6 -> L6: skip\nstart main: main exactly 1 with t";
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 4, &[]), place(FREE, &[], 6, &[(0, 1), (0, 2)])];
    let mut both = proof(places, &[(&[0], "-0"), (&[1], "-0")]);
    let (x, t, p) = (literal(&mut both, "+0"), literal(&mut both, "+1.0"), literal(&mut both, "+1.1"));
    let not_t = both.formulas.add(Node::Not(t)).expect("the part is there");
    let same = both.formulas.add(Node::Ite(x, t, not_t)).expect("the parts are there");
    let formula = both.formulas.add(Node::And(same, p)).expect("the parts are there");
    both.shapes.push(Shape::of_all(vec![1, 2], 0, formula));
    assert_eq!(asked(text, ThreadScope::AtMost(2)).check(&both), Ok(()));
    both.shapes[2].formula = t;
    assert_eq!(asked(text, ThreadScope::AtMost(2)).check(&both), Err(Flaw::NotClosed(edge(3))));
}

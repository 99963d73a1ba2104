//! Proofs about several threads: those that prove something are accepted, and each obligation that is broken is
//! noticed.

use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{Certificate, Place, Role, Run, Seen, Shape, ShapeProof, Task, ThreadScope};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target, VarId};
use selvedge_replay::certificate::{Flaw, Refused, verify, verify_with_solvers};

pub(crate) struct Asked {
    program: Program,
    target: Target,
    threads: ThreadScope,
}

pub(crate) fn asked(text: &str, threads: ThreadScope) -> Asked {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    Asked { program, target, threads }
}

impl Asked {
    /// Returns the judge's verdict, which must be the same state by state and with solvers.
    pub(crate) fn check(&self, proof: &ShapeProof) -> Result<(), Flaw> {
        let task = Task { program: &self.program, target: &self.target, threads: self.threads };
        let with_solvers = verify_with_solvers(&task, proof, &Run::unlimited());
        let verdict = verify(&task, &Certificate::Shapes(proof.clone()), &Run::unlimited()).map(drop);
        assert_eq!(verdict, with_solvers);
        verdict.map_err(|refused| refused.flaw().expect("the judge can tell"))
    }

    /// Returns the judge's verdict on the proof that names the states of some shapes as the first ones, and finds the
    /// others again.
    fn grow(&self, proof: &ShapeProof, first: &[&[u32]]) -> Result<(), Refused> {
        let mut proof = ShapeProof { seen: Seen::Reached, ..proof.clone() };
        proof.shapes.retain(|shape| first.contains(&shape.threads.as_slice()));
        let task = Task { program: &self.program, target: &self.target, threads: self.threads };
        verify(&task, &Certificate::Shapes(proof), &Run::unlimited()).map(drop)
    }

    /// With these locations as the target.
    pub(crate) fn asking(&self, locs: &[usize]) -> Asked {
        let target = Target::new(Vec::new(), locs.iter().map(|loc| LocId::new(*loc)).collect());
        Asked { program: self.program.clone(), target, threads: self.threads }
    }
}

pub(crate) const FREE: Role = Role::Free(EntryId::from_raw_unchecked(0));
const HOLDER: Role = Role::Holder(EntryId::from_raw_unchecked(0));

pub(crate) fn place(role: Role, calls: &[usize], loc: usize, vars: &[(u32, usize)]) -> Place {
    Place {
        role,
        calls: calls.iter().map(|call| EdgeId::new(*call)).collect(),
        loc: LocId::new(loc),
        vars: vars.iter().map(|(frame, var)| (*frame, VarId::new(*var))).collect(),
    }
}

/// A literal: `+` or `-`, then the number of a shared variable, or `thread.variable`.
pub(crate) fn literal(proof: &mut ShapeProof, text: &str) -> FormulaId {
    let number = |text: &str| text.parse::<u32>().expect("it is a number");
    let (sign, name) = text.split_at(1);
    let atom = match name.split_once('.') {
        Some((thread, var)) => Atom::Of { thread: number(thread), var: number(var) },
        None => Atom::Now(VarId::new(number(name) as usize)),
    };
    let atom = proof.formulas.add(Node::Atom(atom)).expect("it has no parts");
    if sign == "+" { atom } else { proof.formulas.add(Node::Not(atom)).expect("the part is there") }
}

/// A conjunction of literals, separated by blanks.
fn formula(proof: &mut ShapeProof, text: &str) -> FormulaId {
    let truth = proof.formulas.add(Node::Const(true)).expect("it has no parts");
    text.split_whitespace().fold(truth, |all, word| {
        let word = literal(proof, word);
        proof.formulas.add(Node::And(all, word)).expect("the parts are there")
    })
}

pub(crate) fn proof(places: Vec<Place>, shapes: &[(&[u32], &str)]) -> ShapeProof {
    let mut proof = ShapeProof { places, ..ShapeProof::default() };
    for (threads, text) in shapes {
        let formula = formula(&mut proof, text);
        proof.shapes.push(Shape::of_all(threads.to_vec(), 0, formula));
    }
    proof
}

/// The proof with another formula for a shape, or without the shape.
fn with(proof: &ShapeProof, threads: &[u32], text: Option<&str>) -> ShapeProof {
    let mut changed = proof.clone();
    let at = proof.shapes.iter().position(|shape| shape.threads == threads).expect("the shape is there");
    match text {
        Some(text) => changed.shapes[at].formula = formula(&mut changed, text),
        None => drop(changed.shapes.remove(at)),
    }
    changed
}

pub(crate) fn edge(number: usize) -> EdgeId {
    EdgeId::new(number)
}

/// Two threads that take a lock in an atomic section.
pub(crate) fn mutex() -> (Asked, ShapeProof) {
    let text = "shared lock, busy: bool\ninit lock := F, busy := F\nproc main() from L0 to L7\n\
        e0 L0 -> L1: atomic_begin\ne1 L1 -> L2: lock := T constrain !lock\ne2 L2 -> L3: atomic_end\n\
        e3 L3 -> L4: assert !busy\ne4 L4 -> L5: busy := T\ne5 L5 -> L6: busy := F\ne6 L6 -> L0: lock := F\n\
        start main: main exactly 2\ntarget e3";
    let places = [0, 3, 4, 5, 6].map(|loc| place(FREE, &[], loc, &[])).to_vec();
    let shapes: [(&[u32], &str); 5] =
        [(&[0, 0], "-0 -1"), (&[0, 1], "+0 -1"), (&[0, 2], "+0 -1"), (&[0, 3], "+0 +1"), (&[0, 4], "+0 -1")];
    (asked(text, ThreadScope::Unbounded), proof(places, &shapes))
}

#[test]
fn a_lock_taken_in_an_atomic_section_excludes() {
    let (asked, proof) = mutex();
    assert_eq!(asked.check(&proof), Ok(()));
}

#[test]
fn every_start_and_every_step_must_stay_in_the_set() {
    let (asked, proof) = mutex();
    assert_eq!(asked.check(&with(&proof, &[0, 0], Some("-0 +1"))), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(asked.check(&with(&proof, &[0, 0], None)), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(asked.check(&with(&proof, &[0, 3], None)), Err(Flaw::NotClosed(edge(4))));
    assert_eq!(asked.check(&with(&proof, &[0, 4], Some("+0 +1"))), Err(Flaw::NotClosed(edge(5))));
    // The way of the atomic section ends with its last step.
    assert_eq!(asked.check(&with(&proof, &[0, 1], None)), Err(Flaw::NotClosed(edge(2))));
}

#[test]
fn no_assertion_may_fail_and_no_thread_may_be_at_a_target_location() {
    let (asked, proof) = mutex();
    assert_eq!(asked.check(&with(&proof, &[0, 1], Some("+0"))), Err(Flaw::Assert(edge(3))));
    // At a place, and on the way of an atomic section.
    assert_eq!(asked.asking(&[4]).check(&proof), Err(Flaw::Location(LocId::new(4))));
    assert_eq!(asked.asking(&[2]).check(&proof), Err(Flaw::Location(LocId::new(2))));
    assert_eq!(asked.asking(&[0]).check(&proof), Err(Flaw::Location(LocId::new(0))));
    assert_eq!(asked.asking(&[7]).check(&proof), Ok(()));
}

#[test]
fn threads_that_must_not_meet_do_not() {
    let (asked, proof) = mutex();
    let meeting = |locs: &[usize]| {
        let locs = locs.iter().map(|loc| LocId::new(*loc)).collect();
        Asked { target: Target::default().with_together([locs]), program: asked.program.clone(), ..asked }
    };
    assert_eq!(meeting(&[4, 5]).check(&proof), Ok(()));
    assert_eq!(meeting(&[0, 5]).check(&proof), Err(Flaw::Location(LocId::new(0))));
    // An inner location at which threads may meet must be listed.
    assert_eq!(meeting(&[2, 5]).check(&proof), Err(Flaw::NotClosed(edge(1))));
}

#[test]
fn a_visible_step_ends_at_a_listed_place() {
    let (asked, mut proof) = mutex();
    proof.places.pop();
    proof.shapes.pop();
    assert_eq!(asked.check(&proof), Err(Flaw::NotClosed(edge(5))));
}

#[test]
fn what_is_not_in_order_or_not_there_is_malformed() {
    let (asked, proof) = mutex();
    let damaged = |damage: &dyn Fn(&mut ShapeProof)| {
        let mut proof = proof.clone();
        damage(&mut proof);
        asked.check(&proof)
    };
    let malformed = Err(Flaw::Malformed(None));
    assert_eq!(damaged(&|proof| proof.shapes.swap(1, 2)), malformed);
    assert_eq!(damaged(&|proof| proof.shapes[1].threads.reverse()), malformed);
    assert_eq!(damaged(&|proof| proof.shapes[4].threads[1] = 9), malformed);
    assert_eq!(damaged(&|proof| proof.shapes[4].formula = FormulaId(999)), malformed);
    assert_eq!(damaged(&|proof| proof.places.swap(0, 1)), malformed);
    assert_eq!(damaged(&|proof| proof.places.insert(0, proof.places[0].clone())), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].loc = LocId::new(99)), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].role = Role::Free(EntryId::new(9))), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].calls.push(edge(0))), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].calls.push(edge(99))), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].vars.push((0, VarId::new(0)))), malformed);
    assert_eq!(damaged(&|proof| proof.places[4].vars.push((0, VarId::new(99)))), malformed);
    assert_eq!(asked.check(&with(&proof, &[0, 4], Some("+0.0"))), malformed);
    assert_eq!(asked.check(&with(&proof, &[0, 4], Some("+9.0"))), malformed);
    assert_eq!(asked.check(&with(&proof, &[0, 4], Some("+99"))), malformed);
}

#[test]
fn two_holders_of_the_flag_and_company_in_the_prelude_are_malformed() {
    let (asked, mut proof) = mutex();
    proof.places.insert(0, place(Role::Prelude, &[], 0, &[]));
    proof.places.insert(1, place(HOLDER, &[], 1, &[]));
    proof.shapes.iter_mut().for_each(|shape| shape.threads.iter_mut().for_each(|place| *place += 2));
    assert_eq!(asked.check(&proof), Err(Flaw::NotClosed(edge(0))), "the flag's holder is now seen");
    for threads in [vec![1, 1], vec![0, 2]] {
        let mut wrong = proof.clone();
        wrong.shapes.insert(0, Shape::of_all(threads, 0, FormulaId(0)));
        assert_eq!(asked.check(&wrong), Err(Flaw::Malformed(None)));
    }
}

#[test]
fn the_holder_of_the_flag_may_be_seen() {
    let (asked, proof) = mutex();
    let mut seen = ShapeProof { places: vec![place(HOLDER, &[], 1, &[])], ..proof.clone() };
    seen.places.extend(proof.places.clone());
    seen.shapes.iter_mut().for_each(|shape| shape.threads.iter_mut().for_each(|place| *place += 1));
    let truth = formula(&mut seen, "");
    let rest: Vec<Shape> = std::mem::take(&mut seen.shapes);
    // The other thread may be anywhere while the first tries to take the lock.
    for (other, text) in [(1, ""), (2, "+0 -1"), (3, "+0 -1"), (4, "+0 +1"), (5, "+0 -1")] {
        let formula = if text.is_empty() { formula(&mut seen, "-0 -1") } else { formula(&mut seen, text) };
        seen.shapes.push(Shape::of_all(vec![0, other], 0, formula));
    }
    seen.shapes.extend(rest);
    assert_eq!(asked.check(&seen), Ok(()));
    seen.shapes[1].formula = truth;
    assert_eq!(asked.check(&seen), Err(Flaw::NotClosed(edge(2))));
}

#[test]
fn nobody_may_go_round_between_two_places() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\n\
        e0 L0 -> L1: atomic_begin\ne1 L1 -> L1: assume x\ne2 L1 -> L2: atomic_end\ne3 L2 -> L3: return\n\
        start main\ntarget L3";
    let asked = asked(text, ThreadScope::Unbounded);
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 2, &[])];
    let mut good = proof(places.clone(), &[(&[], ""), (&[0], "-0"), (&[1], "-0")]);
    assert_eq!(asked.check(&good), Ok(()), "the cycle is never entered");
    good = proof(places, &[(&[], ""), (&[0], ""), (&[1], "")]);
    assert_eq!(asked.check(&good), Err(Flaw::NotClosed(edge(1))));
}

/// A thread that starts others without end.
const SPAWNS: &str = "shared x: bool\ninit x := F\nproc main() from L0 to L1\ne0 L0 -> L0: spawn work(T)\n\
    proc work(p: bool) from L2 to L4\ne1 L2 -> L3: assert p\ne2 L3 -> L4: end\nstart main\ntarget e1";

fn spawns() -> ShapeProof {
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 2, &[(0, 1)])];
    proof(places, &[(&[0], ""), (&[0, 1], "+1.0")])
}

#[test]
fn a_spawn_at_the_bound_does_nothing() {
    assert_eq!(asked(SPAWNS, ThreadScope::AtMost(2)).check(&spawns()), Ok(()));
    assert_eq!(asked(SPAWNS, ThreadScope::AtMost(3)).check(&spawns()), Err(Flaw::NotClosed(edge(0))));
    assert_eq!(asked(SPAWNS, ThreadScope::Unbounded).check(&spawns()), Err(Flaw::NotClosed(edge(0))));
}

/// The second thread of a run may end; the first then starts none.
#[test]
fn a_bound_on_the_threads_of_a_run_counts_those_that_have_ended() {
    let created = |bound: u32| asked(SPAWNS, ThreadScope::Created(bound));
    // No shape says that a thread has ended.
    assert_eq!(created(2).check(&spawns()), Err(Flaw::NotClosed(edge(2))));
    let mut counted = spawns();
    let alone = counted.shapes[0].clone();
    counted.shapes.insert(1, Shape { ended: 1, ..alone.clone() });
    assert_eq!(created(2).check(&counted), Ok(()));
    assert_eq!(created(3).check(&counted), Err(Flaw::NotClosed(edge(0))));
    // Ended threads are not counted if only live threads are bounded.
    assert_eq!(asked(SPAWNS, ThreadScope::AtMost(2)).check(&counted), Err(Flaw::Malformed(None)));
    counted.shapes.swap(0, 1);
    assert_eq!(created(2).check(&counted), Err(Flaw::Malformed(None)));
    counted.shapes.swap(0, 1);
    counted.shapes.insert(1, Shape { ended: 1, ..alone });
    assert_eq!(created(2).check(&counted), Err(Flaw::Malformed(None)));
}

#[test]
fn a_spawned_thread_begins_at_a_listed_place_with_its_arguments() {
    let asked = asked(SPAWNS, ThreadScope::AtMost(2));
    assert_eq!(asked.check(&with(&spawns(), &[0, 1], Some("-1.0"))), Err(Flaw::NotClosed(edge(0))));
    assert_eq!(asked.check(&with(&spawns(), &[0, 1], Some(""))), Err(Flaw::Assert(edge(1))));
    let alone = proof(vec![place(FREE, &[], 0, &[])], &[(&[0], "")]);
    assert_eq!(asked.check(&alone), Err(Flaw::NotClosed(edge(0))));
    assert_eq!(asked.asking(&[2]).check(&spawns()), Err(Flaw::Location(LocId::new(2))));
}

#[test]
fn a_forked_thread_is_a_copy() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\nlocal b: bool\n\
        e0 L0 -> L1: b := T\ne1 L1 -> L1: fork L2\ne2 L2 -> L3: assert b\nstart main\ntarget e2";
    let text = text.replace("e2 L2 -> L3: assert b", "e2 L2 -> L2: assert b\ne3 L2 -> L3: end");
    let asked = asked(&text, ThreadScope::AtMost(2));
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[], 1, &[(0, 1)]), place(FREE, &[], 2, &[(0, 1)])];
    let good = proof(places, &[(&[0], ""), (&[1], "+0.0"), (&[1, 2], "+0.0 +1.0")]);
    assert_eq!(asked.check(&good), Ok(()));
    assert_eq!(asked.check(&with(&good, &[1], Some(""))), Err(Flaw::NotClosed(edge(1))));
}

/// Two threads that call a procedure, which writes what it is given and returns it.
const CALLS: &str = "shared x: bool\ninit x := F\nproc main() from L0 to L3\nlocal l: bool\n\
    e0 L0 -> L1: l := call id(T)\ne1 L1 -> L2: assert l\ne2 L2 -> L3: return\n\
    proc id(p: bool) returns bool from L4 to L6\ne3 L4 -> L5: x := p\ne4 L5 -> L6: return p\n\
    start main: main exactly 2\ntarget e1";

fn calls(frame: u32) -> ShapeProof {
    // Behind the write, in the call; everything else is between places.
    let places = vec![place(FREE, &[], 0, &[]), place(FREE, &[0], 5, &[(frame, 2)])];
    let shapes: [(&[u32], &str); 6] =
        [(&[], ""), (&[0], ""), (&[0, 0], ""), (&[0, 1], "+1.0"), (&[1], "+0.0"), (&[1, 1], "+0.0 +1.0")];
    proof(places, &shapes)
}

#[test]
fn a_place_may_be_in_the_middle_of_a_call() {
    let asked = asked(CALLS, ThreadScope::Unbounded);
    assert_eq!(asked.check(&calls(1)), Ok(()));
    assert_eq!(asked.check(&calls(0)), Err(Flaw::Malformed(None)), "the variable is in the other frame");
    assert_eq!(asked.check(&with(&calls(1), &[1], Some(""))), Err(Flaw::Assert(edge(1))));
    assert_eq!(asked.check(&with(&calls(1), &[0, 1], Some("-1.0"))), Err(Flaw::NotClosed(edge(3))));
    assert_eq!(asked.check(&with(&calls(1), &[], None)), Err(Flaw::NotClosed(edge(2))));
}

#[test]
fn a_call_that_reads_what_others_write_is_seen() {
    let text = CALLS.replace("call id(T)", "call id(T | x)");
    assert_eq!(asked(&text, ThreadScope::Unbounded).check(&calls(1)), Err(Flaw::NotClosed(edge(0))));
}

#[test]
fn recursion_is_out_of_scope() {
    let text = CALLS.replace("e4 L5 -> L6: return p", "e4 L5 -> L7: p := call id(p)\ne5 L7 -> L6: return p");
    let flaw = asked(&text, ThreadScope::Unbounded).check(&calls(1)).expect_err("it is recursive");
    assert!(matches!(flaw, Flaw::OutOfScope(_)), "{flaw:?}");
}

#[test]
fn any_number_of_threads_is_out_of_scope() {
    let text = CALLS.replace("exactly 2", "any");
    let flaw = asked(&text, ThreadScope::Unbounded).check(&calls(1)).expect_err("there is no end of threads");
    assert!(matches!(flaw, Flaw::OutOfScope(_)), "{flaw:?}");
    assert_eq!(asked(&text, ThreadScope::AtMost(2)).check(&calls(1)), Ok(()));
    assert_eq!(asked(&text, ThreadScope::AtMost(3)).check(&calls(1)), Err(Flaw::Start(LocId::new(0))));
}

/// Two threads, each of which goes on only if the other has not.
const PASSIVE: &str = "thread t: bool\nproc main() from L0 to L2\n\
    e0 L0 -> L1: t := T constrain !t$\ne1 L1 -> L0: t := F, t$ := t$\n\
    start main: main exactly 2 with t init t := F\ntarget L2";

fn passive() -> ShapeProof {
    let places = vec![place(FREE, &[], 0, &[(0, 0)]), place(FREE, &[], 1, &[(0, 0)])];
    proof(places, &[(&[0, 0], "-0.0 -1.0"), (&[0, 1], "-0.0 +1.0")])
}

#[test]
fn a_condition_on_other_threads_holds_for_each() {
    let asked = asked(PASSIVE, ThreadScope::Unbounded);
    assert_eq!(asked.check(&passive()), Ok(()));
    assert_eq!(asked.check(&with(&passive(), &[0, 1], Some(""))), Err(Flaw::NotClosed(edge(0))));
    let created = Asked { threads: ThreadScope::Created(2), ..asked };
    assert_eq!(created.check(&passive()), Ok(()));
}

#[test]
fn other_threads_are_assigned_and_put_in_order_again() {
    let text = PASSIVE.replace("t$ := t$", "t$ := !t$");
    let asked = asked(&text, ThreadScope::Unbounded);
    assert_eq!(asked.check(&passive()), Err(Flaw::NotClosed(edge(1))));
    // Afterwards the other one has it, and is the second in order, whoever it is.
    assert_eq!(asked.check(&with(&passive(), &[0, 0], Some("-0.0"))), Ok(()));
}

/// A choice in a passive assignment is made for each thread, the one in a condition that does not mention other threads
/// once, even if they have the same number.
#[test]
fn a_condition_does_not_bind_the_choices_of_other_threads() {
    let text = "thread t: bool\nproc main() from L0 to L1\ne0 L0 -> L0: t$ := ?0 constrain ?0\n\
        start main: main exactly 2 with t init t := T\ntarget L1";
    let places = vec![place(FREE, &[], 0, &[(0, 0)])];
    let always = proof(places, &[(&[0, 0], "+0.0 +1.0")]);
    assert_eq!(asked(text, ThreadScope::Unbounded).check(&always), Err(Flaw::NotClosed(edge(0))));
}

#[test]
fn a_formula_need_hold_only_for_threads_in_order() {
    let text = "thread b: bool\nproc main() from L0 to L1\ne0 L0 -> L0: b := !b\n\
        start main: main exactly 3 with b\ntarget L1";
    let places = vec![place(FREE, &[], 0, &[(0, 0)])];
    let mut sorted = ShapeProof { places, ..ShapeProof::default() };
    let of = |thread: u32| Node::Atom(Atom::Of { thread, var: 0 });
    let [a, b, c] = [0, 1, 2].map(|thread| sorted.formulas.add(of(thread)).expect("it has no parts"));
    let mut implies = |left: FormulaId, right: FormulaId| {
        let not = sorted.formulas.add(Node::Not(left)).expect("the part is there");
        sorted.formulas.add(Node::Or(not, right)).expect("the parts are there")
    };
    let (first, second) = (implies(a, b), implies(b, c));
    let formula = sorted.formulas.add(Node::And(first, second)).expect("the parts are there");
    sorted.shapes.push(Shape::of_all(vec![0, 0, 0], 0, formula));
    let asked = asked(text, ThreadScope::Unbounded);
    assert_eq!(asked.check(&sorted), Ok(()));
    sorted.shapes[0].formula = c;
    assert_eq!(asked.check(&sorted), Err(Flaw::Start(LocId::new(0))));
}

#[test]
fn the_end_of_the_prelude_starts_the_threads() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\nproc first() from L0 to L2\n\
        e0 L0 -> L1: x := T\ne1 L1 -> L2: return\n\
        proc main() from L3 to L5\ne2 L3 -> L4: assert x & t\ne3 L4 -> L5: return\n\
        prelude first\nstart main: main at most 2 with t init t := x\ntarget e2";
    let asked = asked(text, ThreadScope::Unbounded);
    let free = |loc: usize| place(FREE, &[], loc, &[(0, 1)]);
    let places = vec![place(Role::Prelude, &[], 0, &[]), free(3), free(4)];
    let shapes: [(&[u32], &str); 7] = [
        (&[], "+0"),
        (&[0], "-0"),
        (&[1], "+0 +0.0"),
        (&[1, 1], "+0 +0.0 +1.0"),
        (&[1, 2], "+0 +0.0"),
        (&[2], "+0"),
        (&[2, 2], "+0"),
    ];
    let good = proof(places, &shapes);
    assert_eq!(asked.check(&good), Ok(()));
    assert_eq!(asked.check(&with(&good, &[0], Some("+0"))), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(asked.check(&with(&good, &[1], Some("+0 -0.0"))), Err(Flaw::NotClosed(edge(1))));
    assert_eq!(asked.check(&with(&good, &[1, 1], None)), Err(Flaw::NotClosed(edge(1))));
    assert_eq!(asked.check(&with(&good, &[], None)), Err(Flaw::NotClosed(edge(1))));
    assert_eq!(asked.check(&with(&good, &[1], Some("+0"))), Err(Flaw::Assert(edge(2))));
}

/// The states behind a prelude are all there; that they are those with which it ends must be shown as well.
#[test]
fn a_prelude_is_looked_at_where_states_are_listed() {
    let text = "shared x: bool\ninit x := T\nproc first() from L0 to L1\ne0 L0 -> L1: return\n\
        proc main() from L2 to L3\ne1 L2 -> L2: assert !x\nprelude first\nstart main\ntarget e1";
    let asked = asked(text, ThreadScope::AtMost(1));
    let behind = proof(vec![place(FREE, &[], 2, &[])], &[(&[0], "-0")]);
    assert_eq!(asked.check(&behind), Err(Flaw::Start(LocId::new(0))));
    let places = vec![place(Role::Prelude, &[], 0, &[]), place(FREE, &[], 2, &[])];
    let lie = proof(places, &[(&[0], "+0"), (&[1], "-0")]);
    assert_eq!(asked.check(&lie), Err(Flaw::NotClosed(edge(0))));
}

fn refused(flaw: Flaw) -> Result<(), Refused> {
    Err(flaw.into())
}

#[test]
fn states_that_are_not_named_are_found_again() {
    let (asked, proof) = mutex();
    assert_eq!(asked.grow(&proof, &[&[0, 0]]), Ok(()));
    assert_eq!(asked.grow(&proof, &[&[0, 0], &[0, 3]]), Ok(()));
    assert_eq!(asked.grow(&proof, &[]), refused(Flaw::Start(LocId::new(0))));
    // All states of a closed set may be named.
    let all: Vec<&[u32]> = proof.shapes.iter().map(|shape| shape.threads.as_slice()).collect();
    assert_eq!(asked.grow(&proof, &all), Ok(()));
}

#[test]
fn an_error_that_is_found_again_is_noticed() {
    let (asked, proof) = mutex();
    assert_eq!(asked.asking(&[4]).grow(&proof, &[&[0, 0]]), refused(Flaw::Location(LocId::new(4))));
    assert_eq!(asked.asking(&[0]).grow(&proof, &[&[0, 0]]), refused(Flaw::Location(LocId::new(0))));
    let meeting = |locs: [usize; 2]| {
        let target = Target::default().with_together([locs.map(LocId::new).to_vec()]);
        Asked { target, program: asked.program.clone(), ..asked }.grow(&proof, &[&[0, 0]])
    };
    assert_eq!(meeting([4, 5]), Ok(()));
    assert_eq!(meeting([0, 5]), refused(Flaw::Location(LocId::new(0))));
    // Without a lock both threads come in.
    let text = "shared busy: bool\ninit busy := F\nproc main() from L0 to L3\ne0 L0 -> L1: assert !busy\n\
        e1 L1 -> L2: busy := T\ne2 L2 -> L0: busy := F\nstart main: main exactly 2\ntarget e0";
    let asked = self::asked(text, ThreadScope::Unbounded);
    let places = [0, 1, 2].map(|loc| place(FREE, &[], loc, &[])).to_vec();
    let first = self::proof(places, &[(&[0, 0], "-0")]);
    assert_eq!(asked.grow(&first, &[&[0, 0]]), refused(Flaw::Assert(edge(0))));
}

#[test]
fn variables_that_are_not_told_may_hold_anything() {
    let (asked, proof) = mutex();
    // Without the lock's value both threads come in, and the assertion fails.
    let first = self::proof(proof.places.clone(), &[(&[0, 0], "-1")]);
    assert_eq!(asked.grow(&first, &[&[0, 0]]), refused(Flaw::Assert(edge(3))));
}

#[test]
fn places_that_are_not_listed_are_no_ends_of_steps_that_are_found_again() {
    let (asked, mut proof) = mutex();
    proof.places.pop();
    proof.shapes.pop();
    assert_eq!(asked.grow(&proof, &[&[0, 0]]), refused(Flaw::NotClosed(edge(5))));
}

#[test]
fn threads_that_start_and_end_are_found_again() {
    let grow = |scope: ThreadScope| asked(SPAWNS, scope).grow(&spawns(), &[&[0]]);
    assert_eq!(grow(ThreadScope::AtMost(2)), Ok(()));
    assert_eq!(grow(ThreadScope::AtMost(3)), Ok(()));
    assert_eq!(grow(ThreadScope::Created(3)), Ok(()));
    let fails = asked(&SPAWNS.replace("work(T)", "work(F)"), ThreadScope::AtMost(2));
    assert_eq!(fails.grow(&spawns(), &[&[0]]), refused(Flaw::Assert(edge(1))));
}

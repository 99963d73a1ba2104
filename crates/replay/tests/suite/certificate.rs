//! The certificate checkers: they accept proofs and reject what only looks like one.

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Certificate, Paths, Run, SummaryProof, Task, ThreadScope};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{LocId, ProcId, Program, Target, VarId};
use selvedge_replay::certificate::{Flaw, verify};

fn program(text: &str) -> (Program, Target) {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    (program, target)
}

fn check((program, target): &(Program, Target), certificate: &Certificate) -> Result<(), Flaw> {
    verify(&Task { program, target, threads: ThreadScope::Unbounded }, certificate, &Run::unlimited())
        .map(drop)
        .map_err(|refused| refused.flaw().expect("the judge can tell"))
}

/// Builds a proof from formulas in words: `T`, `x` (now), `x0` (entry), `r` (first result), and their equality.
struct Builder(SummaryProof);

impl Builder {
    fn new() -> Builder {
        Builder(SummaryProof::default())
    }

    fn node(&mut self, node: Node) -> FormulaId {
        self.0.formulas.add(node).expect("parts come first")
    }

    fn atom(&mut self, atom: Atom) -> FormulaId {
        self.node(Node::Atom(atom))
    }

    fn equal(&mut self, left: Atom, right: Atom) -> FormulaId {
        let (left, right) = (self.atom(left), self.atom(right));
        let not_right = self.node(Node::Not(right));
        self.node(Node::Ite(left, right, not_right))
    }

    fn differ(&mut self, left: Atom, right: Atom) -> FormulaId {
        let equal = self.equal(left, right);
        self.node(Node::Not(equal))
    }

    fn truth(&mut self) -> FormulaId {
        self.node(Node::Const(true))
    }

    fn at(&mut self, loc: usize, formula: FormulaId) {
        self.0.locs.push((LocId::new(loc), formula));
        self.0.locs.sort();
    }

    fn returns(&mut self, proc: usize, formula: FormulaId) {
        self.0.procs.push((ProcId::new(proc), formula));
    }

    fn certificate(self) -> Certificate {
        Certificate::Summaries(self.0)
    }
}

/// `flip` is called twice: `x` is again what it was.
fn flip_twice() -> (Program, Target) {
    program(
        "shared x: bool\ninit x := T\nproc main() from L0 to L4\ne0 L0 -> L1: call flip()\ne1 L1 -> L2: call flip()\n\
         e2 L2 -> L3: assert x\ne3 L3 -> L4: return\n\
         proc flip() from L5 to L7\ne4 L5 -> L6: x := !x\ne5 L6 -> L7: return\nstart main\ntarget e2",
    )
}

const X: VarId = VarId::from_raw_unchecked(0);

fn flip_proof() -> Builder {
    let mut proof = Builder::new();
    let (now, entry) = (Atom::Now(X), Atom::Entry(X));
    let x = proof.atom(now);
    let not_x = proof.node(Node::Not(x));
    let (same, flipped) = (proof.equal(now, entry), proof.differ(now, entry));
    for (loc, formula) in [(0, x), (1, not_x), (2, x), (3, x), (5, same), (6, flipped)] {
        proof.at(loc, formula);
    }
    proof.returns(1, flipped);
    proof
}

#[test]
fn a_proof_with_a_summary_is_accepted() {
    assert_eq!(check(&flip_twice(), &flip_proof().certificate()), Ok(()));
}

/// Replaces the formula of a location.
fn with_loc(loc: usize, change: impl Fn(&mut Builder) -> FormulaId) -> Certificate {
    let mut proof = flip_proof();
    let formula = change(&mut proof);
    let place = proof.0.locs.iter().position(|(id, _)| id.index() == loc).expect("the proof has the location");
    proof.0.locs[place].1 = formula;
    proof.certificate()
}

#[test]
fn each_obligation_is_checked() {
    let program = flip_twice();
    let not_x = |proof: &mut Builder| {
        let x = proof.atom(Atom::Now(X));
        proof.node(Node::Not(x))
    };
    let edge = selvedge_ir::EdgeId::new;
    assert_eq!(check(&program, &with_loc(0, not_x)), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(check(&program, &with_loc(1, |proof| proof.atom(Atom::Now(X)))), Err(Flaw::NotClosed(edge(0))));
    assert_eq!(check(&program, &with_loc(2, not_x)), Err(Flaw::NotClosed(edge(1))));
    assert_eq!(check(&program, &with_loc(2, Builder::truth)), Err(Flaw::Assert(edge(2))));
    assert_eq!(check(&program, &with_loc(5, not_x)), Err(Flaw::Entry(edge(0))));
    assert_eq!(check(&program, &with_loc(6, not_x)), Err(Flaw::NotClosed(edge(4))));
    let mut wrong_summary = flip_proof();
    wrong_summary.0.procs[0].1 = wrong_summary.equal(Atom::Now(X), Atom::Entry(X));
    assert_eq!(check(&program, &wrong_summary.certificate()), Err(Flaw::NotClosed(edge(0))));
    let mut no_summary = flip_proof();
    no_summary.0.procs.clear();
    assert_eq!(check(&program, &no_summary.certificate()), Err(Flaw::Summary(edge(5))));
}

#[test]
fn a_missing_location_is_a_claim_that_it_is_never_reached() {
    let mut proof = flip_proof();
    proof.0.locs.retain(|(loc, _)| loc.index() != 2);
    assert_eq!(check(&flip_twice(), &proof.certificate()), Err(Flaw::NotClosed(selvedge_ir::EdgeId::new(1))));
    let empty = Builder::new().certificate();
    assert_eq!(check(&flip_twice(), &empty), Err(Flaw::Start(LocId::new(0))));
}

#[test]
fn formulas_about_invisible_variables_are_malformed() {
    let result = with_loc(1, |proof| proof.atom(Atom::Result(0)));
    assert_eq!(check(&flip_twice(), &result), Err(Flaw::Malformed(Some(ProcId::new(0)))));
    let unknown = with_loc(1, |proof| proof.atom(Atom::Now(VarId::new(9))));
    assert_eq!(check(&flip_twice(), &unknown), Err(Flaw::Malformed(Some(ProcId::new(0)))));
    let mut unsorted = flip_proof();
    unsorted.0.locs.swap(0, 1);
    assert_eq!(check(&flip_twice(), &unsorted.certificate()), Err(Flaw::Malformed(None)));
}

#[test]
fn formulas_refer_to_earlier_ones_only() {
    let mut formulas = Formulas::default();
    assert_eq!(formulas.add(Node::Not(FormulaId(0))), Err(FormulaId(0)));
}

#[test]
fn the_callers_locals_survive_a_call_and_results_are_bound() {
    let program = program(
        "shared g: bool\nproc main() from L0 to L4\nlocal l: bool, m: bool\ne0 L0 -> L1: l := T\n\
         e1 L1 -> L2: m := call not(l)\ne2 L2 -> L3: assert l & !m\ne3 L3 -> L4: return\n\
         proc not(p: bool) returns bool from L5 to L6\ne4 L5 -> L6: return !p\nstart main\ntarget e2",
    );
    let var = VarId::new;
    let mut proof = Builder::new();
    let truth = proof.truth();
    let l = proof.atom(Atom::Now(var(1)));
    let m = proof.atom(Atom::Now(var(2)));
    let not_m = proof.node(Node::Not(m));
    let both = proof.node(Node::And(l, not_m));
    let same = proof.equal(Atom::Now(var(3)), Atom::Entry(var(3)));
    let negated = proof.differ(Atom::Result(0), Atom::Entry(var(3)));
    for (loc, formula) in [(0, truth), (1, l), (2, both), (3, both), (5, same)] {
        proof.at(loc, formula);
    }
    proof.returns(1, negated);
    assert_eq!(check(&program, &proof.certificate()), Ok(()));
}

#[test]
fn the_thread_begins_where_the_prelude_returns() {
    let text = "shared x: bool\nthread t: bool\nproc setup() from L0 to L2\ne0 L0 -> L1: x := T\ne1 L1 -> L2: return\n\
                proc main() from L3 to L5\ne2 L3 -> L4: assert x & t\ne3 L4 -> L5: return\nprelude setup\n\
                start main: main exactly 1 with t init t := x\ntarget e2";
    let program = program(text);
    let mut proof = Builder::new();
    let truth = proof.truth();
    let x = proof.atom(Atom::Now(VarId::new(0)));
    let t = proof.atom(Atom::Now(VarId::new(1)));
    let both = proof.node(Node::And(x, t));
    for (loc, formula) in [(0, truth), (1, x), (3, both), (4, both)] {
        proof.at(loc, formula);
    }
    proof.returns(0, x);
    let mut weak = SummaryProof::clone(&proof.0);
    assert_eq!(check(&program, &proof.certificate()), Ok(()));
    weak.procs[0].1 = truth;
    assert_eq!(check(&program, &Certificate::Summaries(weak)), Err(Flaw::Start(LocId::new(3))));
}

#[test]
fn control_flow_proofs_are_closed_and_free_of_errors() {
    let program = program(
        "shared x: bool\nproc main() from L0 to L4\ne0 L0 -> L1: x := T\ne1 L1 -> L2: assume F\ne2 L2 -> L3: assert x\n\
         e3 L1 -> L4: return\nstart main\ntarget e2",
    );
    let locs = |numbers: &[usize]| Certificate::ControlFlow(numbers.iter().copied().map(LocId::new).collect());
    let edge = selvedge_ir::EdgeId::new;
    assert_eq!(check(&program, &locs(&[0, 1])), Ok(()));
    assert_eq!(check(&program, &locs(&[0])), Err(Flaw::NotClosed(edge(0))));
    assert_eq!(check(&program, &locs(&[1])), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(check(&program, &locs(&[0, 1, 2, 3])), Err(Flaw::Assert(edge(2))));
    assert_eq!(check(&program, &locs(&[1, 0])), Err(Flaw::Malformed(None)));
}

/// An error at the first location of the prelude, of the thread, and where a call leads.
#[test]
fn k_induction_sees_errors_at_first_locations() {
    let text = "shared x: bool\nproc setup() from L0 to L2\ne0 L0 -> L1: x := T\ne1 L1 -> L2: return\n\
                proc main() from L3 to L5\ne2 L3 -> L4: call f()\ne3 L4 -> L5: return\nproc f() from L6 to L7\n\
                e4 L6 -> L7: return\nprelude setup\nstart main: main exactly 1\n";
    let verdict = |target: &str, k: u32| {
        let program = program(&format!("{text}target {target}"));
        check(&program, &Certificate::Induction { k, paths: Paths::LoopFree })
    };
    for (target, n_steps) in [("L0", 0), ("L1", 1), ("L3", 2), ("L6", 3), ("L4", 4)] {
        assert_eq!(verdict(target, 5), Err(Flaw::Base(n_steps)), "{target}");
        assert!(verdict(target, n_steps.saturating_sub(1)).is_err(), "{target}");
    }
    assert_eq!(verdict("L5", 0), Ok(()));
}

/// A way round to the first location of the thread leads to a state that was there before, and to no other.
#[test]
fn k_induction_knows_the_first_location_again() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L3\ne0 L0 -> L0: skip\ne1 L0 -> L1: assume x\n\
                e2 L1 -> L2: assert !x\ne3 L2 -> L3: return\nstart main\ntarget e2";
    let verdict = |k: u32, paths: Paths| check(&program(text), &Certificate::Induction { k, paths });
    assert_eq!(verdict(2, Paths::LoopFree), Ok(()));
    assert_eq!(verdict(1, Paths::LoopFree), Err(Flaw::Step));
    assert_eq!(verdict(2, Paths::All), Err(Flaw::Step));
}

/// Both branches of a conditional count, in each kind of proof that asks a SAT solver.
#[test]
fn neither_branch_of_a_conditional_is_forgotten() {
    for (condition, holds) in
        [("if x then T else F", false), ("if x then F else T", false), ("if x then x else !x", true)]
    {
        let text = "shared x: bool\nproc main() from L0 to L2\ne0 L0 -> L1: assert CONDITION\ne1 L1 -> L2: return\n\
                    start main\ntarget e0";
        let program = program(&text.replace("CONDITION", condition));
        let mut proof = Builder::new();
        let truth = proof.truth();
        [0, 1].into_iter().for_each(|loc| proof.at(loc, truth));
        proof.returns(0, truth);
        assert_eq!(check(&program, &proof.certificate()).is_ok(), holds, "{condition}");
        let induction = Certificate::Induction { k: 1, paths: Paths::All };
        assert_eq!(check(&program, &induction).is_ok(), holds, "{condition}");
    }
}

/// A prelude whose thread may end inside, at once or in a procedure that it calls.
#[test]
fn summaries_speak_of_preludes_that_return() {
    let text = "shared x: bool\nproc setup() from L0 to L2\ne0 L0 -> L1: call f()\ne1 L1 -> L2: return\n\
        proc f() from L3 to L5\ne2 L3 -> L4: call f()\ne3 L3 -> L5: OTHER\n\
        proc main() from L6 to L7\ne4 L6 -> L7: end\nprelude setup\nstart main";
    let check = |other: &str| {
        let mut proof = Builder::new();
        let truth = proof.truth();
        (0..8).for_each(|loc| proof.at(loc, truth));
        (0..3).for_each(|proc| proof.returns(proc, truth));
        check(&program(&text.replace("OTHER", other)), &proof.certificate())
    };
    assert_eq!(check("return"), Ok(()));
    assert!(matches!(check("end"), Err(Flaw::OutOfScope(_))));
    let at_once = text.replace("e1 L1 -> L2: return", "e1 L1 -> L2: end").replace("OTHER", "return");
    let mut proof = Builder::new();
    let truth = proof.truth();
    (0..8).for_each(|loc| proof.at(loc, truth));
    (0..3).for_each(|proc| proof.returns(proc, truth));
    assert!(matches!(self::check(&program(&at_once), &proof.certificate()), Err(Flaw::OutOfScope(_))));
}

#[test]
fn summaries_are_about_locations_and_procedures_that_there_are() {
    let (program, _) = flip_twice();
    let with = |target: Target, change: &dyn Fn(&mut SummaryProof)| {
        let mut proof = flip_proof();
        change(&mut proof.0);
        check(&(program.clone(), target), &proof.certificate())
    };
    let truth = flip_proof().0.locs[0].1;
    let malformed = Err(Flaw::Malformed(None));
    assert_eq!(with(Target::default(), &|_| ()), Ok(()));
    assert_eq!(with(Target::default(), &|proof| proof.locs.push((LocId::new(8), truth))), malformed);
    assert_eq!(with(Target::default(), &|proof| proof.procs.push((ProcId::new(2), truth))), malformed);
    assert_eq!(with(Target::default(), &|proof| proof.procs.insert(1, (ProcId::new(0), truth))), malformed);
    // A target location may have a formula that nothing satisfies.
    let at = |loc: usize| Target::new(Vec::new(), vec![LocId::new(loc)]);
    for loc in [0, 1, 2, 6] {
        assert_eq!(with(at(loc), &|_| ()), Err(Flaw::Location(LocId::new(loc))));
    }
    assert_eq!(with(at(4), &|_| ()), Ok(()));
    let falsehood = |proof: &mut SummaryProof| {
        let never = proof.formulas.add(Node::Const(false)).expect("it has no parts");
        proof.locs.push((LocId::new(7), never));
    };
    assert_eq!(with(at(7), &falsehood), Ok(()));
}

/// Locals of a procedure that does not run have one value only, so that a way round is known again; while it runs they
/// have any.
#[test]
fn k_induction_forgets_the_locals_of_procedures_that_do_not_run() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L4\ne0 L0 -> L1: call g()\ne1 L1 -> L0: skip\n\
        e2 L0 -> L2: assume x\ne3 L2 -> L3: assert !x\ne4 L3 -> L4: return\nproc g() from L5 to L7\nlocal m: bool\n\
        e5 L5 -> L6: skip\ne6 L6 -> L7: return\nstart main\ntarget e3";
    let verdict = |k: u32| check(&program(text), &Certificate::Induction { k, paths: Paths::LoopFree });
    assert_eq!([3, 4, 5].map(verdict), [Err(Flaw::Step), Err(Flaw::Step), Ok(())]);
    let read =
        text.replace("e5 L5 -> L6: skip", "e5 L5 -> L6: x := m").replace("e1 L1 -> L0: skip", "e1 L1 -> L0: assert !x");
    let read = read.replace("target e3", "target e1");
    let verdict = |k: u32, paths: Paths| check(&program(&read), &Certificate::Induction { k, paths });
    for paths in [Paths::All, Paths::LoopFree] {
        let found = [0, 1, 2, 3, 4].map(|k| verdict(k, paths));
        assert_eq!(found[..4], [Err(Flaw::Step), Err(Flaw::Step), Err(Flaw::Step), Err(Flaw::Step)]);
        assert_eq!(found[4], Err(Flaw::Base(4)));
    }
}

/// Assigned values are those of the next state, and all others stay, in each kind of proof that unrolls steps.
#[test]
fn k_induction_follows_assignments() {
    let verdict = |first: &str, condition: &str| {
        let text = format!(
            "shared x: bool, y: bool\ninit x := F, y := T\nproc main() from L0 to L3\ne0 L0 -> L1: {first}\n\
             e1 L1 -> L2: assert {condition}\ne2 L2 -> L3: return\nstart main\ntarget e1"
        );
        check(&program(&text), &Certificate::Induction { k: 2, paths: Paths::All })
    };
    for (first, condition) in [
        ("x := T", "x"),
        ("x := F", "!x"),
        ("x := y", "x & y"),
        ("x := y, y := x", "x & !y"),
        ("x := ?0", "y"),
        ("skip", "!x & y"),
        ("x := ?0 constrain ?0", "x"),
        ("assume x", "F"),
    ] {
        assert_eq!(verdict(first, condition), Ok(()), "{first}: {condition}");
    }
    for (first, condition) in [
        ("x := T", "!x"),
        ("x := F", "x"),
        ("x := y", "!y"),
        ("x := y, y := x", "x & y"),
        ("x := ?0", "x"),
        ("skip", "x"),
    ] {
        assert_eq!(verdict(first, condition), Err(Flaw::Base(2)), "{first}: {condition}");
    }
}

/// No thread passes an assertion of a constant false, nor a condition that is one.
#[test]
fn control_flow_ends_at_what_nobody_passes() {
    let closed = |operation: &str| {
        let text = format!(
            "shared x: bool\nproc main() from L0 to L2\ne0 L0 -> L1: {operation}\ne1 L0 -> L0: skip\n\
             e2 L1 -> L2: return\n\
             start main"
        );
        check(&program(&text), &Certificate::ControlFlow(vec![LocId::new(0)]))
    };
    for operation in ["assert F", "assume F", "x := T constrain F"] {
        assert_eq!(closed(operation), Ok(()), "{operation}");
    }
    for operation in ["assert T", "assert x", "assume x", "assume T", "x := F"] {
        assert_eq!(closed(operation), Err(Flaw::NotClosed(selvedge_ir::EdgeId::new(0))), "{operation}");
    }
}

/// Proofs about one thread with truth values say nothing about several, or about integers.
#[test]
fn proofs_about_one_thread_are_out_of_scope_elsewhere() {
    let text = "shared x: bool, b: bool\nproc main() from L0 to L2\ne0 L0 -> L1: x := b\ne1 L1 -> L2: return\n\
        proc other() from L3 to L4\ne2 L3 -> L4: end\nstart main";
    let refused = |from: &str, to: &str| {
        let program = program(&text.replacen(from, to, 1));
        let mut proof = Builder::new();
        let truth = proof.truth();
        (0..program.0.locs.len()).for_each(|loc| proof.at(loc, truth));
        (0..2).for_each(|proc| proof.returns(proc, truth));
        let induction = Certificate::Induction { k: 1, paths: Paths::All };
        [proof.certificate(), induction]
            .map(|certificate| matches!(check(&program, &certificate), Err(Flaw::OutOfScope(_))))
    };
    assert_eq!(refused("start main", "start main"), [false, false]);
    for (from, to) in [
        ("start main", "start main: main exactly 2"),
        ("start main", "start main: main at most 1"),
        ("start main", "start main: main any"),
        ("start main", "start main\nstart other"),
        ("x := b", "spawn other()"),
        ("x := b", "fork L1"),
        ("b: bool", "b: bool, n: int"),
        ("b: bool", "b: bool, n: u8"),
        ("x := b", "x := ?0:int = 3"),
        ("x := b", "x := ?0:u8 = 3:u8"),
        ("start main", "init x := ?0:int = 3\nstart main"),
    ] {
        let found = refused(from, to);
        assert_eq!(found, [true, true], "{to}");
    }
}

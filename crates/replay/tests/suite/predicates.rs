//! Boolean programs over predicates: what the judge accepts, and forged ones, of which each is a flaw.

use selvedge_check::{Certificate, PredicatePlace, PredicateProof, PredicateStep, Run, Task, ThreadScope};
use selvedge_ir::text::{parse, parse_expr, parse_with_target};
use selvedge_ir::validate::validate;
use selvedge_ir::{Assign, Count, EdgeId, EntryId, Expr, LocId, Op, Program, Target, VarId};
use selvedge_replay::certificate::{Flaw, Refused, verify};

/// Two numbers grow together, behind a lock.
const TWINS: &str = "shared lock: bool, x: u8, y: u8\ninit lock := F, x := 0:u8, y := 0:u8\n\
    proc w() from L0 to L7\nlocal a: u8\n\
    e0 L0 -> L1: lock := T constrain !lock\n\
    e1 L1 -> L2: a := x\n\
    e2 L2 -> L3: x := u8.add(a, 1:u8)\n\
    e3 L3 -> L4: y := u8.add(1:u8, a)\n\
    e4 L4 -> L5: assert x = y\n\
    e5 L5 -> L6: lock := F\n\
    e6 L6 -> L7: return\n\
    start w any\ntarget e4";

/// The predicates of each variable: `p` of the lock, `q` says that the numbers are equal; `m`, `n` speak of a thread.
const OVER_TWINS: &str = "shared p: bool, q: bool\ninit p := F, q := T\n\
    proc w() from L0 to L7\nlocal m: bool\nlocal n: bool\n\
    e0 L0 -> L1: p := T constrain !p\n\
    e1 L1 -> L2: m := q\n\
    e2 L2 -> L3: q := ?0, n := T, n$ := ?1\n\
    e3 L3 -> L4: q := n, m$ := ?0\n\
    e4 L4 -> L5: assert q\n\
    e5 L5 -> L6: p := F\n\
    e6 L6 -> L7: return\n\
    start w any";

fn program(text: &str) -> Program {
    let program = parse(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

fn var(number: usize) -> Option<VarId> {
    Some(VarId::new(number))
}

fn place(calls: &[usize], loc: usize, tracked: &[usize]) -> Option<PredicatePlace> {
    Some(PredicatePlace {
        calls: calls.iter().copied().map(EdgeId::new).collect(),
        loc: LocId::new(loc),
        tracked: tracked.iter().copied().map(VarId::new).collect(),
    })
}

fn anywhere(program: &Program) -> Certificate {
    Certificate::ControlFlow(program.locs.indices().collect())
}

/// The proof about the twins, without a target.
fn twins() -> (Program, PredicateProof) {
    let (old, _) = parse_with_target(TWINS).expect("the program is well-formed");
    let new = program(OVER_TWINS);
    let predicates = ["lock", "x = y", "a = y", "x = u8.add(a, 1:u8)"];
    let mut places: Vec<_> = (0..7).map(|loc| place(&[], loc, &[])).collect();
    places[2] = place(&[], 2, &[2]);
    places[3] = place(&[], 3, &[3]);
    places.push(None);
    let choices = [vec![], vec![], vec![var(1), var(3)], vec![var(2)], vec![], vec![], vec![]];
    let steps = choices.into_iter().enumerate();
    let proof = PredicateProof {
        predicates: predicates.iter().map(|text| parse_expr(&old, text).expect("it is a condition")).collect(),
        places: places.into_iter().collect(),
        steps: steps.map(|(edge, choices)| PredicateStep { edge: EdgeId::new(edge), choices }).collect(),
        certificate: anywhere(&new),
        program: new,
    };
    (old, proof)
}

fn judged(old: &Program, proof: &PredicateProof, target: &Target) -> Result<(), Refused> {
    let task = Task { program: old, target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::OverPredicates(Box::new(proof.clone())), &Run::unlimited()).map(drop)
}

#[test]
fn a_program_over_predicates_is_accepted() {
    let (old, proof) = twins();
    assert_eq!(judged(&old, &proof, &Target::default()), Ok(()));
}

/// The errors of the program are those of the Boolean program, about which the rest of the proof is.
#[test]
fn the_target_is_that_of_the_boolean_program() {
    let (old, proof) = twins();
    let assert = Target::new(vec![EdgeId::new(4)], Vec::new());
    assert_eq!(judged(&old, &proof, &assert), Err(Flaw::Assert(EdgeId::new(4)).into()));
    let loc = Target::new(Vec::new(), vec![LocId::new(5)]);
    assert_eq!(judged(&old, &proof, &loc), Err(Flaw::Location(LocId::new(5)).into()));
}

fn assign(proof: &mut PredicateProof, edge: usize) -> &mut Assign {
    match &mut proof.program.edges[edge].op {
        Op::Assign(assign) => assign,
        op => panic!("{op:?}"),
    }
}

/// Each change alone makes the Boolean program unable to do something, or the parts not fit.
#[test]
fn a_forged_program_over_predicates_is_a_flaw() {
    type Forge = fn(&mut PredicateProof);
    let forged: [(&str, Forge, Flaw); 16] = [
        ("a wrong value", |proof| assign(proof, 3).active[0].1 = Expr::TRUE, Flaw::NotClosed(EdgeId::new(3))),
        ("no value", |proof| drop(assign(proof, 3).active.remove(0)), Flaw::NotClosed(EdgeId::new(3))),
        ("no broadcast", |proof| assign(proof, 3).passive.clear(), Flaw::NotClosed(EdgeId::new(3))),
        ("a wrong broadcast", |proof| assign(proof, 2).passive[0].1 = Expr::FALSE, Flaw::NotClosed(EdgeId::new(2))),
        ("a step that is blocked", |proof| assign(proof, 0).constrain = Expr::FALSE, Flaw::NotClosed(EdgeId::new(0))),
        ("a wrong guess", |proof| proof.steps[2].choices[0] = var(0), Flaw::NotClosed(EdgeId::new(2))),
        ("no guess", |proof| proof.steps[2].choices[1] = None, Flaw::NotClosed(EdgeId::new(2))),
        ("fewer guesses", |proof| proof.steps[2].choices.truncate(1), Flaw::Malformed(None)),
        ("another step", |proof| proof.steps[5].edge = EdgeId::new(4), Flaw::Malformed(None)),
        ("another place", |proof| proof.places[5] = place(&[], 1, &[]), Flaw::Malformed(None)),
        ("no place", |proof| proof.places[5] = None, Flaw::Malformed(None)),
        ("another start", |proof| proof.program.init[1].1 = Expr::FALSE, Flaw::Malformed(None)),
        ("more threads", |proof| proof.program.entries[0].count = Count::Exactly(2), Flaw::Malformed(None)),
        ("another predicate", |proof| proof.predicates[1] = Expr::Var(VarId::new(0)), Flaw::Malformed(None)),
        ("a predicate on a thread", |proof| proof.predicates.swap(1.into(), 2.into()), Flaw::Malformed(None)),
        ("another assertion", |proof| proof.program.edges[4].op = Op::Assert(Expr::TRUE), {
            Flaw::NotClosed(EdgeId::new(4))
        }),
    ];
    for (name, forge, flaw) in forged {
        let (old, mut proof) = twins();
        forge(&mut proof);
        assert_eq!(judged(&old, &proof, &Target::default()), Err(flaw.into()), "{name}");
    }
}

/// A value that is not tracked may be any.
#[test]
fn what_is_not_tracked_is_not_known() {
    let (old, mut proof) = twins();
    proof.places[3] = place(&[], 3, &[]);
    assert_eq!(judged(&old, &proof, &Target::default()), Err(Flaw::NotClosed(EdgeId::new(3)).into()));
    let (old, mut proof) = twins();
    proof.places[1] = place(&[], 1, &[2]);
    assert_eq!(judged(&old, &proof, &Target::default()), Err(Flaw::NotClosed(EdgeId::new(0)).into()));
}

#[test]
fn programs_beyond_the_kind_are_out_of_scope() {
    let (mut old, proof) = twins();
    old.prelude = Some(old.entries[EntryId::new(0)].proc);
    assert!(matches!(judged(&old, &proof, &Target::default()), Err(Refused::Flawed(Flaw::OutOfScope(_)))));
    let (mut old, proof) = twins();
    old.edges[1].ensures = Expr::Var(VarId::new(0));
    assert!(matches!(judged(&old, &proof, &Target::default()), Err(Refused::Unjudged(_))));
}

/// A call is an assignment of the Boolean program, and so is the return from it. A thread that starts gets the values
/// of predicates as arguments.
#[test]
fn calls_returns_and_starts_are_followed() {
    let old = program(
        "proc main() from L0 to L3\nlocal a: u8\n\
         e0 L0 -> L1: a := call f(3:u8)\n\
         e1 L1 -> L2: spawn g(u8.add(a, 1:u8))\n\
         e2 L2 -> L3: return\n\
         proc f(p: u8) returns u8 from L4 to L5\n\
         e3 L4 -> L5: return u8.add(p, 1:u8)\n\
         proc g(b: u8) from L6 to L8\n\
         e4 L6 -> L7: assert b = 5:u8\n\
         e5 L7 -> L8: return\nstart main",
    );
    let new = program(
        "proc main() from L0 to L4\nlocal three: bool\nlocal four: bool\n\
         e0 L0 -> L1: three := T\n\
         e1 L1 -> L2: four := three\n\
         e2 L2 -> L3: spawn g(four)\n\
         e3 L3 -> L4: return\n\
         proc g(five: bool) from L5 to L7\n\
         e4 L5 -> L6: assert five\n\
         e5 L6 -> L7: return\nstart main",
    );
    let condition = |text: &str| parse_expr(&old, text).expect("it is a condition");
    let step = |edge: usize| PredicateStep { edge: EdgeId::new(edge), choices: Vec::new() };
    let proof = PredicateProof {
        predicates: ["p = 3:u8", "a = 4:u8", "b = 5:u8"].into_iter().map(condition).collect(),
        places: [
            place(&[], 0, &[]),
            place(&[0], 4, &[0]),
            place(&[], 1, &[1]),
            place(&[], 2, &[]),
            None,
            place(&[], 6, &[2]),
            place(&[], 7, &[]),
            None,
        ]
        .into_iter()
        .collect(),
        steps: [0, 3, 1, 2, 4, 5].into_iter().map(step).collect(),
        certificate: anywhere(&new),
        program: new,
    };
    assert_eq!(judged(&old, &proof, &Target::default()), Ok(()));
    let forged = |forge: &dyn Fn(&mut PredicateProof)| {
        let mut proof = proof.clone();
        forge(&mut proof);
        judged(&old, &proof, &Target::default())
    };
    let wrong = |edge: usize| Err(Flaw::NotClosed(EdgeId::new(edge)).into());
    assert_eq!(forged(&|proof| assign(proof, 0).active[0].1 = Expr::FALSE), wrong(0));
    assert_eq!(forged(&|proof| assign(proof, 1).active[0].1 = Expr::FALSE), wrong(3));
    assert_eq!(forged(&|proof| proof.places[1] = place(&[], 4, &[0])), wrong(0));
    let no_argument = |proof: &mut PredicateProof| match &mut proof.program.edges[2].op {
        Op::Spawn(spawn) => spawn.args[0] = Expr::FALSE,
        op => panic!("{op:?}"),
    };
    assert_eq!(forged(&no_argument), wrong(1));
}

/// Sums in any order are the same numbers, and multiples are sums.
#[test]
fn equal_sums_are_known_to_be_equal() {
    let prove = |left: &str, right: &str| {
        let old = program(&format!(
            "shared x: u32, y: u32, z: u32, t: bool\nproc f() from L0 to L2\nL0 -> L1: t := {left} = {right}\n\
             L1 -> L2: return\nstart f"
        ));
        let new = program("shared t: bool\nproc f() from L0 to L2\nL0 -> L1: t := T\nL1 -> L2: return\nstart f");
        let steps = [0, 1].map(|edge| PredicateStep { edge: EdgeId::new(edge), choices: Vec::new() });
        let places = [place(&[], 0, &[]), place(&[], 1, &[]), None].into_iter().collect();
        let (predicates, certificate) = ([Expr::Var(VarId::new(3))].into_iter().collect(), anywhere(&new));
        let steps = steps.into_iter().collect();
        judged(&old, &PredicateProof { program: new, predicates, places, steps, certificate }, &Target::default())
    };
    let add = |left: &str, right: &str| format!("u32.add({left}, {right})");
    let (one, other) = (add(&add("x", "y"), "z"), add("y", &add("z", "x")));
    assert_eq!(prove(&one, &other), Ok(()));
    assert_eq!(prove(&format!("u32.sub({one}, y)"), &add("z", "x")), Ok(()));
    assert_eq!(prove(&add("x", "x"), "u32.sub(u32.add(x, 7:u32), u32.sub(7:u32, x))"), Ok(()));
    assert_eq!(prove("u32.sub(5:u32, u32.add(x, 5:u32))", "u32.sub(0:u32, x)"), Ok(()));
    for (left, right) in [(add("x", "y"), add("x", "z")), (add("x", "x"), add("x", "1:u32"))] {
        assert!(prove(&left, &right).is_err(), "{left} = {right}");
    }
}

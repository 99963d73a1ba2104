//! Proofs over listed states: what is started in an atomic section that never ends.

use selvedge_check::{
    AdequacyClaim, Certificate, CoverClaim, CoverProof, LocalState, OmegaVector, Place, Role, Run, SharedState, Task,
    ThreadScope,
};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target, VarId};
use selvedge_replay::certificate::{Flaw, Refused, Unjudged, verify};

/// A thread starts another at L6; then it takes the flag, starts one at L7 and never goes on.
fn program() -> Program {
    let text = "shared g: bool\ninit g := F\nproc main() from L0 to L8\n\
        e0 L0 -> L1: fork L6\ne1 L1 -> L2: atomic_begin\ne2 L2 -> L3: fork L7\ne3 L3 -> L4: assume g\n\
        e4 L4 -> L5: atomic_end\ne5 L6 -> L6: g := F\ne6 L7 -> L7: g := T\n\
        start main: main exactly 1";
    let (program, _) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

/// The first thread is at one of the two places before the section, and then there is one at L6. The place of the last
/// thread is listed or not, no thread is ever seen there.
fn proof(locs: &[usize]) -> CoverProof {
    let role = Role::Free(EntryId::from_raw_unchecked(0));
    let place = |loc: &usize| Place { role, calls: Vec::new(), loc: LocId::new(*loc), vars: Vec::new() };
    let vector = |locals: &[usize]| OmegaVector {
        shared: 0.into(),
        counts: locals.iter().map(|local| ((*local).into(), Some(1))).collect(),
    };
    CoverProof {
        shared_vars: Vec::new(),
        shareds: [SharedState { values: Vec::new(), held: false }].into_iter().collect(),
        places: locs.iter().map(place).collect(),
        locals: (0..locs.len() as u32).map(|place| LocalState { place, values: Vec::new() }).collect(),
        claim: CoverClaim::Vectors(vec![vector(&[0]), vector(&[1, 2])]),
    }
}

fn check(program: &Program, target: &Target, proof: CoverProof) -> Result<(), Flaw> {
    let task = Task { program, target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::Cover(proof), &Run::unlimited())
        .map(drop)
        .map_err(|refused| refused.flaw().expect("the judge can tell"))
}

fn meeting(locs: [usize; 2]) -> Target {
    Target::default().with_together([locs.map(LocId::new).to_vec()])
}

/// `g` may hold anything, so that the section may end, with a thread that is not listed.
#[test]
fn threads_of_a_section_that_ends_are_listed() {
    let program = program();
    assert_eq!(check(&program, &Target::default(), proof(&[0, 1, 6])), Err(Flaw::NotClosed(EdgeId::new(4))));
}

#[test]
fn threads_of_a_section_that_never_ends_need_not_be_listed() {
    let mut program = program();
    program.edges[EdgeId::new(3)].op = selvedge_ir::Op::assume(selvedge_ir::Expr::Bool(false));
    assert_eq!(check(&program, &Target::default(), proof(&[0, 1, 6])), Ok(()));
    assert_eq!(check(&program, &meeting([0, 6]), proof(&[0, 1, 6])), Ok(()));
}

/// Both are there while the section goes on for ever.
#[test]
fn threads_meet_in_a_section_that_never_ends() {
    let mut program = program();
    program.edges[EdgeId::new(3)].op = selvedge_ir::Op::assume(selvedge_ir::Expr::Bool(false));
    for locs in [&[0, 1, 6][..], &[0, 1, 6, 7]] {
        assert_eq!(check(&program, &meeting([6, 7]), proof(locs)), Err(Flaw::NotClosed(EdgeId::new(2))));
    }
}

/// Threads take turns with a flag: one of them is at L1 or L2 while it is set.
const TURNS: &str = "shared g: bool\ninit g := F\nproc main() from L0 to L3\ne0 L0 -> L1: g := T constrain !g\n\
    e1 L1 -> L2: assert g\ne2 L2 -> L0: g := F\nstart main: main any";

fn read(text: &str) -> Program {
    let (program, _) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

/// A set of vectors: the number of the flag's value, and how many threads are in each state.
type Listed<'a> = &'a [(usize, &'a [(usize, Option<u32>)])];

/// The states of threads at some locations without variables, beside the flag's values F and T, and vectors.
fn vectors(locs: &[usize], vectors: Listed<'_>) -> CoverProof {
    let vector = |(shared, counts): &(usize, &[(usize, Option<u32>)])| OmegaVector {
        shared: (*shared).into(),
        counts: counts.iter().map(|(local, count)| ((*local).into(), *count)).collect(),
    };
    CoverProof {
        shared_vars: vec![VarId::new(0)],
        shareds: [false, true].map(|value| SharedState { values: vec![value], held: false }).into_iter().collect(),
        claim: CoverClaim::Vectors(vectors.iter().map(vector).collect()),
        ..proof(locs)
    }
}

const LISTED: Listed<'static> = &[(0, &[(0, None)]), (1, &[(0, None), (1, Some(1))]), (1, &[(0, None), (2, Some(1))])];

#[test]
fn errors_of_single_threads_are_targets() {
    let judged = |text: &str, target: Target| check(&read(text), &target, vectors(&[0, 1, 2], LISTED));
    let asserts = |text: &str| Target::all_asserts(&read(text));
    let at = |loc: usize| Target::new(Vec::new(), vec![LocId::new(loc)]);
    assert_eq!(judged(TURNS, Target::default()), Ok(()));
    assert_eq!(judged(TURNS, asserts(TURNS)), Ok(()));
    let fails = TURNS.replace("assert g", "assert !g");
    assert_eq!(judged(&fails, asserts(&fails)), Err(Flaw::Assert(EdgeId::new(1))));
    for loc in 0..3 {
        assert_eq!(judged(TURNS, at(loc)), Err(Flaw::Location(LocId::new(loc))));
    }
    assert_eq!(judged(TURNS, at(3)), Ok(()));
    // A state that the vectors do not allow is no error, and its steps do not matter.
    let never = [LISTED[0]];
    let blocked = TURNS.replace("constrain !g", "constrain g");
    let judged = |target: Target| check(&read(&blocked), &target, vectors(&[0, 1, 2], &never));
    assert_eq!(judged(at(1)), Ok(()));
    assert_eq!(judged(at(0)), Err(Flaw::Location(LocId::new(0))));
}

#[test]
fn every_step_of_listed_states_is_followed() {
    let without = |missing: usize| {
        let mut listed = LISTED.to_vec();
        listed.remove(missing);
        check(&read(TURNS), &Target::default(), vectors(&[0, 1, 2], &listed))
    };
    assert_eq!(without(0), Err(Flaw::Start(LocId::new(0))));
    assert_eq!(without(1), Err(Flaw::NotClosed(EdgeId::new(0))));
    assert_eq!(without(2), Err(Flaw::NotClosed(EdgeId::new(1))));
    let mut few = LISTED.to_vec();
    few[2].1 = &[(0, Some(3)), (2, Some(1))];
    assert_eq!(
        check(&read(TURNS), &Target::default(), vectors(&[0, 1, 2], &few)),
        Err(Flaw::NotClosed(EdgeId::new(1)))
    );
    // States that are not there.
    few[2].1 = &[(0, None), (3, Some(1))];
    assert_eq!(check(&read(TURNS), &Target::default(), vectors(&[0, 1, 2], &few)), Err(Flaw::Malformed(None)));
    few[2] = (2, &[(0, None)]);
    assert_eq!(check(&read(TURNS), &Target::default(), vectors(&[0, 1, 2], &few)), Err(Flaw::Malformed(None)));
}

#[test]
fn meetings_are_looked_for_with_each_shared_state() {
    let met = |locs: &[usize]| {
        let target = Target::default().with_together([locs.iter().map(|loc| LocId::new(*loc)).collect()]);
        check(&read(TURNS), &target, vectors(&[0, 1, 2], LISTED))
    };
    for locs in [&[1, 1][..], &[1, 2], &[2, 2], &[0, 1, 2], &[0, 0, 2, 2], &[0, 3]] {
        assert_eq!(met(locs), Ok(()), "{locs:?}");
    }
    for locs in [&[0, 0][..], &[0, 1], &[0, 2], &[0, 0, 1], &[0, 0, 0, 0, 2]] {
        assert_eq!(met(locs), Err(Flaw::Location(LocId::new(0))), "{locs:?}");
    }
}

#[test]
fn a_proof_for_any_number_of_threads_is_not_one_for_a_bounded_number() {
    let (program, target) = (read(TURNS), Target::default());
    for threads in [ThreadScope::AtMost(2), ThreadScope::Created(2)] {
        let task = Task { program: &program, target: &target, threads };
        let found = verify(&task, &Certificate::Cover(vectors(&[0, 1, 2], LISTED)), &Run::unlimited());
        assert!(matches!(found, Err(Refused::Flawed(Flaw::OutOfScope(_)))), "{found:?}");
    }
}

/// Two threads with any value each: both values may be the same, and they may be different.
#[test]
fn all_ways_to_begin_are_starts() {
    let text = "thread t: bool\nproc main() from L0 to L1\ne0 L0 -> L0: skip\n\
        start main: main exactly 2 with t init t := ?0";
    let listed = |vectors: &[&[(usize, Option<u32>)]]| {
        let vector = |counts: &&[(usize, Option<u32>)]| OmegaVector {
            shared: 0.into(),
            counts: counts.iter().map(|(local, count)| ((*local).into(), *count)).collect(),
        };
        let state = |value: bool| LocalState { place: 0, values: vec![value] };
        let mut proof = proof(&[0]);
        proof.places[0].vars.push((0, VarId::new(0)));
        proof.locals = [false, true].map(state).into_iter().collect();
        proof.claim = CoverClaim::Vectors(vectors.iter().map(vector).collect());
        check(&read(text), &Target::default(), proof)
    };
    let all: [&[(usize, Option<u32>)]; 3] = [&[(0, Some(2))], &[(0, Some(1)), (1, Some(1))], &[(1, Some(2))]];
    assert_eq!(listed(&all), Ok(()));
    for missing in 0..3 {
        let mut fewer = all.to_vec();
        fewer.remove(missing);
        assert_eq!(listed(&fewer), Err(Flaw::Start(LocId::new(0))), "without {missing}");
    }
}

/// Claims about rounds need threads that begin in the same way whatever the shared state is.
#[test]
fn rounds_do_not_tell_how_threads_begin_in_a_shared_state() {
    let judged = |init: &str| {
        let text = format!(
            "shared g: bool\nthread t: bool\ninit g := F\nproc main() from L0 to L1\ne0 L0 -> L0: skip\n\
             start main: main any with t init t := {init}"
        );
        let state = |value: bool| LocalState { place: 0, values: vec![value] };
        let mut proof = vectors(&[0], &[]);
        proof.places[0].vars.push((0, VarId::new(1)));
        proof.locals = [false, true].map(state).into_iter().collect();
        proof.claim = CoverClaim::Adequacy(AdequacyClaim::default());
        let (program, target) = (read(&text), Target::default());
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        verify(&task, &Certificate::Cover(proof), &Run::unlimited()).map(drop)
    };
    assert!(matches!(judged("g"), Err(Refused::Unjudged(Unjudged::Beyond(_)))), "{:?}", judged("g"));
    // The claim is about no rounds.
    assert_eq!(judged("?0"), Err(Flaw::Malformed(None).into()));
    assert_eq!(judged("T"), Err(Flaw::Malformed(None).into()));
}

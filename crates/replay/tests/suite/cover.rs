//! Proofs over listed states: what is started in an atomic section that never ends.

use selvedge_check::{
    Certificate, CoverClaim, CoverProof, LocalState, OmegaVector, Place, Role, Run, SharedState, Task, ThreadScope,
};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target};
use selvedge_replay::certificate::{Flaw, verify};

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

//! Proofs about any number of threads by views of a few, with solvers: meetings of more threads than a view has.

use selvedge_check::formula::{Atom, Node};
use selvedge_check::{Certificate, Place, Role, Run, Seen, Shape, ShapeProof, Task, ThreadScope};
use selvedge_ir::text::parse;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, EntryId, LocId, Program, Target, VarId};
use selvedge_replay::certificate::{Flaw, verify};

/// Threads take a lock in one step, and release it.
const LOCK: &str = "shared lock: bool\ninit lock := F\nproc main() from L0 to L2\n\
    e0 L0 -> L1: lock := T constrain !lock\ne1 L1 -> L0: lock := F\nstart main: main any";

fn program(text: &str) -> Program {
    let program = parse(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

fn place(loc: usize) -> Place {
    Place { role: Role::Free(EntryId::new(0)), calls: Vec::new(), loc: LocId::new(loc), vars: Vec::new() }
}

/// Views of `k` threads at the two places of which at most one is at the second, where the lock is taken.
fn proof(k: usize) -> ShapeProof {
    let mut proof = ShapeProof { seen: Seen::Any(k as u32), places: vec![place(0), place(1)], ..ShapeProof::default() };
    let taken = proof.formulas.add(Node::Atom(Atom::Now(VarId::new(0)))).expect("it has no parts");
    let truth = proof.formulas.add(Node::Const(true)).expect("it has no parts");
    for n_threads in 1..=k {
        let with_holder = [vec![0; n_threads - 1], vec![1]].concat();
        proof.shapes.push(Shape::of_some(vec![0; n_threads], false, truth));
        proof.shapes.push(Shape::of_some(with_holder, false, taken));
    }
    proof.sort();
    proof
}

fn check(program: &Program, target: &Target, proof: &ShapeProof) -> Result<(), Flaw> {
    let task = Task { program, target, threads: ThreadScope::Unbounded };
    verify(&task, &Certificate::Shapes(proof.clone()), &Run::unlimited())
        .map(drop)
        .map_err(|refused| refused.flaw().expect("the judge can tell"))
}

fn meeting(locs: &[usize]) -> Target {
    Target::default().with_together([locs.iter().map(|loc| LocId::new(*loc)).collect()])
}

#[test]
fn a_lock_excludes_two_of_any_number_of_threads() {
    let program = program(LOCK);
    for k in [2, 3] {
        assert_eq!(check(&program, &Target::default(), &proof(k)), Ok(()), "views of {k}");
        assert_eq!(check(&program, &meeting(&[1, 1]), &proof(k)), Ok(()), "views of {k}");
        assert_eq!(check(&program, &meeting(&[0, 1]), &proof(k)), Err(Flaw::Location(LocId::new(0))), "views of {k}");
    }
}

#[test]
fn a_meeting_of_more_threads_than_views_have_is_looked_for() {
    let program = program(LOCK);
    let met = |locs: &[usize], k: usize| check(&program, &meeting(locs), &proof(k));
    for k in [2, 3] {
        assert_eq!(met(&[1, 0, 1], k), Ok(()), "views of {k}");
        assert_eq!(met(&[1, 0, 0, 1], k), Ok(()), "views of {k}");
        for locs in [&[0, 0, 0][..], &[1, 0, 0], &[0, 0, 1], &[0, 1, 0, 0], &[0, 0, 0, 0, 0]] {
            assert_eq!(met(locs, k), Err(Flaw::Location(LocId::new(0))), "{locs:?}, views of {k}");
        }
    }
}

/// A thread that takes the atomic flag: three threads are together while a fourth one holds it.
#[test]
fn a_meeting_beside_the_holder_of_the_flag_is_looked_for() {
    let program = program(
        "shared x: bool\nproc main() from L0 to L3\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: x := T\n\
         e2 L2 -> L0: atomic_end\nstart main: main any",
    );
    let holder = |loc: usize| Place { role: Role::Holder(EntryId::new(0)), ..place(loc) };
    let places = vec![holder(1), place(0)];
    let mut proof = ShapeProof { seen: Seen::Any(2), places, ..ShapeProof::default() };
    let truth = proof.formulas.add(Node::Const(true)).expect("it has no parts");
    let views: [(&[u32], bool); 6] =
        [(&[0], false), (&[1], false), (&[1], true), (&[0, 1], false), (&[1, 1], false), (&[1, 1], true)];
    proof.shapes.extend(views.map(|(threads, held)| Shape::of_some(threads.to_vec(), held, truth)));
    proof.sort();
    assert_eq!(check(&program, &Target::default(), &proof), Ok(()));
    assert_eq!(check(&program, &meeting(&[0, 0, 0]), &proof), Err(Flaw::Location(LocId::new(0))));
    assert_eq!(check(&program, &meeting(&[0, 1, 0]), &proof), Err(Flaw::Location(LocId::new(0))));
    assert_eq!(check(&program, &meeting(&[1, 0, 1]), &proof), Ok(()), "there is one holder");
    // Without the views beside a holder the step that takes the flag is not allowed.
    let mut fewer = proof.clone();
    fewer.shapes.retain(|shape| !shape.held || shape.threads.len() < 2);
    assert_eq!(check(&program, &Target::default(), &fewer), Err(Flaw::NotClosed(EdgeId::new(0))));
}

/// With views of one thread nothing is known of two: the judge must not think that the other one stays as it is.
#[test]
fn one_more_thread_beside_a_view_is_looked_at() {
    let mut proof = proof(2);
    proof.seen = Seen::Any(1);
    proof.shapes.retain(|shape| shape.threads.len() == 1);
    let answer = check(&program(LOCK), &Target::default(), &proof);
    assert_eq!(answer, Err(Flaw::NotClosed(EdgeId::new(1))), "another one may release the lock");
}

/// A location that no control path leads to and that is not listed: nobody is ever there, so that the others of a
/// meeting need not be listed.
#[test]
fn a_meeting_with_a_location_that_is_never_reached_takes_no_place() {
    let quiet = "thread t: bool\nproc main() from L0 to L3\ne0 L0 -> L1: t := T\ne1 L1 -> L0: t := F\n\
        EDGE L2 -> L2: t := T\nstart main: main any with t init t := F";
    let listed = |places: &[usize]| {
        let places: Vec<Place> = places.iter().map(|loc| place(*loc)).collect();
        let mut proof = ShapeProof { seen: Seen::Any(1), places, ..ShapeProof::default() };
        let truth = proof.formulas.add(Node::Const(true)).expect("it has no parts");
        proof.shapes = (0..proof.places.len()).map(|at| Shape::of_some(vec![at as u32], false, truth)).collect();
        proof
    };
    let alone = program(&quiet.replace("EDGE", "e2"));
    assert_eq!(check(&alone, &meeting(&[1, 2]), &listed(&[0, 1])), Ok(()));
    assert_eq!(check(&alone, &meeting(&[1, 2]), &listed(&[0])), Ok(()), "L1 is between two places");
    // L1 is inside of a macro step, where the thread must not be seen by a meeting that may take place.
    assert_eq!(check(&alone, &meeting(&[1, 0]), &listed(&[0])), Err(Flaw::NotClosed(EdgeId::new(0))));
    let reached = program(&quiet.replace("EDGE", "e2 L1 -> L2: assume t\ne3"));
    let refused = check(&reached, &meeting(&[1, 2]), &listed(&[0]));
    assert_eq!(refused, Err(Flaw::NotClosed(EdgeId::new(0))));
    let found = check(&reached, &meeting(&[1, 2]), &listed(&[0, 1, 2]));
    assert_eq!(found, Err(Flaw::Location(LocId::new(1))));
    assert_eq!(check(&alone, &meeting(&[1, 2]), &listed(&[0, 1, 2])), Err(Flaw::Location(LocId::new(1))));
}

/// The flag's holder sets a variable: what the others look like beside it is not what they look like without it.
#[test]
fn views_beside_the_holder_are_those_beside_the_holder() {
    let program = program(
        "shared x: bool\ninit x := F\nproc main() from L0 to L4\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: x := T\n\
         e2 L2 -> L3: x := F\ne3 L3 -> L0: atomic_end\nstart main: main any",
    );
    let holder = Place { role: Role::Holder(EntryId::new(0)), ..place(2) };
    let mut proof = ShapeProof { seen: Seen::Any(2), places: vec![holder, place(0)], ..ShapeProof::default() };
    let x = proof.formulas.add(Node::Atom(Atom::Now(VarId::new(0)))).expect("it has no parts");
    let not_x = proof.formulas.add(Node::Not(x)).expect("the part is there");
    let views: [(&[u32], bool); 6] =
        [(&[0], false), (&[1], false), (&[1], true), (&[0, 1], false), (&[1, 1], false), (&[1, 1], true)];
    proof.shapes.extend(views.map(|(threads, held)| {
        let is_held = held || threads.contains(&0);
        Shape::of_some(threads.to_vec(), held, if is_held { x } else { not_x })
    }));
    proof.sort();
    assert_eq!(check(&program, &Target::default(), &proof), Ok(()));
    for locs in [&[2, 0, 0][..], &[0, 0, 0]] {
        assert_eq!(check(&program, &meeting(locs), &proof), Err(Flaw::Location(LocId::new(0))), "{locs:?}");
    }
    assert_eq!(check(&program, &meeting(&[2, 2, 0]), &proof), Ok(()));
    // Beside the holder the others are not as they are without it.
    let mut wrong = proof.clone();
    let place = wrong.shapes.iter().position(|shape| shape.held && shape.threads.len() == 2).expect("it is there");
    wrong.shapes[place].formula = not_x;
    assert!(matches!(check(&program, &Target::default(), &wrong), Err(Flaw::NotClosed(_))));
}

/// A proof by views of `k` threads, of kinds without variables: places by kind and location, the holders first, and
/// views with what they say of the variable: it holds, or not, or either.
fn listed(k: u32, places: &[(Role, usize)], views: &[(&[u32], bool, Option<bool>)]) -> ShapeProof {
    let places = places.iter().map(|(role, loc)| Place { role: *role, ..place(*loc) }).collect();
    let mut proof = ShapeProof { seen: Seen::Any(k), places, ..ShapeProof::default() };
    let x = proof.formulas.add(Node::Atom(Atom::Now(VarId::new(0)))).expect("it has no parts");
    let not_x = proof.formulas.add(Node::Not(x)).expect("the part is there");
    let any = proof.formulas.add(Node::Const(true)).expect("it has no parts");
    let said = |value: &Option<bool>| value.map_or(any, |value| if value { x } else { not_x });
    let shapes = views.iter().map(|(threads, held, value)| Shape::of_some(threads.to_vec(), *held, said(value)));
    proof.shapes = shapes.collect();
    proof.sort();
    proof
}

const fn free(kind: u32) -> Role {
    Role::Free(EntryId::from_raw_unchecked(kind))
}

/// Every number of initial threads is looked at, the small ones too.
#[test]
fn starts_with_fewer_threads_than_a_view_are_looked_at() {
    let program = program(LOCK);
    let mut pairs = proof(2);
    pairs.shapes.retain(|shape| shape.threads.len() == 2);
    assert_eq!(check(&program, &Target::default(), &pairs), Err(Flaw::Start(LocId::new(0))));
    let three = self::program(&LOCK.replace("main any", "main exactly 3"));
    assert_eq!(check(&three, &Target::default(), &pairs), Ok(()));
}

/// There is always one thread of the first kind: none of the second is ever alone.
#[test]
fn lists_of_fewer_threads_count_only_if_there_are_no_more() {
    let program = program(
        "shared x: bool\ninit x := F\nproc a() from L0 to L1\ne0 L0 -> L0: x := !x\nproc b() from L2 to L3\n\
         e1 L2 -> L2: skip\nstart a: a exactly 1\nstart b: b any",
    );
    let views: [(&[u32], bool, Option<bool>); 3] =
        [(&[0], false, None), (&[0, 1], false, None), (&[1, 1], false, None)];
    let proof = listed(2, &[(free(0), 0), (free(1), 2)], &views);
    assert_eq!(check(&program, &Target::default(), &proof), Ok(()));
}

/// What a thread does to shared variables when a call of it returns concerns the views of the others.
#[test]
fn returned_values_concern_the_views_of_others() {
    let program = program(
        "shared x: bool\ninit x := F\nproc a() from L0 to L6\ne0 L0 -> L1: x := call one()\ne1 L1 -> L1: skip\n\
         proc one() returns bool from L4 to L5\ne2 L4 -> L5: return T\nproc b() from L2 to L3\n\
         e3 L2 -> L2: skip\nstart a: a exactly 1\nstart b: b any",
    );
    let proof = |others: Option<bool>| {
        let views: [(&[u32], bool, Option<bool>); 5] = [
            (&[0], false, Some(false)),
            (&[1], false, Some(true)),
            (&[0, 2], false, Some(false)),
            (&[1, 2], false, Some(true)),
            (&[2, 2], false, others),
        ];
        listed(2, &[(free(0), 0), (free(0), 1), (free(1), 2)], &views)
    };
    assert_eq!(check(&program, &Target::default(), &proof(None)), Ok(()));
    assert_eq!(check(&program, &Target::default(), &proof(Some(false))), Err(Flaw::NotClosed(EdgeId::new(2))));
}

/// A thread that ends releases the flag, which concerns the views of the others.
#[test]
fn the_end_of_a_holder_concerns_the_views_of_others() {
    let program = program(
        "shared x: bool\ninit x := F\nproc a() from L0 to L3\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: x := T\n\
         e2 L2 -> L3: end\nproc b() from L4 to L5\ne3 L4 -> L4: skip\nstart a: a exactly 1\nstart b: b any",
    );
    let proof = |others: Option<bool>| {
        let views: [(&[u32], bool, Option<bool>); 7] = [
            (&[0], false, Some(true)),
            (&[1], false, Some(false)),
            (&[2], false, Some(true)),
            (&[0, 2], false, Some(true)),
            (&[1, 2], false, Some(false)),
            (&[2, 2], true, Some(true)),
            (&[2, 2], false, others),
        ];
        let holder = Role::Holder(EntryId::new(0));
        listed(2, &[(holder, 2), (free(0), 0), (free(1), 4)], &views)
    };
    assert_eq!(check(&program, &Target::default(), &proof(None)), Ok(()));
    assert_eq!(check(&program, &Target::default(), &proof(Some(false))), Err(Flaw::NotClosed(EdgeId::new(2))));
}

//! Programs over bits that do not fit the program with machine integers that they are said to be: each misfit alone is
//! malformed, whatever else fits.

use selvedge_check::{BitProof, Certificate, Run, Task, ThreadScope};
use selvedge_ir::bits::{BitChoice, Range, Rest};
use selvedge_ir::passes::blast;
use selvedge_ir::text::parse;
use selvedge_ir::validate::validate;
use selvedge_ir::{Count, EdgeId, EntryId, Expr, LocId, MachineTy, Op, ProcId, Program, Target, Ty, VarId};
use selvedge_replay::certificate::{Flaw, Refused, verify};

/// A shared variable and locals of two bits each, of a procedure with a parameter, a call and choices; two kinds of
/// threads, and a prelude.
const PROGRAM: &str = "shared s: u2\nthread t: u2\ninit s := ?0:u2\n\
    proc f() from L0 to L3\nlocal i: u2, k: u2\nL0 -> L1: i := ?0:u2, k := ?1:u2\nL1 -> L2: i := call g(k, i)\n\
    L2 -> L3: return\nproc g(p: u2, q: u2) returns u2 from L4 to L6\nL4 -> L5: s := u2.add(p, q)\nL5 -> L6: return p\n\
    proc h() from L7 to L8\nL7 -> L8: return\n\
    prelude h\nstart f: f exactly 2 with t init t := ?0:u2\nstart more: f at most 1";

fn program() -> Program {
    let program = parse(PROGRAM).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

fn judged(change: &dyn Fn(&mut BitProof)) -> Result<(), Refused> {
    let program = program();
    let blasted = blast::run(&program).expect("it can be written over bits");
    let certificate = Certificate::ControlFlow(blasted.program.locs.indices().collect());
    let mut proof = BitProof { program: blasted.program, map: blasted.lift.map, certificate };
    change(&mut proof);
    let (target, threads) = (Target::default(), ThreadScope::Unbounded);
    let task = Task { program: &program, target: &target, threads };
    verify(&task, &Certificate::OverBits(Box::new(proof)), &Run::unlimited()).map(drop)
}

type Change<'a> = (&'a str, &'a dyn Fn(&mut BitProof));

fn all_malformed(changes: &[Change<'_>]) {
    assert_eq!(judged(&|_| ()), Ok(()));
    for (name, change) in changes {
        assert_eq!(judged(change), Err(Flaw::Malformed(None).into()), "{name}");
    }
}

const S: VarId = VarId::from_raw_unchecked(0);
const I: VarId = VarId::from_raw_unchecked(2);
const P: VarId = VarId::from_raw_unchecked(4);
const F: ProcId = ProcId::from_raw_unchecked(0);
const G: ProcId = ProcId::from_raw_unchecked(1);
const H: ProcId = ProcId::from_raw_unchecked(2);
const FIRST: EdgeId = EdgeId::from_raw_unchecked(0);
const CALL: EdgeId = EdgeId::from_raw_unchecked(1);
const KIND: EntryId = EntryId::from_raw_unchecked(0);

fn other_type() -> Ty {
    Ty::Machine(MachineTy::signed(2))
}

#[test]
fn variables_must_fit() {
    all_malformed(&[
        ("another type", &|proof| proof.map.vars[S].ty = other_type()),
        ("a bit that is not there", &|proof| proof.map.vars[S].bits[1] = VarId::new(99)),
        ("the same bit twice", &|proof| proof.map.vars[S].bits[1] = proof.map.vars[S].bits[0]),
        ("a bit too few", &|proof| {
            proof.map.vars[S].bits.pop();
        }),
        ("a variable too few", &|proof| {
            proof.map.vars.pop();
        }),
        ("a variable too many", &|proof| {
            let more = proof.map.vars[S].clone();
            proof.map.vars.push(more);
        }),
        ("a variable over bits that stands for none", &|proof| {
            let var = proof.program.vars[S].clone();
            proof.program.vars.push(var);
        }),
        ("an integer over bits", &|proof| proof.program.vars[S].ty = Ty::Int),
        // Shared bits for a local, which has the shared ones'.
        ("bits of another scope", &|proof| {
            let (shared, local) = (proof.map.vars[S].bits.clone(), proof.map.vars[I].bits.clone());
            proof.program.procs[F].locals.splice(0..2, shared.iter().copied());
            (proof.map.vars[S].bits, proof.map.vars[I].bits) = (local, shared);
        }),
    ]);
}

#[test]
fn procedures_must_fit() {
    let loc = LocId::new;
    all_malformed(&[
        ("another entry", &|proof| proof.program.procs[G].entry = loc(5)),
        ("another exit", &|proof| proof.program.procs[G].exit = loc(5)),
        ("parameters in another order", &|proof| proof.program.procs[G].params.reverse()),
        ("a parameter less", &|proof| {
            proof.program.procs[G].params.pop();
        }),
        ("locals in another order", &|proof| proof.program.procs[F].locals.reverse()),
        ("a local less", &|proof| {
            proof.program.procs[F].locals.pop();
        }),
        ("a result more", &|proof| proof.program.procs[G].results.push(Ty::Bool)),
        ("a result less", &|proof| {
            proof.program.procs[G].results.pop();
        }),
        ("a width more", &|proof| {
            let mut width = proof.map.results[G][0];
            width.returned = 0;
            proof.map.results[G].push(width);
        }),
        ("a width less", &|proof| {
            proof.map.results[G].clear();
            proof.program.procs[G].results.clear();
        }),
        ("another type of a result", &|proof| proof.map.results[G][0].ty = other_type()),
        ("more bits of a result than there are", &|proof| proof.map.results[G][0].n_bits = 3),
        ("copies of the highest of no bits", &|proof| {
            (proof.map.results[G][0].n_bits, proof.map.results[G][0].rest) = (0, Rest::Sign);
        }),
        ("more bits returned than there are", &|proof| {
            proof.map.results[G][0].returned = 3;
            proof.program.procs[G].results = vec![Ty::Bool; 3];
        }),
        ("a procedure more", &|proof| {
            let more = proof.program.procs[H].clone();
            proof.program.procs.push(more);
        }),
        ("a procedure less", &|proof| {
            proof.program.procs.pop();
        }),
        ("a list of results more", &|proof| {
            proof.map.results.push(Vec::new());
        }),
        ("a list of results less", &|proof| {
            proof.map.results.pop();
        }),
        ("a location more", &|proof| {
            let more = proof.program.locs[loc(0)];
            proof.program.locs.push(more);
        }),
        ("a location of another procedure", &|proof| proof.program.locs[loc(1)].proc = G),
    ]);
}

#[test]
fn edges_must_fit() {
    let bit = |proof: &BitProof, var: VarId| proof.map.vars[var].bits[0];
    let assigns = |proof: &mut BitProof, var: VarId| match &mut proof.program.edges[FIRST].op {
        Op::Assign(assign) => assign.active[0].0 = var,
        other => panic!("no assignment: {other:?}"),
    };
    let takes = |proof: &mut BitProof, var: VarId| match &mut proof.program.edges[CALL].op {
        Op::Call(call) => call.results[0] = Some(var),
        other => panic!("no call: {other:?}"),
    };
    all_malformed(&[
        ("another operation", &|proof| proof.program.edges[FIRST].op = Op::AtomicBegin),
        ("a call of another procedure", &|proof| match &mut proof.program.edges[CALL].op {
            Op::Call(call) => call.callee = H,
            other => panic!("no call: {other:?}"),
        }),
        ("another beginning", &|proof| proof.program.edges[FIRST].from = LocId::new(1)),
        ("another end", &|proof| proof.program.edges[FIRST].to = LocId::new(2)),
        ("a variable of another procedure", &|proof| {
            let var = bit(proof, P);
            assigns(proof, var);
        }),
        ("a variable that is not there", &|proof| assigns(proof, VarId::new(99))),
        ("a result for a variable of another procedure", &|proof| {
            let var = bit(proof, P);
            takes(proof, var);
        }),
        ("variables of other threads", &|proof| {
            let var = bit(proof, S);
            match &mut proof.program.edges[FIRST].op {
                Op::Assign(assign) => assign.passive.push((var, Expr::TRUE)),
                other => panic!("no assignment: {other:?}"),
            }
        }),
        ("an edge more", &|proof| {
            let more = proof.program.edges[FIRST].clone();
            proof.program.edges.push(more);
        }),
        ("an edge less", &|proof| {
            proof.program.edges.pop();
        }),
        ("choices of an edge more", &|proof| {
            proof.map.edges.push(Vec::new());
        }),
        ("choices of an edge less", &|proof| {
            proof.map.edges.pop();
        }),
        ("a choice more", &|proof| proof.map.edges[FIRST].push(BitChoice { ty: Ty::Bool, bits: vec![None] })),
        ("a choice less", &|proof| {
            proof.map.edges[FIRST].pop();
        }),
        ("a choice of another type", &|proof| proof.map.edges[FIRST][0].ty = other_type()),
        ("a choice with fewer bits", &|proof| {
            proof.map.edges[FIRST][0].bits.pop();
        }),
        ("a choice with more bits", &|proof| proof.map.edges[FIRST][0].bits.push(None)),
    ]);
}

#[test]
fn starts_must_fit() {
    all_malformed(&[
        ("another procedure", &|proof| proof.program.entries[KIND].proc = G),
        ("another number of threads", &|proof| proof.program.entries[KIND].count = Count::Exactly(1)),
        ("a per-thread variable less", &|proof| {
            proof.program.entries[KIND].thread_vars.pop();
        }),
        ("a kind less", &|proof| {
            proof.program.entries.pop();
        }),
        ("a kind more", &|proof| {
            let more = proof.program.entries[KIND].clone();
            proof.program.entries.push(more);
        }),
        ("choices of a kind less", &|proof| {
            proof.map.entries.pop();
        }),
        ("choices of a kind more", &|proof| {
            proof.map.entries.push(Vec::new());
        }),
        ("a choice of a kind less", &|proof| proof.map.entries[KIND].clear()),
        ("a choice of the start less", &|proof| proof.map.init.clear()),
        ("a choice of the start of another type", &|proof| proof.map.init[0].ty = other_type()),
        ("no prelude", &|proof| proof.program.prelude = None),
        ("another prelude", &|proof| proof.program.prelude = Some(F)),
    ]);
}

#[test]
fn ranges_must_fit() {
    all_malformed(&[
        ("a range less", &|proof| {
            proof.map.ranges.vars.pop();
        }),
        ("a range more", &|proof| {
            proof.map.ranges.vars.push(Range::Never);
        }),
        ("ranges of a location less", &|proof| {
            proof.map.ranges.locs.pop();
        }),
        ("ranges of a location more", &|proof| {
            proof.map.ranges.locs.push(None);
        }),
        ("a range of a variable that is not there", &|proof| {
            proof.map.ranges.locs[LocId::new(0)] = Some(vec![(VarId::new(6), Range::Never)]);
        }),
        ("a range of a result less", &|proof| proof.map.ranges.results[G].clear()),
        ("a range of a result more", &|proof| proof.map.ranges.results[F].push(Range::Never)),
        ("ranges of a procedure less", &|proof| {
            proof.map.ranges.results.pop();
        }),
        ("ranges of a procedure more", &|proof| {
            proof.map.ranges.results.push(Vec::new());
        }),
    ]);
}

/// Variables that start with any value do so over bits.
#[test]
fn variables_with_any_value_have_it_over_bits() {
    let text = "shared s: u2, z: u2\nthread t: u2\ninit z := 0:u2\nproc f() from L0 to L2\n\
        L0 -> L1: z := u2.add(s, t)\nL1 -> L2: return\nstart f: f exactly 1 with t";
    let program = parse(text).expect("the program is well-formed");
    let judged = |change: &dyn Fn(&mut BitProof)| {
        let blasted = blast::run(&program).expect("it can be written over bits");
        let certificate = Certificate::ControlFlow(blasted.program.locs.indices().collect());
        let mut proof = BitProof { program: blasted.program, map: blasted.lift.map, certificate };
        change(&mut proof);
        let (target, threads) = (Target::default(), ThreadScope::Unbounded);
        let task = Task { program: &program, target: &target, threads };
        verify(&task, &Certificate::OverBits(Box::new(proof)), &Run::unlimited()).map(drop)
    };
    assert_eq!(judged(&|_| ()), Ok(()));
    for bit in 0..2 {
        let started = judged(&|proof| {
            let bit = proof.map.vars[S].bits[bit];
            proof.program.init.push((bit, Expr::TRUE));
        });
        assert_eq!(started, Err(Flaw::Malformed(None).into()));
        let begun = judged(&|proof| {
            let bit = proof.map.vars[VarId::new(2)].bits[bit];
            proof.program.entries[KIND].init.push((bit, Expr::FALSE));
        });
        assert_eq!(begun, Err(Flaw::Malformed(None).into()));
    }
}

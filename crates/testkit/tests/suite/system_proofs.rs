//! Proofs about random pushdown systems: the judge accepts them, and of their mutants exactly those that satisfy its
//! conditions by an oracle with matrices; none that a configuration with a short stack refutes.

use selvedge_check::Run;
use selvedge_check::system::{Closure, SystemProof, Transition};
use selvedge_engines::pushdown::{Direction, SystemVerdict, check};
use selvedge_ir::pds::{Pds, SymbolId};
use selvedge_replay::certificate::verify_system;
use selvedge_testkit::rng::Rng;
use selvedge_testkit::systems::{Opinion, opinion, random};

const N_PROOFS: usize = 250;
const N_MUTANTS: usize = 10;
const HEIGHT: usize = 3;

/// Changes a proof, and returns it with a description of the change.
fn mutate(rng: &mut Rng, pds: &Pds, proof: &SystemProof) -> (SystemProof, &'static str) {
    let mut mutant = proof.clone();
    let node = |rng: &mut Rng| rng.below(proof.n_nodes as usize) as u32;
    let read = |rng: &mut Rng| rng.percent(80).then(|| SymbolId::new(rng.below(pds.symbols.len())));
    let at = rng.below(proof.transitions.len().max(1));
    match rng.below(8) {
        0 | 1 if !proof.transitions.is_empty() => {
            mutant.transitions.remove(at);
            (mutant, "a transition is dropped")
        }
        2 if !proof.transitions.is_empty() => {
            mutant.transitions[at].to = node(rng);
            (mutant, "a transition is bent")
        }
        3 if !proof.transitions.is_empty() => {
            mutant.transitions[at].read = read(rng);
            (mutant, "a transition reads something else")
        }
        4 => {
            mutant.finals.push(node(rng));
            (mutant, "one more state is final")
        }
        5 => {
            mutant.finals.pop();
            (mutant, "one state less is final")
        }
        6 => {
            mutant.closure = match proof.closure {
                Closure::Successors => Closure::Predecessors,
                Closure::Predecessors => Closure::Successors,
            };
            (mutant, "the other claim is made")
        }
        _ => {
            let (from, read, to) = (node(rng), read(rng), node(rng));
            mutant.transitions.push(Transition { from, read, to });
            (mutant, "a transition is added")
        }
    }
}

#[test]
fn mutated_proofs_are_accepted_only_if_they_still_prove_the_targets_unreachable() {
    let (mut n_proofs, mut n_accepted, mut n_refuted, mut n_not_shown) = (0, 0, 0, 0);
    for seed in 0.. {
        let mut rng = Rng::new(seed);
        let pds = random(&mut rng);
        let direction = if rng.coin() { Direction::Forward } else { Direction::Backward };
        let SystemVerdict::Unreachable(proof) = check(&pds, direction, &Run::unlimited()).expect("nothing stops it")
        else {
            continue;
        };
        assert_eq!(opinion(&pds, &proof, HEIGHT), Opinion::Accepted, "seed {seed}");
        for _ in 0..N_MUTANTS {
            let (mutant, story) = mutate(&mut rng, &pds, &proof);
            let (judge, oracle) = (verify_system(&pds, &mutant, &Run::unlimited()), opinion(&pds, &mutant, HEIGHT));
            assert_eq!(judge.is_ok(), oracle == Opinion::Accepted, "seed {seed}, {story}: {judge:?}, {oracle:?}");
            match oracle {
                Opinion::Accepted => n_accepted += 1,
                Opinion::Refuted => n_refuted += 1,
                Opinion::NotShown => n_not_shown += 1,
            }
        }
        n_proofs += 1;
        if n_proofs == N_PROOFS {
            break;
        }
    }
    let tally = format!("{n_accepted} accepted, {n_refuted} refuted, {n_not_shown} not shown");
    assert!(n_refuted > N_PROOFS * N_MUTANTS / 4 && n_accepted > 100, "{tally}");
    assert!(n_not_shown < n_refuted, "{tally}");
}

#[test]
fn numbers_of_no_state_or_symbol_are_refused() {
    let pds = random(&mut Rng::new(1));
    let proof =
        |n_nodes, finals, transitions| SystemProof { closure: Closure::Successors, n_nodes, finals, transitions };
    let n_states = pds.states.len() as u32;
    let step = |from, read, to| Transition { from, read, to };
    let symbol = Some(SymbolId::new(pds.symbols.len()));
    for bad in [
        proof(n_states - 1, Vec::new(), Vec::new()),
        proof(u32::MAX, Vec::new(), Vec::new()),
        proof(n_states, vec![n_states], Vec::new()),
        proof(n_states, Vec::new(), vec![step(n_states, None, 0)]),
        proof(n_states, Vec::new(), vec![step(0, None, n_states)]),
        proof(n_states, Vec::new(), vec![step(0, symbol, 0)]),
    ] {
        let flaw = verify_system(&pds, &bad, &Run::unlimited());
        assert_eq!(flaw, Err(selvedge_replay::certificate::Flaw::Malformed(None).into()), "{bad:?}");
    }
}

//! Certificates of `summaries` on generated programs: the judge accepts them, and of their mutants exactly those that
//! an oracle accepts that tries all valuations.

use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{Certificate, Engine, Run, SummaryProof, Task, Verdict};
use selvedge_engines::summaries::Summaries;
use selvedge_ir::callgraph::is_sequential;
use selvedge_ir::{Program, Scope, VarId};
use selvedge_replay::certificate::verify;
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::obligations::proves;
use selvedge_testkit::rng::Rng;

const N_PROOFS: usize = 300;
const N_MUTANTS: usize = 12;

/// Returns a program and its proof, if it has one thread, is safe, and is small enough for the oracle.
fn proof(seed: u64) -> Option<(Posed, SummaryProof)> {
    let weights = if seed.is_multiple_of(2) { Weights::sequential() } else { Weights::recursive() };
    let posed = pose(&generate(seed, &weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    if !is_sequential(&posed.asked) || posed.target.is_empty() {
        return None;
    }
    match Summaries::default().check(&posed.task(), &Run::unlimited()) {
        Ok(Verdict::Safe(Some(Certificate::Summaries(proof)))) => Some((posed, proof)),
        Ok(Verdict::Unsafe(_)) => None,
        other => panic!("seed {seed}: {other:?}"),
    }
}

/// Returns whether both accept a proof; they must agree.
fn accepted(task: &Task<'_>, proof: &SummaryProof, story: &str) -> Option<bool> {
    let oracle = proves(task, proof)?;
    let judge = verify(task, &Certificate::Summaries(proof.clone()), &Run::unlimited()).map(drop);
    assert_eq!(judge.is_ok(), oracle, "{story}: the judge says {judge:?}");
    Some(oracle)
}

/// Changes a proof, and returns it with a description of the change.
fn mutate(rng: &mut Rng, program: &Program, proof: &SummaryProof) -> (SummaryProof, String) {
    let mut mutant = proof.clone();
    let at = rng.below(proof.locs.len());
    let (loc, old) = proof.locs[at];
    let name = format!("location {}", loc.index());
    if !proof.procs.is_empty() && rng.percent(25) {
        return mutate_summary(rng, program, mutant);
    }
    let story = match rng.below(7) {
        0 => {
            mutant.locs.remove(at);
            format!("{name} is dropped")
        }
        1 => {
            let other = rng.below(proof.locs.len());
            mutant.locs[at].1 = proof.locs[other].1;
            mutant.locs[other].1 = old;
            format!("{name} is swapped with location {}", proof.locs[other].0.index())
        }
        2 => {
            mutant.locs[at].1 = FormulaId(rng.below(proof.formulas.nodes().len()) as u32);
            format!("{name} has another formula")
        }
        _ => {
            let vars = visible(program, Some(program.locs[loc].proc));
            let (formula, story) = changed(rng, &mut mutant, old, &vars);
            mutant.locs[at].1 = formula;
            format!("{name} is {story}")
        }
    };
    (mutant, story)
}

fn mutate_summary(rng: &mut Rng, program: &Program, mut mutant: SummaryProof) -> (SummaryProof, String) {
    let at = rng.below(mutant.procs.len());
    let (proc, old) = mutant.procs[at];
    let name = format!("the summary of {}", program.procs[proc].name);
    if rng.percent(25) {
        mutant.procs.remove(at);
        return (mutant, format!("{name} is dropped"));
    }
    let vars = visible(program, None);
    let (formula, story) = changed(rng, &mut mutant, old, &vars);
    mutant.procs[at].1 = formula;
    (mutant, format!("{name} is {story}"))
}

/// Returns the variables that a formula may mention: of a procedure, or at a return.
fn visible(program: &Program, proc: Option<selvedge_ir::ProcId>) -> Vec<VarId> {
    let sees = |var: &VarId| match program.vars[*var].scope {
        Scope::Shared | Scope::Thread => true,
        Scope::Local(owner) => Some(owner) == proc,
    };
    program.vars.indices().filter(sees).collect()
}

/// Makes a formula from another one.
fn changed(rng: &mut Rng, proof: &mut SummaryProof, old: FormulaId, vars: &[VarId]) -> (FormulaId, &'static str) {
    let mut add = |node: Node| proof.formulas.add(node).expect("the parts are there");
    if vars.is_empty() || rng.percent(30) {
        return match rng.below(3) {
            0 => (add(Node::Const(true)), "anything"),
            1 => (add(Node::Const(false)), "nothing"),
            _ => (add(Node::Not(old)), "negated"),
        };
    }
    let mut literal = add(Node::Atom(Atom::Now(vars[rng.below(vars.len())])));
    if rng.coin() {
        literal = add(Node::Not(literal));
    }
    if rng.coin() { (add(Node::Or(old, literal)), "weakened") } else { (add(Node::And(old, literal)), "strengthened") }
}

#[test]
fn mutated_certificates_are_accepted_only_if_they_still_prove_the_program_safe() {
    let (mut n_proofs, mut n_accepted, mut n_rejected) = (0, 0, 0);
    for seed in 20_000.. {
        let Some((posed, proof)) = proof(seed) else { continue };
        let task = posed.task();
        match accepted(&task, &proof, &format!("seed {seed}, unchanged")) {
            None => continue,
            Some(is_accepted) => assert!(is_accepted, "seed {seed}: the oracle rejects the certificate"),
        }
        let mut rng = Rng::new(seed);
        for _ in 0..N_MUTANTS {
            let (mutant, story) = mutate(&mut rng, task.program, &proof);
            match accepted(&task, &mutant, &format!("seed {seed}, {story}\n{}", posed.text)) {
                Some(true) => n_accepted += 1,
                _ => n_rejected += 1,
            }
        }
        n_proofs += 1;
        if n_proofs == N_PROOFS {
            break;
        }
    }
    assert!(n_rejected > N_PROOFS * N_MUTANTS / 4, "{n_rejected} are rejected, {n_accepted} accepted");
    assert!(n_accepted > 0, "some changes are harmless");
}

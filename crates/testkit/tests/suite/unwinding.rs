//! The engines `bmc` and `induction`, compared with the oracle on generated programs with one thread: verdicts,
//! shortest traces, certificates, and certificates that claim too much.

use selvedge_check::{Bound, Certificate, Engine, Paths, Run, Stop, Task, Verdict};
use selvedge_engines::bmc::{self, Bmc};
use selvedge_engines::induction::{self, Induction};
use selvedge_ir::callgraph::is_sequential;
use selvedge_replay::certificate::{Flaw, verify};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Answer, Budget, ask, patient};

/// Generates programs with one thread.
fn programs(seeds: std::ops::Range<u64>, weights: &Weights) -> impl Iterator<Item = (u64, Posed)> {
    let posed = move |seed| (seed, pose(&generate(seed, weights)).expect("generated programs are read"));
    seeds.map(posed).filter(|(_, posed)| is_sequential(&posed.asked))
}

const STEPS: u32 = 40;
const FRAMES: u32 = 9;

/// Checks that within its bound `bmc` finds an error exactly where there is one, and with as few steps as the oracle.
fn compare_bmc(task: &Task<'_>) -> Result<(), String> {
    let engine = Bmc { options: bmc::Options { steps: STEPS } };
    let found = match engine.check(task, &Run::unlimited()) {
        Ok(Verdict::Safe(_)) => return Err("bmc says safe".to_string()),
        Ok(verdict) => {
            judge(task, &verdict, &Run::unlimited()).map_err(|reject| reject.to_string())?;
            let Verdict::Unsafe(trace) = verdict else { unreachable!("safe was looked at") };
            Some(trace.steps.len())
        }
        Err(Stop::BoundReached(Bound::Steps(STEPS))) => None,
        Err(stop) => return Err(stop.to_string()),
    };
    let budget = Budget { frames: FRAMES, ..Budget::default() };
    match (ask(task, budget), found) {
        (Answer::Safe, Some(steps)) => Err(format!("safe, but bmc has an error after {steps} steps")),
        (Answer::Unsafe(trace), found) if trace.steps.len() <= STEPS as usize => match found {
            Some(steps) if steps == trace.steps.len() => Ok(()),
            // This number of steps may lead through more frames than the oracle looks at.
            Some(steps) if steps < trace.steps.len() && steps > FRAMES as usize => Ok(()),
            found => Err(format!("an error after {} steps, bmc has {found:?}", trace.steps.len())),
        },
        _ => Ok(()),
    }
}

#[test]
fn bmc_finds_a_shortest_error_in_programs_without_recursion() {
    let mut n_unsafe = 0;
    for (seed, posed) in programs(0..250, &Weights::sequential()) {
        let task = posed.task();
        assert_eq!(compare_bmc(&task), Ok(()), "seed {seed}\n{}", posed.text);
        if let (Answer::Unsafe(trace), Ok(Verdict::Unsafe(found))) =
            (ask(&task, Budget::default()), Bmc::default().check(&task, &Run::unlimited()))
        {
            assert_eq!(found.steps.len(), trace.steps.len(), "seed {seed}\n{}", posed.text);
            n_unsafe += 1;
        }
    }
    assert!(n_unsafe > 40, "only {n_unsafe} errors");
}

#[test]
fn bmc_finds_a_shortest_error_in_recursive_programs() {
    let mut n_unsafe = 0;
    for (seed, posed) in programs(1000..1250, &Weights::recursive()) {
        let task = posed.task();
        assert_eq!(compare_bmc(&task), Ok(()), "seed {seed}\n{}", posed.text);
        n_unsafe += usize::from(matches!(ask(&task, Budget::default()), Answer::Unsafe(_)));
    }
    assert!(n_unsafe > 40, "only {n_unsafe} errors");
}

/// Compares `induction` with the oracle. Returns the k and the paths of a proof that the judge accepts; `None` if there
/// is an error, or no answer.
fn compare_induction(task: &Task<'_>, options: induction::Options) -> Result<Option<(u32, Paths)>, String> {
    let engine = Induction { options };
    if engine.supports(task).is_err() {
        return Ok(None);
    }
    let (found, proof) = match engine.check(task, &patient(10)) {
        Ok(verdict) => {
            let judged = judge(task, &verdict, &Run::unlimited()).map_err(|reject| reject.to_string())?;
            match (verdict, judged) {
                (Verdict::Safe(Some(Certificate::Induction { k, paths })), Judged::Certified) => {
                    ("safe", Some((k, paths)))
                }
                (Verdict::Unsafe(_), Judged::Replayed(_)) => ("unsafe", None),
                (verdict, _) => return Err(format!("other evidence: {verdict:?}")),
            }
        }
        Err(_) => return Ok(None),
    };
    match ask(task, Budget::default()) {
        Answer::Safe if found == "unsafe" => Err("unsafe, but the oracle says safe".to_string()),
        Answer::Unsafe(_) if found == "safe" => Err("safe, but the oracle says unsafe".to_string()),
        _ => Ok(proof),
    }
}

#[test]
fn induction_agrees_with_the_oracle_and_its_certificates_say_the_least_k() {
    let (mut n_proofs, mut n_rejected) = (0, 0);
    for (seed, posed) in programs(2000..2300, &Weights::sequential()) {
        let task = posed.task();
        let options = induction::Options { bound: 25, ..induction::Options::default() };
        let proof = compare_induction(&task, options).unwrap_or_else(|fault| panic!("{fault}: {seed}\n{}", posed.text));
        let Some((k, paths)) = proof else { continue };
        n_proofs += 1;
        if k > 0 {
            let less = Certificate::Induction { k: k - 1, paths };
            assert_eq!(verify(&task, &less, &Run::unlimited()), Err(Flaw::Step.into()), "seed {seed}\n{}", posed.text);
            n_rejected += 1;
        }
    }
    assert!(n_proofs > 40 && n_rejected > 20, "only {n_proofs} proofs, {n_rejected} lies");
}

#[test]
fn induction_over_all_paths_agrees_with_the_oracle() {
    let mut n_proofs = 0;
    for (seed, posed) in programs(3000..3200, &Weights::sequential()) {
        let options = induction::Options { bound: 15, paths: Paths::All };
        let proof = compare_induction(&posed.task(), options);
        let proof = proof.unwrap_or_else(|fault| panic!("{fault}: {seed}\n{}", posed.text));
        assert!(!matches!(proof, Some((_, Paths::LoopFree))), "seed {seed}");
        n_proofs += usize::from(proof.is_some());
    }
    assert!(n_proofs > 20, "only {n_proofs} proofs");
}

#[test]
fn no_certificate_proves_an_unsafe_program() {
    let mut n_rejected = 0;
    for (seed, posed) in programs(4000..4120, &Weights::sequential()) {
        let task = posed.task();
        let Answer::Unsafe(trace) = ask(&task, Budget::default()) else { continue };
        for paths in [Paths::All, Paths::LoopFree] {
            for k in [0, 1, trace.steps.len() as u32] {
                let lie = Certificate::Induction { k, paths };
                assert!(verify(&task, &lie, &Run::unlimited()).is_err(), "seed {seed}, k = {k}\n{}", posed.text);
                n_rejected += 1;
            }
        }
    }
    assert!(n_rejected > 100, "only {n_rejected} lies");
}

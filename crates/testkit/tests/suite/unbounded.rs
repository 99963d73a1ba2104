//! The explicit engines for any number of threads on generated programs: they agree, executions replay, certificates
//! are accepted before and after inlining, and forged ones are rejected.

use std::collections::BTreeSet;

use selvedge_check::{
    Bound, Certificate, CoverClaim, Engine, Outcome, Role, Run, Stop, Subject, Task, ThreadScope, Verdict,
};
use selvedge_driver::{self as driver, Simplified, check};
use selvedge_engines::EngineKind;
use selvedge_engines::tts_extract::{self, extract};
use selvedge_engines::unbounded::coverability::{
    Coverability, Method, Options, Rules, certificate, karp_miller, views,
};
use selvedge_engines::unbounded::karp_miller::KarpMiller;
use selvedge_ir::{LocId, VarId};
use selvedge_replay::certificate::verify;
use selvedge_replay::replay;
use selvedge_testkit::coverability::mutants;
use selvedge_testkit::oracle::patient;
use selvedge_testkit::unbounded::{generated, listing};

#[derive(Default, Debug)]
struct Counts {
    safe: usize,
    certified: usize,
    mutants: usize,
    is_unsafe: usize,
    lies: usize,
}

/// Checks that all engines that decide the question agree whether there is an error.
fn compare(inlined: &Simplified, original: &Task<'_>, counts: &mut Counts) -> Result<(), String> {
    let task = inlined.task(ThreadScope::Unbounded);
    let mut verdict = None;
    for engine in listing() {
        let fault = |what: String| format!("{}: {what}", engine.name());
        let found = match engine.check(&task, &patient(2)) {
            Ok(found) => found,
            Err(Stop::BoundReached(Bound::Threads(_)) | Stop::TimeLimit(_) | Stop::StateLimit(_)) => continue,
            Err(stop) => return Err(fault(stop.to_string())),
        };
        let is_unsafe = matches!(found, Verdict::Unsafe(_));
        if *verdict.get_or_insert(is_unsafe) != is_unsafe {
            return Err(fault(format!("unsafe: {is_unsafe}, and the engines before say otherwise")));
        }
        match &found {
            Verdict::Unsafe(trace) => {
                replay(&task, trace).map_err(|wrong| fault(format!("{wrong:?} in {trace:?}")))?;
            }
            Verdict::Safe(certificate) => {
                let certificate = certificate.as_ref().ok_or_else(|| fault("no certificate".to_string()))?;
                verify(&task, certificate, &patient(60)).map_err(|flaw| fault(format!("{flaw}: {certificate:?}")))?;
                counts.mutants += check_mutants(&task, certificate).map_err(fault)?;
                if let Verdict::Safe(Some(lifted)) = inlined.lift(found.clone()) {
                    verify(original, &lifted, &patient(60))
                        .map_err(|flaw| fault(format!("lifted: {flaw}: {lifted:?}")))?;
                    counts.certified += 1;
                }
            }
        }
    }
    counts.safe += usize::from(verdict == Some(false));
    counts.is_unsafe += usize::from(verdict == Some(true));
    if verdict == Some(true) {
        counts.lies += check_lies(&task)?;
    }
    Ok(())
}

/// Checks that a few of the certificates that lack something are rejected; returns their number.
fn check_mutants(task: &Task<'_>, certificate: &Certificate) -> Result<usize, String> {
    let Certificate::Cover(proof) = certificate else { return Err("another kind of certificate".to_string()) };
    let mut n_mutants = 0;
    for claim in mutants(&proof.claim).into_iter().step_by(7).take(5) {
        let mutant = Certificate::Cover(selvedge_check::CoverProof { claim, ..proof.clone() });
        if verify(task, &mutant, &patient(2)).is_ok() {
            return Err(format!("the judge accepts {mutant:?} in the place of {certificate:?}"));
        }
        n_mutants += 1;
    }
    Ok(n_mutants)
}

/// Checks that closed sets of configurations with an error are rejected; returns their number.
fn check_lies(task: &Task<'_>) -> Result<usize, String> {
    let Ok(system) = extract(task, tts_extract::Options { size: 20_000, ..Default::default() }, &patient(2)) else {
        return Ok(0);
    };
    let rules = Rules::new(&system.tts);
    let mut claims: Vec<CoverClaim> = Vec::new();
    for k in 1..=2 {
        claims.extend(views::table(&rules, k, &patient(2)).ok().map(|table| certificate::views(&table)));
    }
    claims.extend(karp_miller::cover_set(&rules, &patient(2)).ok().map(|cover| certificate::vectors(&cover)));
    let n_claims = claims.len();
    for claim in claims {
        let lie = system.certificate(claim);
        if verify(task, &lie, &patient(2)).is_ok() {
            return Err(format!("the judge accepts a lie: {lie:?}"));
        }
    }
    Ok(n_claims)
}

#[test]
fn explicit_engines_agree_on_generated_programs() {
    let mut counts = Counts::default();
    let mut faults = Vec::new();
    for program in generated(0..40) {
        let result = compare(&program.inlined, &program.original(), &mut counts);
        faults.extend(result.err().map(|fault| format!("{}: {fault}\n{}", program.name, program.posed.text)));
    }
    let first = |fault: &String| fault.chars().take(120).collect::<String>();
    let heads: Vec<String> = faults.iter().map(first).collect();
    assert!(faults.is_empty(), "{}\nthe first: {}", heads.join("\n"), faults[0]);
    assert!(counts.safe > 20 && counts.certified > 60 && counts.mutants > 50, "{counts:?}");
    assert!(counts.is_unsafe > 20 && counts.lies > 60, "{counts:?}");
}

/// The contents of a proof by vectors, in terms of the program: shared values while no thread holds the flag, the
/// places of threads, and whether any number of them can be there. The engines need not keep the same variables.
type Vectors = BTreeSet<(Vec<(VarId, bool)>, Role, LocId, bool)>;

fn vectors(engine: &dyn Engine, task: &Task<'_>) -> Option<Vectors> {
    let Ok(Verdict::Safe(Some(Certificate::Cover(proof)))) = engine.check(task, &patient(2)) else { return None };
    let CoverClaim::Vectors(vectors) = &proof.claim else { unreachable!("both write vectors") };
    let mut seen = Vectors::new();
    for vector in vectors {
        let shared = &proof.shareds[vector.shared];
        // A block of the holder need not stop at the same places.
        if shared.held {
            continue;
        }
        let values: Vec<(VarId, bool)> = proof.shared_vars.iter().copied().zip(shared.values.iter().copied()).collect();
        for (local, count) in &vector.counts {
            let place = &proof.places[proof.locals[*local].place as usize];
            seen.insert((values.clone(), place.role, place.loc, count.is_none()));
        }
    }
    Some(seen)
}

/// Returns the same without shared variables that the other leaves out.
fn kept_by(vectors: &Vectors, other: &Vectors) -> Vectors {
    let kept: BTreeSet<VarId> = other.iter().flat_map(|(values, ..)| values.iter().map(|(var, _)| *var)).collect();
    let vectors = vectors.iter().map(|(values, role, loc, any)| {
        let values = values.iter().copied().filter(|(var, _)| kept.contains(var)).collect();
        (values, *role, *loc, *any)
    });
    vectors.collect()
}

/// Both trees of Karp and Miller, symbolic and explicit, are exact: threads are seen at the same places, as many or any
/// number. The symbolic one also lets shared variables that are not read any more hold any value.
#[test]
fn both_trees_cover_the_same() {
    let mut compared = 0;
    for program in generated(100..150) {
        let (task, shown) = (program.task(), format!("{}: {}", program.name, program.posed.text));
        let options =
            Options { most_threads: Some(3), system: tts_extract::Options { size: 20_000, ..Default::default() } };
        let explicit = vectors(&Coverability { method: Method::KarpMiller, options }, &task);
        let symbolic = vectors(&KarpMiller, &task);
        if let (Some(explicit), Some(symbolic)) = (explicit, symbolic) {
            let (explicit, symbolic) = (kept_by(&explicit, &symbolic), kept_by(&symbolic, &explicit));
            assert!(explicit.is_subset(&symbolic), "{shown}");
            let places = |vectors: &Vectors| -> BTreeSet<(Role, LocId, bool)> {
                vectors.iter().map(|(_, role, loc, any)| (*role, *loc, *any)).collect()
            };
            assert_eq!(places(&symbolic), places(&explicit), "{shown}");
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} were compared");
}

/// Programs on which these engines and the judge once disagreed.
#[test]
fn regressions_for_any_number_of_threads() {
    let kinds = [
        EngineKind::Views,
        EngineKind::ViewsExplicit,
        EngineKind::Backward,
        EngineKind::KarpMiller,
        EngineKind::KarpMillerExplicit,
        EngineKind::Directed,
        EngineKind::Cutoff,
    ];
    let programs = [
        include_str!("../../../../tests/regress/0009-condition-on-others-in-dead-code.bp"),
        include_str!("../../../../tests/regress/0010-discarded-result-of-a-shared-variable.bp"),
        include_str!("../../../../tests/regress/0011-begins-at-error-beside-an-assertion.bp"),
    ];
    for (text, kind) in programs.into_iter().flat_map(|text| kinds.map(|kind| (text, kind))) {
        let loaded = selvedge_frontend::bp::load(text, &Default::default());
        let program = loaded.program.expect("the program reads");
        let subject = Subject { program: &program, map: &loaded.source_map, text };
        let options = driver::Options { engine: Some(kind.row()), ..driver::Options::default() };
        let report = check(subject, &options, &Run::unlimited()).expect("engine and judge agree");
        let is_safe = text.contains("verdict: safe");
        match report.outcome {
            Outcome::Safe(Some(_)) => assert!(is_safe, "{}", kind.name()),
            Outcome::Unsafe(_) => assert!(!is_safe, "{}", kind.name()),
            other => panic!("{}: {other:?}", kind.name()),
        }
    }
}

//! Certificates that a number of rounds is enough: the judge accepts them, but not with parts removed or invented.

use selvedge_check::adequacy::TurnState;
use selvedge_check::{AdequacyClaim, Certificate, CoverClaim, Engine, Run, Task, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::contexts::rounds::proof::certificate;
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_replay::certificate::{Refused, Unjudged, verify};
use selvedge_testkit::contexts::posed;
use selvedge_testkit::differ::pose;
use selvedge_testkit::rounds::{LAST, engine, item};

/// A kernel that runs once, and drivers under a lock.
const LOCKED: &str = "shared decl lock := F, inside := F;
    process kernel once begin
      void main() begin
        atomic_begin; assume(!lock); lock := T; atomic_end;
        assert(!inside); lock := F;
      end
    end
    process driver begin
      void main() begin
        atomic_begin; assume(!lock); lock := T; atomic_end;
        assert(!inside); inside := T; inside := F; lock := F;
      end
    end";

fn claim(certificate: &mut Certificate) -> &mut AdequacyClaim {
    match certificate {
        Certificate::Cover(proof) => match &mut proof.claim {
            CoverClaim::Adequacy(claim) => claim,
            other => panic!("another claim: {other:?}"),
        },
        other => panic!("another certificate: {other:?}"),
    }
}

/// Returns the certificate of the program, if the judge can decide; it then accepts what the engine gives.
fn certified(task: &Task<'_>) -> Option<Certificate> {
    let found = certificate(task, [1, LAST], &Run::unlimited()).expect("nothing stops it")?;
    match verify(task, &found, &Run::unlimited()) {
        Ok(_) => Some(found),
        Err(Refused::Unjudged(Unjudged::Beyond(_))) => None,
        Err(refused) => panic!("the judge accepts what the engine gives: {refused}"),
    }
}

/// Returns the certificates without one part each. Every part is needed: the lists have nothing that does not follow
/// from the rest.
fn smaller(found: &Certificate) -> Vec<Certificate> {
    let mut mutants = Vec::new();
    let mut add = |change: &dyn Fn(&mut AdequacyClaim)| {
        let mut mutant = found.clone();
        change(claim(&mut mutant));
        mutants.push(mutant);
    };
    let whole = claim(&mut found.clone()).clone();
    let some = |n: usize| (0..n).step_by(1 + n / 5).chain(n.checked_sub(1)).collect::<Vec<_>>();
    add(&|claim| drop(claim.turns.pop()));
    add(&|claim| claim.positions.clear());
    for turn in some(whole.turns.len()) {
        let n_states = whole.turns[turn].states.len();
        add(&|claim| claim.turns[turn].states.truncate(n_states - 1));
    }
    for round in 0..whole.left.len() {
        for block in some(whole.left[round].len()) {
            add(&|claim| drop(claim.left[round].remove(block)));
        }
    }
    for round in 0..whole.right.len() {
        for block in some(whole.right[round].len()) {
            add(&|claim| drop(claim.right[round].remove(block)));
        }
    }
    mutants
}

/// Returns certificates with invented turns: with a state that no step leads to, and with states that follow only from
/// each other.
fn made_up(found: &Certificate) -> Vec<Certificate> {
    let mut mutants = Vec::new();
    let Certificate::Cover(proof) = found else { unreachable!("it is one about rounds") };
    let (n_shared, n_local) = (proof.shareds.len() as u32, proof.locals.len() as u32);
    let whole = claim(&mut found.clone()).clone();
    for (number, turn) in whole.turns.iter().enumerate().take(20) {
        let pairs = (0..n_shared).flat_map(|shared| (0..n_local).map(move |local| (shared, local)));
        let pairs = pairs.map(|(shared, local)| (SharedId::from_raw(shared), Some(LocalId::from_raw(local))));
        let is_new =
            |pair: &(SharedId, Option<LocalId>)| turn.states.iter().all(|state| (state.shared, state.local) != *pair);
        for (shared, local) in pairs.filter(is_new).take(3) {
            let last = turn.states.len() as u32;
            for from in [None, Some(0), Some(last), Some(last + 1)] {
                let mut mutant = found.clone();
                claim(&mut mutant).turns[number].states.push(TurnState { shared, local, from });
                mutants.push(mutant);
            }
        }
        if let Some(later) = turn.states.iter().position(|state| state.from.is_some()) {
            let mut mutant = found.clone();
            claim(&mut mutant).turns[number].states[later].from = Some(later as u32);
            mutants.push(mutant);
        }
    }
    mutants
}

/// In a certificate Eve's relations may say too much, Adam's turns must be real: without ranks he could match anything.
#[test]
fn adam_needs_reality() {
    let posed = posed(LOCKED, None);
    let task = posed.task();
    let found = certified(&task).expect("few rounds are enough");
    let mutants = made_up(&found);
    assert!(mutants.len() > 20, "{}", mutants.len());
    for mutant in mutants {
        assert!(verify(&task, &mutant, &Run::unlimited()).is_err(), "{mutant:?}");
    }
}

#[test]
fn nothing_can_be_taken_away_from_a_certificate() {
    let posed = posed(LOCKED, None);
    let task = posed.task();
    let found = certified(&task).expect("few rounds are enough");
    for mutant in smaller(&found) {
        assert!(verify(&task, &mutant, &Run::unlimited()).is_err(), "{mutant:?}");
    }
}

/// A certificate is about its program: a broken one has none, and is not accepted with that of another.
#[test]
fn a_broken_program_has_no_certificate() {
    let broken = LOCKED.replace("assume(!lock);", "skip;");
    let (right, wrong) = (posed(LOCKED, None), posed(&broken, None));
    assert_eq!(certificate(&wrong.task(), [1, LAST], &Run::unlimited()), Ok(None));
    let found = certified(&right.task()).expect("few rounds are enough");
    assert!(verify(&wrong.task(), &found, &Run::unlimited()).is_err());
}

/// On generated templates: a proof of the engine has a certificate that the judge accepts, whose mutants it rejects; a
/// program with an error has no certificate.
#[test]
fn generated_templates_are_certified() {
    let (mut proved, mut with) = (0, 0);
    for number in 0..60 {
        let Ok(asked) = pose(&item(11, number)) else { continue };
        let inlined = simplify(&asked.task(), &[Pass::Inline]);
        let task = inlined.question();
        let rounds = engine(LAST);
        if rounds.supports(&task).is_err() {
            continue;
        }
        match rounds.check(&task, &Run::unlimited()) {
            Ok(Verdict::Safe(_)) => {
                proved += 1;
                if let Some(found) = certified(&task) {
                    with += 1;
                    let mutants = smaller(&found).into_iter().chain(made_up(&found));
                    for mutant in mutants.step_by(3) {
                        assert!(verify(&task, &mutant, &Run::unlimited()).is_err(), "{number}: {mutant:?}");
                    }
                }
            }
            Ok(Verdict::Unsafe(_)) => {
                assert_eq!(certificate(&task, [1, 2], &Run::unlimited()), Ok(None), "{number}");
            }
            Err(_) => {}
        }
    }
    assert!(with > 5 && 10 * with >= 8 * proved, "{with} of {proved}");
}

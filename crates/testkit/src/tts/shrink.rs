//! Smaller systems that still show a fault.

use selvedge_ir::tts::{RuleId, Tts};

/// Removes rules, targets and starts, one at a time, as long as `fails` says that the fault is still there. The states
/// keep their numbers.
///
/// It terminates since each successful round makes the system smaller; at the end nothing more can be removed.
pub fn shrink(tts: &Tts, mut fails: impl FnMut(&Tts) -> bool) -> Tts {
    let mut small = tts.clone();
    while let Some(smaller) = candidates(&small).into_iter().find(|candidate| fails(candidate)) {
        small = smaller;
    }
    small
}

/// Returns all systems with one part removed.
fn candidates(tts: &Tts) -> Vec<Tts> {
    let mut found = Vec::new();
    for rule in 0..tts.rules.len() {
        let mut smaller = tts.clone();
        smaller.rules.remove(RuleId::from(rule));
        found.push(smaller);
    }
    for target in 0..tts.targets.len() {
        let mut smaller = tts.clone();
        smaller.targets.remove(target);
        found.push(smaller);
    }
    for start in 0..tts.starts.len() {
        let mut smaller = tts.clone();
        smaller.starts.remove(start);
        found.push(smaller);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverability::random;
    use crate::rng::Rng;
    use crate::tts::{AtBound, reach};

    #[test]
    fn what_is_left_still_fails_and_nothing_more_can_go() {
        let covers = |tts: &Tts| reach(tts, 3, AtBound::Blocked, 2_000).covered;
        let mut systems = (0..50).map(|number| random(&mut Rng::for_item(5, number)));
        let tts = systems.find(|tts| covers(tts) && tts.rules.len() > 8).expect("some system covers its target");
        let small = shrink(&tts, covers);
        assert!(covers(&small) && small.rules.len() < tts.rules.len());
        assert!(candidates(&small).iter().all(|candidate| !covers(candidate)));
    }
}

//! Smaller systems that still show a fault.

use selvedge_ir::tts::Tts;

use crate::shrink::{first_failing, without_one};

/// Removes rules, targets and starts, one at a time, as long as `fails` says that the fault is still there. The states
/// keep their numbers. At the end nothing more can be removed.
pub fn shrink(tts: &Tts, mut fails: impl FnMut(&Tts) -> bool) -> Tts {
    first_failing(tts.clone(), candidates, &mut fails)
}

/// Returns all systems with one part removed.
fn candidates(tts: &Tts) -> Vec<Tts> {
    let rules = without_one(tts.rules.as_raw_slice()).into_iter();
    let rules = rules.map(|rules| Tts { rules: rules.into_iter().collect(), ..tts.clone() });
    let targets = without_one(&tts.targets).into_iter().map(|targets| Tts { targets, ..tts.clone() });
    let starts = without_one(&tts.starts).into_iter().map(|starts| Tts { starts, ..tts.clone() });
    rules.chain(targets).chain(starts).collect()
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

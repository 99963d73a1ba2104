//! Random pushdown systems: forward and backward saturation, and the exploration of all short stacks, compared.

use std::collections::{BTreeMap, VecDeque};

use selvedge_check::Run;
use selvedge_engines::pushdown::{Direction, SystemVerdict, check};
use selvedge_ir::pds::{Config, Pds};
use selvedge_replay::certificate::verify_system;
use selvedge_testkit::rng::Rng;
use selvedge_testkit::systems::random;

/// The limits on the height of stacks and on configurations.
const HEIGHT: usize = 14;
const CONFIGS: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naive {
    Reachable,
    Unreachable,
    /// Stacks grow too high.
    Open,
}

fn naive(pds: &Pds) -> Naive {
    let mut depths: BTreeMap<Config, ()> = pds.initial.iter().map(|config| (config.clone(), ())).collect();
    let mut waiting: VecDeque<Config> = pds.initial.iter().cloned().collect();
    let mut open = false;
    while let Some(config) = waiting.pop_front() {
        if pds.targets.iter().any(|head| head.holds(&config)) {
            return Naive::Reachable;
        }
        for next in pds.rules.indices().filter_map(|rule| pds.apply(rule, &config)) {
            if next.stack.len() > HEIGHT || depths.len() > CONFIGS {
                open = true;
            } else if depths.insert(next.clone(), ()).is_none() {
                waiting.push_back(next);
            }
        }
    }
    if open { Naive::Open } else { Naive::Unreachable }
}

/// Returns the fault in the answers about a system, if there is one.
fn fault(pds: &Pds) -> Option<String> {
    let mut answers = Vec::new();
    for direction in [Direction::Forward, Direction::Backward] {
        match check(pds, direction, &Run::unlimited()).expect("nothing stops it") {
            SystemVerdict::Unreachable(proof) => {
                if let Err(flaw) = verify_system(pds, &proof, &Run::unlimited()) {
                    return Some(format!(
                        "{direction:?}: the proof is rejected: {}",
                        flaw.flaw().map(|flaw| flaw.show(pds)).unwrap_or_default()
                    ));
                }
                answers.push(Naive::Unreachable);
            }
            SystemVerdict::Reachable(trace) => {
                if let Err(reason) = pds.replay(&trace) {
                    return Some(format!("{direction:?}: the run does not replay: {reason:?}"));
                }
                answers.push(Naive::Reachable);
            }
        }
    }
    let naive = naive(pds);
    // The naive search does not see a run through high stacks only.
    let agrees = answers[0] == answers[1] && (naive == Naive::Open || naive == answers[0]);
    (!agrees).then(|| format!("forward {:?}, backward {:?}, naive {naive:?}", answers[0], answers[1]))
}

/// Returns a part of a system with as few rules, starts and targets as still have a fault.
fn shrink(mut pds: Pds) -> Pds {
    loop {
        let smaller = (0..pds.rules.len()).map(|number| {
            let mut smaller = pds.clone();
            smaller.rules.remove(selvedge_ir::pds::RuleId::new(number));
            smaller
        });
        let fewer_starts = (0..pds.initial.len()).map(|number| {
            let mut smaller = pds.clone();
            smaller.initial.remove(number);
            smaller
        });
        let fewer_targets = (0..pds.targets.len()).map(|number| {
            let mut smaller = pds.clone();
            smaller.targets.remove(number);
            smaller
        });
        let mut candidates = smaller.chain(fewer_starts).chain(fewer_targets);
        match candidates.find(|smaller| fault(smaller).is_some()) {
            Some(smaller) => pds = smaller,
            None => return pds,
        }
    }
}

#[test]
fn forward_backward_and_naive_search_agree_on_random_systems() {
    let mut tally = BTreeMap::new();
    for seed in 0..4_000 {
        let pds = random(&mut Rng::new(seed));
        if let Some(fault) = fault(&pds) {
            let small = shrink(pds);
            panic!("seed {seed}: {fault}; smaller:\n{}", selvedge_frontend::pds::print(&small));
        }
        *tally.entry(format!("{:?}", naive(&pds))).or_insert(0) += 1;
    }
    assert!(tally.values().all(|count| *count > 50) && tally.len() == 3, "every kind is tried: {tally:?}");
}

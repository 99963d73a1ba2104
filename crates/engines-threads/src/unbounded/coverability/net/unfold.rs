//! From the net back to the rules of its system.

use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{RuleId, SharedId, Tts, TtsRun};

use super::super::Vector;
use super::super::backward::Basis;
use super::super::follow::follow;
use super::super::transfer::before;
use super::super::views::Table;
use super::contract::{Net, Transition};
use super::search::Way;
use super::weights::Weights;

/// Limit on the elements of a basis. Larger ones take too long to check.
const MOST_ELEMENTS: usize = 100_000;

/// Returns the run of a way to the goal. The threads that are needed are followed backwards, rule by rule, so that they
/// are among those of the way between transitions.
pub(super) fn run(tts: &Tts, net: &Net, way: &Way, run: &Run<'_>) -> Result<TtsRun, Stop> {
    let mut need = Vector::default();
    let mut back: Vec<(RuleId, Vector)> = Vec::new();
    for (transition, within) in way.steps.iter().rev() {
        let transition = &net.transitions[*transition];
        if let Some(target) = transition.target {
            need = Vector::of(&tts.targets[target].threads);
        }
        let found = chain(tts, transition, transition.rules.len(), &need, within, &mut back, run)?;
        need = found.expect("the transition consists of its rules");
    }
    back.reverse();
    Ok(follow(tts, way.start, &need, &back))
}

/// Adds the first `n` rules of a transition to a list, the last one first, each with what is needed after it. Returns
/// what is needed before them, if that can be among the given threads.
fn chain(
    tts: &Tts,
    transition: &Transition,
    n: usize,
    need: &Vector,
    within: &Vector,
    back: &mut Vec<(RuleId, Vector)>,
    run: &Run<'_>,
) -> Result<Option<Vector>, Stop> {
    let Some(last) = n.checked_sub(1) else { return Ok(need.is_covered_by(within).then(|| need.clone())) };
    let id = transition.rules[last];
    back.push((id, need.clone()));
    for before in before(&tts.rules[id], need, run)?.0 {
        if let Some(found) = chain(tts, transition, last, &before, within, back, run)? {
            return Ok(Some(found));
        }
    }
    back.pop();
    Ok(None)
}

/// Returns the basis for all shared states from that for those of the net; `None` if it would be too large. Elements
/// that the table or weights exclude are left out.
pub(super) fn basis(
    tts: &Tts,
    net: &Net,
    known: &Table,
    least: Vec<Vec<Vector>>,
    weights: &[Weights],
    run: &Run<'_>,
) -> Result<Option<Basis>, Stop> {
    let mut least = least;
    let is_open = |shared: SharedId, threads: &Vector| {
        known.admits(shared, &threads.threads()) && !weights.iter().any(|weights| weights.exclude(shared, threads))
    };
    for (shared, here) in least.iter_mut().enumerate() {
        here.retain(|threads| is_open(SharedId::from(shared), threads));
    }
    let mut rules: Vec<Vec<RuleId>> = vec![Vec::new(); tts.n_shared as usize];
    for (id, rule) in tts.rules.iter_enumerated().filter(|(_, rule)| rule.shared != rule.shared_after) {
        rules[rule.shared.index()].push(id);
    }
    let mut n_elements: usize = least.iter().map(Vec::len).sum();
    for shared in &net.eliminated {
        let targets = tts.targets.iter().filter(|target| target.shared == *shared);
        let mut here: Vec<Vector> = Vec::new();
        targets.for_each(|target| add(&mut here, Vector::of(&target.threads)));
        for id in &rules[shared.index()] {
            let rule = &tts.rules[*id];
            for after in &least[rule.shared_after.index()] {
                run.tick()?;
                before(rule, after, run)?.0.into_iter().for_each(|threads| add(&mut here, threads));
            }
        }
        here.retain(|threads| is_open(*shared, threads));
        n_elements += here.len();
        if n_elements > MOST_ELEMENTS {
            return Ok(None);
        }
        least[shared.index()] = here;
    }
    let all = least.into_iter().enumerate();
    let mut least: Vec<(SharedId, Vector)> =
        all.flat_map(|(shared, here)| here.into_iter().map(move |threads| (SharedId::from(shared), threads))).collect();
    least.sort_unstable();
    Ok(Some(Basis { least, weights: weights.to_vec() }))
}

/// Adds an element unless one is below it; removes those above it.
fn add(least: &mut Vec<Vector>, threads: Vector) {
    if !least.iter().any(|other| other.is_covered_by(&threads)) {
        least.retain(|other| !threads.is_covered_by(other));
        least.push(threads);
    }
}

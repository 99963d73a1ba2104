//! Target-set widening: the search backwards from guesses (Kaiser, Kroening and Wahl, "Efficient coverability analysis
//! by proof minimization").
//!
//! Backwards, configurations grow: each step requires one more thread. Most of them cannot be covered because of one or
//! two of their threads. So of each configuration one or two threads are kept that were never seen together, if there
//! are any, in the guess that they cannot be covered. The fewer threads an element has, the more is above it, and the
//! search ends sooner.
//!
//! **Order of work.** The configurations that few threads reach are visited first, to see which threads occur together.
//! If two are too many for a budget, no guesses are made: too many would be wrong. Else the search backwards runs with
//! guesses. Where it meets a start, its chain of rules is a run up to the first guess on it. Without a guess it covers
//! a target. Else the guess was wrong: the configurations of the run are recorded, and the search starts again, in the
//! end without guesses.
//!
//! **End.** Each search ends as it does without guesses, and there are not many.
//!
//! **Right.** At the end the elements, guesses included, contain the targets, and all that leads to them, and no start.

use rustc_hash::FxHashSet;
use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{Cover, LocalId, SharedId, TtsRun};
use selvedge_transition::tts_extract::configurations;

use super::backward::{self, BackwardSearch, Basis, Meeting};
use super::views::Table;
use super::{Answer, Rules, Vector, bounded};

/// The maximum number of threads that are followed forwards.
const THREADS: usize = 3;

/// Limit on the configurations that are visited, for each number of threads.
const CONFIGURATIONS: usize = 2_000;

/// The number of wrong guesses after which no more are made.
const MOST_WRONG: usize = 16;

/// Decides whether one of the targets can be covered, with guesses. Configurations that the table does not admit are
/// excluded.
pub fn decide(
    rules: &Rules<'_>,
    targets: &[Cover],
    known: Option<&Table>,
    run: &Run<'_>,
) -> Result<Answer<Basis>, Stop> {
    let Some(mut seen) = SeenThreads::forwards(rules, run)? else {
        return backward::decide(rules, targets, known, run);
    };
    for _ in 0..MOST_WRONG {
        match BackwardSearch::new(rules, known, Some(&seen)).decide(targets, run)? {
            Meeting::None(basis) => return Ok(Answer::Uncovered(basis)),
            Meeting::Run(found) => return Ok(Answer::Covered(found)),
            Meeting::WrongGuess(found) => seen.follow(rules, &found),
        }
    }
    backward::decide(rules, targets, known, run)
}

/// The threads that were seen, alone and in pairs.
#[derive(Debug, Default)]
pub(super) struct SeenThreads {
    one: FxHashSet<(SharedId, LocalId)>,
    two: FxHashSet<(SharedId, LocalId, LocalId)>,
}

impl SeenThreads {
    /// Visits the configurations of few threads; returns `None` if two are too many.
    fn forwards(rules: &Rules<'_>, run: &Run<'_>) -> Result<Option<SeenThreads>, Stop> {
        let mut seen = SeenThreads::default();
        for k in 1..=THREADS {
            let mut left = CONFIGURATIONS;
            bounded::visit(rules, k, run, |shared, threads| {
                seen.note(shared, threads);
                left -= 1;
                left == 0
            })?;
            if left == 0 {
                return Ok(Some(seen).filter(|_| k > 2));
            }
        }
        Ok(Some(seen))
    }

    /// Records a configuration with these threads, in ascending order.
    fn note(&mut self, shared: SharedId, threads: &[LocalId]) {
        for (place, first) in threads.iter().enumerate() {
            self.one.insert((shared, *first));
            self.two.extend(threads[place + 1..].iter().map(|second| (shared, *first, *second)));
        }
    }

    fn follow(&mut self, rules: &Rules<'_>, found: &TtsRun) {
        for now in configurations(rules.tts, found) {
            let mut threads: Vec<LocalId> = now.threads.into_iter().flatten().collect();
            threads.sort_unstable();
            self.note(now.shared, &threads);
        }
    }

    /// Returns one or two threads of a configuration that were never seen together, if they are fewer than all.
    pub(super) fn guess(&self, shared: SharedId, threads: &Vector) -> Option<Vector> {
        let total = threads.total();
        let counts = threads.counts();
        if total > 1
            && let Some((local, _)) = counts.iter().find(|(local, _)| !self.one.contains(&(shared, *local)))
        {
            return Some(Vector::of(&[*local]));
        }
        if total <= 2 {
            return None;
        }
        counts.iter().enumerate().find_map(|(place, (first, count))| {
            let same = (*count > 1).then_some(first);
            let mut seconds = same.into_iter().chain(counts[place + 1..].iter().map(|(second, _)| second));
            let second = seconds.find(|second| !self.two.contains(&(shared, *first, **second)))?;
            Some(Vector::of(&[*first, *second]))
        })
    }
}

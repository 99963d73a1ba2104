//! How many threads are enough to reach all thread states: chapter 9 of Basler's thesis.
//!
//! The thread states that N threads reach grow with N and stop growing at some N, the *cutoff*. That nothing new comes from
//! N to N + 1 (a plateau) proves nothing: more may come later. What proves a cutoff is a set that no number of threads
//! leaves: the thread states that a table of views admits, or those that Karp and Miller's tree, or the search backwards
//! one by one, say can be covered. The first contains all that can be covered, the others are exactly that.

use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, SharedId};

use super::{Rules, backward, bounded, karp_miller, views};

/// What is known about the cutoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// How many thread states N threads reach, for N = 1, 2, ..
    pub reached: Vec<usize>,
    /// The least N looked at from which on nothing new came.
    pub plateau: usize,
    /// What proves that the plateau is the cutoff.
    pub proof: Option<Prover>,
}

/// Who says which thread states can be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prover {
    /// The views of so many threads admit no others.
    Views(usize),
    /// Karp and Miller's tree.
    KarpMiller,
    /// The search backwards for each thread state.
    Backward,
}

/// How to look for a cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The largest N to look at.
    pub most: usize,
    /// The largest k of views to try.
    pub most_views: usize,
    /// Who is asked if views say too little; `None` leaves the cutoff open.
    pub exact: Option<Exact>,
}

/// Who computes exactly what can be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exact {
    /// [`karp_miller`].
    KarpMiller,
    /// [`backward`].
    Backward,
}

/// Grows N until the thread states are all that can be covered, or N is as large as it may be.
///
/// Without proof, the plateau is only where nothing more was seen.
pub fn cutoff(rules: &Rules<'_>, effort: Effort, run: &Run<'_>) -> Result<Cutoff, Stop> {
    let mut reached = Vec::new();
    let mut coverable: Option<Coverable> = None;
    for n in 1..=effort.most {
        let states = bounded::thread_states(rules, n, run)?;
        reached.push(states.len());
        if n <= effort.most_views {
            let admitted = views::table(rules, n, run)?.thread_states();
            if admitted == states {
                return Ok(proved(reached, Prover::Views(n)));
            }
        } else if coverable.is_none() {
            coverable = exactly(rules, effort.exact, run)?;
        }
        if let Some(all) = &coverable
            && all.states == states
        {
            return Ok(proved(reached, all.prover));
        }
    }
    Ok(Cutoff { plateau: plateau(&reached), reached, proof: None })
}

fn proved(reached: Vec<usize>, prover: Prover) -> Cutoff {
    Cutoff { plateau: plateau(&reached), reached, proof: Some(prover) }
}

/// The thread states that can be covered, and who says so.
struct Coverable {
    states: Vec<(SharedId, LocalId)>,
    prover: Prover,
}

fn exactly(rules: &Rules<'_>, exact: Option<Exact>, run: &Run<'_>) -> Result<Option<Coverable>, Stop> {
    Ok(match exact {
        None => None,
        Some(Exact::KarpMiller) => {
            let states = karp_miller::cover_set(rules, run)?.thread_states();
            Some(Coverable { states, prover: Prover::KarpMiller })
        }
        Some(Exact::Backward) => {
            Some(Coverable { states: backward::thread_states(rules, run)?, prover: Prover::Backward })
        }
    })
}

/// The least N with as many thread states as the last.
fn plateau(reached: &[usize]) -> usize {
    let last = reached.last().copied().unwrap_or(0);
    reached.iter().take_while(|n_states| **n_states < last).count() + 1
}

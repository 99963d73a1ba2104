//! Coverability in thread-transition systems whose states are listed one by one: is there a run to a configuration with
//! a certain shared state and at least certain threads?
//!
//! - [`bounded`] follows a bounded number of threads and finds runs;
//! - [`views`] over-approximates the states of any k threads and finds proofs;
//! - [`karp_miller`] computes all that can be covered, as finitely many vectors with ω (chapter 8 of Basler's thesis,
//!   as corrected: the accelerated node is stored, and nodes grow in the covering order);
//! - [`backward`] goes from the targets backwards with a minimal basis, and always ends with a run or a proof;
//! - [`net`] joins rules and searches forwards and backwards, directed and pruned by the marking equation;
//! - [`widening`] makes its elements smaller by guesses, which are corrected by runs of few threads and by its own
//!   results;
//! - [`cutoff`] counts the thread states that N threads reach, and determines from which N on none is missing (chapter
//!   9).
//!
//! All but the tree of Karp and Miller, and the cutoff, which needs it, work on systems whose rules transfer threads
//! (`transfer`): a number with ω would have to be divided there.
//!
//! The first two together, for k = 1, 2, 3, .., decide nearly all systems that come from programs ([`decide`]).

pub mod backward;
pub mod bounded;
pub mod certificate;
mod choices;
pub mod cutoff;
mod engines;
mod follow;
pub mod karp_miller;
pub mod net;
mod transfer;
mod unwind;
mod vector;
pub mod views;
pub mod widening;

use selvedge_check::{Bound, Event, Run, Stop};
use selvedge_ir::tts::{Tts, TtsRun};

pub use engines::{Coverability, Method, Options};
pub use selvedge_transition::tts_extract::Rules;
pub use vector::{OMEGA, Vector};

/// The answer to a question about coverability, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<P> {
    /// A target can be covered, by this run.
    Covered(TtsRun),
    /// No target can be covered, and this is the proof.
    Uncovered(P),
}

/// Looks for runs with k threads and for a proof about k threads, for k = 1, 2, .. up to `most`. From the third proof
/// on, which costs much more than a search with as many threads, the search is one thread ahead.
///
/// It ends for every system if nothing bounds k: a run that covers a target has some number of threads, and if no run
/// covers one there is a k whose views are enough, since the set of all that can be covered is closed downwards and
/// there are no infinite antichains. (This k is not known beforehand.)
pub fn decide(tts: &Tts, most: Option<usize>, run: &Run<'_>) -> Result<Answer<views::Table>, Stop> {
    decide_from(1, tts, most, run)
}

/// Does the same for k = `first`, `first` + 1, .., where fewer threads have not decided it.
fn decide_from(first: usize, tts: &Tts, most: Option<usize>, run: &Run<'_>) -> Result<Answer<views::Table>, Stop> {
    let rules = Rules::new(tts);
    let mut searched = first - 1;
    let mut k = first;
    while most.is_none_or(|most| k <= most) {
        let ahead = if k < 3 { k } else { k + 1 };
        while searched < ahead {
            searched += 1;
            if let Some(found) = bounded::find(&rules, searched, run)? {
                return Ok(Answer::Covered(found));
            }
        }
        run.event(Event::Views { k, views: 0, waiting: 0 });
        if let Some(table) = views::prove(&rules, k, run)? {
            return Ok(Answer::Uncovered(table));
        }
        k += 1;
    }
    Err(Stop::BoundReached(Bound::Threads(searched as u32)))
}

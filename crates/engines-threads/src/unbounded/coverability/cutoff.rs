//! The number of threads that is enough to reach all thread states: chapter 9 of Basler's thesis.
//!
//! The thread states that N threads reach grow with N and stop growing at some N, the *cutoff*. If nothing new comes
//! from N to N + 1 (a plateau), that proves nothing: more may come later. A cutoff is proved by a set that no number of
//! threads leaves: the thread states that a table of views admits, or those that can be covered according to Karp and
//! Miller's tree. The first contains all that can be covered, the second is exact.

use selvedge_check::{CoverClaim, Cutoff, CutoffProof, Event, Run, Stop};
use selvedge_ir::tts::{LocalId, SharedId};

use super::{Answer, Rules, bounded, certificate, karp_miller, views};

/// The effort to spend on a cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The largest N to try.
    pub most: Option<usize>,
    /// The largest k of views to try.
    pub most_views: usize,
    /// Computes exactly what can be covered if views are too coarse; otherwise the cutoff stays open.
    pub exact: bool,
}

/// The result of a search for the cutoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutoffResult {
    /// The cutoff.
    pub cutoff: Cutoff,
    /// The answer whether a target can be covered, if that was decided.
    pub answer: Option<Answer<CoverClaim>>,
}

/// Grows N until the thread states are all that can be covered and the targets are decided, or N is as large as it may
/// be.
///
/// It ends without a bound if it computes exactly what can be covered: for some N, N threads reach all that can be
/// covered, and a target that can be covered is.
pub fn search(rules: &Rules<'_>, effort: Effort, run: &Run<'_>) -> Result<CutoffResult, Stop> {
    let mut found = CutoffResult { cutoff: Cutoff::default(), answer: None };
    let mut coverable: Option<Coverable> = None;
    let mut n = 0;
    while (found.cutoff.proof.is_none() || found.answer.is_none()) && effort.most.is_none_or(|most| n < most) {
        n += 1;
        if found.answer.is_none() {
            found.answer = bounded::find(rules, n, run)?.map(Answer::Covered);
        }
        if n <= effort.most_views {
            let table = views::table(rules, n, run)?;
            let admits_targets = rules.tts.targets.iter().any(|target| table.admits(target.shared, &target.threads));
            if found.answer.is_none() && !admits_targets {
                // Views of one thread do not count the threads of a kind.
                let table = if n == 1 { &views::table(rules, 2, run)? } else { &table };
                found.answer = Some(Answer::Uncovered(certificate::views(table)));
            }
            coverable = Some(Coverable { states: table.thread_states(), prover: CutoffProof::Views(n as u32) });
        } else if n == effort.most_views + 1 && effort.exact {
            coverable = Some(exactly(rules, &mut found, run)?);
        }
        if found.cutoff.proof.is_none() {
            let states = bounded::thread_states(rules, n, run)?;
            run.event(Event::ThreadStates { threads: n, states: states.len() });
            found.cutoff.reached.push(states.len());
            found.cutoff.proof = coverable.as_ref().filter(|all| all.states == states).map(|all| all.prover);
        }
    }
    Ok(found)
}

/// Thread states beyond which none can be covered, and the method that proves it.
struct Coverable {
    states: Vec<(SharedId, LocalId)>,
    prover: CutoffProof,
}

/// Computes all that can be covered; also decides the targets if they cannot be covered.
fn exactly(rules: &Rules<'_>, found: &mut CutoffResult, run: &Run<'_>) -> Result<Coverable, Stop> {
    let cover = karp_miller::cover_set(rules, run)?;
    if found.answer.is_none() && !rules.tts.targets.iter().any(|target| cover.covers(target)) {
        found.answer = Some(Answer::Uncovered(certificate::vectors(&cover)));
    }
    Ok(Coverable { states: cover.thread_states(), prover: CutoffProof::KarpMiller })
}

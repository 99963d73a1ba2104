//! Evidence that a number of rounds is enough: the relations of §4 and a strategy of Adam, over listed states.
//!
//! The program becomes a thread-transition system, which has few states if whole atomic sections are steps. `explore`
//! lists the turns and blocks of all executions of `k + 1` rounds, `game` finds answers for Adam in those of `k`. Both
//! give up if the lists get too long; then there is no certificate of this form.

mod explore;
mod game;

use std::collections::BTreeSet;

use selvedge_check::{AdequacyClaim, Certificate, CoverClaim, Role, Run, Stop, Task};
use selvedge_ir::tts::{LocalId, SharedId, Tts};
use selvedge_transition::tts_extract::{self, System, extract};

use crate::threads::thread_limit;
use explore::{ListedRuns, explore};

/// Limit on the entries in the lists of a certificate, and on the positions to consider.
pub(super) const LIMIT: usize = 100_000;

/// The templates of the threads that run a system.
pub(super) struct SystemTemplates<'s> {
    pub(super) tts: &'s Tts,
    /// The shared states in which threads start.
    pub(super) first: BTreeSet<SharedId>,
    /// The local states in which threads of each template begin.
    pub(super) begin: Vec<BTreeSet<LocalId>>,
    /// The number of threads of a template that a run may have; `None` if it is not limited.
    pub(super) limits: Vec<Option<u32>>,
}

/// Returns a certificate for a task that is safe because some number of rounds, from `first` to `last`, is enough;
/// `None` if the game is lost, or if the certificate would be too long. The program must be as the user wrote it,
/// except for calls that were replaced.
pub fn certificate(task: &Task<'_>, rounds: [u32; 2], run: &Run<'_>) -> Result<Option<Certificate>, Stop> {
    if selvedge_transition::support::supports_unbounded(task, "rounds").is_err() {
        return Ok(None);
    }
    let options = tts_extract::Options { size: LIMIT, ..tts_extract::Options::default() };
    let system = match extract(task, options, run) {
        Ok(system) => system,
        Err(Stop::StateLimit(_)) => return Ok(None),
        Err(stop) => return Err(stop),
    };
    let Some(claim) = claim(task, &system, rounds, run)? else { return Ok(None) };
    Ok(Some(system.certificate(CoverClaim::Adequacy(claim))))
}

fn claim(
    task: &Task<'_>,
    system: &System<'_>,
    [first, last]: [u32; 2],
    run: &Run<'_>,
) -> Result<Option<AdequacyClaim>, Stop> {
    let Some(templates) = templates(task, system) else { return Ok(None) };
    for k in first..=last {
        let Some(explored) = explore(&templates, k, run)? else { return Ok(None) };
        if let Some(positions) = game::solve(&templates, &explored, k, run)? {
            let ListedRuns { turns, left, right, .. } = explored;
            let [left, right] = [left, right].map(|rounds| rounds.into_iter().map(|blocks| blocks.list).collect());
            return Ok(Some(AdequacyClaim { k, turns, left, right, positions }));
        }
    }
    Ok(None)
}

/// Returns the templates of a system; `None` if a thread starts another, or if its beginning depends on the shared
/// state.
fn templates<'s>(task: &Task<'_>, system: &'s System<'_>) -> Option<SystemTemplates<'s>> {
    let entries = &task.program.entries;
    let starts = &system.tts.starts;
    let first: BTreeSet<SharedId> = starts.iter().map(|start| start.shared).collect();
    let begin_in = |shared: SharedId| {
        let mut begin = vec![BTreeSet::new(); entries.len()];
        for start in starts.iter().filter(|start| start.shared == shared) {
            for local in start.threads.iter().chain(&start.any) {
                let Role::Free(entry) = system.places[system.locals[*local].place as usize].role else { return None };
                begin[entry.index()].insert(*local);
            }
        }
        Some(begin)
    };
    let begin = begin_in(*first.first()?)?;
    let alike = first.iter().all(|shared| begin_in(*shared).as_ref() == Some(&begin));
    let alone = system.tts.rules.iter().all(|rule| rule.after.len() <= 1);
    let single = system.tts.targets.iter().all(|target| target.threads.len() == 1);
    let limits = entries.iter().map(|entry| thread_limit(entry.count)).collect();
    (alike && alone && single).then_some(SystemTemplates { tts: &system.tts, first, begin, limits })
}

impl SystemTemplates<'_> {
    /// Adds one thread of a template; returns `None` if a run may not have it.
    pub(super) fn with_thread(&self, used: &[u32], template: u32) -> Option<Vec<u32>> {
        let mut used = used.to_vec();
        if let Some(limit) = self.limits[template as usize] {
            let place = self.limits[..template as usize].iter().flatten().count();
            used[place] += 1;
            if used[place] > limit {
                return None;
            }
        }
        Some(used)
    }

    /// Returns whether two blocks fit into one run.
    pub(super) fn fit_together(&self, one: &[u32], other: &[u32]) -> bool {
        one.iter().zip(other).zip(self.limits.iter().flatten()).all(|((one, other), most)| one + other <= *most)
    }

    /// Returns the block without threads.
    pub(super) fn no_threads(&self) -> Vec<u32> {
        vec![0; self.limits.iter().flatten().count()]
    }
}

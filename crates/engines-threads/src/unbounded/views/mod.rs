//! Any number of threads by views: the engine `views`.
//!
//! After Abdulla, Haziza and Holik ("All for the price of few", VMCAI 2013), on programs instead of systems of explicit
//! states. A loop over k = 1, 2, 3, ..:
//! - a search with at most k threads ([`crate::bounded::symbolic`]); an error that it finds is one without bound
//!   (`trace`), and if it finds none and no step would have started one more thread, there is none;
//! - the *views* of k threads (`table`): the possible states of any k threads at the same time, over-approximated as
//!   the least table that is closed under the steps of its threads and of one more thread (`search`, `moves`). A thread
//!   that is not started yet is in no view, so the time before, say with the one first thread alone, stays exact. If no
//!   view shows an error, there is none with any number of threads, and the table is the proof (`certificate`).
//!
//! Each k is decided by finite tables and searches. The loop need not end where neither finds an answer; for programs
//! without passive parts it does, since an error shows with some number of threads, and the covered states are those of
//! a table for some k.

mod certificate;
mod meetings;
mod model;
mod moves;
mod passive;
mod search;
mod table;
mod trace;

use selvedge_check::{Argument, Bound, Engine, Event, Explanation, Run, Stop, Task, ThreadScope, Unsupported, Verdict};
use selvedge_transition::support::{is_passive, supports_any_number};

use self::model::ViewModel;
use self::search::ViewSearch;
use crate::bounded::symbolic::{Full, Threads, Within};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Views {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The maximum number of threads in a search or a view, at least 1; `None` for no maximum.
    ///
    /// Default: none.
    pub max_k: Option<u32>,
}

impl Engine for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_any_number(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        for k in 1.. {
            run.check_limits()?;
            run.event(Event::Views { k, views: 0, waiting: 0 });
            let found = find(task, k as u32, run)?;
            match found {
                Within::Error(trace) => return Ok(Verdict::Unsafe(trace)),
                Within::Everything(Some(certificate)) => return Ok(Verdict::Safe(Some(certificate))),
                Within::Everything(None) | Within::Nothing => {}
            }
            let mut search = ViewSearch::new(ViewModel::new(task, run, k)?, k);
            if !search.run()? {
                return Ok(Verdict::Safe(search.certificate()?));
            }
            if let Within::Everything(None) = found {
                explanation.close(Argument::TooManyStates, run);
                return Ok(Verdict::Safe(None));
            }
            if self.options.max_k.is_some_and(|max_k| k as u32 >= max_k) {
                return Err(Stop::BoundReached(Bound::Threads(k as u32)));
            }
        }
        unreachable!("the loop over all numbers does not end")
    }
}

/// Looks for an execution to an error in which at most `k` threads move.
///
/// With passive parts, other threads can observe even a thread that does not move; then steps that would start one
/// beyond the bound are not made.
pub(super) fn find(task: &Task<'_>, k: u32, run: &Run<'_>) -> Result<Within, Stop> {
    let bounded = Task { threads: ThreadScope::AtMost(k), ..*task };
    if is_passive(task.program) {
        return Threads::default().find(&bounded, Full::Blocks, run);
    }
    Ok(match Threads::default().find(&bounded, Full::Skips, run)? {
        Within::Error(found) => Within::Error(trace::unbounded(task.program, task.target, k, &found)),
        others => others,
    })
}

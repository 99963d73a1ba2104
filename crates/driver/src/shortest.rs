//! The shortest execution to an error, for programs with one thread.
//!
//! The engine `bmc` looks at all executions of zero steps, of one, and so on. So what it finds within fewer steps than
//! an execution that is known has the least number of steps; if it finds nothing, the known one has. It works within a
//! small budget: if that is used up, the known execution stays. Tools that refine abstractions by executions want the
//! shortest, since a longer one may repeat a loop for no reason.

use std::time::Duration;

use selvedge_check::{CancelToken, Event, Limits, Observer, Outcome, Run};
use selvedge_engines::EngineKind;

use crate::attempt::{Attempt, attempt, takes};
use crate::{Options, Prepared};

/// The time that the search may take.
const TIME: Duration = Duration::from_secs(3);

/// The most nodes of the circuit that is built.
const MOST_NODES: usize = 1_000_000;

/// Returns the shortest execution if it has fewer than `length` steps and is found within the budget. Like every other
/// one, it was executed.
pub(crate) fn shorter(prepared: &Prepared, length: u128, options: &Options, run: &Run<'_>) -> Option<Attempt> {
    let mut options = options.clone();
    options.engine_options.bmc.steps = u32::try_from(length).ok()?.checked_sub(1)?;
    let row = EngineKind::Bmc.row();
    if run.check_limits().is_err() || takes(prepared, row, &options).is_err() {
        return None;
    }
    let watch = Watch(CancelToken::default());
    let limits = Limits { time: Some(run.time_left().map_or(TIME, |left| left.min(TIME))), ..Limits::default() };
    let found = attempt(prepared, row, &options, &Run::new(watch.0.clone(), limits, &watch)).ok()?;
    matches!(found.outcome, Outcome::Unsafe(_)).then_some(found)
}

/// Stops the search when the circuit is large.
struct Watch(CancelToken);

impl Observer for Watch {
    fn event(&self, event: Event) {
        if matches!(event, Event::Unwound { nodes, .. } if nodes > MOST_NODES) {
            self.0.cancel();
        }
    }
}

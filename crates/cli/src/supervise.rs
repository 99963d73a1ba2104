//! Work on its own thread, while another one watches the clock and the memory.
//!
//! Engines look at their limits themselves and stop in order. Some work cannot: a read from a pipe that has no writer,
//! one operation on large decision diagrams, a pass over a million lines. So the watcher gives the work a moment to
//! notice that it must stop, and then leaves it behind: the caller answers in its place, and the abandoned thread ends
//! with the program. Memory that grows far beyond its limit leaves no moment.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Stop};
use selvedge_driver::defect::{Panic, guard};
use selvedge_driver::threads;

use crate::memory::{self, ChildWatch};
use crate::system;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// The time that work has to notice that it must stop. It is longer than the one that the driver gives its engines.
const NOTICE: Duration = Duration::from_millis(400);

/// The limits of some work. The default is no limit at all, not even an interrupt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// When the clock of the time limit started, and the limit.
    pub(crate) time: Option<(Instant, Duration)>,
    /// Bytes of memory in use.
    pub(crate) memory: Option<u64>,
    /// The switch by which the user stops it.
    pub(crate) cancel: Option<CancelToken>,
}

/// Why work has no result.
#[derive(Debug)]
pub(crate) enum NoResult {
    /// It had to stop, and did not, or the system refused it a thread.
    Stopped(Stop),
    /// It panicked.
    Panicked(Panic),
}

impl From<Panic> for NoResult {
    fn from(panic: Panic) -> NoResult {
        panic.stop().map_or(NoResult::Panicked(panic), NoResult::Stopped)
    }
}

/// Runs work on its own thread until it ends, or must stop and does not. `may_leave` is asked before the work is left
/// behind: work that has begun to write its result is waited for.
pub(crate) fn supervised<T: Send + 'static>(
    watch: &Watch,
    may_leave: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoResult> {
    let (sender, receiver) = mpsc::channel();
    let started = threads::start(move || {
        // The receiver is gone if the work was left behind.
        let _ = sender.send(guard(work));
    });
    if started.is_err() {
        return Err(NoResult::Stopped(Stop::NoThread));
    }
    let mut since = None;
    let mut children = ChildWatch::default();
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(result) => return result.map_err(NoResult::from),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the sender is dropped behind the message"),
        }
        system::end_after_abort();
        if watch.memory.is_some() {
            memory::look_at_children(&mut children);
        }
        let Some((stop, patience)) = watch.stop() else { continue };
        let since: &mut Instant = since.get_or_insert_with(Instant::now);
        if since.elapsed() >= patience && may_leave() {
            return Err(NoResult::Stopped(stop));
        }
    }
}

impl Watch {
    /// Says whether the work must stop, and how long it has to notice.
    fn stop(&self) -> Option<(Stop, Duration)> {
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Some((Stop::Cancelled, NOTICE));
        }
        if let Some((start, limit)) = self.time
            && start.elapsed() >= limit
        {
            return Some((Stop::TimeLimit(limit), NOTICE));
        }
        let limit = self.memory?;
        let in_use = memory::in_use();
        let patience = if in_use >= limit.saturating_add(limit / 10 + 20_000_000) { Duration::ZERO } else { NOTICE };
        (in_use >= limit).then_some((Stop::MemoryLimit(limit), patience))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deaf() {
        std::thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn work_that_does_not_stop_is_left_behind() {
        let limit = Duration::from_millis(50);
        let timed = Watch { time: Some((Instant::now(), limit)), ..Watch::default() };
        let cancel = CancelToken::default();
        cancel.cancel();
        let cancelled = Watch { cancel: Some(cancel), ..Watch::default() };
        for (watch, expected) in [(timed, Stop::TimeLimit(limit)), (cancelled, Stop::Cancelled)] {
            let start = Instant::now();
            let end = supervised(&watch, || true, deaf);
            assert!(matches!(end, Err(NoResult::Stopped(stop)) if stop == expected), "{end:?}");
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        }
    }

    #[test]
    fn work_that_ends_has_its_result_or_its_panic() {
        assert!(matches!(supervised(&Watch::default(), || true, || 7), Ok(7)));
        let panicked: Result<(), NoResult> = supervised(&Watch::default(), || true, || panic!("seven is not prime"));
        assert!(matches!(&panicked, Err(NoResult::Panicked(panic)) if panic.message.contains("seven")), "{panicked:?}");
        let refused: Result<(), NoResult> = supervised(&Watch::default(), || true, || panic!("failed to spawn thread"));
        assert!(matches!(refused, Err(NoResult::Stopped(Stop::NoThread))), "{refused:?}");
    }
}

//! Numbered items, run on several threads; items that never end are detected.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::trials::process::processor_seconds;

/// The resources of one item.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The stack of a worker in bytes. Programs are small, so a large one would hide a fault.
    pub stack: usize,
    /// The time after which an item counts as one that never ends, if the machine has worked at it for a part of it.
    pub patience: Duration,
}

/// The part of its patience for which a program must have worked before an item counts as one that never ends: less is
/// the lot of a program on a busy machine.
const WORKED: f64 = 0.25;

/// The number of times for which items are waited for although the program hardly works: they may wait for a solver or
/// for each other.
const MOST_WAITS: u32 = 10;

/// The items, and the number of threads that run them.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    /// The first number.
    pub first: u64,
    /// The number of items.
    pub count: u64,
    /// The number of threads.
    pub jobs: usize,
}

/// No item finished for a long time. The threads are abandoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// The items in progress, one per thread.
    pub numbers: Vec<u64>,
}

/// Calls `work` with every number, on threads of its own, and `each` with the results, in any order, until `each`
/// breaks off.
pub fn each<T: Send + 'static>(
    items: Items,
    effort: Effort,
    work: impl Fn(u64) -> T + Send + Sync + 'static,
    mut each: impl FnMut(u64, T) -> ControlFlow<()>,
) -> Result<(), Hang> {
    let (sender, receiver) = mpsc::channel();
    let work = Arc::new(work);
    let next = Arc::new(AtomicU64::new(items.first));
    let end = items.first + items.count;
    let current: Vec<Arc<AtomicU64>> = (0..items.jobs.max(1)).map(|_| Arc::new(AtomicU64::new(end))).collect();
    for current in &current {
        let (sender, work) = (sender.clone(), Arc::clone(&work));
        let (next, current) = (Arc::clone(&next), Arc::clone(current));
        let run = move || worker(&next, end, &current, &*work, &sender);
        thread::Builder::new().stack_size(effort.stack).spawn(run).expect("the system gives a thread");
    }
    drop(sender);
    let mut progress = Progress::new();
    loop {
        match receiver.recv_timeout(effort.patience) {
            Ok((number, result)) => {
                progress.note();
                if each(number, result).is_break() {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if progress.may_follow(effort.patience) => {}
            Err(RecvTimeoutError::Timeout) => {
                let numbers = current.iter().map(|current| current.load(Ordering::Relaxed));
                return Err(Hang { numbers: numbers.filter(|number| *number < end).collect() });
            }
        }
    }
}

/// The moment of the last result.
struct Progress {
    noted: Instant,
    /// The processor time of this program at that moment, where the system tells it.
    seconds: Option<f64>,
    n_waits: u32,
}

impl Progress {
    fn new() -> Progress {
        Progress { noted: Instant::now(), seconds: processor_seconds(std::process::id()), n_waits: 0 }
    }

    /// Notes a result. The processor time is not asked for more than once in a second.
    fn note(&mut self) {
        self.n_waits = 0;
        if self.noted.elapsed() > Duration::from_secs(1) {
            *self = Progress::new();
        }
    }

    /// Returns whether a result may follow, since the program has hardly worked for the time that it waited.
    fn may_follow(&mut self, patience: Duration) -> bool {
        self.n_waits += 1;
        let (Some(before), Some(now)) = (self.seconds, processor_seconds(std::process::id())) else { return false };
        self.n_waits < MOST_WAITS && now - before < WORKED * patience.as_secs_f64()
    }
}

/// Takes numbers until there are no more, or the receiver is gone.
fn worker<T>(next: &AtomicU64, end: u64, current: &AtomicU64, work: &dyn Fn(u64) -> T, sender: &Sender<(u64, T)>) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        current.store(number, Ordering::Relaxed);
        if number >= end || sender.send((number, work(number))).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: Effort = Effort { stack: 1 << 20, patience: Duration::from_secs(60) };

    #[test]
    fn every_number_is_tried_once() {
        let mut seen = Vec::new();
        let items = Items { first: 5, count: 100, jobs: 3 };
        let end = each(
            items,
            EFFORT,
            |number| number * 2,
            |number, double| {
                assert_eq!(double, 2 * number);
                seen.push(number);
                ControlFlow::Continue(())
            },
        );
        seen.sort_unstable();
        assert_eq!((end, seen), (Ok(()), (5..105).collect()));
    }

    #[test]
    fn enough_is_enough() {
        let mut n_seen = 0;
        let end = each(
            Items { first: 0, count: 1_000_000, jobs: 1 },
            EFFORT,
            |number| number,
            |_, _| {
                n_seen += 1;
                if n_seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!((end, n_seen), (Ok(()), 3));
    }
}

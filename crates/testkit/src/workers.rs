//! Numbered items, run on several threads; items that never end are detected.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The resources of one item.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The stack of a worker in bytes. Programs are small, so a large one would hide a fault.
    pub stack: usize,
    /// The time after which an item counts as one that never ends.
    pub patience: Duration,
}

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
    loop {
        match receiver.recv_timeout(effort.patience) {
            Ok((number, result)) => {
                if each(number, result).is_break() {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                let numbers = current.iter().map(|current| current.load(Ordering::Relaxed));
                return Err(Hang { numbers: numbers.filter(|number| *number < end).collect() });
            }
        }
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

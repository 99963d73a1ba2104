//! Work in other processes of this program: isolated from each other, in parallel, each within limits of its own.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::args::LimitArgs;
use crate::session::Session;

/// A process that ended.
pub(crate) struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) time: Duration,
    /// Set if it was ended because its result was no longer wanted.
    pub(crate) stopped: bool,
}

/// The time between two looks at a process.
const LOOK: Duration = Duration::from_millis(5);

/// Runs this program with some arguments. It is ended if the user interrupts, or if it is no longer wanted.
pub(crate) fn run(
    arguments: &[String],
    session: &Session,
    is_wanted: &mut dyn FnMut() -> bool,
) -> Result<Ended, String> {
    let failed = |error: std::io::Error| format!("cannot run selvedge: {error}");
    if session.cancel.is_cancelled() {
        return Err("interrupted".to_string());
    }
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let (output, errors) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let mut stopped = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if session.cancel.is_cancelled() || !is_wanted() {
            stopped = true;
            end(&mut child);
        }
        std::thread::sleep(LOOK);
    };
    let text = |thread: JoinHandle<Vec<u8>>| String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned();
    Ok(Ended { code: status.code(), output: text(output), errors: text(errors), time: start.elapsed(), stopped })
}

/// Ends a process; one that has just ended by itself is as good.
fn end(child: &mut Child) {
    drop(child.kill());
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What can be read before an error counts.
        drop(stream.map(|mut stream| stream.read_to_end(&mut bytes)));
        bytes
    })
}

/// Does some work for each of a list, several at a time, and hands on the results in the order of the list.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
    done: impl FnMut(&T, &R) + Send,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let lock = |slot: usize| slots[slot].lock().unwrap_or_else(PoisonError::into_inner);
    let told = Mutex::new((0, done));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else { return };
                    let result = work(item);
                    *lock(number) = Some(result);
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    let (first, done) = &mut *told;
                    while *first < items.len() {
                        let slot = lock(*first);
                        let Some(result) = slot.as_ref() else { break };
                        done(&items[*first], result);
                        *first += 1;
                    }
                }
            });
        }
    });
    let results = slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.map(|result| result.expect("every item was worked on")).collect()
}

/// Returns the number of processes to run at a time.
pub(crate) fn jobs(given: Option<u32>) -> usize {
    given.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |jobs| jobs as usize)
}

/// Returns the options that set these limits.
pub(crate) fn limit_words(limits: LimitArgs) -> Vec<String> {
    let time = limits.time_limit.map(|time| ["--time-limit".to_string(), format!("{}ms", time.as_millis())]);
    let memory = limits.memory_limit.map(|bytes| ["--memory-limit".to_string(), format!("{bytes}B")]);
    time.into_iter().chain(memory).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_list() {
        let items: Vec<u64> = (0..20).collect();
        let mut told = Vec::new();
        let work = |number: &u64| {
            std::thread::sleep(Duration::from_millis((20 - number) % 7));
            number * 2
        };
        let results = in_parallel(&items, 4, work, |item, result| told.push((*item, *result)));
        assert_eq!(results, items.iter().map(|number| number * 2).collect::<Vec<_>>());
        assert_eq!(told, items.iter().map(|number| (*number, number * 2)).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[u64], 4, |number| *number, |_, _| ()).is_empty());
    }
}

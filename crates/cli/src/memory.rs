//! The memory limit's own accounting: the memory that is resident, ours and that of the solvers.
//!
//! An address-space limit would end in an abort inside some allocation. Here nothing is refused: engines ask
//! [`in_use`] at their loop heads and stop in order. Linux tells how much memory is resident, whoever allocated it. On
//! other systems an allocator counts the bytes in use, which leaves out what libraries in other languages allocate, and
//! the stacks.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one only counts and hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selvedge_faults::{self as faults, LARGE, Point};

use crate::system;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static IN_USE: AtomicU64 = AtomicU64::new(0);

/// The last look at the resident memory: the bytes, and the milliseconds since the first look.
static RESIDENT: AtomicU64 = AtomicU64::new(0);
static LOOKED: AtomicU64 = AtomicU64::new(u64::MAX);

/// The bytes of the processes that we started, as of the last look at them.
static CHILDREN: AtomicU64 = AtomicU64::new(0);

/// The milliseconds between two looks.
const PAUSE: u64 = 4;

/// Returns the bytes that are in use now, by this program and by those that it started.
pub(crate) fn in_use() -> u64 {
    let now = clock();
    let looked = LOOKED.load(Ordering::Relaxed);
    if looked == u64::MAX || now >= looked.saturating_add(PAUSE) {
        LOOKED.store(now, Ordering::Relaxed);
        RESIDENT.store(resident().unwrap_or_else(allocated), Ordering::Relaxed);
    }
    RESIDENT.load(Ordering::Relaxed) + CHILDREN.load(Ordering::Relaxed)
}

/// Looks at the memory of the processes that we started. Looking for them takes time, so that new ones are found now
/// and then only.
pub(crate) fn look_at_children(watch: &mut ChildWatch) {
    #[cfg(target_os = "linux")]
    {
        if watch.next.is_none_or(|next| Instant::now() >= next) {
            let start = Instant::now();
            watch.pids = system::children().unwrap_or_default();
            watch.next = Some(Instant::now() + (start.elapsed() * 50).max(Duration::from_millis(100)));
        }
        let sum = watch.pids.iter().filter_map(|pid| system::resident(Some(*pid))).sum();
        CHILDREN.store(sum, Ordering::Relaxed);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = watch;
}

/// The processes that we started, and when to look for new ones.
#[derive(Default)]
pub(crate) struct ChildWatch {
    pids: Vec<u32>,
    next: Option<Instant>,
}

/// Gives memory back that was freed, and forgets the last look.
pub(crate) fn trim() {
    system::trim();
    LOOKED.store(u64::MAX, Ordering::Relaxed);
}

fn clock() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_millis() as u64
}

fn resident() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return system::resident(None);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns the bytes that are allocated now.
fn allocated() -> u64 {
    IN_USE.load(Ordering::Relaxed)
}

// SAFETY: each method hands its arguments unchanged to the system's allocator, whose contract is the same, or refuses
// with null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return null_mut();
        }
        // SAFETY: as above.
        count(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return null_mut();
        }
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if is_refused(new_size) {
            return null_mut();
        }
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, new_size) };
        if !moved.is_null() {
            IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        }
        count(moved, new_size)
    }
}

/// Returns whether an allocation is to fail, for a test.
fn is_refused(size: usize) -> bool {
    size >= LARGE && faults::fails(Point::Allocation)
}

/// Counts an allocation that succeeded.
fn count(pointer: *mut u8, size: usize) -> *mut u8 {
    if !pointer.is_null() {
        IN_USE.fetch_add(size as u64, Ordering::Relaxed);
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_buffer_is_counted_while_it_lives() {
        // Far more than all other tests of this program, which run at the same time, take and free.
        const SIZE: u64 = 4_000_000_000;
        let before = allocated();
        let buffer: Vec<u8> = Vec::with_capacity(SIZE as usize);
        assert!(allocated() >= before + SIZE / 2, "{} bytes after {before}", allocated());
        drop(buffer);
        assert!(allocated() < before + SIZE / 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_written_is_resident() {
        const SIZE: usize = 200_000_000;
        let buffer = vec![7u8; SIZE];
        std::thread::sleep(Duration::from_millis(2 * PAUSE));
        assert!(in_use() > SIZE as u64 / 2, "{} bytes", in_use());
        assert_eq!(buffer[SIZE / 2], 7);
    }
}

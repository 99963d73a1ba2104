//! The memory limit's own accounting: an allocator that counts the bytes in use.
//!
//! An address-space limit would end in an abort inside some allocation. Here nothing is refused: engines ask
//! [`in_use`] at their loop heads and stop in order. What the count leaves out is the allocator's own overhead, and the
//! stacks.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one only counts and hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static IN_USE: AtomicU64 = AtomicU64::new(0);

/// The bytes that are allocated now.
pub(crate) fn in_use() -> u64 {
    IN_USE.load(Ordering::Relaxed)
}

// SAFETY: each method hands its arguments unchanged to the system's allocator, whose contract is the same.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, new_size) };
        if !moved.is_null() {
            IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        }
        count(moved, new_size)
    }
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
        let before = in_use();
        let buffer: Vec<u8> = Vec::with_capacity(SIZE as usize);
        assert!(in_use() >= before + SIZE / 2, "{} bytes after {before}", in_use());
        drop(buffer);
        assert!(in_use() < before + SIZE / 2);
    }
}

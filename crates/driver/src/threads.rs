//! Threads with the stack that their work needs.

use std::io;
use std::thread::{Builder, JoinHandle};

use selvedge_faults::{self as faults, Point};

/// The stack for work that recurses as deep as expressions, call chains and decision diagrams do. It is address space
/// that costs nothing until it is used.
pub const DEEP: usize = 1 << 30;

/// The least stack on which deep work is begun.
const LEAST: usize = 4 << 20;

/// The part of a limited address space that one stack may take.
const SHARE: u64 = 16;

/// Starts a thread with a deep stack. Where the user limits the address space (`ulimit -v`), the stack is a small part
/// of it.
pub fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    faults::attempt(Point::Thread)?;
    Builder::new().stack_size(stack()).spawn(work)
}

/// Does some work on a thread with a deep stack, and waits for it.
#[cfg(not(target_family = "wasm"))]
pub fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<std::thread::Result<T>> {
    start(work).map(JoinHandle::join)
}

/// Does some work. WebAssembly has no threads; the stack is the one that the page has.
#[cfg(target_family = "wasm")]
pub fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<std::thread::Result<T>> {
    Ok(Ok(work()))
}

fn stack() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    share(address_space(&limits))
}

/// Returns the size of a stack within a limit on the address space.
fn share(limit: Option<u64>) -> usize {
    limit.map_or(DEEP, |bytes| ((bytes / SHARE) as usize).clamp(LEAST, DEEP))
}

/// Returns the limit on the address space in the text that Linux has about a process, if there is one.
fn address_space(limits: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_a_small_part_of_a_limited_address_space() {
        let text = "Limit  Soft Limit\nMax address space         1073741824           unlimited            bytes\n";
        assert_eq!(share(address_space(text)), 64 << 20);
        assert_eq!(share(address_space("Max address space  unlimited  unlimited  bytes")), DEEP);
        assert_eq!(share(Some(1000)), LEAST);
    }
}

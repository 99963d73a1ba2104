//! Faults on purpose: the n-th operation of a kind fails if the variable `SELVEDGE_FAULT` says so.
//!
//! Places where the system can refuse something ask [`fails`] first. Without the feature `on` the answer is a constant,
//! so that nothing is left of the question. With it, `SELVEDGE_FAULT=thread:3` makes the third thread fail that is to
//! be started, and nothing else; a line on standard error says when that happens.

/// A kind of operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// An operation on decision diagrams, which runs out of nodes.
    Diagrams,
    /// A write of a file or of standard output, which finds the disk full.
    Write,
    /// The start of a thread, which the system refuses.
    Thread,
    /// An answer of a solver, which dies instead.
    Solver,
    /// An engine's attempt, which panics.
    Engine,
}

impl Point {
    /// All kinds.
    pub const ALL: [Point; 5] = [Point::Diagrams, Point::Write, Point::Thread, Point::Solver, Point::Engine];

    /// Returns the name of the kind in the variable.
    pub fn name(self) -> &'static str {
        match self {
            Point::Diagrams => "diagrams",
            Point::Write => "write",
            Point::Thread => "thread",
            Point::Solver => "solver",
            Point::Engine => "engine",
        }
    }
}

/// The beginning of the line on standard error that reports a fault.
pub const MARK: &str = "fault on purpose: ";

/// Returns whether this operation is to fail.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub fn fails(_: Point) -> bool {
    false
}

#[cfg(feature = "on")]
pub use on::fails;

#[cfg(feature = "on")]
mod on {
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{MARK, Point};

    /// The kind that fails, and the number of the operation, counted from one.
    static CHOSEN: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let text = std::env::var("SELVEDGE_FAULT").ok()?;
        let (point, number) = text.split_once(':')?;
        Some((point.to_string(), number.parse().ok()?))
    });

    static COUNT: AtomicU64 = AtomicU64::new(0);

    /// Returns whether this operation is to fail.
    pub fn fails(point: Point) -> bool {
        let Some((chosen, number)) = &*CHOSEN else { return false };
        let fails = chosen == point.name() && COUNT.fetch_add(1, Ordering::Relaxed) + 1 == *number;
        if fails {
            let _ = writeln!(std::io::stderr(), "{MARK}{chosen} {number}");
        }
        fails
    }
}

/// Returns the error of a full disk.
pub fn disk_full() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::StorageFull, "no space left on device (a fault on purpose)")
}

/// Returns the error of a refused thread.
pub fn no_thread() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::WouldBlock, "resource temporarily unavailable (a fault on purpose)")
}

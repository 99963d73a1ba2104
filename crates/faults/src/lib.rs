//! Faults on purpose: the n-th operation of a kind fails if the variable `SELVEDGE_FAULT` says so.
//!
//! Places where the system can refuse something ask [`fails`] first. In a release build, which users have, the answer
//! is a constant, so that nothing is left of the question. In a build for development `SELVEDGE_FAULT=thread:3` makes
//! the third thread fail that is to be started, and nothing else; a line on standard error says when that happens.
//! `fuzz faults` tries all of them.

use std::io::{Error, ErrorKind};

/// A kind of operation that can fail, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// An operation on decision diagrams, which runs out of nodes.
    Diagrams,
    /// An allocation of at least [`LARGE`] bytes, which the system refuses.
    Allocation,
    /// The start of a thread, which the system refuses.
    Thread,
    /// The start of a solver, which the system refuses.
    Process,
    /// A read of a file, which breaks off.
    Read,
    /// A write of a file or of standard output, which finds the disk full.
    Write,
    /// The last step of a write, in which the new file takes the name of the old one.
    Rename,
    /// An answer of a solver, which dies instead.
    SolverDies,
    /// An answer of a solver, which says something that makes no sense.
    SolverBabbles,
    /// An answer of a solver, which never comes.
    SolverHangs,
    /// An answer of a solver, which comes late.
    SolverDelays,
    /// An engine's attempt, which panics.
    Engine,
}

/// The size from which on allocations are counted.
pub const LARGE: usize = 16 << 10;

/// The time by which a late answer is late.
pub const DELAY: std::time::Duration = std::time::Duration::from_millis(300);

impl Point {
    /// All kinds.
    pub const ALL: [Point; 12] = [
        Point::Diagrams,
        Point::Allocation,
        Point::Thread,
        Point::Process,
        Point::Read,
        Point::Write,
        Point::Rename,
        Point::SolverDies,
        Point::SolverBabbles,
        Point::SolverHangs,
        Point::SolverDelays,
        Point::Engine,
    ];

    /// Returns the name of the kind in the variable.
    pub fn name(self) -> &'static str {
        match self {
            Point::Diagrams => "diagrams",
            Point::Allocation => "allocation",
            Point::Thread => "thread",
            Point::Process => "process",
            Point::Read => "read",
            Point::Write => "write",
            Point::Rename => "rename",
            Point::SolverDies => "solver-dies",
            Point::SolverBabbles => "solver-babbles",
            Point::SolverHangs => "solver-hangs",
            Point::SolverDelays => "solver-delays",
            Point::Engine => "engine",
        }
    }
}

/// The variable that says what fails.
pub const VARIABLE: &str = "SELVEDGE_FAULT";

/// The beginning of the line on standard error that reports a fault.
pub const MARK: &str = "fault on purpose: ";

/// Returns whether this operation is to fail.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn fails(_: Point) -> bool {
    false
}

#[cfg(debug_assertions)]
pub use on::fails;

#[cfg(debug_assertions)]
mod on {
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{MARK, Point, VARIABLE};

    /// The kind that fails, and the number of the operation, counted from one.
    static CHOSEN: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let text = std::env::var(VARIABLE).ok()?;
        let (point, number) = text.split_once(':')?;
        Some((point.to_string(), number.parse().ok()?))
    });

    static COUNT: AtomicU64 = AtomicU64::new(0);

    /// Returns whether this operation is to fail. It allocates little, so that an allocator can ask it about much.
    pub fn fails(point: Point) -> bool {
        let Some((chosen, number)) = &*CHOSEN else { return false };
        let fails = chosen == point.name() && COUNT.fetch_add(1, Ordering::Relaxed) + 1 == *number;
        if fails {
            let _ = writeln!(std::io::stderr(), "{MARK}{chosen} {number}");
        }
        fails
    }
}

/// Returns how a solver is to misbehave with this answer, if at all.
#[inline(always)]
pub fn misbehaviour() -> Option<Point> {
    let ways = [Point::SolverDies, Point::SolverBabbles, Point::SolverHangs, Point::SolverDelays];
    ways.into_iter().find(|way| fails(*way))
}

/// Returns the error of this operation, if it is to fail.
#[inline(always)]
pub fn attempt(point: Point) -> Result<(), Error> {
    if fails(point) { Err(error(point)) } else { Ok(()) }
}

/// Returns the error of an operation that fails.
pub fn error(point: Point) -> Error {
    let (kind, message) = match point {
        Point::Thread | Point::Process => (ErrorKind::WouldBlock, "resource temporarily unavailable"),
        Point::Write => (ErrorKind::StorageFull, "no space left on device"),
        Point::Rename => (ErrorKind::PermissionDenied, "permission denied"),
        _ => (ErrorKind::Other, "input/output error"),
    };
    Error::new(kind, format!("{message} (a fault on purpose)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_nothing_fails_unless_it_is_asked_for() {
        let names: std::collections::BTreeSet<&str> = Point::ALL.map(Point::name).into();
        assert_eq!(names.len(), Point::ALL.len());
        assert!(Point::ALL.into_iter().all(|point| attempt(point).is_ok()));
    }
}

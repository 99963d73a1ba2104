//! Witnesses in the format of verification competitions: executions to errors, and proofs, of C programs.
//!
//! A *violation witness* is a list of *waypoints*: places of the text with conditions, which an execution to an error
//! passes in this order; the last one is the error, and for a data race the last two are, in one segment. In format 2.2
//! a waypoint may name its thread. A *correctness
//! witness* is a set of invariants. `write` makes witnesses of both kinds, `read` reads them, `follow` makes a program
//! whose executions to errors are those that pass all waypoints, and `annotate` writes invariants into a text.

mod annotate;
mod follow;
mod read;
mod view;
mod write;

pub use annotate::annotate;
pub use follow::follow;
pub use read::read;
pub use write::{Head, correctness, is_about, violation};

/// A witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The hashes of the program, as far as the witness has some.
    pub hashes: Vec<String>,
    pub content: Content,
}

/// The claim of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An execution passes these waypoints, one after the other. The last one is an error.
    Violation(Vec<Waypoint>),
    /// An execution passes these waypoints, one after the other, and then two threads are at these two places at once,
    /// about to access the same object.
    Race(Vec<Waypoint>, [Waypoint; 2]),
    /// These invariants hold, and the program is safe.
    Correctness(Vec<Invariant>),
}

/// A place that an execution passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waypoint {
    pub kind: Kind,
    pub place: Place,
    /// The name of the thread that is there, if it matters: 0 is the initial one, and `k` the one that is created at
    /// the `k`-th waypoint for the creation of a thread.
    pub thread: Option<u32>,
}

/// The meaning of a waypoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The thread is about to make a step of the statement.
    Here,
    /// The condition of a branch holds, or does not.
    Branch(bool),
    /// A function is called, or a thread is created.
    Enter,
    /// A function without a body returns this number, if one is given.
    Return(Option<i128>),
    /// The error.
    Target,
}

/// A place in the text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: Option<usize>,
}

/// An expression of C that is true whenever a thread is at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    pub place: Place,
    /// Whether it is an invariant of the loop that begins at the place.
    pub is_of_loop: bool,
    pub value: String,
}

//! Evidence for safety.

use selvedge_ir::bits::BitMap;
use selvedge_ir::{EdgeId, EntryId, LocId, ProcId, Program, VarId};

use crate::formula::{FormulaId, Formulas};
use crate::{CoverProof, IntegerProof, InvariantProof, PredicateProof};

/// Evidence for safety that a small checker can verify without the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// No error can be reached whatever the variables hold. The locations (sorted) contain the beginnings of the
    /// initial threads, are closed under all steps that are not blocked by a constant condition, and hold no error: no
    /// target location, and no target assertion except those of a constant true.
    ControlFlow(Vec<LocId>),
    /// For programs with one thread, recursive or not.
    Summaries(SummaryProof),
    /// For programs with one thread and without recursion, and without integers: no error within `k` steps of the
    /// start, and none in the step after `k + 1` states without error that follow one another.
    Induction {
        /// The length.
        k: u32,
        /// Which sequences of states the second part speaks of.
        paths: Paths,
    },
    /// For programs with several threads and without recursion: a bounded number of threads, or any.
    Shapes(ShapeProof),
    /// For programs without recursion and any number of threads, over states that are listed one by one.
    Cover(CoverProof),
    /// For programs with integers, one thread and without calls.
    Integers(IntegerProof),
    /// For a bounded number of threads, and without integers: the program has few states, and visiting them all one by
    /// one meets no error. It is the only kind that says something about deadlocks.
    AllStates,
    /// For a bounded number of threads, without recursion and integers: no thread makes more than this many visible
    /// steps, and no execution with so few meets an error. An atomic section counts as one.
    Unwound(u32),
    /// For programs with machine integers, one thread and without recursion.
    Invariants(InvariantProof),
    /// For programs with machine integers.
    OverBits(Box<BitProof>),
    /// For programs with machine integers, without recursion.
    OverPredicates(Box<PredicateProof>),
}

/// A program over bits that can do whatever a program with machine integers can, at the same locations and along edges
/// of the same numbers, and a certificate about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitProof {
    /// The program over bits.
    pub program: Program,
    /// Its variables and choices that stand for those of the program with machine integers.
    pub map: BitMap,
    /// The certificate about the program over bits.
    pub certificate: Certificate,
}

impl Certificate {
    /// Returns whether the certificate says that no thread is ever at a location. A proof about several threads does
    /// not: it does not list the locations between two places.
    pub fn excludes(&self, loc: LocId) -> bool {
        match self {
            Certificate::ControlFlow(locs) => locs.binary_search(&loc).is_err(),
            Certificate::Summaries(proof) => proof.loc(loc).is_none(),
            Certificate::Integers(proof) => proof.points.iter().all(|point| point.loc != loc),
            Certificate::Invariants(proof) => proof.places.iter().all(|place| place.loc != loc),
            Certificate::OverBits(proof) => proof.certificate.excludes(loc),
            Certificate::OverPredicates(proof) => proof.places.iter().flatten().all(|place| place.loc != loc),
            Certificate::Induction { .. }
            | Certificate::Shapes(_)
            | Certificate::Cover(_)
            | Certificate::AllStates
            | Certificate::Unwound(_) => false,
        }
    }
}

/// Sequences of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paths {
    /// All.
    All,
    /// The sequences in which no state occurs twice. A shortest way to an error is such a one.
    LoopFree,
}

/// Formulas for the locations of procedures that were entered in some way, and for their returns.
///
/// The formulas need not be exact: they may allow more than what can happen, as long as they are closed under all steps
/// and allow no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryProof {
    /// The formulas that the lists refer to.
    pub formulas: Formulas,
    /// For each location that may be reached, in ascending order: how the variables now may relate to those at the
    /// procedure's entry.
    pub locs: Vec<(LocId, FormulaId)>,
    /// For each procedure that may return, in ascending order: how the shared and per-thread variables at the return
    /// and the returned values may relate to the entry.
    pub procs: Vec<(ProcId, FormulaId)>,
}

impl SummaryProof {
    /// The formula of a location; `None` if it is never reached.
    pub fn loc(&self, loc: LocId) -> Option<FormulaId> {
        let place = self.locs.binary_search_by_key(&loc, |(loc, _)| *loc).ok()?;
        Some(self.locs[place].1)
    }

    /// The formula of a procedure's return; `None` if it never returns.
    pub fn proc(&self, proc: ProcId) -> Option<FormulaId> {
        let place = self.procs.binary_search_by_key(&proc, |(proc, _)| *proc).ok()?;
        Some(self.procs[place].1)
    }
}

/// A set of states of a program with several threads that contains the initial ones, is closed under the steps of all
/// threads, and allows no error.
///
/// The states are those in which every thread is at one of the places. A thread may have gone on from its place
/// without being seen there: by steps that other threads cannot notice, or while it holds the atomic flag, or in the
/// prelude, where there is no other thread. These steps, together with the step that ends at the next place, count as
/// one.
///
/// States that differ in the numbers of threads only are one state. So a formula speaks of the threads in the order of
/// their places, and of those at one place in the ascending order of the values of its variables, `false` before
/// `true`, the first variable deciding first. It need not hold for any other order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeProof {
    /// The threads of a state that are looked at together.
    pub seen: Seen,
    /// The formulas that the shapes refer to. Their atoms are [`crate::formula::Atom::Now`] for shared variables and
    /// [`crate::formula::Atom::Of`].
    pub formulas: Formulas,
    /// The places, in ascending order, each once.
    pub places: Vec<Place>,
    /// The shapes, in ascending order of their threads, then of `held` and `ended`, each once.
    pub shapes: Vec<Shape>,
}

/// The threads of a state that a shape speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Seen {
    /// All threads: a state belongs to the set if its threads are a shape. For a bounded number of threads.
    #[default]
    All,
    /// All threads, and the shapes allow the first states only: a state belongs to the set if its threads are a shape,
    /// or if steps lead to it from such a state. The set is found by executing the steps, and is not
    /// listed. The values of shared variables that formulas do not speak of are not distinguished.
    Reached,
    /// Any threads, this many at a time, at least 1: a state belongs to the set if all lists of this many of its
    /// threads are shapes; if it has fewer threads, the list of all of them. For any number of threads.
    Any(u32),
}

impl Seen {
    /// Returns whether a shape speaks of all threads of a state.
    pub fn is_all(self) -> bool {
        matches!(self, Seen::All | Seen::Reached)
    }
}

/// A place where a thread can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The role of the thread.
    pub role: Role,
    /// The calls that have not returned, the first one first.
    pub calls: Vec<EdgeId>,
    /// The location in the running procedure.
    pub loc: LocId,
    /// The variables that formulas may speak of, each with the number of its frame, the thread's first frame being 0. A
    /// per-thread variable has frame 0.
    pub vars: Vec<(u32, VarId)>,
}

/// The role of a thread at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The prelude's thread, which is alone.
    Prelude,
    /// The thread that holds the atomic flag, of this kind.
    Holder(EntryId),
    /// Another thread of this kind.
    Free(EntryId),
}

/// Threads at certain places, and the formula that holds of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The place of each thread, by its number in [`ShapeProof::places`], in ascending order.
    pub threads: Vec<u32>,
    /// True if the atomic flag is held by a thread that is not among them; `false` with [`Seen::All`].
    pub held: bool,
    /// The number of threads that have ended, where the number of threads in a run is bounded
    /// ([`crate::ThreadScope::Created`]); else 0.
    pub ended: u32,
    /// The formula that holds of the variables.
    pub formula: FormulaId,
}

impl ShapeProof {
    /// Puts the shapes in the order that the proof must have.
    pub fn sort(&mut self) {
        self.shapes.sort_by(|left, right| left.key().cmp(&right.key()));
    }
}

impl Shape {
    /// A shape of all threads of a state.
    pub fn of_all(threads: Vec<u32>, ended: u32, formula: FormulaId) -> Shape {
        Shape { threads, held: false, ended, formula }
    }

    /// A shape of some threads of a state; `held` says whether another one holds the atomic flag.
    pub fn of_some(threads: Vec<u32>, held: bool, formula: FormulaId) -> Shape {
        Shape { threads, held, ended: 0, formula }
    }

    /// The parts that distinguish the shape from the others of its proof, in the order of the proof.
    pub fn key(&self) -> (&[u32], bool, u32) {
        (&self.threads, self.held, self.ended)
    }
}

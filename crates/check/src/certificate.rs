//! Evidence for safety.

use selvedge_ir::{EdgeId, EntryId, LocId, ProcId, VarId};

use crate::formula::{FormulaId, Formulas};
use crate::{CoverProof, IntegerProof};

/// Evidence for safety that a small checker can verify without the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// No error can be reached whatever the variables hold. The locations (sorted) contain the beginnings of the
    /// initial threads, are closed under all steps that are not blocked by a constant condition, and hold no error: no
    /// target location, and no target assertion except those of a constant true.
    ControlFlow(Vec<LocId>),
    /// For programs with one thread, recursive or not.
    Summaries(SummaryProof),
    /// For programs with one thread and without recursion, with integers only without calls: no error within `k` steps of the start, and none in the step
    /// after `k + 1` states without error that follow one another.
    Induction {
        /// The length.
        k: u32,
        /// Which sequences of states the second part speaks of.
        paths: Paths,
    },
    /// For programs without recursion and a bounded number of threads.
    Threads(ThreadProof),
    /// For programs without recursion and any number of threads, over states that are listed one by one.
    Cover(CoverProof),
    /// For programs without recursion and any number of threads.
    Views(ViewProof),
    /// For programs with integers, one thread and without calls.
    Integers(IntegerProof),
}

/// Sequences of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paths {
    /// All.
    All,
    /// Those in which no state occurs twice. A shortest way to an error is such a one.
    LoopFree,
}

/// What holds at each location of a procedure that was entered in some way, and how each procedure can return.
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
    /// What holds at a location; `None` if it is never reached.
    pub fn loc(&self, loc: LocId) -> Option<FormulaId> {
        let place = self.locs.binary_search_by_key(&loc, |(loc, _)| *loc).ok()?;
        Some(self.locs[place].1)
    }

    /// How a procedure returns; `None` if it never does.
    pub fn proc(&self, proc: ProcId) -> Option<FormulaId> {
        let place = self.procs.binary_search_by_key(&proc, |(proc, _)| *proc).ok()?;
        Some(self.procs[place].1)
    }
}

/// A set of states of a program with several threads that contains the initial ones, is closed under the steps of all
/// threads, and allows no error.
///
/// The states are those in which every thread stands at one of the places. A thread may have gone on from its place
/// without being seen there: by steps that other threads cannot notice, or while it holds the atomic flag, or in the
/// prelude, where there is no other thread. These steps, together with the step that ends at the next place, count as
/// one.
///
/// States that differ in the numbers of threads only are one state. So a formula speaks of the threads in the order of
/// their places, and of those at one place in the ascending order of the values of its variables, `false` before
/// `true`, the first variable deciding first. It need not hold for any other order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadProof {
    /// The formulas that the shapes refer to. Their atoms are [`crate::formula::Atom::Now`] for shared variables and
    /// [`crate::formula::Atom::Of`].
    pub formulas: Formulas,
    /// The places, in ascending order, each once.
    pub places: Vec<Place>,
    /// The sets of states, in ascending order of their threads and then of `ended`, each pair once.
    pub shapes: Vec<Shape>,
}

/// Where a thread can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Who it is.
    pub role: Role,
    /// The calls that have not returned, the first one first.
    pub calls: Vec<EdgeId>,
    /// The location in the running procedure.
    pub loc: LocId,
    /// The variables that formulas may speak of, each with the number of its frame, the thread's first frame being 0. A
    /// per-thread variable has frame 0.
    pub vars: Vec<(u32, VarId)>,
}

/// Who stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The prelude's thread, which is alone.
    Prelude,
    /// The thread that holds the atomic flag, of this kind.
    Holder(EntryId),
    /// Another thread of this kind.
    Free(EntryId),
}

/// The states whose threads stand at certain places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The place of each thread, by its number in [`ThreadProof::places`], in ascending order.
    pub threads: Vec<u32>,
    /// How many threads have ended, where the number of threads in a run is bounded
    /// ([`crate::ThreadScope::Created`]); else 0.
    pub ended: u32,
    /// What holds of the variables.
    pub formula: FormulaId,
}

/// What a few threads of a state of a program with any number of threads can look like at the same time.
///
/// The set of states consists of those in which every thread stands at one of the places and all lists of `k` threads of
/// the state are among the views; if the state has fewer than `k` threads, the list of all of them. It contains the
/// initial states, is closed under the steps of all threads, and allows no error. Places, steps and the order of the
/// threads that a formula speaks of are as in [`ThreadProof`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewProof {
    /// The number of threads that are seen together, at least 1.
    pub k: u32,
    /// The formulas that the views refer to. Their atoms are those of a [`ThreadProof`].
    pub formulas: Formulas,
    /// The places, in ascending order, each once.
    pub places: Vec<Place>,
    /// The views, in ascending order of their threads and then of `held`, each list at most twice.
    pub views: Vec<View>,
}

/// What threads at certain places can look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The place of each thread, by its number in [`ViewProof::places`], in ascending order: one to `k` threads.
    pub threads: Vec<u32>,
    /// Whether the atomic flag is held by a thread that is not among them.
    pub held: bool,
    /// What holds of the variables.
    pub formula: FormulaId,
}

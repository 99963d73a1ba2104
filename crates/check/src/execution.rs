//! The states of an execution, and the error at its end.

use selvedge_ir::trace::ThreadId;
use selvedge_ir::{EdgeId, EntryId, LocId, ProcId, StartThread, Value};

/// A state of the whole program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The shared variables, in the order of their declaration.
    pub shared: Vec<Value>,
    /// The thread that holds the atomic flag.
    pub holder: Option<ThreadId>,
    /// The live threads, in the order of their numbers.
    pub threads: Vec<Thread>,
    /// The prelude, while it runs.
    pub prelude: Option<Prelude>,
    /// The number of the next thread.
    pub next_thread: u32,
}

/// The part of a run before the initial threads live.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prelude {
    /// The thread that runs it.
    pub thread: ThreadId,
    /// The threads that come to life at its end.
    pub waiting: Vec<StartThread>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    /// Its number.
    pub id: ThreadId,
    /// The kind of initial thread that it is or descends from; `None` for the prelude's.
    pub entry: Option<EntryId>,
    /// Its per-thread variables: all those of the program, in the order of their declaration.
    pub vars: Vec<Value>,
    /// Its frames, the running one last. Never empty.
    pub stack: Vec<Frame>,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// The procedure.
    pub proc: ProcId,
    /// The location before its next step, or before the call that has not returned.
    pub loc: LocId,
    /// The call that has not returned; `None` in the running frame.
    pub call: Option<EdgeId>,
    /// The variables, in the order of [`selvedge_ir::Proc::locals`].
    pub locals: Vec<Value>,
}

/// A trace that was executed: it is one of the program, and ends in an error that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The initial state.
    pub start: State,
    /// The state after each step. The last step of a trace to a failed assertion has none.
    pub states: Vec<State>,
    /// The error.
    pub violation: Violation,
}

/// The error in which a trace ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The last step fails this assertion.
    Assert {
        /// The thread that makes the step.
        thread: ThreadId,
        /// The assertion.
        edge: EdgeId,
    },
    /// A thread is at this location.
    Location {
        /// The thread at the location.
        thread: ThreadId,
        /// The location.
        loc: LocId,
    },
    /// These threads are at these locations at once, in ascending order of the locations.
    Together(Vec<(ThreadId, LocId)>),
    /// No thread has a step: all live threads, in the order of their numbers, and the locations at which they wait.
    Deadlock(Vec<(ThreadId, LocId)>),
}

impl State {
    /// The live thread with this number.
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        self.position(id).map(|position| &self.threads[position])
    }

    /// Returns the index of the thread with this number in the list of live threads.
    pub fn position(&self, id: ThreadId) -> Option<usize> {
        self.threads.iter().position(|thread| thread.id == id)
    }

    /// Returns whether the thread may move: the atomic section of another thread stops it.
    pub fn may_move(&self, id: ThreadId) -> bool {
        self.holder.is_none_or(|holder| holder == id)
    }
}

impl Thread {
    /// The running frame.
    pub fn top(&self) -> &Frame {
        self.stack.last().expect("a thread without frames is removed in the step that pops the last one")
    }

    /// Returns the location of the thread.
    pub fn loc(&self) -> LocId {
        self.top().loc
    }
}

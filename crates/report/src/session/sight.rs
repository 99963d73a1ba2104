//! The view at a position: the threads with their call stacks, and the variables with their values.

use selvedge_ir::span::Span;
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{LocId, ProcId};
use selvedge_replay::Thread;

use super::Session;
use crate::annotated_trace::Binding;
use crate::source::Position;
use crate::views::is_wrapper;

/// A live thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSight {
    pub id: ThreadId,
    pub name: String,
    /// Set if it holds the atomic flag.
    pub atomic: bool,
    /// Its per-thread variables.
    pub vars: Vec<Binding>,
    /// Its frames, the running one first.
    pub frames: Vec<FrameSight>,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSight {
    pub proc: ProcId,
    pub name: String,
    pub loc: LocId,
    /// The statement that is next, or the call that has not returned; `None` where no statement follows.
    pub span: Option<Span>,
    pub position: Option<Position>,
    pub locals: Vec<Binding>,
}

impl Session<'_> {
    /// The shared variables at a position.
    pub fn shared(&self, position: usize) -> Vec<Binding> {
        self.annotator.shared(&self.holders(position), self.state(position))
    }

    /// The live threads at a position, in the order of their numbers.
    pub fn threads(&self, position: usize) -> Vec<ThreadSight> {
        let state = self.state(position);
        state.threads.iter().map(|thread| self.thread(thread, state.holder == Some(thread.id))).collect()
    }

    /// The thread that moves next; at the end the one that moved last, where it lives.
    pub fn active(&self, position: usize) -> Option<ThreadId> {
        let mover = self.step(position + 1).or_else(|| self.step(position)).map(|step| step.thread);
        let state = self.state(position);
        mover.filter(|id| state.thread(*id).is_some()).or_else(|| state.threads.first().map(|thread| thread.id))
    }

    fn thread(&self, thread: &Thread, atomic: bool) -> ThreadSight {
        let program = self.context.program;
        let frame = |frame: &selvedge_replay::Frame| {
            let span = match frame.call {
                Some(call) => Some(self.context.map.edges[call].span),
                None => self.annotator.place(frame.loc),
            };
            FrameSight {
                proc: frame.proc,
                name: program.procs[frame.proc].name.clone(),
                loc: frame.loc,
                span,
                position: span.map(|span| self.context.source.position(span.start as usize)),
                locals: self.annotator.locals(frame),
            }
        };
        let is_shown = |frame: &&selvedge_replay::Frame| !is_wrapper(self.context.map, frame.proc);
        let mut frames: Vec<FrameSight> = thread.stack.iter().rev().filter(is_shown).map(frame).collect();
        if frames.is_empty() {
            // A thread that has not begun, or is done: it is at its function.
            frames.extend(
                thread.stack.first().map(|first| FrameSight { name: self.begun_in(first.proc), ..frame(first) }),
            );
        }
        ThreadSight {
            id: thread.id,
            name: self.names.of(thread.id),
            atomic,
            vars: self.annotator.thread_vars(thread),
            frames,
        }
    }

    /// Returns the name of the procedure of the source that a thread begins in.
    fn begun_in(&self, proc: ProcId) -> String {
        let proc = self.context.map.wrappers.get(&proc).copied().unwrap_or(proc);
        self.context.program.procs[proc].name.clone()
    }
}

//! Ways through an execution, forwards and backwards.
//!
//! Every move looks for the nearest position with a property; a move that finds none stays. So each one ends, and going
//! there and back visits the same positions.

use selvedge_ir::LocId;
use selvedge_ir::span::Span;
use selvedge_ir::trace::ThreadId;

use super::Session;

/// Which way to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Session<'_> {
    /// The nearest other position in a direction with a property.
    pub fn seek(&self, from: usize, way: Direction, mut wanted: impl FnMut(usize) -> bool) -> Option<usize> {
        match way {
            Direction::Forward => (from + 1..=self.len()).find(|position| wanted(*position)),
            Direction::Backward => (0..from).rev().find(|position| wanted(*position)),
        }
    }

    /// The next step of another thread than the one whose step leads here; backwards, the last step before this thread
    /// took over.
    pub fn switch(&self, from: usize, way: Direction) -> Option<usize> {
        let thread = self.step(from).map(|step| step.thread);
        self.seek(from, way, |position| self.step(position).map(|step| step.thread) != thread)
    }

    /// The nearest position that a step of a thread leads to.
    pub fn step_of(&self, thread: ThreadId, from: usize, way: Direction) -> Option<usize> {
        self.seek(from, way, |position| self.step(position).is_some_and(|step| step.thread == thread))
    }

    /// The nearest position that a step leads to which changes a variable of this name.
    pub fn change(&self, name: &str, from: usize, way: Direction) -> Option<usize> {
        self.seek(from, way, |position| self.changes(position, name))
    }

    /// Returns whether the step that leads to a position changes a variable of this name.
    pub fn changes(&self, position: usize, name: &str) -> bool {
        self.told(position).is_some_and(|told| told.changes.iter().any(|change| change.name == name))
    }

    /// The nearest position, beside a step of a thread, at which the thread has at most `depth` frames: where a step
    /// over or out of calls ends.
    pub fn within_depth(&self, thread: ThreadId, depth: usize, from: usize, way: Direction) -> Option<usize> {
        let moves = |step: usize| self.step(step).is_some_and(|step| step.thread == thread);
        self.seek(from, way, |position| {
            let is_beside = match way {
                Direction::Forward => moves(position),
                Direction::Backward => moves(position + 1),
            };
            is_beside && self.depth(thread, position) <= depth
        })
    }

    /// The number of frames of a thread.
    pub fn depth(&self, thread: ThreadId, position: usize) -> usize {
        self.state(position).thread(thread).map_or(0, |thread| thread.stack.len())
    }

    /// Returns the position of the thread that moves next; `None` at the end.
    pub fn next_loc(&self, position: usize) -> Option<LocId> {
        let step = self.step(position + 1)?;
        self.state(position).thread(step.thread).map(selvedge_replay::Thread::loc)
    }

    /// Returns the place of the statement of the step that is made next; `None` at the end.
    pub fn next_span(&self, position: usize) -> Option<Span> {
        self.told(position + 1).map(|told| self.context.map.edges[told.edge].span)
    }

    /// Returns the line of the step that is made next, in the text of all files together.
    pub fn next_line(&self, position: usize) -> Option<usize> {
        self.next_span(position).map(|span| self.context.source.line(span.start as usize))
    }

    /// Returns whether a statement begins in a line of the text of all files together.
    pub fn has_statement(&self, line: usize) -> bool {
        let source = self.context.source;
        self.context.map.edges.iter().any(|origin| source.line(origin.span.start as usize) == line)
    }
}

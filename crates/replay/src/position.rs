//! The control of threads of programs without recursion: their calls and locations.

use selvedge_ir::{EdgeId, LocId, Op, ProcId, Program};

use crate::semantics::{Child, Control, child, control};

/// The control of a thread: the calls that have not returned, the first one first, and the location.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) calls: Vec<EdgeId>,
    pub(crate) loc: LocId,
}

impl Position {
    /// The beginning of a thread that runs a procedure.
    pub(crate) fn entry(program: &Program, proc: ProcId) -> Position {
        Position { calls: Vec::new(), loc: program.procs[proc].entry }
    }

    /// The call of the running frame.
    pub(crate) fn caller(&self) -> Option<EdgeId> {
        self.calls.last().copied()
    }

    /// Computes where a step leads; `None` if the thread ends.
    pub(crate) fn after(&self, program: &Program, id: EdgeId) -> Option<Position> {
        let mut calls = self.calls.clone();
        let loc = match control(&program.edges[id], self.caller()) {
            Control::Go(to) => to,
            Control::Call(callee) => {
                calls.push(id);
                program.procs[callee].entry
            }
            Control::Return(call) => {
                calls.pop();
                program.edges[call].to
            }
            Control::End => return None,
        };
        Some(Position { calls, loc })
    }

    /// Computes where a thread begins that a step starts.
    pub(crate) fn child(&self, program: &Program, op: &Op) -> Option<Position> {
        Some(match child(op)? {
            Child::Spawn(callee) => Position::entry(program, callee),
            Child::Fork(loc) => Position { calls: self.calls.clone(), loc },
        })
    }

    /// The procedures of the frames, the running one last.
    pub(crate) fn stack(&self, program: &Program) -> impl Iterator<Item = ProcId> {
        let callers = self.calls.iter().map(|call| program.edges[*call].from);
        callers.chain([self.loc]).map(|loc| program.locs[loc].proc)
    }

    /// Returns whether a step calls a procedure that has not returned.
    pub(crate) fn recurs(&self, program: &Program, op: &Op) -> bool {
        matches!(op, Op::Call(call) if self.stack(program).any(|proc| proc == call.callee))
    }
}

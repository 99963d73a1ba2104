//! Where control goes in a step, whatever the values of the variables.

use selvedge_ir::{Call, Edge, EdgeId, LocId, Op, Program};

/// The effect of a step on control.
pub enum Control<'p> {
    /// The thread goes to the end of the edge.
    Next,
    /// The thread enters a procedure, and goes to the end of the edge when that returns.
    Call(&'p Call),
    /// The thread goes to the end of the edge, and a new one begins at a location.
    Start(LocId),
    /// The thread returns to its caller; its first procedure ends it.
    Return,
    /// The thread ends.
    End,
}

/// Returns the effect of a step along an edge on control.
pub fn control<'p>(program: &'p Program, edge: &'p Edge) -> Control<'p> {
    match &edge.op {
        Op::Assign(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd => Control::Next,
        Op::Call(call) => Control::Call(call),
        Op::Spawn(spawn) => Control::Start(program.procs[spawn.callee].entry),
        Op::Fork(at) => Control::Start(*at),
        Op::Return(_) => Control::Return,
        Op::End => Control::End,
    }
}

/// Returns the call of an edge.
///
/// # Panics
///
/// If the edge is not a call.
pub fn call_at(program: &Program, edge: EdgeId) -> &Call {
    match &program.edges[edge].op {
        Op::Call(call) => call,
        _ => unreachable!("only calls have callees"),
    }
}

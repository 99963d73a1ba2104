//! Checking certificates.

use std::fmt;

use selvedge_check::{Certificate, Task};
use selvedge_ir::{Edge, Expr, LocId, Op, Program};

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// An initial thread begins at a location that is not in the set.
    StartMissing(LocId),
    /// A step leads from the set to this location outside.
    NotClosed(LocId),
    /// An error lies in the set, at this location.
    Error(LocId),
}

/// Checks that a certificate proves the target unreachable, for any number of threads.
pub fn verify(task: &Task<'_>, certificate: &Certificate) -> Result<(), Flaw> {
    match certificate {
        Certificate::ControlFlow(locs) => control_flow(task, locs),
    }
}

/// The set holds the first locations of all threads that start a run, every location that a step leads to from one of
/// its own, and no error. So no thread ever stands outside it, and no error is ever met.
///
/// A call leads to its callee's entry and to the location behind the call, whether or not the callee returns.
fn control_flow(task: &Task<'_>, locs: &[LocId]) -> Result<(), Flaw> {
    let inside = |loc: LocId| locs.binary_search(&loc).is_ok();
    let program = task.program;
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    for proc in starts {
        let entry = program.procs[proc].entry;
        if !inside(entry) {
            return Err(Flaw::StartMissing(entry));
        }
    }
    for (id, edge) in program.edges.iter_enumerated() {
        if !inside(edge.from) {
            continue;
        }
        if let Some(outside) = leads_to(program, edge).into_iter().flatten().find(|to| !inside(*to)) {
            return Err(Flaw::NotClosed(outside));
        }
        if task.target.has_assert(id) && !matches!(edge.op, Op::Assert(Expr::TRUE)) {
            return Err(Flaw::Error(edge.from));
        }
    }
    match locs.iter().find(|loc| task.target.has_loc(**loc)) {
        Some(loc) => Err(Flaw::Error(*loc)),
        None => Ok(()),
    }
}

/// Where threads may stand after a step along an edge.
fn leads_to(program: &Program, edge: &Edge) -> [Option<LocId>; 2] {
    match &edge.op {
        Op::Assign(assign) if assign.constrain == Expr::FALSE => [None, None],
        Op::Assert(Expr::FALSE) | Op::Return(_) | Op::End => [None, None],
        Op::Assign(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd => [Some(edge.to), None],
        Op::Call(call) => [Some(program.procs[call.callee].entry), Some(edge.to)],
        Op::Spawn(spawn) => [Some(program.procs[spawn.callee].entry), Some(edge.to)],
        Op::Fork(at) => [Some(*at), Some(edge.to)],
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::StartMissing(loc) => write!(f, "a thread starts at location {}, outside the set", loc.index()),
            Flaw::NotClosed(loc) => write!(f, "a step leads to location {}, outside the set", loc.index()),
            Flaw::Error(loc) => write!(f, "there may be an error at location {}", loc.index()),
        }
    }
}

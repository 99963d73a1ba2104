//! Certificates by control flow alone.

use selvedge_check::Task;
use selvedge_ir::{Edge, Expr, LocId, Op, ProcId, Program};

use super::{Flaw, Refused};
use crate::semantics::{Child, Control, child, control};

/// The set holds the first locations of all threads that start a run, every location that a step leads to from one of
/// its own, and no error. So no thread is ever outside it, and no error is ever reached.
///
/// A call leads to its callee's entry and to the location behind the call, whether or not the callee returns.
pub(super) fn verify(task: &Task<'_>, locs: &[LocId]) -> Result<(), Refused> {
    if !locs.is_sorted() {
        return Err(Flaw::Malformed(None).into());
    }
    let inside = |loc: LocId| locs.binary_search(&loc).is_ok();
    let program = task.program;
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    for proc in starts {
        let entry = program.procs[proc].entry;
        if !inside(entry) {
            return Err(Flaw::Start(entry).into());
        }
    }
    for (id, edge) in program.edges.iter_enumerated() {
        if !inside(edge.from) {
            continue;
        }
        if leads_to(program, edge).into_iter().any(|to| !inside(to)) {
            return Err(Flaw::NotClosed(id).into());
        }
        if task.target.has_assert(id) && !matches!(edge.op, Op::Assert(Expr::Bool(true))) {
            return Err(Flaw::Assert(id).into());
        }
    }
    if let Some(loc) = locs.iter().find(|loc| task.target.has_loc(**loc)) {
        return Err(Flaw::Location(*loc).into());
    }
    let meeting = task.target.together.iter().find(|meeting| meeting.iter().all(|loc| inside(*loc)));
    meeting.map_or(Ok(()), |meeting| Err(Flaw::Location(meeting[0]).into()))
}

/// The locations at which threads may be after a step along an edge, or behind it once a call has returned.
fn leads_to(program: &Program, edge: &Edge) -> Vec<LocId> {
    if is_blocked(edge) {
        return Vec::new();
    }
    let entry = |proc: ProcId| program.procs[proc].entry;
    let after = match control(edge, None) {
        Control::Go(to) => vec![to],
        Control::Call(callee) => vec![entry(callee), edge.to],
        Control::Return(_) | Control::End => Vec::new(),
    };
    let begun = child(&edge.op).map(|child| match child {
        Child::Spawn(callee) => entry(callee),
        Child::Fork(at) => at,
    });
    after.into_iter().chain(begun).collect()
}

/// Returns whether no thread ever passes an edge, since its condition is false.
pub(super) fn is_blocked(edge: &Edge) -> bool {
    match &edge.op {
        Op::Assign(assign) => assign.constrain == Expr::Bool(false),
        Op::Assert(condition) => *condition == Expr::Bool(false),
        _ => false,
    }
}

//! Certificates by control flow alone.

use std::collections::BTreeSet;

use selvedge_check::Task;
use selvedge_ir::flow::Flow;
use selvedge_ir::{Edge, Expr, LocId, Op, Program};

use super::{Flaw, Refused};

/// The set holds the first locations of all threads that start a run, every location that a step leads to from one of
/// its own, and no error. So no thread ever stands outside it, and no error is ever met.
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
        if leads_to(program, edge).into_iter().flatten().any(|to| !inside(to)) {
            return Err(Flaw::NotClosed(id).into());
        }
        if task.target.has_assert(id) && !matches!(edge.op, Op::Assert(Expr::TRUE)) {
            return Err(Flaw::Assert(id).into());
        }
    }
    if let Some(loc) = locs.iter().find(|loc| task.target.has_loc(**loc)) {
        return Err(Flaw::Location(*loc).into());
    }
    match task.target.together.iter().find(|meeting| meeting.iter().all(|loc| inside(*loc))) {
        Some(meeting) => Err(Flaw::Location(meeting[0]).into()),
        None => Ok(()),
    }
}

/// The locations that control alone leads to from the beginnings of all threads that start a run.
pub(super) fn reached(program: &Program) -> BTreeSet<LocId> {
    let flow = Flow::new(program);
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let mut waiting: Vec<LocId> = starts.map(|proc| program.procs[proc].entry).collect();
    let mut reached: BTreeSet<LocId> = waiting.iter().copied().collect();
    while let Some(loc) = waiting.pop() {
        let next = flow.out(loc).iter().flat_map(|edge| leads_to(program, &program.edges[*edge])).flatten();
        waiting.extend(next.filter(|to| reached.insert(*to)));
    }
    reached
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

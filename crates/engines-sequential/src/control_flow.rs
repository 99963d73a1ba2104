//! The cheapest proof: no control path leads to an error, whatever the values of the variables.

use fixedbitset::FixedBitSet;
use selvedge_check::{Certificate, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::{Edge, Expr, LocId, Op, Program};
use selvedge_transition::step::control::{Control, control};

/// Returns the locations that threads can reach along edges whose condition is not constant false, if there is no error
/// among them. They say nothing about deadlocks.
///
/// A depth-first search from the entries of the initial threads; it ends because each location is entered once.
pub fn certificate(task: &Task<'_>) -> Option<Certificate> {
    if task.target.deadlock {
        return None;
    }
    let program = task.program;
    let flow = Flow::new(program);
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let mut waiting: Vec<LocId> = starts.map(|proc| program.procs[proc].entry).collect();
    let mut reached = FixedBitSet::with_capacity(program.locs.len());
    while let Some(loc) = waiting.pop() {
        if reached.put(loc.index()) {
            continue;
        }
        if task.target.has_loc(loc) {
            return None;
        }
        for id in flow.out(loc) {
            let edge = &program.edges[*id];
            if task.target.has_assert(*id) && edge.op != Op::Assert(Expr::TRUE) {
                return None;
            }
            waiting.extend(next(program, edge));
        }
    }
    let may_meet = |meeting: &Vec<LocId>| meeting.iter().all(|loc| reached.contains(loc.index()));
    if task.target.together.iter().any(may_meet) {
        return None;
    }
    Some(Certificate::ControlFlow(reached.ones().map(LocId::new).collect()))
}

/// Returns the locations of threads after a step along the edge.
fn next(program: &Program, edge: &Edge) -> Vec<LocId> {
    let is_blocked = match &edge.op {
        Op::Assign(assign) => assign.constrain == Expr::FALSE,
        op => *op == Op::Assert(Expr::FALSE),
    };
    match control(program, edge) {
        _ if is_blocked => Vec::new(),
        Control::Return | Control::End => Vec::new(),
        Control::Next => vec![edge.to],
        Control::Call(call) => vec![edge.to, program.procs[call.callee].entry],
        Control::Start(at) => vec![edge.to, at],
    }
}

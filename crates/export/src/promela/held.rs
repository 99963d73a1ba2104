//! The locations where a thread may hold the atomic flag: a forward analysis along edges, forks and spawns.

use index_vec::IndexVec;
use selvedge_ir::flow::Flow;
use selvedge_ir::{LocId, Op, Program};

/// The state of the atomic flag at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// It does not hold the flag.
    No,
    /// It holds the flag.
    Yes,
    /// Both are possible.
    Maybe,
}

/// Returns the answer for each location that a thread without calls can reach; `Held::No` for the others.
///
/// Each location has two marks, for threads that hold the flag and for those that do not; each new pair is expanded
/// once, so it ends.
pub(super) fn held(program: &Program, flow: &Flow) -> IndexVec<LocId, Held> {
    let mut marks: IndexVec<LocId, [bool; 2]> = program.locs.iter().map(|_| [false; 2]).collect();
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let mut waiting: Vec<(LocId, bool)> = starts.map(|proc| (program.procs[proc].entry, false)).collect();
    while let Some((loc, holds)) = waiting.pop() {
        if std::mem::replace(&mut marks[loc][usize::from(holds)], true) {
            continue;
        }
        for edge in flow.out(loc).iter().map(|edge| &program.edges[*edge]) {
            let after = match &edge.op {
                Op::AtomicBegin => true,
                Op::AtomicEnd => false,
                Op::Fork(at) => {
                    waiting.push((*at, false));
                    holds
                }
                Op::Spawn(spawn) => {
                    waiting.push((program.procs[spawn.callee].entry, false));
                    holds
                }
                Op::Assign(_) | Op::Assert(_) | Op::Call(_) | Op::Return(_) | Op::End => holds,
            };
            waiting.push((edge.to, after));
        }
    }
    let answer = |mark: &[bool; 2]| match mark {
        [true, true] => Held::Maybe,
        [false, true] => Held::Yes,
        [_, false] => Held::No,
    };
    marks.iter().map(answer).collect()
}

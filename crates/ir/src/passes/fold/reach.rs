//! Finds the locations that some thread may reach, by the graph alone.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use crate::flow::Flow;
use crate::syntax::{EdgeId, LocId, Op, ProcId, Program};

/// Returns the locations that are connected with a start, as a set of their numbers. The location after a call is
/// reached only if the callee returns. Each edge is followed once, so the search ends.
pub(super) fn locations(program: &Program) -> FixedBitSet {
    let mut search = Search {
        flow: Flow::new(program),
        reached: FixedBitSet::with_capacity(program.locs.len()),
        rest: Vec::new(),
        callers: IndexVec::from_vec(vec![Callers::default(); program.procs.len()]),
    };
    for proc in program.entries.iter().map(|entry| entry.proc).chain(program.prelude) {
        search.reach(program.procs[proc].entry);
    }
    while let Some(loc) = search.rest.pop() {
        for edge in search.flow.out(loc).to_vec() {
            search.follow(program, edge);
        }
    }
    search.reached
}

struct Search {
    flow: Flow,
    reached: FixedBitSet,
    /// Reached locations whose edges have not been followed.
    rest: Vec<LocId>,
    callers: IndexVec<ProcId, Callers>,
}

/// The calls that wait for a procedure to return.
#[derive(Clone, Default)]
struct Callers {
    returns: bool,
    waiting: Vec<LocId>,
}

impl Search {
    fn reach(&mut self, loc: LocId) {
        if !self.reached.put(loc.index()) {
            self.rest.push(loc);
        }
    }

    fn follow(&mut self, program: &Program, edge: EdgeId) {
        let edge = &program.edges[edge];
        match &edge.op {
            Op::Call(call) => {
                self.reach(program.procs[call.callee].entry);
                let callers = &mut self.callers[call.callee];
                callers.waiting.push(edge.to);
                if callers.returns {
                    self.reach(edge.to);
                }
                return;
            }
            Op::Return(_) => {
                let callers = &mut self.callers[program.locs[edge.from].proc];
                callers.returns = true;
                for loc in std::mem::take(&mut callers.waiting) {
                    self.reach(loc);
                }
            }
            Op::Spawn(spawn) => self.reach(program.procs[spawn.callee].entry),
            Op::Fork(loc) => self.reach(*loc),
            Op::Assign(_) | Op::Assert(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
        }
        self.reach(edge.to);
    }
}

//! The edges of a program, indexed by location, and what can be reached along them.

use std::hash::Hash;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::syntax::{EdgeId, LocId, Op, ProcId, Program};

/// Edges by the location they leave and by the location they reach, in ascending order of their numbers.
#[derive(Clone, Debug)]
pub struct Flow {
    out: IndexVec<LocId, SmallVec<[EdgeId; 4]>>,
    into: IndexVec<LocId, SmallVec<[EdgeId; 4]>>,
}

impl Flow {
    /// Indexes the edges of a program, in linear time.
    pub fn new(program: &Program) -> Flow {
        let none = IndexVec::from_vec(vec![SmallVec::new(); program.locs.len()]);
        let mut flow = Flow { out: none.clone(), into: none };
        for (id, edge) in program.edges.iter_enumerated() {
            flow.out[edge.from].push(id);
            flow.into[edge.to].push(id);
        }
        flow
    }

    /// Returns the edges that leave a location.
    pub fn out(&self, loc: LocId) -> &[EdgeId] {
        &self.out[loc]
    }

    /// Returns the edges that reach a location.
    pub fn into(&self, loc: LocId) -> &[EdgeId] {
        &self.into[loc]
    }

    /// Returns the locations that can be reached inside a procedure, each after those that it leads to, back edges
    /// aside.
    pub fn postorder(&self, program: &Program, entry: LocId) -> Vec<LocId> {
        postorder([entry], |loc| self.out(loc).iter().map(|edge| program.edges[*edge].to))
    }
}

/// Returns the nodes of a graph that can be reached from some nodes, each after those that it leads to, cycles aside.
///
/// A depth-first search without recursion: `path` holds the nodes that are entered and not left, each with the
/// successors still to be looked at. It ends because each node is entered once.
pub fn postorder<N: Copy + Eq + Hash, I: Iterator<Item = N>>(
    roots: impl IntoIterator<Item = N>,
    successors: impl Fn(N) -> I,
) -> Vec<N> {
    let (mut order, mut entered) = (Vec::new(), FxHashSet::default());
    for root in roots {
        let mut path = Vec::from_iter(entered.insert(root).then(|| (root, successors(root))));
        while let Some((node, rest)) = path.last_mut() {
            match rest.next() {
                Some(next) => path.extend(entered.insert(next).then(|| (next, successors(next)))),
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Returns the locations that threads and the prelude can reach along some of the edges. The location after a call is
/// reached only if the callee can return.
pub(crate) fn reached(program: &Program, may_take: impl Fn(EdgeId) -> bool) -> FixedBitSet {
    let flow = Flow::new(program);
    let mut reached = FixedBitSet::with_capacity(program.locs.len());
    let mut waiting: Vec<LocId> = program.roots().map(|proc| program.procs[proc].entry).collect();
    // The locations after the calls of each procedure that have not returned.
    let mut after_calls: IndexVec<ProcId, Vec<LocId>> = IndexVec::from_vec(vec![Vec::new(); program.procs.len()]);
    while let Some(loc) = waiting.pop() {
        if reached.put(loc.index()) {
            continue;
        }
        let own = program.locs[loc].proc;
        if program.procs[own].exit == loc {
            waiting.append(&mut after_calls[own]);
        }
        for edge in flow.out(loc).iter().filter(|id| may_take(**id)).map(|id| &program.edges[*id]) {
            match &edge.op {
                Op::Call(call) => {
                    let callee = &program.procs[call.callee];
                    waiting.push(callee.entry);
                    let returns = reached.contains(callee.exit.index());
                    if returns { &mut waiting } else { &mut after_calls[call.callee] }.push(edge.to);
                }
                Op::Spawn(spawn) => waiting.extend([program.procs[spawn.callee].entry, edge.to]),
                Op::Fork(child) => waiting.extend([*child, edge.to]),
                // It leads to the exit of the procedure, but not to its callers.
                Op::End => {}
                _ => waiting.push(edge.to),
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    #[test]
    fn the_code_after_a_call_is_reached_only_if_the_callee_can_return() {
        let is_reached = |last: &str| {
            let text = format!(
                "proc main() from L0 to L2
                   e0 L0 -> L1: call stop()
                   e1 L1 -> L2: skip
                 proc stop() from L3 to L4
                   e2 L3 -> L4: {last}
                 start main"
            );
            let program = parse(&text).expect("the program reads");
            reached(&program, |_| true).contains(program.edges[EdgeId::new(1)].from.index())
        };
        assert!(is_reached("return"));
        assert!(!is_reached("end"), "the thread ends inside of the call");
    }
}

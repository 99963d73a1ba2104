//! The call graph: calls, recursion, and the procedures that can run at all.

use index_vec::IndexVec;

use crate::flow::Flow;
use crate::syntax::{Count, EdgeId, LocId, Op, ProcId, Program};

/// Returns whether the program is a single thread: one initial thread in every run, and nothing that starts another. A
/// prelude may run before it.
pub fn is_sequential(program: &Program) -> bool {
    let [entry] = program.entries.as_raw_slice() else { return false };
    entry.count == Count::Exactly(1) && !program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)))
}

/// Returns whether every run has a bounded number of threads: no edge starts threads, and no entry has count
/// [`Count::Any`].
pub fn has_bounded_threads(program: &Program) -> bool {
    let spawns = program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
    !spawns && program.entries.iter().all(|entry| entry.count != Count::Any)
}

/// Returns whether the prelude may end in the middle of a call. The initial threads start then, as after its return.
pub fn prelude_ends_early(program: &Program) -> bool {
    let Some(prelude) = program.prelude else { return false };
    let runs = CallGraph::new(program).reachable([prelude], Through::Calls);
    program.edges.iter().any(|edge| edge.op == Op::End && runs[program.locs[edge.from].proc])
}

/// The calls and spawns of a program, and the strongly connected components of its calls.
#[derive(Clone, Debug)]
pub struct CallGraph {
    calls: IndexVec<ProcId, Vec<ProcId>>,
    spawns: IndexVec<ProcId, Vec<ProcId>>,
    sites: IndexVec<ProcId, Vec<EdgeId>>,
    components: Vec<Vec<ProcId>>,
    recursive: IndexVec<ProcId, bool>,
}

impl CallGraph {
    /// Collects the calls and spawns of all edges, in linear time.
    pub fn new(program: &Program) -> CallGraph {
        let mut calls: IndexVec<ProcId, Vec<ProcId>> = program.procs.iter().map(|_| Vec::new()).collect();
        let mut spawns = calls.clone();
        let mut sites: IndexVec<ProcId, Vec<EdgeId>> = program.procs.iter().map(|_| Vec::new()).collect();
        for (id, edge) in program.edges.iter_enumerated() {
            let proc = program.locs[edge.from].proc;
            match &edge.op {
                Op::Call(call) => {
                    calls[proc].push(call.callee);
                    sites[call.callee].push(id);
                }
                Op::Spawn(spawn) => spawns[proc].push(spawn.callee),
                _ => {}
            }
        }
        for callees in calls.iter_mut().chain(spawns.iter_mut()) {
            callees.sort_unstable();
            callees.dedup();
        }
        let components = components(&calls);
        let mut recursive: IndexVec<ProcId, bool> = calls.iter_enumerated().map(|(p, to)| to.contains(&p)).collect();
        for proc in components.iter().filter(|component| component.len() > 1).flatten() {
            recursive[*proc] = true;
        }
        CallGraph { calls, spawns, sites, components, recursive }
    }

    /// Returns the procedures that a procedure calls, ascending, each once.
    pub fn callees(&self, proc: ProcId) -> &[ProcId] {
        &self.calls[proc]
    }

    /// Returns the call edges that lead to a procedure, ascending.
    pub fn sites(&self, proc: ProcId) -> &[EdgeId] {
        &self.sites[proc]
    }

    /// Returns the strongly connected components of the calls, callees before their callers.
    pub fn components(&self) -> &[Vec<ProcId>] {
        &self.components
    }

    /// Returns for each location the number of its procedure's component, callees first, and its own number in reverse
    /// postorder. In this order of work a location comes after those that it depends on, except in loops and recursion.
    pub fn ranks(&self, program: &Program, flow: &Flow) -> IndexVec<LocId, (u32, u32)> {
        let mut ranks = IndexVec::from_vec(vec![(0, 0); program.locs.len()]);
        for (component, procs) in self.components.iter().enumerate() {
            for proc in procs {
                let order = flow.postorder(program, program.procs[*proc].entry);
                for (place, loc) in order.iter().rev().enumerate() {
                    ranks[*loc] = (component as u32, place as u32);
                }
            }
        }
        ranks
    }

    /// Returns whether a stack can have two frames of the procedure.
    pub fn is_recursive(&self, proc: ProcId) -> bool {
        self.recursive[proc]
    }

    /// Returns whether any procedure is recursive.
    pub fn has_recursion(&self) -> bool {
        self.recursive.contains(&true)
    }

    /// Returns the procedures that run when the given ones do: through calls, and through spawns too if they are
    /// followed.
    pub fn reachable(&self, roots: impl IntoIterator<Item = ProcId>, through: Through) -> IndexVec<ProcId, bool> {
        let mut seen: IndexVec<ProcId, bool> = self.calls.iter().map(|_| false).collect();
        let mut work: Vec<ProcId> = roots.into_iter().collect();
        while let Some(proc) = work.pop() {
            if std::mem::replace(&mut seen[proc], true) {
                continue;
            }
            work.extend(&self.calls[proc]);
            if through == Through::CallsAndSpawns {
                work.extend(&self.spawns[proc]);
            }
        }
        seen
    }

    /// Returns the procedures that any run of the program can reach through calls and spawns, the prelude included.
    pub fn reachable_from_entries(&self, program: &Program) -> IndexVec<ProcId, bool> {
        let roots = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
        self.reachable(roots, Through::CallsAndSpawns)
    }
}

/// The edges that [`CallGraph::reachable`] follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// Calls: the procedures that the same thread runs.
    Calls,
    /// Calls and spawns: the procedures that the thread and all threads started by it run.
    CallsAndSpawns,
}

/// Computes strongly connected components by Tarjan's algorithm, without recursion.
///
/// Order: depth-first; `path` holds the procedures that are entered and not left, each with the callees still to be
/// looked at. Invariant: `low[p]` is the least number of a procedure on `open` that is known to be reachable from `p`;
/// `open` holds the entered procedures whose component is not complete, in the order of their numbers. A procedure that
/// is left with `low` equal to its own number is the first of its component, which is the rest of `open` from it on.
/// It ends because each procedure is entered once. A component is complete only after all that its members call,
/// hence callees come first.
fn components(calls: &IndexVec<ProcId, Vec<ProcId>>) -> Vec<Vec<ProcId>> {
    const UNSEEN: u32 = u32::MAX;
    const CLOSED: u32 = u32::MAX - 1;
    let mut low: IndexVec<ProcId, u32> = calls.iter().map(|_| UNSEEN).collect();
    let mut open: Vec<ProcId> = Vec::new();
    let mut components = Vec::new();
    let mut count = 0;
    for root in calls.indices() {
        let mut path: Vec<(ProcId, usize, u32)> = Vec::new();
        let mut enter = (low[root] == UNSEEN).then_some(root);
        loop {
            if let Some(proc) = enter.take() {
                low[proc] = count;
                path.push((proc, 0, count));
                open.push(proc);
                count += 1;
            }
            let Some((proc, next, number)) = path.last_mut() else { break };
            if let Some(&callee) = calls[*proc].get(*next) {
                *next += 1;
                match low[callee] {
                    UNSEEN => enter = Some(callee),
                    CLOSED => {}
                    seen => low[*proc] = low[*proc].min(seen),
                }
                continue;
            }
            let (proc, number) = (*proc, *number);
            path.pop();
            if low[proc] == number {
                let begin =
                    open.iter().rposition(|member| *member == proc).expect("a member is open until closed here");
                let mut component = open.split_off(begin);
                component.sort_unstable();
                component.iter().for_each(|member| low[*member] = CLOSED);
                components.push(component);
            } else if let Some((caller, ..)) = path.last() {
                low[*caller] = low[*caller].min(low[proc]);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "proc main() from L0 to L1
         L0 -> L1: return
         L0 -> L0: call even()
         L0 -> L0: spawn worker()
       proc odd() from L2 to L3
         L2 -> L2: call even()
         L2 -> L2: call leaf()
       proc even() from L4 to L5
         L4 -> L4: call odd()
       proc leaf() from L6 to L7
       proc worker() from L8 to L9
         L8 -> L8: call worker()
       proc unused() from L10 to L11
         L10 -> L10: call main()
       start main";

    fn names(program: &Program, procs: impl IntoIterator<Item = ProcId>) -> String {
        procs.into_iter().map(|proc| program.procs[proc].name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn components_come_callees_first() {
        let program = crate::text::parse(PROGRAM).unwrap();
        let calls = CallGraph::new(&program);
        let components: Vec<String> =
            calls.components().iter().map(|component| names(&program, component.iter().copied())).collect();
        assert_eq!(components, ["leaf", "odd even", "main", "worker", "unused"]);
    }

    #[test]
    fn recursion_is_a_cycle_of_calls() {
        let program = crate::text::parse(PROGRAM).unwrap();
        let calls = CallGraph::new(&program);
        let recursive = program.procs.indices().filter(|proc| calls.is_recursive(*proc));
        assert_eq!(names(&program, recursive), "odd even worker");
        assert!(calls.has_recursion());
        let acyclic = crate::text::parse("proc f() from L0 to L1\nL0 -> L0: spawn f()\nstart f").unwrap();
        assert!(!CallGraph::new(&acyclic).has_recursion());
    }

    #[test]
    fn what_runs_is_reachable_through_calls_and_spawns() {
        let program = crate::text::parse(PROGRAM).unwrap();
        let calls = CallGraph::new(&program);
        let runs = |reached: IndexVec<ProcId, bool>| {
            names(&program, reached.iter_enumerated().filter(|(_, runs)| **runs).map(|(proc, _)| proc))
        };
        assert_eq!(runs(calls.reachable_from_entries(&program)), "main odd even leaf worker");
        assert_eq!(runs(calls.reachable([ProcId::new(0)], Through::Calls)), "main odd even leaf");
        assert_eq!(calls.sites(ProcId::new(2)), [EdgeId::new(1), EdgeId::new(3)]);
    }

    #[test]
    fn one_thread_that_starts_none_is_sequential() {
        let sequential = |text: &str| is_sequential(&crate::text::parse(text).unwrap());
        assert!(sequential("proc f() from L0 to L1\nprelude f\nstart f"));
        assert!(!sequential("proc f() from L0 to L1\nstart f: f at most 1"));
        assert!(!sequential("proc f() from L0 to L1\nstart f\nstart g: f"));
        assert!(!sequential("proc f() from L0 to L1\nL0 -> L0: fork L0\nstart f"));
        assert!(!sequential("proc f() from L0 to L1"));
    }
}

//! The call graph: calls, recursion, and the procedures that can run at all.

use index_vec::IndexVec;

use crate::flow::{Flow, postorder};
use crate::syntax::{Count, EdgeId, LocId, Op, ProcId, Program};
use crate::target::sorted;

/// Returns whether the program is a single thread: one initial thread in every run, and nothing that starts another. A
/// prelude may run before it.
pub fn is_sequential(program: &Program) -> bool {
    let [entry] = program.entries.as_raw_slice() else { return false };
    entry.count == Count::Exactly(1) && !program.starts_threads()
}

/// Returns whether every run has a bounded number of threads: no edge starts threads, and no entry has count
/// [`Count::Any`].
pub fn has_bounded_threads(program: &Program) -> bool {
    !program.starts_threads() && program.entries.iter().all(|entry| entry.count != Count::Any)
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
        let none: IndexVec<ProcId, Vec<ProcId>> = IndexVec::from_vec(vec![Vec::new(); program.procs.len()]);
        let (mut calls, mut spawns) = (none.clone(), none);
        let mut sites: IndexVec<ProcId, Vec<EdgeId>> = IndexVec::from_vec(vec![Vec::new(); program.procs.len()]);
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
        calls.iter_mut().chain(&mut spawns).for_each(|callees| *callees = sorted(std::mem::take(callees)));
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
        self.reachable(program.roots(), Through::CallsAndSpawns)
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

/// Computes the strongly connected components of the calls, callees before their callers, by the algorithm of Kosaraju
/// and Sharir.
///
/// Order: a depth-first search leaves all procedures; they are taken from the last to the first, and each collects
/// itself and the procedures without a component that lead to it. Invariant: a component whose member the search left
/// last is collected before the others. Whatever calls into it from outside was left later, hence has a component, so
/// that nothing else is collected. Components are thus found callers first.
fn components(calls: &IndexVec<ProcId, Vec<ProcId>>) -> Vec<Vec<ProcId>> {
    let mut callers: IndexVec<ProcId, Vec<ProcId>> = IndexVec::from_vec(vec![Vec::new(); calls.len()]);
    for (caller, callees) in calls.iter_enumerated() {
        callees.iter().for_each(|callee| callers[*callee].push(caller));
    }
    let mut has_component: IndexVec<ProcId, bool> = IndexVec::from_vec(vec![false; calls.len()]);
    let mut components = Vec::new();
    for first in postorder(calls.indices(), |proc| calls[proc].iter().copied()).into_iter().rev() {
        let (mut component, mut open) = (Vec::new(), vec![first]);
        while let Some(proc) = open.pop() {
            if !std::mem::replace(&mut has_component[proc], true) {
                component.push(proc);
                open.extend(&callers[proc]);
            }
        }
        if !component.is_empty() {
            component.sort_unstable();
            components.push(component);
        }
    }
    components.reverse();
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

//! From an execution within a bound on threads to one without.
//!
//! At the bound a step that would start a thread does nothing. Without a bound the thread begins. It need not move, and
//! without passive parts other threads cannot observe it: so the rest of the execution is the same, except for the
//! numbers of the threads that are started later. Its mere existence may be an error: then the execution ends there.

use std::collections::BTreeMap;

use selvedge_ir::target::met;
use selvedge_ir::trace::{Step, ThreadId, Trace};
use selvedge_ir::{LocId, Op, Program, Target};

/// Returns the execution without bound. The program has no calls and no passive parts.
pub(super) fn unbounded(program: &Program, target: &Target, bound: u32, trace: &Trace) -> Trace {
    let first = u32::from(program.prelude.is_some());
    let n_initial = first + trace.start.threads.len() as u32;
    let mut threads = Renumbering {
        bound,
        n_bounded: n_initial,
        n_unbounded: n_initial,
        numbers: (0..n_initial).map(|number| (number, number)).collect(),
        n_live: trace.start.threads.len() as u32,
        locs: BTreeMap::new(),
    };
    let starts = trace.start.threads.iter().map(|start| program.procs[program.entries[start.entry].proc].entry);
    threads.locs = (first..).zip(starts).collect();
    let mut steps = Vec::new();
    for step in &trace.steps {
        steps.push(threads.step(program, step));
        let in_prelude = Some(program.locs[program.edges[step.edge].to].proc) == program.prelude;
        if !in_prelude && threads.meet(target) {
            break;
        }
    }
    Trace { steps, ..trace.clone() }
}

struct Renumbering {
    bound: u32,
    /// The next number of a thread, within the bound and without.
    n_bounded: u32,
    n_unbounded: u32,
    /// Maps the numbers within the bound to those without.
    numbers: BTreeMap<u32, u32>,
    /// The number of threads that live within the bound, without the prelude's.
    n_live: u32,
    /// The locations of the threads that live without bound, without the prelude's.
    locs: BTreeMap<u32, LocId>,
}

impl Renumbering {
    fn step(&mut self, program: &Program, step: &Step) -> Step {
        let thread = self.numbers[&step.thread.0];
        let edge = &program.edges[step.edge];
        let is_prelude = Some(program.locs[edge.from].proc) == program.prelude;
        match &edge.op {
            Op::Spawn(spawn) => self.start(program.procs[spawn.callee].entry),
            Op::Fork(at) => self.start(*at),
            _ => {}
        }
        if matches!(edge.op, Op::End | Op::Return(_)) {
            self.n_live -= u32::from(!is_prelude);
            self.locs.remove(&thread);
        } else if !is_prelude {
            self.locs.insert(thread, edge.to);
        }
        Step { thread: ThreadId(thread), ..step.clone() }
    }

    /// Starts a thread at a location.
    fn start(&mut self, at: LocId) {
        if self.n_live < self.bound {
            self.numbers.insert(self.n_bounded, self.n_unbounded);
            self.n_bounded += 1;
            self.n_live += 1;
        }
        self.locs.insert(self.n_unbounded, at);
        self.n_unbounded += 1;
    }

    /// Returns whether a thread, or several at once, are at locations of the target.
    fn meet(&self, target: &Target) -> bool {
        let count = |at: LocId| self.locs.values().filter(|loc| **loc == at).count();
        self.locs.values().any(|loc| target.has_loc(*loc)) || met(&target.together, count).is_some()
    }
}

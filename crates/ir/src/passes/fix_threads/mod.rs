//! Turns a program into one with a fixed list of threads, none of which starts another, for engines in which threads
//! take turns.
//!
//! The list is that of the initial threads, in the order in which the program declares their kinds. If a run may start
//! with different lists of initial threads, there is a result for each. A list that is part of a larger one is omitted
//! if no thread is started, because a thread that never moves is equivalent to an absent one.
//!
//! A program that starts threads must have a bound on live threads. Its list has as many *slots* as the bound allows.
//! The thread of a slot is live or dormant, as given by a shared variable. A step that starts a thread wakes the first
//! dormant one: it stores what to run, the arguments and the starter's per-thread variables in the mailbox of that slot
//! (`spawn_slots`). A thread that has ended is dormant again. If all slots are in use, nothing happens.
//!
//! A copy of the starting thread needs its whole stack. Calls below such a step are inlined; where that is not possible
//! because of recursion, the pass refuses.
//!
//! *Correctness.* The slot of a new thread is a function of the free slots, so the result has the executions of the
//! input, up to invisible steps: those with which a dormant thread reads its mailbox, and those from the end of a
//! thread, possibly deep inside its calls, to the location where it sleeps. An old step that ends a thread counts as
//! made when its slot becomes free. It reads nothing, so it may be delayed that long.

mod lift;
mod spawn_slots;

pub use lift::FixThreadsLift;

use index_vec::IndexVec;

use super::{Passed, inline};
use crate::callgraph::{CallGraph, Through};
use crate::syntax::{Count, EdgeId, Entry, EntryId, Op, ProcId, Program, Scope, VarId};
use crate::target::Target;

/// A program with a fixed list of threads.
#[derive(Clone, Debug)]
pub struct FixedThreads {
    /// The program. Each of its kinds has exactly one initial thread, and their order is that of the turns. Nothing in
    /// it starts a thread; a prelude may run before.
    pub program: Program,
    /// The same errors in it.
    pub target: Target,
    /// The lift of executions.
    pub lift: FixThreadsLift,
}

/// The reason why there is no such list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The offending step, if the reason is one.
    pub edge: Option<EdgeId>,
    /// A sentence for the user, without a full stop.
    pub reason: String,
}

/// Returns a program for each list of initial threads that a run may have, with a bound on live threads.
pub fn run(program: &Program, target: &Target, bound: Option<u32>) -> Result<Vec<FixedThreads>, Refusal> {
    let inlined = checked(program, target, bound)?;
    let starts = program.starts_threads();
    let initial_lists = initial_lists(program, bound, starts);
    if !starts {
        return Ok(initial_lists.iter().map(|initial| fixed(program, target, initial)).collect());
    }
    let n_slots = bound.expect("a bound is required if threads are started") as usize;
    let (base, base_target) = inlined.as_ref().map_or((program, target), |passed| (&passed.program, &passed.target));
    let of_list = |initial: &Vec<EntryId>| {
        let mut fixed_threads = spawn_slots::run(base, base_target, initial, n_slots);
        fixed_threads.lift.inlined = inlined.as_ref().map(|Passed { lift, .. }| lift.clone());
        fixed_threads
    };
    Ok(initial_lists.iter().map(of_list).collect())
}

/// Returns whether [`run`] has a result, without building it.
pub fn supports(program: &Program, target: &Target, bound: Option<u32>) -> Result<(), Refusal> {
    checked(program, target, bound).map(drop)
}

/// Refuses programs without such lists; returns the program with inlined calls, if a thread may be copied inside them.
fn checked(program: &Program, target: &Target, bound: Option<u32>) -> Result<Option<Passed>, Refusal> {
    let starts = program.starts_threads();
    let open = starts || program.entries.iter().any(|entry| entry.count == Count::Any);
    if open && bound.is_none() {
        let reason = "the number of threads is not bounded, and contexts are counted for a list of threads: give \
                      --threads N";
        return Err(Refusal { edge: None, reason: reason.to_string() });
    }
    let is_passive = |id: &EdgeId| matches!(&program.edges[*id].op, Op::Assign(assign) if assign.is_passive());
    if let Some(id) = program.edges.indices().find(is_passive) {
        return refuse(id, "steps that read or assign variables of other threads cannot take turns");
    }
    if !starts {
        return Ok(None);
    }
    let inlined = copies_calls(program).then(|| inline::run(program, target));
    let base = inlined.as_ref().map_or(program, |passed| &passed.program);
    check_starts(base).map_err(|refusal| match &inlined {
        Some(Passed { lift, .. }) => Refusal { edge: refusal.edge.and_then(|edge| lift.old_edge(edge)), ..refusal },
        None => refusal,
    })?;
    Ok(inlined)
}

fn refuse<T>(edge: EdgeId, reason: &str) -> Result<T, Refusal> {
    Err(Refusal { edge: Some(edge), reason: reason.to_string() })
}

/// Returns the lists of initial threads that a run may start with, each in the order of the kinds.
fn initial_lists(program: &Program, bound: Option<u32>, starts: bool) -> Vec<Vec<EntryId>> {
    let most = bound.unwrap_or(u32::MAX);
    let mut initial_lists: Vec<Vec<EntryId>> = vec![Vec::new()];
    for (id, entry) in program.entries.iter_enumerated() {
        initial_lists = initial_lists.iter().flat_map(|initial| longer(initial, id, entry, most)).collect();
    }
    if !starts {
        let all = initial_lists.clone();
        initial_lists.retain(|initial| !all.iter().any(|other| is_less(initial, other)));
    } else if initial_lists.len() > 1 {
        initial_lists.retain(|initial| !initial.is_empty());
    }
    initial_lists
}

/// Extends a list of initial threads by each possible number of threads of one more kind.
fn longer(initial: &[EntryId], id: EntryId, entry: &Entry, most: u32) -> Vec<Vec<EntryId>> {
    let room = most.saturating_sub(initial.len() as u32);
    let counts = match entry.count {
        Count::Exactly(count) => count..=count,
        Count::AtMost(count) => 0..=count.min(room),
        Count::Any => 0..=room,
    };
    let with = |count: u32| initial.iter().copied().chain(std::iter::repeat_n(id, count as usize)).collect();
    counts.filter(|count| *count <= room).map(with).collect()
}

/// Returns whether a list of initial threads is another one without some of its threads.
fn is_less(initial: &[EntryId], other: &[EntryId]) -> bool {
    let count = |initial: &[EntryId], id: EntryId| initial.iter().filter(|entry| **entry == id).count();
    initial.len() < other.len() && initial.iter().all(|id| count(initial, *id) <= count(other, *id))
}

/// Returns the program of a list of initial threads that starts no threads: unchanged, with a kind for each thread.
fn fixed(program: &Program, target: &Target, initial: &[EntryId]) -> FixedThreads {
    let entry = |id: &EntryId| Entry { count: Count::Exactly(1), ..program.entries[*id].clone() };
    let entries = initial.iter().map(entry).collect();
    let lift = FixThreadsLift::fixed(program, initial.to_vec());
    FixedThreads { program: Program { entries, ..program.clone() }, target: target.clone(), lift }
}

/// Returns whether a thread may be copied in the middle of a call.
fn copies_calls(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    program
        .edges
        .iter()
        .any(|edge| matches!(edge.op, Op::Fork(_)) && !calls.sites(program.locs[edge.from].proc).is_empty())
}

/// Refuses programs that slots cannot represent.
fn check_starts(program: &Program) -> Result<(), Refusal> {
    let calls = CallGraph::new(program);
    let in_prelude = calls.reachable(program.prelude, Through::Calls);
    let may_end = may_end(program, &calls);
    let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
    for (id, edge) in program.edges.iter_enumerated() {
        let proc = program.locs[edge.from].proc;
        match &edge.op {
            Op::Spawn(_) | Op::Fork(_) if in_prelude[proc] => {
                return refuse(id, "`init` starts a thread, but it must run alone when threads take turns");
            }
            Op::Fork(_) if !calls.sites(proc).is_empty() => {
                let reason = "the new thread would be a copy inside recursive calls, whose stack cannot be copied";
                return refuse(id, reason);
            }
            Op::Call(call) if may_end[call.callee] && edge.op.assigned().any(is_shared) => {
                let reason = "a thread may end inside this call, whose result is assigned to a shared variable";
                return refuse(id, reason);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the procedures in which, or below which, a thread may execute [`Op::End`].
fn may_end(program: &Program, calls: &CallGraph) -> IndexVec<ProcId, bool> {
    let mut may_end: IndexVec<ProcId, bool> = IndexVec::from_vec(vec![false; program.procs.len()]);
    let ends = program.edges.iter().filter(|edge| edge.op == Op::End);
    let mut open: Vec<ProcId> = ends.map(|edge| program.locs[edge.from].proc).collect();
    while let Some(proc) = open.pop() {
        if !std::mem::replace(&mut may_end[proc], true) {
            open.extend(calls.sites(proc).iter().map(|site| program.locs[program.edges[*site].from].proc));
        }
    }
    may_end
}

#[cfg(test)]
mod tests;

//! The program as the unwinding sees it: blocks, and what threads share, in groups of variables.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use selvedge_check::{Role, Task, ThreadScope};
use selvedge_ir::flow::Flow;
use selvedge_ir::visit::for_each_old_read;
use selvedge_ir::{EdgeId, LocId, Op, Program, Scope, VarId};
use selvedge_logic::aig::Lit;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::VisiblePoints;
use selvedge_transition::step::circuit::Valuation;

/// A group of shared variables that the same edges assign: whoever writes one writes all.
pub(super) type Group = usize;

/// What the unwinding needs to know about a program. Two things that threads share are variables of their own, with
/// numbers behind those of the program: the atomic flag, and the number of threads.
pub(super) struct Layout<'t> {
    pub(super) task: Task<'t>,
    pub(super) flow: Flow,
    pub(super) ranks: Ranks,
    /// The atomic flag, if a thread can be seen while it holds it.
    pub(super) held: Option<VarId>,
    /// The number of threads, if it limits which threads start.
    pub(super) count: Option<Count>,
    /// The group of each variable that some edge writes.
    groups: Vec<Option<Group>>,
    /// The variables of each group.
    pub(super) members: Vec<Vec<VarId>>,
    /// The shared variables that each edge reads.
    pub(super) reads: IndexVec<EdgeId, Vec<VarId>>,
}

/// The number of threads.
pub(super) struct Count {
    /// Its bits, the lowest one first.
    pub(super) bits: Vec<VarId>,
    /// The greatest number.
    pub(super) bound: u32,
    /// Whether threads that have ended do not count.
    pub(super) is_live: bool,
}

impl<'t> Layout<'t> {
    pub(super) fn new(task: Task<'t>) -> Layout<'t> {
        let program = task.program;
        let flow = Flow::new(program);
        let visible = VisiblePoints::fewer(program, task.target);
        let ranks = Ranks::new(program, &flow, &visible);
        let mut next = program.vars.len();
        let mut add = || {
            next += 1;
            VarId::new(next - 1)
        };
        let held = is_seen_holding(program, &flow, &visible).then(&mut add);
        let limit = match task.threads {
            ThreadScope::AtMost(bound) => Some((bound, true)),
            ThreadScope::Created(bound) => Some((bound, false)),
            ThreadScope::Unbounded => None,
        };
        let count = limit.filter(|_| program.starts_threads()).map(|(bound, is_live)| {
            let bits = (0..u32::BITS - bound.leading_zeros()).map(|_| add()).collect();
            Count { bits, bound, is_live }
        });
        let reads = program.edges.iter().map(|edge| {
            let mut reads = Vec::new();
            for_each_old_read(edge, |var| reads.push(var));
            reads.retain(|var| program.vars[*var].scope == Scope::Shared);
            reads.sort_unstable();
            reads.dedup();
            reads
        });
        let reads = reads.collect();
        let (groups, members) = groups(program, held, count.as_ref());
        Layout { task, flow, ranks, held, count, groups, members, reads }
    }

    /// Returns the group of a variable; `None` if nothing writes it.
    pub(super) fn group(&self, var: VarId) -> Option<Group> {
        self.groups[var.index()]
    }

    /// Returns whether a variable belongs to one thread.
    pub(super) fn is_own(&self, var: VarId) -> bool {
        self.task.program.vars.get(var).is_some_and(|var| var.scope != Scope::Shared)
    }

    /// Returns the part of a valuation about the thread itself.
    pub(super) fn own(&self, values: &Valuation) -> Valuation {
        values.restrict(|var| self.is_own(var))
    }

    /// Returns the part of a valuation about variables of the program.
    pub(super) fn of_program(&self, values: &Valuation) -> Valuation {
        values.restrict(|var| var.index() < self.task.program.vars.len())
    }

    /// Adds the atomic flag and the number of threads at the start, whose bits are given.
    pub(super) fn add_others(&self, values: &mut Valuation, threads: &[Lit]) {
        if let Some(held) = self.held {
            values.set(held, Lit::FALSE);
        }
        for (var, bit) in self.count.iter().flat_map(|count| &count.bits).zip(threads) {
            values.set(*var, *bit);
        }
    }
}

/// Returns whether a thread that holds the atomic flag can come to a visible point.
fn is_seen_holding(program: &Program, flow: &Flow, visible: &VisiblePoints) -> bool {
    let begins = program.edges.iter().filter(|edge| edge.op == Op::AtomicBegin);
    let mut waiting: Vec<LocId> = begins.map(|edge| edge.to).collect();
    let mut known = vec![false; program.locs.len()];
    while let Some(loc) = waiting.pop() {
        if visible.is_stop_alone(loc) {
            return true;
        }
        if !std::mem::replace(&mut known[loc.index()], true) {
            let edges = flow.out(loc).iter().map(|edge| &program.edges[*edge]);
            waiting.extend(edges.filter(|edge| !matches!(edge.op, Op::AtomicEnd | Op::End)).map(|edge| edge.to));
        }
    }
    false
}

/// Groups the shared variables by the edges that assign them.
fn groups(program: &Program, held: Option<VarId>, count: Option<&Count>) -> (Vec<Option<Group>>, Vec<Vec<VarId>>) {
    let mut writers: BTreeMap<VarId, Vec<EdgeId>> = BTreeMap::new();
    for (id, edge) in program.edges.iter_enumerated() {
        let shared = edge.op.assigned().filter(|var| program.vars[*var].scope == Scope::Shared);
        shared.for_each(|var| writers.entry(var).or_default().push(id));
    }
    let mut by_writers: BTreeMap<Vec<EdgeId>, Vec<VarId>> = BTreeMap::new();
    for (var, edges) in writers {
        by_writers.entry(edges).or_default().push(var);
    }
    let counted = count.map(|count| count.bits.clone());
    let members: Vec<Vec<VarId>> = by_writers.into_values().chain(held.map(|held| vec![held])).chain(counted).collect();
    let n_vars = program.vars.len() + usize::from(held.is_some()) + count.map_or(0, |count| count.bits.len());
    let mut groups = vec![None; n_vars];
    for (group, vars) in members.iter().enumerate() {
        vars.iter().for_each(|var| groups[var.index()] = Some(group));
    }
    (groups, members)
}

/// Returns whether a thread with this role holds the atomic flag.
pub(super) fn holds(place: Place) -> bool {
    matches!(place.role, Role::Holder(_))
}

//! Visible points: the locations at which a thread must be visible.
//!
//! A thread at a *visible point* is part of a state. From there it makes a *block* of steps that counts as one: steps
//! that other threads cannot observe, then one that they can. An atomic section is part of such a step, since no other
//! thread runs in the meantime. The block ends at the next visible point. Errors on the way are reported, but the
//! locations on the way are not states of their own.
//!
//! *Right.* A step that others cannot observe commutes with all their steps, and so can be put off until the thread
//! makes one that they can observe, or forever. While a thread holds the atomic flag, or in the prelude, no other
//! thread moves. So each error that can be reached is reached by an execution in which blocks are not interrupted. A
//! block that cannot be finished never happens.
//!
//! *End.* Every cycle of steps inside a block contains a visible point: the target of a retreating edge of a
//! depth-first search.

use fixedbitset::FixedBitSet;
use selvedge_ir::flow::Flow;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, LocId, Op, Program, Target};

/// The visible points of a program without calls.
#[derive(Clone, Debug)]
pub struct VisiblePoints {
    /// The visible points of threads that do not hold the atomic flag.
    free: FixedBitSet,
    /// The visible points of the thread that holds it, and of the prelude's.
    alone: FixedBitSet,
}

impl VisiblePoints {
    /// Makes every location a visible point.
    pub fn everywhere(program: &Program) -> VisiblePoints {
        let mut all = FixedBitSet::with_capacity(program.locs.len());
        all.insert_range(..);
        VisiblePoints { free: all.clone(), alone: all }
    }

    /// Returns the visible points after every step that other threads can observe, also of a thread that holds the
    /// atomic flag. In any state that can be reached, the values of shared variables and the state of one thread are
    /// those of a visible point, or lie behind one on steps that others cannot observe: the steps of all other threads
    /// since their last visible points can be left out, and those of this one can be made last, or before another
    /// thread takes the atomic flag. A thread that starts while another holds the flag could not make them then: where
    /// there may be one, every location is a visible point.
    pub fn observed(program: &Program) -> VisiblePoints {
        if starts_in_section(program) {
            return VisiblePoints::everywhere(program);
        }
        let free = VisiblePoints::after_observed(program, &Flow::new(program), &invisible(program));
        VisiblePoints { alone: free.clone(), free }
    }

    /// Returns the locations where threads begin, those after every step that others can observe, and one on each cycle
    /// of the other steps.
    fn after_observed(program: &Program, flow: &Flow, invisible: &FixedBitSet) -> FixedBitSet {
        let mut found = retreating_targets(program, flow, |edge| invisible.contains(edge));
        for (id, edge) in program.edges.iter_enumerated() {
            if !invisible.contains(id.index()) {
                found.insert(edge.to.index());
            }
            if let Op::Fork(at) = &edge.op {
                found.insert(at.index());
            }
        }
        program.procs.iter().for_each(|proc| found.insert(proc.entry.index()));
        found
    }

    /// Returns as few visible points as the argument above allows.
    ///
    /// For a thread without the flag these are the locations where threads begin and those after every step that others
    /// can observe. For a thread that holds it they are those after a step in which others take part, and those after
    /// the start of a thread, which may take part in the next step. Locations that a target names together with others
    /// are visible points, since the target requires that threads are there at the same time.
    pub fn few(program: &Program, target: &Target) -> VisiblePoints {
        VisiblePoints::reduced(program, target, true)
    }

    /// Returns the same without visible points after the start of a thread in an atomic section: for programs in which
    /// other threads never take part in a step. A block can start several threads then.
    ///
    /// If the target requires threads to be at locations at the same time, these visible points are kept: a section
    /// that starts them may never end.
    pub fn fewer(program: &Program, target: &Target) -> VisiblePoints {
        VisiblePoints::reduced(program, target, !target.together.is_empty())
    }

    /// `sees_starts` says whether the thread that holds the flag is visible after it has started another.
    fn reduced(program: &Program, target: &Target, sees_starts: bool) -> VisiblePoints {
        let invisible = invisible(program);
        let flow = Flow::new(program);
        let mut free = VisiblePoints::after_observed(program, &flow, &invisible);
        let mut alone = retreating_targets(program, &flow, |_| true);
        for edge in &program.edges {
            match &edge.op {
                Op::Fork(_) | Op::Spawn(_) if sees_starts => alone.insert(edge.to.index()),
                Op::Assign(assign) if assign.is_passive() => alone.insert(edge.to.index()),
                _ => {}
            }
        }
        for loc in target.together.iter().flatten() {
            free.insert(loc.index());
            alone.insert(loc.index());
        }
        VisiblePoints { free, alone }
    }

    /// Returns whether a location is a visible point for threads that do not hold the atomic flag.
    pub fn is_stop(&self, loc: LocId) -> bool {
        self.free.contains(loc.index())
    }

    /// Returns whether a location is a visible point for a thread that holds the atomic flag or runs the prelude.
    pub fn is_stop_alone(&self, loc: LocId) -> bool {
        self.alone.contains(loc.index())
    }
}

/// Returns whether a thread may start another one while it holds the atomic flag.
fn starts_in_section(program: &Program) -> bool {
    let flow = Flow::new(program);
    let begins = program.edges.iter().filter(|edge| matches!(edge.op, Op::AtomicBegin));
    let mut waiting: Vec<LocId> = begins.map(|edge| edge.to).collect();
    let mut seen = FixedBitSet::with_capacity(program.locs.len());
    while let Some(loc) = waiting.pop() {
        if seen.put(loc.index()) {
            continue;
        }
        for edge in flow.out(loc).iter().map(|id| &program.edges[*id]) {
            match edge.op {
                Op::Spawn(_) | Op::Fork(_) => return true,
                Op::AtomicEnd => {}
                _ => waiting.push(edge.to),
            }
        }
    }
    false
}

/// Returns the edges of steps that other threads cannot observe.
pub fn invisible(program: &Program) -> FixedBitSet {
    let visibility = Visibility::new(program);
    let edges = program.edges.iter_enumerated().filter(|(_, edge)| visibility.is_invisible_step(edge));
    let mut invisible = FixedBitSet::with_capacity(program.edges.len());
    invisible.extend(edges.map(|(id, _)| id.index()));
    invisible
}

/// Returns the targets of the retreating edges along some edges.
fn retreating_targets(program: &Program, flow: &Flow, follows: impl Fn(usize) -> bool) -> FixedBitSet {
    let edges = retreating_edges(program, flow, follows);
    let mut targets = FixedBitSet::with_capacity(program.locs.len());
    targets.extend(edges.ones().map(|edge| program.edges[EdgeId::from(edge)].to.index()));
    targets
}

/// Returns the retreating edges of a depth-first search along some edges. They lead to a location that is entered and
/// not left, and each cycle has one.
///
/// `path` holds the locations that are entered and not left, each with the number of its edges already taken.
pub(super) fn retreating_edges(program: &Program, flow: &Flow, follows: impl Fn(usize) -> bool) -> FixedBitSet {
    let n_locs = program.locs.len();
    let mut retreating = FixedBitSet::with_capacity(program.edges.len());
    let (mut entered, mut open) = (FixedBitSet::with_capacity(n_locs), FixedBitSet::with_capacity(n_locs));
    let entries = program.procs.iter().map(|proc| proc.entry);
    for root in entries.chain(program.locs.indices()) {
        if entered.put(root.index()) {
            continue;
        }
        open.insert(root.index());
        let mut path = vec![(root, 0)];
        while let Some((loc, next)) = path.last_mut() {
            let Some(edge) = flow.out(*loc).get(*next) else {
                open.set(loc.index(), false);
                path.pop();
                continue;
            };
            *next += 1;
            let to = program.edges[*edge].to;
            if !follows(edge.index()) {
                continue;
            }
            if open.contains(to.index()) {
                retreating.insert(edge.index());
            } else if !entered.put(to.index()) {
                open.insert(to.index());
                path.push((to, 0));
            }
        }
    }
    retreating
}

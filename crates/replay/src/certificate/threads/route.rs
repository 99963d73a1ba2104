//! The ways of a macro step: where a thread can come to from a place, as far as control alone says.
//!
//! The inner locations of a route are listed in topological order, the place itself first. So a walk along the list
//! meets each of them after everything that leads to it. A move that would close a cycle counts as one to a location
//! that should be listed: it must not be possible. Then every path of the thread is covered, since one that goes round
//! would take such a move, for the first time behind a path that is covered.

use std::collections::BTreeMap;

use selvedge_check::{Role, Run};
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, VarId};

use super::super::{Flaw, Refused, Unjudged};
use super::table::{Table, entry};

/// More inner locations than this are not listed.
const LIMIT: usize = 1_000_000;

/// What a thread may do without being seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    /// Invisible steps.
    Quiet,
    /// Any steps, since it holds the atomic flag.
    Held,
    /// Any steps, since it is alone.
    Prelude,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    mode: Mode,
    calls: Vec<EdgeId>,
    loc: LocId,
}

pub(in crate::certificate) struct Route {
    /// The moves from each inner location.
    pub(in crate::certificate) nodes: Vec<Vec<Move>>,
}

/// A step along an edge.
#[derive(Clone, Debug)]
pub(in crate::certificate) struct Move {
    pub(in crate::certificate) edge: EdgeId,
    pub(in crate::certificate) to: To,
    /// For a return to a caller: the call.
    pub(in crate::certificate) call: Option<EdgeId>,
    /// Where a thread begins that the step may start.
    pub(in crate::certificate) child: Option<To>,
}

/// Where a thread comes to.
#[derive(Clone, Copy, Debug)]
pub(in crate::certificate) enum To {
    /// The inner location with this number, which may not be the end.
    Inner(usize),
    /// The place with this number, the end of the macro step.
    Place(u32),
    /// A target location.
    Error(LocId),
    /// A location that should be listed: it is not the end, or threads must not meet there, or it closes a cycle.
    Unlisted,
    /// Nowhere: it ended.
    Gone,
    /// Nowhere: the prelude ended, and the initial threads begin.
    Start,
}

impl Route {
    /// All ways from a place. Each inner location is looked at once.
    pub(in crate::certificate) fn new(table: &Table<'_>, place: u32, run: &Run<'_>) -> Result<Route, Refused> {
        let at = table.at(place);
        let mode = match at.role {
            Role::Prelude => Mode::Prelude,
            Role::Holder(_) => Mode::Held,
            Role::Free(_) => Mode::Quiet,
        };
        let first = Spot { mode, calls: at.calls.clone(), loc: at.loc };
        let mut search = Search { table, entry: entry(at.role), spots: vec![first], numbers: BTreeMap::new() };
        let mut nodes = Vec::new();
        while nodes.len() < search.spots.len() {
            run.tick()?;
            let spot = search.spots[nodes.len()].clone();
            let out = table.flow.out(spot.loc).iter();
            nodes.push(out.map(|edge| search.follow(&spot, *edge)).collect::<Result<Vec<Move>, Refused>>()?);
            if search.spots.len() > LIMIT {
                return Err(Unjudged::Beyond("too many steps may follow one another without being seen").into());
            }
        }
        Ok(Route { nodes: sorted(nodes) })
    }
}

/// The inner locations in topological order, their moves numbered accordingly. A depth-first search finds the moves that
/// lead back to a location that it has not finished: they are not to be taken. Without them there is no cycle, and the
/// locations in the opposite of the order in which they are finished are in topological order.
fn sorted(mut nodes: Vec<Vec<Move>>) -> Vec<Vec<Move>> {
    let mut marks = vec![Mark::New; nodes.len()];
    let mut finished = Vec::new();
    // The locations that are not finished, each with its next move.
    let mut open = vec![(0, 0)];
    marks[0] = Mark::Open;
    while let Some((node, next)) = open.last_mut() {
        let (node, number) = (*node, *next);
        *next += 1;
        match nodes[node].get_mut(number) {
            None => {
                marks[node] = Mark::Finished;
                finished.push(node);
                open.pop();
            }
            Some(step) => {
                let To::Inner(to) = step.to else { continue };
                match marks[to] {
                    Mark::New => {
                        marks[to] = Mark::Open;
                        open.push((to, 0));
                    }
                    Mark::Open => step.to = To::Unlisted,
                    Mark::Finished => {}
                }
            }
        }
    }
    let mut numbers = vec![0; nodes.len()];
    finished.iter().rev().enumerate().for_each(|(number, node)| numbers[*node] = number);
    for step in nodes.iter_mut().flatten() {
        if let To::Inner(to) = &mut step.to {
            *to = numbers[*to];
        }
    }
    finished.into_iter().rev().map(|node| std::mem::take(&mut nodes[node])).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Finished,
}

struct Search<'a> {
    table: &'a Table<'a>,
    entry: Option<EntryId>,
    /// The place itself, and the inner locations.
    spots: Vec<Spot>,
    numbers: BTreeMap<Spot, usize>,
}

impl Search<'_> {
    fn follow(&mut self, spot: &Spot, id: EdgeId) -> Result<Move, Refused> {
        let program = self.table.task.program;
        let edge = &program.edges[id];
        let mut step = Move { edge: id, to: To::Gone, call: None, child: self.child(spot, &edge.op)? };
        let (calls, loc) = match &edge.op {
            Op::Call(call) if self.on_stack(spot, call.callee) => {
                return Err(Flaw::OutOfScope("it is recursive").into());
            }
            Op::Call(call) => ([spot.calls.as_slice(), &[id]].concat(), program.procs[call.callee].entry),
            Op::Return(_) if !spot.calls.is_empty() => {
                let (call, calls) = spot.calls.split_last().expect("it is not empty");
                step.call = Some(*call);
                (calls.to_vec(), program.edges[*call].to)
            }
            Op::Return(_) | Op::End => {
                step.to = if spot.mode == Mode::Prelude { To::Start } else { To::Gone };
                return Ok(step);
            }
            _ => (spot.calls.clone(), edge.to),
        };
        step.to = match self.arrive(spot, id, calls, loc) {
            To::Inner(_) if self.begins_watched(&edge.op) => To::Unlisted,
            to => to,
        };
        Ok(step)
    }

    /// Where a thread comes to that is at a location after a step along an edge.
    fn arrive(&mut self, from: &Spot, edge: EdgeId, calls: Vec<EdgeId>, loc: LocId) -> To {
        let (role, mode) = self.after(from, edge);
        if self.table.task.target.has_loc(loc) {
            return To::Error(loc);
        }
        if let Some(place) = self.table.place(role, &calls, loc) {
            return To::Place(place);
        }
        match mode {
            Some(_) if self.table.watches(loc) => To::Unlisted,
            Some(mode) => To::Inner(self.number(Spot { mode, calls, loc })),
            None => To::Unlisted,
        }
    }

    fn number(&mut self, spot: Spot) -> usize {
        let next = self.spots.len();
        let number = *self.numbers.entry(spot.clone()).or_insert(next);
        if number == next {
            self.spots.push(spot);
        }
        number
    }

    /// Who the thread is after a step along an edge, and what it may then do without being seen.
    fn after(&self, spot: &Spot, edge: EdgeId) -> (Role, Option<Mode>) {
        let Some(entry) = self.entry else { return (Role::Prelude, Some(Mode::Prelude)) };
        match (&self.table.task.program.edges[edge].op, spot.mode) {
            (Op::AtomicBegin, _) => (Role::Holder(entry), Some(Mode::Held)),
            (Op::AtomicEnd, _) => (Role::Free(entry), None),
            (_, Mode::Held) => (Role::Holder(entry), Some(Mode::Held)),
            (op, _) => {
                let quiet = is_invisible(self.table.task.program, &self.table.visibility, op, &spot.calls);
                (Role::Free(entry), quiet.then_some(Mode::Quiet))
            }
        }
    }

    /// Whether a step starts a thread where threads must not meet: then others may be there already, and they must be
    /// looked at before the macro step goes on, as it may never end.
    fn begins_watched(&self, op: &Op) -> bool {
        match op {
            Op::Spawn(spawn) => self.table.watches(self.table.task.program.procs[spawn.callee].entry),
            Op::Fork(at) => self.table.watches(*at),
            _ => false,
        }
    }

    /// Where a thread begins that a step starts.
    fn child(&self, spot: &Spot, op: &Op) -> Result<Option<To>, Refused> {
        let (calls, loc): (&[EdgeId], LocId) = match op {
            Op::Spawn(spawn) => (&[], self.table.task.program.procs[spawn.callee].entry),
            Op::Fork(at) => (&spot.calls, *at),
            _ => return Ok(None),
        };
        let Some(entry) = self.entry else {
            return Err(Flaw::OutOfScope("a thread may start before the initial ones").into());
        };
        if self.table.task.target.has_loc(loc) {
            return Ok(Some(To::Error(loc)));
        }
        Ok(Some(self.table.place(Role::Free(entry), calls, loc).map_or(To::Unlisted, To::Place)))
    }

    fn on_stack(&self, spot: &Spot, callee: ProcId) -> bool {
        let program = self.table.task.program;
        let proc = |loc: LocId| program.locs[loc].proc;
        proc(spot.loc) == callee || spot.calls.iter().any(|call| proc(program.edges[*call].from) == callee)
    }
}

/// Whether a step of a thread with these calls is invisible. A call and a return to a caller are if they read and write
/// nothing shown, and the frame that comes or goes has no shown variable, so that nobody asks whether the thread has it.
/// A value that the caller discards is not read.
pub(in super::super) fn is_invisible(program: &Program, visibility: &Visibility, op: &Op, calls: &[EdgeId]) -> bool {
    let hidden_frame = |proc: ProcId| !program.procs[proc].locals.iter().any(|local| visibility.is_shown(*local));
    let reads_hidden = |exprs: &[Expr]| !exprs.iter().any(|expr| visibility.reads_shown(expr));
    match (op, calls.last().map(|call| &program.edges[*call].op)) {
        (Op::Call(call), _) => hidden_frame(call.callee) && reads_hidden(&call.args),
        (Op::Return(values), Some(Op::Call(call))) => {
            let mut taken = values.iter().zip(&call.results).filter_map(|(value, var)| Some((value, (*var)?)));
            let is_hidden = |(value, var): (&Expr, VarId)| !visibility.is_shown(var) && !visibility.reads_shown(value);
            hidden_frame(call.callee) && taken.all(is_hidden)
        }
        _ => visibility.is_invisible_op(op),
    }
}

//! The steps that one thread can make from a visible point to the next, independent of the other threads.
//!
//! *Order of work.* Depth first through the steps of a block (see [`super::visible_points`]), over explicit values,
//! each point of the way once. A block depends on the shared valuation, the thread's state, whether it holds the atomic
//! flag, and, if it starts threads, on the number of threads that may start; so it is computed once for each of these
//! and kept.
//!
//! *End.* Each cycle of steps contains a visible point. *Right.* All steps are tried ([`crate::step::explicit`]);
//! values that are not read any more are forgotten at the end.
//!
//! - `between`: the states of a thread inside of blocks.
//! - `footprint`: the variables that a block concerns.
//! - `parts`: shared valuations and thread states, identified by numbers.
//! - `model`: the data that does not change during a search.
//! - `passive`: the effect of such a step on other threads.
//! - `start`: the parts of initial states.

pub mod between;
pub mod footprint;
pub mod model;
pub mod parts;
pub mod passive;
pub mod start;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::{Run, Stop};
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{EdgeId, LocId, Op, Target};

use parts::{Kind, Local, LocalId, Parts, SharedId};
use passive::Partner;

use crate::step::explicit::values::{Bits, Tri};
use crate::step::explicit::{Outcome, Values, View, known};

pub use crate::step::explicit::values;
pub use model::Model;

/// A point inside a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BlockPoint {
    shared: Bits,
    local: Local,
    holds: bool,
    /// The number of threads that may still start.
    room: u32,
    /// The threads that were started, in order.
    born: Vec<LocalId>,
}

impl BlockPoint {
    fn view(&self) -> View<'_> {
        View { shared: &self.shared, locals: &self.local.bits }
    }
}

/// One end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    pub shared: SharedId,
    /// The thread; `None` if it has ended.
    pub me: Option<LocalId>,
    pub holds: bool,
    pub born: Vec<LocalId>,
    /// The moving thread's part of a last step in which other threads take part.
    pub partner: Option<Rc<Partner>>,
    /// The last step, as its index in `steps` plus one.
    pub last: u32,
}

/// An error on the way of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Error {
    /// The assertion fails.
    Fails(EdgeId),
    /// A thread reaches the location.
    Reaches(LocId),
    /// The meeting of the target with this number takes place.
    Meets(usize),
}

impl Error {
    /// Returns whether the error belongs to a target.
    pub fn is_in(self, target: &Target) -> bool {
        match self {
            Error::Fails(edge) => target.has_assert(edge),
            Error::Reaches(loc) => target.has_loc(loc),
            Error::Meets(_) => true,
        }
    }
}

/// One step of a block.
#[derive(Clone, Debug)]
pub struct Move {
    pub edge: EdgeId,
    /// The draws of the step.
    drawn: Vec<bool>,
    /// The step before it, as its index plus one.
    before: u32,
    /// The error that the step reaches.
    pub error: Option<Error>,
}

impl Move {
    /// Returns the step of a thread, without the threads that take part in it.
    pub fn concrete(&self, model: &Model<'_>, thread: ThreadId) -> Step {
        let (choices, fresh) = model.steps.draws(self.edge).split(&self.drawn);
        let (choices, fresh) = (start::values(&choices), start::fresh(&fresh));
        Step { thread, edge: self.edge, choices, passive: Vec::new(), fresh, body: None }
    }
}

/// All ways of one thread from a visible point to the next.
#[derive(Debug, Default)]
pub struct Block {
    pub outs: Vec<Out>,
    /// The errors on the way, each with the index of its last step plus one.
    pub errors: Vec<(Error, u32)>,
    /// The assertions that are reached.
    pub asserts: Vec<EdgeId>,
    steps: Vec<Move>,
    /// True if the result depends on the number of threads that may start.
    counts_room: bool,
}

impl Block {
    /// Returns the steps up to an index, in order.
    pub fn path(&self, mut last: u32) -> Vec<&Move> {
        let mut path = Vec::new();
        while let Some(at) = last.checked_sub(1) {
            let step = &self.steps[at as usize];
            path.push(step);
            last = step.before;
        }
        path.reverse();
        path
    }
}

/// The start of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct From {
    pub shared: SharedId,
    pub local: LocalId,
    pub holds: bool,
}

/// The blocks computed so far.
#[derive(Default)]
pub struct Blocks {
    /// The blocks by their start, and by the number of threads that may start where that matters.
    known: FxHashMap<(From, Option<u32>), Rc<Block>>,
}

impl Blocks {
    pub fn get(
        &mut self,
        model: &Model<'_>,
        parts: &mut Parts,
        from: From,
        room: u32,
        run: &Run<'_>,
    ) -> Result<Rc<Block>, Stop> {
        if let Some(block) = self.known.get(&(from, None)).or_else(|| self.known.get(&(from, Some(room)))) {
            return Ok(Rc::clone(block));
        }
        let block = Rc::new(compute(model, parts, from, room, run)?);
        let key = block.counts_room.then_some(room);
        self.known.insert((from, key), Rc::clone(&block));
        Ok(block)
    }
}

/// Computes the block of a thread; `room` more threads may start.
pub fn compute(model: &Model<'_>, parts: &mut Parts, from: From, room: u32, run: &Run<'_>) -> Result<Block, Stop> {
    let start = BlockPoint {
        shared: parts.shared[from.shared as usize].clone(),
        local: parts.locals[from.local as usize].clone(),
        holds: from.holds,
        room,
        born: Vec::new(),
    };
    let mut walk = BlockSearch {
        model,
        parts,
        run,
        block: Block::default(),
        seen: FxHashSet::default(),
        waiting: vec![(start, 0)],
    };
    while let Some((point, before)) = walk.waiting.pop() {
        for edge in model.flow.out(point.local.loc) {
            run.tick()?;
            walk.step(&point, before, *edge)?;
        }
    }
    let mut block = walk.block;
    block.asserts.sort_unstable();
    block.asserts.dedup();
    Ok(block)
}

/// A block being computed.
struct BlockSearch<'w, 'p> {
    model: &'w Model<'p>,
    parts: &'w mut Parts,
    run: &'w Run<'w>,
    block: Block,
    /// The points that were found, visible points included.
    seen: FxHashSet<(BlockPoint, Option<Rc<Partner>>)>,
    /// The points from which the block goes on, each with the index of the step to it plus one.
    waiting: Vec<(BlockPoint, u32)>,
}

impl BlockSearch<'_, '_> {
    fn step(&mut self, point: &BlockPoint, before: u32, id: EdgeId) -> Result<(), Stop> {
        let (model, run) = (self.model, self.run);
        let edge = &model.program().edges[id];
        if edge.to == model.program().procs[model.program().locs[edge.from].proc].exit {
            self.end(point, before, id);
            return Ok(());
        }
        let may_start = point.room > 0;
        let (mut passed, mut failed) = (false, false);
        model.steps.steps(id, point.view(), may_start, run, &mut |drawn, outcome| match outcome {
            // Of an assertion's choices, one that fails and one that passes suffice.
            Outcome::Passes if std::mem::replace(&mut passed, true) => {}
            Outcome::Fails if std::mem::replace(&mut failed, true) => {}
            outcome => self.take(point, before, id, drawn, outcome),
        })
    }

    /// Handles a step with an outcome.
    fn take(&mut self, point: &BlockPoint, before: u32, id: EdgeId, drawn: &[Tri], outcome: Outcome<'_>) {
        let last = self.record(before, id, drawn);
        let mut next = point.clone();
        next.local.loc = self.model.program().edges[id].to;
        let mut partner = None;
        match outcome {
            Outcome::Next(Values { shared, locals }) => {
                (next.shared, next.local.bits) = (shared, locals);
                partner = self.partner(point, id, drawn, &next);
            }
            Outcome::Passes => self.block.asserts.push(id),
            Outcome::Fails => {
                self.block.asserts.push(id);
                return self.error(Error::Fails(id), last);
            }
            Outcome::Holds(holds) => next.holds = holds,
            Outcome::Starts(child) => {
                self.block.counts_room = true;
                if let Some((loc, bits)) = child {
                    self.add_started(&mut next, Local { kind: point.local.kind, loc, bits }, last);
                }
            }
            Outcome::Returns(_) | Outcome::Ends => unreachable!("such steps lead to the exit"),
            Outcome::Calls(..) => unreachable!("the engine supports programs without calls only"),
        }
        self.arrive(next, last, partner);
    }

    /// Handles the end of the thread. Nothing reads what it returns.
    fn end(&mut self, point: &BlockPoint, before: u32, id: EdgeId) {
        let last = self.record(before, id, &[]);
        let shared = self.shared(point.shared.clone());
        let out = Out { shared, me: None, holds: false, born: point.born.clone(), partner: None, last };
        if !self.block.outs.iter().any(|other| same(other, &out)) {
            self.block.outs.push(out);
        }
    }

    /// Returns the moving thread's part of an assignment in which other threads take part.
    fn partner(&self, old: &BlockPoint, edge: EdgeId, drawn: &[Tri], new: &BlockPoint) -> Option<Rc<Partner>> {
        let Op::Assign(assign) = &self.model.program().edges[edge].op else { return None };
        let parts = |point: &BlockPoint| (point.shared.clone(), point.local.bits.clone());
        assign.is_passive().then(|| Rc::new(Partner { edge, choices: known(drawn), old: parts(old), new: parts(new) }))
    }

    fn record(&mut self, before: u32, edge: EdgeId, drawn: &[Tri]) -> u32 {
        self.block.steps.push(Move { edge, drawn: known(drawn), before, error: None });
        self.block.steps.len() as u32
    }

    fn shared(&mut self, mut shared: Bits) -> SharedId {
        self.model.forget_shared(&mut shared);
        self.parts.shared(shared)
    }

    fn error(&mut self, error: Error, last: u32) {
        self.block.steps[last as usize - 1].error = Some(error);
        if !self.block.errors.iter().any(|(known, _)| *known == error) {
            self.block.errors.push((error, last));
        }
    }

    /// Adds a new thread to those that the block starts.
    fn add_started(&mut self, next: &mut BlockPoint, mut child: Local, last: u32) {
        if self.model.task.target.has_loc(child.loc) {
            self.error(Error::Reaches(child.loc), last);
        }
        self.model.forget(&mut child);
        next.born.push(self.parts.local(child));
        next.room -= 1;
    }

    /// Handles a point that the thread reaches: an error, the end of the block, or a place from which it goes on. After
    /// a step in which other threads take part, the search itself looks for errors, since it knows whether they allow
    /// the step.
    fn arrive(&mut self, mut point: BlockPoint, last: u32, partner: Option<Rc<Partner>>) {
        let loc = point.local.loc;
        if partner.is_none() && self.model.task.target.has_loc(loc) {
            self.error(Error::Reaches(loc), last);
        }
        self.model.forget(&mut point.local);
        if !self.seen.insert((point.clone(), partner.clone())) {
            return;
        }
        let alone = point.holds || point.local.kind == Kind::Prelude;
        let visible_points = &self.model.visible_points;
        if partner.is_none() && !(if alone { visible_points.is_stop_alone(loc) } else { visible_points.is_stop(loc) }) {
            self.waiting.push((point, last));
            return;
        }
        let shared = self.shared(point.shared);
        let me = Some(self.parts.local(point.local));
        self.block.outs.push(Out { shared, me, holds: point.holds, born: point.born, partner, last });
    }
}

/// Returns whether two ends of a block are the same, however they are reached.
fn same(left: &Out, right: &Out) -> bool {
    (left.shared, left.me, left.holds) == (right.shared, right.me, right.holds)
        && left.born == right.born
        && left.partner == right.partner
}

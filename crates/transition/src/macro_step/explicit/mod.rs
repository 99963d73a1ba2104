//! The steps that one thread can make from a visible point to the next, independent of the other threads.
//!
//! *Order of work.* Depth first through the steps of a block (see [`super::visible_points`]), over explicit values,
//! each point of the way once. A block depends on the shared valuation, the thread's state, whether it holds the atomic
//! flag, and, if it starts threads, on the number of threads that may start; so it is computed once for each of these
//! and kept.
//!
//! *End.* Each cycle of steps contains a visible point. *Right.* All steps of the interpreter are tried, with all
//! choices; values that are not read any more are forgotten at the end.
//!
//! - `values`: packed valuations, expressions over them.
//! - `parts`: shared valuations and thread states, identified by numbers.
//! - `model`: the data that does not change during a search.
//! - `passive`: the effect of such a step on other threads.
//! - `start`: the parts of initial states.

pub mod model;
pub mod parts;
pub mod passive;
pub mod start;
pub mod values;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::{Run, Stop};
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{Assign, EdgeId, Expr, LocId, Op, ProcId, Target, VarId};

pub use model::Model;
use parts::{Kind, Local, LocalId, Parts, SharedId};
use passive::Partner;
use values::{Bits, Tri, choices_of, eval, for_each_choice, get, set, zeros};

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
    pub choices: Vec<bool>,
    pub fresh: Vec<(VarId, bool)>,
    /// The step before it, as its index plus one.
    before: u32,
    /// The error that the step reaches.
    pub error: Option<Error>,
}

impl Move {
    /// Returns the step of a thread, without the threads that take part in it.
    pub fn concrete(&self, model: &Model<'_>, thread: ThreadId) -> Step {
        let mut choices = self.choices.clone();
        choices.resize(model.program().edges[self.edge].op.choices().len(), false);
        Step {
            thread,
            edge: self.edge,
            choices: start::values(&choices),
            passive: Vec::new(),
            fresh: start::fresh(&self.fresh),
            body: None,
        }
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
        let edge = &self.model.program().edges[id];
        let go = |point: &BlockPoint| {
            let mut next = point.clone();
            next.local.loc = edge.to;
            next
        };
        match &edge.op {
            Op::Assign(assign) => self.assign(point, before, id, assign)?,
            Op::Assert(condition) => self.assert(point, before, id, condition),
            Op::Return(_) | Op::End => {
                let last = self.record(before, id, &[], Vec::new());
                let shared = self.shared(point.shared.clone());
                let out = Out { shared, me: None, holds: false, born: point.born.clone(), partner: None, last };
                if !self.block.outs.iter().any(|other| same(other, &out)) {
                    self.block.outs.push(out);
                }
            }
            Op::Spawn(spawn) => self.spawn(point, before, id, spawn.callee, &spawn.args)?,
            Op::Fork(at) => {
                let mut next = go(point);
                self.block.counts_room = true;
                let last = self.record(before, id, &[], Vec::new());
                if point.room > 0 {
                    let child = Local { loc: *at, ..point.local.clone() };
                    self.add_started(&mut next, child, last);
                }
                self.arrive(next, last, None);
            }
            Op::AtomicBegin => {
                let last = self.record(before, id, &[], Vec::new());
                self.arrive(BlockPoint { holds: true, ..go(point) }, last, None);
            }
            Op::AtomicEnd => {
                let last = self.record(before, id, &[], Vec::new());
                self.arrive(BlockPoint { holds: false, ..go(point) }, last, None);
            }
            Op::Call(_) => unreachable!("the engine supports programs without calls only"),
        }
        Ok(())
    }

    fn record(&mut self, before: u32, edge: EdgeId, choices: &[Tri], fresh: Vec<(VarId, bool)>) -> u32 {
        let choices = choices.iter().map(|choice| *choice == Tri::True).collect();
        self.block.steps.push(Move { edge, choices, fresh, before, error: None });
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

    fn assert(&mut self, point: &BlockPoint, before: u32, id: EdgeId, condition: &Expr) {
        self.block.asserts.push(id);
        let value = |choices: &[Tri]| eval(condition, &|leaf| self.leaf(point, choices, leaf));
        let mut choices = vec![Tri::Open; n_choices([condition])];
        let used = choices_of([condition].into_iter());
        let (mut fails, mut passes) = (None, None);
        for_each_choice(&used, &mut choices, &mut |_| true, &mut |choices| match value(choices) {
            Tri::True => passes = passes.take().or_else(|| Some(choices.to_vec())),
            Tri::False | Tri::Open => fails = fails.take().or_else(|| Some(choices.to_vec())),
        });
        if let Some(choices) = fails {
            let last = self.record(before, id, &choices, Vec::new());
            self.error(Error::Fails(id), last);
        }
        if let Some(choices) = passes {
            let last = self.record(before, id, &choices, Vec::new());
            let mut next = point.clone();
            next.local.loc = self.model.program().edges[id].to;
            self.arrive(next, last, None);
        }
    }

    /// Returns the value of a leaf before the step.
    fn leaf(&self, point: &BlockPoint, choices: &[Tri], leaf: &Expr) -> Tri {
        match leaf {
            Expr::Var(var) => Tri::known(self.model.layout.read(&point.shared, &point.local.bits, *var)),
            Expr::Choice(number, _) => choices[*number as usize],
            _ => unreachable!("the validator allows other leaves in constraints only"),
        }
    }

    fn assign(&mut self, point: &BlockPoint, before: u32, id: EdgeId, assign: &Assign) -> Result<(), Stop> {
        if self.is_blocked(point, assign) {
            return Ok(());
        }
        let to = self.model.program().edges[id].to;
        let needed: Vec<&(VarId, Expr)> =
            assign.active.iter().filter(|(var, rhs)| self.is_needed(to, assign, *var, rhs)).collect();
        let is_passive = assign.constrain.is_passive();
        let own = (!is_passive).then_some(&assign.constrain);
        let per_thread = if assign.is_passive() { assign.per_thread_choices() } else { Vec::new() };
        let mut used = choices_of(needed.iter().map(|(_, rhs)| rhs).chain(own));
        used.retain(|number| !per_thread.get(*number as usize).copied().unwrap_or(false));
        let mut choices = vec![Tri::Open; assign.choices().len()];
        let mut ways: Vec<Vec<Tri>> = Vec::new();
        let (this, run) = (&*self, self.run);
        let mut stopped = None;
        let may = &mut |choices: &[Tri]| {
            stopped = stopped.or_else(|| run.tick().err());
            stopped.is_none() && this.constraint(point, choices, assign, own) != Tri::False
        };
        for_each_choice(&used, &mut choices, may, &mut |choices| ways.push(choices.to_vec()));
        if let Some(stop) = stopped {
            return Err(stop);
        }
        for choices in ways {
            let next = self.assigned(point, to, &choices, &needed);
            let last = self.record(before, id, &choices, Vec::new());
            let partner = assign.is_passive().then(|| {
                Rc::new(Partner {
                    edge: id,
                    choices: choices.iter().map(|choice| *choice == Tri::True).collect(),
                    old: (point.shared.clone(), point.local.bits.clone()),
                    new: (next.shared.clone(), next.local.bits.clone()),
                })
            });
            self.arrive(next, last, partner);
        }
        Ok(())
    }

    /// Returns whether the constraint is false for all choices: the known values rule out most edges of a location.
    fn is_blocked(&self, point: &BlockPoint, assign: &Assign) -> bool {
        let early = |leaf: &Expr| match leaf {
            Expr::Var(var) => Tri::known(self.model.layout.read(&point.shared, &point.local.bits, *var)),
            _ => Tri::Open,
        };
        eval(&assign.constrain, &early) == Tri::False && !assign.constrain.is_passive()
    }

    /// Returns whether an assignment to a variable can make a difference.
    fn is_needed(&self, to: LocId, assign: &Assign, var: VarId, rhs: &Expr) -> bool {
        let model = self.model;
        let matters = if model.layout.is_shared(var) {
            get(&model.live_shared, model.layout.place(var))
        } else {
            model.is_live(to, var)
        };
        matters || assign.constrains_next(var) || assign.binds_choices(rhs)
    }

    /// Evaluates the constraint, as far as it does not mention other threads.
    fn constraint(&self, point: &BlockPoint, choices: &[Tri], assign: &Assign, own: Option<&Expr>) -> Tri {
        let Some(own) = own else { return Tri::True };
        eval(own, &|leaf| match leaf {
            Expr::Next(var) => match assign.active.iter().find(|(assigned, _)| assigned == var) {
                Some((_, rhs)) => eval(rhs, &|leaf| self.leaf(point, choices, leaf)),
                None => Tri::known(self.model.layout.read(&point.shared, &point.local.bits, *var)),
            },
            leaf => self.leaf(point, choices, leaf),
        })
    }

    fn assigned(&self, point: &BlockPoint, to: LocId, choices: &[Tri], needed: &[&(VarId, Expr)]) -> BlockPoint {
        let layout = &self.model.layout;
        let mut next = point.clone();
        next.local.loc = to;
        for (var, rhs) in needed {
            let value = eval(rhs, &|leaf| self.leaf(point, choices, leaf)) == Tri::True;
            let bits = if layout.is_shared(*var) { &mut next.shared } else { &mut next.local.bits };
            set(bits, layout.place(*var), value);
        }
        next
    }

    fn spawn(
        &mut self,
        point: &BlockPoint,
        before: u32,
        id: EdgeId,
        callee: ProcId,
        args: &[Expr],
    ) -> Result<(), Stop> {
        self.block.counts_room = true;
        let model = self.model;
        let mut next = point.clone();
        next.local.loc = model.program().edges[id].to;
        if point.room == 0 {
            let last = self.record(before, id, &vec![Tri::False; n_choices(args)], Vec::new());
            self.arrive(next, last, None);
            return Ok(());
        }
        let open = model.open_locals(callee);
        let n_choices = n_choices(args);
        let used: Vec<u32> =
            choices_of(args.iter()).into_iter().chain((0..open.len() as u32).map(|at| at + n_choices as u32)).collect();
        let mut choices = vec![Tri::Open; n_choices + open.len()];
        let mut ways: Vec<Vec<Tri>> = Vec::new();
        for_each_choice(&used, &mut choices, &mut |_| true, &mut |choices| ways.push(choices.to_vec()));
        for choices in ways {
            self.run.tick()?;
            let (of_args, of_open) = choices.split_at(n_choices);
            let child = self.child(point, callee, args, of_args, &open, of_open);
            let fresh = open.iter().zip(of_open).map(|(var, value)| (*var, *value == Tri::True)).collect();
            let last = self.record(before, id, of_args, fresh);
            let mut next = next.clone();
            self.add_started(&mut next, child, last);
            self.arrive(next, last, None);
        }
        Ok(())
    }

    fn child(
        &self,
        point: &BlockPoint,
        callee: ProcId,
        args: &[Expr],
        of_args: &[Tri],
        open: &[VarId],
        of_open: &[Tri],
    ) -> Local {
        let layout = &self.model.layout;
        let callee = &self.model.program().procs[callee];
        let mut bits = zeros(layout.n_locals);
        for var in &layout.per_thread {
            set(&mut bits, layout.place(*var), get(&point.local.bits, layout.place(*var)));
        }
        for (param, arg) in callee.params.iter().zip(args) {
            let value = eval(arg, &|leaf| self.leaf(point, of_args, leaf));
            set(&mut bits, layout.place(*param), value == Tri::True);
        }
        for (var, value) in open.iter().zip(of_open) {
            set(&mut bits, layout.place(*var), *value == Tri::True);
        }
        Local { kind: point.local.kind, loc: callee.entry, bits }
    }
}

fn n_choices<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> usize {
    choices_of(exprs.into_iter()).last().map_or(0, |last| *last as usize + 1)
}

/// Returns whether two ends of a block are the same, however they are reached.
fn same(left: &Out, right: &Out) -> bool {
    (left.shared, left.me, left.holds) == (right.shared, right.me, right.holds)
        && left.born == right.born
        && left.partner == right.partner
}

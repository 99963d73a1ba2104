//! Steps of the model: the paths of a thread from one location where others may run to the next.
//!
//! *Order of work.* From a location all paths are followed edge by edge. A path carries a guard and the values that it
//! gives to variables, both over the state in which it began; so in the end it is one guarded parallel assignment,
//! whatever its length. Choices are made while it is followed, one copy of the path for each distinct outcome.
//!
//! A path goes on after an edge if no other thread can tell whether it stops there: the thread holds the atomic flag,
//! or the edge touches nothing that is shared. It ends at a location that it has visited, and if it or the number of
//! paths would exceed a limit; so it always ends. A path that was cut inside an atomic section takes the flag in the
//! model, too; without such paths, the model has no flag.
//!
//! *Correctness.* Steps of an atomic section follow one another in the program, too. If one of them blocks, no thread
//! ever moves again, so no error is lost with the path. A step that touches nothing shared can be delayed until the
//! thread's next step, or forever. An error ends the path with a move that fails.

use std::collections::BTreeMap;

use selvedge_ir::simplify::{and, not, simplify, size, substitute};
use selvedge_ir::{Assign, Edge, EdgeId, Expr, LocId, Op, ProcId, Scope, VarId};

use super::Model;
use super::held::Held;

/// Limits on the number of moves from one location, and on the size of one path.
const MOST_MOVES: usize = 64;
const MOST_SIZE: usize = 300;

/// Steps with more choices than this are not expanded if they can be chosen one variable at a time.
const FEW_CHOICES: usize = 4;

/// Steps with more choices than this are rejected if they must be expanded.
const MOST_CHOICES: usize = 12;

/// One transition of the model: a guard, what it assigns, both over the state before, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) guard: Expr,
    pub(super) updates: Vec<(VarId, Expr)>,
    /// Variables with a nondeterministic value: it can be false if the first condition holds, and true if the second
    /// one holds.
    pub(super) open: Vec<(VarId, Expr, Expr)>,
    pub(super) flag: Flag,
    pub(super) end: End,
}

/// The effect on the atomic flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Keep,
    Take,
    Release,
}

/// The continuation of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Goto(LocId),
    /// An error.
    Fail,
    /// The thread ends.
    Finish,
    /// A thread starts, if a slot is free.
    Start(Begin, LocId),
}

/// The start of a thread. Arguments are read after the updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    Fork(LocId),
    Proc(ProcId, Vec<Expr>),
}

impl End {
    /// Returns the first location of a thread that is started by this transition.
    pub(super) fn begin(&self, model: &Model<'_>) -> Option<LocId> {
        match self {
            End::Start(begin, _) => Some(begin.at(model)),
            End::Goto(_) | End::Fail | End::Finish => None,
        }
    }
}

impl Begin {
    /// Returns the first location of the thread.
    pub(super) fn at(&self, model: &Model<'_>) -> LocId {
        match self {
            Begin::Fork(at) => *at,
            Begin::Proc(callee, _) => model.program.procs[*callee].entry,
        }
    }
}

/// The beginning of a move.
#[derive(Clone)]
struct Path {
    loc: LocId,
    seen: Vec<LocId>,
    guard: Expr,
    values: BTreeMap<VarId, Expr>,
    open: Vec<(VarId, Expr, Expr)>,
    held: Held,
    flag: Flag,
}

/// The decision whether a path may go on after an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Stop,
}

/// Returns all moves from a location; an error describes a step that cannot be expressed.
pub(super) fn moves(model: &Model<'_>, from: LocId) -> Result<Vec<Move>, String> {
    let first = Path {
        loc: from,
        seen: vec![from],
        guard: Expr::TRUE,
        values: BTreeMap::new(),
        open: Vec::new(),
        held: model.held[from],
        flag: Flag::Keep,
    };
    let mut finder = Finder { model, from, done: Vec::new(), waiting: vec![first] };
    while let Some(path) = finder.waiting.pop() {
        finder.expand(&path)?;
    }
    finder.done.retain(|found| found.end != End::Goto(from) || found.changes());
    Ok(finder.done)
}

impl Move {
    fn changes(&self) -> bool {
        !self.updates.is_empty() || !self.open.is_empty() || self.flag != Flag::Keep
    }
}

struct Finder<'m, 'a> {
    model: &'m Model<'a>,
    from: LocId,
    done: Vec<Move>,
    waiting: Vec<Path>,
}

impl Finder<'_, '_> {
    fn expand(&mut self, path: &Path) -> Result<(), String> {
        let model = self.model;
        let out = model.flow.out(path.loc);
        let is_first = path.loc == self.from;
        let is_wide = |edge: &EdgeId| n_choices(&model.program.edges[*edge].op) > FEW_CHOICES;
        if !is_first && out.iter().any(is_wide) {
            self.finish(path.clone(), End::Goto(path.loc));
            return Ok(());
        }
        for id in out {
            let edge = &model.program.edges[*id];
            let path = &path.assume(path.value(edge.needs(), &[]));
            if path.guard == Expr::FALSE {
                continue;
            }
            match &edge.op {
                Op::Assign(assign) => self.assign(path, edge, assign)?,
                Op::Assert(condition) => self.assert(path, *id, condition)?,
                Op::AtomicBegin | Op::AtomicEnd => self.atomic(path, edge),
                Op::Return(_) | Op::End => self.finish(path.clone(), End::Finish),
                Op::Fork(at) => self.finish(path.clone(), End::Start(Begin::Fork(*at), edge.to)),
                Op::Spawn(spawn) => {
                    for choices in all_choices(n_choices(&edge.op))? {
                        let arg = |arg: &Expr| substitute(arg, &mut |leaf| chosen(leaf, &choices));
                        let args = spawn.args.iter().map(arg).collect();
                        self.finish(path.clone(), End::Start(Begin::Proc(spawn.callee, args), edge.to));
                    }
                }
                Op::Call(_) => return Err("a call that cannot be inlined".to_string()),
            }
        }
        Ok(())
    }

    fn assign(&mut self, path: &Path, edge: &Edge, assign: &Assign) -> Result<(), String> {
        let n_choices = n_choices(&edge.op);
        if n_choices > FEW_CHOICES
            && let Some(path) = wide(path, assign)
        {
            self.arrive(path, edge.to, Next::Stop);
            return Ok(());
        }
        let is_local = edge.op.exprs().all(|expr| !self.model.reads_shared(expr))
            && assign.active.iter().all(|(var, _)| self.model.program.vars[*var].scope != Scope::Shared);
        let next = if is_local || path.held == Held::Yes { Next::GoOn } else { Next::Stop };
        let mut found: Vec<Path> = Vec::new();
        for choices in all_choices(n_choices)? {
            let outcome = path.assign(assign, &choices);
            if outcome.guard != Expr::FALSE && !found.iter().any(|other| other.does_the_same(&outcome)) {
                found.push(outcome);
            }
        }
        found.into_iter().for_each(|path| self.arrive(path, edge.to, next));
        Ok(())
    }

    fn assert(&mut self, path: &Path, id: EdgeId, condition: &Expr) -> Result<(), String> {
        let edge = &self.model.program.edges[id];
        for choices in all_choices(n_choices(&edge.op))? {
            let holds = path.value(condition, &choices);
            if self.model.target.has_assert(id) {
                self.finish(path.assume(not(holds.clone())), End::Fail);
            }
            let next = if path.held == Held::Yes { Next::GoOn } else { Next::Stop };
            self.arrive(path.assume(holds), edge.to, next);
        }
        Ok(())
    }

    /// Takes or releases the flag. If a thread may or may not hold it, the model's flag decides.
    fn atomic(&mut self, path: &Path, edge: &Edge) {
        let begins = edge.op == Op::AtomicBegin;
        let mut after = path.clone();
        let next = match (path.held, begins) {
            (Held::No, false) if self.model.reads_shared(&edge.ensures) => Next::Stop,
            (Held::Yes, true) | (Held::No, false) => Next::GoOn,
            (Held::No, true) => {
                (after.held, after.flag) = (Held::Yes, Flag::Take);
                Next::GoOn
            }
            (Held::Yes, false) => {
                let taken_here = path.flag == Flag::Take && self.model.held[self.from] == Held::No;
                (after.held, after.flag) = (Held::No, if taken_here { Flag::Keep } else { Flag::Release });
                Next::Stop
            }
            (Held::Maybe, begins) => {
                (after.held, after.flag) = if begins { (Held::Yes, Flag::Take) } else { (Held::No, Flag::Release) };
                Next::Stop
            }
        };
        self.arrive(after, edge.to, next);
    }

    /// Continues or ends a path at a location.
    fn arrive(&mut self, mut path: Path, to: LocId, next: Next) {
        if path.guard == Expr::FALSE {
            return;
        }
        if self.model.target.has_loc(to) {
            return self.finish(path, End::Fail);
        }
        let is_full = self.done.len() + self.waiting.len() >= MOST_MOVES || path.size() >= MOST_SIZE;
        if next == Next::Stop || is_full || path.seen.contains(&to) || !path.open.is_empty() {
            return self.settle(path, to);
        }
        path.loc = to;
        path.seen.push(to);
        self.waiting.push(path);
    }

    /// Ends a path at a location, or after the steps there that touch nothing shared and never block.
    fn settle(&mut self, mut path: Path, mut to: LocId) {
        while let [only] = self.model.flow.out(to) {
            let edge = &self.model.program.edges[*only];
            let Op::Assign(assign) = &edge.op else { break };
            let is_local = assign.active.iter().all(|(var, rhs)| {
                self.model.program.vars[*var].scope != Scope::Shared && !self.model.reads_shared(rhs)
            });
            let is_certain = assign.constrain == Expr::TRUE && n_choices(&edge.op) == 0;
            let is_end = self.model.target.has_loc(edge.to) || path.seen.contains(&edge.to) || path.seen.contains(&to);
            if !is_local || !is_certain || is_end || !path.open.is_empty() || path.size() >= MOST_SIZE {
                break;
            }
            path = path.assign(assign, &[]);
            path.seen.push(to);
            to = edge.to;
        }
        let only = |op: &Op| matches!(op, Op::Return(_) | Op::End);
        let ends = self.model.flow.out(to).iter().all(|edge| only(&self.model.program.edges[*edge].op));
        // If no thread is started, the end of one is not observable.
        let is_over = ends && path.held == Held::No && !self.model.spawns();
        self.finish(path, if is_over { End::Finish } else { End::Goto(to) });
    }

    fn finish(&mut self, path: Path, end: End) {
        let end = match end {
            End::Start(_, to) if self.model.target.has_loc(to) => End::Fail,
            end => end,
        };
        let mut flag = path.flag;
        if end == End::Finish && flag != Flag::Release {
            let held_before = self.model.held[self.from] != Held::No;
            flag = if held_before && path.held != Held::No { Flag::Release } else { Flag::Keep };
        }
        let updates = path.values.into_iter().filter(|(var, value)| *value != Expr::Var(*var));
        let found = Move { guard: path.guard, updates: updates.collect(), open: path.open, flag, end };
        let found = self.model.forget(self.from, found);
        if found.guard != Expr::FALSE && !self.done.contains(&found) {
            self.done.push(found);
        }
    }
}

impl Path {
    /// Returns an expression of the state at the end of the path, over the state at its beginning.
    fn value(&self, expr: &Expr, choices: &[bool]) -> Expr {
        substitute(expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.values.get(var).cloned().unwrap_or(Expr::Var(*var)),
            leaf => chosen(leaf, choices),
        })
    }

    fn assume(&self, condition: Expr) -> Path {
        Path { guard: simplify(&and(self.guard.clone(), condition)), ..self.clone() }
    }

    fn assign(&self, assign: &Assign, choices: &[bool]) -> Path {
        let mut after = self.clone();
        for (var, rhs) in &assign.active {
            after.values.insert(*var, self.value(rhs, choices));
        }
        let holds = substitute(&assign.constrain, &mut |leaf| match leaf {
            Expr::Var(var) => self.values.get(var).cloned().unwrap_or(Expr::Var(*var)),
            Expr::Next(var) => after.values.get(var).cloned().unwrap_or(Expr::Var(*var)),
            leaf => chosen(leaf, choices),
        });
        after.guard = simplify(&and(after.guard, holds));
        after
    }

    fn does_the_same(&self, other: &Path) -> bool {
        self.guard == other.guard && self.values == other.values
    }

    fn size(&self) -> usize {
        size(&self.guard) + self.values.values().map(size).sum::<usize>()
    }
}

/// Returns a step with many choices, chosen one variable at a time: possible at the beginning of a path, if no two
/// variables and no condition have a choice in common.
fn wide(path: &Path, assign: &Assign) -> Option<Path> {
    let reads_ahead = assign.constrain.any_leaf(|leaf| matches!(leaf, Expr::Choice(..) | Expr::Next(_)));
    let mut seen = Vec::new();
    let mut after = path.clone();
    for (var, rhs) in &assign.active {
        let mut own = Vec::new();
        rhs.for_each_leaf(|leaf| own.extend(matches!(leaf, Expr::Choice(..)).then(|| leaf.clone())));
        own.dedup();
        if own.iter().any(|choice| seen.contains(choice)) || own.len() > FEW_CHOICES {
            return None;
        }
        if own.is_empty() {
            after.values.insert(*var, rhs.clone());
        } else {
            let (can_fail, can_hold) = outcomes(rhs, &own);
            after.open.push((*var, can_fail, can_hold));
        }
        seen.extend(own);
    }
    after.guard = simplify(&assign.constrain);
    (!reads_ahead && path.seen.len() == 1 && path.values.is_empty()).then_some(after)
}

/// Returns the conditions that an expression can be false, and that it can be true.
fn outcomes(expr: &Expr, choices: &[Expr]) -> (Expr, Expr) {
    let (mut can_fail, mut can_hold) = (Expr::FALSE, Expr::FALSE);
    for bits in 0..1_u32 << choices.len() {
        let value = substitute(expr, &mut |leaf| match choices.iter().position(|choice| choice == leaf) {
            Some(number) => Expr::Bool(bits >> number & 1 == 1),
            None => leaf.clone(),
        });
        can_fail = simplify(&Expr::or(can_fail, not(value.clone())));
        can_hold = simplify(&Expr::or(can_hold, value));
    }
    (can_fail, can_hold)
}

fn chosen(leaf: &Expr, choices: &[bool]) -> Expr {
    match leaf {
        Expr::Choice(number, _) => Expr::Bool(choices[*number as usize]),
        leaf => leaf.clone(),
    }
}

fn n_choices(op: &Op) -> usize {
    op.choices().len()
}

/// Returns all outcomes of a number of choices.
fn all_choices(number: usize) -> Result<impl Iterator<Item = Vec<bool>>, String> {
    if number > MOST_CHOICES {
        return Err(format!("a step with {number} dependent choices"));
    }
    Ok((0..1_u32 << number).map(move |bits| (0..number).map(|place| bits >> place & 1 == 1).collect()))
}

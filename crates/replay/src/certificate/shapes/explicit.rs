//! States one by one: proofs with few states, and proofs that name the first states only.
//!
//! The questions of [`super::walk`] are answered by a solver for each shape, whose threads may have any values. Here
//! all states of the shapes are listed first. A macro step depends on the values of the thread that moves, and on those
//! of the shared variables that the edges on its route mention; so its ends are found once for all states that agree on
//! these, on the same route ([`super::super::concrete`]), and other shared variables stay as they are. The rest is to
//! put each end into each state and to look the result up. With a solver for each shape, judging takes about ten times
//! as long where the shapes are many and have few states.
//!
//! Where a proof names the first states only ([`Seen::Reached`]), results that are not known are added, and looked at
//! in their turn: the set is closed when none waits. So no list of states has to be told, kept and compared.
//!
//! [`Seen::Reached`]: selvedge_check::Seen::Reached

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Role, Run, Seen, ShapeProof, ThreadScope};
use selvedge_ir::{EdgeId, Expr, Op, Program, Scope, VarId};
use smallvec::SmallVec;

use super::super::concrete::{Arrival, Explorer};
use super::super::{Flaw, Refused, Unjudged};
use super::Routes;
use super::table::Table;
use crate::program::{concerns_others, exprs, leaves};

/// The values of a list of variables, the first one in the highest place: ascending numbers are ascending rows.
type Bits = u128;

/// More values than this do not fit.
const MOST_BITS: usize = Bits::BITS as usize;

/// A thread at a place, by its number.
type ThreadId = u32;

/// The thread that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mover {
    thread: ThreadId,
    /// The shared variables that its macro steps concern; the others are 0.
    shared: Bits,
    /// The number of other threads that count for the bound.
    n_others: usize,
}

/// The end of a macro step.
struct End {
    edge: EdgeId,
    /// The threads that there are instead of the one that moved: itself, unless it has ended, and those that it has
    /// started.
    threads: SmallVec<[ThreadId; 2]>,
    /// True if the one that moved has ended.
    ends: bool,
    /// The shared variables that the macro step concerns; the others are 0.
    shared: Bits,
}

/// A state: the number of threads that have ended, the shared variables in four parts, and the threads in ascending
/// order.
type State = SmallVec<[u32; 16]>;

/// The number of parts before the threads.
const HEAD: usize = 5;

/// Proofs with more states than this are not listed.
const MOST_STATES: usize = 1 << 22;

/// With more states than this in each shape on average, solvers are faster.
const STATES_OF_A_SHAPE: usize = 512;

/// The number of cases that may be looked at for each state, on average, and for few states: macro steps with many
/// values that are open are for solvers.
const CASES_OF_A_STATE: usize = 16;
const CASES_IN_ALL: usize = 1 << 10;

/// The number of parts of a formula that may be looked at for each state.
const PARTS_OF_A_STATE: usize = 256;

/// Formulas that are deeper than this are not looked at.
const MOST_DEPTH: usize = 10_000;

pub(super) struct Explicit<'a> {
    table: &'a Table<'a>,
    run: &'a Run<'a>,
    /// The shared variables that formulas speak of.
    told: Vec<VarId>,
    states: Lists,
    /// The number of the first state of each shape, and of the first one that is in none.
    first: Vec<usize>,
    /// The threads of the states, with their places and values; and their numbers.
    threads: Vec<(u32, Bits)>,
    numbers: FxHashMap<(u32, Bits), ThreadId>,
    /// The shared variables that macro steps concern, for the places from which some were looked at.
    concerned: Vec<Option<Bits>>,
    ends: FxHashMap<Mover, Rc<[End]>>,
    /// The number of cases that may still be looked at, where solvers can do better.
    left: Option<Rc<Cell<usize>>>,
}

impl<'a> Explicit<'a> {
    /// Lists the states of a proof; `None` if there are too many of them, or if threads take part in the steps of
    /// others.
    pub(super) fn new(table: &'a Table<'a>, proof: &'a ShapeProof, run: &'a Run<'a>) -> Result<Option<Self>, Refused> {
        let program = table.task.program;
        let told = told(&proof.formulas);
        let are_shared = told.iter().all(|var| program.vars.get(*var).is_some_and(|var| var.scope == Scope::Shared));
        let widest = proof.places.iter().map(|place| place.vars.len()).max().unwrap_or(0).max(told.len());
        if !are_shared || widest > MOST_BITS || program.edges.iter().any(|edge| concerns_others(&edge.op)) {
            return Ok(None);
        }
        let concerned = vec![None; proof.places.len()];
        let (states, first, threads, numbers) = (Lists::default(), Vec::new(), Vec::new(), FxHashMap::default());
        let ends = FxHashMap::default();
        let mut explicit = Explicit { table, run, told, states, first, threads, numbers, concerned, ends, left: None };
        // Few shapes with many states are common: proofs of sets in which most values do not matter.
        let of_shapes = (proof.shapes.len() + 16) * STATES_OF_A_SHAPE;
        let most = if proof.seen == Seen::All { MOST_STATES.min(of_shapes) } else { MOST_STATES };
        for shape in &proof.shapes {
            run.tick()?;
            explicit.first.push(explicit.states.len());
            let columns = columns(table, &explicit.told, &shape.threads);
            let Some(rows) = rows(&proof.formulas, shape.formula, &columns, most - explicit.states.len()) else {
                return Ok(None);
            };
            rows.into_iter().for_each(|row| explicit.list(&shape.threads, shape.ended, row));
        }
        explicit.first.push(explicit.states.len());
        if proof.seen == Seen::All {
            explicit.left = Some(Rc::new(Cell::new(CASES_IN_ALL + explicit.states.len() * CASES_OF_A_STATE)));
        }
        Ok(Some(explicit))
    }

    /// Adds a state of a shape, unless threads at one place come in another than the ascending order of their values.
    fn list(&mut self, places: &[u32], ended: u32, mut row: Bits) {
        let mut threads: SmallVec<[(u32, Bits); 8]> = SmallVec::new();
        for place in places.iter().rev() {
            let width = self.width(*place);
            threads.push((*place, low(row, width)));
            row = row.checked_shr(width as u32).unwrap_or(0);
        }
        if threads.is_sorted_by(|after, before| before <= after) {
            let threads: SmallVec<[ThreadId; 8]> = threads.into_iter().map(|thread| self.thread(thread)).collect();
            let state = state(ended, row, threads);
            self.states.insert(&state);
        }
    }

    /// The number of a thread.
    fn thread(&mut self, thread: (u32, Bits)) -> ThreadId {
        *self.numbers.entry(thread).or_insert_with(|| {
            self.threads.push(thread);
            self.threads.len() as ThreadId - 1
        })
    }

    /// Returns whether all macro steps from the states of a shape, which is not the prelude's, lead to states of the
    /// set, without error.
    pub(super) fn shape(&mut self, number: usize, routes: &mut Routes<'_>) -> Result<(), Refused> {
        let states = self.first[number]..self.first[number + 1];
        let threads = &self.table.proof.shapes[number].threads;
        if let Some(loc) = self.table.places.error(threads).filter(|_| !states.is_empty()) {
            return Err(Flaw::Location(loc).into());
        }
        states.into_iter().try_for_each(|state| self.steps(state, routes))
    }

    /// Looks at the states to which macro steps have led, until there are no more. Steps to target locations were
    /// errors, but threads may have met.
    pub(super) fn grow(&mut self, routes: &mut Routes<'_>) -> Result<(), Refused> {
        let mut number = *self.first.last().expect("the end of the last shape is there");
        while number < self.states.len() {
            if !self.table.task.target.together.is_empty() {
                let threads = self.states.get(number)[HEAD..].iter();
                let places: Vec<u32> = threads.map(|thread| self.threads[*thread as usize].0).collect();
                self.table.places.error(&places).map_or(Ok(()), |loc| Err(Flaw::Location(loc)))?;
            }
            self.steps(number, routes)?;
            number += 1;
        }
        Ok(())
    }

    /// All macro steps from one state.
    fn steps(&mut self, number: usize, routes: &mut Routes<'_>) -> Result<(), Refused> {
        self.run.tick()?;
        let counts_ended = matches!(self.table.task.threads, ThreadScope::Created(_));
        let from = State::from_slice(self.states.get(number));
        let (ended, threads) = (from[0], &from[HEAD..]);
        let shared = from[1..HEAD].iter().fold(0, |shared, part| shared << u32::BITS | Bits::from(*part));
        let place = |thread: &ThreadId| self.threads[*thread as usize].0;
        let holder = threads.iter().position(|thread| self.table.places.is_holder(place(thread)));
        for mover in (0..threads.len()).filter(|mover| holder.is_none_or(|holder| holder == *mover)) {
            let thread = threads[mover];
            if mover > 0 && threads[mover - 1] == thread {
                continue;
            }
            let place = self.threads[thread as usize].0;
            let concerned = self.concerned(place, routes)?;
            let n_others = if routes.spawns(place) { threads.len() - 1 + ended as usize } else { 0 };
            let ends = self.ends(Mover { thread, shared: shared & concerned, n_others }, routes)?;
            for end in ends.iter() {
                let others = threads.iter().enumerate().filter(|(number, _)| *number != mover).map(|(_, other)| *other);
                let ended = ended.saturating_add(u32::from(counts_ended && end.ends));
                let after = state(ended, shared & !concerned | end.shared, others.chain(end.threads.iter().copied()));
                match self.table.proof.seen {
                    Seen::Reached => self.states.insert(&after),
                    _ if self.states.contains(&after) => {}
                    _ => return Err(Flaw::NotClosed(end.edge).into()),
                }
            }
        }
        if self.states.len() < u32::MAX as usize {
            Ok(())
        } else {
            Err(Unjudged::Beyond("it has too many states").into())
        }
    }

    /// The shared variables that the macro steps from a place concern: those that the edges on its route mention, or
    /// the calls that return there.
    fn concerned(&mut self, place: u32, routes: &mut Routes<'_>) -> Result<Bits, Refused> {
        if let Some(concerned) = self.concerned[place as usize] {
            return Ok(concerned);
        }
        routes.find([&place], self.run)?;
        let moves = routes.of(place).nodes.iter().flatten();
        let edges: BTreeSet<EdgeId> = moves.flat_map(|step| [step.edge].into_iter().chain(step.caller)).collect();
        let program = self.table.task.program;
        let vars: BTreeSet<VarId> = edges.into_iter().flat_map(|edge| mentioned(program, edge)).collect();
        let concerned = bits(self.told.iter().map(|var| vars.contains(var)));
        self.concerned[place as usize] = Some(concerned);
        Ok(concerned)
    }

    /// The ends of the macro steps of a thread, which are found once.
    fn ends(&mut self, mover: Mover, routes: &mut Routes<'_>) -> Result<Rc<[End]>, Refused> {
        if let Some(ends) = self.ends.get(&mover) {
            return Ok(Rc::clone(ends));
        }
        let ends: Rc<[End]> = self.ends_of(mover, routes)?.into();
        self.ends.insert(mover, Rc::clone(&ends));
        Ok(ends)
    }

    /// All ends of the macro steps of a thread, or an error on the way.
    fn ends_of(&mut self, mover: Mover, routes: &mut Routes<'_>) -> Result<Vec<End>, Refused> {
        let (place, own) = self.threads[mover.thread as usize];
        let is_concerned = values(self.concerned(place, routes)?, self.told.len());
        let told = || self.told.iter().copied().zip(&is_concerned);
        let concerned: Vec<VarId> = told().filter(|(_, is)| **is).map(|(var, _)| var).collect();
        let mut explorer = Explorer::new(&self.table.places, &concerned);
        explorer.hidden = told().filter(|(_, is)| !**is).map(|(var, _)| var).collect();
        if let Some(left) = &self.left {
            explorer.left = Rc::clone(left);
        }
        if let ThreadScope::AtMost(bound) | ThreadScope::Created(bound) = self.table.task.threads {
            explorer.room = (bound as usize).saturating_sub(mover.n_others + 1);
        }
        let shared = values(mover.shared, self.told.len()).into_iter().zip(&is_concerned);
        let shared: Vec<bool> = shared.filter(|(_, is)| **is).map(|(value, _)| value).collect();
        let now = explorer.values(&shared, place, &values(own, self.width(place)));
        let mut ends = Vec::new();
        for (edge, arrival) in explorer.explore(routes.of(place), now, self.run)? {
            ends.push(match arrival {
                Arrival::Rule { shared, own, new } => {
                    let mut shared = shared.into_iter();
                    let shared = bits(is_concerned.iter().map(|is| *is && shared.next() == Some(true)));
                    let threads = own.iter().chain(&new).map(|(place, own)| (*place, bits(own.iter().copied())));
                    let threads = threads.map(|thread| self.thread(thread)).collect();
                    End { edge, threads, ends: own.is_none(), shared }
                }
                Arrival::Error(flaw) => return Err(flaw.into()),
                Arrival::Start(_) => unreachable!("only the prelude's end starts threads, and it is not followed here"),
            });
        }
        Ok(ends)
    }

    fn width(&self, place: u32) -> usize {
        self.table.places.at(place).vars.len()
    }
}

fn state(ended: u32, shared: Bits, threads: impl IntoIterator<Item = ThreadId>) -> State {
    let parts = (0..HEAD as u32 - 1).rev().map(|part| (shared >> (part * u32::BITS)) as u32);
    let mut state: State = [ended].into_iter().chain(parts).chain(threads).collect();
    state[HEAD..].sort_unstable();
    state
}

/// Lists of numbers, each stored once.
#[derive(Default)]
struct Lists {
    /// The lists one after the other, and where each ends.
    numbers: Vec<u32>,
    ends: Vec<usize>,
    /// The number of a list plus one, at or behind the place that its hash says; 0 is free. Half are free at least.
    places: Vec<u32>,
}

impl Lists {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, list: usize) -> &[u32] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start..self.ends[list]]
    }

    /// The place of a list, or a free one where it can be put.
    fn place(&self, list: &[u32]) -> usize {
        let mut place = FxBuildHasher.hash_one(list) as usize & (self.places.len() - 1);
        while self.places[place] != 0 && self.get(self.places[place] as usize - 1) != list {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    fn contains(&self, list: &[u32]) -> bool {
        !self.places.is_empty() && self.places[self.place(list)] != 0
    }

    fn insert(&mut self, list: &[u32]) {
        if self.len() * 2 >= self.places.len() {
            self.places = vec![0; (self.places.len() * 2).max(64)];
            for number in 0..self.len() {
                let place = self.place(self.get(number));
                self.places[place] = number as u32 + 1;
            }
        }
        let place = self.place(list);
        if self.places[place] == 0 {
            self.numbers.extend_from_slice(list);
            self.ends.push(self.numbers.len());
            self.places[place] = self.len() as u32;
        }
    }
}

/// The variables that a step along an edge, or the return to it, may read or write.
fn mentioned(program: &Program, edge: EdgeId) -> Vec<VarId> {
    let edge = &program.edges[edge];
    let mut vars: Vec<VarId> = match &edge.op {
        Op::Assign(assign) => assign.active.iter().map(|(var, _)| *var).collect(),
        Op::Call(call) => call.results.iter().copied().flatten().collect(),
        _ => Vec::new(),
    };
    vars.extend(exprs(&edge.op).into_iter().chain([&edge.ensures]).flat_map(leaves).filter_map(|leaf| match leaf {
        Expr::Var(var) | Expr::Next(var) => Some(*var),
        _ => None,
    }));
    vars
}

/// The shared variables that formulas speak of, in ascending order.
fn told(formulas: &Formulas) -> Vec<VarId> {
    let now = |node: &Node| match node {
        Node::Atom(Atom::Now(var)) => Some(*var),
        _ => None,
    };
    let vars: BTreeSet<VarId> = formulas.nodes().iter().filter_map(now).collect();
    vars.into_iter().collect()
}

/// The propositions whose values make up a state of a shape.
fn columns(table: &Table<'_>, told: &[VarId], threads: &[u32]) -> Vec<Atom> {
    let of_threads = threads.iter().enumerate().flat_map(|(thread, place)| {
        let n_vars = table.places.at(*place).vars.len() as u32;
        (0..n_vars).map(move |var| Atom::Of { thread: thread as u32, var })
    });
    told.iter().copied().map(Atom::Now).chain(of_threads).collect()
}

/// The solutions of a formula, in ascending order.
struct Solutions<'f> {
    formulas: &'f Formulas,
    numbers: FxHashMap<Atom, usize>,
    n_columns: usize,
    most: usize,
    n_steps: usize,
    found: Vec<Bits>,
}

/// The solutions of a formula, at most `most`; `None` if there are more, if it takes too long, or if it speaks of
/// something else than the columns.
fn rows(formulas: &Formulas, formula: FormulaId, columns: &[Atom], most: usize) -> Option<Vec<Bits>> {
    if columns.len() > MOST_BITS {
        return None;
    }
    let numbers = columns.iter().enumerate().map(|(number, atom)| (*atom, number)).collect();
    let (n_columns, found) = (columns.len(), Vec::new());
    let mut solutions = Solutions { formulas, numbers, n_columns, most, n_steps: 0, found };
    solutions.list(formula, 0, 0)?;
    Some(solutions.found)
}

impl Solutions<'_> {
    /// Lists the solutions whose first values are those of a row.
    fn list(&mut self, mut formula: FormulaId, row: Bits, n_known: usize) -> Option<()> {
        while let Node::Ite(condition, then, otherwise) = self.formulas.get(formula)? {
            let Some(value) = self.truth(condition, row, n_known, 0)? else { break };
            formula = if value { then } else { otherwise };
        }
        match self.truth(formula, row, n_known, 0)? {
            Some(false) => {}
            _ if n_known == self.n_columns => {
                self.found.push(row);
                return (self.found.len() <= self.most).then_some(());
            }
            _ => {
                self.list(formula, row << 1, n_known + 1)?;
                self.list(formula, row << 1 | 1, n_known + 1)?;
            }
        }
        Some(())
    }

    /// The truth value of a formula where the first values are those of a row; an inner `None` if that is not plain.
    fn truth(&mut self, formula: FormulaId, row: Bits, n_known: usize, depth: usize) -> Option<Option<bool>> {
        self.n_steps += 1;
        if depth > MOST_DEPTH || self.n_steps > (self.most + 1).saturating_mul(PARTS_OF_A_STATE) {
            return None;
        }
        let node = self.formulas.get(formula)?;
        if let Node::Atom(atom) = node {
            let number = *self.numbers.get(&atom)?;
            return Some((number < n_known).then(|| row >> (n_known - 1 - number) & 1 == 1));
        }
        let mut of = |part: FormulaId| self.truth(part, row, n_known, depth + 1);
        Some(match node {
            Node::Const(value) => Some(value),
            Node::Atom(_) => unreachable!("its value was given before"),
            Node::Not(operand) => of(operand)?.map(|value| !value),
            Node::And(left, right) | Node::Or(left, right) => {
                let decisive = matches!(node, Node::Or(..));
                match of(left)? {
                    Some(value) if value == decisive => Some(value),
                    left => of(right)?.filter(|right| *right == decisive || left.is_some()),
                }
            }
            Node::Ite(condition, then, otherwise) => match of(condition)? {
                Some(value) => of(if value { then } else { otherwise })?,
                None => None,
            },
        })
    }
}

/// Returns whether the prelude's thread is among those of a shape.
pub(super) fn is_prelude(table: &Table<'_>, threads: &[u32]) -> bool {
    threads.iter().any(|place| table.places.at(*place).role == Role::Prelude)
}

fn bits(values: impl Iterator<Item = bool>) -> Bits {
    values.fold(0, |bits, value| bits << 1 | Bits::from(value))
}

/// The lowest bits of a number.
fn low(bits: Bits, width: usize) -> Bits {
    bits & !Bits::MAX.checked_shl(width as u32).unwrap_or(0)
}

fn values(bits: Bits, len: usize) -> Vec<bool> {
    (0..len).rev().map(|place| bits >> place & 1 == 1).collect()
}

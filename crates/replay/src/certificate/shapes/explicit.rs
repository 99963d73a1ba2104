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
//! States are rows of numbers of one length ([`super::rows`]), so that a step copies a row, changes some numbers of it
//! and looks it up, and nothing is allocated for it.
//!
//! [`Seen::Reached`]: selvedge_check::Seen::Reached

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Role, Run, Seen, ShapeProof, ThreadScope};
use selvedge_ir::{EdgeId, Expr, Op, Program, Scope, VarId};
use smallvec::SmallVec;

use super::super::concrete::{Arrival, Explorer};
use super::super::{Flaw, Refused, Unjudged};
use super::Routes;
use super::listing::{columns, rows, told};
use super::rows::Rows;
use super::table::Table;
use crate::program::{concerns_others, exprs, leaves};

/// The values of a list of variables, the first one in the highest place: ascending numbers are ascending rows.
pub(super) type Bits = u128;

/// More values than this do not fit.
pub(super) const MOST_BITS: usize = Bits::BITS as usize;

/// The same in parts, the lowest one first.
type Parts = [u32; MOST_BITS / u32::BITS as usize];

/// The state of a thread, by its number, which is not 0.
type ThreadId = u32;

/// In place of a thread: none.
const NONE: ThreadId = 0;

/// The state of a thread: its place, and the values of the variables that the place lists.
#[derive(Clone, Copy)]
struct Thread {
    place: u32,
    values: Bits,
    /// True if it holds the atomic flag.
    holds: bool,
}

/// The thread that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mover {
    thread: ThreadId,
    /// The number of other threads that count for the bound, where that matters.
    n_others: u32,
    /// The shared variables that its macro steps concern; the others are 0.
    shared: Parts,
}

/// What macro steps from a place depend on, beside the thread.
#[derive(Clone, Copy)]
struct Concern {
    /// The shared variables.
    shared: Parts,
    /// True if threads may start, so that the number of others matters.
    starts: bool,
}

/// The end of a macro step.
#[derive(Clone, Copy)]
struct End {
    edge: EdgeId,
    /// The thread that moved, unless it has ended.
    thread: ThreadId,
    /// The shared variables that the macro step concerns; the others are 0.
    shared: Parts,
    /// The threads that were started: from a number to another one.
    born: (u32, u32),
}

/// A row: the parts of the shared variables, the number of threads that have ended if that matters, and the threads in
/// ascending order, behind as many times [`NONE`] as there is room for more.
type Row = SmallVec<[u32; 32]>;

/// Proofs with more states than this are not listed.
const MOST_STATES: usize = 1 << 22;

/// With more states than this in each shape on average, solvers are faster.
const STATES_OF_A_SHAPE: usize = 512;

/// The number of cases that may be looked at for each state, on average, and for few states: macro steps with many
/// values that are open are for solvers.
const CASES_OF_A_STATE: usize = 16;
const CASES_IN_ALL: usize = 1 << 10;

/// With more ends of macro steps than this, those that are known are forgotten.
const MOST_ENDS: usize = 1 << 24;

pub(super) struct Explicit<'a> {
    table: &'a Table<'a>,
    run: &'a Run<'a>,
    /// The shared variables that formulas speak of.
    told: Vec<VarId>,
    /// The number of parts that they fill.
    n_parts: usize,
    counts_ended: bool,
    states: Rows,
    /// The number of the first state of each shape, and of the first one that is in none.
    first: Vec<usize>,
    /// The states of threads, the first one with number 1; and their numbers.
    threads: Vec<Thread>,
    numbers: FxHashMap<(u32, Bits), ThreadId>,
    /// What macro steps depend on, for the places from which some were looked at.
    concerns: Vec<Option<Concern>>,
    /// The ends of macro steps: from a number to another one.
    known: FxHashMap<Mover, (u32, u32)>,
    ends: Vec<End>,
    /// The threads that they start.
    born: Vec<ThreadId>,
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
        let mut explicit = Explicit::empty(table, told, run);
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

    /// No states, with room for as many threads as the longest shape has.
    fn empty(table: &'a Table<'a>, told: Vec<VarId>, run: &'a Run<'a>) -> Explicit<'a> {
        let n_parts = told.len().div_ceil(u32::BITS as usize);
        let counts_ended = matches!(table.task.threads, ThreadScope::Created(_));
        Explicit {
            table,
            run,
            n_parts,
            counts_ended,
            states: Rows::new(n_parts + usize::from(counts_ended) + table.longest),
            first: Vec::new(),
            threads: Vec::new(),
            numbers: FxHashMap::default(),
            concerns: vec![None; table.proof.places.len()],
            known: FxHashMap::default(),
            ends: Vec::new(),
            born: Vec::new(),
            left: None,
            told,
        }
    }

    /// The number of parts of a row before the threads.
    fn head(&self) -> usize {
        self.n_parts + usize::from(self.counts_ended)
    }

    /// Adds a state of a shape, unless threads at one place come in another than the ascending order of their values.
    fn list(&mut self, places: &[u32], ended: u32, mut values: Bits) {
        let mut threads: SmallVec<[(u32, Bits); 8]> = SmallVec::new();
        for place in places.iter().rev() {
            let width = self.width(*place);
            threads.push((*place, low(values, width)));
            values = values.checked_shr(width as u32).unwrap_or(0);
        }
        if threads.is_sorted_by(|after, before| before <= after) {
            let mut row: Row = parts(values)[..self.n_parts].into();
            row.extend(self.counts_ended.then_some(ended));
            row.resize(self.head() + self.table.longest - threads.len(), NONE);
            row.extend(threads.into_iter().map(|thread| self.number(thread)));
            row[self.n_parts + usize::from(self.counts_ended)..].sort_unstable();
            self.states.insert(&row);
        }
    }

    /// The number of the state of a thread.
    fn number(&mut self, (place, values): (u32, Bits)) -> ThreadId {
        *self.numbers.entry((place, values)).or_insert_with(|| {
            self.threads.push(Thread { place, values, holds: self.table.places.is_holder(place) });
            self.threads.len() as ThreadId
        })
    }

    fn thread(&self, number: ThreadId) -> Thread {
        self.threads[number as usize - 1]
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
                let threads = self.states.get(number)[self.head()..].iter().filter(|thread| **thread != NONE);
                let places: Vec<u32> = threads.map(|thread| self.thread(*thread).place).collect();
                self.table.places.error(&places).map_or(Ok(()), |loc| Err(Flaw::Location(loc)))?;
            }
            self.steps(number, routes)?;
            number += 1;
        }
        Ok(())
    }

    /// All macro steps from one state. Where its row has no room for threads that start, rows become longer.
    fn steps(&mut self, number: usize, routes: &mut Routes<'_>) -> Result<(), Refused> {
        self.run.tick()?;
        while !self.steps_in_room(number, routes)? {
            self.widen()?;
        }
        if self.states.len() < u32::MAX as usize {
            Ok(())
        } else {
            Err(Unjudged::Beyond("it has too many states").into())
        }
    }

    /// The same; returns whether there was room.
    fn steps_in_room(&mut self, number: usize, routes: &mut Routes<'_>) -> Result<bool, Refused> {
        let from = Row::from_slice(self.states.get(number));
        let first = from[self.head()..].iter().position(|thread| *thread != NONE).map(|free| self.head() + free);
        let Some(first) = first else { return Ok(true) };
        let ended = if self.counts_ended { from[self.n_parts] } else { 0 };
        let holder = (first..from.len()).find(|at| self.thread(from[*at]).holds);
        for mover in (first..from.len()).filter(|mover| holder.is_none_or(|holder| holder == *mover)) {
            let thread = from[mover];
            if mover > first && from[mover - 1] == thread {
                continue;
            }
            let concern = self.concern(self.thread(thread).place, routes)?;
            let mut shared = concern.shared;
            shared.iter_mut().zip(&from[..self.n_parts]).for_each(|(part, value)| *part &= value);
            let n_others = ((from.len() - first - 1) as u32).saturating_add(ended);
            let mover_of = Mover { thread, n_others: if concern.starts { n_others } else { 0 }, shared };
            let (begin, behind) = self.ends(mover_of, routes)?;
            for end in begin..behind {
                if !self.put((from.as_slice(), mover), &concern, self.ends[end as usize])? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Puts the end of a macro step of a thread of a state into the state: the result must belong to the set, or is
    /// added. Returns whether there was room for the threads that it starts.
    fn put(&mut self, (from, mover): (&[u32], usize), concern: &Concern, end: End) -> Result<bool, Refused> {
        let (head, is_listed) = (self.head(), self.table.proof.seen == Seen::All);
        let mut row = Row::from_slice(from);
        let after = row.as_mut_slice();
        for (part, (concerned, value)) in after[..self.n_parts].iter_mut().zip(concern.shared.iter().zip(&end.shared)) {
            *part = *part & !concerned | value;
        }
        if self.counts_ended && end.thread == NONE {
            after[self.n_parts] = after[self.n_parts].saturating_add(1);
        }
        replace(&mut after[head..], mover - head, end.thread);
        for born in end.born.0..end.born.1 {
            if after[head] != NONE {
                return if is_listed { Err(Flaw::NotClosed(end.edge).into()) } else { Ok(false) };
            }
            replace(&mut after[head..], 0, self.born[born as usize]);
        }
        if !is_listed {
            self.states.insert(after);
        } else if !self.states.contains(after) {
            return Err(Flaw::NotClosed(end.edge).into());
        }
        Ok(true)
    }

    /// Makes room for more threads in all rows, which keep their numbers.
    fn widen(&mut self) -> Result<(), Refused> {
        let (head, width) = (self.head(), self.states.width());
        let n_more = (width - head).max(4);
        let mut wider = Rows::new(width + n_more);
        for number in 0..self.states.len() {
            self.run.tick()?;
            let mut row = Row::from_slice(self.states.get(number));
            row.insert_many(head, std::iter::repeat_n(NONE, n_more));
            wider.insert(&row);
        }
        self.states = wider;
        Ok(())
    }

    /// What the macro steps from a place depend on: the shared variables that the edges on its route mention, or the
    /// calls that return there.
    fn concern(&mut self, place: u32, routes: &mut Routes<'_>) -> Result<Concern, Refused> {
        if let Some(concern) = self.concerns[place as usize] {
            return Ok(concern);
        }
        routes.find([&place], self.run)?;
        let moves = routes.of(place).nodes.iter().flatten();
        let edges: BTreeSet<EdgeId> = moves.flat_map(|step| [step.edge].into_iter().chain(step.caller)).collect();
        let program = self.table.task.program;
        let vars: BTreeSet<VarId> = edges.into_iter().flat_map(|edge| mentioned(program, edge)).collect();
        let shared = parts(bits(self.told.iter().map(|var| vars.contains(var))));
        let concern = Concern { shared, starts: routes.spawns(place) };
        self.concerns[place as usize] = Some(concern);
        Ok(concern)
    }

    /// The ends of the macro steps of a thread, which are found once.
    fn ends(&mut self, mover: Mover, routes: &mut Routes<'_>) -> Result<(u32, u32), Refused> {
        if let Some(ends) = self.known.get(&mover) {
            return Ok(*ends);
        }
        if self.ends.len() >= MOST_ENDS {
            (self.known, self.ends, self.born) = (FxHashMap::default(), Vec::new(), Vec::new());
        }
        let first = self.ends.len() as u32;
        self.add_ends(mover, routes)?;
        let ends = (first, self.ends.len() as u32);
        self.known.insert(mover, ends);
        Ok(ends)
    }

    /// Adds all ends of the macro steps of a thread; an error on the way is a flaw.
    fn add_ends(&mut self, mover: Mover, routes: &mut Routes<'_>) -> Result<(), Refused> {
        let Thread { place, values: own, .. } = self.thread(mover.thread);
        let is_concerned = values(whole(self.concern(place, routes)?.shared), self.told.len());
        let told = || self.told.iter().copied().zip(&is_concerned);
        let concerned: Vec<VarId> = told().filter(|(_, is)| **is).map(|(var, _)| var).collect();
        let mut explorer = Explorer::new(&self.table.places, &concerned);
        explorer.hidden = told().filter(|(_, is)| !**is).map(|(var, _)| var).collect();
        if let Some(left) = &self.left {
            explorer.left = Rc::clone(left);
        }
        if let ThreadScope::AtMost(bound) | ThreadScope::Created(bound) = self.table.task.threads {
            explorer.room = bound.saturating_sub(mover.n_others.saturating_add(1)) as usize;
        }
        let shared = values(whole(mover.shared), self.told.len()).into_iter().zip(&is_concerned);
        let shared: Vec<bool> = shared.filter(|(_, is)| **is).map(|(value, _)| value).collect();
        let now = explorer.values(&shared, place, &values(own, self.width(place)));
        for (edge, arrival) in explorer.explore(routes.of(place), now, self.run)? {
            match arrival {
                Arrival::Rule { shared, own, new, .. } => {
                    let mut shared = shared.into_iter();
                    let shared = parts(bits(is_concerned.iter().map(|is| *is && shared.next() == Some(true))));
                    let mut number = |(place, own): (u32, Vec<bool>)| self.number((place, bits(own.into_iter())));
                    let thread = own.map_or(NONE, &mut number);
                    let new: SmallVec<[ThreadId; 4]> = new.into_iter().map(number).collect();
                    let first = self.born.len() as u32;
                    self.born.extend(new);
                    self.ends.push(End { edge, thread, shared, born: (first, self.born.len() as u32) });
                }
                Arrival::Error(flaw) => return Err(flaw.into()),
                Arrival::Start(_) => unreachable!("only the prelude's end starts threads, and it is not followed here"),
            }
        }
        Ok(())
    }

    fn width(&self, place: u32) -> usize {
        self.table.places.at(place).vars.len()
    }
}

/// Replaces a number in an ascending list, which stays ascending.
fn replace(list: &mut [ThreadId], mut at: usize, new: ThreadId) {
    while at + 1 < list.len() && list[at + 1] < new {
        list[at] = list[at + 1];
        at += 1;
    }
    while at > 0 && list[at - 1] > new {
        list[at] = list[at - 1];
        at -= 1;
    }
    list[at] = new;
}

/// The parts of values, the lowest one first.
fn parts(bits: Bits) -> Parts {
    std::array::from_fn(|part| (bits >> (part as u32 * u32::BITS)) as u32)
}

/// The values of which these are the parts.
fn whole(parts: Parts) -> Bits {
    parts.iter().rev().fold(0, |bits, part| bits << u32::BITS | Bits::from(*part))
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

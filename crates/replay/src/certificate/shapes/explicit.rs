//! Proofs with few states, state by state.
//!
//! The questions of [`super::walk`] are answered by a solver for each shape, whose threads may have any values. Here
//! all states of the set are listed first. A macro step depends on the values of the thread that moves and on the
//! shared variables only, so its ends are found once for all states that agree on these, on the same route
//! ([`super::super::concrete`]); the rest is to put each end into each state and to look the result up. With a solver
//! for each shape, judging takes about ten times as long where the shapes are many and have few states.
//!
//! A state is a number: the values of the shared variables that formulas speak of, then those of each thread in the
//! order of the shape, the first one in the highest place.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Role, Run, ShapeProof, ThreadScope};
use selvedge_ir::{EdgeId, Scope, VarId};
use smallvec::SmallVec;

use super::super::concrete::{Arrival, Explorer, Seen};
use super::super::{Flaw, Refused};
use super::Routes;
use super::table::{Environment, Table};
use crate::program::concerns_others;

/// The values of a list of variables, the first one in the highest place: ascending numbers are ascending rows.
type Bits = u64;

/// More values than this do not fit.
const MOST_BITS: usize = Bits::BITS as usize;

/// The thread that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mover {
    place: u32,
    own: Bits,
    shared: Bits,
    /// The number of other threads that count for the bound.
    n_others: usize,
}

/// The end of a macro step.
struct End {
    edge: EdgeId,
    /// The threads that there are instead of the one that moved: itself, unless it has ended, and those that it has
    /// started.
    threads: Vec<(u32, Bits)>,
    /// True if the one that moved has ended.
    ends: bool,
    shared: Bits,
}

/// The values of all variables of a state that formulas may speak of.
type Row = u128;

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
    /// The states of each shape, in ascending order.
    states: Vec<Vec<Row>>,
    ends: FxHashMap<Mover, Vec<End>>,
    /// The number of cases that may still be looked at.
    left: Rc<Cell<usize>>,
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
        let mut states = Vec::new();
        // Few shapes with many states are common: proofs of sets in which most values do not matter.
        let mut left = MOST_STATES.min((proof.shapes.len() + 16) * STATES_OF_A_SHAPE);
        for shape in &proof.shapes {
            run.tick()?;
            let columns = columns(table, &told, &shape.threads);
            let Some(mut rows) = rows(&proof.formulas, shape.formula, &columns, left) else { return Ok(None) };
            left -= rows.len();
            // Threads at one place come in the ascending order of their values.
            rows.retain(|row| unpack(table, &shape.threads, *row).1.is_sorted());
            states.push(rows);
        }
        let n_states: usize = states.iter().map(Vec::len).sum();
        let left = Rc::new(Cell::new(CASES_IN_ALL + n_states * CASES_OF_A_STATE));
        Ok(Some(Explicit { table, run, told, states, ends: FxHashMap::default(), left }))
    }

    /// Returns whether all macro steps from the states of a shape, which is not the prelude's, lead to states of the
    /// set, without error.
    pub(super) fn shape(&mut self, number: usize, routes: &Routes<'_>) -> Result<(), Refused> {
        let (shape, n_states) = (&self.table.proof.shapes[number], self.states[number].len());
        if let Some(loc) = self.table.places.error(&shape.threads).filter(|_| n_states > 0) {
            return Err(Flaw::Location(loc).into());
        }
        for at in 0..n_states {
            self.run.tick()?;
            let (shared, state) = unpack(self.table, &shape.threads, self.states[number][at]);
            self.steps(&state, shape.ended, shared, routes)?;
        }
        Ok(())
    }

    /// All macro steps from one state.
    fn steps(&mut self, state: &[(u32, Bits)], ended: u32, shared: Bits, routes: &Routes<'_>) -> Result<(), Refused> {
        let counts_ended = matches!(self.table.task.threads, ThreadScope::Created(_));
        let holder = state.iter().position(|(place, _)| self.table.places.is_holder(*place));
        let mut after = Vec::new();
        for mover in (0..state.len()).filter(|mover| holder.is_none_or(|holder| holder == *mover)) {
            if mover > 0 && state[mover - 1] == state[mover] {
                continue;
            }
            let (place, own) = state[mover];
            let n_others = if routes.spawns(place) { state.len() - 1 + ended as usize } else { 0 };
            let mover_is = Mover { place, own, shared, n_others };
            if !self.ends.contains_key(&mover_is) {
                let ends = self.ends_of(mover_is, routes)?;
                self.ends.insert(mover_is, ends);
            }
            for end in &self.ends[&mover_is] {
                after.clear();
                after.extend(state.iter().enumerate().filter(|(number, _)| *number != mover).map(|(_, it)| *it));
                after.extend(&end.threads);
                after.sort_unstable();
                if !self.contains(&after, ended.saturating_add(u32::from(counts_ended && end.ends)), end.shared) {
                    return Err(Flaw::NotClosed(end.edge).into());
                }
            }
        }
        Ok(())
    }

    /// All ends of the macro steps of a thread, or an error on the way.
    fn ends_of(&self, mover: Mover, routes: &Routes<'_>) -> Result<Vec<End>, Refused> {
        let mut explorer = Explorer::new(&self.table.places, &self.told);
        explorer.left = Rc::clone(&self.left);
        if let ThreadScope::AtMost(bound) | ThreadScope::Created(bound) = self.table.task.threads {
            explorer.room = (bound as usize).saturating_sub(mover.n_others + 1);
        }
        let own = values(mover.own, self.width(mover.place));
        let now = explorer.values(&values(mover.shared, self.told.len()), mover.place, &own);
        let mut ends = Vec::new();
        for (edge, arrival) in explorer.explore(routes.of(mover.place), now, self.run)? {
            ends.push(match arrival {
                Arrival::Rule { shared, own, new } => {
                    let packed = |(place, values): &Seen| (*place, bits(values));
                    let threads = own.iter().chain(&new).map(packed).collect();
                    End { edge, threads, ends: own.is_none(), shared: bits(&shared) }
                }
                Arrival::Error(error) => return Err(error.into()),
                Arrival::Start(_) => unreachable!("only the prelude starts the initial threads"),
            });
        }
        Ok(ends)
    }

    /// Returns whether a state, its threads in order, belongs to the set.
    fn contains(&self, state: &[(u32, Bits)], ended: u32, shared: Bits) -> bool {
        let mut row = Row::from(shared);
        let mut places: SmallVec<[u32; 16]> = SmallVec::new();
        for (place, own) in state {
            row = row << self.width(*place) | Row::from(*own);
            places.push(*place);
        }
        let number = self.table.find(&places, Environment { held: false, ended });
        number.is_some_and(|number| self.states[number].binary_search(&row).is_ok())
    }

    fn width(&self, place: u32) -> usize {
        self.table.places.at(place).vars.len()
    }
}

/// The shared variables of a state, and its threads with their values.
fn unpack(table: &Table<'_>, threads: &[u32], mut row: Row) -> (Bits, SmallVec<[(u32, Bits); 8]>) {
    let mut state = SmallVec::new();
    for place in threads.iter().rev() {
        let width = table.places.at(*place).vars.len();
        state.push((*place, (row & ((1 << width) - 1)) as Bits));
        row >>= width;
    }
    state.reverse();
    (row as Bits, state)
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
    found: Vec<Row>,
}

/// The solutions of a formula, at most `most`; `None` if there are more, if it takes too long, or if it speaks of
/// something else than the columns.
fn rows(formulas: &Formulas, formula: FormulaId, columns: &[Atom], most: usize) -> Option<Vec<Row>> {
    if columns.len() > Row::BITS as usize {
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
    fn list(&mut self, mut formula: FormulaId, row: Row, n_known: usize) -> Option<()> {
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
    fn truth(&mut self, formula: FormulaId, row: Row, n_known: usize, depth: usize) -> Option<Option<bool>> {
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

fn bits(values: &[bool]) -> Bits {
    values.iter().fold(0, |bits, value| bits << 1 | Bits::from(*value))
}

fn values(bits: Bits, len: usize) -> Vec<bool> {
    (0..len).rev().map(|place| bits >> place & 1 == 1).collect()
}

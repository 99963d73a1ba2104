//! The reached states as a certificate: for each list of places the formula of its valuations. If there are many, only
//! the first ones are told.
//!
//! A formula is a decision tree of its rows, over the shared variables and then those of each thread; equal subtrees
//! are shared.

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{Certificate, Place, Role, Run, Seen, Shape, ShapeProof, Stop};
use selvedge_ir::{LocId, VarId};
use selvedge_transition::formula_writer::FormulaWriter;
use selvedge_transition::macro_step::explicit::parts::{Kind, LocalId};
use selvedge_transition::macro_step::explicit::values::get;
use smallvec::SmallVec;

use super::search::ExplicitSearch;
use super::start::counts_created;

/// Limit on the number of values in all states. Larger sets get no certificate: it would take too long to check.
const MOST_BITS: usize = 100_000_000;

/// The values of the variables of a state, the first one in the highest bit of the first word, so that rows are ordered
/// as their lists of values.
type ValueRow = SmallVec<[u64; 2]>;

const WORD: usize = u64::BITS as usize;

/// Returns the certificate of a search without errors; `None` if it would be too large.
pub(super) fn certificate(search: &ExplicitSearch<'_>, seen: Seen) -> Result<Option<Certificate>, Stop> {
    let (places, shared) = (search.model.places(), search.model.proof_shared());
    let numbers: FxHashMap<(Role, LocId), u32> =
        places.iter().enumerate().map(|(number, place)| ((place.role, place.loc), number as u32)).collect();
    let mut rows: FxHashMap<(Vec<u32>, u32), Vec<ValueRow>> = FxHashMap::default();
    let mut n_bits = 0;
    for number in 0..search.store.len() {
        search.run.tick()?;
        let (shape, row) = row(search, (&places, &shared), &numbers, number);
        n_bits += row.len() * WORD;
        if n_bits > MOST_BITS {
            return Ok(None);
        }
        rows.entry(shape).or_default().push(row);
    }
    let mut writer = FormulaWriter::default();
    let mut shapes = Vec::new();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    for ((threads, ended), mut rows) in rows {
        rows.sort_unstable();
        rows.dedup();
        let formula = tree(&mut writer, &atoms(&places, &shared, &threads), 0, &rows, search.run)?;
        shapes.push(Shape::of_all(threads, ended, formula));
    }
    if let (Seen::Reached, Some(shape)) = (seen, shapes.first_mut()) {
        shape.formula = mentioning(&mut writer, shape.formula, &shared);
    }
    Ok(Some(Certificate::Shapes(ShapeProof { seen, formulas: writer.formulas, places, shapes })))
}

/// Returns a formula that allows the same and mentions some shared variables, so that their values are distinguished.
/// The one that is given comes first: who lists its states looks no further where it is false.
fn mentioning(writer: &mut FormulaWriter, formula: FormulaId, shared: &[VarId]) -> FormulaId {
    let anything = writer.node(Node::Const(true));
    let mentioned = shared.iter().fold(anything, |mentioned, var| {
        let atom = writer.node(Node::Atom(Atom::Now(*var)));
        writer.node(Node::Ite(atom, mentioned, mentioned))
    });
    writer.node(Node::And(formula, mentioned))
}

/// Returns the threads of a state, in the order that a certificate requires, with the number of those that have ended,
/// if that matters; and the values of its variables.
fn row(
    search: &ExplicitSearch<'_>,
    (places, shared_vars): (&[Place], &[VarId]),
    numbers: &FxHashMap<(Role, LocId), u32>,
    number: usize,
) -> ((Vec<u32>, u32), ValueRow) {
    let state = search.store.get(number);
    let lives = |id: &&LocalId| search.parts.locals[**id as usize].kind != Kind::Prelude;
    let n_living = state.threads.iter().chain(&state.holder).filter(lives).count() as u32;
    let ended = if counts_created(search.model) { state.created - n_living } else { 0 };
    let thread = |id: LocalId, holds: bool| {
        let local = &search.parts.locals[id as usize];
        let place = numbers[&(local.kind.role(holds), local.loc)];
        let mut values = Packed::default();
        for (_, var) in &places[place as usize].vars {
            values.push(get(&local.bits, search.model.steps.slots.get(*var)));
        }
        (place, values)
    };
    let holder = state.holder.map(|id| thread(id, true));
    let mut threads: Vec<(u32, Packed)> = state.threads.iter().map(|id| thread(*id, false)).chain(holder).collect();
    threads.sort_unstable();
    let shared = &search.parts.shared[state.shared as usize];
    let mut row = Packed::default();
    shared_vars.iter().for_each(|var| row.push(get(shared, search.model.steps.slots.get(*var))));
    threads.iter().for_each(|(_, values)| (0..values.len).for_each(|column| row.push(is_set(&values.row, column))));
    ((threads.into_iter().map(|(place, _)| place).collect(), ended), row.row)
}

/// A row under construction. Rows of one length are ordered as their lists of values.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct Packed {
    row: ValueRow,
    len: usize,
}

impl Packed {
    fn push(&mut self, value: bool) {
        if self.len.is_multiple_of(WORD) {
            self.row.push(0);
        }
        self.row[self.len / WORD] |= u64::from(value) << (WORD - 1 - self.len % WORD);
        self.len += 1;
    }
}

fn is_set(row: &ValueRow, column: usize) -> bool {
    row[column / WORD] >> (WORD - 1 - column % WORD) & 1 == 1
}

/// Returns the atoms of the columns of a row.
fn atoms(places: &[Place], shared: &[VarId], threads: &[u32]) -> Vec<Atom> {
    let of_threads = threads.iter().enumerate().flat_map(|(thread, place)| {
        let n_vars = places[*place as usize].vars.len() as u32;
        (0..n_vars).map(move |var| Atom::Of { thread: thread as u32, var })
    });
    shared.iter().copied().map(Atom::Now).chain(of_threads).collect()
}

/// Adds the decision tree of rows that are sorted and agree on all columns before a given one.
fn tree(
    writer: &mut FormulaWriter,
    atoms: &[Atom],
    column: usize,
    rows: &[ValueRow],
    run: &Run<'_>,
) -> Result<FormulaId, Stop> {
    run.tick()?;
    let Some(atom) = atoms.get(column) else { return Ok(writer.node(Node::Const(!rows.is_empty()))) };
    if rows.is_empty() {
        return Ok(writer.node(Node::Const(false)));
    }
    let split = rows.partition_point(|row| !is_set(row, column));
    let low = tree(writer, atoms, column + 1, &rows[..split], run)?;
    let high = tree(writer, atoms, column + 1, &rows[split..], run)?;
    if low == high {
        return Ok(low);
    }
    let atom = writer.node(Node::Atom(*atom));
    Ok(writer.node(Node::Ite(atom, high, low)))
}

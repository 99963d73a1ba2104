//! The states of a shape: the solutions of its formula, one by one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_ir::VarId;

use super::explicit::{Bits, MOST_BITS};
use super::table::Table;

/// The number of parts of a formula that may be looked at for each state.
const PARTS_OF_A_STATE: usize = 256;

/// Formulas that are deeper than this are not looked at.
const MOST_DEPTH: usize = 10_000;

/// The shared variables that formulas speak of, in ascending order.
pub(super) fn told(formulas: &Formulas) -> Vec<VarId> {
    let now = |node: &Node| match node {
        Node::Atom(Atom::Now(var)) => Some(*var),
        _ => None,
    };
    let vars: BTreeSet<VarId> = formulas.nodes().iter().filter_map(now).collect();
    vars.into_iter().collect()
}

/// The propositions whose values make up a state of a shape.
pub(super) fn columns(table: &Table<'_>, told: &[VarId], threads: &[u32]) -> Vec<Atom> {
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
pub(super) fn rows(formulas: &Formulas, formula: FormulaId, columns: &[Atom], most: usize) -> Option<Vec<Bits>> {
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

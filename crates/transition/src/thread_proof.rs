//! The way of a proof about several threads back through a pass that put procedures in the place of calls.
//!
//! A thread at a location of a copied body is, in the program before, a thread at the location that was copied, below
//! the calls that the copy stands for; a copied local is one of the frame of such a call. So each place becomes another
//! one, and the formulas stay, except that the places, and with them the threads of a shape, come in another order.

use std::collections::HashMap;

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{CoverProof, Place, Shape, ShapeProof};
use selvedge_ir::passes::Copies;
use selvedge_ir::{EdgeId, VarId};

/// Returns the proof about the program before the pass; `None` if it has calls that the pass left, or speaks of the
/// locals of a call that is over.
pub fn lifted(proof: &ShapeProof, copies: &Copies) -> Option<ShapeProof> {
    let places = lifted_places(&proof.places, copies)?;
    let (order, numbers) = in_order(&places);
    let places = order.iter().map(|number| places[*number].clone()).collect();
    let mut rewriter = Rewriter::new(&proof.formulas, copies);
    let shape = |shape: &Shape| {
        let (threads, formula) = rewriter.list(&shape.threads, shape.formula, &numbers)?;
        Some(Shape { threads, formula, ..*shape })
    };
    let shapes = proof.shapes.iter().map(shape).collect::<Option<_>>()?;
    let mut lifted = ShapeProof { seen: proof.seen, formulas: rewriter.new, places, shapes };
    lifted.sort();
    Some(lifted)
}

/// The same for a proof over listed states: each place becomes another one, and nothing else changes.
pub fn lifted_cover(proof: &CoverProof, copies: &Copies) -> Option<CoverProof> {
    let places = lifted_places(&proof.places, copies)?;
    let shared_var = |var: &VarId| copies.vars.get(*var).map(|(_, var)| *var);
    let shared_vars = proof.shared_vars.iter().map(shared_var).collect::<Option<_>>()?;
    Some(CoverProof { shared_vars, places, ..proof.clone() })
}

/// Returns the numbers of some items in ascending order of the items, and for each item its place in that order.
fn in_order<T: Ord>(items: &[T]) -> (Vec<usize>, Vec<u32>) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|number| &items[*number]);
    let mut places = vec![0; items.len()];
    order.iter().zip(0..).for_each(|(old, new)| places[*old] = new);
    (order, places)
}

fn lifted_places(places: &[Place], copies: &Copies) -> Option<Vec<Place>> {
    places.iter().map(|place| lifted_place(place, copies)).collect()
}

fn lifted_place(place: &Place, copies: &Copies) -> Option<Place> {
    if !place.calls.is_empty() {
        return None;
    }
    let (number, loc) = *copies.locs.get(place.loc)?;
    let calls = &copies.calls[number as usize];
    let var = |(_, var): &(u32, VarId)| -> Option<(u32, VarId)> {
        let (number, var) = *copies.vars.get(*var)?;
        let below: &[EdgeId] = &copies.calls[number as usize];
        calls.starts_with(below).then_some((below.len() as u32, var))
    };
    let vars = place.vars.iter().map(var).collect::<Option<_>>()?;
    Some(Place { role: place.role, calls: calls.clone(), loc, vars })
}

/// Rewrites the formulas of shapes whose threads come in another order, and whose shared variables have other numbers.
struct Rewriter<'p> {
    old: &'p Formulas,
    copies: &'p Copies,
    new: Formulas,
    /// The orders met so far, by number. An order gives each thread's new number.
    orders: HashMap<Vec<u32>, u32>,
    /// The new formula for an order and an old formula.
    known: HashMap<(u32, FormulaId), FormulaId>,
}

impl<'p> Rewriter<'p> {
    fn new(old: &'p Formulas, copies: &'p Copies) -> Rewriter<'p> {
        Rewriter { old, copies, new: Formulas::default(), orders: HashMap::new(), known: HashMap::new() }
    }

    /// A list of threads, and the formula about them.
    fn list(&mut self, threads: &[u32], formula: FormulaId, numbers: &[u32]) -> Option<(Vec<u32>, FormulaId)> {
        let places: Vec<u32> =
            threads.iter().map(|place| numbers.get(*place as usize).copied()).collect::<Option<_>>()?;
        let (threads, order) = in_order(&places);
        let formula = self.formula(formula, &order)?;
        Some((threads.iter().map(|thread| places[*thread]).collect(), formula))
    }

    /// The formula with other numbers for the threads. Parts are rewritten before wholes.
    fn formula(&mut self, id: FormulaId, order: &[u32]) -> Option<FormulaId> {
        let next = self.orders.len() as u32;
        let number = *self.orders.entry(order.to_vec()).or_insert(next);
        let mut waiting = vec![id];
        while let Some(id) = waiting.last().copied() {
            if self.known.contains_key(&(number, id)) {
                waiting.pop();
                continue;
            }
            let node = self.old.get(id)?;
            let missing = |part: &FormulaId| !self.known.contains_key(&(number, *part));
            let missing: Vec<FormulaId> = node.parts().into_iter().flatten().filter(missing).collect();
            if missing.is_empty() {
                let node = self.node(node, number, order)?;
                let new = self.new.add(node).ok()?;
                self.known.insert((number, id), new);
                waiting.pop();
            }
            waiting.extend(missing);
        }
        self.known.get(&(number, id)).copied()
    }

    fn node(&self, node: Node, number: u32, order: &[u32]) -> Option<Node> {
        let part = |id: FormulaId| self.known.get(&(number, id)).copied();
        Some(match node {
            Node::Atom(Atom::Of { thread, var }) => Node::Atom(Atom::Of { thread: *order.get(thread as usize)?, var }),
            Node::Atom(Atom::Now(var)) => Node::Atom(Atom::Now(self.copies.vars.get(var)?.1)),
            Node::Const(_) | Node::Atom(_) => node,
            Node::Not(operand) => Node::Not(part(operand)?),
            Node::And(left, right) => Node::And(part(left)?, part(right)?),
            Node::Or(left, right) => Node::Or(part(left)?, part(right)?),
            Node::Ite(condition, then, otherwise) => Node::Ite(part(condition)?, part(then)?, part(otherwise)?),
        })
    }
}

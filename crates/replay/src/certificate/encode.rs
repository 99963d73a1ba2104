//! Expressions and formulas as gates.

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_ir::{BinaryOp, Expr, UnaryOp};

use super::sat::{Lit, Sat};

/// The gate of an expression, whose leaves `leaf` gives; `None` if it is not Boolean throughout.
pub(super) fn expr(sat: &mut Sat<'_>, expr: &Expr, leaf: &mut dyn FnMut(&mut Sat<'_>, &Expr) -> Lit) -> Option<Lit> {
    Some(match expr {
        Expr::Bool(value) => sat.constant(*value),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(sat, expr),
        Expr::Unary(UnaryOp::Not, operand) => !self::expr(sat, operand, leaf)?,
        Expr::Binary(op, pair) => {
            let left = self::expr(sat, &pair.0, leaf)?;
            let right = self::expr(sat, &pair.1, leaf)?;
            binary(sat, *op, left, right)?
        }
        Expr::Ite(triple) => {
            let condition = self::expr(sat, &triple.0, leaf)?;
            let then = self::expr(sat, &triple.1, leaf)?;
            let otherwise = self::expr(sat, &triple.2, leaf)?;
            sat.ite(condition, then, otherwise)
        }
        Expr::Int(_) | Expr::Unary(UnaryOp::Neg | UnaryOp::DivisibleBy(_), _) => return None,
    })
}

fn binary(sat: &mut Sat<'_>, op: BinaryOp, left: Lit, right: Lit) -> Option<Lit> {
    match op {
        BinaryOp::And => Some(sat.and(left, right)),
        BinaryOp::Or => Some(sat.or(left, right)),
        BinaryOp::Implies => Some(sat.or(!left, right)),
        BinaryOp::Eq => Some(sat.equal(left, right)),
        BinaryOp::Xor | BinaryOp::Ne => Some(!sat.equal(left, right)),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => None,
    }
}

/// The gate of a formula, whose atoms `atom` gives; `None` if it gives none for one of them.
pub(super) fn formula(
    sat: &mut Sat<'_>,
    formulas: &Formulas,
    id: FormulaId,
    atom: &mut dyn FnMut(&mut Sat<'_>, Atom) -> Option<Lit>,
) -> Option<Lit> {
    let mut gates: FxHashMap<FormulaId, Lit> = FxHashMap::default();
    // A formula waits until its parts have gates; parts have smaller numbers, so this ends.
    let mut waiting = vec![id];
    while let Some(part) = waiting.last().copied() {
        let node = formulas.get(part)?;
        let n_waiting = waiting.len();
        waiting.extend(node.parts().into_iter().flatten().filter(|part| !gates.contains_key(part)));
        if waiting.len() > n_waiting {
            continue;
        }
        let gate = |id: FormulaId| gates[&id];
        let lit = match node {
            Node::Const(value) => sat.constant(value),
            Node::Atom(proposition) => atom(sat, proposition)?,
            Node::Not(operand) => !gate(operand),
            Node::And(left, right) => sat.and(gate(left), gate(right)),
            Node::Or(left, right) => sat.or(gate(left), gate(right)),
            Node::Ite(condition, then, otherwise) => sat.ite(gate(condition), gate(then), gate(otherwise)),
        };
        gates.insert(part, lit);
        waiting.pop();
    }
    gates.get(&id).copied()
}

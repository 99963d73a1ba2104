//! Expressions and formulas as gates.

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_ir::{BinaryOp, UnaryOp, Value};

use super::sat::{Lit, Sat};
use super::{Flaw, Refused};
use crate::domain::Domain;

/// Literals as the values of Boolean expressions.
impl Domain for Sat<'_> {
    type Value = Lit;
    type Error = Refused;

    fn lift(&mut self, value: Value) -> Result<Lit, Refused> {
        match value {
            Value::Bool(value) => Ok(Sat::constant(self, value)),
            Value::Int(_) | Value::Machine(..) => Err(INTEGERS.into()),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: Lit) -> Result<Lit, Refused> {
        match op {
            UnaryOp::Not => Ok(!operand),
            UnaryOp::Neg | UnaryOp::DivisibleBy(_) | UnaryOp::Cast(..) => Err(INTEGERS.into()),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Lit, right: Lit) -> Result<Lit, Refused> {
        match op {
            BinaryOp::And => Ok(self.and(left, right)),
            BinaryOp::Or => Ok(self.or(left, right)),
            BinaryOp::Implies => Ok(self.or(!left, right)),
            BinaryOp::Eq => Ok(self.equal(left, right)),
            BinaryOp::Xor | BinaryOp::Ne => Ok(!self.equal(left, right)),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Machine(..) => {
                Err(INTEGERS.into())
            }
        }
    }

    fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Result<Lit, Refused> {
        Ok(Sat::ite(self, condition, then, otherwise))
    }

    fn known(&self, condition: &Lit) -> Option<bool> {
        Sat::known(self, *condition)
    }
}

const INTEGERS: Flaw = Flaw::OutOfScope("it has integers");

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

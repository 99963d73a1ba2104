//! The value of an expression where only some variables are known.

use std::collections::BTreeMap;

use selvedge_ir::{BinaryOp, Expr, UnaryOp, Value, VarId};

use crate::eval::eval;

/// Values of some variables before a step.
pub(super) type Known = BTreeMap<VarId, Value>;

/// The value that an expression has whatever the other variables and the choices are; `None` if that is not plain.
pub(super) fn constant(expr: &Expr, known: &Known) -> Option<Value> {
    match expr {
        Expr::Bool(_) | Expr::Int(_) => eval(expr, &|_| unreachable!("it is a constant")).ok(),
        Expr::Var(var) => known.get(var).copied(),
        Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => None,
        Expr::Unary(op, operand) => {
            let operand = literal(constant(operand, known)?);
            eval(&Expr::Unary(*op, Box::new(operand)), &|_| unreachable!("its operand is a constant")).ok()
        }
        Expr::Binary(op, pair) => binary(*op, constant(&pair.0, known), constant(&pair.1, known)),
        Expr::Ite(triple) => match constant(&triple.0, known)? {
            Value::Bool(true) => constant(&triple.1, known),
            Value::Bool(false) => constant(&triple.2, known),
            Value::Int(_) => None,
        },
    }
}

/// Adds what a condition says plainly of single variables: that one has a value, or is true, or false. What is known
/// already stays.
pub(super) fn learn(condition: &Expr, known: &mut Known) {
    match condition {
        Expr::Binary(BinaryOp::And, pair) => {
            learn(&pair.0, known);
            learn(&pair.1, known);
        }
        Expr::Binary(BinaryOp::Eq, pair) => {
            if let (Expr::Var(var), Expr::Int(value)) | (Expr::Int(value), Expr::Var(var)) = (&pair.0, &pair.1) {
                known.entry(*var).or_insert(Value::Int(*value));
            }
        }
        Expr::Var(var) => {
            known.entry(*var).or_insert(Value::Bool(true));
        }
        Expr::Unary(UnaryOp::Not, operand) => {
            if let Expr::Var(var) = **operand {
                known.entry(var).or_insert(Value::Bool(false));
            }
        }
        _ => {}
    }
}

/// A conjunction with a false part is false, whatever the other part is; and so on.
fn binary(op: BinaryOp, left: Option<Value>, right: Option<Value>) -> Option<Value> {
    let is = |side: Option<Value>, value: bool| side == Some(Value::Bool(value));
    match op {
        BinaryOp::And if is(left, false) || is(right, false) => Some(Value::Bool(false)),
        BinaryOp::Or if is(left, true) || is(right, true) => Some(Value::Bool(true)),
        BinaryOp::Implies if is(left, false) || is(right, true) => Some(Value::Bool(true)),
        _ => {
            let whole = Expr::Binary(op, Box::new((literal(left?), literal(right?))));
            eval(&whole, &|_| unreachable!("its operands are constants")).ok()
        }
    }
}

fn literal(value: Value) -> Expr {
    match value {
        Value::Bool(value) => Expr::Bool(value),
        Value::Int(value) => Expr::Int(value),
    }
}

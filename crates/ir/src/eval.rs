//! Computes the value of an expression.

use crate::machine;
use crate::syntax::{BinaryOp, Expr, UnaryOp, Value};
use crate::visit::Parts;

/// An integer left the 64 bits that the interpreter computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// Computes the value of `expr`, in which `leaf` gives the value of variables and choices.
///
/// # Panics
///
/// If the expression is ill-typed; valid programs have none.
pub fn eval(expr: &Expr, leaf: &dyn Fn(&Expr) -> Value) -> Result<Value, Overflow> {
    eval_in(&mut Parts::new(), expr, leaf)
}

fn eval_in(parts: &mut Parts<Value>, expr: &Expr, leaf: &dyn Fn(&Expr) -> Value) -> Result<Value, Overflow> {
    Ok(match expr {
        Expr::Bool(value) => Value::Bool(*value),
        Expr::Int(value) => Value::Int(*value),
        Expr::Machine(ty, bits) => Value::Machine(*ty, *bits),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(expr),
        Expr::Unary(op, operand) => unary(*op, eval_in(parts, operand, leaf)?)?,
        Expr::Binary(op, pair) => {
            let left = eval_in(parts, &pair.0, leaf)?;
            binary(*op, left, eval_in(parts, &pair.1, leaf)?)?
        }
        Expr::Ite(triple) => {
            let branch = if truth(eval_in(parts, &triple.0, leaf)?) { &triple.1 } else { &triple.2 };
            eval_in(parts, branch, leaf)?
        }
        Expr::Let(shared) => parts.scope(shared, |parts, expr| eval_in(parts, expr, leaf))?,
        Expr::Part(number) => *parts.get(*number),
    })
}

/// Computes the truth value of `expr`.
///
/// # Panics
///
/// If it is an integer.
pub fn holds(expr: &Expr, leaf: &dyn Fn(&Expr) -> Value) -> Result<bool, Overflow> {
    eval(expr, leaf).map(truth)
}

fn truth(value: Value) -> bool {
    match value {
        Value::Bool(value) => value,
        Value::Int(_) | Value::Machine(..) => unreachable!("the validator rejects integers as conditions"),
    }
}

/// Computes the value of an operator's result. Panics like [`eval`].
pub fn unary(op: UnaryOp, operand: Value) -> Result<Value, Overflow> {
    match (op, operand) {
        (UnaryOp::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (UnaryOp::Neg, Value::Int(value)) => value.checked_neg().map(Value::Int).ok_or(Overflow),
        (UnaryOp::DivisibleBy(divisor), Value::Int(value)) => Ok(Value::Bool(value % i64::from(divisor) == 0)),
        (UnaryOp::Cast(from, to), Value::Machine(_, bits)) => Ok(machine::cast(from, to, bits)),
        _ => unreachable!("the validator rejects ill-typed operands"),
    }
}

/// Computes the value of an operator's result. Panics like [`eval`].
pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Overflow> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(Value::Bool(logical(op, left, right))),
        (Value::Int(left), Value::Int(right)) => arithmetic(op, left, right),
        (Value::Machine(_, left), Value::Machine(_, right)) => Ok(on_machine(op, left, right)),
        _ => unreachable!("the validator rejects ill-typed operands"),
    }
}

fn logical(op: BinaryOp, left: bool, right: bool) -> bool {
    match op {
        BinaryOp::And => left && right,
        BinaryOp::Or => left || right,
        BinaryOp::Implies => !left || right,
        BinaryOp::Eq => left == right,
        BinaryOp::Xor | BinaryOp::Ne => left != right,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Machine(..) => {
            unreachable!("the validator rejects ill-typed operands")
        }
    }
}

fn on_machine(op: BinaryOp, left: u64, right: u64) -> Value {
    match op {
        BinaryOp::Machine(op, ty) => machine::binary(op, ty, left, right),
        BinaryOp::Eq => Value::Bool(left == right),
        BinaryOp::Ne => Value::Bool(left != right),
        _ => unreachable!("the validator rejects ill-typed operands"),
    }
}

fn arithmetic(op: BinaryOp, left: i64, right: i64) -> Result<Value, Overflow> {
    let number = |result: Option<i64>| result.map(Value::Int).ok_or(Overflow);
    match op {
        BinaryOp::Add => number(left.checked_add(right)),
        BinaryOp::Sub => number(left.checked_sub(right)),
        BinaryOp::Mul => number(left.checked_mul(right)),
        BinaryOp::Eq => Ok(Value::Bool(left == right)),
        BinaryOp::Ne => Ok(Value::Bool(left != right)),
        BinaryOp::Lt => Ok(Value::Bool(left < right)),
        BinaryOp::Le => Ok(Value::Bool(left <= right)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies | BinaryOp::Machine(..) => {
            unreachable!("the validator rejects ill-typed operands")
        }
    }
}

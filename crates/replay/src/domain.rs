//! Values of expressions, whatever they are: numbers and truth values, literals of a SAT solver, text for an SMT
//! solver.

use rustc_hash::FxHashMap;
use selvedge_ir::{BinaryOp, Expr, Let, UnaryOp, Value, VarId};

use crate::machine;

/// A domain of values, with the operators of expressions.
pub(crate) trait Domain {
    /// A value.
    type Value: Clone;
    /// The reason why an expression has no value.
    type Error;

    /// The value of a constant.
    fn lift(&mut self, value: Value) -> Result<Self::Value, Self::Error>;
    fn unary(&mut self, op: UnaryOp, operand: Self::Value) -> Result<Self::Value, Self::Error>;
    fn binary(&mut self, op: BinaryOp, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    fn ite(
        &mut self,
        condition: Self::Value,
        then: Self::Value,
        otherwise: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// Returns the truth value of a condition where it is known: then one branch of a conditional has no part in its
    /// value.
    fn known(&self, condition: &Self::Value) -> Option<bool>;

    /// Returns the value of a shared part as its uses have it.
    fn part(&mut self, _number: u32, value: &Self::Value) -> Self::Value {
        value.clone()
    }

    /// Returns the value of an expression behind the definitions of its parts.
    fn behind(&mut self, _parts: Vec<(u32, Self::Value)>, body: Self::Value) -> Self::Value {
        body
    }
}

/// A function that gives the leaves of an expression their values.
pub(crate) type Leaf<'l, D> = dyn FnMut(&mut D, &Expr) -> Result<<D as Domain>::Value, <D as Domain>::Error> + 'l;

/// Computes the value of an expression, in which `leaf` gives the values of variables and choices.
pub(crate) fn eval<D: Domain>(domain: &mut D, expr: &Expr, leaf: &mut Leaf<'_, D>) -> Result<D::Value, D::Error> {
    eval_in(domain, expr, leaf, &mut FxHashMap::default())
}

/// The same where some shared parts have values, the innermost last.
fn eval_in<D: Domain>(
    domain: &mut D,
    expr: &Expr,
    leaf: &mut Leaf<'_, D>,
    parts: &mut FxHashMap<u32, Vec<D::Value>>,
) -> Result<D::Value, D::Error> {
    match expr {
        Expr::Bool(value) => domain.lift(Value::Bool(*value)),
        Expr::Int(value) => domain.lift(Value::Int(*value)),
        Expr::Machine(ty, bits) => domain.lift(Value::Machine(*ty, *bits)),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(domain, expr),
        Expr::Unary(op, operand) => {
            let operand = eval_in(domain, operand, leaf, parts)?;
            domain.unary(*op, operand)
        }
        Expr::Binary(op, pair) => {
            let left = eval_in(domain, &pair.0, leaf, parts)?;
            let right = eval_in(domain, &pair.1, leaf, parts)?;
            domain.binary(*op, left, right)
        }
        Expr::Ite(triple) => {
            let condition = eval_in(domain, &triple.0, leaf, parts)?;
            match domain.known(&condition) {
                Some(true) => eval_in(domain, &triple.1, leaf, parts),
                Some(false) => eval_in(domain, &triple.2, leaf, parts),
                None => {
                    let then = eval_in(domain, &triple.1, leaf, parts)?;
                    let otherwise = eval_in(domain, &triple.2, leaf, parts)?;
                    domain.ite(condition, then, otherwise)
                }
            }
        }
        Expr::Let(shared) => eval_let(domain, shared, leaf, parts),
        Expr::Part(number) => {
            let found = parts.get(number).and_then(|values| values.last());
            Ok(found.expect("the validator rejects parts without definition").clone())
        }
    }
}

/// Computes each part once, in order, and then the expression that uses them.
fn eval_let<D: Domain>(
    domain: &mut D,
    shared: &Let,
    leaf: &mut Leaf<'_, D>,
    parts: &mut FxHashMap<u32, Vec<D::Value>>,
) -> Result<D::Value, D::Error> {
    let mut values = Vec::new();
    for (number, part) in &shared.parts {
        let value = eval_in(domain, part, leaf, parts)?;
        parts.entry(*number).or_default().push(domain.part(*number, &value));
        values.push((*number, value));
    }
    let body = eval_in(domain, &shared.body, leaf, parts)?;
    shared.parts.iter().for_each(|(number, _)| drop(parts.get_mut(number).and_then(Vec::pop)));
    Ok(domain.behind(values, body))
}

/// The values themselves. Panics on ill-typed expressions, which valid programs do not have.
pub(crate) struct Concrete;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// An integer left the 64 bits that the interpreter computes with.
    Overflow,
    /// The value of this variable is open.
    Var(VarId),
    /// The choice with this number has not been made.
    Choice(u32),
}

const TYPED: &str = "the validator rejects ill-typed operands";

impl Domain for Concrete {
    type Value = Value;
    type Error = NoValue;

    fn lift(&mut self, value: Value) -> Result<Value, NoValue> {
        Ok(value)
    }

    fn unary(&mut self, op: UnaryOp, operand: Value) -> Result<Value, NoValue> {
        Ok(match (op, operand) {
            (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
            (UnaryOp::Neg, Value::Int(value)) => Value::Int(value.checked_neg().ok_or(NoValue::Overflow)?),
            (UnaryOp::DivisibleBy(divisor), Value::Int(value)) => Value::Bool(value % i64::from(divisor) == 0),
            (UnaryOp::Cast(from, to), Value::Machine(_, bits)) => {
                Value::Machine(to, machine::bits(to, machine::number(from, bits)))
            }
            _ => unreachable!("{TYPED}"),
        })
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Result<Value, NoValue> {
        use Value::{Bool, Int, Machine};
        let number = |result: Option<i64>| result.map(Int).ok_or(NoValue::Overflow);
        match (op, left, right) {
            (BinaryOp::Eq, left, right) => Ok(Bool(left == right)),
            (BinaryOp::Ne | BinaryOp::Xor, left, right) => Ok(Bool(left != right)),
            (BinaryOp::Machine(op, ty), Machine(_, left), Machine(_, right)) => {
                Ok(machine::binary(op, ty, left, right))
            }
            (BinaryOp::And, Bool(left), Bool(right)) => Ok(Bool(left && right)),
            (BinaryOp::Or, Bool(left), Bool(right)) => Ok(Bool(left || right)),
            (BinaryOp::Implies, Bool(left), Bool(right)) => Ok(Bool(!left || right)),
            (BinaryOp::Lt, Int(left), Int(right)) => Ok(Bool(left < right)),
            (BinaryOp::Le, Int(left), Int(right)) => Ok(Bool(left <= right)),
            (BinaryOp::Add, Int(left), Int(right)) => number(left.checked_add(right)),
            (BinaryOp::Sub, Int(left), Int(right)) => number(left.checked_sub(right)),
            (BinaryOp::Mul, Int(left), Int(right)) => number(left.checked_mul(right)),
            _ => unreachable!("{TYPED}"),
        }
    }

    fn ite(&mut self, condition: Value, then: Value, otherwise: Value) -> Result<Value, NoValue> {
        Ok(if is_true(condition) { then } else { otherwise })
    }

    fn known(&self, condition: &Value) -> Option<bool> {
        Some(is_true(*condition))
    }
}

/// Returns whether a truth value is true.
pub(crate) fn is_true(value: Value) -> bool {
    match value {
        Value::Bool(value) => value,
        Value::Int(_) | Value::Machine(..) => unreachable!("{TYPED}"),
    }
}
